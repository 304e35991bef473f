"""Keep arms in priority queues, so that event-driven kernels need not scan them.

Among arms whose private means come from equally many pulls, the one with the largest mean has the
best index in every round. So these arms wait in one queue, and only the heads of queues are
compared: about as many as an arm's pulls can double, however many arms there are. An index is
concave in the round (or in whatever else moves it), so a tangent bounds it elsewhere, and most
heads need no more than that.

The queues are records, because numba is slow to pass many arrays between functions.
"""

import numpy as np

from privregret.core.jit import jit

HUGE = 1e300  # slope of a line without information
UNKNOWN = -1.0  # a place where indices are not needed
ARM = np.dtype(
    [
        ("mean", float),  # arms with the largest value go first
        ("order", float),  # among equal means, arms with the smallest order go first
        ("left", int),  # the queue is a skew heap: two arms behind this one, or -1
        ("right", int),
    ]
)
QUEUE = np.dtype(
    [
        ("pulls", int),  # pulls of which the means are taken; -1 from the first unused queue on
        ("head", int),  # the first arm, or -1
        ("value", float),  # a line above the index of the first arm: its slope,
        ("slope", float),
        ("place", float),  # and the place where it has this value
        ("zero", float),  # order of the last arm of mean 0 that was taken,
        ("one", float),  # and of mean 1
    ]
)


@jit
def no_queues(arms):
    """Return empty queues for this number of arms: (arms, queues)."""
    queues = np.empty(arms + 1, QUEUE)
    for q in range(arms + 1):
        queues[q]["pulls"] = queues[q]["head"] = -1
    return np.empty(arms, ARM), queues


@jit
def _melded(a, b, arms):
    """Return the head of two merged heaps; either may be empty, -1."""
    head, last = -1, -1
    while a >= 0 and b >= 0:
        behind = arms[b]["mean"] - arms[a]["mean"]
        if behind > 0 or (behind == 0 and arms[b]["order"] < arms[a]["order"]):
            a, b = b, a
        if last < 0:
            head = a
        else:
            arms[last]["left"] = a
        last = a
        a = arms[last]["right"]
        arms[last]["right"] = arms[last]["left"]
    if last < 0:
        return max(a, b)
    arms[last]["left"] = max(a, b)
    return head


@jit
def add(arms, queues, pulls, arm, mean, first, rng):
    """Add an arm to the queue of those whose means come from this number of pulls.

    Arms whose means are clipped to 0 or to 1 tie. Either the first arm goes first, or each with
    equal chance: then each arm has an exponential clock, and the arm with the smallest clock goes
    next. Exponential clocks have no memory, so the clock of a newcomer starts when the last of its
    equals left.
    """
    q, empty = 0, -1
    while queues[q]["pulls"] >= 0 and queues[q]["pulls"] != pulls:
        if queues[q]["head"] < 0:
            empty = q
        q += 1
    if queues[q]["pulls"] < 0 and empty >= 0:
        q = empty
    queue, new = queues[q], arms[arm]
    if queue["head"] < 0:
        queue["pulls"], queue["zero"], queue["one"] = pulls, 0.0, 0.0
    order = float(arm)
    if not (first or 0 < mean < 1):
        order = rng.standard_exponential() + (queue["one"] if mean > 0 else queue["zero"])
    new["mean"], new["order"], new["left"], new["right"] = mean, order, -1, -1
    head = _melded(queue["head"], arm, arms)
    if head != queue["head"]:
        queue["head"], queue["value"], queue["slope"], queue["place"] = head, np.inf, 0.0, UNKNOWN


@jit
def take(arms, queues, q):
    """Remove the head of a queue and return it."""
    queue, arm = queues[q], queues[q]["head"]
    if arms[arm]["mean"] <= 0:
        queue["zero"] = arms[arm]["order"]
    elif arms[arm]["mean"] >= 1:
        queue["one"] = arms[arm]["order"]
    queue["head"] = _melded(arms[arm]["left"], arms[arm]["right"], arms)
    queue["value"] = np.inf if queue["head"] >= 0 else -np.inf
    queue["slope"], queue["place"] = 0.0, UNKNOWN
    return arm


@jit
def foremost(queues, place):
    """Return the queue with the largest bound, its bound, and that of the others."""
    best, highest, second, q = 0, -np.inf, -np.inf, 0
    while queues[q]["pulls"] >= 0:
        bound = queues[q]["value"] + queues[q]["slope"] * (place - queues[q]["place"])
        if bound > highest:
            best, highest, second = q, bound, highest
        else:
            second = max(second, bound)
        q += 1
    return best, highest, second
