"""What the notebooks on hu2021 need and no other does, in the order settings, measure, plot."""

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from privregret import checks, estimates, exact, simulate, store
from privregret.algorithm import Algorithm
from privregret.bounds import hu2021 as bounds
from privregret.full_information import FTNL
from privregret.instances import BernoulliBandit, bernoulli_losses, doubling, equal_gaps, packing
from privregret.press import draw, style
from privregret.privacy import ledger
from privregret.privacy.selection import privacy_loss

# Settings


def means_with_a_gap(name: str, value) -> np.ndarray:
    """Check the means of Bernoulli arms that are not all equal, or no regret would be above 0.

    Examples
    --------
    >>> means_with_a_gap("setting_1", [0.75, 0.7]).tolist()
    [0.75, 0.7]
    """
    means = checks.means(name, value)
    if means.min() == means.max():
        raise ValueError(f"{name} must not hold equal means only, got {checks.shown(value)}")
    return means


def described(setting: BernoulliBandit) -> str:
    """A setting of five arms as captions name it, with its means."""
    means = ", ".join(f"{mean:g}" for mean in setting.means)
    return f"{setting.name} (five Bernoulli arms with means {means})"


# Measure


def panel_of(per_round: pd.DataFrame, setting: BernoulliBandit, epsilon: float) -> pd.DataFrame:
    """The rows of one setting and one epsilon: the curves of one panel."""
    here = (per_round.instance == setting.name) & (per_round.epsilon == epsilon)
    return per_round[here].drop(columns="instance")


def limits_of(
    per_round: pd.DataFrame, setting: BernoulliBandit, epsilons: list[float]
) -> tuple[float, float]:
    """One range of regrets for all panels of a setting, from its curves at these epsilons."""
    here = (per_round.instance == setting.name) & per_round.epsilon.isin(epsilons)
    return draw.regret_limits(per_round[here])


def regret_ratio(
    final: pd.DataFrame, algorithm: str, over: str, setting: BernoulliBandit, epsilon: float
) -> estimates.Estimate:
    """Mean regret of one algorithm over that of another, in one setting at one epsilon."""
    here = {"instance": setting.name, "epsilon": epsilon}
    above = estimates.row(final, algorithm=algorithm, **here)
    return above / estimates.row(final, algorithm=over, **here)


def release_table(released: dict[str, list[ledger.Release]], pulls: int) -> pd.DataFrame:
    """The releases about an arm, and what each of its rewards costs, algorithm by algorithm."""
    rewards = pd.DataFrame({"kind": "reward", "first": range(1, pulls + 1)})
    parts = []
    for name, releases in released.items():
        costs = rewards.assign(cost=ledger.cost(releases, pulls))
        parts.append(pd.concat([pd.DataFrame(releases), costs]).assign(algorithm=name))
    return pd.concat(parts)


def per_log_round(data: pd.DataFrame) -> pd.DataFrame:
    """Regret, its band and a bound over ln t, from the columns that `estimates.bands` makes."""
    columns = {"per_log": "mean", "per_log_se": "se", "per_log_low": "low"}
    columns |= {"per_log_high": "high", "constant": "bound"}
    log_t = np.log(data.t)
    scaled = {new: data[column] / log_t for new, column in columns.items()}
    return data.assign(**scaled)[["algorithm", "epsilon", "t", *columns]]


def worst_equal_gaps(algorithm: Algorithm, arms: int, T: int, runs: int, seed: int) -> dict:
    """The largest mean regret over equal gaps at multiples of the critical gap, by fresh runs."""
    unit = bounds.critical_gap(arms, T)
    multiples = 2.0 ** np.arange(-2, math.floor(math.log2(0.75 / unit)) + 1)
    problems = [equal_gaps(arms, multiple * unit) for multiple in multiples]
    problem, sample = simulate.hardest(algorithm, problems, T, runs, seed, runs)
    found = estimates.mean(sample)
    multiple = multiples[problems.index(problem)]
    return {"T": T, "multiple": multiple, "mean": found.value, "se": found.se}


