"""Instances and measurements that only the notebooks on hu2021 use."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from privregret import estimates, exact, instances, simulate
from privregret.bandits import DPSE
from privregret.bounds import hu2021 as bounds
from privregret.core import checks
from privregret.core.algorithm import Algorithm
from privregret.full_information import FTNL, EpochLeader, RandomPrefixSoftmax
from privregret.instances import BernoulliBandit, StochasticLosses

SCALED = {"regret": "scaled_regret", "error": "scaled_regret_error"}  # times epsilon / ln K
EQUAL = f"{FTNL(1.0).label}, equal gaps"  # same K, all gaps equal to the smallest
RELEASE = {"kind": "release", "at": "round", "scale": "noise_scale"}


def described(setting: BernoulliBandit) -> str:
    """Name a setting of five arms and its means, for captions."""
    means = ", ".join(f"{mean:g}" for mean in setting.means)
    return f"{setting.name} (five Bernoulli arms with means {means})"


def unequal_means(name: str, value: object) -> np.ndarray:
    """Check means of Bernoulli arms that are not all equal: regret can be positive."""
    means = checks.means(name, value)
    if means.min() == means.max():
        raise ValueError(f"{name} must not hold equal means only, got {checks.shown(value)}")
    return means


def panel_of(per_round: pd.DataFrame, setting: BernoulliBandit, epsilon: float) -> pd.DataFrame:
    """Select one setting and one epsilon: the curves of one panel."""
    here = (per_round.instance == setting.name) & (per_round.epsilon == epsilon)
    return per_round[here].drop(columns="instance")


@dataclass(frozen=True)
class Release:
    """A noisy sum of the rewards of pulls first..last (from 1), released after pull `at`.

    `kind` is "array" or "node", and `scale` the Laplace scale times epsilon. The privacy cost of
    each reward in it is epsilon / scale, and the costs of independent releases add up.
    """

    kind: str
    first: int
    last: int
    at: int
    scale: float


def lazy_releases(pulls: int) -> list[Release]:
    """Return the releases of Anytime-Lazy-UCB in an arm's first `pulls` pulls.

    They are arrays of 1, 2, 4, ... pulls, each released once.
    """
    sizes = [2**r for r in range(pulls.bit_length()) if 2 ** (r + 1) - 1 <= pulls]
    return [Release("array", n, 2 * n - 1, 2 * n - 1, 1.0) for n in sizes]


def hybrid_releases(pulls: int, tree: str = "paper") -> list[Release]:
    """Return the releases of Hybrid-UCB in an arm's first `pulls` pulls, as noise is drawn."""
    releases = []
    for pull in range(1, pulls + 1):
        depth = pull.bit_length() - 1
        # within the tree whose leaves are pulls 2^depth .. 2^(depth + 1) - 1
        position = pull - (2**depth - 1)
        full = position == 2**depth
        if depth > 0 and not (full and tree == "rootfree"):
            leaves = position & -position
            scale = 2.0 * (depth + 1 if tree == "scaled" else depth)
            releases.append(Release("node", pull - leaves + 1, pull, pull, scale))
        if full:
            releases.append(Release("array", pull - 2**depth + 1, pull, pull, 2.0))
    return releases


