"""Stochastic bandits: one file per algorithm family."""

from privregret.bandits.adap_klucb import AdaPKLUCB
from privregret.bandits.base import BanditAlgorithm
from privregret.bandits.dp_klucb import DPIMED, DPKLUCB
from privregret.bandits.dp_se import DPSE
from privregret.bandits.hybrid_ucb import HybridUCB
from privregret.bandits.imed import IMED
from privregret.bandits.klucb import KLUCB
from privregret.bandits.lazy_ts import LazyDPTS
from privregret.bandits.lazy_ucb import AnytimeLazyUCB
from privregret.bandits.ucb1 import UCB1
from privregret.core import public as _public

__all__ = _public(globals())
