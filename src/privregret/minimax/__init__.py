"""Minimax regret of private learners by linear programming, and our learners"""

from privregret.minimax.games import Game, Minimax, minimax
from privregret.minimax.plans import batched_plan, epoch_plan

__all__ = ["Game", "Minimax", "batched_plan", "epoch_plan", "minimax"]
