"""Figures of the notebooks on hu2021, apart from what is stored so that edits compute nothing."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from privregret.full_information import FTNL
from privregret.press import draw, style
from privregret.studies.hu2021 import Release, cost


def one_run(turns: pd.DataFrame, indices: pd.DataFrame) -> Figure:
    """Draw the arm pulled in each round (top) and the index of each arm (bottom)."""
    size = {"figsize": (style.PAGE[0], 3.6), "height_ratios": (4, 5)}
    fig, (top, bottom) = draw.subplots(2, 1, sharex=True, **size)
    colours = style.BLUE, style.ORANGE, style.GREEN, style.PINK, style.VERMILION
    means = sorted(indices.arm_mean.unique(), reverse=True)
    for arm, (mean, colour) in enumerate(zip(means, colours, strict=False), start=1):
        mine, own = turns[turns.arm_mean == mean], indices[indices.arm_mean == mean]
        length = mine["last"] - mine["first"] + 1
        top.barh([arm] * len(mine), length, left=mine["first"], height=0.62, color=colour, lw=0)
        bottom.plot(own.t, own["index"], color=colour, lw=1)
    top.set(ylabel="arm pulled (its mean)", ylim=(len(means) + 0.6, 0.4))
    top.set_yticks(range(1, len(means) + 1), [f"{mean:g}" for mean in means])
    top.grid(False)
    bottom.set(xscale="log", yscale="log", xlim=(1, turns["last"].max()), ylim=(0.45, None))
    bottom.set(xlabel="round $t$", ylabel="index of each arm")
    ticks = 0.5, 0.75, 1, 2, 5, 10, 20, 50
    bottom.set_yticks(ticks, [f"{y:g}" for y in ticks])
    bottom.minorticks_off()
    return fig


def why_arms_are_dropped(
    widths: pd.DataFrame, pulls: pd.DataFrame, dropped: pd.DataFrame
) -> Figure:
    """Draw the two widths against n (left), and the pulls of arms against their gaps (right)."""
    fig, (left, right) = draw.subplots(1, 2, figsize=(style.PAGE[0], 2.9))
    epsilons, gaps = widths.epsilon.unique(), pulls.arm_gap.unique()
    once = widths.drop_duplicates("n")
    left.plot(once.n, once.width, color=style.GREY, lw=1.6, label="few rewards")
    for gap in gaps:
        left.axhline(gap, **(style.BOUND | {"linestyle": style.DOTTED}))
        left.text(0.8 * widths.n.max(), gap * 1.03, rf"gap {gap:g}", fontsize=6, ha="right")
    for k, (epsilon, colour) in enumerate(zip(epsilons, style.ramp(len(epsilons)), strict=True)):
        look, label = {"color": colour}, rf"$\epsilon={epsilon:g}$"
        noise, dots, line = (f[f.epsilon == epsilon] for f in (widths, pulls, dropped))
        left.plot(noise.n, noise.noise_width, lw=1, label=f"noise, {label}", **look)
        size = 40 * dots.run_share + 1
        right.scatter(
            dots.arm_gap * 1.05 ** (k - 1), dots.arm_pulls, size, lw=0, label=label, **look
        )
        right.plot(line.arm_gap, line.twice_n, lw=0.8, **look)
        right.plot(line.arm_gap, line.proof, lw=0.7, ls=style.DASHED, **look)
    left.set(yscale="log", ylim=(0.03, 500), ylabel="width")
    right.set(xlabel=r"gap $\Delta$ of an arm", ylabel="pulls of the arm", xscale="log")
    left.set_xscale("log", base=2)
    right.set_yscale("log", base=2)
    left.set_xlabel("pulls $n$ in the last full array")
    right.set_xticks(gaps, [f"{gap:g}" for gap in gaps])
    right.set_xticks([], minor=True)
    left.legend()
    right.legend()
    return fig


def release_schedule(released: dict[str, list[Release]], pulls: int) -> Figure:
    """Draw the releases about an arm for each algorithm."""
    size = {"figsize": (style.PAGE[0], 4.0), "height_ratios": (2, 6, 5)}
    fig, axes = draw.subplots(len(released), 1, sharex=True, **size)
    for ax, (name, releases) in zip(axes, released.items(), strict=True):
        show_releases(ax, releases, pulls, name)
    axes[-1].set_xlabel("pull of the arm")
    return fig


def show_releases(ax: Axes, released: list[Release], pulls: int, title: str) -> None:
    """Draw one bar per release about an arm, and the cost of each reward, framed above 1."""
    color = style.look(title.split(",")[0])["color"]
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
    for pull, spent in enumerate(cost(released, pulls), start=1):
        frame = {"boxstyle": "square,pad=0.3", "fill": False, "edgecolor": "black", "lw": 0.8}
        above = {"bbox": frame} if spent > 1 + 1e-9 else {}
        ax.text(pull, -1, f"{spent:.3g}", **centred, **above)
    ax.set(xlim=(0.4, pulls + 0.6), ylim=(-1.6, top + 0.6), title=title, xticks=range(1, pulls + 1))
    names = ["cost", "array", *(f"node of {2 ** (level - 1)}" for level in range(1, top + 1))]
    ax.set_yticks(range(-1, top + 1), names)
    ax.grid(False)
    ax.tick_params(length=0)


def doubling_figure(data: pd.DataFrame, phases: pd.DataFrame, learner: str) -> Figure:
    """Draw regret and bound against the number of brackets, and regrets against ln K."""
    units = r"in units of $\ln K/\epsilon$"
    fig, (left, right) = draw.subplots(1, 2, figsize=(style.PAGE[0], 3.3))
    *by_brackets, (fixed, by_size) = data.groupby("instances", sort=False)
    for (family, part), dashes in zip(by_brackets, (style.DASHED, style.DOTTED), strict=True):
        one = part[part.algorithm == learner]
        draw.bound(left, one.brackets, one.proved, f"Theorem 7, {family}", linestyle=dashes)
        look = style.look(learner) | {"linestyle": dashes, "label": f"regret, {family}"}
        left.plot(one.brackets, one.scaled_regret, **look)
    left.set(xlabel="number of different gaps $B$", yscale="log", ylim=(1, 1e4), ylabel=units)
    left.set(title="one expert or many per gap", xticks=by_brackets[0][1].brackets.unique())
    equal = by_size.algorithm.str.endswith("equal gaps")
    draw.lines(right, by_size[~equal], "log_K", "scaled_regret", markevery=1, linestyle="none")
    dots = {"color": "black", "marker": ".", "linestyle": "none", "label": "FTNL, equal gaps"}
    right.plot(by_size.log_K[equal], by_size.scaled_regret[equal], **dots)
    gumbel = FTNL(1.0, "gumbel").label
    band = {"color": style.look(gumbel)["color"], "alpha": 0.3, "linewidth": 0}
    band["label"] = f"{gumbel}, all phases"
    right.fill_between(phases.log_K, phases.smallest_scaled, phases.largest_scaled, **band)
    right.set(xlabel=r"$\ln K$", xscale="log", ylim=(0, 9), title=fixed)
    draw.legend_below(fig, 3)
    return fig
