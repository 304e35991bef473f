"""Faults behind the verdicts of the companion's comparisons and of its tutorial."""

from dataclasses import replace

import numpy as np

from planted import Plant, other_noise, plays, uniform_play
from privregret import rare
from privregret.bandits import DPIMED, AnytimeLazyUCB, BanditAlgorithm
from privregret.full_information import FTNL, RandomPrefixSoftmax

OWN, SIDE = "companion/your-own-algorithm", "companion/side-by-side"


def half_the_noise(monkeypatch):
    right = BanditAlgorithm.play

    def play(self, rewards, rng):
        own = self.label == "explore first"
        return right(replace(self, epsilon=2 * self.epsilon) if own else self, rewards, rng)

    monkeypatch.setattr(BanditAlgorithm, "play", play)


def uniform_actions(monkeypatch):
    """DP-IMED draws every arm uniformly on a table."""

    def play(self, rewards, rng):
        return np.random.default_rng(rng).integers(rewards.shape[1], size=len(rewards))

    monkeypatch.setattr(DPIMED, "play", play)


def remembers(monkeypatch):
    """Anytime-Lazy-UCB on a live source is DP-IMED."""
    monkeypatch.setattr(
        AnytimeLazyUCB, "start", lambda self, *given: DPIMED(self.epsilon, n0=8).start(*given)
    )


def uniform_imed(monkeypatch):
    """DP-IMED draws every arm uniformly on Bernoulli arms."""
    right = rare.weighted

    def weighted(algorithm, problem, rounds, runs, rng):
        if isinstance(algorithm, DPIMED):
            return np.outer(np.ones(runs), problem.gaps.mean() * rounds), np.ones(runs)
        return right(algorithm, problem, rounds, runs, rng)

    monkeypatch.setattr(DPIMED, "runner", plays(uniform_play))
    monkeypatch.setattr(rare, "weighted", weighted)


PLANTS = [
    Plant(SIDE, "DP-IMED plays uniformly", uniform_imed, ("imed-leads", "imed-over-bound")),
    Plant(
        SIDE,
        "exponential noise of three times its scale",
        other_noise(FTNL, 3.0, ("exponential",)),
        ("exponential",),
    ),
    Plant(
        SIDE,
        "random prefixes with a quarter of their noise",
        other_noise(RandomPrefixSoftmax, 0.25, ("gumbel",)),
        ("prefixes-cost-more",),
    ),
    Plant(OWN, "explore first adds half the noise", half_the_noise, ("explore-first-is-private",)),
    Plant(OWN, "DP-IMED plays the table uniformly", uniform_actions, ("both-learn-the-table",)),
    Plant(OWN, "an algorithm that forgets remembers", remembers, ("lazy-follows-the-drift",)),
]
