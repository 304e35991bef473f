"""Stochastic online learning with full information: all losses are observed"""

from privregret.core import public as _public
from privregret.full_information.base import FullInformationAlgorithm
from privregret.full_information.epochs import EpochAlgorithm
from privregret.full_information.ftnl import FTNL, EpochLeader, NaiveFTNL
from privregret.full_information.leaders import (
    DecreasingHedge,
    EveryRoundAlgorithm,
    FollowTheLeader,
)
from privregret.full_information.random_prefix import RandomPrefixSoftmax

__all__ = _public(globals())
