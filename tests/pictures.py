"""What is wrong with a figure: points that its data do not have, curves without a name, labels on
top of each other."""

import itertools

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex
from matplotlib.text import Text

from privregret.press import style

# of a column and of a page in print; points that can be read
CENTIMETRES, SMALLEST = (8.5, 17.5), 6


def problems(fig, data) -> list[str]:
    """Say what a figure draws that the data published with it do not have, or does not explain.

    Curves and edges of bands in colour must have the numbers of columns; black is for bounds,
    which do not go back and forth, and shade from 0. A figure is as wide as a column or a page.
    """
    numbers = data.select_dtypes("number").to_numpy(float).ravel()
    known, wrong = np.unique(numbers[np.isfinite(numbers)]), []
    fig.draw_without_rendering()
    renderer = FigureCanvasAgg(fig).get_renderer()
    legends = [*fig.legends, *(ax.get_legend() for ax in fig.axes if ax.get_legend())]
    entries = {text.get_text() for legend in legends for text in legend.get_texts()}
    # or names at the ends of the lines of one panel
    entries |= {text.get_text() for ax in fig.axes for text in ax.texts}
    if fig.get_figwidth() not in (style.COLUMN[0], style.PAGE[0]):
        wrong.append(f"it is {fig.get_figwidth():g} inches wide")
    # in print, a column of 8.5 cm and a page of two
    shrunk = CENTIMETRES[int(fig.get_figwidth() > style.COLUMN[0])] / 2.54 / fig.get_figwidth()
    texts = [text for text in fig.findobj(Text) if text.get_visible() and text.get_text().strip()]
    smallest = min(texts, key=Text.get_fontsize)
    if smallest.get_fontsize() * shrunk < SMALLEST:
        wrong.append(f"{smallest.get_text()!r} has {smallest.get_fontsize() * shrunk:.1f} points")
    for ax in filter(mpl.axes.Axes.get_visible, fig.axes):
        lines = [line for line in ax.lines if line.get_visible() and len(line.get_xdata()) > 2]
        for line in lines:
            label = str(line.get_label())
            if to_hex(line.get_color()) != "#000000":
                wrong += _absent(f"curve {label}", line.get_ydata(), known)
            elif line.get_linewidth() == style.BOUND["linewidth"]:
                steps = np.diff(np.asarray(line.get_xdata(), float))
                if steps.min() < 0 < steps.max():
                    wrong.append(f"bound {label} goes back")
            # a curve beside which its name is written is drawn without a label
            if not label.startswith("_") and label not in entries:
                wrong.append(f"{label} has no entry in a legend, and is not written in a panel")
        for band in ax.collections:
            if isinstance(band, PolyCollection) and band.get_alpha() in (0.2, 0.3):
                for path in band.get_paths():
                    wrong += _absent("a band", path.vertices[:, 1], known)
            elif isinstance(band, PolyCollection) and band.get_alpha() == 0.08:
                heights = np.concatenate([path.vertices[:, 1] for path in band.get_paths()])
                # its two edges have as many points, and three are there twice
                if 2 * (heights == 0).sum() + 3 < len(heights):
                    wrong.append("what is forbidden does not begin at 0")
        for axis in (ax.xaxis, ax.yaxis):
            wrong += _overlapping(axis, renderer)
    return wrong


def _absent(what, drawn, known):
    """A curve most of whose heights are no number of the data."""
    drawn = np.asarray(drawn, float)
    drawn = drawn[np.isfinite(drawn)]
    if not len(drawn) or not len(known):
        return []
    after = np.searchsorted(known, drawn)
    around = known[np.clip([after - 1, after], 0, len(known) - 1)]
    nearest = abs(around - drawn).min(axis=0)
    share = (nearest <= 1e-9 * np.maximum(1e-3, abs(drawn))).mean()
    return [f"{what}: {1 - share:.0%} of its points are not in the data"] if share < 0.99 else []


def _overlapping(axis, renderer):
    """Two labels of ticks of one axis that share space."""
    labels = [t for t in axis.get_ticklabels(which="both") if t.get_visible() and t.get_text()]
    low, high = sorted(axis.get_view_interval())
    side = 0 if axis.axis_name == "x" else 1
    labels = [t for t in labels if low <= t.get_position()[side] <= high]
    boxes = sorted((t.get_window_extent(renderer) for t in labels), key=lambda b: b.min[side])
    pairs = itertools.pairwise(boxes)
    if any(one.max[side] > other.min[side] + 0.5 for one, other in pairs):
        return [f"labels of the {axis.axis_name} axis overlap"]
    return []
