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
    # in a full tree, the noise of the left half, and what the new node joins
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
    """Hybrid-UCB that releases the root's two children and not the root: epsilon-DP."""

    id = "hybrid-ucb-children"
    label = "Hybrid-UCB (children)"
    steps = HybridUCB.steps._replace(observe=_children)
    privacy = EPSILON_DP


def _planted(name, base, **steps):
    steps = base.steps._replace(**steps)
    return type(name, (base,), {"id": name, "steps": steps})


# noise of scale 1, whatever epsilon is
DroppedEpsilon = _planted("DroppedEpsilon", AnytimeLazyUCB, observe=_dropped_epsilon)
# the rewards of an array, except the first, are in the sum of the next array as well
ReleasedTwice = _planted("ReleasedTwice", AnytimeLazyUCB, observe=_twice)
# the leaves of a tree have no noise
ForgottenLevel = _planted("ForgottenLevel", HybridUCB, observe=_forgotten)
# one noise for all arms cancels in every comparison
SharedNoise = _planted("SharedNoise", DPSE, observe=_shared)
# no noise after the first epoch
SkippedNoise = _planted("SkippedNoise", DPSE, observe=_skipped)
# losses stay in the sums of later epochs, except the losses of the first round
ReusedEpoch = _planted("ReusedEpoch", FTNL, choose=_reused)

FAULTS = {  # the sound algorithm is the base of each
    "noise shared by arms": SharedNoise,
    "epsilon dropped": DroppedEpsilon,
    "noise skipped after an elimination": SkippedNoise,
    "a forgotten tree level": ForgottenLevel,
    "a reused epoch": ReusedEpoch,
    "an array released twice": ReleasedTwice,
}
