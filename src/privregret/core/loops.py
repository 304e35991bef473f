"""Make the loops of an algorithm from its two steps and the templates of its family."""

from collections.abc import Callable
from functools import cache
from threading import Lock
from types import FunctionType
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.extending import is_jitted

from privregret.core import templates as loop
from privregret.core.jit import jit
from privregret.core.streams import children
from privregret.core.templates import WrongArm

LANES = 32  # runs that are played side by side
NOTHING = np.dtype([("nothing", np.int64)])
LOCK = Lock()


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
    return _made(templates.play, choose=steps.choose, observe=steps.observe)


def rounds(templates: Templates, steps: Steps) -> Callable:
    """Return the loop over rounds drawn on the way, in the form of an event kernel."""
    memory = {"ARM": steps.arm, "OWN": steps.own, "EXPERT": steps.expert}
    return _made(templates.run, choose=steps.choose, observe=steps.observe, **memory)


def many(kernel: Callable) -> Callable:
    """Return a loop over runs: (data, checkpoints, settings, runs, rng) -> array."""
    return _made(loop.many, kernel=kernel)


def _made(template, **slots):
    # shared by all threads
    with LOCK:
        return _kept(template, **slots)


@cache
def _kept(template, **slots):
    """Return a copy of a template for one algorithm.

    numba caches neither closures nor kernels that are passed as arguments.
    """
    main = next(iter(slots.values()))
    # unique among all kernels: the key of the cache on disk
    of = [f"{k.__module__}.{k.__name__}" for k in slots.values() if hasattr(k, "__name__")]
    name = f"{template.__name__}_of_{'_'.join(of)}".replace(".", "_")
    if is_jitted(main) and "choose" in slots:
        # in a loop over rounds a call with records costs as much as the step
        inlined = numba.njit(inline="always")
        slots |= {n: inlined(k.py_func) for n, k in slots.items() if is_jitted(k)}
    made = FunctionType(template.__code__, template.__globals__ | slots, name)
    made.__module__, made.__qualname__ = main.__module__, name
    return jit(made) if is_jitted(main) else made


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
