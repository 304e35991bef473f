"""Figures of the notebooks on cesari2026, apart from what is stored: edits compute nothing."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from privregret.press import draw, style
from privregret.studies.cesari2026 import ALL, EXACT, ONE


def regret_figure(curves: pd.DataFrame, sample: pd.DataFrame) -> Figure:
    """Draw exact regret against the round, and means of simulated runs as dots."""
    axes = {"xscale": "log", "yscale": "log", "xlabel": "round $t$", "ylabel": "regret"}
    fig, (ax,) = draw.panels(1, **axes)
    draw.lines(ax, curves, "t", "regret")
    dots = {"fmt": ".", "color": style.BLACK, "capsize": 2, "zorder": 5, "linewidth": 0.8}
    ax.errorbar(sample.t, sample["mean"], 2 * sample.se, label="simulated", **dots)
    draw.legend_below(fig)
    return fig


def corollary_1_figure(ratios: pd.DataFrame) -> Figure:
    """Draw regret over the lower bound of privacy against ln K, one curve per epsilon."""
    axes = {"xscale": "log", "xlabel": r"$\ln K$", "ylabel": "regret / lower bound"}
    fig, (ax,) = draw.panels(1, ylim=(0, 14), **axes)
    levels = ratios.epsilon.unique()
    names = {e: rf"$\epsilon = {e:g}$" for e in levels}
    colours = zip(names.values(), style.ramp(len(levels)), "o^s", strict=True)
    looks = {name: {"color": colour, "marker": marker} for name, colour, marker in colours}
    named = ratios.assign(name=ratios.epsilon.map(names))
    draw.lines(ax, named, "log_actions", "regret_over_bound", by="name", looks=looks, markevery=1)
    draw.epsilon_ticks(ax, ratios.log_actions.unique())
    draw.legend_below(fig, 3)
    return fig


def lemma_5_figure(drawn: pd.DataFrame) -> Figure:
    """Draw the sum of selection errors against the gap, and its bounds, in units of ln K / eta."""
    axes = {"xscale": "log", "yscale": "log", "xlabel": r"gap $\Delta/\eta$"}
    fig, (ax,) = draw.panels(1, height=2.9, ylabel=r"$\sum F_m\,/\,(\ln K/\eta)$", **axes)
    look = style.look("random-prefix softmax") | {"label": r"$\sum F_m$"}
    ax.plot(drawn.relative, drawn.sum_in_units, **look)
    draw.bound(ax, drawn.relative, drawn.lemma_in_units, "Lemma 5")
    for _, piece in drawn.groupby("size"):
        parts = "its proof's two parts"
        draw.bound(ax, piece.relative, piece.part_in_units, parts, linestyle=style.DOTTED)
    draw.legend_below(fig, 3)
    return fig


def potential_figure(path: pd.DataFrame) -> Figure:
    """Draw the potential against the prefix length, and two lines above it."""
    top = path.potential[0]
    axes = {"xlabel": "prefix length $m$", "ylabel": "potential", "ylim": (-0.03 * top, 1.05 * top)}
    fig, (ax,) = draw.panels(1, **axes)
    look = style.look("random-prefix softmax") | {"label": r"$\mathrm{E}\,\ln Z_m$"}
    ax.plot(path.m, path.potential, markevery=150, **look)
    for line, rate, dashes in (("line", "1/4", style.DASHED), ("line_sharp", "7/8", style.DOTTED)):
        label = rf"$\ln Z_0-({rate})\,\eta\,\sum\mathrm{{E}}\,V_k$"
        draw.bound(ax, path.m, path[line], label, linestyle=dashes)
    ax.legend()
    return fig


def logarithms_figure(data: pd.DataFrame, ends: tuple[float, float]) -> Figure:
    """Draw regret in units of ln K / epsilon against ln K, one panel per kind of instance.

    Lines are deterministic losses, open markers Bernoulli losses. Every second factor of two in
    ln K, down from the larger of the `ends`, is shaded.
    """
    kinds = list(data.groupby("instance", sort=False))
    axes = {"height": 3.2, "xscale": "log", "ylim": (0, 12), "xlabel": r"$\ln K$"}
    fig, row = draw.panels(len(kinds), ylabel=r"regret $\times\,\epsilon/\ln K$", **axes)
    low, high = ends
    for ax, (kind, part) in zip(row, kinds, strict=True):
        fixed, coins = (part[part.losses == which] for which in ("deterministic", "Bernoulli"))
        markers = {"linestyle": "none", "markevery": 1, "markerfacecolor": "white"}
        draw.lines(ax, coins, "log_actions", "scaled_regret", **markers)
        draw.lines(ax, fixed, "log_actions", "scaled_regret", markevery=[0])
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


def tallies_figure(totals: pd.DataFrame, exact_label: str) -> Figure:
    """Draw the cost of all epochs against ln K, added up in three ways."""
    axes = {"xscale": "log", "yscale": "log", "xlabel": r"$\ln K$"}
    fig, (ax,) = draw.panels(1, ylabel=r"sum over epochs $\times\,\epsilon/\ln K$", **axes)
    looks = {ONE: {"color": style.PINK, "marker": "v"}, ALL: style.BOUND}
    looks[EXACT] = style.look(exact_label)
    draw.lines(ax, totals, "log_actions", "scaled_regret", by="tally", looks=looks)
    draw.legend_below(fig, 3)
    return fig
