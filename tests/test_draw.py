"""Pictures that recur: what is drawn where, and in which look."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pictures
import pytest
from conftest import ROOT, refused
from matplotlib.cbook import STEP_LOOKUP_MAP
from matplotlib.collections import LineCollection, PolyCollection

from privregret import estimates
from privregret.press import draw, notebook, publish, style
from privregret.press.papers import PAPERS

COLUMNS = ["epsilon", "algorithm", "t", "mean", "q10", "q90"]


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_no_algorithm_that_is_not_listed_looks_like_another():
    names = [f"mine {i}" for i in range(20)]
    own, listed = list(map(style.look, names)), list(map(style.look, style.ALGORITHMS))
    for mine, other in itertools.product(own, listed):
        assert mine["color"] != other["color"] and mine["linestyle"] != other["linestyle"]
    for one, other in itertools.combinations(own, 2):
        assert sum(one[part] != other[part] for part in one) >= 2
        assert (one["color"], one["linestyle"]) != (other["color"], other["linestyle"])
    assert list(map(style.look, reversed(names))) == own[::-1]


def test_settings_of_the_user_have_no_part(monkeypatch):
    monkeypatch.setitem(plt.rcParams, "axes.xmargin", 0.3)
    style.use()
    assert plt.rcParams["axes.xmargin"] == 0.05


def test_algorithms_of_one_figure_differ_in_marker_and_in_colour_or_dashes():
    found = 0
    for path in ROOT.glob("figures/*/*.csv"):
        # that one has a row for each algorithm, and one colour
        if not path.with_suffix(".png").exists() or path.stem == "privacy-audit-losses":
            continue
        words = pd.read_csv(path).select_dtypes(exclude="number").to_numpy().ravel()
        shown = sorted(set(map(str, words)) & set(style.ALGORITHMS))
        for pair in itertools.combinations(shown, 2):
            (c, m, d), (colour, marker, dashes) = map(style.ALGORITHMS.get, pair)
            assert m != marker and (c, d) != (colour, dashes), (path, pair)
            found += 1
    assert found > 100


def test_bands_are_quantiles_and_limits_follow_the_means():
    regret = np.append(np.arange(11.0), 100 * np.arange(11.0))
    curves = pd.DataFrame({"algorithm": "UCB1", "t": np.repeat([1, 10], 11), "regret": regret})
    summary = estimates.bands(curves, ["algorithm", "t"])
    assert summary[["q10", "mean", "q90"]].to_numpy().tolist() == [[1, 5, 9], [100, 500, 900]]
    # a wide band does not make an empty panel
    assert draw.regret_limits(summary) == (500 / 30, 1000)
    _, ax = draw.subplots()
    draw.regret_axes(ax, summary)
    assert [line.get_ydata().tolist() for line in ax.lines] == [[5, 500]]
    assert ax.get_ylim() == (500 / 30, 1000) and ax.get_xlim() == (8, 10)
    (ax,) = draw.regret_panel(summary, "it").axes
    assert [line.get_ydata().tolist() for line in ax.lines] == [[5, 500]]
    assert ax.get_ylim() == (500 / 30, 1000) and ax.get_xlim() == (-0.2, 10.2)
    assert ax.get_title() == "it" and ax.get_xscale() == "linear"
    assert ax.get_legend_handles_labels()[1] == [f"UCB1: 500 ± {summary.se.iloc[-1]:.0f}"]


EDGES = "q10", "q90"
ROWS = [(p, a, x) for p in ("low", "high") for a in ("IMED", "DP-SE") for x in (4.0, 1.0, 2.0)]
GRID = pd.DataFrame(ROWS, columns=["setting", "algorithm", "epsilon"]).assign(
    mean=np.arange(10.0, 22.0), se=np.linspace(0.1, 0.6, 12), q10=np.arange(5.0, 17.0)
)
LOOKS = draw.looks(["low", "high"])
GRID = GRID.assign(q90=GRID.q10 + 9, least=GRID.epsilon + (GRID.setting == "high"))


@pytest.mark.parametrize("by", ["algorithm", "setting"])
@pytest.mark.parametrize("panel", [True, False])
@pytest.mark.parametrize(("band", "bars"), [((), ""), (EDGES, ""), ((), "se"), (EDGES, "se")])
@pytest.mark.parametrize("forbids", [True, False])
def test_every_pair_of_options_of_a_chart_draws_its_own_columns(by, panel, band, bars, forbids):
    other = "setting" if by == "algorithm" else "algorithm"
    data = GRID if panel else GRID[GRID[other] == GRID[other][0]]
    words = {"bounds": {"least": ("least", {"forbids": forbids}), 3.0: "three"}, "bars": bars}
    words |= {"panel": other} if panel else {}
    words |= {"looks": LOOKS} if by == "setting" else {}
    fig = draw.chart(data, "epsilon", "mean", by, band=band, log="y", ticks=[1, 2], **words)
    groups = list(data.groupby(other, sort=False)) if panel else [("", data)]
    assert [ax.get_title() for ax in fig.axes] == [name for name, _ in groups]
    width = style.PAGE if panel else style.COLUMN
    assert fig.get_figwidth() == width[0] and list(fig.axes[0].get_xticks()) == [1, 2]
    for ax, (_, part) in zip(fig.axes, groups, strict=True):
        assert (ax.get_xscale(), ax.get_yscale()) == ("linear", "log")
        black = [line for line in ax.lines if line.get_label() in ("least", "three")]
        least = part.drop_duplicates("epsilon").sort_values("epsilon")
        wanted = [least[["epsilon", "least"]].to_numpy(), [[x, 3.0] for x in (1.0, 2.0, 4.0)]]
        for line, points in zip(black, wanted, strict=True):
            assert np.array_equal(line.get_xydata(), points)
        assert len({str(line._unscaled_dash_pattern) for line in black}) == 2
        curves = [line for line in ax.lines if line not in black]
        shades = [c for c in ax.collections if isinstance(c, PolyCollection)]
        marks = [c for c in ax.collections if isinstance(c, LineCollection)]
        kinds = list(part.groupby(by, sort=False))
        assert [line.get_label() for line in curves] == [name for name, _ in kinds] or bars
        if forbids:
            below = {tuple(point) for point in shades.pop().get_paths()[0].vertices.tolist()}
            assert below == {*map(tuple, wanted[0].tolist())} | {(x, 0.0) for x in (1.0, 2.0, 4.0)}
        assert len(shades) == len(kinds) * bool(band) and len(marks) == len(kinds) * bool(bars)
        for line, (_, curve) in zip(curves, kinds, strict=True):
            assert np.array_equal(line.get_xydata(), curve[["epsilon", "mean"]])
        for shade, (_, curve) in zip(shades, kinds if band else [], strict=True):
            edges = {*curve[["epsilon", "q10"]].itertuples(index=False, name=None)}
            edges |= {*curve[["epsilon", "q90"]].itertuples(index=False, name=None)}
            assert {*map(tuple, shade.get_paths()[0].vertices.tolist())} == edges
        for mark, (_, curve) in zip(marks, kinds if bars else [], strict=True):
            ends = np.column_stack([curve["mean"] - 2 * curve.se, curve["mean"] + 2 * curve.se])
            np.testing.assert_allclose([s[:, 1] for s in mark.get_segments()], ends)


def test_a_bound_is_drawn_where_it_is_known():
    data = GRID.assign(least=GRID.least.where(GRID.epsilon != 2))
    (ax,) = draw.chart(data, "epsilon", "mean", "setting", looks=LOOKS, bounds={"least": "x"}).axes
    assert ax.lines[-1].get_xdata().tolist() == [1.0, 4.0]
    none = data.assign(least=np.nan)
    (ax,) = draw.chart(none, "epsilon", "mean", "setting", looks=LOOKS, bounds={"least": "x"}).axes
    assert len(ax.lines) == 2


@pytest.mark.parametrize(("size", "name"), [("COLUMN", "figure"), ("PAGE", "figure*")])
def test_a_figure_is_set_in_a_column_or_across_the_page(root, size, name):
    fig, _ = draw.subplots(figsize=getattr(style, size))
    caption = f"{PAPERS['hu2021'].cited}: it."
    notebook.current.texts.setdefault("figure", {})["one"] = {"caption": caption}
    publish.figure(fig, GRID, "one")
    tex = (root / "figures/hu2021/one.tex").read_text()
    assert rf"\begin{{{name}}}" in tex and rf"\end{{{name}}}" in tex


def test_a_tick_too_near_to_the_last_label_has_none():
    _, ax = draw.subplots()
    ax.set(xscale="log", xlim=(0.01, 1))
    draw.epsilon_ticks(ax, [1.0, 0.01, 0.1, 0.11, 0.12, 0.2])
    ax.figure.canvas.draw()
    shown = [label.get_text() for label in ax.get_xticklabels()]
    assert shown == ["0.01", "0.1", "", "", "0.2", "1"]


def test_the_mean_is_marked_on_the_curve_of_survivals():
    curve = {"algorithm": "IMED", "at_least": [9.0, 4.0, 1.0], "probability": [0.01, 0.1, 1.0]}
    (ax,) = draw.survivals(pd.DataFrame(curve).assign(mean=4.0, bound=2.0), "algorithm").axes
    assert list(ax.lines[-1].get_xdata()) == [2.0, 2.0]
    (marked,) = (line.get_xydata() for line in ax.lines if len(line.get_xdata()) == 1)
    np.testing.assert_allclose(marked, [[4.0, 0.1]])
    # between two regrets no run falls: there the probability is that of the larger one
    (steps,) = (line for line in ax.lines if len(line.get_xdata()) == 3)
    corners = STEP_LOOKUP_MAP[steps.get_drawstyle()](*steps.get_xydata().T).T.tolist()
    assert corners == [[9, 0.01], [4, 0.01], [4, 0.1], [1, 0.1], [1, 1]]
    # half way on both axes, which are logarithmic
    (ax,) = draw.survivals(pd.DataFrame(curve).assign(mean=2.0, bound=2.0), "algorithm").axes
    (marked,) = (line.get_xydata() for line in ax.lines if len(line.get_xdata()) == 1)
    np.testing.assert_allclose(marked, [[2.0, 0.1**0.5]])


@pytest.mark.parametrize(("count", "finals"), [(3, 0), (7, 1)])
def test_a_grid_has_shared_axes_one_legend_below_and_a_place_for_final_regrets(count, finals):
    cells = itertools.product(range(count), ("UCB1", "IMED"), (1, 10, 100))
    data = pd.DataFrame([(e, a, t, *[t * (e + 1)] * 3) for e, a, t in cells], columns=COLUMNS)
    last = data[data.t == 100].assign(epsilon=data.epsilon + 1) if finals else None
    fig = draw.regret_grid(data, finals=last, name="setting 1")
    drawn = [ax for ax in fig.axes if ax.axison]
    assert fig.get_suptitle() == "setting 1" and len(drawn) == count + finals
    if finals:
        assert drawn.pop().get_title() == "final regret"
    assert [ax.get_title() for ax in drawn] == [rf"$\epsilon = {e:g}$" for e in range(count)]
    assert len({ax.get_xlim() for ax in drawn}) == 1
    assert {ax.get_ylim() for ax in drawn} == {draw.regret_limits(data)}
    assert [text.get_text() for text in fig.legends[0].get_texts()] == ["UCB1", "IMED"]


def test_what_is_missing_is_named_with_the_function_that_makes_it():
    runs = {"algorithm": "IMED", "t": [1, 1, 9, 9], "regret": [1.0, 2.0, 3.0, 4.0], "epsilon": 1.0}
    means = estimates.means(runs := pd.DataFrame(runs), ["algorithm", "t"])
    refused(lambda: draw.regret_panel(means), "q10", "estimates.bands")
    refused(lambda: draw.final_regret_panel(means), "epsilon", "q10", "estimates.bands")
    refused(lambda: draw.regret_grid(means), "epsilon", "estimates.bands")
    refused(lambda: draw.regret_limits(runs), "mean", "estimates.means")
    refused(lambda: draw.survivals(runs, "algorithm"), "probability", "estimates.survival_curves")
    refused(lambda: draw.lines(None, runs, "t", "loss"), "loss")
    refused(lambda: draw.lines(None, means, "t", "mean", band=("q10", "q90")), "estimates.bands")


def test_no_curve_is_a_zigzag():
    """One curve through several first batches, or horizons, is refused; it names what varies."""
    rows = [("IMED", e, n0, *[n0 * e] * 3) for e in (0.1, 1.0) for n0 in (1, 8)]
    data = pd.DataFrame(rows, columns=["algorithm", "epsilon", "n0", "mean", "q10", "q90"])
    refused(lambda: draw.final_regret_panel(data), "algorithm", "epsilon", "n0")
    refused(lambda: draw.regret_panel(data.assign(t=data.epsilon)), "algorithm", "t", "n0")
    draw.final_regret_panel(data[data.n0 == 1])


def test_a_slider_moves_a_parameter_that_has_a_default(monkeypatch):
    """The picture above is not drawn again, and the default is one of the values."""
    drawn, shown = [], []

    def picture(gap, epsilon=0.3, step=1):
        drawn.append((epsilon, step))
        return draw.subplots()[0]

    for wrong in ("gap", "epsilonn"):
        refused(lambda wrong=wrong: draw.play(picture, **{wrong: [1]}), wrong, "epsilon, step")
    draw.play(picture, epsilon=[0.1, 1.0])
    monkeypatch.setattr(draw, "has_front_end", lambda: True)
    monkeypatch.setattr(draw, "display", shown.append)
    draw.play(lambda epsilon=0.3: picture(0, epsilon), epsilon=[0.1, 1.0])
    slider, _ = shown[0].children
    assert slider.options == (0.1, 0.3, 1.0) and drawn == []
    slider.value = 1.0
    assert drawn == [(1.0, 1)]


def test_a_promise_that_is_broken_is_marked():
    bins = pd.DataFrame({"begin": [0, 1], "end": [1, 2], "one": [0.5, 0.5], "other": [0.2, 0.8]})
    bins["log_ratio"] = np.log(bins.other / bins.one)
    for epsilon, broken in ((1.0, 0), (0.5, 1)):
        below = draw.two_tables(bins, epsilon).axes[1]
        assert len(below.texts) == broken
    refused(lambda: draw.two_tables(bins[["begin"]], 1.0), "end")


def test_names_at_the_ends_of_lines_do_not_touch():
    ends = {name: 100 + i for i, name in enumerate("abcdef")} | {"low": 10}
    rows = [(p, x, y * x, name) for p in "12" for name, y in ends.items() for x in (1, 2, 3)]
    data = pd.DataFrame(rows, columns=["run", "t", "mean", "algorithm"])
    fig = draw.chart(data, "t", "mean", panel="run", looks=draw.looks(ends), names="ends")
    assert not fig.legends and pictures.problems(fig, data) == []
    first, ax = fig.axes
    assert not first.texts
    boxes = {text.get_text(): text.get_window_extent() for text in ax.texts}
    assert sorted(boxes, key=lambda name: boxes[name].y0) == ["low", *"abcdef"]
    heights = sorted((box.y0, box.y1) for box in boxes.values())
    assert all(lower[1] <= upper[0] + 1 for lower, upper in itertools.pairwise(heights))
    assert all(box.x0 >= ax.bbox.x1 for box in boxes.values())
    colours = {text.get_text(): text.get_color() for text in ax.texts}
    assert colours == {str(line.get_label())[1:]: line.get_color() for line in ax.lines}
