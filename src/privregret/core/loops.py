"""The loops of an algorithm: one in Python, and those that are compiled from its two steps.

numba caches neither closures nor kernels that are passed as arguments. So a compiled loop is the
copy of a template for one algorithm, whose steps and memory are globals of the copy.
"""

from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.extending import is_jitted

from privregret.core import jit, reach
from privregret.core.streams import children
from privregret.core.typed import arm_of, keep_alive

LANES = 32  # runs that are played side by side
NOTHING = np.dtype([("nothing", np.int64)])


class Steps(NamedTuple):
    """The literal algorithm: what it remembers, and what it does in a round.

    Its memory is one record per arm (or action) and one more record, all 0 before round 1. An
    algorithm that takes advice also has one record per expert, which comes first. The steps are
    kernels, or plain Python:

    choose([experts,] arms, state, settings, t, [advice,] rng) -> the arm of the round

    observe([experts,] arms, state, settings, t, [advice,] arm, seen, rng)

    - arms, experts: arrays of (K,) and (N,) records, changed in place; state: one record
    - settings: what `Algorithm.settings` returns, a NamedTuple of numbers and arrays
    - t: the round, from 1; arm: from 0
    - advice: (N, K), the distribution of each expert over the arms in this round
    - seen: the reward or the loss of that arm, or with full information the losses of all actions
    - rng: numpy.random.Generator, the source of the algorithm's own randomness
    """

    arm: np.dtype
    state: np.dtype
    choose: Callable
    observe: Callable
    expert: np.dtype | None = None

    def memory(self, actions: int, experts: int = 0) -> tuple[np.ndarray, ...]:
        """Return the memory before round 1: [experts], arms, and one more record."""
        advised = () if self.expert is None else (np.zeros(experts, self.expert),)
        return *advised, np.zeros(actions, self.arm), np.zeros(1, self.state)


# In Python, round by round
# --------------------------------------------------------------------------------------------------


class Stepper:
    """A learner that takes the steps of an algorithm, one at a time, with memory of its own."""

    def __init__(self, steps: Steps, settings: Any, sizes: tuple, rng: np.random.Generator):
        """`sizes` are those of the memory: (actions,), or (actions, experts)."""
        self._steps, self._settings, self._rng = steps, settings, rng
        self._memory, self._t, self._advice = steps.memory(*sizes), 0, ()
        self.arm = -1  # the choice, until its feedback is observed

    def __getstate__(self):
        # kernels cannot be copied: whoever copies a stepper gives it its steps
        return vars(self) | {"_steps": None}

    def choose(self, *advice: np.ndarray) -> int:
        """Return the arm of the next round, which is checked."""
        *records, states = self._memory
        self._t, self._advice = self._t + 1, advice
        arm = self._steps.choose(*records, states[0], self._settings, self._t, *advice, self._rng)
        self.arm = arm_of(arm, self._t, len(records[-1]))
        return self.arm

    def observe(self, seen: Any) -> None:
        """Take the feedback of that arm."""
        *records, states = self._memory
        self._steps.observe(
            *records, states[0], self._settings, self._t, *self._advice, self.arm, seen, self._rng
        )
        self.arm = -1


def follow(learner: Any, rows: Iterable, whole: bool, *advice: np.ndarray) -> np.ndarray:
    """Return the actions of a learner on the rows of a table, each one checked.

    It observes whole rows, or the entry of its action. `advice` is empty, or one (T, N, K) array;
    the last of its rows stays.
    """
    actions = []
    for t, row in enumerate(rows):
        action = learner.choose(*(each[min(t, len(each) - 1)] for each in advice))
        actions.append(action := arm_of(action, t + 1, len(row)))
        learner.observe(row if whole else row[action])
    return np.array(actions, np.int64)


# Templates. `instantiate` fills these in; numba leaves out the branches that they rule out
# --------------------------------------------------------------------------------------------------

choose = observe = kernel = ARM = STATE = None
EXPERT = None  # stays None without advice
ROW = None  # whether the algorithm sees the row of each round, or the entry of its action


def _play(table, settings, rng, states, arms, experts=None, advice=None):
    """Play a table."""
    actions, state = np.empty(len(table), np.int64), states[0]
    for t in range(1, len(table) + 1):
        if EXPERT is None:
            j = arm_of(choose(arms, state, settings, t, rng), t, len(arms))
        else:
            row = advice[min(t, len(advice)) - 1]
            j = arm_of(choose(experts, arms, state, settings, t, row, rng), t, len(arms))
        actions[t - 1] = j
        seen = table[t - 1] if ROW else table[t - 1, j]
        if EXPERT is None:
            observe(arms, state, settings, t, j, seen, rng)
        else:
            observe(experts, arms, state, settings, t, row, j, seen, rng)
    return actions


@jit.jit
def _add_up(counts):
    """Turn plays between checkpoints into plays by each checkpoint."""
    for h in range(1, len(counts)):
        for i in range(counts.shape[1]):
            counts[h, i] += counts[h - 1, i]


