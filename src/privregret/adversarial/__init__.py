"""Adversarial bandits, without and with expert advice, and private conversions"""

from privregret.adversarial.base import AdversarialAlgorithm, ExpertAlgorithm
from privregret.adversarial.conversions import BatchedPrivate, ExpertsFromBandit, LocallyPrivate
from privregret.adversarial.exp3 import EXP3
from privregret.adversarial.exp4 import EXP4Batched, EXP4Local
from privregret.adversarial.ftpl import FTPL
from privregret.adversarial.htinf import HTINF
from privregret.adversarial.sparse_switch import SparseSwitch
from privregret.core import public as _public

__all__ = _public(globals())
