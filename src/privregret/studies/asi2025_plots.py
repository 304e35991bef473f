"""Figures of the notebooks on asi2025; `studies.asi2025` measures what they show."""

import numpy as np
import pandas as pd

from privregret.press import draw, style


def exponents(axes, worst: pd.DataFrame, slopes: pd.DataFrame, titles: list) -> None:
    """Draw worst-gap regret (columns algorithm, varied, x, mean, se) against T, epsilon and K.

    Also columns fit, nan where nothing was fitted, and reference, with the slope of the bound.
    `slopes` are written beside the fits: algorithm, varied, slope. One title per panel.
    """
    names = {"T": "horizon $T$", "epsilon": r"privacy parameter $\epsilon$", "K": "arms $K$"}
    for ax, varied, title in zip(axes, names, titles, strict=True):
        part = worst[worst.varied == varied].sort_values(["algorithm", "x"])
        draw.lines(ax, part, "x", "mean", bars="se", linestyle="none")
        draw.lines(ax, part.dropna(), "x", "fit", marker="", linewidth=0.8)
        for row in slopes[slopes.varied == varied].itertuples():
            curve = part[part.algorithm == row.algorithm]
            draw.bound(ax, curve.x, curve.reference, "slope of the bound")
            middle = np.exp(np.log(curve.dropna()[["x", "fit"]].astype(float)).mean())
            look = {"color": style.look(row.algorithm)["color"], "fontsize": 7}
            away = -14 if row.algorithm.startswith("Batched") else 8
            ax.annotate(f"${row.slope:.2f}$", middle, (0, away), textcoords="offset points", **look)
        ax.set(xlabel=names[varied], title=title)


def best_by_bounds(grid: pd.DataFrame, arms: int, horizon: int):
    """Draw which bound for experts is smallest, and the regimes of Table 2.

    Columns logs, N, epsilon, bound_0 to bound_2 (divided by T), best and regime (3 for none).
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
        wrong = (part.best != part.regime) & (part.regime < 3) & (part.best < 3)
        wrong = part.assign(wrong=wrong.astype(float)).pivot(
            index="epsilon", columns="N", values="wrong"
        )
        hatched = {"levels": [0.5, 1.5], "hatches": ["////"], "colors": "none"}
        ax.contourf(wrong.columns, wrong.index, wrong, **hatched)
        for number, region in part.groupby("best"):
            place = np.exp(np.log(region[["N", "epsilon"]]).mean())
            box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none"}
            ax.annotate(bounds[number], place, ha="center", va="center", fontsize=8, bbox=box)
        ax.grid(False)
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
