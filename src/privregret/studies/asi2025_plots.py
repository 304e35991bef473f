"""Figures of the notebooks on asi2025; `studies.asi2025` measures what they show."""

import numpy as np
import pandas as pd

from privregret.press import draw, style


def exponents(
    axes, worst: pd.DataFrame, fitted: pd.DataFrame, slopes: pd.DataFrame, titles: list
) -> None:
    """Draw worst-gap regret (columns algorithm, varied, x, mean, se) against T, epsilon and K.

    Also the rows behind the fits, `fitted`, and lines with the `slopes`: algorithm, varied, slope
    (measured), bound (its exponent in the bound). One title per panel.
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
            measured, middle = _through_the_middle(fit, fit.x, row.slope)
            ax.plot(fit.x, measured, **(look | line))
            expected, _ = _through_the_middle(curve, curve.x, row.exponent_bound)
            draw.bound(ax, curve.x, expected, "slope of the bound")
            text = {"textcoords": "offset points", "color": look["color"], "fontsize": 7}
            away = -14 if row.algorithm.startswith("Batched") else 8
            ax.annotate(f"${row.slope:.2f}$", middle, (0, away), **text)
        ax.set(xlabel=names[varied], title=title)


def _through_the_middle(points, x, slope):
    """Return a power of x through the geometric mean of the points, and that mean."""
    centre = np.exp(np.log([points.x.astype(float), points["mean"]]).mean(axis=1))
    return centre[1] * (x.astype(float) / centre[0]) ** slope, centre


def separation(regrets: pd.DataFrame, horizon: int):
    """Draw regret per round, central and local, against epsilon (left, at T = `horizon`) and T.

    Columns varied ("epsilon" or "T"), algorithm, T, epsilon, mean, se, any_local.
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
        draw.bound(
            ax, floor[varied], floor.any_local, "impossible with local privacy below", forbids=True
        )
    left.axvline(1 / np.sqrt(horizon), color="#BBBBBB", linewidth=0.8)
    place = {"xytext": (3, 4), "textcoords": "offset points", "fontsize": 7}
    left.annotate(r"$1/\sqrt{T}$", (1 / np.sqrt(horizon), left.get_ylim()[0]), **place)
    central = regrets[(regrets.varied == "T") & (regrets.algorithm == "Batched HTINF")]
    rate = central["mean"].iloc[-1] * (central["T"] / central["T"].iloc[-1]) ** -0.125
    draw.bound(right, central["T"], rate, "slope $-1/8$", linestyle=style.DOTTED)
    left.set_xlabel(r"privacy parameter $\epsilon$")
    right.set_xlabel(r"horizon $T$, with $\epsilon=T^{-3/4}$")
    draw.legend_below(fig, 3)
    return fig