def through_children(releases: list[Release]) -> list[Release]:
    """Return releases where a root gives way to its right child, which the last prefix adds."""

    def root(r):
        # the printed scale is twice the depth
        return r.kind == "node" and r.last - r.first + 1 == 2 ** (r.scale / 2)

    return [replace(r, first=(r.first + r.last + 1) // 2) if root(r) else r for r in releases]


def cost(releases: list[Release], pulls: int) -> np.ndarray:
    """Return the (pulls,) privacy cost of each reward, in epsilon, by composition."""
    total = np.zeros(pulls + 1)
    for release in releases:
        total[release.first : release.last + 1] += 1 / release.scale
    return total[1:]


def looks(releases: list[Release], pulls: int, kind: str = "node") -> np.ndarray:
    """Return the (pulls,) number of releases of a kind that contain each reward."""
    total = np.zeros(pulls + 1, int)
    for release in releases:
        if release.kind == kind:
            total[release.first : release.last + 1] += 1
    return total[1:]


def release_table(released: dict[str, list[Release]], pulls: int) -> pd.DataFrame:
    """List the releases about an arm and the cost of each reward, by algorithm."""
    rewards = pd.DataFrame({"release": "reward", "first": range(1, pulls + 1)})
    parts = []
    for name, releases in released.items():
        costs = rewards.assign(loss=cost(releases, pulls))
        rows = pd.DataFrame(releases).rename(columns=RELEASE)
        parts.append(pd.concat([rows, costs]).assign(algorithm=name))
    return pd.concat(parts)


def worst_equal_gaps(algorithm: Algorithm, arms: int, T: int, runs: int, seed: int) -> dict:
    """Return the largest mean regret over equal gaps at multiples of the critical gap.

    The three largest are measured again by fresh runs; the error is that of the largest of these.
    """
    unit = bounds.critical_gap(arms, T)
    multiples = 2.0 ** np.arange(-2, math.floor(math.log2(0.75 / unit)) + 1)
    problems = [instances.equal_gaps(arms, multiple * unit) for multiple in multiples]
    pilot = simulate.regret_summary(algorithm, problems, T, runs, seed + 1, points=1)
    best = np.argsort(-pilot["mean"].to_numpy(), kind="stable")[:3]
    chosen = [problems[i] for i in best]
    again = simulate.regret_curves(algorithm, chosen, T, runs, seed, points=1)
    means = estimates.means(again, "instance")
    found = estimates.largest(means)
    multiple = multiples[best[int(means["mean"].argmax())]]
    return {"T": T, "gap_over_critical": multiple, "mean": found.value, "se": found.se}


def restarted(
    problem: BernoulliBandit, epsilon: float, restarts: int, runs: int, seed: int
) -> tuple[list[estimates.Estimate], list[estimates.Estimate]]:
    """Return regret of DP-SE with restarts at 2^(2^i), and of DP-SE that knows T.

    T takes the powers of two in the last restart, which ends at 2^(2^restarts).
    """

    def measured(learner, rounds):
        T = int(rounds[-1])
        curves = simulate.regret_curves(learner, problem, T, runs, seed, points=rounds)
        return estimates.rows(estimates.means(curves, "t"))

    # shorter ones hardly matter
    ends = [2**2**i for i in range(2, restarts + 1)]
    starts = [0, *ends[:-1]]
    before = estimates.Estimate(0.0)
    for start, end in zip(starts[:-1], ends[:-1], strict=True):
        before = before + measured(DPSE(epsilon, beta=1 / end), [end - start])[0]
    horizons = 2 ** np.arange(2 ** (restarts - 1) + 1, 2**restarts + 1)
    last = measured(DPSE(epsilon, beta=1 / ends[-1]), horizons - starts[-1])
    return [before + part for part in last], [measured(DPSE(epsilon), [T])[0] for T in horizons]


def worst_of_gaps(epsilon: float, T: int) -> dict:
    """Return the largest exact regret of FTNL over equal and doubling gaps, K = 1000."""
    actions, log_actions = 1000, math.log(1000)
    critical, private = math.sqrt(log_actions / T), log_actions / (epsilon * T)
    equal = {0.5} | {critical * 2.0**k for k in (*range(-2, 3), *range(4, 20, 4))}
    equal |= {private * 2.0**k for k in range(-1, 3)}
    problems = [instances.packing(actions, gap) for gap in sorted(equal) if gap <= 0.5]
    for gap in (critical, private):
        if gap <= 0.9:
            count = min(8, 1 + int(math.log2(0.9 / gap)))
            per_bracket = max(1, (actions - 1) // count)
            problems.append(instances.doubling(count, per_bracket, largest=gap * 2 ** (count - 1)))
    found = exact.regret_curves(FTNL(epsilon, scale="hu2021"), problems, T)
    worst = found.loc[found.regret.idxmax()]
    return {"T": T, "instance": worst.instance, "regret": worst.regret, "error": worst.error}


def equal_gaps_as(instance: StochasticLosses) -> StochasticLosses:
    """Return as many experts as in a doubling instance, all with its smallest gap."""
    gap, log_k = instance.gaps[1], instance.log_actions
    others = (0.0, np.log(np.expm1(log_k)) if log_k < 30 else log_k)
    return instances.bernoulli_losses((0.5 - gap / 2, 0.5 + gap / 2), log_counts=others)


def in_units(instance: StochasticLosses, epsilon: float, horizon: int) -> pd.DataFrame:
    """Compute exact regrets and Theorem 7's bounds on a doubling instance, in ln K / epsilon."""
    gaps, counts, log_k = instance.gaps, instance.log_counts, instance.log_actions
    gap = gaps[1]
    equal = equal_gaps_as(instance)
    learners = [FTNL(epsilon, scale="hu2021"), FTNL(epsilon), RandomPrefixSoftmax(epsilon)]
    of_equal = exact.regret_curves(FTNL(epsilon), equal, horizon).assign(algorithm=EQUAL)
    curves = pd.concat([exact.regret_curves(learners, instance, horizon), of_equal])
    forms = {
        "proved": bounds.theorem_7(gaps, counts, epsilon),
        "proved_equal": bounds.theorem_7(equal.gaps, equal.log_counts, epsilon),
    }
    size = {"instances": "", "brackets": len(gaps) - 1, "log_m": counts[1], "log_K": log_k}
    size |= {"gap": gap, "epsilon": epsilon}
    values = curves[["algorithm", "regret", "error"]].assign(**forms).set_index("algorithm")
    values = (values / (log_k / epsilon)).rename(columns=SCALED).reset_index()
    return values.assign(**size)[[*size, *values]]


def phases(brackets: int, log_size: float, epsilon_over_gap: float, horizon: int) -> dict:
    """Return the range of regret / (ln K / epsilon) as epsilon falls by a factor of two.

    FTNL with Gumbel noise on doubling gaps with deterministic losses.
    """
    instance = instances.doubling(brackets, log_per_bracket=log_size, bernoulli=False)
    regrets = []
    for shift in np.arange(24) / 24:
        epsilon = epsilon_over_gap * instance.gaps[1] / 2**shift
        regret = estimates.row(exact.regret_curves(FTNL(epsilon, "gumbel"), instance, horizon))
        regrets.append(regret / (instance.log_actions / epsilon))
    smallest, largest = estimates.smallest(regrets), estimates.largest(regrets)
    found = {"smallest_scaled": smallest.value, "smallest_scaled_error": smallest.bound}
    found |= {"largest_scaled": largest.value, "largest_scaled_error": largest.bound}
    return {"log_K": instance.log_actions} | found


def at_round_m(actions: int, gap: float, epsilon: float) -> pd.DataFrame:
    """Compute exact regret / (ln K / epsilon) at rounds m* (from 1 on) and 2^50, and its bound."""
    m = int(bounds.theorem_10_rounds(math.log(actions), gap, epsilon))
    learners = [FTNL(epsilon), RandomPrefixSoftmax(epsilon), EpochLeader()]
    rounds = [m, 2**50] if m else [2**50]
    frame = exact.regret_curves(learners, instances.packing(actions, gap), rounds)
    early = frame.t == m
    frame["when"] = np.where(early, "at round $m^{\\ast}$", "after $2^{50}$ rounds")
    frame["bound"] = np.where(early, bounds.theorem_10(1.0, 1.0), np.nan)
    frame[["regret", "error"]] /= math.log(actions) / epsilon
    return frame.rename(columns=SCALED).assign(K=actions, epsilon=epsilon)[
        ["K", "epsilon", "algorithm", "when", "t", *SCALED.values(), "bound"]
    ]
