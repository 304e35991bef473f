"""Deliberate bugs that must flip verdicts of the notebooks on wu2026."""

import math
from dataclasses import replace

import numpy as np

from planted import Plant
from privregret import exact
from privregret.bounds import wu2026 as bounds
from privregret.exact import regret
from privregret.full_information import FTNL
from privregret.privacy import selection
from privregret.studies import wu2026

RESAMPLING, DETERMINISTIC = "wu2026/3-bernoulli-resampling", "wu2026/4-deterministic-setting"


def select(change, everywhere=True):
    """Compute selection probabilities of changed arguments: instance, rounds, noise, scale."""

    def patch(monkeypatch):
        def changed(real):
            return lambda *arguments: real(*change(*arguments))

        chosen = changed(exact.selection_probabilities)
        monkeypatch.setattr(exact, "selection_probabilities", chosen)
        if everywhere:
            monkeypatch.setattr(regret, "selection_probabilities", chosen)
            monkeypatch.setattr(regret, "selections", changed(regret.selections))
            unbounded = lambda _, rounds, *more: np.full(np.shape(rounds), np.inf)  # noqa: E731
            monkeypatch.setattr(regret, "_largest_gaps", unbounded)  # leaves no epoch out

    return patch


def flipped(instance):
    outcomes = tuple(tuple(1 - loss for loss in outcome) for outcome in instance.outcomes)
    return replace(instance, outcomes=outcomes)


def times(factor, *names):
    """Multiply bounds by a factor."""

    def patch(monkeypatch):
        for name in names:
            real = getattr(bounds, name)
            monkeypatch.setattr(bounds, name, lambda *args, real=real: factor * real(*args))

    return patch


def half_the_noise(monkeypatch):
    real = selection.privacy_loss
    monkeypatch.setattr(
        selection, "privacy_loss", lambda K, n, noise, scale: real(K, n, noise, scale / 2)
    )
    times(0.001, "theorem_2", "corollary_1", "selection")(monkeypatch)


def twice_the_noise(monkeypatch):
    real = selection.privacy_loss
    monkeypatch.setattr(
        selection, "privacy_loss", lambda K, n, noise, scale: real(K, n, noise, 2 * scale)
    )


def wrong_lemmas(monkeypatch):
    binomial_cdf, tail_over_bound = wu2026.binomial_cdf, wu2026.tail_over_bound
    monkeypatch.setattr(wu2026, "binomial_cdf", lambda *args: 1 - binomial_cdf(*args))
    monkeypatch.setattr(wu2026, "tail_over_bound", lambda *args: 2 * tail_over_bound(*args))


def repaired_epochs(monkeypatch):
    monkeypatch.setattr(wu2026, "epochs", lambda horizon: math.floor(math.log2(horizon)) + 1)
    monkeypatch.setattr(
        wu2026, "threshold", lambda K, gap, c2: math.ceil(math.log2(c2 * math.log(K) / gap**2))
    )


def wrong_epoch(monkeypatch):
    real = bounds.lemma_2
    monkeypatch.setattr(bounds, "lemma_2", lambda a, log_counts, x: real(a, log_counts, 2 * x))
    monkeypatch.setattr(bounds, "theorem_3", lambda log_k, epsilon, horizon: log_k / epsilon)


def noise_scale(change):
    """Change the scale of FTNL's noise by a factor."""

    def patch(monkeypatch, real=FTNL.noise_scale):
        monkeypatch.setattr(
            FTNL, "noise_scale", lambda self, actions: change(self) * real(self, actions)
        )

    return patch


def resampled_worse(monkeypatch):
    noise_scale(lambda learner: 2 if learner.bernoulli_resampling else 1)(monkeypatch)
    real = exact.selection_from_sums
    monkeypatch.setattr(
        exact, "selection_from_sums", lambda sums, *rest: real(0 * np.asarray(sums), *rest)
    )
    monkeypatch.setattr(
        regret, "_two_loss_gap", lambda least, step, chance, gaps, eta: float(gaps.mean())
    )


def wrong_constants(monkeypatch):
    times(0.01, "theorem_4", "deterministic_selection")(monkeypatch)
    monkeypatch.setattr(bounds, "corollary_2", lambda log_k, epsilon: 0.1 * log_k / epsilon)
    times(3, "lemma_3")(monkeypatch)
    for name in ("remark_4", "remark_4_limit"):
        real = getattr(bounds, name)
        monkeypatch.setattr(bounds, name, lambda *args, real=real: min(real(*args), 2.0))
    monkeypatch.setattr(
        bounds, "theorem_3_sharp", lambda *args: np.atleast_1d(bounds.theorem_3(*args))
    )


def no_first_round(monkeypatch):
    real = exact.regret_curves

    def curves(algorithms, problem, horizon):
        frame = real(algorithms, problem, horizon)
        if hasattr(problem, "gaps") and len(problem.gaps) == 2:
            frame["regret"] -= problem.gaps[1] / (1 + np.exp(-problem.log_counts[1]))
        return frame

    monkeypatch.setattr(exact, "regret_curves", curves)


