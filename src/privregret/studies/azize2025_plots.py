"""Figures of the notebooks on azize2025, apart from kernels so that edits compile nothing."""

import itertools

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from privregret.divergence import d_epsilon, kl
from privregret.press import draw, style

CENTRED = {"ha": "center", "va": "center"}
_divergence, _kl = np.vectorize(d_epsilon), np.vectorize(kl)


# Section 3: the lower bound


def divergence(regimes: pd.DataFrame, plausible: pd.DataFrame, best: float) -> Figure:
    """Draw d_epsilon against epsilon, and against pulls the largest mean that it leaves possible.

    `regimes` has columns epsilon, critical, d_epsilon, kl, total_variation; `plausible` has
    epsilon, n, largest_mean; `best` is the mean of the best arm.
    """
    fig, (left, right) = draw.subplots(1, 2, figsize=(style.PAGE[0], 2.8))
    draw.bound(left, regimes.epsilon, regimes.kl, r"$\mathrm{kl}(x,y)$")
    total = regimes.epsilon, regimes.total_variation, r"$\epsilon\,|x-y|$"
    draw.bound(left, *total, linestyle=style.DOTTED)
    name = r"$d_\epsilon(x,y)$"
    left.plot(regimes.epsilon, regimes.d_epsilon, color=style.BLUE, label=name)
    critical, low, high = regimes.critical[0], regimes.epsilon.min(), regimes.epsilon.max()
    left.axvspan(critical, high, color=style.BLACK, alpha=0.08, linewidth=0)
    across = {"transform": left.get_xaxis_transform(), "fontsize": 6}
    left.text(critical, 0.15, "  low privacy", **across)
    left.text(critical, 0.15, "high privacy  ", ha="right", **across)
    limits = regimes.d_epsilon.min() / 1.5, 3 * regimes.kl[0]
    left.set(xscale="log", yscale="log", xlim=(low, high), ylim=limits)
    left.set(xlabel=r"privacy parameter $\epsilon$", ylabel="divergence")
    epsilons = plausible.epsilon.unique()
    for e, colour in zip(epsilons, style.ramp(len(epsilons)), strict=True):
        here, label = plausible[plausible.epsilon == e], rf"$\epsilon={e:g}$"
        label = label if np.isfinite(e) else "no privacy"
        right.plot(here.n, here.largest_mean, color=colour, label=label)
    right.axhline(best, color=style.BLACK, linewidth=0.6)
    right.text(1, best, r"$y$", va="bottom")
    right.set(xscale="log", xlabel="pulls $n$ of the arm", ylabel="largest plausible mean")
    draw.legend_below(fig, 7)
    return fig


def cheapest_path(mean: float, y: float, epsilon: float) -> Figure:
    """Draw the cost of the path from `mean` through each z to y, and d_epsilon from each x to y."""
    fig, (left, right) = draw.subplots(1, 2, figsize=style.PAGE)
    z, x, smallest = np.linspace(mean, y, 201), np.linspace(0, 1, 401), d_epsilon(mean, y, epsilon)
    shift, change = epsilon * abs(z - mean), _kl(z, y)
    labels = r"shift $\epsilon|z-x|$", r"change kl$(z,y)$"
    left.stackplot(z, shift, change, colors=(style.SKY, style.ORANGE), alpha=0.4, labels=labels)
    left.plot(z, shift + change, color=style.BLACK)
    label = rf"$d_\epsilon(x,y)={smallest:.4f}$"
    left.plot(z[(shift + change).argmin()], smallest, "o", color=style.BLACK, label=label)
    left.set(xlabel=rf"$z$, from $x={mean:g}$ to $y={y:g}$", ylabel="cost", ylim=(0, None))
    draw.bound(right, x, _kl(x, y), r"kl$(x,y)$")
    draw.bound(right, x, epsilon * abs(x - y), r"$\epsilon\,|x-y|$", linestyle=style.DOTTED)
    right.plot(x, _divergence(x, y, epsilon), color=style.BLUE, label=r"$d_\epsilon(x,y)$")
    low_privacy = y / (y + (1 - y) * np.exp([epsilon, -epsilon]))
    right.axvspan(*low_privacy, color=style.SKY, alpha=0.15, linewidth=0, label="low privacy")
    highest = max(_divergence(0, y, epsilon), _divergence(1, y, epsilon))
    right.set(xlabel=rf"$x$, with $y={y:g}$", ylim=(0, 1.3 * highest))
    draw.legend_below(fig, 7)
    return fig


