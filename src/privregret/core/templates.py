"""Loops of the four kinds of problem, as templates: `loops` copies them for each algorithm.

The slots are globals of this module: `choose` and `observe` (the steps of an algorithm), ARM, OWN
and EXPERT (the records of its memory), and for `many` `kernel`. See `loops.Steps`.
"""

import numpy as np

from privregret.core.jit import keep_alive

choose = observe = kernel = ARM = OWN = EXPERT = None


class WrongArm(ValueError):
    """An arm that does not exist: (arm, round, number of arms[, class of the algorithm])."""

    def __str__(self):
        arm, t, arms, *of = self.args
        who = f" of {of[0]}" if of else ""
        return f"choose{who} must return one of 0..{arms - 1}, got {arm!r} in round {t}"


# Over a table


def play_entry(table, arms, owns, settings, rng):
    """Play a table of which the algorithm sees the entry of its action."""
    actions, own = np.empty(len(table), np.int64), owns[0]
    for t in range(1, len(table) + 1):
        j = choose(arms, own, settings, t, rng)
        if j < 0 or j >= len(arms):
            raise WrongArm(j, t, len(arms))
        actions[t - 1] = j
        observe(arms, own, settings, t, j, table[t - 1, j], rng)
    return actions


def play_row(table, arms, owns, settings, rng):
    """Play a table of which the algorithm sees each round's row."""
    actions, own = np.empty(len(table), np.int64), owns[0]
    for t in range(1, len(table) + 1):
        j = choose(arms, own, settings, t, rng)
        if j < 0 or j >= len(arms):
            raise WrongArm(j, t, len(arms))
        actions[t - 1] = j
        observe(arms, own, settings, t, j, table[t - 1], rng)
    return actions


def play_advised(table, advice, experts, arms, owns, settings, rng):
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


def run_bandit(means, checkpoints, settings, rng):
    """Return pull counts at the checkpoints; rewards are drawn round by round."""
    arms, owns = np.zeros(len(means), ARM), np.zeros(1, OWN)
    own = owns[0]
    counts = np.empty((len(checkpoints), len(means)), np.int64)
    pulls = np.zeros(len(means), np.int64)
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


def run_losses(data, checkpoints, settings, rng):
    """Return plays per group at the checkpoints; all losses are drawn round by round."""
    outcomes, probabilities, sizes, bits = data
    group = np.repeat(np.arange(len(sizes)), sizes)
    arms, owns = np.zeros(len(group), ARM), np.zeros(1, OWN)
    own, losses = owns[0], np.empty(len(group))
    counts = np.empty((len(checkpoints), len(sizes)), np.int64)
    plays = np.zeros(len(sizes), np.int64)
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
            if bits:
                losses[i] = rng.random() < loss
            else:
                losses[i] = loss
        observe(arms, own, settings, t, j, losses, rng)
        plays[group[j]] += 1
        if t == checkpoints[reported]:
            for i in range(len(plays)):
                counts[reported, i] = plays[i]
            reported += 1
    keep_alive(owns)
    return counts


def run_adversary(tables, checkpoints, settings, rng):
    """Return the losses paid by the checkpoints; Bernoulli losses are drawn."""
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


def run_advised(tables, checkpoints, settings, rng):
    """As `run_adversary`, with advice."""
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


def many(data, checkpoints, settings, runs, rng):
    """Repeat a kernel for each run."""
    first = kernel(data, checkpoints, settings, rng)
    played = np.empty((runs, first.size), first.dtype)
    for run in range(runs):
        one = kernel(data, checkpoints, settings, rng) if run else first
        # assigning a row takes seconds to compile
        for i, value in enumerate(one.flat):
            played[run, i] = value
    return played.reshape((runs, *first.shape))