PLANTS = [
    Plant(
        RESAMPLING,
        "every choice is uniform",
        select(lambda instance, rounds, *noise: (instance, 0 * rounds, *noise)),
        (
            ("Lemma 5, (5), (7)", "universal constants"),
            ("Section 3", "strictly reduces the regret"),
            ("Theorem 2", "constants of the corrected proof"),
            ("Theorem 2, Remark 1", "constant in $T$"),
            ("Theorem 1", r"grows at most like $\log T$"),
            ("Theorem 1", "is not visible"),
            ("Corollary 1", "Whatever the gaps"),
            ("Corollary 1", "equal gaps of any size"),
        ),
    ),
    Plant(
        RESAMPLING,
        "the largest loss wins, as the paper's example has it",
        select(lambda instance, *rest: (flipped(instance), *rest), everywhere=False),
        (
            ("Section 3", r"$\Pr[J_1=2]=0.8$"),
            ("Section 3", "at most half of the time"),
            ("Lemma 1", r"implies $\Pr[J_r=i]"),
            ("Lemma 1", r"$\Pr[J_r=j]\le1/j$"),
            ("Lemma 5, proof", r"With noise $\mathrm{Exp}(1/\epsilon)$"),
        ),
    ),
    Plant(
        RESAMPLING,
        "half the noise; bounds a thousandth of what they are",
        half_the_noise,
        (
            ("Theorems 2, 4, Corollaries 1, 2", r"$\mathrm{Lap}(2/\epsilon)$ or"),
            ("Theorems 2, 4, Corollaries 1, 2", r"$\mathrm{Exp}(2/\epsilon)$ in place"),
            ("Theorem 2", "constants of the corrected proof"),
            ("Corollary 1", "Whatever the gaps"),
            ("Lemma 5, (5), (7)", "universal constants"),
        ),
    ),
    Plant(
        RESAMPLING,
        "twice the noise with resampling; small cases choose uniformly",
        resampled_worse,
        (
            ("Section 3", "The worst case with resampling is not worse"),
            ("Section 3, footnote 1", "strictly improves"),
            ("Lemma 5, Theorem 4 (proofs)", "A factor"),
        ),
    ),
    Plant(
        RESAMPLING,
        "losses are not resampled and count eight times where they should be resampled",
        select(
            lambda i, n, *noise: (replace(i, bits=False), 8 * n if i.bits else n, *noise),
            everywhere=True,
        ),
        (
            ("Section 3", "leads to a smaller loss"),
            ("Section 3", "does not reduce the regret"),
        ),
    ),
    Plant(
        RESAMPLING,
        "twice the noise",
        twice_the_noise,
        (("Theorems 2, 4, Corollaries 1, 2", r"With noise $\mathrm{Exp}(1/\epsilon)$"),),
    ),
    Plant(
        RESAMPLING,
        "the distribution function from above; tails of twice the size",
        wrong_lemmas,
        (
            ("Lemma 4", "decreases in $p$"),
            ("Lemma 4, proof", "incomplete beta function"),
            ("Theorem 2, (6), (8)", "c_1c_2"),
        ),
    ),
    Plant(
        RESAMPLING,
        "repaired numbers of epochs in place of the printed ones",
        repaired_epochs,
        (
            ("Theorem 2, proof", r"lceil c_2\ln|H_l|"),
            ("Algorithm 1, line 4", r"epochs cover all $T\ge2$"),
        ),
    ),
    Plant(
        DETERMINISTIC,
        "every other epoch; a bound with the rate of Theorem 3 at every epsilon",
        wrong_epoch,
        (
            ("Lemma 2", r"for all real $a_i$"),
            ("Theorem 3, proof", "The limit of the bound"),
        ),
    ),
    Plant(
        DETERMINISTIC,
        "next to no noise",
        noise_scale(lambda learner: 1e-3),
        (
            ("Theorem 3", r"have regret at least $\frac1\epsilon"),
            ("Theorem 3", r"have regret at least $\sum"),
            ("Remark 3", "Under privacy"),
        ),
    ),
    Plant(
        DETERMINISTIC,
        "every choice is uniform",
        select(lambda instance, rounds, *noise: (instance, 0 * rounds, *noise)),
        (
            ("Theorem 3", "rejects an algorithm without privacy"),
            ("Remark 3", "Without privacy"),
            ("Remark 3", "For equal gaps"),
            ("Theorem 4", r"For $\epsilon\le1$"),
            ("Theorem 4", "The rate is optimal"),
            ("Theorem 4", "(by convexity)"),
            ("Theorem 4", "little privacy"),
            ("Theorem 4", "On every instance"),
            ("Corollary 2", "all three noises"),
            ("Corollary 2, proof", "(9)"),
            ("Section 4.2", "With Laplace noise"),
        ),
    ),
    Plant(
        DETERMINISTIC,
        "wrong constants; a sharper bound that is not sharper",
        wrong_constants,
        (
            ("Theorem 3, proof", "The sharper sum"),
            ("Theorem 4", r"For $\epsilon\le1$"),
            ("Corollary 2", "all three noises"),
            ("Remark 4.2", "is loose"),
            ("Corollary 2, proof", "(9)"),
            ("Lemma 3", "printed proof's constant"),
            ("Lemma 3", r"\le2\ln K"),
            ("Remark 4", "The conjecture is false"),
        ),
    ),
    Plant(
        DETERMINISTIC,
        "the first round is not counted",
        no_first_round,
        (("Theorem 4, Corollary 2", r"For every $\epsilon$"),),
    ),
    Plant(
        DETERMINISTIC,
        "votes are the losses themselves",
        lambda patch: patch.setattr(wu2026, "votes", lambda losses: losses),
        (("Theorem 3", r"For every $K$ and"), ("Theorem 3", "For $K=3$")),
    ),
    Plant(
        DETERMINISTIC,
        "next to no noise in the choice, twice as much if exponential",
        select(
            lambda i, n, noise, b: (i, n, noise, b * (0.02 if noise == "gumbel" else 0.2)),
            everywhere=False,
        ),
        (
            ("Theorem 3, proof", r"(K-5)/(3e^{t\epsilon}"),
            ("Theorem 3, proof", r"(K-5)/(3e^{(t-1)\epsilon}"),
            ("Theorem 4, proof", "is never worse"),
        ),
    ),
]
