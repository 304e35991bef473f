"""Build the loops of an algorithm from its two steps and one template per family."""

from collections.abc import Callable
from functools import cache
from threading import Lock
from types import FunctionType
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.extending import is_jitted

from privregret.core.jit import jit, keep_alive
from privregret.core.streams import children

LANES = 32  # runs that are played side by side
NOTHING = np.dtype([("nothing", np.int64)])
LOCK = Lock()
choose = observe = kernel = ARM = OWN = EXPERT = (
    None  # placeholders in the loops below, replaced per algorithm by `_kept`
)


class Steps(NamedTuple):
    """Hold the literal algorithm: what it remembers, and what it does in a round.

    Its memory is one record per arm (or action) and one more record, all 0 before round 1. An
    algorithm that takes advice also has one record per expert, which comes first. The steps are
    kernels, or plain Python:

    choose([experts,] arms, own, settings, t, [advice,] rng) -> the arm of round t = 1, 2, ...

    observe([experts,] arms, own, settings, t, [advice,] arm, seen, rng), where `seen` is the reward
    or the loss of that arm, or with full information the losses of all actions.
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


class WrongArm(ValueError):
    """An arm that does not exist: (arm, round, number of arms[, class of the algorithm])."""

    def __str__(self):
        arm, t, arms, *of = self.args
        who = f" of {of[0]}" if of else ""
        return f"choose{who} must return one of 0..{arms - 1}, got {arm!r} in round {t}"


class Templates(NamedTuple):
    """Hold the loops of a family of algorithms.

    Attributes
    ----------
    play : function
        (table, [advice,] *memory, settings, rng) -> (T,) actions.
    run : function
        (data, checkpoints, settings, rng) -> what was played by the checkpoints.
    """

    play: Callable
    run: Callable


def play(templates: Templates, steps: Steps) -> Callable:
    """Return the loop of an algorithm over a table."""
    return _made(templates.play, _names(steps), True)


def rounds(templates: Templates, steps: Steps) -> Callable:
    """Return the loop over rounds drawn on the way, in the form of an event kernel."""
    memory = ("ARM", steps.arm), ("OWN", steps.own), ("EXPERT", steps.expert)
    return _made(templates.run, (*_names(steps), *memory), True)


def many(kernel: Callable) -> Callable:
    """Return a loop over runs: (data, checkpoints, settings, runs, rng) -> array."""
    return _made(_many, (("kernel", kernel),), False)


def side_by_side(
    kernel: Callable,
    data: Any,
    checkpoints: np.ndarray,
    settings: Any,
    runs: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return what is played in several runs, `LANES` at a time, each from its own generator.

    Parameters
    ----------
    kernel : callable
        (data, checkpoints, settings, rngs, runs) -> (runs, H) array. It is compiled for one number
        of generators, so the tuple is filled up.
    data, checkpoints, settings
        As `kernel` takes them.
    runs : int
    rng : numpy.random.Generator
        Seeds the generators of the runs.
    """
    played = []
    for first in range(0, runs, LANES):
        rngs = children(rng, min(LANES, runs - first))
        filled = (*rngs, *rngs[:1] * (LANES - len(rngs)))
        played.append(kernel(data, checkpoints, settings, filled, len(rngs)))
    return np.concatenate(played)


def _names(steps):
    return ("choose", steps.choose), ("observe", steps.observe)


def _made(template, names, inline):
    with LOCK:  # shared by all threads
        return _kept(template, names, inline)


@cache
def _kept(template, names, inline):
    """Return a copy of a template for one algorithm.

    numba caches neither closures nor kernels that are passed as arguments.
    """
    kernels, main = dict(names), names[0][1]
    compiled = is_jitted(main)
    of = "_".join(
        f"{k.__module__}.{k.__name__}"
        for k in kernels.values()
        if callable(k) and hasattr(k, "__name__")
    )
    if compiled and inline:  # in a loop over rounds a call with records costs as much as the step
        kernels = {
            n: numba.njit(inline="always")(k.py_func) if is_jitted(k) else k
            for n, k in kernels.items()
        }
    # unique among all kernels: the key of the cache on disk
    name = f"{template.__name__[1:]}_of_{of}".replace(".", "_")
    loop = FunctionType(template.__code__, globals() | kernels, name)
    loop.__module__, loop.__qualname__ = main.__module__, name
    return jit(loop) if compiled else loop


