"""Figures of the notebooks on asi2025; `studies.asi2025` measures what they show."""

import itertools

import numpy as np
import pandas as pd
from matplotlib.ticker import LogLocator

from privregret.press import draw, style


def exponents(
    axes, worst: pd.DataFrame, fitted: pd.DataFrame, slopes: pd.DataFrame, titles: list
) -> None:
    """Draw worst-gap regret against T, epsilon and K, the fits, and the slopes of the bounds.

    Parameters
    ----------
    axes : three matplotlib.axes.Axes
    worst : pandas.DataFrame
        Columns algorithm, varied ("T", "epsilon" or "K"), x, mean, se.
    fitted : pandas.DataFrame
        The rows behind the slopes.
    slopes : pandas.DataFrame
        Columns algorithm, varied, slope (measured), bound (its exponent in the bound).
    titles : list of str
        One per panel.
    """
    names = {"T": "horizon $T$", "epsilon": r"privacy parameter $\epsilon$", "K": "arms $K$"}
    for ax, varied, title in zip(axes, names, titles, strict=True):
        for row in slopes[slopes.varied == varied].itertuples():
            curve, fit = (
                rows[(rows.varied == varied) & (rows.algorithm == row.algorithm)].sort_values("x")
                for rows in (worst, fitted)
            )
            look = style.look(row.algorithm) | {"label": row.algorithm}
            points, line = {"linestyle": "none"}, {"marker": "none", "linewidth": 0.8}
            ax.errorbar(curve.x, curve["mean"], yerr=2 * curve.se, **(look | points))
            ax.plot(fit.x, _through_the_middle(fit, fit.x, row.slope), **(look | line))
            expected = _through_the_middle(curve, curve.x, row.bound)
            draw.bound(ax, curve.x, expected, "slope of the bound")
            ax.annotate(
                f"${row.slope:.2f}$",
                np.exp(np.log([fit.x.astype(float), fit["mean"]]).mean(axis=1)),
                (0, -14 if row.algorithm.startswith("Batched") else 8),
                textcoords="offset points",
                color=look["color"],
                fontsize=7,
            )
        ax.set(xlabel=names[varied], title=title)


def _through_the_middle(points, x, slope):
    """A power of x through the geometric mean of the points."""
    centre = np.exp(np.log([points.x.astype(float), points["mean"]]).mean(axis=1))
    return centre[1] * (x.astype(float) / centre[0]) ** slope


def separation(regrets: pd.DataFrame, horizon: int):
    """Draw regret per round, central and local, against epsilon (left) and T.

    Parameters
    ----------
    regrets : pandas.DataFrame
        Columns varied ("epsilon" or "T"), algorithm, T, epsilon, mean, se, any_local.
    horizon : int
        T of the left panel.
    """
    fig, axes = draw.panels(2, height=2.9, xscale="log", yscale="log", ylabel="regret / $T$")
    left, right = axes
    punisher = {"color": style.PINK, "marker": "P", "linestyle": style.DOTTED}
    for ax, varied in ((left, "epsilon"), (right, "T")):
        part = regrets[regrets.varied == varied]
        for label, curve in part.groupby("algorithm", sort=False):
            look = punisher if "adaptive" in label else style.look(label)
            x = curve[varied].astype(float)
            ax.errorbar(x, curve["mean"], yerr=2 * curve.se, label=label, **look)
        floor = part[part.any_local > 0.01].sort_values(varied)
        draw.bound(ax, floor[varied], floor.any_local, "lower bound, local model", forbids=True)
    for x, text in ((1 / horizon, "$1/T$"), (1 / np.sqrt(horizon), r"$1/\sqrt{T}$")):
        left.axvline(x, color="#BBBBBB", linewidth=0.8)
        place = {"xytext": (2, 4), "textcoords": "offset points"}
        left.annotate(text, (x, left.get_ylim()[0]), fontsize=7, **place)
    central = regrets[(regrets.varied == "T") & (regrets.algorithm == "Batched HTINF")]
    rate = central["mean"].iloc[-1] * (central["T"] / central["T"].iloc[-1]) ** -0.125
    draw.bound(right, central["T"], rate, "slope $-1/8$", linestyle=style.DOTTED)
    left.set_xlabel(r"privacy parameter $\epsilon$")
    right.set_xlabel(r"horizon $T$, with $\epsilon=T^{-3/4}$")
    draw.legend_below(fig, 3)
    return fig


