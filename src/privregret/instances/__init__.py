"""The problem instances of the papers, by kind of feedback"""

from privregret.core import public as _public
from privregret.instances.adversaries import (
    Adversary,
    Advice,
    ExpertProblem,
    exp3_leakage_pair,
    fixed_experts,
    gap_adversary,
    improving_arm,
    lemma_11_pair,
    stochastically_constrained,
    switching,
    tracking_experts,
)
from privregret.instances.bandits import (
    AZIZE2025_1,
    AZIZE2025_2,
    AZIZE2025_3,
    AZIZE2025_4,
    AZIZE2025_FIGURE_8,
    HU2021_1,
    HU2021_2,
    HU2021_3,
    BernoulliBandit,
    equal_gaps,
)
from privregret.instances.losses import (
    DEPENDENT_COPIES,
    TWO_ACTION_FIXED,
    TWO_ACTION_GAIN,
    TWO_ACTION_PRINTED,
    StochasticLosses,
    bernoulli_losses,
    cyclic,
    dependent,
    deterministic_losses,
    doubling,
    packing,
)
from privregret.instances.problem import Problem

__all__ = _public(globals())
