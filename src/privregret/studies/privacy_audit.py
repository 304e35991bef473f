"""Faults planted in the steps of algorithms, for an audit to find, and another reading of
Hybrid-UCB.

Where the fault is in the noise, a sound step is given a faulty source of it, which the ledger can
follow; such an algorithm cannot be played.
"""

from privregret.bandits import DPSE, AnytimeLazyUCB, HybridUCB
from privregret.core.algorithm import EPSILON_DP
from privregret.core.jit import jit
from privregret.full_information import FTNL

Lazy = AnytimeLazyUCB.Settings
lazy, hybrid, elimination = (kind.steps.observe for kind in (AnytimeLazyUCB, HybridUCB, DPSE))
epochs = FTNL.steps.choose


class NoNoise:
    """A source of noise that has none."""

    def noise(self, kind, scale):
        return 0.0


class OneNoise:
    """A source that gives its first noise again and again."""

    def __init__(self, rng):
        self.rng, self.first = rng, None

    def noise(self, kind, scale):
        self.first = self.rng.noise(kind, scale) if self.first is None else self.first
        return self.first


@jit
def _children(arms, state, settings, t, j, reward, rng):
    # `nodes[1]` is the noise of the left half by the time that the tree is full, `nodes[0]` what
    # the new node joins
    nodes = arms[j]["nodes"]
    nodes[0] = nodes[1] if arms[j]["position"] + 1 == 1 << arms[j]["depth"] else 0.0
    hybrid(arms, state, settings, t, j, reward, rng)


@jit
def _dropped_epsilon(arms, state, settings, t, j, reward, rng):
    lazy(arms, state, Lazy(1.0), t, j, reward, rng)


@jit
def _twice(arms, state, settings, t, j, reward, rng):
    total = arms[j]["total"] + reward
    lazy(arms, state, settings, t, j, reward, rng)
    if arms[j]["filled"] == 0 and arms[j]["size"] > 1:
        arms[j]["total"] = total


@jit
def _reused(actions, epoch, selector, t, rng):
    sums = [actions[i]["loss"] for i in range(len(actions))]
    leader = epochs(actions, epoch, selector, t, rng)
    for i in range(len(actions)):
        if t > 2:
            actions[i]["loss"] = sums[i]
    return leader


def _forgotten(arms, state, settings, t, j, reward, rng):
    # before this reward
    odd = arms[j]["pulls"] > 0 and arms[j]["position"] % 2 == 0
    hybrid(arms, state, settings, t, j, reward, NoNoise() if odd else rng)


def _shared(arms, state, settings, t, j, reward, rng):
    elimination(arms, state, settings, t, j, reward, OneNoise(rng))


def _skipped(arms, state, settings, t, j, reward, rng):
    elimination(arms, state, settings, t, j, reward, rng if state["epoch"] == 1 else NoNoise())


class HybridChildren(HybridUCB):
    """Hybrid-UCB whose last prefix of a full tree is the sum of the root's two children, not the
    root: epsilon-DP.
    """

    id = "hybrid-ucb-children"
    label = "Hybrid-UCB (children)"
    steps = HybridUCB.steps._replace(observe=_children)
    privacy = EPSILON_DP


class DroppedEpsilon(AnytimeLazyUCB):
    """Noise of scale 1, whatever epsilon is."""

    id = "lazy-ucb-dropped-epsilon"
    steps, fast_run = AnytimeLazyUCB.steps._replace(observe=_dropped_epsilon), None


class ReleasedTwice(AnytimeLazyUCB):
    """Keep the rewards of an array, except the first, in the sum of the next array."""

    id = "lazy-ucb-released-twice"
    steps, fast_run = AnytimeLazyUCB.steps._replace(observe=_twice), None


class ForgottenLevel(HybridUCB):
    """The leaves of a tree have no noise."""

    id = "hybrid-ucb-forgotten-level"
    steps = HybridUCB.steps._replace(observe=_forgotten)


class SharedNoise(DPSE):
    """One noise for all arms: it cancels in every comparison."""

    id = "dp-se-shared-noise"
    steps, fast_run = DPSE.steps._replace(observe=_shared), None


class SkippedNoise(DPSE):
    """No noise after the first epoch."""

    id = "dp-se-skipped-noise"
    steps, fast_run = DPSE.steps._replace(observe=_skipped), None


class ReusedEpoch(FTNL):
    """Keep losses in the sums of later epochs, except the losses of the first round."""

    id = "ftnl-reused-epoch"
    steps, fast_run = FTNL.steps._replace(choose=_reused), None


FAULTS = {  # the sound algorithm is the base of each
    "noise shared by arms": SharedNoise,
    "epsilon dropped": DroppedEpsilon,
    "noise skipped after an elimination": SkippedNoise,
    "a forgotten tree level": ForgottenLevel,
    "a reused epoch": ReusedEpoch,
    "an array released twice": ReleasedTwice,
}
