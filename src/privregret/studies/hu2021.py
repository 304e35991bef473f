"""What the notebooks on hu2021 need and no other does, in the order settings, measure, plot."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from privregret import checks, estimates
from privregret.instances import BernoulliBandit
from privregret.press import draw
from privregret.privacy import ledger

# Settings


def means_with_a_gap(name: str, value) -> np.ndarray:
    """Check the means of Bernoulli arms that are not all equal, or no regret would be above 0.

    Examples
    --------
    >>> means_with_a_gap("setting_1", [0.75, 0.7]).tolist()
    [0.75, 0.7]
    """
    means = checks.means(name, value)
    if means.min() == means.max():
        raise ValueError(f"{name} must not hold equal means only, got {checks.shown(value)}")
    return means


def described(setting: BernoulliBandit) -> str:
    """A setting of five arms as captions name it, with its means."""
    means = ", ".join(f"{mean:g}" for mean in setting.means)
    return f"{setting.name} (five Bernoulli arms with means {means})"


# Measure


def panel_of(per_round: pd.DataFrame, setting: BernoulliBandit, epsilon: float) -> pd.DataFrame:
    """The rows of one setting and one epsilon: the curves of one panel."""
    here = (per_round.instance == setting.name) & (per_round.epsilon == epsilon)
    return per_round[here].drop(columns="instance")


def limits_of(
    per_round: pd.DataFrame, setting: BernoulliBandit, epsilons: list[float]
) -> tuple[float, float]:
    """One range of regrets for all panels of a setting, from its curves at these epsilons."""
    here = (per_round.instance == setting.name) & per_round.epsilon.isin(epsilons)
    return draw.regret_limits(per_round[here])


def regret_ratio(
    final: pd.DataFrame, algorithm: str, over: str, setting: BernoulliBandit, epsilon: float
) -> estimates.Estimate:
    """Mean regret of one algorithm over that of another, in one setting at one epsilon."""
    here = {"instance": setting.name, "epsilon": epsilon}
    above = estimates.row(final, algorithm=algorithm, **here)
    return above / estimates.row(final, algorithm=over, **here)


# Plot


def show_releases(
    ax: Axes, released: list[ledger.Release], pulls: int, title: str, color: str, alarm: str
) -> None:
    """Draw what is released about an arm, one bar per release, and what each reward costs.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    released : list of privacy.ledger.Release
    pulls : int
    title : str
    color, alarm : str
        Colours of the arrays, and of costs above 1.
    """
    top = 0
    for release in released:
        length = release.last - release.first + 1
        level = 0 if release.kind == "array" else length.bit_length()
        top = max(top, level)
        fill = color if release.kind == "array" else "#BBBBBB"
        ax.barh(
            level, length - 0.16, left=release.first - 0.42, height=0.72, color=fill, linewidth=0
        )
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
        above = {"color": alarm, "fontweight": "bold"} if cost > 1 + 1e-9 else {}
        ax.text(pull, -1, f"{cost:.3g}", ha="center", va="center_baseline", fontsize=6, **above)
    ax.set(xlim=(0.4, pulls + 0.6), ylim=(-1.6, top + 0.6), title=title, xticks=range(1, pulls + 1))
    names = ["cost", "array", *(f"node of {2 ** (level - 1)}" for level in range(1, top + 1))]
    ax.set_yticks(range(-1, top + 1), names)
    ax.grid(False)
    ax.tick_params(length=0)
