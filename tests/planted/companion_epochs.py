"""Faults for companion/whole-epochs: noise of half the scale, bounds that are too small, selections
from too little data."""

import numpy as np

from planted import Plant, other_noise, scaled
from privregret import exact
from privregret.bounds import ours
from privregret.full_information import FTNL

EPOCHS = "companion/whole-epochs"


def colder_choice(patch):
    """Selections as if the noise had a third of its scale; the potential is left alone."""
    right = exact.selection_from_sums
    patch.setattr(
        exact,
        "selection_from_sums",
        lambda sums, counts, noise, scale: right(sums, counts, noise, scale / 3),
    )


def uniform_choice(patch):
    def uniform(sums, log_counts, noise, scale):
        return np.full(np.shape(sums), 1 / np.shape(sums)[-1])

    patch.setattr(exact, "selection_from_sums", uniform)


PLANTS = [
    Plant(
        EPOCHS,
        "bounds a third of what they are",
        scaled(ours, 1 / 3, "theorem", "large_gaps", "deterministic", "maximum", "small_gap"),
        (
            ("Lemma 1", "(3)"),
            ("Lemma 4", r"\Pr[J_n=j]\le"),
            ("Theorem", r"32(1+\ln K)"),
            ("Theorem", "(a)"),
            ("Theorem", "(b)"),
        ),
    ),
    Plant(
        EPOCHS,
        "the learner has three times its noise",
        other_noise(FTNL, 3),
        (("Theorem", "(b)"), ("Constants", "near 8, the constant")),
    ),
    Plant(EPOCHS, "choices colder than their potential", colder_choice, (("Lemma 3", "tanh"),)),
    Plant(
        EPOCHS,
        "choices that do not look at the losses",
        uniform_choice,
        (("Lemma 2", "for exchangeable rounds"),),
    ),
    Plant(
        EPOCHS, "a kept gap that is too large", scaled(ours, 1.2, "kept"), (("Lemma 3", "tanh"),)
    ),
    Plant(
        EPOCHS,
        "a minimax bound that forgets the epochs",
        scaled(ours, 1 / 30, "minimax"),
        (("Theorem", "(c)"),),
    ),
]