def _run_bandit(means, checkpoints, settings, rng):
    """Return pull counts by the checkpoints; rewards are drawn round by round."""
    arms, states = np.zeros(len(means), ARM), np.zeros(1, STATE)
    state, reported = states[0], 0
    counts = np.zeros((len(checkpoints), len(means)), np.int64)
    for t in range(1, checkpoints[-1] + 1):
        j = arm_of(choose(arms, state, settings, t, rng), t, len(arms))
        observe(arms, state, settings, t, j, 1.0 if rng.random() < means[j] else 0.0, rng)
        counts[reported, j] += 1
        reported += t == checkpoints[reported]
    keep_alive(states)
    _add_up(counts)
    return counts


def _run_losses(data, checkpoints, settings, rng):
    """Return plays per group by the checkpoints; all losses are drawn round by round."""
    outcomes, probabilities, sizes, bits = data
    group = np.repeat(np.arange(len(sizes)), sizes)
    arms, states = np.zeros(len(group), ARM), np.zeros(1, STATE)
    state, losses, reported = states[0], np.empty(len(group)), 0
    counts = np.zeros((len(checkpoints), len(sizes)), np.int64)
    for t in range(1, checkpoints[-1] + 1):
        j = arm_of(choose(arms, state, settings, t, rng), t, len(arms))
        kind, pick = 0, rng.random()
        while kind < len(probabilities) - 1 and pick >= probabilities[kind]:
            pick -= probabilities[kind]
            kind += 1
        for i in range(len(group)):
            loss = outcomes[kind, group[i]]
            if bits:
                losses[i] = rng.random() < loss
            else:
                losses[i] = loss
        observe(arms, state, settings, t, j, losses, rng)
        counts[reported, group[j]] += 1
        reported += t == checkpoints[reported]
    keep_alive(states)
    _add_up(counts)
    return counts


def _many(data, checkpoints, settings, runs, rng):
    """Repeat a kernel for each run."""
    first = kernel(data, checkpoints, settings, rng)
    played = np.empty((runs, first.size), first.dtype)
    for run in range(runs):
        one = kernel(data, checkpoints, settings, rng) if run else first
        # assigning a row takes seconds to compile
        for i, value in enumerate(one.flat):
            played[run, i] = value
    return played.reshape((runs, *first.shape))


# Their copies
# --------------------------------------------------------------------------------------------------


class Templates(NamedTuple):
    """How a family of algorithms plays."""

    run: Callable  # (data, checkpoints, settings, rng) -> what was played by the checkpoints
    seen: str  # what is observed: reward, loss or losses
    row: bool = False  # as `ROW`


BANDIT, LOSSES = Templates(_run_bandit, "reward"), Templates(_run_losses, "losses", True)


def play(templates: Templates, steps: Steps) -> Callable:
    """Return the loop over a table: (table, settings, rng, *memory[::-1][, advice]) -> actions."""
    return instantiate(_play, **slots(steps), ROW=templates.row)


def rounds(templates: Templates, steps: Steps) -> Callable:
    """Return the loop over rounds drawn on the way, in the form of an event kernel."""
    return instantiate(templates.run, **slots(steps))


def slots(steps: Steps) -> dict[str, Any]:
    """Return what the steps fill in."""
    memory = {"ARM": steps.arm, "STATE": steps.state, "EXPERT": steps.expert}
    return {"choose": steps.choose, "observe": steps.observe, **memory}


def current(steps: Steps) -> Steps:
    """Return steps that are compiled from what they read now, as those of loops are."""
    choose, observe = (jit.copy_of(s) if is_jitted(s) else s for s in (steps.choose, steps.observe))
    return steps._replace(choose=choose, observe=observe)


def repeat(kernel: Callable) -> Callable:
    """Return a loop over runs: (data, checkpoints, settings, runs, rng) -> array."""
    return instantiate(_many, kernel=kernel)


def instantiate(template, **slots):
    """Return a copy of a template for one algorithm, the same as long as its kernels read the
    same."""
    kernels = {name: slot for name, slot in slots.items() if is_jitted(slot)}
    if not kernels:
        return _filled(template, template.__name__, slots)
    with jit.LOCK:
        digest = reach.key(template, *slots.values()).digest
        if (loop := jit.recall(digest)) is None:
            copies = {name: jit.copy_of(kernel) for name, kernel in kernels.items()}
            package = all(jit.in_package(kernel.py_func) for kernel in copies.values())
            if "choose" in kernels:
                # in a loop over rounds a call with records costs as much as the step
                inlined = numba.njit(inline="always")
                copies = {name: inlined(kernel.py_func) for name, kernel in copies.items()}
            loop = _filled(template, f"{template.__name__}_{digest[:12]}", slots | copies)
            loop = jit.compiled(loop, jit.options(package))
            jit.remember(digest, loop, reach.key(loop).digest)
        return loop


def _filled(template, name, slots):
    names = template.__globals__ | slots
    loop = FunctionType(template.__code__, names, name, template.__defaults__)
    loop.__module__, loop.__qualname__ = template.__module__, name
    return loop


def run_in_lanes(
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
