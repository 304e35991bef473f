"""Faults for companion/whole-epochs: bounds that are too small, noise of the wrong scale."""

from planted import Plant, other_noise, scaled
from privregret.bounds import companion as whole_epochs
from privregret.full_information import FTNL

PLANTS = [
    Plant(
        "companion/whole-epochs",
        "bounds a third of what they are",
        scaled(whole_epochs, 1 / 3, "theorem", "large_gaps", "deterministic"),
        ("theorem", "parts"),
    ),
    Plant(
        "companion/whole-epochs",
        "the learner has three times its noise",
        other_noise(FTNL, 3),
        ("parts", "worst"),
    ),
]
