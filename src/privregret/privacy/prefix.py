"""Compute the privacy of softmax on random prefixes, by enumeration of data sets.

The distribution of a choice depends only on the differences of the actions' losses. Actions can be
put into groups with equal losses in every round, so that many actions can be enumerated as well (as
far as such data sets show).
"""

from itertools import product

import numpy as np

from privregret.core import checks

LARGEST = 2**21  # largest number of entries of an enumerated distribution


@checks.arguments(eta=checks.number_in(1e-15, 30))
def loss_by_position(rounds: int, eta: float, counts: tuple[int, ...] = (1, 1)) -> np.ndarray:
    """Return the largest change of a choice's log-probability, per position.

    One position's losses are replaced. By cesari2026, Lemma 3, the change is at most 2 eta. The
    choice is Softmax(-eta L), where L are the losses of the first M of the block's rounds, and M is
    uniform on rounds/2 + 1, ..., rounds.

    Parameters
    ----------
    rounds : int
        Length of the block, at least 1.
    eta : float
        Inverse temperature, above 0.
    counts : sequence of int
        Actions in each group: (1, 1, 1) enumerates all tables of three actions' losses in {0, 1},
        and (1, 999) those in which 999 of a thousand actions have equal losses.

    Returns
    -------
    (rounds,) array
    """
    _check(checks.positive_int("rounds", rounds), 1, counts)
    law = np.log(_choice(rounds, 0, _lengths(rounds), eta, counts))
    return np.array([np.ptp(law, axis=s).max() for s in range(rounds)])


@checks.arguments(eta=checks.number_in(1e-15, 30))
def sequence_loss(
    blocks: int, eta: float, counts: tuple[int, ...] = (1, 1), forget: bool = True
) -> float:
    """Return the largest change of the log-probability of a sequence of actions.

    One round's losses are replaced. By cesari2026, Proposition 1, the change is at most 2 eta.
    Blocks have 1, 2, 4, ... rounds, each with its action. Of one more block only the action counts.
    The distribution is summed over all prefix lengths.

    Parameters
    ----------
    blocks : int
        Blocks whose losses are used, at least 1.
    eta, counts
        As in `loss_by_position`.
    forget : bool
        False for a learner that adds the prefix to the losses of all earlier blocks: it uses a
        round many times.
    """
    rounds = 2 ** checks.integer_in(1, 8)("blocks", blocks) - 1
    _check(rounds, blocks, counts)
    law = np.zeros((1,) * (rounds + blocks))
    for block in range(blocks):
        start, lengths = 2**block - 1, _lengths(2**block)
        if not forget:
            start, lengths = 0, [start + m for m in lengths]
        choice = np.log(_choice(rounds, start, lengths, eta, counts))
        law = law + choice.reshape(
            choice.shape[:-1] + (1,) * block + (len(counts),) + (1,) * (blocks - block - 1)
        )
    return float(max(np.ptp(law, axis=s).max() for s in range(rounds)))


def _lengths(rounds):
    """Return the possible prefix lengths of a block."""
    return [1] if rounds == 1 else list(range(rounds // 2 + 1, rounds + 1))


def _check(rounds, choices, counts):
    size = (2 ** len(counts) - 1) ** rounds * len(counts) ** choices
    if size > LARGEST:
        raise ValueError(
            f"{rounds} rounds with {len(counts)} kinds of action have {size:g} data sets, "
            f"more than the {LARGEST} that can be listed"
        )


def _choice(axes, start, lengths, eta, counts):
    """Return the probability of one given action of each kind, given the losses.

    There is one axis per round's losses (of length 1 where they do not matter), and the last axis
    is the kind of action. The choice is softmax of the losses of rounds start .. start + M - 1, M
    uniform on `lengths`.
    """
    # all losses 1 are equivalent to all losses 0
    outcomes = np.array(list(product((0.0, 1.0), repeat=len(counts)))[:-1])
    total, law = np.zeros((1,) * (axes + 1)), 0.0
    for s in range(start, start + max(lengths)):
        total = total + outcomes.reshape(
            (1,) * s + (len(outcomes),) + (1,) * (axes - s - 1) + (len(counts),)
        )
        if s - start + 1 in lengths:
            weights = np.exp(-eta * (total - total.min(axis=-1, keepdims=True)))
            law = law + weights / (weights @ np.array(counts, float))[..., None] / len(lengths)
    return law
