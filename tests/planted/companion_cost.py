"""A fault for the notebook on what runs cost."""

from planted import Plant, uniform_play
from privregret.bandits import AnytimeLazyUCB


def many_releases(data, rounds, rng):
    """Releases about all pairs of arms, again and again."""
    for _ in range(int(rounds[-1] ** 0.25) * len(data) ** 2):
        rng.random()
    return uniform_play(data, rounds, rng)


PLANTS = [
    Plant(
        "companion/cost",
        "releases without end",
        lambda patch: patch.setattr(AnytimeLazyUCB, "_run", lambda self, *given: many_releases(*given)),
        (("Rounds", "random numbers"), ("Arms", "no faster than $K$,")),
    ),
]
