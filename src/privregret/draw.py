"""The kinds of picture that recur: regret against rounds, final regret against epsilon."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import EngFormatter, FixedLocator, NullFormatter, NullLocator

from privregret import style


def band(ax, x, mean, sd, label, look, every=1):
    """A curve with a band of one standard deviation to either side, in the look of an algorithm."""
    ax.fill_between(x, np.maximum(mean - sd, 1e-9), mean + sd, color=look["color"], alpha=0.2, linewidth=0)
    ax.plot(x, mean, label=label, markevery=every, **look)


def regret_panel(summary, title=""):
    """Regret (logarithmic) against rounds, one curve per algorithm; the legend gives the final means.

    Parameters
    ----------
    summary : pandas.DataFrame
        Columns algorithm, t, mean, sd.
    """
    fig, ax = plt.subplots()
    groups = list(summary.groupby("algorithm", sort=False))
    for i, (label, curve) in enumerate(groups):
        every = (0.04 + 0.04 * i, 0.16)  # fractions of the axes: markers of different curves stay apart
        band(ax, curve.t, curve["mean"], curve.sd, f"{label}: {curve['mean'].iloc[-1]:,.0f}", style.look(label), every)
    smallest = min(curve["mean"].iloc[-1] for _, curve in groups)
    ax.set(yscale="log", ylim=(smallest / 30, None), xlabel="round $t$", ylabel="regret", title=title)
    ax.xaxis.set_major_formatter(EngFormatter(sep=""))
    ax.legend(loc="lower right", title="final mean regret", title_fontsize=7)
    return fig


def final_regret_panel(summary, title=""):
    """Final regret against epsilon, both axes logarithmic, one curve per algorithm.

    Parameters
    ----------
    summary : pandas.DataFrame
        Columns algorithm, epsilon, mean, sd.
    """
    fig, ax = plt.subplots()
    for label, curve in summary.groupby("algorithm", sort=False):
        band(ax, curve.epsilon, curve["mean"], curve.sd, label, style.look(label))
    ax.set(xscale="log", yscale="log", xlabel=r"privacy parameter $\epsilon$", ylabel="final regret", title=title)
    epsilon_ticks(ax, summary.epsilon.unique())
    ax.legend(loc="best")
    return fig


def epsilon_ticks(ax, values):
    """Tick the values of epsilon that were run, and no others."""
    ax.xaxis.set_major_locator(FixedLocator(sorted(values)))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_minor_formatter(NullFormatter())
