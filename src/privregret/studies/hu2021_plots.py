"""Figures of the notebooks on hu2021, apart from what is stored so that edits compute nothing."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from privregret.full_information import FTNL
from privregret.instances import BernoulliBandit
from privregret.press import draw, style
from privregret.privacy import ledger
from privregret.studies.hu2021 import EQUAL


def limits_of(
    per_round: pd.DataFrame, setting: BernoulliBandit, epsilons: list[float]
) -> tuple[float, float]:
    """Return the range of a setting's curves at `epsilons`, for all its panels."""
    here = (per_round.instance == setting.name) & per_round.epsilon.isin(epsilons)
    return draw.regret_limits(per_round[here])


def privacy_losses(loss: pd.DataFrame, noise: dict[str, str]) -> Figure:
    """Draw the privacy loss of one choice against n, for each noise scale."""
    curves = loss.assign(curve=[f"$K={r.K}$, {noise[r.noise_scale]}" for r in loss.itertuples()])
    colours = {"hu2021": (style.VERMILION, "-"), "corrected": (style.BLUE, ":")}
    looks = {
        f"$K={k}$, {noise[scale]}": {"marker": marker, "color": colour, "linestyle": dashes}
        for scale, (colour, dashes) in colours.items()
        for k, marker in ((2, "o"), (3, "^"), (5, "s"), (100, "D"))
    }
    axes = {"xlabel": "rounds $n$ of the epoch", "ylabel": r"privacy loss / $\epsilon$"}
    title, how = r"$\epsilon={:g}$", {"curves": "curve", "looks": looks, "markevery": 1}
    fig, axes = draw.family(curves, "epsilon", "n", "loss", title, axes=axes, **how)
    for ax in axes:
        ax.axhline(1, **style.BOUND)
        ax.set_xscale("log", base=2)
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside right center")
    return fig


def release_schedule(released: dict[str, list[ledger.Release]], pulls: int) -> Figure:
    """Draw the releases about an arm for each algorithm."""
    size = {"figsize": (style.PAGE[0], 4.0), "height_ratios": (2, 6, 5)}
    fig, axes = draw.subplots(len(released), 1, sharex=True, **size)
    for ax, (name, releases) in zip(axes, released.items(), strict=True):
        color = style.look(name.split(",")[0])["color"]
        show_releases(ax, releases, pulls, name, color, alarm=style.VERMILION)
    axes[-1].set_xlabel("pull of the arm")
    return fig


def repairs(data: pd.DataFrame) -> Figure:
    """Draw regret of Hybrid-UCB and its bounds, and the ratio of its repairs to it."""
    size = {"figsize": (style.PAGE[0], 3.6), "height_ratios": (2, 1)}
    fig, (top, below) = draw.subplots(2, 3, sharex=True, sharey="row", **size)
    for upper, lower, (name, part) in zip(top, below, data.groupby("instance"), strict=True):
        one = part[part.tree == "paper"]
        draw.lines(upper, one, "epsilon", "mean", markevery=1)
        rate = "printed rate, constant 1"
        draw.bound(upper, one.epsilon, one.rate, rate, linestyle=style.DOTTED)
        draw.bound(upper, one.epsilon, one.uniform, "uniform play", linestyle=style.MIXED)
        bound = one.bound.where(one.bound < one.uniform)
        draw.bound(upper, one.epsilon, bound, "Theorem 5")
        for label, repaired in part[part.tree != "paper"].groupby("algorithm", sort=False):
            ratio, error = repaired.over_printed, 2 * repaired.over_printed_se
            look = style.look(label)
            lower.errorbar(repaired.epsilon, ratio, error, elinewidth=0.8, label=label, **look)
        upper.set(xscale="log", yscale="log", title=name)
        lower.set(xlabel=r"privacy parameter $\epsilon$")
    top[0].set_ylabel("regret")
    below[0].set_ylabel("ratio to printed")
    draw.legend_below(fig, 3)
    return fig


def show_releases(
    ax: Axes, released: list[ledger.Release], pulls: int, title: str, color: str, alarm: str
) -> None:
    """Draw one bar per release about an arm, and the cost of each reward, `alarm` above 1."""
    top, centred = 0, {"ha": "center", "va": "center_baseline", "fontsize": 6}
    for release in released:
        length = release.last - release.first + 1
        level = 0 if release.kind == "array" else length.bit_length()
        top = max(top, level)
        fill = color if release.kind == "array" else "#BBBBBB"
        ax.barh(
            level, length - 0.16, left=release.first - 0.42, height=0.72, color=fill, linewidth=0
        )
        middle = (release.first + release.last) / 2
        ink = "white" if release.kind == "array" else "black"
        ax.text(middle, level, f"{release.scale:g}", color=ink, **centred)
    for pull, cost in enumerate(ledger.cost(released, pulls), start=1):
        above = {"color": alarm, "fontweight": "bold"} if cost > 1 + 1e-9 else {}
        ax.text(pull, -1, f"{cost:.3g}", **centred | above)
    ax.set(xlim=(0.4, pulls + 0.6), ylim=(-1.6, top + 0.6), title=title, xticks=range(1, pulls + 1))
    names = ["cost", "array", *(f"node of {2 ** (level - 1)}" for level in range(1, top + 1))]
    ax.set_yticks(range(-1, top + 1), names)
    ax.grid(False)
    ax.tick_params(length=0)


def doubling_figure(data: pd.DataFrame, phases: pd.DataFrame) -> Figure:
    """Draw regrets against the number of brackets, and against ln K for one number of them."""
    fig, axes = draw.panels(2, height=3.2, ylim=(0, 9), ylabel=r"regret / $(\ln K/\epsilon)$")
    # in between the phase changes
    alone = {"linestyle": "none"}
    for ax, (family, part) in zip(axes, data.groupby("instances", sort=False), strict=True):
        x, joined = ("brackets", {}) if ax is axes[0] else ("log_K", alone)
        equal = part.algorithm == EQUAL
        draw.lines(ax, part[~equal], x, "scaled_regret", markevery=1, **joined)
        dots = {"color": "black", "marker": ".", "linestyle": "none"}
        ax.plot(
            part[x][equal], part.scaled_regret[equal], label="FTNL (Laplace) on equal gaps", **dots
        )
        ax.set_title(family)
    axes[0].set(xlabel="number of brackets $B$", xticks=sorted(data.brackets.unique()))
    axes[1].set(xlabel=r"$\ln K$", xscale="log")
    gumbel = FTNL(1.0, "gumbel").label
    band = {"color": style.look(gumbel)["color"], "alpha": 0.3, "linewidth": 0}
    band["label"] = f"{gumbel}, all phases"
    axes[1].fill_between(phases.log_K, phases.smallest_scaled, phases.largest_scaled, **band)
    draw.legend_below(fig, 3)
    return fig


def lower_bound_figure(data: pd.DataFrame) -> Figure:
    """Draw exact regret at round m*, where Theorem 10 shades what it forbids, and final regret."""
    axes = {"xlabel": r"privacy parameter $\epsilon$", "ylabel": r"regret / $(\ln K/\epsilon)$"}
    fig, panels = draw.panels(data.when.nunique(), xscale="log", yscale="log", **axes)
    for ax, (when, part) in zip(panels, data.groupby("when", sort=False), strict=True):
        draw.lines(ax, part, "epsilon", "scaled_regret")
        ax.set_title(when)
        shaded = part.dropna(subset=["bound"]).drop_duplicates("epsilon")
        if len(shaded):
            draw.bound(ax, shaded.epsilon, shaded.bound, "Theorem 10", forbids=True)
    draw.legend_below(fig, 4)
    return fig