def price(prices: pd.DataFrame):
    """Draw regret / regret without privacy against epsilon, and the two rates.

    Parameters
    ----------
    prices : pandas.DataFrame
        Columns algorithm, epsilon, price, price_se; the first row at epsilon = 1.
    """
    ylabel = "regret / regret without privacy"
    fig, (ax,) = draw.panels(1, height=2.8, xscale="log", yscale="log", ylabel=ylabel)
    for label, curve in prices.groupby("algorithm", sort=False):
        look = style.look(label)
        ax.errorbar(curve.epsilon, curve.price, yerr=2 * curve.price_se, label=label, **look)
    levels = np.sort(prices.epsilon.unique())[::-1]
    grid = np.geomspace(levels[-1], 1, 50)
    draw.bound(ax, grid, prices.price[0] * grid**-0.5, r"$\epsilon^{-1/2}$")
    draw.bound(ax, grid, prices.price[0] / grid, r"$\epsilon^{-1}$", linestyle=style.DOTTED)
    ax.set_xlabel(r"privacy parameter $\epsilon$")
    ax.set_xticks(levels, [f"1/{1 / e:.3g}" if e < 1 else "1" for e in levels])
    ax.set_yticks([2, 5, 10, 20, 50], [2, 5, 10, 20, 50])
    ax.minorticks_off()
    draw.legend_below(fig)
    return fig


def best_by_bounds(axes, grid: pd.DataFrame, arms: int, horizon: int) -> None:
    """Draw which bound for experts is smallest, and the regimes of Table 2.

    Parameters
    ----------
    axes : two matplotlib.axes.Axes
    grid : pandas.DataFrame
        As `studies.asi2025.best_by_bounds` returns it.
    arms, horizon : int
    """
    largest, smallest = grid.N.max(), grid.epsilon.min()
    names, columns = ("Cor. 8", "Thm. 9", "Thm. 10", "none"), ("bound_0", "bound_1", "bound_2")
    colours = ["#8FBBDD", "#F7DFC9", "#4F9B7C"]  # of different lightness
    for ax, logs, title in zip(
        axes, (False, True), ("without logarithms", "with logarithms"), strict=True
    ):
        part = grid[grid.logs == logs]
        ax.set(xscale="log", yscale="log", xlim=(2, largest), ylim=(smallest, 1), title=title)
        logs_of = [np.log(part.pivot(index="epsilon", columns="N", values=c)) for c in columns]
        for i, colour in enumerate(colours):  # where a bound is below the others and below T
            others = np.minimum.reduce([0 * logs_of[i], *logs_of[:i], *logs_of[i + 1 :]])
            lead = others - logs_of[i]
            ax.contourf(lead.columns, lead.index, lead, levels=[0, np.inf], colors=[colour])
        line = {"color": "black", "linewidth": 0.9}
        ax.plot([arms, arms, largest], [smallest, 1, arms / largest], **line)
        ax.plot([arms, largest], [horizon**-0.5] * 2, linestyle=style.DASHED, **line)
        ax.annotate("$N=K$", (arms * 1.15, smallest * 1.4), fontsize=7)
        ax.annotate(r"$\epsilon=K/N$", (largest / 4, arms / largest * 6), fontsize=7)
        ax.annotate(
            r"$\epsilon=1/\sqrt{T}$",
            (largest / 1.2, 0.8 * horizon**-0.5),
            ha="right",
            va="top",
            fontsize=7,
        )
        for number, region in part.groupby("best"):
            place = np.exp(np.log(region[["N", "epsilon"]]).median())
            ax.annotate(names[number], place, ha="center", va="center", fontsize=8)
        ax.grid(False)


def experts(axes, measured: pd.DataFrame, arms: int) -> None:
    """Draw regret per round against the number of experts.

    One panel per problem and epsilon.

    Parameters
    ----------
    axes : (2, n) array of matplotlib.axes.Axes
        Rows: fixed experts, one tracks.
    measured : pandas.DataFrame
        Columns problem, N, epsilon, algorithm, mean, se.
    arms : int
    """
    uniform = {"fixed experts": 0.5 * (1 - 1 / arms), "one tracks": 1 - 1 / arms}
    numbers, levels = measured.N.unique(), measured.epsilon.unique()
    panels = itertools.product(uniform.items(), levels)
    for ax, ((name, level), eps) in zip(axes.flat, panels, strict=True):
        panel = measured[(measured.problem == name) & (measured.epsilon == eps)]
        for label, curve in panel.groupby("algorithm", sort=False):
            ax.errorbar(curve.N, curve["mean"], yerr=curve.se, label=label, **style.look(label))
        draw.bound(ax, numbers, [level] * len(numbers), "uniform play")
        ax.set(xlabel="experts $N$", ylabel="regret / $T$", title=rf"{name}, $\epsilon={eps:g}$")
        ax.set(xscale="log", ylim=(-0.03, None))
        ax.label_outer()


