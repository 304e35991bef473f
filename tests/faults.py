"""Slow versions of bandit algorithms with a fault in their noise: audits and tests must see it."""

from types import SimpleNamespace

from cases import batched
from naive import bandits


def faulty(kind, **methods):
    """A class with other methods."""
    return type(f"Faulty{kind.__name__}", (kind,), methods)


lazy, hybrid, elimination = bandits.AnytimeLazyUCB, bandits.HybridUCB, bandits.DPSE

LAZY_WITHOUT_EPSILON = faulty(lazy, noise=lambda self, rng, r: rng.laplace(0.0, 1.0))
# one draw for all arms: it cancels in every comparison
ELIMINATION_SHARED = faulty(
    elimination, noises=lambda self, rng, epoch, arms: [rng.laplace(0.0, 1 / self.epsilon)] * arms
)
HYBRID_WITHOUT_ARRAY_NOISE = faulty(hybrid, array_noise=lambda self, rng, r: 0.0)
HYBRID_HALVED_ARRAYS = faulty(
    hybrid, array_noise=lambda self, rng, r: rng.laplace(0.0, 1 / self.epsilon)
)
HYBRID_HALVED_NODES = faulty(
    hybrid, node_noise=lambda self, rng, r, level: rng.laplace(0.0, r / self.epsilon)
)
HYBRID_FORGOTTEN_LEVEL = faulty(
    hybrid,
    node_noise=lambda self, rng, r, level: (
        0.0 if level == 1 else hybrid.node_noise(self, rng, r, level)
    ),
)
# for the tree "scaled": noise for the depth, where this repair needs one level more
HYBRID_UNSCALED = faulty(
    hybrid, node_noise=lambda self, rng, r, level: rng.laplace(0.0, r / (0.5 * self.epsilon))
)


def batched_tenth(kind, epsilon):
    """azize2025, Algorithm 1, with a tenth of the noise."""
    return SimpleNamespace(play=batched(kind.rule, epsilon, laplace=a_tenth))


def a_tenth(scale, rng):
    return rng.laplace(0.0, 0.1 * scale)
