"""Pictures of one run and of releases, apart from what is stored so that edits compute nothing."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from privregret.press import draw, style
from privregret.studies.hu2021 import Release, cost


def one_run(turns: pd.DataFrame, indices: pd.DataFrame, **axes) -> Figure:
    """Draw the arm pulled in each round (top), and the index of each arm (bottom).

    `turns` has columns arm, first and last, which are rounds; `indices` has t, arm and index, from
    round t on, with the arms from top to bottom. `axes` are set below as by `ax.set`.
    """
    looks = draw.looks(indices.arm.unique())
    size = {"figsize": (style.PAGE[0], 3.6), "height_ratios": (4, 5)}
    fig, (top, bottom) = draw.subplots(2, 1, sharex=True, **size)
    for y, (arm, look) in enumerate(looks.items()):
        mine, own = (frame[frame.arm == arm] for frame in (turns, indices))
        width = mine["last"] - mine["first"] + 1
        top.barh([y] * len(mine), width, left=mine["first"], height=0.62, color=look["color"], lw=0)
        bottom.step(own.t, own["index"], where="post", color=look["color"], lw=1)
    top.set(ylabel="arm pulled", ylim=(len(looks) - 0.4, -0.6))
    top.set_yticks(range(len(looks)), looks)
    top.grid(False)
    bottom.set(xlabel="round $t$", ylabel="index of each arm", xscale="log", **axes)
    bottom.set_xlim(1, turns["last"].max())
    return fig


def release_schedule(released: dict[str, list[Release]], pulls: int) -> Figure:
    """Draw a panel per algorithm, a bar per release about an arm, and the cost of each reward,
    framed above 1."""
    size = {"figsize": (style.PAGE[0], 4.0), "height_ratios": (2, 6, 5)}
    fig, axes = draw.subplots(len(released), 1, sharex=True, **size)
    centred = {"ha": "center", "va": "center_baseline", "fontsize": 6}
    frame = {"boxstyle": "square,pad=0.3", "fill": False, "edgecolor": "black", "lw": 0.8}
    for ax, (title, releases) in zip(axes, released.items(), strict=True):
        colour, top = style.look(title.split(",")[0])["color"], 0
        for release in releases:
            array, length = release.kind == "array", release.last - release.first + 1
            level = 0 if array else length.bit_length()
            top, left = max(top, level), release.first - 0.42
            bar = {"height": 0.72, "color": colour if array else "#BBBBBB", "linewidth": 0}
            ax.barh(level, length - 0.16, left=left, **bar)
            middle, ink = (release.first + release.last) / 2, "white" if array else "black"
            ax.text(middle, level, f"{release.scale:g}", color=ink, **centred)
        for pull, spent in enumerate(cost(releases, pulls), start=1):
            above = {"bbox": frame} if spent > 1 + 1e-9 else {}
            ax.text(pull, -1, f"{spent:.3g}", **centred, **above)
        names = ["cost", "array", *(f"node of {2 ** (level - 1)}" for level in range(1, top + 1))]
        ax.set_yticks(range(-1, top + 1), names)
        ax.set(xlim=(0.4, pulls + 0.6), ylim=(-1.6, top + 0.6), xticks=range(1, pulls + 1))
        ax.set_title(title)
        ax.grid(False)
        ax.tick_params(length=0)
    axes[-1].set_xlabel("pull of the arm")
    return fig


def lead_of_two(chances: pd.DataFrame) -> Figure:
    """Draw ln (probability of expert 1) against its lead, and how far a change by two moves it.

    `chances` has columns noise, lead and log_probability, for two noises with epsilon 1: the one
    as printed, and twice that.
    """
    fig, ax = draw.subplots(figsize=style.COLUMN)
    colours, corners, names = (style.VERMILION, style.BLUE), (-8, -7), ((-2.3, -3.6), (-9.6, -2.6))
    for (noise, curve), colour, left, at in zip(
        chances.groupby("noise", sort=False), colours, corners, names, strict=True
    ):
        low, high = np.interp([left, left + 2], curve.lead, curve.log_probability)
        step = [left, left + 2, left + 2], [low, low, high]
        ax.plot(curve.lead, curve.log_probability, color=colour)
        ax.plot(*step, color=colour, lw=0.8)
        ax.fill(*step, color=colour, alpha=0.15, lw=0)
        ax.text(left + 1, low - 0.12, "2", color=colour, ha="center", va="top", fontsize=7)
        risen = rf"${high - low:.1f}\,\epsilon$"
        ax.text(left + 2.2, (low + high) / 2, risen, color=colour, va="center", fontsize=8)
        ax.text(*at, noise, color=colour, fontsize=7)
    ax.plot([2.4, 2.4], [-6, -5], color=style.BLACK, lw=2, solid_capstyle="butt")
    ax.text(2.1, -5.5, "promised:\nat most $\\epsilon$", ha="right", va="center", fontsize=7)
    ax.set(xticks=range(-10, 5, 2), xlabel=r"lead of expert 1, $\epsilon=1$")
    ax.set(ylabel="ln (probability of expert 1)")
    return fig
