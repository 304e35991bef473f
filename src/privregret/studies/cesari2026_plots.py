"""Figures of the notebooks on cesari2026, apart from what is stored: edits compute nothing."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from privregret.press import draw, style
from privregret.studies.cesari2026 import ALL, EXACT, ONE


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
