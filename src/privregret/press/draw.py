"""The kinds of picture that recur: regret against rounds, final regret against epsilon."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.ticker import EngFormatter, FixedLocator, NullFormatter, NullLocator

from privregret import simulate
from privregret.press import style
from privregret.privacy import ledger


def panels(count: int, width=None, height=None, **axes):
    """A figure with so many panels side by side, in the width of a column (one panel) or a page; shared y axis.

    Parameters
    ----------
    count : int
        Number of panels.
    width, height : float, optional
        Inches, if not those of `style.COLUMN` and `style.PAGE`.
    **axes
        Set on every panel, as by `ax.set`: scales, labels (the y label on the first only), limits.

    Returns
    -------
    figure, list of axes
    """
    size = style.COLUMN if count == 1 else style.PAGE
    fig, row = plt.subplots(1, count, sharey=count > 1, squeeze=False, figsize=(width or size[0], height or size[1]))
    for i, ax in enumerate(row[0]):
        ax.set(**({} if i else {"ylabel": axes.get("ylabel", "")}), **{k: v for k, v in axes.items() if k != "ylabel"})
    return fig, list(row[0])


def lines(ax, data, x: str, y: str, by: str = "algorithm", band=(), looks=None, **style_):
    """One curve for each value of a column, in the look of its algorithm.

    Parameters
    ----------
    data : pandas.DataFrame
        Tidy: one row a point.
    x, y : str
        Columns drawn.
    by : str
        Column that tells curves apart; its values are the labels.
    band : (str, str), optional
        Columns between which a band is shaded, as `bands` makes them: ("low", "high").
    looks : dict, optional
        Value of `by` -> keywords for `plot`, for what is not an algorithm.
    """
    for i, (label, curve) in enumerate(data.groupby(by, sort=False)):
        look = {"markevery": (0.03 + 0.03 * i, 0.15)} | (looks[label] if looks else style.look(label)) | style_
        if band:
            low, high = (curve[column] for column in band)
            ax.fill_between(curve[x].astype(float), low, high, color=look["color"], alpha=0.2, linewidth=0)
        ax.plot(curve[x].astype(float), curve[y], label=str(label), **look)


def bound(ax, x, y, label: str, **style_):
    """A theorem's bound or rate: grey and dashed, never to be taken for a measurement."""
    ax.plot(np.asarray(x, float), y, label=label, **(style.BOUND | style_))


def legend_below(fig, columns: int = 2) -> None:
    """One legend for all panels, below them, each label once."""
    found = {}
    for ax in fig.axes:
        found |= dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    fig.legend(found.values(), found.keys(), loc="outside lower center", ncols=columns)


def regret_limits(summary) -> tuple[float, float]:
    """A range of regrets for panels that belong together: from below the smallest final mean to above the largest.

    Parameters
    ----------
    summary : pandas.DataFrame
        Columns t, mean; the curves of all panels.
    """
    last = summary["mean"][summary.t == summary.t.max()]
    return last.min() / 30, 2 * last.max()


def regret_axes(ax, summary, limits=None, rounds: str = "log", legend_values: bool = False) -> None:
    """Regret, on a logarithmic axis, against rounds: one curve per algorithm with a band.

    Parameters
    ----------
    summary : pandas.DataFrame
        Columns algorithm, t, mean, low, high, as `bands` makes them.
    limits : (float, float), optional
        Range of regrets, for panels that share it (see `regret_limits`); of this panel alone if not given.
    rounds : {"log", "linear"}
        The axis of rounds; a logarithmic one shows the last four decades.
    legend_values : bool
        Whether labels give the final means.
    """
    finals = summary.groupby("algorithm", sort=False)["mean"].last()
    names = {a: f"{a}: {final:,.0f}" if legend_values else a for a, final in finals.items()}
    named = summary.assign(algorithm=summary.algorithm.map(names))
    lines(ax, named, "t", "mean", band=("low", "high"), looks={names[a]: style.look(a) for a in names})
    last = summary.t.max()
    ax.set(xlabel="round $t$", ylabel="regret", yscale="log", ylim=limits or regret_limits(summary), xscale=rounds)
    ax.set_xlim(*((last / 1e4, last) if rounds == "log" else (-0.02 * last, 1.02 * last)))
    if rounds == "linear":
        ax.xaxis.set_major_formatter(EngFormatter(sep=""))


