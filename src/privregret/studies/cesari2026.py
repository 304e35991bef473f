"""Instances, measurements and plots that only the notebooks on cesari2026 use."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from privregret import estimates, exact, instances, store
from privregret.algorithm import Algorithm
from privregret.bounds import cesari2026 as bounds
from privregret.bounds import wu2026
from privregret.full_information import RandomPrefixSoftmax
from privregret.instances import StochasticLosses
from privregret.press import draw, style

ONE, ALL, EXACT = (
    "action by action",
    "potential",
    "exact",
)  # three ways to add up the cost of an epoch

# Instances


def equal_gaps(actions: int, gap: float, name: str = "equal gaps") -> StochasticLosses:
    """Return one action of mean (1 - gap) / 2 and others of mean (1 + gap) / 2, Bernoulli."""
    means = (0.5 - gap / 2, 0.5 + gap / 2)
    return instances.bernoulli_losses(means, log_counts=(0.0, math.log(actions - 1)), name=name)


def suite(actions: int) -> list[StochasticLosses]:
    """Return the instances of the table of constants for a number of actions."""
    k = actions
    problems = [equal_gaps(k, gap, f"equal gaps {gap:g}") for gap in (0.02, 0.5)]
    others = (0.0, np.log(k - 1))
    problems.append(
        instances.deterministic_losses((0.0, 1.0), log_counts=others, name="deterministic")
    )
    if k == 2:
        kinds = [(kind, d) for kind in ("antithetic", "comonotone") for d in (0.05, 0.2)]
        return problems + [instances.dependent(kind, d) for kind, d in kinds]
    sizes, name = (0.0, 0.0, np.log(k - 2)), "one small gap"
    problems.append(instances.bernoulli_losses((0.0, 0.05, 1.0), log_counts=sizes, name=name))
    six = instances.doubling(6, log_per_bracket=max(0.0, np.log((k - 1) / 6)))
    sizes, name = six.log_counts, "six scales"
    return [*problems, instances.bernoulli_losses(six.means, log_counts=sizes, name=name)]


def opposite(actions: int, gap: float) -> StochasticLosses:
    """Return a best action and others that always have the opposite loss."""
    sizes, chances = (0.0, np.log(actions - 1)), ((1 + gap) / 2, (1 - gap) / 2)
    return StochasticLosses("opposite", ((0, 1), (1, 0)), sizes, chances)


def with_one_coin(rng: np.random.Generator) -> StochasticLosses:
    """Draw four groups of up to 10^6 actions whose losses depend on one Bernoulli variable."""
    losses, head = rng.random((2, 4)), rng.uniform(0.2, 0.8)
    losses = losses[:, np.argsort(np.array([head, 1 - head]) @ losses)]
    sizes = (0.0, *rng.uniform(0, 12, 3))
    return StochasticLosses("one coin", losses, sizes, (head, 1 - head))


def scaled_gaps(kind: str, losses: str, log_actions: float, scales: int) -> StochasticLosses:
    """Return gaps 1, 1/2, ...: "one gap", "doubling" (equally many actions) or "multi-scale"."""
    steps = np.arange(1 if kind == "one gap" else scales)
    if kind == "multi-scale":
        counts = log_actions * (1 - steps / (scales + 1))
    else:
        counts = max(0.0, log_actions - np.log(len(steps))) + 0 * steps
    bernoulli = losses == "Bernoulli"
    make = instances.bernoulli_losses if bernoulli else instances.deterministic_losses
    return make((0.0, *0.5**steps), log_counts=(0.0, *counts), name=kind)


# Regret


def limits(
    algorithms: Algorithm | Sequence[Algorithm], problems: Sequence[StochasticLosses]
) -> pd.DataFrame:
    """Compute regrets at T = 2^60 and the bounds of Theorem 1.

    Parameters
    ----------
    algorithms : algorithm or sequence of algorithms
    problems : sequence of StochasticLosses

    Returns
    -------
    pandas.DataFrame
        That of `exact.regret_curves` with `log_actions`, `gap` (the smallest one), `worst_start`
        (the regret if the first action is a worst one) and, for private algorithms, the bounds.
    """
    frames = []
    for problem in problems:
        frame = exact.regret_curves(algorithms, problem, 2**60)
        gap = problem.gaps[problem.gaps > 0].min()
        mean = float(
            np.exp(problem.log_counts - np.logaddexp.reduce(problem.log_counts)) @ problem.gaps
        )
        frame["worst_start"] = frame.regret - mean + problem.gaps.max()
        frames.append(frame.assign(log_actions=problem.log_actions, gap=gap))
    data = pd.concat(frames, ignore_index=True)
    if "epsilon" in data:
        log_k, eta = data.log_actions, np.minimum(data.epsilon / 2, 1 / 8)
        data["sum_of_terms"] = log_k / data.gap + log_k / data.epsilon
        data["bound"] = bounds.theorem_1(log_k, data.gap, eta)
        data["steps"] = bounds.theorem_1_steps(log_k, data.gap, data.epsilon)
    return data


def exponents(curve: pd.DataFrame, lag: int, value: str | None = None) -> list[estimates.Estimate]:
    """Return exponents of ln K between rows that are `lag` apart, for ln K above 10.

    With a factor of 8 between them, the doubling phase is the same.
    """
    x, y = np.log(curve.log_actions.to_numpy()), estimates.logs(curve, value)
    starts = (i for i in range(len(x) - lag) if x[i] > np.log(10))
    return [(y[i + lag] - y[i]) / (x[i + lag] - x[i]) for i in starts]


@store.kept
def tallies(log_actions: float, scales: int, epsilon: float) -> pd.DataFrame:
    """Add up the cost of epochs of 2, 4, 8, ... rounds on the multi-scale instance in each way."""
    problem, scale = scaled_gaps("multi-scale", "deterministic", log_actions, scales), 2 / epsilon
    order = np.argsort(problem.gaps)
    counts, gaps, n = np.array(problem.log_counts)[order], problem.gaps[order], 2.0 ** np.arange(40)
    c1, c2 = wu2026.COROLLARY_2["gumbel", 2.0]
    phi = np.logaddexp.reduce(counts - np.append(0.5, n)[:, None] * gaps / scale, axis=1)
    ranked = [wu2026.by_rank(counts, np.log(c1) - 2 * s * gaps * epsilon / c2) for s in n]
    expected = [exact.expected_gap(problem, int(s), "gumbel", scale)[0] for s in n]
    tally = pd.DataFrame({"log_actions": problem.log_actions, "n": n})
    tally[ONE] = [2 * s * float(gaps @ each) for s, each in zip(n, ranked, strict=True)]
    tally[ALL] = 4 * scale * -np.diff(phi)
    tally[EXACT] = [2 * s * gap for s, gap in zip(n, expected, strict=True)]
    return tally


def in_units(tally: pd.DataFrame, panel: str, epsilon: float) -> pd.DataFrame:
    """Return costs of epochs in long form, in units of ln K / epsilon."""
    long = tally.melt(["log_actions", "n"], var_name="tally", value_name="cost")
    units = long.cost * epsilon / long.log_actions
    return long.assign(panel=panel, epsilon=epsilon, units=units)


def printed_tally(log_actions: float, scales: int, epsilon: float) -> float:
    """Add up wu2026's early contributions with its thresholds r(j) on the multi-scale instance.

    An action of rank j and gap D > epsilon contributes D (2^r(j) - 1) / j, where r(j) is
    log2(c2 ln K / (D epsilon)), rounded up.
    """
    problem = scaled_gaps("multi-scale", "deterministic", log_actions, scales)
    order = np.argsort(problem.gaps)
    counts, gaps = np.array(problem.log_counts)[order], problem.gaps[order]
    large = gaps > epsilon
    ranks = wu2026.by_rank(counts, 0 * counts)  # sums of 1/j over each group
    epochs = np.ceil(np.log2(wu2026.C2["gumbel"] * problem.log_actions / (gaps[large] * epsilon)))
    return float((gaps[large] * (2.0**epochs - 1)) @ ranks[large])


# Steps of the proofs


@store.kept
def selection_errors(
    problem: StochasticLosses, lengths: Iterable[int], eta: float
) -> list[estimates.Estimate]:
    """Compute the expected gap of a softmax choice from each of these numbers of losses."""
    found = (exact.expected_gap(problem, int(m), "gumbel", 1 / eta) for m in lengths)
    return [estimates.Estimate(value, bound=error) for value, error in found]


@store.kept
def error_steps(count: int, rng: np.random.Generator) -> list[estimates.Estimate | float]:
    """Return the largest ratio of consecutive selection errors for each random instance."""
    lengths, steps = [*range(1, 9), 32, 128, 512], []
    for _ in range(count):
        groups = int(rng.integers(2, 5))
        problem = instances.bernoulli_losses(rng.random(groups), rng.integers(1, 50, groups))
        errors = selection_errors(problem, lengths, float(np.exp(rng.uniform(-3.5, 2.3))))
        seen = [error for error in errors if error.value > 1e-8]
        steps.append(estimates.largest_step(seen) if len(seen) > 1 else 0.0)
    return steps


def part(problem: StochasticLosses, eta: float, small: bool) -> tuple[float, float]:
    """Sum the selection errors due to small or large gaps over all prefix lengths."""
    mask = (problem.gaps > 0) & ((problem.gaps <= 4 * eta) == small)
    return exact.prefix_sum(problem, "gumbel", 1 / eta, groups=mask) if mask.any() else (0.0, 0.0)


def early_and_late(
    actions: int, gap: float, eta: float
) -> tuple[estimates.Estimate, estimates.Estimate]:
    """Bound the sums of selection errors before and after Lemma 5's threshold from above.

    All worse actions form one group, so that the threshold is 16 ln K / gap^2. Regret after whole
    blocks is known, and so are sums up to powers of two: the early sum goes to the next power above
    the threshold, the late sum starts at the one below.
    """
    problem, algorithm = equal_gaps(actions, gap), RandomPrefixSoftmax(2 * eta)
    power = math.log2(16 * math.log(actions) / gap**2)
    ends = [4 * 2 ** math.floor(power) - 1, 4 * 2 ** math.ceil(power) - 1, 2**60]
    below, above, limit = estimates.rows(exact.regret_curves(algorithm, problem, ends))
    value, error = exact.expected_gap(problem, 1, "gumbel", 1 / eta)
    first = estimates.Estimate(value, bound=error)
    uniform = gap * (actions - 1) / actions
    return (above - uniform - 2 * first) / 4 + first, (limit - below) / 4


def used(frame: pd.DataFrame, bound: str) -> list[estimates.Estimate]:
    """Return the column `sum` / a bound, row by row."""
    return estimates.rows(estimates.ratios(frame, bound, value="sum"), "ratio")


def random_state(
    etas: list[float], rng: np.random.Generator
) -> tuple[float, np.ndarray, np.ndarray]:
    """Draw eta, mean losses with gaps above 4 eta, and leads of the best action."""
    k, eta = int(rng.integers(2, 8)), float(rng.choice(etas))
    worse = rng.uniform(4 * eta, 1, k - 1)
    best = rng.uniform(0, 1 - worse.max())
    lead = rng.normal(rng.uniform(-1, 3) / eta, rng.uniform(0.1, 2) / eta, k - 1)
    return eta, np.append(best, best + worse), np.append(0.0, lead)


# Plot


def plain_ticks(ax: Axes, values: list[float]) -> None:
    """Label these values of a logarithmic axis by plain numbers."""
    ax.set_yticks(values, [str(value) for value in values])
    ax.minorticks_off()


def errors_figure(followed: pd.DataFrame) -> Figure:
    """Draw the selection error against the prefix length for three instances."""
    looks = {"left": {"color": style.ORANGE}, "middle": {"color": style.BLUE}}
    looks["right"] = {"color": style.VERMILION, "marker": "s"}
    fig, axes = draw.subplots(1, 3, figsize=style.PAGE)
    for ax, (panel, curve) in zip(axes, followed.groupby("panel", sort=False), strict=True):
        ax.plot(curve.m, curve.F_over_first if panel == "middle" else curve.F, **looks[panel])
        ax.set(xlabel="prefix length $m$")
    for r in range(3, 9, 2):
        axes[0].axvspan(2 ** (r - 1) + 0.5, 2**r + 0.5, color=style.GREY, alpha=0.15, linewidth=0)
    error = "selection error $F_m$"
    axes[0].set(xscale="log", ylabel=error, ylim=(0, None))
    axes[0].set_title(r"means $(0.3,0.5,0.5,0.8)$, $\eta=0.1$")
    axes[1].set(xscale="log", ylabel="$F_m/F_1$")
    axes[1].set_title(r"0.1, Bernoulli of mean 0.10001, $\eta=\frac{1}{8}$")
    axes[1].axhline(1, label="$F_1$", **style.BOUND)
    axes[1].legend(loc="upper left")
    axes[2].set(ylabel=error, title=r"0.3, and 0.2 or 1, $\eta=50$", ylim=(0, None))
    return fig


def logarithms_figure(data: pd.DataFrame, ends: tuple[float, float]) -> Figure:
    """Draw regret in units of ln K / epsilon against ln K, one panel per kind of instance.

    Lines are deterministic losses, open markers Bernoulli losses. Every second factor of two in
    ln K, down from the larger of the `ends`, is shaded.
    """
    kinds = list(data.groupby("instance", sort=False))
    axes = {"height": 3.2, "xscale": "log", "ylim": (3, 12), "xlabel": r"$\ln K$"}
    fig, row = draw.panels(len(kinds), ylabel=r"regret $\times\,\epsilon/\ln K$", **axes)
    low, high = ends
    for ax, (kind, part) in zip(row, kinds, strict=True):
        fixed, coins = (part[part.losses == which] for which in ("deterministic", "Bernoulli"))
        markers = {"linestyle": "none", "markevery": 1, "markerfacecolor": "white"}
        draw.lines(ax, coins, "log_actions", "ratio", **markers)
        draw.lines(ax, fixed, "log_actions", "ratio", markevery=[0])
        rising = np.geomspace(fixed.log_actions.min(), 3 * fixed.log_actions.min(), 20)
        second = r"a second $\ln K$"
        draw.bound(ax, rising, 4 * rising / rising[0], second, linestyle=style.DOTTED)
        ax.axhline(8, label=r"$4/\eta=8/\epsilon$", **style.BOUND)
        for i in range(0, int(np.log2(high / low)), 2):
            left, right = high / 2 ** (i + 1), high / 2**i
            ax.axvspan(left, right, color=style.GREY, alpha=0.12, linewidth=0)
        ax.set_title(kind)
        draw.epsilon_ticks(ax, [1, 3, 10, 30, 100, 300])
    draw.legend_below(fig, 3)
    return fig


def tallies_figure(left: pd.DataFrame, right: pd.DataFrame, title: str, exact_label: str) -> Figure:
    """Draw the cost of each epoch (left) and of all epochs (right), added up in three ways."""
    looks = {ONE: {"color": style.PINK, "marker": "v"}, ALL: style.BOUND}
    looks[EXACT] = style.look(exact_label)
    fig, axes = draw.subplots(1, 2, figsize=style.PAGE)
    for ax, half, x in zip(axes, (left, right), ("n", "log_actions"), strict=True):
        draw.lines(ax, half, x, "units", by="tally", looks=looks)
        ax.set(xscale="log", yscale="log")
    axes[0].set(xlabel="loss vectors $n$", title=title)
    axes[0].set_ylabel(r"cost of the epoch $\times\,\epsilon/\ln K$")
    axes[1].set(xlabel=r"$\ln K$", title="all epochs")
    axes[1].set_ylabel(r"sum over epochs $\times\,\epsilon/\ln K$")
    draw.legend_below(fig, 3)
    return fig
