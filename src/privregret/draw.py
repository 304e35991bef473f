"""The kinds of picture that recur: regret against rounds, final regret against epsilon."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import EngFormatter, FixedLocator, NullFormatter, NullLocator

from privregret import style
from privregret.privacy import ledger


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


def against_bound(ax, x, summary, bound, every=1):
    """Measured regret of Anytime-Lazy-UCB (columns mean, sd) below a theorem's bound (column bound), its name `bound`."""
    label = "Anytime-Lazy-UCB"
    band(ax, x, summary["mean"], summary.sd, label, style.look(label), every)
    ax.plot(x, summary.bound, label=bound, **style.BOUND)


def releases(ax, released, pulls, title):
    """What is released about an arm (see `privacy.ledger`): one bar a release over its pulls, and what each reward costs."""
    row_of = {"array": 0}
    for release in released:
        length = release.last - release.first + 1
        level = 0 if release.kind == "array" else length.bit_length()
        row_of[level] = level
        colour = style.look(title.split(",")[0])["color"] if release.kind == "array" else "#BBBBBB"
        ax.barh(level, length - 0.16, left=release.first - 0.42, height=0.72, color=colour, linewidth=0)
        middle = (release.first + release.last) / 2
        ax.text(middle, level, f"{release.scale:g}", ha="center", va="center_baseline", fontsize=6,
                color="white" if release.kind == "array" else "black")
    for pull, cost in enumerate(ledger.cost(released, pulls), start=1):
        ax.text(pull, -1, f"{cost:.3g}", ha="center", va="center_baseline", fontsize=6)
    top = max(level for level in row_of.values())
    ax.set(xlim=(0.4, pulls + 0.6), ylim=(-1.6, top + 0.6), title=title, xticks=range(1, pulls + 1))
    names = ["cost", "array", *(f"node of {2 ** (level - 1)}" for level in range(1, top + 1))]
    ax.set_yticks(range(-1, top + 1), names)
    ax.grid(False)
    ax.tick_params(length=0)


def regret_axes(ax, summary, legend_values=False):
    """Regret against rounds, both logarithmic, one curve per algorithm with a band of one standard deviation of a run.

    Parameters
    ----------
    summary : pandas.DataFrame
        Columns algorithm, t, mean, sd.
    legend_values : bool
        Whether labels give the final means.
    """
    groups = list(summary.groupby("algorithm", sort=False))
    for i, (label, curve) in enumerate(groups):
        name = f"{label}: {curve['mean'].iloc[-1]:,.0f}" if legend_values else label
        band(ax, curve.t, curve["mean"], curve.sd, name, style.look(label), (0.03 + 0.02 * i, 0.14))
    smallest = min(curve["mean"].iloc[-1] for _, curve in groups)
    ax.set(xscale="log", yscale="log", xlim=(summary.t.max() / 1e4, summary.t.max()), ylim=(smallest / 15, None), xlabel="round $t$", ylabel="regret")


def survival(sample, points=60):
    """How often a sample exceeds x: (x, share) at about `points` ranks, equally spaced in the logarithm of the share."""
    ordered = np.sort(sample)[::-1]
    ranks = np.unique(np.geomspace(1, len(ordered), points).round().astype(int))
    return ordered[ranks - 1], ranks / len(ordered)


def survival_axes(ax, curves, means):
    """Share of runs with at least so much regret, both axes logarithmic; a ring marks the mean.

    Parameters
    ----------
    curves : pandas.DataFrame
        Columns algorithm, regret, share.
    means : dict
        Algorithm -> mean regret.
    """
    for label, curve in curves.groupby("algorithm", sort=False):
        look = style.look(label)
        ax.plot(curve.regret, curve.share, color=look["color"], linestyle=look["linestyle"])
        at = np.interp(np.log(means[label]), np.log(curve.regret[::-1]), np.log(curve.share[::-1]))
        ax.plot(means[label], np.exp(at), look["marker"], color=look["color"], markersize=6, markerfacecolor="white")
    ax.set(xscale="log", yscale="log", xlabel="final regret $x$", ylabel="share of runs with at least $x$")
