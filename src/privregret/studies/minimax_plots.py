"""Figure of `companion/minimax`, apart from what is stored so that edits compute nothing."""

import pandas as pd
from matplotlib.figure import Figure

from privregret.press import draw, style


def price_figure(curves: pd.DataFrame, length: int) -> Figure:
    """Draw minimax over uniform regret: by T for each feedback, by delta at T = length."""
    scale = {"xscale": "log", "xlabel": r"privacy parameter $\epsilon$"}
    fig, axes = draw.panels(3, height=2.9, ylabel="minimax regret / uniform regret", **scale)
    pure = curves[curves.delta == 0]
    titles = {"bandit": "bandit feedback", "full": "full information"}
    for ax, (feedback, title) in zip(axes, titles.items(), strict=False):
        shown = pure[pure.feedback == feedback]
        for _, curve in shown.groupby("T"):
            draw.bound(ax, curve.epsilon, curve.not_private, "not private")
        _ramp(ax, shown, "T", "$T={:g}$")
        ax.set_title(title)
    shown = curves[(curves.feedback == "bandit") & (curves["T"] == length)]
    _ramp(axes[2], shown, "delta", r"$\delta={:g}$")
    axes[2].set_title(rf"bandit feedback, $T={length}$")
    draw.legend_below(fig, 5)
    return fig


def _ramp(ax, curves, by, label):
    """One curve for each value of an ordered parameter."""
    groups, markers = list(curves.groupby(by)), "o^sDPv" if by == "T" else "x+*.12"
    each = zip(groups, style.ramp(len(groups)), markers, strict=False)
    for (value, curve), colour, marker in each:
        look = {"color": colour, "marker": marker, "markevery": 2}
        ax.plot(curve.epsilon, curve.regret_over_uniform, label=label.format(value), **look)