def exp4_exponents(axes, regrets: pd.DataFrame, slopes: pd.DataFrame) -> None:
    """Draw regret of batched EXP4, logarithms taken out, next to Theorem 10's slopes.

    Parameters
    ----------
    axes : three matplotlib.axes.Axes
    regrets : pandas.DataFrame
        Columns varied ("T", "N" or "epsilon"), x, power, power_se.
    slopes : pandas.DataFrame
        Columns varied, slope and its errors, as `estimates.slopes` returns them.
    """
    panels = {
        "T": (2 / 3, "2/3", "horizon $T$"),
        "N": (1 / 6, "1/6", "experts $N$"),
        "epsilon": (-1 / 3, "-1/3", r"privacy parameter $\epsilon$"),
    }
    look = style.look("Batched EXP4") | {"linestyle": "none"}
    for ax, (varied, (power, text, name)) in zip(axes, panels.items(), strict=True):
        curve = regrets[regrets.varied == varied].sort_values("x")
        x = curve.x.astype(float)
        ax.errorbar(x, curve.power, yerr=curve.power_se, label="Batched EXP4", **look)
        line = curve.power.iloc[0] * (curve.x / curve.x.iloc[0]) ** power
        draw.bound(ax, curve.x, line, "the bound's slope")
        slope = slopes.slope[slopes.varied == varied].item()
        title = f"slope ${slope:.3f}$, in the bound ${text}$"
        ax.set(xscale="log", yscale="log", xlabel=name, title=title)
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if varied == "T" else range(1, 20)))
        ax.yaxis.set_major_formatter(draw.EngFormatter(sep=""))
        ax.yaxis.set_minor_locator(draw.NullLocator())


def barrier(regrets: pd.DataFrame, second_form: float):
    """Draw regret of the sparse switch on Lemma 11's pair against its rate, and two bounds.

    Parameters
    ----------
    regrets : pandas.DataFrame
        Columns rho, regret (on the plain losses), changed (on the changed ones), bound (certified).
    second_form : float
        Largest value of the second form of the lemma's bound.
    """
    fig, (ax,) = draw.panels(1, height=2.9, xscale="log", yscale="log")
    ax.set(xlabel=r"probability $\rho$ of playing the other arm", ylabel="regret")
    ax.plot(regrets.rho, regrets.regret, color=style.BLUE, marker="o", label=r"regret on $\ell$")
    look = {"color": style.VERMILION, "marker": "s", "linestyle": style.DASHED}
    ax.plot(regrets.rho, regrets.changed, label="regret on $\\ell\N{PRIME}$", **look)
    draw.epsilon_ticks(ax, regrets.rho)
    draw.bound(ax, regrets.rho, regrets.bound, "Lemma 11, certified")
    at_best = np.full(len(regrets), second_form)
    draw.bound(ax, regrets.rho, at_best, "its second form, at best", linestyle=style.DOTTED)
    draw.legend_below(fig)
    return fig


def leakage(data: pd.DataFrame, eta: float, cap: float):
    """Draw Figure 1, and EXP3's privacy loss of single rounds and of two paths.

    Parameters
    ----------
    data : pandas.DataFrame
        Columns t, p, p_changed (probabilities of arm 2), per_round, alternating, arm_2_onward.
    eta, cap : float
        Learning rate, and the largest loss of a round that mixing allows.
    """
    fig, axes = draw.subplots(1, 3, figsize=style.PAGE)
    left, middle, right = axes
    look = {"color": style.VERMILION, "linestyle": style.DASHED}
    left.plot(data.t, data.p, color=style.BLUE, label=r"$P_t(2)$ on $\ell$")
    left.plot(data.t, data.p_changed, label="$P\N{PRIME}_t(2)$ on $\\ell\N{PRIME}$", **look)
    left.set(xlabel="round $t$", ylabel="probability of arm 2", ylim=(-0.03, 1.03))
    left.xaxis.set_major_formatter(draw.EngFormatter(sep=""))
    left.legend(loc="center right")
    for ax in (middle, right):
        ax.set(xscale="log", yscale="log", xlabel="round $t$", xlim=(2, data.t.max()))
    middle.plot(data.t, data.per_round, color=style.BLUE)
    middle.set(ylabel="privacy loss of round $t$", ylim=(eta / 2, 30 * cap))
    for y, text, dashes in (
        (cap, r"cap $\ln(2/\gamma-1)$", style.DASHED),
        (2 * eta, r"$2\eta$: full information", style.DOTTED),
    ):
        draw.bound(middle, [2, data.t.max()], [y, y], text, linestyle=dashes)
        place = {"xytext": (0, 3), "textcoords": "offset points", "fontsize": 7}
        middle.annotate(text, (3, y), **place)
    right.plot(data.t, data.arm_2_onward, label="then arm 2 only", **look)
    right.plot(data.t, data.alternating, color=style.BLUE, label="alternating")
    right.set(ylabel="largest loss of the path until $t$", ylim=(eta / 2, None))
    right.legend(loc="upper left")
    return fig