def regret_panel(summary, title: str = "", limits=None):
    """A figure of one panel as papers draw it: rounds linear, the final means in the legend (see `regret_axes`)."""
    fig, ax = plt.subplots()
    regret_axes(ax, summary, limits, "linear", legend_values=True)
    ax.set_title(title)
    ax.legend(loc="lower right", title="final mean regret", title_fontsize=7)
    return fig


def regret_grid(summary, by: str = "epsilon", title: str = r"$\epsilon = {:g}$", limits=None):
    """A figure across a page: regret against rounds, both logarithmic, one panel for each value of a column.

    Axes are shared, with at most four panels a row; the legend fills the place that the last row leaves, or is below.

    Parameters
    ----------
    summary : pandas.DataFrame
        Columns `by`, algorithm, t, mean, low, high, as `bands` makes them.
    title : str
        Filled with the value of each panel.
    limits : (float, float), optional
        Range of regrets, if not that of these panels (see `regret_limits`).
    """
    groups = list(summary.groupby(by))
    across = min(len(groups), 4)
    down = -(-len(groups) // across)
    size = (style.PAGE[0], 0.5 + 1.6 * down)
    fig, axes = plt.subplots(down, across, sharex=True, sharey=True, squeeze=False, figsize=size)
    for i, (value, part) in enumerate(groups):
        ax = axes.flat[i]
        regret_axes(ax, part, limits or regret_limits(summary))
        ax.set_title(title.format(value))
        ax.label_outer()
        ax.tick_params(labelbottom=i + across >= len(groups))
    empty = axes.flat[len(groups) :]
    for ax in empty:
        ax.axis("off")
    if len(empty):
        empty[-1].legend(*axes[0, 0].get_legend_handles_labels(), loc="center")
    else:
        legend_below(fig, 4)
    return fig


def final_regret_panel(summary, title: str = "", limits=None):
    """A figure of final regret against epsilon, both axes logarithmic, one curve per algorithm with a band.

    Parameters
    ----------
    summary : pandas.DataFrame
        Columns algorithm, epsilon, mean, low, high, as `bands` makes them.
    limits : (float, float), optional
        Range of regrets, for panels that share it.
    """
    fig, ax = plt.subplots()
    lines(ax, summary, "epsilon", "mean", band=("low", "high"), markevery=1)
    ax.set(xscale="log", yscale="log", xlabel=r"privacy parameter $\epsilon$", ylabel="final regret", title=title)
    ax.set_ylim(limits)
    epsilon_ticks(ax, summary.epsilon.unique())
    ax.legend(loc="best")
    return fig


def epsilon_ticks(ax, values):
    """Tick the values of epsilon that were run, and no others."""
    ax.xaxis.set_major_locator(FixedLocator(sorted(values)))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_minor_formatter(NullFormatter())


def releases(ax, released, pulls, title):
    """What is released about an arm (see `privacy.ledger`), one bar a release, and what each reward costs."""
    top = 0
    for release in released:
        length = release.last - release.first + 1
        level = 0 if release.kind == "array" else length.bit_length()
        top = max(top, level)
        colour = style.look(title.split(",")[0])["color"] if release.kind == "array" else "#BBBBBB"
        ax.barh(level, length - 0.16, left=release.first - 0.42, height=0.72, color=colour, linewidth=0)
        middle = (release.first + release.last) / 2
        ax.text(
            middle,
            level,
            f"{release.scale:g}",
            ha="center",
            va="center_baseline",
            fontsize=6,
            color="white" if release.kind == "array" else "black",
        )
    for pull, cost in enumerate(ledger.cost(released, pulls), start=1):
        above = {"color": style.VERMILION, "fontweight": "bold"} if cost > 1 + 1e-9 else {}
        ax.text(pull, -1, f"{cost:.3g}", ha="center", va="center_baseline", fontsize=6, **above)
    ax.set(xlim=(0.4, pulls + 0.6), ylim=(-1.6, top + 0.6), title=title, xticks=range(1, pulls + 1))
    names = ["cost", "array", *(f"node of {2 ** (level - 1)}" for level in range(1, top + 1))]
    ax.set_yticks(range(-1, top + 1), names)
    ax.grid(False)
    ax.tick_params(length=0)


def survival(sample, weights=None, points=240):
    """How often a sample reaches x: (x, share) at about `points` shares, evenly spaced in it and its logarithm."""
    order = np.argsort(sample)[::-1]
    share = np.cumsum(np.ones(len(order)) if weights is None else np.asarray(weights)[order])
    share /= share[-1]
    wanted = np.append(np.geomspace(share[0], 1, points // 2), np.linspace(share[0], 1, points // 2))
    at = np.unique(np.searchsorted(share, wanted).clip(0, len(order) - 1))
    return np.asarray(sample)[order][at], share[at]


def survival_axes(ax, curves):
    """Share of runs with at least so much regret, both axes logarithmic; an open marker shows the mean.

    Parameters
    ----------
    curves : pandas.DataFrame
        As `survivals` makes it.
    """
    for i, (label, curve) in enumerate(curves.groupby("algorithm", sort=False)):
        look = style.look(label) | {"linestyle": (style.SOLID, style.DASHED)[i % 2]}  # apart in grey
        ax.plot(curve.regret, curve.share, color=look["color"], linestyle=look["linestyle"], drawstyle="steps-post")
        mean = curve["mean"].iloc[0]
        at = np.interp(np.log(mean), np.log(curve.regret[::-1]), np.log(curve.share[::-1]))
        ax.plot([mean], [np.exp(at)], label=label, **(look | {"markersize": 6, "markerfacecolor": "white"}))
    ax.axvline(curves.bound.iloc[0], label=r"lower bound $\times\ln T$", **style.BOUND)
    ax.set(xscale="log", yscale="log", xlabel="final regret $x$", ylabel="share of runs with at least $x$")


def reward_model(ax, model, path, rewards, title):
    """A list, table or tree of rewards for two arms, the rewards that the actions `path` observe framed.

    Parameters
    ----------
    model : {"list", "table", "tree"}
    path : sequence of int
        Arms pulled, 0 or 1, one per round.
    rewards : list
        Reward functions of rounds 1, 2, ...: arrays with one axis for each action so far.
    """
    rounds = len(path)
    for t in range(1, rounds + 1):
        prefixes = list(np.ndindex(*(2,) * t))
        nodes = {"list": [None], "table": [0, 1], "tree": prefixes}[model]
        for i, node in enumerate(nodes):
            full = {"list": tuple(path[:t]), "table": (*path[: t - 1], node), "tree": node}[model]
            seen = full == tuple(path[:t])
            colour, width = ("black", 1.2) if seen else ("#BBBBBB", 0.6)
            x = (i + 0.5) / len(nodes) if model == "tree" else 0.5 + 0.3 * (i - (len(nodes) - 1) / 2)
            if model == "tree":
                parent = ((i // 2 + 0.5) / (len(nodes) // 2), 1 - t) if t > 1 else (0.5, 0)
                ax.plot([parent[0], x], [parent[1], -t], color=colour, linewidth=width, zorder=1)
            frame = {"boxstyle": "square,pad=0.3", "fc": "white", "ec": colour, "lw": width}
            ink = "black" if seen else "#888888"
            ax.text(x, -t, str(int(rewards[t - 1][full])), ha="center", va="center", fontsize=7, bbox=frame, color=ink)
    if model == "table":
        for arm in (0, 1):
            ax.text(0.5 + 0.3 * (arm - 0.5), -0.4, f"arm {arm + 1}", ha="center", va="center", fontsize=6)
    for t in range(1, rounds + 1):
        ax.text(-0.06, -t, f"$t={t}$", ha="right", va="center", fontsize=6)
    ax.set(xlim=(-0.12, 1.05), ylim=(-rounds - 0.5, 0.3), title=title)
    ax.axis("off")


def release_game(ax, actions, left, right, change, side):
    """The adaptive game: the adversary answers each action with two rewards, which differ only in round `change`.

    Parameters
    ----------
    actions, left, right : sequence
        Arm (from 0) and the two rewards of each round.
    change : int
        The round, from 1, in which the policy is shown `side`, "L" or "R"; in all others it sees the left reward.
    """
    boxes = []
    for t, (action, one, other) in enumerate(zip(actions, left, right, strict=True), start=1):
        shown = other if t == change and side == "R" else one
        for y, text in ((2, f"arm {action + 1}"), (1, f"$({one},{other})$"), (0, f"${shown}$")):
            fill = "#FFE9B8" if (y, t) == (0, change) else "white"
            box = {"boxstyle": "round,pad=0.35", "fc": fill, "ec": "black", "lw": 0.7}
            boxes.append(ax.text(t, y, text, ha="center", va="center", fontsize=7, bbox=box))
        ax.text(t, -0.55, f"$t={t}$" + (r"$\;=t^\star$" if t == change else ""), ha="center", va="center", fontsize=6)
    for start, end in itertools.pairwise(boxes):  # from edge to edge; above the boxes, which are laid out first
        ends = {"patchA": start.get_bbox_patch(), "patchB": end.get_bbox_patch(), "shrinkA": 0, "shrinkB": 0}
        arrow = {"arrowstyle": "->", "lw": 0.7, "color": "black"} | ends
        ax.annotate("", end.get_position(), start.get_position(), arrowprops=arrow, zorder=4)
    for y, text in ((2, "policy pulls"), (1, "adversary: $(r^L,r^R)$"), (0, "policy sees")):
        ax.text(0.45, y, text, ha="right", va="center", fontsize=6)
    ax.set(xlim=(-0.75, len(actions) + 0.5), ylim=(-0.8, 2.5), title=f"$b={side}$")
    ax.axis("off")


def survivals(samples: dict, means: dict, bound: float) -> pd.DataFrame:
    """What `survival_axes` draws: columns algorithm, regret, share, mean, bound.

    Parameters
    ----------
    samples : dict
        Algorithm -> regrets of runs, or a pair of these and their weights.
    means : dict
        Algorithm -> Estimate of its mean regret.
    bound : float
        Lower bound on regret, for a vertical line.
    """
    curves = {a: survival(*(x if isinstance(x, tuple) else (x,))) for a, x in samples.items()}
    return pd.concat(
        pd.DataFrame({"algorithm": a, "regret": x, "share": share, "mean": means[a].value, "bound": bound})
        for a, (x, share) in curves.items()
    )


def bands(curves, by: list) -> pd.DataFrame:
    """Mean regret over runs with the band that figures shade: columns `by`, mean, sd, se, runs, low, high.

    The band goes from the 10 to the 90 per cent quantile of a run: where regret has a long tail, a standard deviation
    below the mean is below zero.

    Parameters
    ----------
    curves : pandas.DataFrame
        What `simulate.regret_curves` returns.
    by : list of str
        Columns; one row for each combination of their values.
    """
    return simulate.summary(curves, by).join(quantiles(curves, by), on=by)


def quantiles(curves, by, value: str = "regret", **levels) -> pd.DataFrame:
    """Quantiles of regret over runs, one row for each combination of the columns `by`, for `join(..., on=by)`.

    Parameters
    ----------
    curves : pandas.DataFrame
        One row for each run, and for each round if `by` has t.
    by : str or list of str
        Columns; the index of what is returned.
    value : str
        Which column, if not regret.
    **levels : float
        Name of a column -> level of its quantile; low and high, at 10 and 90 per cent, if none are given.
    """
    levels = levels or {"low": 0.1, "high": 0.9}
    return curves.groupby(by, sort=False)[value].quantile([*levels.values()]).unstack().set_axis([*levels], axis=1)


def looks(values, dashes=(style.SOLID,)) -> dict:
    """A colour, a marker and dashes for each value of what is no algorithm: the `looks` of `lines`.

    Parameters
    ----------
    values : iterable
        In the order of the legend; six stay apart.
    dashes : sequence
        Line styles, taken in turn.
    """
    colours = style.BLUE, style.GREEN, style.VERMILION, style.ORANGE, style.PINK, style.SKY
    series = zip(itertools.cycle(colours), itertools.cycle("o^sDPv"), itertools.cycle(dashes), strict=False)
    return {v: {"color": c, "marker": m, "linestyle": d} for v, (c, m, d) in zip(values, series, strict=False)}


def family(data, by: str, x: str, y: str, title: str = "{}", bounds=None, curves="algorithm", axes=None, **style_):
    """One panel for each value of a column, side by side with one y axis: its curves, with bounds beside them.

    Parameters
    ----------
    data : pandas.DataFrame
        Tidy: one row a point; panels and curves in the order of the rows.
    by : str
        Column that tells panels apart; its values fill the `title`.
    x, y : str
        Columns drawn.
    bounds : dict, optional
        Columns of bounds -> labels; dashed, dotted, mixed, solid.
    curves : str
        Column that tells curves apart.
    axes : dict, optional
        As in `panels`.
    **style_
        As in `lines`.

    Returns
    -------
    figure, list of axes
    """
    groups = list(data.groupby(by, sort=False))
    fig, row = panels(len(groups), **(axes or {}))
    for ax, (value, part) in zip(row, groups, strict=True):
        once = part.drop_duplicates(x)
        dashes = style.DASHED, style.DOTTED, style.MIXED, style.SOLID
        for (column, label), dash in zip((bounds or {}).items(), dashes, strict=False):
            bound(ax, once[x], once[column], label, linestyle=dash)
        lines(ax, part, x, y, by=curves, **style_)
        ax.set_title(title.format(value))
    return fig, row
