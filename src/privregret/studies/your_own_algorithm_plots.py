"""The timeline of `companion/your-own-algorithm`."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from privregret.press import draw, style

COLOURS = style.BLUE, style.ORANGE, style.GREEN, style.VERMILION, style.PINK, style.SKY, style.BLACK
MARKERS = "os^Dv<>P"


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
