"""Pictures of the notebooks on asi2025; what they show is measured in `studies.asi2025`."""

import numpy as np
import pandas as pd

from privregret.press import draw, style


def exponents(axes, worst: pd.DataFrame, slopes: pd.DataFrame) -> None:
    """Draw regret at the worst gap against T, epsilon and K, one panel each, titled by the slopes.

    Parameters
    ----------
    axes : three matplotlib.axes.Axes
    worst : pandas.DataFrame
        Columns algorithm, varied ("T", "epsilon" or "K"), x, mean, se.
    slopes : pandas.DataFrame
        Columns algorithm, varied, slope.
    """
    names = {"T": "horizon $T$", "epsilon": r"privacy parameter $\epsilon$", "K": "arms $K$"}
    for ax, varied in zip(axes, names, strict=True):
        for label, curve in worst[worst.varied == varied].groupby("algorithm", sort=False):
            curve = curve.sort_values("x")
            ax.errorbar(curve.x, curve["mean"], yerr=curve.se, label=label, **style.look(label))
        shown = slopes[slopes.varied == varied].itertuples()
        texts = [f"{row.algorithm.split()[0].lower()} ${row.slope:.2f}$" for row in shown]
        ax.set(xlabel=names[varied], title="slope: " + ", ".join(texts))


def separation(axes, regrets: pd.DataFrame, horizon: int) -> None:
    """Draw regret per round, central and local model, against epsilon (left) and T (right).

    Parameters
    ----------
    axes : two matplotlib.axes.Axes
        Both with logarithmic axes.
    regrets : pandas.DataFrame
        Columns varied ("epsilon" or "T"), algorithm, T, epsilon, mean, se, any_local.
    horizon : int
        T of the left panel.
    """
    left, right = axes
    punisher = {"color": style.PINK, "marker": "P", "linestyle": style.DOTTED}
    for ax, varied in ((left, "epsilon"), (right, "T")):
        part = regrets[regrets.varied == varied]
        for label, curve in part.groupby("algorithm", sort=False):
            look = punisher if label == "adaptive adversary" else style.look(label)
            x = curve[varied].astype(float)
            ax.errorbar(x, curve["mean"], yerr=curve.se, label=label, **look)
        floor = part[part.any_local > 0.01].sort_values(varied)
        draw.bound(ax, floor[varied], floor.any_local, "no local algorithm below")
    for x, text in ((1 / horizon, "$1/T$"), (1 / np.sqrt(horizon), r"$1/\sqrt{T}$")):
        left.axvline(x, color="#BBBBBB", linewidth=0.8)
        place = {"xytext": (2, 4), "textcoords": "offset points"}
        left.annotate(text, (x, left.get_ylim()[0]), fontsize=7, **place)
    central = regrets[(regrets.varied == "T") & (regrets.algorithm == "Batched HTINF")]
    rate = central["mean"].iloc[-1] * (central["T"] / central["T"].iloc[-1]) ** -0.125
    draw.bound(right, central["T"], rate, "slope $-1/8$", linestyle=style.DOTTED)
    left.set_xlabel(r"privacy parameter $\epsilon$")
    right.set_xlabel(r"horizon $T$, with $\epsilon=T^{-3/4}$")


def price(ax, prices: pd.DataFrame) -> None:
    """Draw the price of privacy against epsilon, with the two rates through its first point.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        With logarithmic axes.
    prices : pandas.DataFrame
        Columns algorithm, epsilon, price, price_se; the first row at epsilon = 1.
    """
    for label, curve in prices.groupby("algorithm", sort=False):
        ax.errorbar(
            curve.epsilon, curve.price, yerr=curve.price_se, label=label, **style.look(label)
        )
    levels = np.sort(prices.epsilon.unique())[::-1]
    grid = np.geomspace(levels[-1], 1, 50)
    draw.bound(ax, grid, prices.price[0] * grid**-0.5, r"$\epsilon^{-1/2}$")
    draw.bound(ax, grid, prices.price[0] / grid, r"$\epsilon^{-1}$", linestyle=style.DOTTED)
    ax.set_xlabel(r"privacy parameter $\epsilon$")
    ax.set_xticks(levels, [f"1/{1 / e:.3g}" if e < 1 else "1" for e in levels])
    ax.set_yticks([2, 5, 10, 20, 50], [2, 5, 10, 20, 50])
    ax.minorticks_off()
