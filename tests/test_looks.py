"""Faults of figures: planted ones are found, and sound figures have none."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from privregret.press import draw, looks, style

X = np.linspace(0, 1, 200)


@pytest.fixture(autouse=True)
def published():
    """The look in which figures are published."""
    style.use()


def faults(plot, **legend):
    """What is found in a figure whose axes `plot` draws on, with a legend if it is placed."""
    fig, ax = draw.subplots()
    plot(ax)
    if legend:
        ax.legend(**legend)
    fig.draw_without_rendering()
    return looks.faults(fig)


# each reaches the lower right corner, some of them with no point in it
DRAWN = {
    "line": lambda ax: ax.plot([0, 1, 2], [2, 0.1, -1.7], "k-", label="x"),
    "points": lambda ax: ax.plot([0, 0.9], [1, 0.1], "ko", label="x"),
    "markers": lambda ax: ax.scatter([0, 0.9], [1, 0.1], label="x"),
    "errors": lambda ax: ax.errorbar([0.9], [0.3], [0.29], label="x"),
    "bars": lambda ax: ax.bar([0, 0.9], [1, 0.5], label="x"),
    "band": lambda ax: ax.fill_between(X, 0, 0.5, label="x"),
    "reference": lambda ax: ax.axhline(0.1, label="x"),
    "text": lambda ax: ax.text(0.8, 0.1, "x"),
}


@pytest.mark.parametrize("what", DRAWN)
def test_a_legend_on_data_is_found(what):
    def plot(ax):
        ax.plot([0, 0.1], [0.9, 1], "k-", label="elsewhere")
        DRAWN[what](ax)
        ax.set(xlim=(0, 1), ylim=(0, 1))

    assert any("covers" in fault for fault in faults(plot, loc="lower right"))
    assert not any("covers" in fault for fault in faults(plot, loc="upper right"))


def test_what_leaves_the_axes_is_not_under_a_legend_outside_them():
    def plot(ax):
        ax.plot(X, 3 * X, "k-", label="x")
        ax.set_ylim(0, 1)

    assert faults(plot, loc="lower right", bbox_to_anchor=(1, 1)) == []


def look(**changes):
    return lambda ax: ax.plot(X, X, label="UCB1", **(style.look("UCB1") | changes))


@pytest.mark.parametrize("changed", [{"color": "r"}, {"marker": ""}, {"linestyle": "-"}])
def test_a_foreign_look_is_found(changed):
    assert len(faults(look(**changed))) == 1
    assert faults(look()) == faults(look(markevery=50, alpha=0.5, linewidth=3)) == []


def test_a_look_may_be_split_and_a_comma_frees_the_dashes():
    def split(ax):
        look(marker="")(ax)
        look(linestyle="")(ax)

    def variant(ax):
        look()(ax)
        ax.plot(X, 2 * X, label="UCB1, again", **(style.look("UCB1") | {"linestyle": "-"}))

    assert faults(split) == faults(variant) == []


def test_algorithms_that_look_alike_are_found(monkeypatch):
    def plot(ax):
        for name in ("Anytime-Lazy-UCB", "FTNL (Laplace)", "twin"):
            ax.plot(X, X, label=name, **style.look(name))

    assert faults(plot) == []
    monkeypatch.setitem(style.ALGORITHMS, "twin", style.ALGORITHMS["Anytime-Lazy-UCB"])
    assert any("alike" in fault for fault in faults(plot))


@pytest.mark.parametrize("label", ["mine", "explore last", "BatchedTS", "two", "three"])
def test_an_algorithm_of_one_s_own_has_a_look_that_no_other_has(label):
    own, listed = style.look(label), [*map(style.look, style.ALGORITHMS)]
    assert own == style.look(label)
    assert own["color"] not in {look["color"] for look in listed} | {style.GREY}
    assert own["linestyle"] not in [look["linestyle"] for look in listed]


def test_a_bound_is_grey():
    assert faults(lambda ax: ax.plot(X, X, "r--", label="lower bound")) != []
    assert faults(lambda ax: ax.scatter(X, X, label="a bound, measured", facecolors="none")) == []
    assert faults(lambda ax: draw.bound(ax, X, X, "lower bound")) == []


@pytest.mark.parametrize(("rows", "inside"), [(1, True), (7, False)])
def test_a_legend_finds_room_or_goes_below(rows, inside):
    fig, ax = draw.subplots()
    for i in range(rows):
        ax.plot(X, (i + X) / rows, label=f"curve {i}")
    draw.legend(ax, title="curves")
    fig.draw_without_rendering()
    assert looks.faults(fig) == []
    assert (ax.get_legend() is not None, len(fig.legends)) == (inside, not inside)
    legend = ax.get_legend() or fig.legends[0]
    assert legend.get_title().get_text() == "curves" and len(legend.get_texts()) == rows
    plt.close(fig)
