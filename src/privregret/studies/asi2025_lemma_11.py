"""Certify lower bounds on regret by Lemma 11 of asi2025, from samples."""

import math

import numpy as np
from scipy.stats import beta

from privregret.bounds.asi2025 import lemma_11, window_length
from privregret.core import store


@store.cached
def lemma_11_certified(pulls: np.ndarray, rounds: np.ndarray, epsilon: float) -> dict | None:
    """Find the best bound of Lemma 11 whose two conditions samples certify.

    Half of the runs choose: rates below the median rate of pulls, whole p < ln 2 / epsilon and
    drops on the grid of rounds are scanned for the best bound. The other half certify that one
    choice, so scanning causes no bias. A condition counts if its probability is at least 1/2 by a
    one-sided Clopper-Pearson limit, wrong with probability 0.05. The first half applies a stricter
    limit, since the best choice of many is one that barely meets it.

    (runs, H) `pulls` are those of arm 2 on the first of Lemma 11's pair, in rounds 1..rounds[h]; a
    window that ends between two of `rounds`, whose last is the horizon, is lengthened to the
    second. Return bound, rate, drop and pulls, or None if no choice is certified; ValueError if so
    few runs can certify nothing.
    """
    starts, level = np.concatenate([[0], rounds]), 0.05
    choosing, testing = (
        np.column_stack([np.zeros(len(part)), part]) for part in (pulls[::2], pulls[1::2])
    )
    # few runs can show no more
    strict = min(level / 50, max(level / 10**5, 2.0 ** (-len(choosing) / 5)))
    best = _best_choice(choosing, starts, epsilon, _enough(len(choosing), strict))
    if best is None:
        return None
    window = np.searchsorted(starts, best["drop"] + window_length(best["pulls"], best["rate"]))
    kept = testing[:, window] - testing[:, np.searchsorted(starts, best["drop"])] <= best["pulls"]
    often = testing[:, -1] >= best["rate"] * starts[-1]
    return best if min(kept.sum(), often.sum()) >= _enough(len(testing), level) else None


def _enough(runs, level):
    """Count the runs that must show an event to certify probability 1/2."""
    enough = next((k for k in range(1, runs + 1) if beta.ppf(level, k, runs - k + 1) >= 0.5), None)
    if enough is None:
        raise ValueError(
            f"pulls must be of more runs to certify anything at level {level:g}, got {2 * runs}"
        )
    return enough


def _best_choice(before, starts, epsilon, enough):
    """Find the best bound whose conditions `enough` runs show, from pulls before `starts`."""
    runs, horizon = len(before), starts[-1]
    # `enough` runs have at least this rate
    highest = min(np.sort(before[:, -1])[runs - enough] / horizon, 0.5)
    best = None
    for rate in highest / 2.0 ** np.arange(7):
        # no window is longer than T
        for p in range(1, int(min(math.log(2) / epsilon, rate * (horizon + 1))) + 1):
            window = window_length(p, rate) if rate > 0 else math.inf
            here = np.flatnonzero(
                (starts < horizon / 2) & (2 * rate * starts <= p) & (starts + window <= horizon)
            )
            if len(here) == 0:
                continue
            ends = np.searchsorted(starts, starts[here] + window)
            kept = ((before[:, ends] - before[:, here]) <= p).sum(axis=0) >= enough
            for drop in map(int, starts[here[kept]]):
                bound = float(lemma_11(horizon, epsilon, rate, drop, p))
                if best is None or bound > best["bound"]:
                    best = {"bound": bound, "rate": float(rate), "drop": drop, "pulls": p}
    return best
