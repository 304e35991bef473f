"""Faults for companion/whole-epochs: bounds that are too small, noise of the wrong scale."""

from planted import Plant, other_noise, scaled
from privregret.bounds import ours
from privregret.full_information import FTNL

PLANTS = [
    Plant(
        "companion/whole-epochs",
        "bounds a third of what they are",
        scaled(ours, 1 / 3, "theorem", "large_gaps", "deterministic"),
        ("theorem", "parts"),
    ),
    Plant(
        "companion/whole-epochs",
        "the learner has three times its noise",
        other_noise(FTNL, 3),
        ("parts", "worst"),
    ),
]