def lower_bounds(data: pd.DataFrame, low: float, high: float) -> Figure:
    """Draw Theorem 3.1, the older bound and their ratio against epsilon, for each instance."""
    fig, axes = draw.subplots(1, 2, figsize=(style.PAGE[0], 3.1))
    for name, look in draw.looks(data.instance.unique().tolist()).items():
        here, line = data[data.instance == name], {"color": look["color"], "linewidth": 1}
        at = {"marker": look["marker"], "markevery": np.flatnonzero(here.changes).tolist()}
        axes[0].plot(here.epsilon, here.equation_7, linestyle=style.DOTTED, **line)
        axes[0].plot(here.epsilon, here.theorem_3_1, label=name, **line, **at)
        axes[1].plot(here.epsilon, here.over_equation_7, label=name, **line, **at)
    title = "Theorem 3.1, and (dotted) the older bound"
    axes[0].set(yscale="log", ylabel=r"lower bound on regret$/\ln T$", title=title)
    axes[1].set(ylabel="ratio", title="ratio of the two bounds")
    for ax in axes:
        ax.set(xscale="log", xlim=(low, high), xlabel=r"privacy parameter $\epsilon$")
    draw.legend_below(fig, 5)
    return fig


# Section 4: the algorithms


def growth(data: pd.DataFrame, epsilons: list[float], rounds: np.ndarray) -> Figure:
    """Draw regret / (bound ln t) against t for both first batches, one panel per epsilon."""
    labels = {"xlabel": "round $t$", "ylabel": r"regret / (bound $\ln t$)"}
    fig, axes = draw.panels(len(epsilons), height=3.0, xscale="log", **labels)
    for ax, e in zip(axes, epsilons, strict=True):
        for label, here in data.query("epsilon == @e").groupby("algorithm", sort=False):
            look = style.look(label)
            first, second = here[here.n0 == 1], here[here.n0 > 1]
            band = {"color": look["color"], "alpha": 0.2, "linewidth": 0}
            ax.fill_between(first.t, first.q10_over_bound, first.q90_over_bound, **band)
            middle = first.median_over_bound
            ax.plot(first.t, middle, label=f"{label}, median, $n_0=1$", markevery=10, **look)
            look |= {"linestyle": style.DOTTED, "markerfacecolor": "white", "markevery": (5, 10)}
            mean = second.mean_over_bound
            ax.plot(second.t, mean, label=rf"{label}, mean, $n_0=8/\epsilon$", **look)
        draw.bound(ax, rounds, [1] * len(rounds), "Theorem 3.1")
        twice = [2] * len(rounds)
        draw.bound(ax, rounds, twice, r"Theorem 4.3, $\alpha=2$", linestyle=style.MIXED)
        ax.set(ylim=(0, None), title=rf"$\epsilon={e:g}$")
    draw.legend_below(fig, 3)
    return fig


# Section 5: experiments


def regret_over_time(data: pd.DataFrame, names: list[str]) -> Figure:
    """Draw regret and the bound against rounds on common axes, one panel per named instance."""
    fig, axes = draw.panels(len(names), height=3.0)
    for ax, name in zip(axes, names, strict=True):
        here = data[data.instance == name]
        draw.regret_axes(ax, here, draw.regret_limits(data))
        draw.bound(ax, *_each_round(here), "Theorem 3.1")
        ax.set_title(name)
    axes[1].set_ylabel("")
    draw.legend_below(fig, 4)
    return fig


def _each_round(data):
    """Return rounds and the bound in each, once for all algorithms."""
    once = data.drop_duplicates("t").sort_values("t")
    return once.t, once.bound


def survivals(data: pd.DataFrame) -> Figure:
    """Draw the distribution of the final regret, one panel per instance."""
    panels = data.groupby("instance", sort=False)
    fig, axes = draw.panels(len(panels), height=2.8)
    for ax, (name, curves) in zip(axes, panels, strict=True):
        draw.survival_axes(ax, curves)
        ax.set(title=name, ylim=(1e-6, 1.5))
    axes[1].set_ylabel("")
    draw.legend_below(fig, 3)
    return fig


