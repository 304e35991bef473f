"""Make the loops of an algorithm from its two steps and the templates of its family."""

from collections import defaultdict
from collections.abc import Callable
from threading import Lock
from types import FunctionType
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.extending import is_jitted

from privregret.core import code_key
from privregret.core import templates as loop
from privregret.core.files import digest
from privregret.core.jit import compiled, fresh, ours
from privregret.core.streams import children
from privregret.core.templates import WrongArm

LANES = 32  # runs that are played side by side
NOTHING = np.dtype([("nothing", np.int64)])
LOCK = Lock()
# template and slots: all states of what kernels read, with the loop and what must live on
MADE: dict[tuple, list[tuple]] = defaultdict(list)
CHANGING = list, dict, set, np.ndarray


class Steps(NamedTuple):
    """The literal algorithm: what it remembers, and what it does in a round.

    Its memory is one record per arm (or action) and one more record, all 0 before round 1. An
    algorithm that takes advice also has one record per expert, which comes first. The steps are
    kernels, or plain Python:

    choose([experts,] arms, own, settings, t, [advice,] rng) -> the arm of the round

    observe([experts,] arms, own, settings, t, [advice,] arm, seen, rng)

    - arms, experts: arrays of (K,) and (N,) records, changed in place; own: one record
    - settings: what `Algorithm.settings` returns, a NamedTuple of numbers and arrays
    - t: the round, from 1; arm: from 0
    - advice: (N, K), the distribution of each expert over the arms in this round
    - seen: the reward or the loss of that arm, or with full information the losses of all actions
    - rng: numpy.random.Generator, the source of the algorithm's own randomness
    """

    arm: np.dtype
    own: np.dtype
    choose: Callable
    observe: Callable
    expert: np.dtype | None = None

    def memory(self, actions: int, experts: int = 0) -> tuple[np.ndarray, ...]:
        """Return the memory before round 1: [experts], arms, and one more record."""
        advised = () if self.expert is None else (np.zeros(experts, self.expert),)
        return *advised, np.zeros(actions, self.arm), np.zeros(1, self.own)


class Templates(NamedTuple):
    """The loops of a family of algorithms, as in `templates`."""

    play: Callable  # (table, [advice,] *memory, settings, rng) -> (T,) actions
    run: Callable  # (data, checkpoints, settings, rng) -> what was played by the checkpoints


BANDIT = Templates(loop.play_entry, loop.run_bandit)
LOSSES = Templates(loop.play_row, loop.run_losses)
ADVERSARY = Templates(loop.play_entry, loop.run_adversary)
EXPERTS = Templates(loop.play_advised, loop.run_advised)


def play(templates: Templates, steps: Steps) -> Callable:
    """Return the loop of an algorithm over a table."""
    return made(templates.play, choose=steps.choose, observe=steps.observe)


def rounds(templates: Templates, steps: Steps) -> Callable:
    """Return the loop over rounds drawn on the way, in the form of an event kernel."""
    return made(templates.run, **slots(steps))


def slots(steps: Steps) -> dict[str, Any]:
    """Return what the steps fill in."""
    memory = {"ARM": steps.arm, "OWN": steps.own, "EXPERT": steps.expert}
    return {"choose": steps.choose, "observe": steps.observe, **memory}


def many(kernel: Callable) -> Callable:
    """Return a loop over runs: (data, checkpoints, settings, runs, rng) -> array."""
    return made(loop.many, kernel=kernel)


def made(template, **slots):
    """Return a copy of a template for one algorithm, the same as long as its kernels read the same.

    numba caches neither closures nor kernels that are passed as arguments.
    """
    # shared by all threads; equal dtypes have equal code, equal functions may not
    with LOCK:
        which = template, *(s if isinstance(s, np.dtype) else id(s) for s in slots.values())
        states = MADE[which]
        for reads, made, _ in states:
            if all(read() is was and _same(was, seen) for *_, read, was, seen in reads):
                return made
        reads = code_key.frozen(*filter(is_jitted, slots.values()))
        states.append((reads, _copied(template, slots), slots))
        return states[-1][1]


def _same(value, seen):
    return not isinstance(value, CHANGING) or code_key.content(value) == seen


def _copied(template, slots):
    kernels = {n: k for n, k in slots.items() if is_jitted(k)}
    # a loop in a loop was made by this
    cached = all(getattr(k.py_func, "cached", None) or ours(k) for k in kernels.values())
    copies = {n: k if hasattr(k.py_func, "cached") else fresh(k, {}) for n, k in kernels.items()}
    if "choose" in kernels:
        # in a loop over rounds a call with records costs as much as the step
        inlined = numba.njit(inline="always")
        copies = {n: inlined(k.py_func) for n, k in copies.items()}
    # unique among all that are cached
    of = [f"{k.__module__}.{k.__name__}" for k in kernels.values()]
    known = repr((of, [kind for kind in slots.values() if isinstance(kind, np.dtype)]))
    name = "_".join((template.__name__, "of", *of, digest(known.encode())[:8])).replace(".", "_")
    made = FunctionType(template.__code__, template.__globals__ | slots | copies, name)
    main = next(iter(slots.values()))
    made.__module__, made.__qualname__, made.cached = main.__module__, name, cached
    return compiled(made, cached) if kernels else made


def side_by_side(
    kernel: Callable,
    data: Any,
    checkpoints: np.ndarray,
    settings: Any,
    runs: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return what is played in several runs, `LANES` at a time, each from its own generator.

    `kernel` maps (data, checkpoints, settings, rngs, runs) to a (runs, H) array. It is compiled for
    one number of generators, so the tuple is filled up. `rng` seeds the generators.
    """
    played = []
    for first in range(0, runs, LANES):
        rngs = children(rng, min(LANES, runs - first))
        filled = (*rngs, *rngs[:1] * (LANES - len(rngs)))
        played.append(kernel(data, checkpoints, settings, filled, len(rngs)))
    return np.concatenate(played)


def followed(
    start: Callable, templates: Templates, table: np.ndarray, rng: Any, *advice: np.ndarray
) -> np.ndarray:
    """Return the actions on a table of an algorithm in plain Python, each one checked.

    `start` makes its learner; `advice` is empty, or one (T, N, K) array.
    """
    rows, arms = table.shape
    learner = start(arms, np.random.default_rng(rng), rows, *(a.shape[1] for a in advice))
    actions = []
    for t, row in enumerate(table):
        action = learner.choose(*(a[min(t, len(a) - 1)] for a in advice))
        if not isinstance(action, (int, np.integer)) or not 0 <= action < arms:
            raise WrongArm(action, t + 1, arms)
        actions.append(int(action))
        learner.observe(row if templates is LOSSES else row[action])
    return np.array(actions, np.int64)
