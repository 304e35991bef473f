"""Deliberate bugs that must flip verdicts of the notebooks on cesari2026."""

import numpy as np

from planted import Plant, plays, scaled
from privregret import exact
from privregret.bounds import cesari2026 as bounds
from privregret.bounds import wu2026
from privregret.full_information import EpochAlgorithm, RandomPrefixSoftmax
from privregret.privacy import prefix

ALGORITHM, PROOFS, LOGARITHM = (
    f"cesari2026/{n}" for n in ("4-algorithm", "5-proofs", "6-extra-logarithm")
)


def temperature(factor):
    """Multiply the inverse temperature of random-prefix softmax by a factor."""
    return lambda patch: patch.setattr(
        RandomPrefixSoftmax, "eta", property(lambda a: factor * min(a.epsilon / 2, a.cap))
    )


def second_logarithm(patch):
    patch.setattr(RandomPrefixSoftmax, "noise_scale", lambda a, actions: np.log(actions) / a.eta)


def one_logarithm(patch):
    """Divide the sums over ranks by ln K, so that the tally has no second logarithm."""
    right = wu2026.by_rank
    patch.setattr(
        wu2026, "by_rank", lambda counts, tail: right(counts, tail) / np.logaddexp.reduce(counts)
    )


def uniform(patch):
    def run(data, checkpoints, rng):
        shares, steps = data.counts / data.counts.sum(), np.diff(checkpoints, prepend=0)
        return np.cumsum([rng.multinomial(n, shares) for n in steps], axis=0)

    patch.setattr(EpochAlgorithm, "prepared", plays(run))


def twice_the_temperature(patch):
    right = prefix.loss_by_position
    patch.setattr(
        prefix, "loss_by_position", lambda rounds, eta, *more: right(rounds, 2 * eta, *more)
    )


def softmax_of_few(patch):
    """Compute selection errors from a tenth of the losses."""
    right = exact.expected_gap
    patch.setattr(exact, "expected_gap", lambda p, rounds, *more: right(p, -(-rounds // 10), *more))


PLANTS = [
    Plant(
        ALGORITHM,
        "the learner plays uniformly",
        uniform,
        (("Section 4", "agrees with simulated runs"),),
    ),
    Plant(
        ALGORITHM,
        "a temperature 200 times too high",
        temperature(1 / 200),
        (
            ("Theorem 1 (1)", "800"),
            ("Section 4, Theorem 1 (1)", "every distribution of the first action"),
            ("Theorem 1 (2)", "1000"),
            ("Theorem 1, proof", "802"),
            ("Section 1", "dependence"),
        ),
    ),
    Plant(
        ALGORITHM,
        "noise with a second logarithm",
        second_logarithm,
        (("Corollary 1", r"\log K/\epsilon"), ("Corollary 1", r"\log K/\Delta")),
    ),
    Plant(
        ALGORITHM,
        "a lower bound 100 times too large",
        scaled(wu2026, 100, "theorem_3_sharp"),
        (("Corollary 1", "does not fall below"),),
    ),
    Plant(
        ALGORITHM,
        "a lower bound near 0",
        scaled(wu2026, 1e-6, "theorem_3_sharp"),
        (("Corollary 1", "rejects an algorithm without privacy"),),
    ),
    Plant(
        PROOFS,
        "Hoeffding with 2 for 8",
        scaled(bounds, 0.5, "lemma_1"),
        (("Lemma 1", "checked for terms"),),
    ),
    Plant(
        PROOFS,
        "twice the inverse temperature in one choice",
        twice_the_temperature,
        (("Lemma 3", "DP"),),
    ),
    Plant(
        PROOFS,
        "twice the inverse temperature in the algorithm",
        temperature(2),
        (("Proposition 1", "is $"),),
    ),
    Plant(
        PROOFS,
        "the learner plays uniformly",
        uniform,
        (("Lemma 4", "The regret of whole blocks"), ("Lemma 4", "mathcal R")),
    ),
    Plant(
        PROOFS,
        "bounds a hundredth of what they are",
        scaled(
            bounds,
            0.01,
            *("lemma_5", "small_gap", "small_part", "group_part", "large_part"),
            *("early_part", "late_part"),
        ),
        (
            ("Lemma 5", r"le200"),
            ("Lemma 5, early part", "Prefix lengths up to"),
            ("Lemma 5, late part", "Prefix lengths above"),
            ("Lemma 5, (4)", "le2e"),
            ("Lemma 5, (5)", "Small"),
            ("Lemma 5, proof", "group"),
            ("Lemma 5, (6)", "Large"),
        ),
    ),
    Plant(LOGARITHM, "noise with a second logarithm", second_logarithm, (("Section 6", "order"),)),
    Plant(
        LOGARITHM, "a tally without the sum over ranks", one_logarithm, (("Remark 1", "Summing"),)
    ),
    Plant(
        LOGARITHM,
        "selection from a tenth of the losses",
        softmax_of_few,
        (("Section 6", "potential"),),
    ),
]
