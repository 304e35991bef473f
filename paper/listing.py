# fmt: off
import numpy as np

from privregret.core.algorithm import Privacy
from privregret.full_information import FullInformationAlgorithm
from privregret.privacy import ledger


class Learner:  # of a reader, in plain Python
    def __init__(self, actions, rng):
        self.sums, self.rng, self.t, self.leader = np.zeros(actions, object), rng, 0, 0
    def choose(self):
        return self.leader
    def observe(self, losses):
        self.sums, self.t = self.sums + losses, self.t + 1
        if self.t & (self.t + 1) == 0:  # an epoch of 1, 2, 4, ... rounds ends
            noisy = [total + self.rng.laplace(0, 1) for total in self.sums]
            self.leader, self.sums = noisy.index(min(noisy)), 0 * self.sums
class NoisyLeader(FullInformationAlgorithm):
    id = label = source = "noisy leader"
    privacy = Privacy(printed=1.0, proved=1.0)  # the claim
    def start(self, arms, rng, horizon=None):
        return Learner(arms, np.random.default_rng(rng))
table = np.random.default_rng(1).integers(2, size=(30, 2)).astype(float)
run = ledger.traced(NoisyLeader(), table, rng=2)
print(ledger.costs(run, "outcomes").max())
