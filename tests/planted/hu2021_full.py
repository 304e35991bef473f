"""Faults for the notebooks on full information in hu2021: Section 5 and the doubling instance."""

import numpy as np

from planted import Plant
from privregret import exact
from privregret.bounds import hu2021 as bounds
from privregret.bounds import wu2026
from privregret.exact import regret
from privregret.full_information import FTNL, ftnl
from privregret.privacy import selection

FULL, DOUBLING = "hu2021/5-full-information", "hu2021/7-doubling-instance"


def times(monkeypatch, module, name, factor):
    """Multiply what a function returns."""
    function = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *args: factor * function(*args))


def exact_regret(monkeypatch, factor):
    """Multiply exact regret by what `factor` says of the instance."""
    function = regret.expected_regret

    def patched(algorithm, instance, horizons):
        return regret.Regret(
            *(factor(instance) * part for part in function(algorithm, instance, horizons))
        )

    monkeypatch.setattr(regret, "expected_regret", patched)


def scales_mixed_up(monkeypatch):
    monkeypatch.setitem(ftnl.PRESETS["hu2021"], "laplace", 2.5)
    monkeypatch.setitem(ftnl.PRESETS["corrected"], "laplace", 1.5)


def half_the_loss(monkeypatch):
    def patched(*args, function=selection.privacy_loss):
        found = function(*args)
        return found._replace(value=found.value / 2)

    monkeypatch.setattr(selection, "privacy_loss", patched)


def uniform(monkeypatch):
    function = regret.expected_regret

    def patched(algorithm, instance, horizons):
        if not isinstance(algorithm, FTNL):
            return function(algorithm, instance, horizons)
        mean_gap = np.exp(np.array(instance.log_counts) - instance.log_actions) @ instance.gaps
        return regret.Regret(mean_gap * np.atleast_1d(horizons), np.zeros(np.size(horizons)))

    monkeypatch.setattr(FTNL, "noise_scale", lambda self, actions: 1e12)
    monkeypatch.setattr(regret, "expected_regret", patched)


def bounds_too_small(monkeypatch):
    times(monkeypatch, bounds, "theorem_7", 0.01)
    for name in (
        "theorem_7_middle",
        "lemma_13",
        "corollary_8_small_gaps",
        "corollary_8_equal_gaps",
        "corollary_9",
    ):
        times(monkeypatch, bounds, name, 1e-3)


def without_the_one(gaps, log_counts, epsilon):
    _, sizes = bounds.brackets(gaps, log_counts)
    return float(1 + 256 * sum(sizes) / epsilon)


def the_one_in_the_wrong_form(monkeypatch):
    monkeypatch.setattr(bounds, "theorem_7_printed", bounds.theorem_7)
    monkeypatch.setattr(bounds, "theorem_7", without_the_one)
    rate = bounds.theorem_7_rate
    monkeypatch.setattr(bounds, "theorem_7_rate", lambda *args, repaired=True: rate(*args))


def wide_brackets(monkeypatch):
    function = bounds.brackets

    def patched(gaps, log_counts=None):
        smallest, sizes = function(gaps, log_counts)
        return smallest[:1], np.array([np.logaddexp.reduce(sizes)])

    monkeypatch.setattr(bounds, "brackets", patched)


def all_experts_in_every_bracket(monkeypatch):
    def patched(gaps, log_counts, epsilon):
        gap, sizes = bounds.brackets(gaps, log_counts)
        log_k = np.logaddexp.reduce(sizes)
        return float(np.sum(256 * log_k / np.minimum(gap, epsilon)))

    monkeypatch.setattr(bounds, "theorem_7", patched)


def constants_of_the_doubling_instance(monkeypatch):
    monkeypatch.setattr(bounds, "theorem_7", without_the_one)
    monkeypatch.setitem(ftnl.PRESETS["corrected"], "gumbel", 1.3)
    times(monkeypatch, wu2026, "theorem_4", 0.4)


def likelier_mistakes(monkeypatch):
    def patched(*args, function=exact.selection_probabilities):
        found = function(*args)
        return found._replace(group=2 * found.group)

    monkeypatch.setattr(exact, "selection_probabilities", patched)


PLANTS = [
    Plant(
        FULL,
        "the preset of the paper has more than the corrected noise, and the repair too little",
        scales_mixed_up,
        (
            ("Theorem 6", "printed noise $"),
            ("Theorem 6", "when it is played"),
            ("Theorem 6", "repaired"),
        ),
    ),
    Plant(
        FULL,
        "privacy losses are halved",
        half_the_loss,
        (("Theorem 6", "printed noise $"), ("Section 5.1", "twice")),
    ),
    Plant(
        FULL,
        "noise drowns the sums: FTNL plays uniformly",
        uniform,
        (
            ("Theorem 7", "stands: regret"),
            ("Theorem 7", "A bracket with one expert costs"),
            ("Lemma 13", "prefers a worse expert"),
            ("Corollary 8(i)", "If all gaps"),
            ("Corollary 8(i)", "The rate"),
            ("Corollary 8(ii)", "If all gaps"),
            ("Corollary 8(ii)", "The rate"),
            ("Corollary 9", "on every instance"),
            ("Corollary 9", "without the"),
            ("Section 5", "removes the factor"),
        ),
    ),
    Plant(
        FULL,
        "exact regret is twice what it is",
        lambda monkeypatch: exact_regret(monkeypatch, lambda instance: 2),
        (("Section 5", "simulation"), ("Theorem 7", "A bracket with one expert costs")),
    ),
    Plant(
        FULL,
        "exact regret grows with the number of experts",
        lambda monkeypatch: exact_regret(
            monkeypatch, lambda instance: np.exp(0.2 * instance.log_actions)
        ),
        (("Section 5", "naive version is"),),
    ),
    Plant(
        FULL,
        "bounds have constants that are far too small",
        bounds_too_small,
        (
            ("Theorem 7", "stands: regret"),
            ("Theorem 7, proof", "(57)"),
            ("Lemma 13", "prefers a worse expert"),
            ("Corollary 8(i)", "If all gaps"),
            ("Corollary 8(ii)", "If all gaps"),
            ("Corollary 9", "on every instance"),
        ),
    ),
    Plant(
        FULL,
        "the printed forms have the 1, and the proved one has not",
        the_one_in_the_wrong_form,
        (
            ("Theorem 7, first form", "As printed"),
            ("Theorem 7, second form", "As printed"),
            ("Theorem 7", "in the second"),
        ),
    ),
    Plant(
        FULL,
        "all experts are in one bracket",
        wide_brackets,
        (("Corollary 8(ii), proof", "only bracket"),),
    ),
    Plant(
        DOUBLING,
        "FTNL pays for each bracket",
        lambda monkeypatch: exact_regret(monkeypatch, lambda instance: len(instance.gaps) - 1),
        ("not-more-difficult", "does-not-grow"),
    ),
    Plant(
        DOUBLING,
        "the proof counts all experts in every bracket",
        all_experts_in_every_bracket,
        ("order-of-the-bound",),
    ),
]
