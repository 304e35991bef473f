"""KL-UCB (Garivier and Cappé 2011), a non-private reference that is asymptotically optimal."""

import math
from dataclasses import dataclass

import numpy as np

from privregret import checks
from privregret.algorithm import NOT_PRIVATE
from privregret.bandits.base import DRAWN, RoundByRound
from privregret.divergence import kl, kl_inverse
from privregret.jit import jit


@dataclass(frozen=True)
class KLUCB(RoundByRound):
    """KL-UCB: the index is the largest q with n kl(mean, q) <= ln t + c ln max(1, ln t) in round t.

    No privacy. Anytime, O(K) memory. Rewards between 0 and 1 are allowed.

    Parameters
    ----------
    c : float
        At least 0: 3 in the theorem, 0 in practice.
    """

    c: float = 0.0
    label = "KL-UCB"
    source = "Garivier and Cappé 2011"
    rules = {"c": checks.between(0)}
    privacy = NOT_PRIVATE

    def _kernel(self, means, rounds, rewards=DRAWN):
        return _loop, (rewards, means, rounds, self.c)


@jit
def _loop(rewards, means, rounds, c, rng):
    literal = len(rewards) > 0
    arms = len(means)
    actions = np.empty(len(rewards), np.int64)
    counts = np.empty((len(rounds), arms), np.int64)
    total = np.zeros(arms)
    mean = np.zeros(arms)
    pulls = np.zeros(arms, np.int64)
    reported = 0
    for t in range(rounds[-1]):
        chosen = t
        if t >= arms:
            log_t = math.log(t + 1)
            level = log_t + c * math.log(max(1.0, log_t))
            best, ties = -1.0, 0
            for j in range(arms):
                # an index is only worked out if it can reach the best so far; a little slack keeps exact ties
                if best < 1 and mean[j] < best and pulls[j] * kl(mean[j], best) > level * (1 + 1e-9):
                    continue
                index = kl_inverse(mean[j], level / pulls[j])
                if index > best:
                    best, chosen, ties = index, j, 1
                elif index == best:
                    ties += 1
                    if ties * rng.random() < 1:
                        chosen = j
        if literal:
            actions[t] = chosen
            total[chosen] += rewards[t, chosen]
        elif rng.random() < means[chosen]:
            total[chosen] += 1.0
        pulls[chosen] += 1
        mean[chosen] = total[chosen] / pulls[chosen]
        if t + 1 == rounds[reported]:
            counts[reported] = pulls
            reported += 1
    return actions, counts
