"""Privacy of softmax on random prefixes, by enumeration of all data sets.

The law of a choice depends on the differences of the actions' losses only. Actions may be put into
groups whose losses are the same in every round, so that many actions can be gone through too (as
far as such data sets show).
"""

from itertools import product

import numpy as np

from privregret import checks

LARGEST = 2**21  # numbers in the largest law that is listed


@checks.arguments(eta=checks.number_in(1e-15, 30))
def loss_by_position(rounds: int, eta: float, counts: tuple[int, ...] = (1, 1)) -> np.ndarray:
    """Largest change of a choice's log-probability when one position's losses are replaced.

    cesari2026, Lemma 3: at most 2 eta. Softmax(-eta L), L the losses of the first M of the block's
    rounds, M uniform on rounds/2 + 1, ..., rounds.

    Parameters
    ----------
    rounds : int
        Length of the block, at least 1.
    eta : float
        Inverse temperature, above 0.
    counts : sequence of int
        Actions in each group: (1, 1, 1) goes through all tables of three actions' losses in {0, 1},
        (1, 999) through those in which 999 of a thousand actions suffer the same.

    Returns
    -------
    (rounds,) array

    Examples
    --------
    >>> loss_by_position(4, eta=0.125).round(5)
    array([0.14419, 0.14419, 0.14419, 0.074  ])
    """
    _check(checks.positive_int("rounds", rounds), 1, counts)
    law = np.log(_choice(rounds, 0, _lengths(rounds), eta, counts))
    return np.array([np.ptp(law, axis=s).max() for s in range(rounds)])


@checks.arguments(eta=checks.number_in(1e-15, 30))
def sequence_loss(
    blocks: int, eta: float, counts: tuple[int, ...] = (1, 1), forget: bool = True
) -> float:
    """Largest change of the log-probability of a whole sequence of actions when one round's losses
    are replaced.

    cesari2026, Proposition 1: at most 2 eta. Blocks of 1, 2, 4, ... rounds, each with its action,
    and one block more, of which only the action counts; the law is summed over all prefix lengths.

    Parameters
    ----------
    blocks : int
        Blocks whose losses are used, at least 1.
    eta, counts
        As in `loss_by_position`.
    forget : bool
        False for a learner that adds the prefix to the losses of all earlier blocks: it sees a
        round many times.

    Examples
    --------
    >>> round(sequence_loss(2, eta=0.125), 4)
    0.1328
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
    """The prefixes that may be drawn of a block."""
    return [1] if rounds == 1 else list(range(rounds // 2 + 1, rounds + 1))


def _check(rounds, choices, counts):
    size = (2 ** len(counts) - 1) ** rounds * len(counts) ** choices
    if size > LARGEST:
        raise ValueError(
            f"{rounds} rounds with {len(counts)} kinds of action have {size:g} data sets, "
            f"more than the {LARGEST} that can be listed"
        )


def _choice(axes, start, lengths, eta, counts):
    """One axis for each round's losses (of length 1 where they do not matter), the last for the
    kind of action: the probability of one given action, softmax of the losses of rounds start ..
    start + M - 1, M uniform on `lengths`."""
    outcomes = np.array(
        list(product((0.0, 1.0), repeat=len(counts)))[:-1]
    )  # all 1 is as good as all 0
    total, law = np.zeros((1,) * (axes + 1)), 0.0
    for s in range(start, start + max(lengths)):
        total = total + outcomes.reshape(
            (1,) * s + (len(outcomes),) + (1,) * (axes - s - 1) + (len(counts),)
        )
        if s - start + 1 in lengths:
            weights = np.exp(-eta * (total - total.min(axis=-1, keepdims=True)))
            law = law + weights / (weights @ np.array(counts, float))[..., None] / len(lengths)
    return law
