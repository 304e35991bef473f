"""Figures of `companion/your-own-algorithm`."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from privregret.instances import BernoulliBandit
from privregret.press import draw, style

COLOURS = style.BLUE, style.ORANGE, style.GREEN, style.VERMILION, style.PINK, style.SKY, style.BLACK
MARKERS = "os^Dv<>P"


def comparison(data: pd.DataFrame, environments: list[BernoulliBandit], horizon: int) -> Figure:
    """Draw regret against rounds, one panel per environment, and the regret of uniform play."""
    fig, axes = draw.panels(2, height=3.0)
    for ax, environment in zip(axes, environments, strict=True):
        draw.regret_axes(ax, data[data.instance == environment.name])
        t = np.array([10, horizon])
        draw.bound(ax, t, environment.gaps.mean() * t, "uniform play")
        ax.set_title(environment.name)
    axes[1].set_ylabel("")
    draw.legend_below(fig, 3)
    return fig


def regret_on_table(data: pd.DataFrame) -> Figure:
    """Draw median regret on one table with its band, and the regret of uniform play."""
    fig, (ax,) = draw.panels(1, xscale="log", yscale="log", xlabel="round $t$", ylabel="regret")
    for i, (label, curve) in enumerate(data.groupby("algorithm", sort=False)):
        look = style.look(label)
        ax.fill_between(curve.t, curve.q10, curve.q90, color=look["color"], alpha=0.2, linewidth=0)
        every = (0.05 + 0.05 * i, 0.15)
        ax.plot(curve.t, curve["median"], label=draw.shown(label), markevery=every, **look)
    draw.bound(ax, curve.t, curve.uniform, "uniform play")
    ax.set(xlim=(10, curve.t.iloc[-1]), ylim=(1, 2 * curve.uniform.iloc[-1]))
    draw.legend(ax)
    return fig


def timeline(data: pd.DataFrame, arms: list[str]) -> Figure:
    """Draw the arm pulled and the releases (top), and the index of each arm (bottom)."""
    size = (style.PAGE[0], 3.4)
    fig, (top, bottom) = plt.subplots(2, 1, sharex=True, figsize=size, height_ratios=(2, 3))
    for j, arm in enumerate(arms):
        colour, marker = COLOURS[j % 7], MARKERS[j % 8]
        mine = data[data.arm == j]
        widths, bars = mine["last"] - mine["first"] + 1, {"height": 0.6, "alpha": 0.35}
        top.barh([j] * len(mine), widths, left=mine["first"], color=colour, linewidth=0, **bars)
        ends = mine["last"][mine.released] + 1
        tick = {"linestyle": "", "marker": "|", "markersize": 9, "color": "black"}
        top.plot(ends, [j] * len(ends), label="" if j else "release", **tick)
        index = f"index_{j}"
        bottom.step(data["first"], data[index], where="post", color=colour)
        chosen, dot = mine.dropna(), {"linestyle": "", "marker": marker, "color": colour}
        bottom.plot(chosen["first"], chosen[index], label=draw.shown(f"{arm} chosen"), **dot)
    top.set(yticks=range(len(arms)), yticklabels=arms, ylabel="arm pulled")
    rounds = data["last"].iloc[-1]
    bottom.set(xscale="log", xlim=(1, rounds), xlabel="round $t$", ylabel="index")
    draw.legend_below(fig, 6)
    return fig


def better_arm(data: pd.DataFrame, rounds: int) -> Figure:
    """Draw how often the better arm is pulled while the arms drift and cross."""
    fig, (ax,) = draw.panels(1, xlabel="round $t$", ylabel="fraction of pulls of the better arm")
    draw.lines(ax, data, "t", "fraction", markevery=4)
    ax.axvline(rounds / 2, **style.BOUND, label="the arms cross")
    ax.set(xlim=(0, rounds), ylim=(-0.03, 1.03))
    draw.legend_below(fig, 3)
    return fig