def ablation(data: pd.DataFrame, names: list[str], epsilons: list[float]) -> Figure:
    """Draw mean final regret of DP-KLUCB, its variants and AdaP-KLUCB against epsilon."""
    looks = {v: style.look(v) for v in ("DP-KLUCB", "AdaP-KLUCB")} | {
        "with forgetting": {"color": style.BLUE, "marker": "^", "linestyle": style.DASHED},
        r"with $3.1\,\ln t$": {"color": style.GREEN, "marker": "v", "linestyle": style.DASHED},
        "with both": {"color": style.BLACK, "marker": "s", "linestyle": style.DOTTED},
    }
    labels = {"xlabel": r"privacy parameter $\epsilon$", "ylabel": "final regret"}
    fig, axes = draw.panels(len(names), xscale="log", yscale="log", **labels)
    for ax, name in zip(axes, names, strict=True):
        here = data.query("instance == @name")
        draw.lines(ax, here, "epsilon", "mean", by="variant", looks=looks, markevery=1)
        draw.epsilon_ticks(ax, epsilons)
        ax.set_title(name)
    draw.legend_below(fig, 5)
    return fig


# Appendix B: models of continual release


def reward_models(models: dict, path: tuple) -> Figure:
    """Draw the three models of the input (model -> reward functions of rounds 1, 2, ...).

    `path` has the arms pulled, from 0.
    """
    fig, axes = draw.subplots(1, 3, figsize=(style.PAGE[0], 2.1), width_ratios=(0.8, 1, 1.9))
    for ax, letter, (model, rewards) in zip(axes, "abc", models.items(), strict=True):
        _reward_model(ax, model, path, rewards, f"({letter}) {model} of rewards")
    return fig


def release_games(games: dict, change: int) -> Figure:
    """Draw one play per side "L" or "R": actions, left rewards and right rewards.

    In round `change`, from 1, the policy observes that side.
    """
    fig, axes = draw.subplots(1, 2, figsize=(style.PAGE[0], 1.9))
    for ax, (side, (actions, left, right)) in zip(axes, games.items(), strict=True):
        _release_game(ax, actions, left, right, change, side)
    return fig


