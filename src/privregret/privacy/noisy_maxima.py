"""Compute the privacy loss of one noisy maximum, and of softmax on random prefixes.

Report noisy max has a closed form. Random prefixes are enumerated over all data sets: the choice
depends only on the differences of the actions' losses, and actions can be put into groups with
equal losses in every round, so that many actions can be enumerated as well (as far as such data
sets show).
"""

from itertools import product
from math import exp, expm1, log
from typing import NamedTuple

import numpy as np

from privregret.core import checks
from privregret.exact import selection_from_sums

LARGEST = 2**21  # largest number of entries of an enumerated distribution


class SelectionLoss(NamedTuple):
    """The privacy loss, `value`, and neighbouring sums that attain it.

    `before` and `after` are the sums of the action that becomes more likely and of each of the
    others.
    """

    value: float
    before: tuple[int, int]
    after: tuple[int, int]


@checks.validate(
    actions=checks.integer_in(2, checks.MAX_HORIZON),
    rounds=checks.positive_int,
    noise=checks.one_of("laplace", "exponential", "gumbel"),
    scale=checks.positive,
)
def epoch_loss(actions: int, rounds: int, noise: str, scale: float) -> SelectionLoss:
    """Return the privacy loss when report noisy max selects by the losses of an epoch.

    It is the largest log-ratio of the probabilities of an action over all pairs of data sets that
    differ in one round, all losses of which are replaced (hu2021, Theorem 6; wu2026, Theorem 2). It
    is at most 2 / scale, whatever the noise.

    The worst pair is known. With d_i the deficit of an action to action i, f and F the density and
    the distribution function of the noise, the action's probability P(d) is the integral of f(y)
    prod_i F(y - d_i) dy. It falls in each d_i, and one round moves each by at most 2, so no ratio
    from d is above P(d - 2) / P(d): the mean of f(y - 2) / f(y) over the distribution with density
    proportional to f(y) prod_i F(y - d_i). All three noises are log-concave. So the ratio of
    densities grows with y, and the distribution moves up with each d_i; hence the maximum is at the
    largest d, where d_i = n.

    Parameters
    ----------
    actions : int
        K >= 2.
    rounds : int
        Length n >= 1 of the epoch; losses lie in [0, 1].
    noise : {"laplace", "exponential", "gumbel"}
    scale : float
        Scale of the noise, above 0.

    Examples
    --------
    >>> epoch_loss(2, 1, "laplace", 2.0)
    SelectionLoss(value=0.4934479222289322, before=(1, 0), after=(0, 1))
    """
    excess = [_log_excess(d / scale, actions, noise) for d in (rounds - 2, rounds)]
    return SelectionLoss(2 / scale + excess[0] - excess[1], (rounds, 0), (rounds - 1, 1))


def _log_excess(u, actions, noise):
    """Return u plus the log-probability that an action wins from u scales behind all others."""
    if noise == "gumbel":
        return -float(np.logaddexp(log(actions - 1), -u))
    if u < 0:  # after a single round; Laplace noise has no closed form, and the number is not small
        return u + log(selection_from_sums([u, 0.0], [0.0, log(actions - 1)], noise, 1.0)[0])
    if noise == "exponential":
        return -log(actions)
    # the action's noise is above u; between 0 and u; below 0
    above = (1 - 0.5**actions) / actions
    between = 0.5**actions * (u if actions == 2 else -expm1(-(actions - 2) * u) / (actions - 2))
    return log(above + between + 0.5**actions * exp(-(actions - 2) * u) / actions)


@checks.validate(rounds=checks.positive_int, eta=checks.number_in(1e-15, 30))
def loss_by_position(rounds: int, eta: float, counts: tuple[int, ...] = (1, 1)) -> np.ndarray:
    """Return the (rounds,) largest changes of a choice's log-probability, per position.

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
    """
    _can_be_listed(rounds, 1, counts)
    law = np.log(_choice(rounds, 0, _lengths(rounds), eta, counts))
    return np.array([np.ptp(law, axis=s).max() for s in range(rounds)])


@checks.validate(blocks=checks.integer_in(1, 8), eta=checks.number_in(1e-15, 30))
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
    rounds = 2**blocks - 1
    _can_be_listed(rounds, blocks, counts)
    law = np.zeros((1,) * (rounds + blocks))
    for block in range(blocks):
        start, lengths = 2**block - 1, _lengths(2**block)
        if not forget:
            start, lengths = 0, [start + m for m in lengths]
        choice = np.log(_choice(rounds, start, lengths, eta, counts))
        axes = (1,) * block + (len(counts),) + (1,) * (blocks - block - 1)
        law = law + choice.reshape(choice.shape[:-1] + axes)
    return float(max(np.ptp(law, axis=s).max() for s in range(rounds)))


def _lengths(rounds):
    """Return the possible prefix lengths of a block."""
    return [1] if rounds == 1 else list(range(rounds // 2 + 1, rounds + 1))


def _can_be_listed(rounds, choices, counts):
    """Refuse more data sets than `LARGEST`."""
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