def price(prices: pd.DataFrame):
    """Draw regret / regret without privacy against epsilon, and the two rates.

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


def best_by_bounds(grid: pd.DataFrame, arms: int, horizon: int):
    """Draw which bound for experts is smallest, and the regimes of Table 2.

    `grid` is what `studies.asi2025.best_by_bounds` returns.
    """
    names = {"xlabel": "experts $N$", "ylabel": r"privacy parameter $\epsilon$"}
    fig, axes = draw.panels(2, height=3.1, **names)
    largest, smallest = grid.N.max(), grid.epsilon.min()
    bounds, columns = ("Cor. 8", "Thm. 9", "Thm. 10", "none"), ("bound_0", "bound_1", "bound_2")
    # of different lightness
    colours = ["#8FBBDD", "#F7DFC9", "#8CC7A9"]
    titles = {False: "without logarithms", True: "with logarithms"}
    for ax, (logs, title) in zip(axes, titles.items(), strict=True):
        part = grid[grid.logs == logs]
        ax.set(xscale="log", yscale="log", xlim=(2, largest), ylim=(smallest, 1), title=title)
        logs_of = [np.log(part.pivot(index="epsilon", columns="N", values=c)) for c in columns]
        # where a bound is below the others and below T
        for i, colour in enumerate(colours):
            others = np.minimum.reduce([0 * logs_of[i], *logs_of[:i], *logs_of[i + 1 :]])
            lead = others - logs_of[i]
            ax.contourf(lead.columns, lead.index, lead, levels=[0, np.inf], colors=[colour])
        line = {"color": "black", "linewidth": 0.9}
        ax.plot([arms, arms, largest], [smallest, 1, arms / largest], **line)
        ax.plot([arms, largest], [horizon**-0.5] * 2, linestyle=style.DASHED, **line)
        text = {"fontsize": 7, "textcoords": "offset points"}
        ax.annotate("$N=K$", (arms, smallest), (3, 3), **text)
        middle = (arms * largest) ** 0.5
        ax.annotate(r"$\epsilon=K/N$", (middle, arms / middle), (4, 4), **text)
        ax.annotate(r"$\epsilon=1/\sqrt{T}$", (arms, horizon**-0.5), (3, -9), **text)
        for number, region in part.groupby("best"):
            place = np.exp(np.log(region[["N", "epsilon"]]).mean())
            ax.annotate(bounds[number], place, ha="center", va="center", fontsize=8)
        ax.grid(False)
    return fig


def experts(measured: pd.DataFrame, arms: int):
    """Draw regret per round against the number of experts, one panel per problem.

    Columns problem ("fixed experts", "one tracks"), N, algorithm, mean, se.
    """
    uniform = {"fixed experts": 0.5 * (1 - 1 / arms), "one tracks": 1 - 1 / arms}
    fig, axes = draw.panels(2, xlabel="experts $N$", ylabel="regret / $T$", xscale="log")
    for ax, (problem, panel) in zip(axes, measured.groupby("problem", sort=False), strict=True):
        for label, curve in panel.groupby("algorithm", sort=False):
            ax.errorbar(curve.N, curve["mean"], yerr=2 * curve.se, label=label, **style.look(label))
        numbers = panel.N.unique()
        draw.bound(ax, numbers, [uniform[problem]] * len(numbers), "uniform play")
        ax.set_title(problem)
    axes[0].set_ylim(bottom=-0.03)
    draw.legend_below(fig, 4)
    return fig


def conversions(data: pd.DataFrame, bold: pd.DataFrame, htinf: float, arms: int):
    """Draw worst-gap regret against T (left) and against EXP3's boldness (right).

    `data` has columns algorithm, T, mean, se, bound; `bold` has boldness, mean, se; `htinf` is the
    regret of batched HTINF in its setting.
    """
    fig, (left, right) = draw.subplots(1, 2, figsize=(style.PAGE[0], 3.1))
    lines = {
        "Batched HTINF": ("Corollary 2", style.DASHED),
        "Batched EXP3": ("Corollary 22", style.MIXED),
        "Batched FTPL": ("Corollary 24", style.DOTTED),
    }
    for label, curve in data.groupby("algorithm", sort=False):
        look = style.look(label)
        left.errorbar(curve["T"], curve["mean"], yerr=2 * curve.se, label=label, **look)
        name, dashes = lines[label]
        draw.bound(left, curve["T"], curve.bound, name, linestyle=dashes)
    horizons = data["T"].unique()
    uniform = (1 - 1 / arms) * horizons
    draw.bound(left, horizons, uniform, "uniform play, gap 1", linestyle=style.SOLID)
    exp3, level = style.look("Batched EXP3"), [htinf] * len(bold)
    right.errorbar(bold.boldness, bold["mean"], yerr=2 * bold.se, label="Batched EXP3", **exp3)
    right.plot(bold.boldness, level, label="Batched HTINF", **style.look("Batched HTINF"))
    right.axvline(1, **style.BOUND)
    left.set(xlabel="horizon $T$", ylabel="worst-gap regret")
    right.set_xlabel(r"multiple $\kappa$ of Corollary 22's $\eta$ and $\gamma$")
    for ax in (left, right):
        ax.set(xscale="log", yscale="log")
    draw.legend_below(fig, 4)
    return fig


def ftpl_versions(variants: pd.DataFrame, uniform: float):
    """Draw regret per round of versions of FTPL against T, a panel per learning rate.

    Columns rate, algorithm, T, mean, se; `uniform` is the regret per round of uniform play.
    """
    scales = {"xscale": "log", "yscale": "log"}
    fig, axes = draw.panels(2, height=2.8, xlabel="horizon $T$", ylabel="regret / $T$", **scales)
    horizons = variants["T"].unique()
    for ax, (rate, curves) in zip(axes, variants.groupby("tuning", sort=False), strict=True):
        for label, curve in curves.groupby("algorithm", sort=False):
            look = style.look(label)
            ax.errorbar(curve["T"], curve["mean"], yerr=2 * curve.se, label=label, **look)
        draw.bound(ax, horizons, [uniform] * len(horizons), "uniform play")
        ax.set_title(rate)
        ax.set_xticks(horizons, [f"$2^{{{np.log2(T):g}}}$" for T in horizons])
        ax.minorticks_off()
    draw.legend_below(fig, 4)
    return fig


def barrier(regrets: pd.DataFrame, second_form: float):
    """Draw regret of the sparse switch on Lemma 11's pair against its rate, and two bounds.

    Columns rho, regret (on the plain losses), changed (on the changed ones), bound (certified);
    `second_form` is the largest value of the second form of the lemma's bound.
    """
    fig, (ax,) = draw.panels(1, height=2.9, xscale="log", yscale="log")
    ax.set(xlabel=r"probability $\rho$ of playing the other arm", ylabel="regret")
    ax.plot(regrets.rho, regrets.regret, color=style.BLUE, marker="o", label=r"regret on $\ell$")
    look = {"color": style.VERMILION, "marker": "s", "linestyle": style.DASHED}
    ax.plot(regrets.rho, regrets.larger_changed, label="regret on $\\ell\N{PRIME}$", **look)
    draw.epsilon_ticks(ax, regrets.rho)
    draw.bound(ax, regrets.rho, regrets.bound, "Lemma 11, certified")
    at_best = np.full(len(regrets), second_form)
    draw.bound(ax, regrets.rho, at_best, "its second form, at best", linestyle=style.DOTTED)
    draw.legend_below(fig)
    return fig


def leakage(data: pd.DataFrame, eta: float, cap: float):
    """Draw Figure 1, and EXP3's privacy loss of single rounds and of two paths.

    Columns t, p, p_changed (probabilities of arm 2), per_round, alternating, arm_2_onward; `cap` is
    the largest loss of a round that mixing allows.
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
