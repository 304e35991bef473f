"""Deliberate bugs that must flip verdicts of the notebooks on cesari2026."""

import numpy as np

from planted import Plant, scaled
from privregret.bounds import cesari2026 as bounds
from privregret.bounds import wu2026
from privregret.full_information import RandomPrefixSoftmax
from privregret.privacy import noisy_maxima
from privregret.studies import cesari2026 as study

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


def smaller_bounds(patch):
    scaled(bounds, 0.01, "lemma_5")(patch)
    scaled(study, 0.01, "drift")(patch)


def twice_the_temperature(patch):
    right = noisy_maxima.loss_by_position
    patch.setattr(
        noisy_maxima, "loss_by_position", lambda rounds, eta, *more: right(rounds, 2 * eta, *more)
    )


PLANTS = [
    Plant(
        ALGORITHM,
        "a temperature 200 times too high",
        temperature(1 / 200),
        ("theorem-1-first", "theorem-1-second", "dependent-actions"),
    ),
    Plant(
        ALGORITHM,
        "noise with a second logarithm",
        second_logarithm,
        ("corollary-1",),
    ),
    Plant(
        PROOFS, "twice the inverse temperature in one choice", twice_the_temperature, ("lemma-3",)
    ),
    Plant(
        PROOFS, "twice the inverse temperature in the algorithm", temperature(2), ("proposition-1",)
    ),
    Plant(
        PROOFS,
        "bounds a hundredth of what they are",
        smaller_bounds,
        ("lemma-5", "lemma-5-drift"),
    ),
    Plant(LOGARITHM, "noise with a second logarithm", second_logarithm, ("one-logarithm",)),
    Plant(LOGARITHM, "a tally without the sum over ranks", one_logarithm, ("remark-1",)),
]
