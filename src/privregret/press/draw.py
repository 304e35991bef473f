"""Pictures that recur, of columns of a frame; importing this sets the look of all figures."""

import io
import itertools
import re
from inspect import signature

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import Image, display
from matplotlib.ticker import EngFormatter, FixedLocator, NullLocator

from privregret.core.mistakes import OneLine
from privregret.core.progress import has_front_end
from privregret.press import notebook, style

style.use()
BAND = "q10", "q90"


def subplots(*shape: int, **options):
    """A figure and its axes as of `plt.subplots`, which JupyterLab shows only once published."""
    fig, axes = plt.subplots(*shape, **options)
    plt.close(fig)
    return fig, axes


class NoKnob(OneLine, ValueError):
    """A picture has no parameter of this name that could be moved from a default."""


def play(picture, **knobs) -> None:
    """Below a published picture, show a slider for each of these parameters of its function, a list
    of values each, to which the default is added; what they draw is shown unless it is the picture
    above. Without a front end, show nothing. NoKnob for a parameter without a default."""
    parameters = signature(picture).parameters.items()
    defaults = {k: p.default for k, p in parameters if p.default is not p.empty}
    if unknown := knobs.keys() - defaults:
        mistake = f"{picture.__name__} has no parameter {min(unknown)} with a default"
        names = ", ".join(defaults) or "none"
        raise NoKnob(f"{notebook.current.name}.ipynb: {mistake}: known are {names}")
    if not has_front_end():
        return
    from ipywidgets import SelectionSlider, VBox, interactive_output  # a fifth of a second

    def draw(**values):
        if any(values[k] != defaults[k] for k in values):
            (fig := picture(**values)).savefig(png := io.BytesIO(), format="png")
            display(Image(png.getvalue(), width=int(fig.get_figwidth() * style.PIXELS)))

    sliders = {}
    for k, values in knobs.items():
        options = values if defaults[k] in values else sorted([*values, defaults[k]])
        sliders[k] = SelectionSlider(
            options=options, value=defaults[k], description=k, continuous_update=False
        )
    display(VBox([*sliders.values(), interactive_output(draw, sliders)]))


def panels(count: int, height=None, ylabel="", **axes):
    """A figure and its panels side by side, in the width of a column (one panel) or a page; y is
    shared and labelled once, `height` in inches, `axes` set on each panel as by `ax.set`."""
    width, usual = style.COLUMN if count == 1 else style.PAGE
    fig, axs = subplots(1, count, sharey=True, squeeze=False, figsize=(width, height or usual))
    for ax in axs[0]:
        ax.set(**axes)
    axs[0, 0].set_ylabel(ylabel)
    return fig, list(axs[0])


def lines(ax, data, x, y, by: str = "algorithm", band=(), looks=None, bars="", **style_):
    """One curve of columns `x` and `y` for each value of `by`, in the look of its algorithm or of
    `looks` (value -> keywords of `plot`). A band is between columns, ("q10", "q90") of `bands`;
    `bars` are two standard errors, of this column. ValueError if a column is missing, or if a curve
    with a band has several rows for one x, which would draw a zigzag."""
    columns = [by, x, y, *band, *([bars] if bars else [])]
    _needs(data, *columns, maker="estimates.bands" if band else "")
    if band and data.duplicated([by, x]).any():
        varied = (data.groupby([by, x]).nunique() > 1).any()
        values = ", ".join(varied.index[varied].difference(columns, sort=False)) or "equal ones"
        raise ValueError(f"the frame must have one row for each {by}, {x}, got several {values}")
    for i, (label, curve) in enumerate(data.groupby(by, sort=False)):
        look = looks[label] if looks else style.look(label)
        look = {"markevery": (0.03 + 0.03 * i, 0.15)} | look | style_
        at = curve[x].astype(float)
        if band:
            lower, upper = (curve[column] for column in band)
            ax.fill_between(at, lower, upper, color=look["color"], alpha=0.2, linewidth=0)
        if bars:
            look |= {"markevery": 1, "elinewidth": 0.8, "yerr": 2 * curve[bars]}
        (ax.errorbar if bars else ax.plot)(at, curve[y], label=shown(label), **look)


def shown(name) -> str:
    """A name as a label: matplotlib gives one that begins with _ no entry in a legend."""
    return re.sub("^_", " _", str(name))


def _needs(data, *columns, maker=""):
    """Raise an error in one line unless the frame has these columns."""
    if missing := [column for column in columns if column not in data]:
        wanted = ", ".join(missing) + (maker and f", which {maker} makes")
        needed, got = ", ".join(columns), ", ".join(map(str, data.columns))
        raise ValueError(f"the frame must have columns {needed}: no {wanted}, got {got}")


