"""Compute the privacy loss of report noisy max in closed form."""

from math import exp, expm1, log
from typing import NamedTuple

import numpy as np

from privregret.core import checks
from privregret.exact import selection_from_sums


class SelectionLoss(NamedTuple):
    """Hold the privacy loss, `value`, and neighbouring sums that attain it.

    `before` and `after` are the sums of the action that becomes more likely and of each of the
    others.
    """

    value: float
    before: tuple[int, int]
    after: tuple[int, int]


def privacy_loss(actions: int, rounds: int, noise: str, scale: float) -> SelectionLoss:
    """Return the privacy loss when report noisy max selects by the losses of an epoch.

    It is the largest log-ratio of the probabilities of an action over all pairs of data sets that
    differ in one round, all losses of which are replaced (hu2021, Theorem 6; wu2026, Theorem 2). It
    is at most 2 / scale, whatever the noise.

    Parameters
    ----------
    actions : int
        K >= 2.
    rounds : int
        Length n >= 1 of the epoch; losses lie in [0, 1].
    noise : {"laplace", "exponential", "gumbel"}
    scale : float
        Scale of the noise, above 0.

    Returns
    -------
    SelectionLoss

    Notes
    -----
    The worst pair is known. With d_i the deficit of an action to action i, f and F the density and
        the distribution function of the noise, the action's probability P(d) is the integral of
        f(y) prod_i F(y - d_i) dy. It falls in each d_i, and one round moves each by at most 2, so
        no ratio from d is above P(d - 2) / P(d): the mean of f(y - 2) / f(y) over the distribution
        with density proportional to f(y) prod_i F(y - d_i). All three noises are log-concave. So
        the ratio of densities grows with y, and the distribution moves up with each d_i; hence the
        maximum is at the largest d, where d_i = n.

    Examples
    --------
    >>> privacy_loss(2, 1, "laplace", 2.0)
    SelectionLoss(value=0.4934479222289322, before=(1, 0), after=(0, 1))
    """
    actions, rounds = (
        checks.integer_in(2, checks.LARGEST)("actions", actions),
        checks.positive_int("rounds", rounds),
    )
    noise, scale = (
        checks.one_of("laplace", "exponential", "gumbel")("noise", noise),
        checks.positive("scale", scale),
    )
    excess = [_log_excess(d / scale, actions, noise) for d in (rounds - 2, rounds)]
    return SelectionLoss(2 / scale + excess[0] - excess[1], (rounds, 0), (rounds - 1, 1))


def _log_excess(u, actions, noise):
    """Return u plus the log-probability that an action wins, by u behind all others.

    The noise has scale 1.
    """
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
