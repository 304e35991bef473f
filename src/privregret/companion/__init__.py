"""What is ours: learners with the best constants, and the minimax regret of small games."""

from privregret.companion.games import Game, minimax
from privregret.companion.margin_stop import MarginStop
from privregret.companion.phased import PhasedFTNL
from privregret.companion.plans import epoch_plan
from privregret.companion.votes import Votes, VotesOrLeader

__all__ = ["Game", "MarginStop", "PhasedFTNL", "Votes", "VotesOrLeader"]
__all__ += ["epoch_plan", "minimax"]
