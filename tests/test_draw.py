"""Pictures that recur: what is drawn where."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from conftest import refused
from matplotlib.backends.backend_agg import FigureCanvasAgg

from privregret import estimates
from privregret.press import draw, style


def test_looks_tell_six_values_apart():
    looks = draw.looks("abcdefgh", (style.SOLID, style.DASHED))
    assert list(looks) == list("abcdefgh")
    assert len({(look["color"], look["marker"]) for look in looks.values()}) == 6
    assert looks["a"]["linestyle"] == style.SOLID and looks["b"]["linestyle"] == style.DASHED


def test_a_family_has_a_panel_for_each_value_with_its_curves_and_bounds():
    rows = [(k, a, x, k * x, 9 * x) for k in (2, 1) for a in ("UCB1", "IMED") for x in (1, 2, 3)]
    data = pd.DataFrame(rows, columns=["K", "algorithm", "x", "y", "limit"])
    fig, axes = draw.family(
        data, "K", "x", "y", "$K={}$", {"limit": "a bound"}, axes={"xlabel": "x"}
    )
    assert [ax.get_title() for ax in axes] == ["$K=2$", "$K=1$"]
    for ax, k in zip(axes, (2, 1), strict=True):
        drawn = {line.get_label(): line for line in ax.lines}
        assert set(drawn) == {"UCB1", "IMED", "a bound"} and ax.get_xlabel() == "x"
        assert list(drawn["IMED"].get_ydata()) == [k, 2 * k, 3 * k]
        assert list(drawn["a bound"].get_ydata()) == [9, 18, 27]
    plt.close(fig)


def test_bands_are_quantiles_and_limits_follow_the_means():
    runs = np.arange(11.0)
    curves = pd.DataFrame(
        {"algorithm": "UCB1", "t": np.repeat([1, 10], 11), "regret": np.append(runs, 100 * runs)}
    )
    summary = estimates.bands(curves, ["algorithm", "t"])
    assert (
        list(summary.low) == [1, 100]
        and list(summary.high) == [9, 900]
        and list(summary["mean"]) == [5, 500]
    )
    assert draw.regret_limits(summary) == (
        500 / 30,
        1000,
    )  # a wide band does not make an empty panel
    fig, ax = plt.subplots()
    draw.regret_axes(ax, summary, rounds="linear", legend_values=True)
    assert ax.get_ylim() == (500 / 30, 1000) and ax.get_legend_handles_labels()[1] == ["UCB1: 500"]
    plt.close(fig)


@pytest.mark.parametrize(("count", "rows"), [(3, 1), (4, 1), (7, 2)])
def test_a_grid_has_shared_axes_and_one_legend_in_its_empty_place_or_below(count, rows):
    cells = itertools.product(range(count), ("UCB1", "IMED"), (1, 10, 100))
    data = pd.DataFrame(
        [(e, a, t, t * (e + 1)) for e, a, t in cells], columns=["epsilon", "algorithm", "t", "mean"]
    )
    fig = draw.regret_grid(data.assign(low=data["mean"], high=data["mean"]))
    drawn = [ax for ax in fig.axes if ax.axison]
    assert [ax.get_title() for ax in drawn] == [rf"$\epsilon = {e:g}$" for e in range(count)]
    assert len({ax.get_subplotspec().rowspan.start for ax in fig.axes}) == rows
    assert {ax.get_ylim() for ax in drawn} == {draw.regret_limits(data)}
    assert {(ax.get_xscale(), ax.get_yscale()) for ax in drawn} == {("log", "log")}
    below = {
        ax.get_subplotspec().colspan.start: ax for ax in drawn
    }  # the lowest panel of each column
    assert {
        ax for ax in drawn if any(tick.label1.get_visible() for tick in ax.xaxis.get_major_ticks())
    } == set(below.values())
    legends = [*fig.legends, *(ax.get_legend() for ax in fig.axes if ax.get_legend())]
    assert [[text.get_text() for text in legend.get_texts()] for legend in legends] == [
        ["UCB1", "IMED"]
    ]
    plt.close(fig)


def test_survival_curves_have_a_marker_at_the_mean():
    runs = pd.DataFrame({"algorithm": "IMED", "regret": [1.0, 2.0, 4.0, 8.0]})
    curves = estimates.survivals(runs, "algorithm").assign(mean=4.0, bound=3.0)
    fig, ax = plt.subplots()
    draw.survival_axes(ax, curves)
    steps, marker, limit = ax.lines
    assert list(steps.get_xdata()) == [8, 4, 2, 1] and list(steps.get_ydata()) == [
        0.25,
        0.5,
        0.75,
        1,
    ]
    assert (marker.get_xdata()[0], marker.get_ydata()[0]) == pytest.approx((4, 0.5)) and set(
        limit.get_xdata()
    ) == {3}
    plt.close(fig)


def test_what_is_missing_is_named_with_the_function_that_makes_it():
    runs = pd.DataFrame(
        {"algorithm": "IMED", "t": [1, 1, 9, 9], "regret": [1.0, 2.0, 3.0, 4.0], "epsilon": 1.0}
    )
    means = estimates.means(runs, ["algorithm", "t"])
    refused(lambda: draw.regret_panel(means), "low", "estimates.bands")
    refused(lambda: draw.final_regret_panel(means), "epsilon", "low", "estimates.bands")
    refused(lambda: draw.regret_grid(means), "epsilon", "estimates.bands")
    refused(lambda: draw.regret_limits(runs), "mean", "estimates.means")
    refused(lambda: draw.survival_axes(None, runs), "fraction", "estimates.survivals")
    refused(lambda: draw.lines(None, runs, "t", "loss"), "loss")


def test_no_curve_is_a_zigzag():
    """One curve through several first batches, or horizons, is refused; it names what varies."""
    rows = [("IMED", e, n0, n0 * e) for e in (0.1, 1.0) for n0 in (1, 8)]
    data = pd.DataFrame(rows, columns=["algorithm", "epsilon", "n0", "mean"])
    data = data.assign(low=data["mean"], high=data["mean"])
    refused(lambda: draw.final_regret_panel(data), "algorithm", "epsilon", "n0")
    refused(lambda: draw.regret_panel(data.assign(t=data.epsilon)), "algorithm", "t", "n0")
    plt.close(draw.final_regret_panel(data[data.n0 == 1]))


def test_labels_of_ticks_do_not_touch():
    fig, ax = plt.subplots()
    ax.set(xscale="log", xlim=(0.01, 10))
    draw.epsilon_ticks(ax, [10.0, 0.01, 0.011, 0.1, 1.0])
    fig.canvas.draw()
    assert sorted(ax.get_xticks()) == [0.01, 0.011, 0.1, 1.0, 10.0]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0.01", "", "0.1", "1", "10"]
    plt.close(fig)


def drawn(fig):
    """The pixels of a figure."""
    canvas = FigureCanvasAgg(fig)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba()).astype(int)


@pytest.mark.parametrize("later", [(2, 5000), (0.5, 70)])
def test_minor_ticks_in_one_artist_are_those_of_matplotlib(later):
    pictures = []
    for laid_out in (False, True):
        fig, axes = draw.subplots(2, 2, sharex=True, figsize=style.PAGE)
        for ax in axes.flat:
            ax.plot([1, 1000], [1, 30])
            ax.set(xscale="log", title="title")
        axes[0, 0].set(yscale="log", ylim=(0.5, 2)), axes[1, 1].axis("off")  # labelled, hidden
        if laid_out:
            draw.lay_out(fig)
        axes[0, 0].set_xlim(later)
        axes[1, 0].set_ylim(later[::-1])
        pictures.append(drawn(fig))
        own = [ax.xaxis.get_minorticklocs().size for ax in axes.flat]
        assert set(own) == {0} if laid_out else min(own) > 5
    assert abs(pictures[0] - pictures[1]).max() <= 1
    assert (pictures[0] < 255).any()
