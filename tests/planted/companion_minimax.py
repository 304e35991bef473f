"""A fault for companion/minimax: values at half the privacy parameter."""

from planted import Plant
from privregret.studies import minimax as study


def half_the_epsilon(patch):
    right = study.value
    patch.setattr(study, "value", lambda game, epsilon, delta=0.0: right(game, epsilon / 2, delta))


PLANTS = [
    Plant(
        "companion/minimax",
        "values at half the privacy parameter",
        half_the_epsilon,
        ("slope", "three"),
    )
]
