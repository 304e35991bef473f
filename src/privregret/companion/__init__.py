"""What is ours: learners with the best constants, and the minimax regret of small games."""

from privregret.companion.games import Game, minimax
from privregret.companion.margin_stop import MarginStop
from privregret.companion.phased import PhasedFTNL
from privregret.companion.plans import epoch_plan
from privregret.companion.votes import Votes, VotesOrLeader
from privregret.core import public as _public

__all__ = _public(globals())
