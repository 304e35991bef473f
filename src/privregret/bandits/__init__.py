"""Stochastic bandits: one file per algorithm family."""

from privregret.bandits.base import BanditAlgorithm
from privregret.bandits.dp_se import DPSE
from privregret.bandits.hybrid_ucb import HybridUCB
from privregret.bandits.lazy_ucb import AnytimeLazyUCB
from privregret.bandits.ucb1 import UCB1

__all__ = ["DPSE", "UCB1", "AnytimeLazyUCB", "BanditAlgorithm", "HybridUCB"]
