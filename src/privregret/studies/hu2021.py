"""What the notebooks on hu2021 draw and no other does."""

from privregret.privacy import ledger


def show_releases(ax, released, pulls, title, color, alarm):
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
