"""Turn learners into plans of a small game: exact distributions of all actions."""

import numpy as np

from privregret.companion.games import Game
from privregret.companion.phased import epoch_lengths
from privregret.core import checks, store
from privregret.exact.sums import selection_from_sums
from privregret.full_information import EpochAlgorithm


@checks.validate(game=checks.instance_of(Game), learner=checks.instance_of(EpochAlgorithm))
@store.cached
def epoch_plan(game: Game, learner: EpochAlgorithm) -> np.ndarray:
    """Return the plan (`Minimax`) of a learner that plays one action per epoch.

    The game has full information and two actions. Resampling does not change losses of 0 and 1.
    """
    if (game.feedback, game.actions) != ("full", 2):
        raise ValueError(f"game must have feedback='full' and actions=2, got {game!r}")
    patterns = _patterns(game.rounds, learner)
    return sum(w * game.plan_of(_epoch_policy(game, learner, lengths)) for lengths, w in patterns)


def _patterns(rounds, learner):
    """Return the lengths of the epochs that start in the rounds, with their probabilities."""
    if not learner.random_phase:
        return [(epoch_lengths(learner.growth, rounds), 1.0)]
    # phases at which a length changes
    turns = np.log(np.arange(1, rounds + 1)) / np.log(learner.growth) % 1
    ends = np.unique(np.append(turns, [0.0, 1.0]))
    lengths = [epoch_lengths(learner.growth, rounds, u) for u in (ends[1:] + ends[:-1]) / 2]
    return list(zip(lengths, np.diff(ends), strict=True))


def _epoch_policy(game, learner, epochs):
    """Return the policy on epochs of these lengths."""
    starts, scale, policy = np.cumsum(epochs), float(learner.noise_scale(2)), []
    for t in range(game.rounds):
        steps = _steps(game, t)
        if t == 0:
            law = np.full((1, 2), 0.5)
        elif t not in starts:
            law = np.eye(2)[steps[:, -1, 0]]
        else:
            length = int(epochs[np.searchsorted(starts, t)])
            # (histories, rounds of the epoch, actions)
            losses = game.rows[steps[:, -length:, 1]]
            used = range(length // 2 + 1, length + 1) if length > 1 else [1]
            used = {"full": used[-1:], "half": used[:1], "random": used}[learner.prefix]
            sums = np.stack([losses[:, :m].sum(axis=1) for m in used])
            law = selection_from_sums(sums, np.zeros(2), learner.noise, scale).mean(axis=0)
        policy.append(law)
    return policy


def _steps(game, rounds):
    """Return the (histories, rounds, 2) actions and observations of all histories."""
    base = game.actions * game.seen
    digits = np.arange(base**rounds)[:, None] // base ** np.arange(rounds)[::-1] % base
    return np.stack(np.divmod(digits, game.seen), axis=2)
