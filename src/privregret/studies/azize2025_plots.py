"""Drawings of the notebooks on azize2025 that are more than curves of a frame."""

import itertools

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from privregret.press import draw, style

CENTRED = {"ha": "center", "va": "center"}


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
    names = {e: rf"$\epsilon={e:g}$" if e < np.inf else "no privacy" for e in plausible.epsilon}
    looks = dict(zip(names.values(), [{"color": c} for c in style.ramp(len(names))], strict=True))
    named = plausible.assign(curve=plausible.epsilon.map(names))
    draw.lines(right, named, "n", "largest_mean", "curve", looks=looks)
    right.axhline(best, color=style.BLACK, linewidth=0.6)
    right.text(1, best, r"$y$", va="bottom")
    right.set(xscale="log", xlabel="pulls $n$ of the arm", ylabel="largest plausible mean")
    draw.legend_below(fig, 7)
    return fig


def cheapest_path(path: pd.DataFrame, divergences: pd.DataFrame) -> Figure:
    """Draw the cost of the path from x to y through each z, and d_epsilon from each x to y.

    `path` has columns through, shift, change and cost, their sum; `divergences` has from_mean,
    d_epsilon, kl, total_variation.
    """
    fig, (left, right) = draw.subplots(1, 2, figsize=style.PAGE)
    costs, colours = (path["shift"], path.change), (style.SKY, style.ORANGE)
    labels = r"shift $\epsilon|z-x|$", r"change kl$(z,y)$"
    left.stackplot(path.through, *costs, colors=colours, alpha=0.4, labels=labels)
    left.plot(path.through, path.cost, color=style.BLACK)
    least = rf"$d_\epsilon(x,y)={path.cost.min():.4f}$"
    left.plot(
        path.through[path.cost.idxmin()], path.cost.min(), "o", color=style.BLACK, label=least
    )
    left.set(xlabel=r"mean $z$ on the way from $x$ to $y$", ylabel="cost", ylim=(0, None))
    draw.bound(right, divergences.from_mean, divergences.kl, r"kl$(x,y)$")
    total = divergences.from_mean, divergences.total_variation, r"$\epsilon\,|x-y|$"
    draw.bound(right, *total, linestyle=style.DOTTED)
    name = r"$d_\epsilon(x,y)$"
    right.plot(divergences.from_mean, divergences.d_epsilon, color=style.BLUE, label=name)
    right.set(xlabel=rf"$x$, with $y={path.through.max():g}$")
    right.set(ylim=(0, 1.3 * divergences.d_epsilon.max()))
    draw.legend_below(fig, 7)
    return fig


# Sections 5 and G: experiments


def survivals(data: pd.DataFrame, panel: str, title: str = "{}") -> Figure:
    """Draw the distribution of the final regret, one panel for each value of a column."""
    groups = list(data.groupby(panel, sort=False))
    fig, axes = draw.panels(len(groups), height=2.7)
    for ax, (value, part) in zip(axes, groups, strict=True):
        draw.survival_axes(ax, part)
        ax.set(title=title.format(value), ylim=(max(data.probability.min() / 1.5, 1e-6), 1.5))
        ax.set_xlim(data.at_least[data.at_least > 0].min() / 1.5, 2 * data.at_least.max())
        ax.label_outer()
    draw.legend_below(fig, 3)
    return fig


def regret_grid(data: pd.DataFrame, limits: tuple[float, float]) -> Figure:
    """Draw regret and the bound against rounds, one row per instance and column per budget."""
    groups = list(data.groupby(["instance", "budget"], sort=False))
    down, across = data.instance.nunique(), data.budget.nunique()
    size = style.PAGE[0], 0.7 + 1.6 * down
    fig, axes = draw.subplots(down, across, sharex=True, sharey=True, squeeze=False, figsize=size)
    for ax, ((name, e), here) in zip(axes.flat, groups, strict=True):
        draw.regret_axes(ax, here, limits)
        once = here.drop_duplicates("t").sort_values("t")
        draw.bound(ax, once.t, once.bound, "Theorem 3.1, asymptotic")
        ax.set_title(rf"{name}, $\epsilon={e:g}$")
        ax.minorticks_off()
        ax.label_outer()
    axes[0, 0].set_xlim(left=data.t.max() / 1e4)
    draw.legend_below(fig, 4)
    return fig


def figure_8(
    printed: pd.DataFrame, further: pd.DataFrame, lower: pd.DataFrame, critical: float
) -> Figure:
    """Draw final regret of DP-IMED against epsilon as printed, and beyond the critical epsilon.

    `printed` has columns epsilon, mean, mean_plus_sd and bound; `further` has power, n0, epsilon,
    mean and, for power 0 and n0 1, q10, median, q90; `lower` has the bound in the second panel.
    """
    look = style.look("DP-IMED")
    labels = {"xlabel": r"privacy parameter $\epsilon$", "ylabel": "final regret"}
    fig, (left, right) = draw.panels(2, height=3.1, yscale="log", **labels)
    hollow = look | {"linestyle": style.DOTTED, "markerfacecolor": "white"}
    one_pull = printed.assign(curve="mean, $n_0=1$")
    looks = {"mean, $n_0=1$": hollow, "median, $n_0=1$": look}
    draw.lines(
        left, one_pull, "epsilon", "mean", "curve", ("mean", "mean_plus_sd"), looks, markevery=8
    )
    curves = further.query("power == 0 and n0 == 1").assign(curve="median, $n_0=1$")
    draw.lines(right, curves, "epsilon", "median", "curve", ("q10", "q90"), looks, markevery=1)
    right.plot(curves.epsilon, curves["mean"], label="mean, $n_0=1$", **hollow)
    for n0, longer in further.query("power == 0 and n0 > 1").groupby("n0"):
        right.plot(longer.epsilon, longer["mean"], "kx", markersize=4, label=f"mean, $n_0={n0}$")
    polynomial, label = further.query("power == 1"), "mean, $B_m=m+1$"
    right.plot(polynomial.epsilon, polynomial["mean"], "k^", markersize=3, label=label)
    for ax, data in ((left, printed), (right, lower)):
        draw.bound(ax, data.epsilon, data.bound, r"Theorem 3.1 $\times\ln T$")
    right.axvline(critical, color=style.BLACK, linewidth=0.6)
    above = {"transform": right.get_xaxis_transform(), "ha": "right", "va": "top"}
    right.text(critical, 0.97, r"high privacy up to $\epsilon_c$ ", **above)
    left.set(ylim=lower.bound.min() / 1.5)
    right.set(xscale="log")
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