def _reward_model(ax, model, path, rewards, title):
    """Draw a list, table or tree of rewards for two arms, and frame those observed along `path`."""
    rounds = len(path)
    for t in range(1, rounds + 1):
        prefixes = list(np.ndindex(*(2,) * t))
        nodes = {"list": [None], "table": [0, 1], "tree": prefixes}[model]
        for i, node in enumerate(nodes):
            full = {"list": tuple(path[:t]), "table": (*path[: t - 1], node), "tree": node}[model]
            seen = full == tuple(path[:t])
            colour, width = ("black", 1.2) if seen else ("#BBBBBB", 0.6)
            x = 0.5 + 0.3 * (i - (len(nodes) - 1) / 2)
            if model == "tree":
                x = (i + 0.5) / len(nodes)
                parent = ((i // 2 + 0.5) / (len(nodes) // 2), 1 - t) if t > 1 else (0.5, 0)
                ax.plot([parent[0], x], [parent[1], -t], color=colour, linewidth=width, zorder=1)
            frame = {"boxstyle": "square,pad=0.3", "fc": "white", "ec": colour, "lw": width}
            look = {"fontsize": 7, "bbox": frame, "color": "black" if seen else "#888888"}
            ax.text(x, -t, str(int(rewards[t - 1][full])), **look, **CENTRED)
    if model == "table":
        for arm in (0, 1):
            ax.text(0.5 + 0.3 * (arm - 0.5), -0.4, f"arm {arm + 1}", fontsize=6, **CENTRED)
    for t in range(1, rounds + 1):
        ax.text(-0.06, -t, f"$t={t}$", ha="right", va="center", fontsize=6)
    ax.set(xlim=(-0.12, 1.05), ylim=(-rounds - 0.5, 0.3), title=title)
    ax.axis("off")


def _release_game(ax, actions, left, right, change, side):
    """Draw the adaptive game: two rewards per round, of which one is observed."""
    boxes = []
    for t, (action, one, other) in enumerate(zip(actions, left, right, strict=True), start=1):
        shown = other if t == change and side == "R" else one
        for y, text in ((2, f"arm {action + 1}"), (1, f"$({one},{other})$"), (0, f"${shown}$")):
            fill = "#FFE9B8" if (y, t) == (0, change) else "white"
            box = {"boxstyle": "round,pad=0.35", "fc": fill, "ec": "black", "lw": 0.7}
            boxes.append(ax.text(t, y, text, fontsize=7, bbox=box, **CENTRED))
        when = f"$t={t}$" + (r"$\;=t^\star$" if t == change else "")
        ax.text(t, -0.55, when, fontsize=6, **CENTRED)
    # from edge to edge; above the boxes, which are laid out first
    line = {"arrowstyle": "->", "lw": 0.7, "color": "black", "shrinkA": 0, "shrinkB": 0}
    for start, end in itertools.pairwise(boxes):
        arrow = line | {"patchA": start.get_bbox_patch(), "patchB": end.get_bbox_patch()}
        ax.annotate("", end.get_position(), start.get_position(), arrowprops=arrow, zorder=4)
    for y, text in ((2, "policy pulls"), (1, "adversary: $(r^L,r^R)$"), (0, "policy observes")):
        ax.text(0.45, y, text, ha="right", va="center", fontsize=6)
    ax.set(xlim=(-0.75, len(actions) + 0.5), ylim=(-0.8, 2.5), title=f"$b={side}$")
    ax.axis("off")


# Appendix D: concentration


def laplace_tails(data: pd.DataFrame) -> Figure:
    """Draw tails of sums of Laplace variables and bounds, one panel per number of variables."""
    panels = data.groupby("m", sort=False)
    ylabel = r"$\log_{10}$ of $\Pr[Z_m\geq z]$ and its bounds"
    labels = {"xlabel": r"$\epsilon z$", "ylabel": ylabel}
    fig, axes = draw.panels(len(panels), height=2.7, ylim=(-40, 45), **labels)
    # the exact curve, bounds
    colours = style.BLACK, style.BLUE, style.VERMILION, style.GREEN
    dashes = style.SOLID, style.DASHED, style.DOTTED, style.MIXED
    each = zip(data.curve.unique(), colours, dashes, strict=True)
    looks = {name: {"color": c, "linestyle": dash, "marker": ""} for name, c, dash in each}
    for ax, (m, here) in zip(axes, panels, strict=True):
        draw.lines(ax, here, "z", "log10", "curve", looks=looks)
        ax.set(title=f"$m={m}$")
        ax.axhline(0, color=style.GREY, linewidth=0.6)
    draw.legend_below(fig, 4)
    return fig


# Equation (14): the first batch


def first_batch(lengths: pd.DataFrame, by_horizon: pd.DataFrame, alphas: list[float]) -> Figure:
    """Draw regret / bound against n0 epsilon, and for DP-IMED at several horizons over ln T.

    Both frames are from `studies.azize2025.regret_over_bound`, the second with a column n0_scaled;
    batch ratios are in the order of their dashes.
    """
    fig, (left, right) = draw.subplots(1, 2, sharey=True, figsize=(style.PAGE[0], 3.2))
    dash = dict(zip(alphas, (style.SOLID, style.DASHED, style.DOTTED, style.MIXED), strict=False))
    ends = (lengths.n0 * lengths.epsilon).agg(["min", "max"])
    draw.bound(left, ends, [1, 1], "limit of Theorem 3.1")
    for (label, alpha), rows in lengths.groupby(["algorithm", "alpha"], sort=False):
        look = style.look(label) | {"linestyle": dash[alpha], "markersize": 2.5}
        over, label = rows.mean_over_bound, rf"{label}, $\alpha={alpha:g}$"
        left.plot(rows.n0 * rows.epsilon, over, label=label, **look)
    ends = by_horizon.n0_scaled.agg(["min", "max"])
    name = r"limit of Theorem 4.3, $\alpha=2$"
    draw.bound(right, ends, [2, 2], name, linestyle=style.MIXED)
    horizons = by_horizon.horizon.unique()
    for t, colour in zip(horizons, style.ramp(len(horizons)), strict=True):
        rows, label = by_horizon[by_horizon.horizon == t], rf"$T=10^{{{np.log10(t):.3g}}}$"
        right.plot(rows.n0_scaled, rows.mean_over_bound, color=colour, marker="o", label=label)
    left.set(xlabel=r"$n_0\epsilon$", ylabel=r"regret / (bound $\ln T$)", yscale="log")
    right.set(xlabel=r"$n_0\epsilon/\ln T$")
    for ax in (left, right):
        ax.set(xscale="log")
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
    return fig


# Appendix G: extended experiments


def survivals_by_epsilon(data: pd.DataFrame) -> Figure:
    """Draw the distribution of the final regret in one environment, one panel per epsilon."""
    panels = data.groupby("epsilon", sort=False)
    fig, axes = draw.panels(len(panels), height=2.5)
    for ax, (e, part) in zip(axes, panels, strict=True):
        draw.survival_axes(ax, part)
        ax.set_title(rf"$\epsilon={e:g}$")
        ax.label_outer()
    for ax in axes:
        ax.set_xlim(data.at_least[data.at_least > 0].min() / 1.5, 2 * data.at_least.max())
    draw.legend_below(fig, 3)
    return fig


def regret_panel(data: pd.DataFrame, limits: tuple[float, float], title: str) -> Figure:
    """Draw regret and the bound against rounds, with final means in the legend."""
    fig, (ax,) = draw.panels(1, height=3.0)
    draw.regret_axes(ax, data, limits, legend_values=True)
    draw.bound(ax, *_each_round(data), "Theorem 3.1")
    ax.set_title(title)
    draw.legend_below(fig)
    return fig


def regret_grid(data: pd.DataFrame, limits: tuple[float, float]) -> Figure:
    """Draw regret and the bound against rounds, one row per instance and column per budget."""
    instances, budgets = data.instance.unique(), data.budget.unique()
    shape, size = (len(instances), len(budgets)), (style.PAGE[0], 0.7 + 1.6 * len(instances))
    fig, axes = draw.subplots(*shape, sharex=True, sharey=True, squeeze=False, figsize=size)
    starts = []
    for ax, (name, e) in zip(axes.flat, itertools.product(instances, budgets), strict=True):
        here = data[(data.instance == name) & (data.budget == e)]
        draw.regret_axes(ax, here, limits)
        draw.bound(ax, *_each_round(here), "Theorem 3.1")
        starts.append(ax.get_xlim()[0])
        ax.set_title(rf"{name}, $\epsilon={e:g}$")
        ax.minorticks_off()
        ax.label_outer()
    axes[0, 0].set_xlim(left=min(starts))
    draw.legend_below(fig, 4)
    return fig


def _three_bounds(ax, data):
    times = r" $\times\ln T$"
    draw.bound(ax, data.epsilon, data.theorem_3_1_times_log, f"Theorem 3.1{times}")
    draw.bound(
        ax, data.epsilon, data.equation_7_times_log, f"older bound{times}", linestyle=style.MIXED
    )
    draw.bound(
        ax, data.epsilon, data.lai_robbins_times_log, f"no privacy{times}", linestyle=style.DOTTED
    )


def figure_8(
    printed: pd.DataFrame, further: pd.DataFrame, lower: pd.DataFrame, critical: float
) -> Figure:
    """Draw final regret of DP-IMED against epsilon as printed, and beyond the critical epsilon.

    `printed` has columns epsilon, mean, sd and the three bounds; `further` has power, n0, epsilon,
    mean and, for power 0 and n0 1, q10, median, q90; `lower` has the three bounds on the range of
    the second panel.
    """
    look = style.look("DP-IMED")
    labels = {"xlabel": r"privacy parameter $\epsilon$", "ylabel": "final regret"}
    fig, (left, right) = draw.panels(2, height=3.1, yscale="log", **labels)
    band = {"color": look["color"], "alpha": 0.2, "linewidth": 0}
    hollow = look | {"linestyle": style.DOTTED, "markerfacecolor": "white"}
    ends = (printed["mean"] - printed.sd).clip(lower=1), printed["mean"] + printed.sd
    left.fill_between(printed.epsilon, *ends, **band)
    left.plot(printed.epsilon, printed["mean"], markevery=8, **hollow)
    _three_bounds(left, printed)
    shape, dots = further.query("power == 0 and n0 == 1"), further.query("power == 1")
    right.fill_between(shape.epsilon, shape.q10, shape.q90, **band)
    right.plot(shape.epsilon, shape["median"], label="DP-IMED, median", **look)
    right.plot(shape.epsilon, shape["mean"], label="DP-IMED, mean", **hollow)
    for n0, longer in further.query("power == 0 and n0 > 1").groupby("n0"):
        label = rf"DP-IMED, mean, $n_0={n0}$"
        right.plot(longer.epsilon, longer["mean"], "kx", markersize=4, label=label)
    right.plot(dots.epsilon, dots["mean"], "k^", markersize=3, label="DP-IMED, mean, $B_m=m+1$")
    _three_bounds(right, lower)
    right.axvline(critical, color=style.BLACK, linewidth=0.6)
    above = {"transform": right.get_xaxis_transform(), "ha": "right", "va": "top"}
    right.text(critical, 0.97, r"$\epsilon_c$ ", **above)
    left.set(ylim=printed.lai_robbins_times_log[0] / 2)
    right.set(xscale="log")
    draw.legend_below(fig, 3)
    return fig
