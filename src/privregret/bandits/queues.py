"""Arms in queues: what kernels that go by events look at instead of all arms.

Of arms whose private means are of equally many pulls, the one with the largest mean has the best
index, in every round. So such arms wait in one queue, and only the heads of queues are compared:
about as many as an arm's pulls can double, however many arms there are. An index bends down as the
round goes on (or whatever else moves it), so a tangent says how large it can be elsewhere, and most
heads need no more than that.

Records, as numba is slow to pass many arrays from function to function.
"""

import numpy as np

from privregret.jit import jit

HUGE = 1e300  # a slope that says nothing
UNKNOWN = -1.0  # no index is asked for there
ARM = np.dtype(
    [
        ("mean", float),  # the largest goes first
        ("order", float),  # of equal means the smallest
        ("left", int),  # the queue is a heap, a skew heap: two arms behind this one, or -1
        ("right", int),
    ]
)
QUEUE = np.dtype(
    [
        ("pulls", int),  # what the means are of; -1 from the first queue on that was never in use
        ("head", int),  # the first arm, or -1
        ("value", float),  # of a line above its index,
        ("slope", float),
        ("place", float),  # and where the line has that value
        ("zero", float),  # the order of the last arm of mean 0 that was taken,
        ("one", float),  # and of mean 1
    ]
)


@jit
def no_queues(arms):
    """Room for so many arms: (arms, queues)."""
    queues = np.empty(arms + 1, QUEUE)
    for q in range(arms + 1):
        queues[q]["pulls"] = queues[q]["head"] = -1
    return np.empty(arms, ARM), queues


@jit
def _melded(a, b, arms):
    """Head of two heaps made one; either may be empty, -1."""
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
    """Let an arm wait among those with means of so many pulls.

    Of arms whose means are clipped to 0 or to 1 the first goes first, or each with the same chance:
    each has a clock that rings at a constant rate, and the next to ring is the next to go. Clocks
    have no memory, so a newcomer's starts when the last of its equals went.
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
    """The head of a queue, which leaves it."""
    queue, arm = queues[q], queues[q]["head"]
    if arms[arm]["mean"] <= 0:
        queue["zero"] = arms[arm]["order"]
    elif arms[arm]["mean"] >= 1:
        queue["one"] = arms[arm]["order"]
    queue["head"] = _melded(arms[arm]["left"], arms[arm]["right"], arms)
    queue["value"], queue["slope"], queue["place"] = (
        np.inf if queue["head"] >= 0 else -np.inf,
        0.0,
        UNKNOWN,
    )
    return arm


@jit
def foremost(queues, place):
    """The queue whose head's index can be the largest, its bound, and the largest bound of the
    other queues."""
    best, highest, second, q = 0, -np.inf, -np.inf, 0
    while queues[q]["pulls"] >= 0:
        bound = queues[q]["value"] + queues[q]["slope"] * (place - queues[q]["place"])
        if bound > highest:
            best, highest, second = q, bound, highest
        else:
            second = max(second, bound)
        q += 1
    return best, highest, second