# Over a table
# --------------------------------------------------------------------------------------------------


def _play_entry(table, arms, owns, settings, rng):
    """Play a table of which the algorithm sees the entry of its action."""
    actions, own = np.empty(len(table), np.int64), owns[0]
    for t in range(1, len(table) + 1):
        j = choose(arms, own, settings, t, rng)
        if j < 0 or j >= len(arms):
            raise WrongArm(j, t, len(arms))
        actions[t - 1] = j
        observe(arms, own, settings, t, j, table[t - 1, j], rng)
    return actions


def _play_row(table, arms, owns, settings, rng):
    """Play a table of which the algorithm sees each round's row."""
    actions, own = np.empty(len(table), np.int64), owns[0]
    for t in range(1, len(table) + 1):
        j = choose(arms, own, settings, t, rng)
        if j < 0 or j >= len(arms):
            raise WrongArm(j, t, len(arms))
        actions[t - 1] = j
        observe(arms, own, settings, t, j, table[t - 1], rng)
    return actions


def _play_advised(table, advice, experts, arms, owns, settings, rng):
    """Play a table with advice; the algorithm sees the entry of its action."""
    actions, own = np.empty(len(table), np.int64), owns[0]
    for t in range(1, len(table) + 1):
        advised = advice[min(t, len(advice)) - 1]
        j = choose(experts, arms, own, settings, t, advised, rng)
        if j < 0 or j >= len(arms):
            raise WrongArm(j, t, len(arms))
        actions[t - 1] = j
        observe(experts, arms, own, settings, t, advised, j, table[t - 1, j], rng)
    return actions


# Over rounds drawn on the way
# --------------------------------------------------------------------------------------------------


def _run_bandit(means, checkpoints, settings, rng):
    arms, owns = np.zeros(len(means), ARM), np.zeros(1, OWN)
    own = owns[0]
    counts, pulls = (
        np.empty((len(checkpoints), len(means)), np.int64),
        np.zeros(len(means), np.int64),
    )
    reported = 0
    for t in range(1, checkpoints[-1] + 1):
        j = choose(arms, own, settings, t, rng)
        if j < 0 or j >= len(arms):
            raise WrongArm(j, t, len(arms))
        observe(arms, own, settings, t, j, 1.0 if rng.random() < means[j] else 0.0, rng)
        pulls[j] += 1
        if t == checkpoints[reported]:
            for i in range(len(pulls)):
                counts[reported, i] = pulls[i]
            reported += 1
    keep_alive(owns)
    return counts


def _run_losses(data, checkpoints, settings, rng):
    outcomes, probabilities, sizes, bits = data
    group = np.repeat(np.arange(len(sizes)), sizes)
    arms, owns = np.zeros(len(group), ARM), np.zeros(1, OWN)
    own, losses = owns[0], np.empty(len(group))
    counts, plays = (
        np.empty((len(checkpoints), len(sizes)), np.int64),
        np.zeros(len(sizes), np.int64),
    )
    reported = 0
    for t in range(1, checkpoints[-1] + 1):
        j = choose(arms, own, settings, t, rng)
        if j < 0 or j >= len(arms):
            raise WrongArm(j, t, len(arms))
        kind, pick = 0, rng.random()
        while kind < len(probabilities) - 1 and pick >= probabilities[kind]:
            pick -= probabilities[kind]
            kind += 1
        for i in range(len(group)):
            loss = outcomes[kind, group[i]]
            losses[i] = (1.0 if rng.random() < loss else 0.0) if bits else loss
        observe(arms, own, settings, t, j, losses, rng)
        plays[group[j]] += 1
        if t == checkpoints[reported]:
            for i in range(len(plays)):
                counts[reported, i] = plays[i]
            reported += 1
    keep_alive(owns)
    return counts


