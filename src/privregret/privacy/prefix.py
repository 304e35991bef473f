"""Privacy of softmax on a random prefix, by enumeration of all data sets of a block."""

import numpy as np

from privregret import checks


def loss_by_position(rounds: int, eta: float) -> np.ndarray:
    """Largest change of a choice's log-probability when one position's losses are replaced.

    cesari2026, Lemma 3: at most 2 eta. Softmax(-eta L) over two actions, L the losses of the first M of the block's
    rounds, M uniform on rounds/2 + 1, ..., rounds.
    All tables of losses in {0, 1} are gone through; the choice depends on the differences of the two losses only.

    Parameters
    ----------
    rounds : int
        Length of the block, 1..12.
    eta : float
        Inverse temperature, above 0.

    Returns
    -------
    (rounds,) array
    """
    if checks.integer("rounds", rounds, 1) > 12:
        raise ValueError(f"a block of {rounds} rounds has too many data sets to list; at most 12")
    eta = checks.positive("eta", eta)
    shortest = rounds // 2 + 1 if rounds > 1 else 1
    total, p = np.zeros((3,) * rounds), np.zeros((3,) * rounds)  # one axis a round: its difference is -1, 0 or 1
    for s in range(rounds):
        total = total + np.array([-1.0, 0.0, 1.0]).reshape((3,) + (1,) * (rounds - s - 1))
        if s + 1 >= shortest:
            p += 1 / (1 + np.exp(eta * total)) / (rounds - shortest + 1)
    return np.array([max(np.ptp(np.log(q), axis=s).max() for q in (p, 1 - p)) for s in range(rounds)])