def reused(times: int, actions: int, epsilon: float) -> float:
    """Privacy loss, over epsilon, of the first observation after choices from all rounds so far."""
    scale = FTNL(epsilon).noise_scale(actions)
    losses = [privacy_loss(actions, 2**s - 1, "laplace", scale) for s in range(1, times + 1)]
    return sum(loss.value for loss in losses) / epsilon


@store.kept
def over_lemma_13(scale: str, epsilon: float, gap: float, n: int) -> estimates.Estimate:
    """Exact probability that the worse of two experts wins after n rounds, over Lemma 13's bound."""
    pair = bernoulli_losses((0.5 - gap / 2, 0.5 + gap / 2))
    noise = FTNL(epsilon, scale=scale).noise_scale(2)
    selection = exact.selection_probabilities(pair, n, "laplace", noise)
    wrong = estimates.Estimate(selection.group[1:].sum(), bound=selection.error)
    return wrong / bounds.lemma_13(gap, n, epsilon)


def worst_of_gaps(epsilon: float, T: int, actions: int = 1000) -> dict:
    """The largest exact regret of FTNL over instances with equal or doubling gaps, and where."""
    log_actions = math.log(actions)
    critical, private = math.sqrt(log_actions / T), log_actions / (epsilon * T)
    equal = {0.5} | {critical * 2.0**k for k in (*range(-2, 3), *range(4, 20, 4))}
    equal |= {private * 2.0**k for k in range(-1, 3)}
    problems = [packing(actions, gap) for gap in sorted(equal) if gap <= 0.5]
    for gap in (critical, private):
        if gap <= 0.9:
            count = min(8, 1 + int(math.log2(0.9 / gap)))
            per_bracket = max(1, (actions - 1) // count)
            problems.append(doubling(count, per_bracket, largest=gap * 2 ** (count - 1)))
    found = exact.regret_curves(FTNL(epsilon, scale="hu2021"), problems, T)
    worst = found.loc[found.regret.idxmax()]
    return {"T": T, "instance": worst.instance, "regret": worst.regret, "error": worst.error}


# Plot


def exact_and_simulated(data: pd.DataFrame) -> Figure:
    """Draw exact regret as lines and simulated means as markers with two standard errors."""
    fig, (ax,) = draw.panels(
        1, height=2.7, xscale="log", yscale="log", xlabel="round $t$", ylabel="regret"
    )
    draw.lines(ax, data, "t", "regret", marker="none")
    for label, part in data.dropna(subset=["mean"]).groupby("algorithm", sort=False):
        look = style.look(label) | {"linestyle": "none"}
        ax.errorbar(part.t, part["mean"], 2 * part.se, elinewidth=0.8, **look)
    ax.set_ylim(bottom=0.2)
    draw.legend_below(fig)
    return fig


def privacy_losses(loss: pd.DataFrame, noise: dict[str, str]) -> Figure:
    """Draw the privacy loss of one choice against the rounds of its epoch, for each noise scale."""
    curves = loss.assign(
        curve=[f"$K={r.K}$, {noise[r.scale]}" for r in loss.itertuples()]
    )
    colours = {"hu2021": (style.VERMILION, "-"), "corrected": (style.BLUE, ":")}
    looks = {
        f"$K={k}$, {noise[scale]}": {"marker": marker, "color": colour, "linestyle": dashes}
        for scale, (colour, dashes) in colours.items()
        for k, marker in ((2, "o"), (3, "^"), (5, "s"), (100, "D"))
    }
    axes = {"xlabel": "rounds $n$ of the epoch", "ylabel": r"loss of privacy over $\epsilon$"}
    title, how = r"$\epsilon={:g}$", {"curves": "curve", "looks": looks, "markevery": 1}
    fig, axes = draw.family(curves, "epsilon", "n", "loss", title, axes=axes, **how)
    for ax in axes:
        ax.axhline(1, **style.BOUND)
        ax.set_xscale("log", base=2)
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside right center")
    return fig


def release_schedule(released: dict[str, list[ledger.Release]], pulls: int) -> Figure:
    """Draw for each algorithm what it releases about an arm, and when."""
    fig, axes = plt.subplots(
        len(released), 1, figsize=(style.PAGE[0], 4.0), sharex=True, height_ratios=(2, 6, 5)
    )
    for ax, (name, releases) in zip(axes, released.items(), strict=True):
        color = style.look(name.split(",")[0])["color"]
        show_releases(ax, releases, pulls, name, color, alarm=style.VERMILION)
    axes[-1].set_xlabel("pull of the arm")
    return fig


def repairs(data: pd.DataFrame) -> Figure:
    """Draw regret of Hybrid-UCB and its bounds, and below it that of the repaired trees over it."""
    fig, (top, below) = plt.subplots(
        2, 3, sharex=True, sharey="row", figsize=(style.PAGE[0], 3.6), height_ratios=(2, 1)
    )
    for upper, lower, (name, part) in zip(top, below, data.groupby("instance"), strict=True):
        one = part[part.tree == "paper"]
        draw.lines(upper, one, "epsilon", "mean", markevery=1)
        rate = "printed rate, constant 1"
        draw.bound(upper, one.epsilon, one.rate, rate, linestyle=style.DOTTED)
        draw.bound(upper, one.epsilon, one.uniform, "uniform play", linestyle=style.MIXED)
        bound = one.bound.where(one.bound < one.uniform)
        draw.bound(upper, one.epsilon, bound, "Theorem 5", marker="_")
        for label, repaired in part[part.tree != "paper"].groupby("algorithm", sort=False):
            ratio, error = repaired.over_printed, 2 * repaired.over_printed_se
            look = style.look(label)
            lower.errorbar(repaired.epsilon, ratio, error, elinewidth=0.8, label=label, **look)
        upper.set(xscale="log", yscale="log", title=name)
        lower.set(xlabel=r"$\epsilon$")
    top[0].set_ylabel("regret")
    below[0].set_ylabel("over printed")
    draw.legend_below(fig, 3)
    return fig


def show_releases(
    ax: Axes, released: list[ledger.Release], pulls: int, title: str, color: str, alarm: str
) -> None:
    """Draw what is released about an arm, one bar per release, and what each reward costs.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    released : list of privacy.ledger.Release
    pulls : int
    title : str
    color, alarm : str
        Colours of the arrays, and of costs above 1.
    """
    top = 0
    for release in released:
        length = release.last - release.first + 1
        level = 0 if release.kind == "array" else length.bit_length()
        top = max(top, level)
        fill = color if release.kind == "array" else "#BBBBBB"
        ax.barh(
            level, length - 0.16, left=release.first - 0.42, height=0.72, color=fill, linewidth=0
        )
        middle = (release.first + release.last) / 2
        ax.text(
            middle,
            level,
            f"{release.scale:g}",
            ha="center",
            va="center_baseline",
            fontsize=6,
            color="white" if release.kind == "array" else "black",
        )
    for pull, cost in enumerate(ledger.cost(released, pulls), start=1):
        above = {"color": alarm, "fontweight": "bold"} if cost > 1 + 1e-9 else {}
        ax.text(pull, -1, f"{cost:.3g}", ha="center", va="center_baseline", fontsize=6, **above)
    ax.set(xlim=(0.4, pulls + 0.6), ylim=(-1.6, top + 0.6), title=title, xticks=range(1, pulls + 1))
    names = ["cost", "array", *(f"node of {2 ** (level - 1)}" for level in range(1, top + 1))]
    ax.set_yticks(range(-1, top + 1), names)
    ax.grid(False)
    ax.tick_params(length=0)
