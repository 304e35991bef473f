"""Faults behind the verdicts of the companion's comparisons and of its tutorial."""

import numpy as np

from planted import Plant, uniform_play
from privregret.bandits import DPIMED, BanditAlgorithm

OWN = "companion/your-own-algorithm"


class HalfTheNoise:
    """A generator whose Laplace noise has half the scale."""

    def __init__(self, rng):
        self.rng = np.random.default_rng(rng)

    def laplace(self, loc, scale, size):
        return self.rng.laplace(loc, scale / 2, size)


def half_the_noise(monkeypatch):
    def play(self, rewards, rng):
        return self._play(rewards, HalfTheNoise(rng) if self.label == "explore first" else np.random.default_rng(rng))

    monkeypatch.setattr(BanditAlgorithm, "play", play)


def uniform_actions(monkeypatch):
    """DP-IMED draws every arm uniformly on a table."""
    monkeypatch.setattr(
        DPIMED, "_play", lambda self, rewards, rng: rng.integers(rewards.shape[1], size=len(rewards)), raising=False
    )


PLANTS = [
    Plant(
        OWN,
        "explore first adds half the noise",
        half_the_noise,
        (("Explore first", "privacy loss is at most"), ("Explore first", "measured losses are the computed")),
    ),
    Plant(
        OWN,
        "explore first plays uniformly",
        lambda patch: patch.setattr(BanditAlgorithm, "_run", lambda self, *given: uniform_play(*given)),
        (("Explore first", "at most half of that of uniform play"), ("Explore first", "as good as DP-IMED")),
    ),
    Plant(
        OWN,
        "DP-IMED plays the table uniformly",
        uniform_actions,
        (("The table", "less regret than uniform"), ("One run", "index, worked out again")),
    ),
]