def _run_adversary(tables, checkpoints, settings, rng):
    starts, losses = tables.loss_starts, tables.losses
    arms, owns = np.zeros(losses.shape[1], ARM), np.zeros(1, OWN)
    own, paid = owns[0], np.empty(len(checkpoints))
    segment, total, reported = 0, 0.0, 0
    for t in range(1, checkpoints[-1] + 1):
        if segment + 1 < len(starts) and starts[segment + 1] == t - 1:
            segment += 1
        j = choose(arms, own, settings, t, rng)
        if j < 0 or j >= len(arms):
            raise WrongArm(j, t, len(arms))
        loss = losses[segment, j]
        total += loss
        if tables.bernoulli:
            loss = 1.0 if rng.random() < loss else 0.0
        observe(arms, own, settings, t, j, loss, rng)
        if t == checkpoints[reported]:
            paid[reported] = total
            reported += 1
    keep_alive(owns)
    return paid


def _run_advised(tables, checkpoints, settings, rng):
    starts, losses, group = tables.loss_starts, tables.losses, tables.group
    experts, arms = np.zeros(group.shape[1], EXPERT), np.zeros(losses.shape[1], ARM)
    owns, paid = np.zeros(1, OWN), np.empty(len(checkpoints))
    own = owns[0]
    advice = np.empty((group.shape[1], losses.shape[1]))
    segment, advised, total, reported = 0, -1, 0.0, 0
    for t in range(1, checkpoints[-1] + 1):
        if segment + 1 < len(starts) and starts[segment + 1] == t - 1:
            segment += 1
        if advised + 1 < len(tables.advice_starts) and tables.advice_starts[advised + 1] == t - 1:
            advised += 1
            for n in range(len(experts)):
                for i in range(losses.shape[1]):
                    advice[n, i] = tables.rows[advised, group[advised, n], i]
        j = choose(experts, arms, own, settings, t, advice, rng)
        if j < 0 or j >= len(arms):
            raise WrongArm(j, t, len(arms))
        loss = losses[segment, j]
        total += loss
        if tables.bernoulli:
            loss = 1.0 if rng.random() < loss else 0.0
        observe(experts, arms, own, settings, t, advice, j, loss, rng)
        if t == checkpoints[reported]:
            paid[reported] = total
            reported += 1
    keep_alive(owns)
    return paid


def _many(data, checkpoints, settings, runs, rng):
    """Repeat a kernel for each run."""
    first = kernel(data, checkpoints, settings, rng)
    played = np.empty((runs, first.size), first.dtype)
    for run in range(runs):
        one = kernel(data, checkpoints, settings, rng) if run else first
        for i, value in enumerate(one.flat):  # assigning a row takes seconds to compile
            played[run, i] = value
    return played.reshape((runs, *first.shape))


BANDIT = Templates(_play_entry, _run_bandit)
LOSSES = Templates(_play_row, _run_losses)
ADVERSARY = Templates(_play_entry, _run_adversary)
EXPERTS = Templates(_play_advised, _run_advised)


def followed(
    start: Callable, templates: Templates, table: np.ndarray, rng: Any, *advice: np.ndarray
) -> np.ndarray:
    """Return the actions of an algorithm in plain Python on a table, each one checked.

    Parameters
    ----------
    start : callable
        Makes the learner.
    templates : Templates
        Loops of the family.
    table : (T, K) array
    rng : numpy.random.Generator
    advice : (T, N, K) array
        For algorithms that take advice.
    """
    rows, arms = table.shape
    learner, actions = (
        start(arms, np.random.default_rng(rng), rows, *(a.shape[1] for a in advice)),
        [],
    )
    for t, row in enumerate(table):
        action = learner.choose(*(a[min(t, len(a) - 1)] for a in advice))
        if not isinstance(action, (int, np.integer)) or not 0 <= action < arms:
            raise WrongArm(action, t + 1, arms)
        actions.append(int(action))
        learner.observe(row if templates is LOSSES else row[action])
    return np.array(actions, np.int64)
