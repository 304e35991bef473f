"""A fault for the notebook on what runs cost."""

from planted import Plant, uniform_play
from privregret.bandits import AnytimeLazyUCB


def many_releases(means, checkpoints, settings, rng):
    """Draw numbers for every pair of arms many times."""
    for _ in range(int(checkpoints[-1] ** 0.25) * len(means) ** 2):
        rng.random()
    return uniform_play(means, checkpoints, rng)


PLANTS = [
    Plant(
        "companion/cost",
        "many releases",
        lambda patch: patch.setattr(AnytimeLazyUCB, "events", many_releases),
        (("Rounds", "random numbers"), ("Arms", "random numbers")),
    ),
]
