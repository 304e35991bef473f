"""Figures of the notebooks on wu2026, apart from what is stored so that edits compute nothing."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from privregret.press import draw, style


def two_actions_figure(two: pd.DataFrame) -> Figure:
    """Draw the probability of the worse of two actions against the number of losses."""
    examples = list(two.groupby("instance", sort=False))
    axes = {"xscale": "log", "xlabel": "loss vectors $n$", "ylabel": "P[worse action selected]"}
    fig, row = draw.panels(len(examples), **axes)
    noises = (np.inf, style.SOLID, "no noise"), (1.0, style.DOTTED, r"Gumbel, $\epsilon=1$")
    for ax, (title, part) in zip(row, examples, strict=True):
        for level, dashes, name in noises:
            curve = part[part.epsilon == level]
            raw = {"color": style.BLUE, "marker": "o", "label": f"original, {name}"}
            resampled = {"color": style.VERMILION, "marker": "s", "label": f"resampled, {name}"}
            ax.plot(curve.n, curve.raw, linestyle=dashes, **raw)
            ax.plot(curve.n, curve.resampled, linestyle=dashes, **resampled)
        ax.axhline(0.5, color=style.GREY, linewidth=0.6)
        ax.set(title=title)
    draw.legend_below(fig, 4)
    return fig
