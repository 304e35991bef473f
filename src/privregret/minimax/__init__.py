"""The least worst-case regret of any private learner, by linear programming, and the project's
learners beside it."""

from privregret.minimax.games import Game, Minimax, minimax
from privregret.minimax.plans import batched_plan, epoch_plan

__all__ = ["Game", "Minimax", "batched_plan", "epoch_plan", "minimax"]
