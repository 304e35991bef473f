"""Faults for the notebooks on cesari2026."""

import numpy as np

from planted import all_of, replaced, scaled, wrapped
from privregret.bounds import cesari2026 as bounds
from privregret.bounds import wu2026
from privregret.full_information import RandomPrefixSoftmax
from privregret.privacy import noisy_maxima
from privregret.studies import cesari2026 as study


def temperature(factor):
    """Multiply the inverse temperature of random-prefix softmax by a factor."""
    eta = property(lambda self: factor * min(self.epsilon / 2, self.cap))
    return replaced(RandomPrefixSoftmax, "eta", eta)


def noise_scale(self, actions):
    return np.log(actions) / self.eta


SECOND_LOGARITHM = replaced(RandomPrefixSoftmax, "noise_scale", noise_scale)
PLANTS = {
    "cesari2026/4-algorithm": {
        "theorem-1-first theorem-1-second dependent-actions": temperature(1 / 200),
        "corollary-1": SECOND_LOGARITHM,
    },
    "cesari2026/5-proofs": {
        # in one choice
        "lemma-3": wrapped(
            noisy_maxima, "loss_by_position", lambda right, n, eta, *more: right(n, 2 * eta, *more)
        ),
        # in the algorithm
        "proposition-1": temperature(2),
        "lemma-5 lemma-5-drift": all_of(
            scaled(bounds, 0.01, "lemma_5"), scaled(study, 0.01, "drift")
        ),
    },
    "cesari2026/6-extra-logarithm": {
        "one-logarithm": SECOND_LOGARITHM,
        # sums over ranks divided by ln K, so that the tally has no second logarithm
        "remark-1": wrapped(
            wu2026, "by_rank", lambda right, n, tail: right(n, tail) / np.logaddexp.reduce(n)
        ),
    },
}
