"""Dyadic softmax on a random prefix (cesari2026, Section 4)."""

import math
from dataclasses import dataclass

from privregret.core import checks
from privregret.core.algorithm import Privacy
from privregret.full_information.epochs import PREFIXES, EpochAlgorithm


@dataclass(frozen=True)
class RandomPrefixSoftmax(EpochAlgorithm):
    """Dyadic softmax on a random prefix: blocks of 1, 2, 4, ... rounds, softmax(-eta L).

    Of a block of n rounds the first M are used, M uniform on n/2 + 1, ..., n, and L are the losses
    of these rounds. Softmax is report noisy max with Gumbel noise of scale 1 / eta, and eta =
    min(epsilon / 2, cap).

    Privacy: 2 eta = min(epsilon, 2 cap) for the sequence of actions, even if the lengths of the
    prefixes are known. Anytime, O(K) memory. Twin: `random_prefix_softmax` in the notebook
    cesari2026/4-algorithm.

    Parameters
    ----------
    epsilon : float
        Privacy parameter, in [1e-6, 1e6].
    prefix : {"random", "full", "half"}
        "random" is the printed algorithm. For comparison, "full" uses the whole block (then this is
        FTNL with Gumbel noise), and "half" uses the shortest possible random prefix, n/2 + 1
        rounds.
    cap : float
        Largest inverse temperature: 1/8 in the paper, math.inf for none (still epsilon-DP, but not
        covered by Lemma 5).
    bernoulli_resampling : bool
        Replace each loss by an independent Bernoulli loss of that mean first; not in the paper.
    """

    epsilon: float
    prefix: str = "random"
    cap: float = 0.125
    bernoulli_resampling: bool = False
    id = "random-prefix-softmax"
    source = "cesari2026, Section 4"
    noise = "gumbel"
    rules = {
        "epsilon": checks.epsilon,
        "prefix": checks.one_of(*PREFIXES),
        "cap": lambda name, value: value if value == math.inf else checks.positive(name, value),
        "bernoulli_resampling": checks.boolean,
    }

    @property
    def eta(self) -> float:
        """Return the inverse temperature."""
        return min(self.epsilon / 2, self.cap)

    @property
    def privacy(self) -> Privacy:
        return Privacy(self.epsilon, 2 * self.eta)

    @property
    def label(self) -> str:
        part = {"random": "random-prefix", "full": "full-block", "half": "half-block"}[self.prefix]
        extras = ["resampled"] * self.bernoulli_resampling + ["no cap"] * (self.cap == math.inf)
        return f"{part} softmax ({', '.join(extras)})" if extras else f"{part} softmax"

    def noise_scale(self, actions: float) -> float:
        return 1 / self.eta
