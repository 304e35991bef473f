"""Compute the privacy of draws from votes, over all counts and changed votes."""

from itertools import product

import numpy as np

from privregret.core import checks
from privregret.full_information import Votes, VotesOrLeader

_whole = checks.integer_in(2, checks.LARGEST)


@checks.arguments(
    learner=checks.instance_of(Votes),
    actions=_whole,
    epoch=checks.positive_int,
    extra=checks.nonnegative_int,
)
def votes_loss(learner: Votes, actions: int, epoch: int = 1, extra: int = 0) -> float:
    """Return the privacy loss of the draw after an epoch of `Votes`.

    The result is at least the rate epsilon_0. One vote moves from k to j. The ratios of the
    probabilities after and before depend on c_k, c_j and the sum of the weights, and those above
    e^rate fall as that sum grows. So the other votes are spread evenly, which makes the sum
    smallest.

    Parameters
    ----------
    learner : Votes
    actions : int
        K >= 2.
    epoch : int
        i = 1, 2, ...
    extra : int
        Additional rounds of the epoch, a planted bug.

    Returns
    -------
    float
        The largest log-ratio, or the rate if that is larger.
    """
    ballot = learner.ballot(np.log(actions))
    rounds, threshold = ballot.length(epoch) + extra, ballot.threshold(epoch)
    from_k, to_j = np.meshgrid(np.arange(1, rounds + 1), np.arange(rounds), indexing="ij")
    others, few = rounds - from_k - to_j, actions - 2
    possible = (others == 0) if few == 0 else (others >= 0)
    from_k, to_j, others = from_k[possible], to_j[possible], others[possible]

    def weight(votes):
        return np.exp(ballot.rate * np.maximum(votes - threshold, 0))

    each, more = np.divmod(others, max(few, 1))
    rest = (few - more) * weight(each) + more * weight(each + 1)
    before = rest + weight(from_k) + weight(to_j)
    after = rest + weight(from_k - 1) + weight(to_j + 1)
    rises = np.log(weight(to_j + 1) / weight(to_j))
    return float(max(ballot.rate, (np.maximum(rises, 0.0) + np.log(before / after)).max()))


@checks.arguments(
    learner=checks.instance_of(VotesOrLeader),
    actions=checks.integer_in(2, 4),
    first=checks.positive,
)
def unanimity_loss(learner: VotesOrLeader, actions: int, first: float = 1.0) -> float:
    """Return the privacy loss of the test after the first later epoch.

    All vote counts are listed.

    Parameters
    ----------
    learner : VotesOrLeader
    actions : int
        K, 2 to 4.
    first : float
        Factor by which the test is too sharp, a planted bug.
    """
    constants = learner.constants(np.log(actions))
    rounds, tilt = constants.first, first * constants.tilt
    counts = np.array(
        [c for c in product(range(rounds + 1), repeat=actions - 1) if sum(c) <= rounds]
    )
    counts = np.column_stack([counts, rounds - counts.sum(axis=1)])

    def law(votes):
        weights = tilt * (votes - (rounds - constants.margin))
        weights = np.column_stack([np.zeros(len(votes)), weights])
        return weights - np.logaddexp.reduce(weights, axis=1, keepdims=True)

    worst = 0.0
    for k, j in product(range(actions), repeat=2):
        if k != j:
            some = counts[counts[:, k] > 0]
            moved = some.copy()
            moved[:, k] -= 1
            moved[:, j] += 1
            worst = max(worst, float(np.abs(law(moved) - law(some)).max()))
    return worst
