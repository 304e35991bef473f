"""Pictures that recur: what is drawn where."""

import matplotlib.pyplot as plt
import pandas as pd

from privregret import draw, style


def test_looks_tell_six_values_apart():
    looks = draw.looks("abcdefgh", (style.SOLID, style.DASHED))
    assert list(looks) == list("abcdefgh")
    assert len({(look["color"], look["marker"]) for look in looks.values()}) == 6
    assert looks["a"]["linestyle"] == style.SOLID and looks["b"]["linestyle"] == style.DASHED


def test_a_family_has_a_panel_for_each_value_with_its_curves_and_bounds():
    rows = [(k, a, x, k * x, 9 * x) for k in (2, 1) for a in ("UCB1", "IMED") for x in (1, 2, 3)]
    data = pd.DataFrame(rows, columns=["K", "algorithm", "x", "y", "limit"])
    fig, axes = draw.family(data, "K", "x", "y", "$K={}$", {"limit": "a bound"}, axes={"xlabel": "x"})
    assert [ax.get_title() for ax in axes] == ["$K=2$", "$K=1$"]
    for ax, k in zip(axes, (2, 1), strict=True):
        drawn = {line.get_label(): line for line in ax.lines}
        assert set(drawn) == {"UCB1", "IMED", "a bound"} and ax.get_xlabel() == "x"
        assert list(drawn["IMED"].get_ydata()) == [k, 2 * k, 3 * k]
        assert list(drawn["a bound"].get_ydata()) == [9, 18, 27]
    plt.close(fig)