def bound(ax, x, y, label: str, forbids: bool = False, **style_):
    """A theorem's bound or rate, thin and black, never to be taken for a measurement; one that
    `forbids`, a lower bound, shades what it excludes, from 0 on."""
    x = np.asarray(x, float)
    if forbids:
        ax.fill_between(x, 0, y, color=style.BLACK, alpha=0.08, linewidth=0)
    ax.plot(x, y, label=label, **(style.BOUND | style_))


def two_tables(bins, epsilon: float, names=("one table", "its neighbour"), **axes):
    """The picture of a promise, a privacy loss of at most epsilon.

    Above: how likely the outcomes are on two neighbouring tables; `bins` reach from `begin` to
    `end`, one after the other, with probabilities `one` and `other`. Below: their `log_ratio`,
    which epsilon-DP keeps in the shaded band.
    """
    _needs(bins, "begin", "end", "one", "other", "log_ratio")
    edges, size = [*bins.begin, bins.end.iloc[-1]], (style.COLUMN[0], 1.15 * style.COLUMN[1])
    fig, (above, below) = subplots(2, 1, sharex=True, figsize=size, height_ratios=(3, 2))
    above.stairs(bins.one, edges, fill=True, color=style.GREY, alpha=0.4, label=names[0])
    above.stairs(bins.other, edges, color=style.BLACK, label=names[1])
    above.set(ylabel="probability", ylim=(0, 1.4 * bins[["one", "other"]].max(axis=None)))
    above.legend(loc="upper left", handlelength=1.2)
    below.axhspan(-epsilon, epsilon, color=style.BLUE, alpha=0.12, linewidth=0)
    broken = bins.log_ratio.abs() > (1 + 1e-9) * epsilon
    for colour, part in ((style.BLUE, bins[~broken]), (style.VERMILION, bins[broken])):
        below.hlines(part.log_ratio, part.begin, part.end, color=colour, linewidth=2)
    if broken.any():
        corner = {"color": style.VERMILION, "transform": below.transAxes, "ha": "right"}
        below.text(0.98, 0.08, "beyond what was promised", fontsize=7, **corner)
    reach = 1.25 * max(1.2 * epsilon, bins.log_ratio.abs().max())
    below.set(ylim=(-reach, reach), ylabel="log-ratio", yticks=(-epsilon, 0, epsilon), **axes)
    below.set_yticklabels([r"$-\epsilon$", "0", r"$\epsilon$"])
    return fig


def legend_below(fig, ncols: int = 2) -> None:
    """One legend for all panels, below them; a line and points of one label share an entry."""
    entries: dict[str, tuple] = {}
    for ax in fig.axes:
        parts = list(zip(*ax.get_legend_handles_labels(), strict=True))
        entries |= {label: tuple(h for h, name in parts if name == label) for _, label in parts}
    fig.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=ncols)


def regret_limits(summary) -> tuple[float, float]:
    """A range of regrets for panels that belong together: around the final means, of columns t and
    mean."""
    _needs(summary, "t", "mean", maker="estimates.means")
    last = summary["mean"][summary.t == summary.t.max()]
    return last.min() / 30, 2 * last.max()


def regret_axes(ax, summary, limits=None) -> None:
    """Regret against rounds, both logarithmic, over at most four decades: one curve and band per
    algorithm, of `estimates.bands`. `limits` are by default `regret_limits`."""
    lines(ax, summary, "t", "mean", band=BAND)
    ax.set(xlabel=AXES["t"], ylabel=AXES["mean"], xscale="log", yscale="log")
    ax.set_ylim(limits or regret_limits(summary))
    last, entered = summary.t.max(), summary.t[summary["mean"] > ax.get_ylim()[0]].min()
    ax.set_xlim(max(0.8 * entered, last / 1e4), last)


def regret_panel(summary, title: str = "", limits=None):
    """A figure of regret, logarithmic, against rounds as papers draw it: rounds linear, the final
    means and standard errors in the legend. Frame and limits are as of `regret_axes`."""
    _needs(summary, "algorithm", "t", "mean", *BAND, maker="estimates.bands")
    names = {}
    for name, final in summary.groupby("algorithm", sort=False).last().iterrows():
        # of runs that are all equal it is not known
        error = f" ± {final.se:,.0f}" if np.isfinite(final.get("se", np.inf)) else ""
        names[name] = f"{name}: {final['mean']:,.0f}{error}"
    fig = chart(
        summary.assign(algorithm=summary.algorithm.map(names)),
        "t",
        "mean",
        band=BAND,
        looks={names[name]: style.look(name) for name in names},
        log="y",
        xlim=np.array([-0.02, 1.02]) * summary.t.max(),
        ylim=limits or regret_limits(summary),
        titles={"": title},
        names="inside",
    )
    fig.axes[0].xaxis.set_major_formatter(EngFormatter(sep=""))
    legend = fig.axes[0].get_legend() or fig.legends[0]
    legend.set_title("final mean regret, standard error", {"size": 7})
    return fig


