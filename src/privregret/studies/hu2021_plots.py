"""Pictures of one run and of releases, apart from what is stored so that edits compute nothing."""

import pandas as pd
from matplotlib.figure import Figure

from privregret.press import draw, style
from privregret.studies.hu2021 import cost


def one_run(turns: pd.DataFrame, indices: pd.DataFrame, **axes) -> Figure:
    """Draw the arm pulled in each round (top), and the index of each arm (bottom).

    `turns` has columns arm, first and last, which are rounds; `indices` has t, arm and index, from
    round t on, with the arms from top to bottom. `axes` are set below as by `ax.set`.
    """
    arms = indices.arm.unique()
    looks = dict(zip(arms, style.ramp(len(arms))[::-1], strict=True))
    size = {"figsize": (style.PAGE[0], 3.6), "height_ratios": (4, 5)}
    fig, (top, bottom) = draw.subplots(2, 1, sharex=True, **size)
    for y, (arm, colour) in enumerate(looks.items()):
        mine, own = (frame[frame.arm == arm] for frame in (turns, indices))
        width = mine["last"] - mine["first"] + 1
        top.barh([y] * len(mine), width, left=mine["first"], height=0.62, color=colour, lw=0)
        bottom.step(own.t, own["index"], where="post", color=colour, lw=1)
    top.set(ylabel="arm pulled", ylim=(len(looks) - 0.4, -0.6))
    top.set_yticks(range(len(looks)), looks)
    top.grid(False)
    bottom.set(xlabel="round $t$", ylabel="index of each arm", xscale="log", **axes)
    bottom.set_xlim(1, turns["last"].max())
    return fig


def release_schedule(released: dict[str, pd.DataFrame], pulls: int) -> Figure:
    """Draw a panel per algorithm, a bar per release about an arm, and the cost of each reward,
    framed above 1."""
    size = {"figsize": (style.PAGE[0], 4.0), "height_ratios": (2, 6, 5)}
    fig, axes = draw.subplots(len(released), 1, sharex=True, **size)
    centred = {"ha": "center", "va": "center_baseline", "fontsize": 6.5}
    frame = {"boxstyle": "square,pad=0.3", "fill": False, "edgecolor": "black", "lw": 0.8}
    for ax, (title, releases) in zip(axes, released.items(), strict=True):
        colour, top = style.look(title.split(",")[0])["color"], 0
        for release in releases.itertuples():
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