def regret_grid(summary, limits=None, finals=None, name: str = ""):
    """A figure across a page: `regret_axes`, both logarithmic and shared, a panel for each epsilon,
    at most four a row, and one for final regrets if given, as in `final_regret_panel`."""
    _needs(summary, "epsilon", maker="estimates.bands")
    groups = list(summary.groupby("epsilon"))
    count = len(groups) + (finals is not None)
    across = min(count, 4)
    down = -(-count // across)
    size = style.PAGE[0], 0.7 + 1.6 * down
    fig, axes = subplots(down, across, sharey=True, squeeze=False, figsize=size)
    shown = axes.flat[: len(groups)]
    for i, (ax, (value, part)) in enumerate(zip(shown, groups, strict=True)):
        regret_axes(ax, part, limits or regret_limits(summary))
        # nine ticks a decade in each panel would take most of the drawing
        ax.minorticks_off()
        lowest, first = i + across >= count, i % across == 0
        ax.set(title=rf"$\epsilon = {value:g}$", ylabel="regret" if first else "")
        ax.set_xlabel("round $t$" if lowest else "")
        ax.tick_params(labelbottom=lowest)
    start = min(ax.get_xlim()[0] for ax in shown)
    plt.setp(shown, xlim=(start, None))
    for ax in axes.flat[count:]:
        ax.axis("off")
    if finals is not None:
        ax = axes.flat[len(groups)]
        lines(ax, finals, "epsilon", "mean", band=BAND, markevery=1)
        ax.set(xlabel=AXES["epsilon"], xscale="log", yscale="log", title="final regret")
        epsilon_ticks(ax, finals.epsilon.unique(), apart=0.16)
        ax.minorticks_off()
    fig.suptitle(name, fontsize="medium")
    legend_below(fig, 4)
    return fig


def final_regret_panel(summary, title: str = ""):
    """A figure of final regret against epsilon, both logarithmic: a curve and band per algorithm,
    of `estimates.bands`, with one row for each algorithm and epsilon, else a ValueError."""
    _needs(summary, "algorithm", "epsilon", "mean", *BAND, maker="estimates.bands")
    return chart(
        summary,
        "epsilon",
        "mean",
        band=BAND,
        ticks=summary.epsilon.unique(),
        titles={"": title},
        names="inside",
        ylabel="final regret",
        markevery=1,
    )


def epsilon_ticks(ax, values, apart: float = 0.07):
    """Tick these values and no others; labels are `apart`, a fraction of the axis."""
    ticks = sorted(values)
    factor, labelled = (ticks[-1] / ticks[0]) ** apart, ticks[:1]
    for tick in ticks[1:]:
        if tick >= factor * labelled[-1]:
            labelled.append(tick)
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_major_formatter(lambda x, _: f"{x:g}" if x in labelled else "")
    ax.xaxis.set_minor_locator(NullLocator())


def survivals(curves, panel: str, titles: str = "{}"):
    """A figure of the probability of a final regret of at least x, axes logarithmic, with a panel
    for each value of `panel`. The frame is of `estimates.survival_curves`; columns mean and bound,
    a lower bound, are an open marker and a vertical line."""
    _needs(curves, "algorithm", "at_least", "probability", maker="estimates.survival_curves")
    _needs(curves, panel, "mean", "bound")
    groups = list(curves.groupby(panel, sort=False))
    begin = curves.at_least[curves.at_least > 0].min() / 1.5
    ends = {"xlim": (begin, 2 * curves.at_least.max())}
    ends |= {"ylim": (max(curves.probability.min() / 1.5, 1e-6), 1.5)}
    log = {"xscale": "log", "yscale": "log", "xlabel": "final regret $x$"}
    fig, row = panels(len(groups), 2.7, "probability of at least $x$", **log, **ends)
    for ax, (value, part) in zip(row, groups, strict=True):
        for label, curve in part.groupby("algorithm", sort=False):
            look = style.look(label)
            steps = look | {"marker": "", "drawstyle": "steps-post"}
            ax.plot(curve.at_least, curve.probability, **steps)
            mean, points = curve["mean"].iloc[0], np.log(curve[["at_least", "probability"]][::-1])
            at = np.exp(np.interp(np.log(mean), points.at_least, points.probability))
            open_ = look | {"markersize": 6, "markerfacecolor": "white"}
            ax.plot([mean], [at], label=shown(label), **open_)
        ax.axvline(part.bound.iloc[0], label=r"lower bound $\times\ln T$", **style.BOUND)
        ax.set_title(titles.format(value))
    legend_below(fig, 3)
    return fig


def looks(values, dashes=(style.SOLID,)) -> dict:
    """The `looks` of `lines` for what is not an algorithm, and so has none of their colours: a
    shade of one hue and a marker for each value, in the order of the legend, and these `dashes` in
    turn; seven markers repeat."""
    values = list(values)
    # the last of a ramp is black, as bounds are
    shades, turns = style.ramp(len(values) + 1)[:-1], map(itertools.cycle, ("o^sDPvX", dashes))
    series = zip(values, shades, *turns, strict=False)
    return {v: {"color": c, "marker": m, "linestyle": d} for v, c, m, d in series}


def label_ends(ax) -> None:
    """Write the name of each line with a label beside the panel, at the height of its right end and
    in its colour, instead of a legend; names that would touch are moved apart."""
    # heights are measured in a panel of the size that it will have
    ax.figure.draw_without_rendering()
    size, point = 7, ax.figure.dpi / 72
    lines = [line for line in ax.lines if not str(line.get_label()).startswith("_")]
    lines.sort(key=lambda line: line.get_ydata()[-1])
    ends = [ax.transData.transform((1, line.get_ydata()[-1]))[1] / point for line in lines]
    # each at least a row above the one below it, and the highest not above the panel
    rows = 1.15 * size * np.arange(len(lines))
    at = np.minimum(np.maximum.accumulate(ends - rows), ax.bbox.y1 / point - rows[-1]) + rows
    for line, end, height in zip(lines, ends, at, strict=True):
        where = {"xytext": (4, height - end), "textcoords": "offset points", "va": "center"}
        where |= {"xycoords": ax.get_yaxis_transform(), "color": line.get_color()}
        ax.annotate(line.get_label(), (1, line.get_ydata()[-1]), fontsize=size, **where)
        line.set_label(f"_{line.get_label()}")


# a column has one name on every axis
AXES = {
    "t": "round $t$",
    "T": "horizon $T$",
    "epsilon": r"privacy parameter $\epsilon$",
    "gap": r"gap $\Delta$",
    "log_actions": r"$\ln K$",
    "N": "experts $N$",
    "mean": "regret",
    "scaled_regret": r"regret $\times\,\epsilon/\ln K$",
}


def chart(
    data,
    x: str,
    y: str,
    by: str = "algorithm",
    panel: str = "",
    *,
    bounds=None,
    band=(),
    bars: str = "",
    looks=None,
    log: str = "xy",
    ticks=None,
    titles="{}",
    names: str = "below",
    ncols: int = 2,
    height=None,
    **options,
):
    """A figure of column `y` against `x`: a panel per value of `panel`, a curve per value of `by`.

    - bounds: column or number -> label, or (label, keywords of `bound`); dashed, dotted, mixed,
      solid unless they say `linestyle`, and drawn where they are not nan
    - band, looks: as of `lines`; bars: a column of standard errors, of which two are drawn
    - log: the axes that are logarithmic; ticks: the values of x that are ticked, and no others
    - titles: of panels, a pattern, or value -> title
    - names: of curves, in a legend "below" all panels, of so many columns, or "inside" a panel that
      is alone with at most four, where it covers least; or at the "ends" of lines, as of
      `label_ends`, in the last panel
    - options: of `ax.set`, such as xlabel and ylim, else of `ax.plot` for all curves
    """
    axes = {k: v for k, v in options.items() if hasattr(plt.Axes, f"set_{k}")}
    curves = {k: v for k, v in options.items() if k not in axes}
    axes |= {f"{axis}scale": "log" for axis in log}
    groups = list(data.groupby(panel, sort=False)) if panel else [("", data)]
    ylabel = axes.pop("ylabel", AXES.get(y, y))
    fig, row = panels(len(groups), height, ylabel, **({"xlabel": AXES.get(x, x)} | axes))
    for ax, (value, part) in zip(row, groups, strict=True):
        lines(ax, part, x, y, by, band, looks, bars, **curves)
        dashes = itertools.cycle((style.DASHED, style.DOTTED, style.MIXED, style.SOLID))
        for (level, label), dash in zip((bounds or {}).items(), dashes, strict=False):
            label, own = label if isinstance(label, tuple) else (label, {})
            drawn = part.assign(bound=part[level] if isinstance(level, str) else level)
            drawn = drawn.drop_duplicates(x).dropna(subset="bound").sort_values(x)
            if len(drawn):
                own = {"linestyle": dash, "zorder": 1.9} | own
                bound(ax, drawn[x], drawn["bound"], label, **own)
        ax.set_title(titles.format(value) if isinstance(titles, str) else titles[value])
        if ticks is not None:
            epsilon_ticks(ax, ticks)
    if names == "ends":
        label_ends(row[-1])
    elif names == "inside" and len(row[0].get_legend_handles_labels()[1]) <= 4:
        row[0].legend(loc="best")
    else:
        legend_below(fig, ncols)
    return fig
