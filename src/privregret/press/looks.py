"""Find what is wrong with the look of a figure: a legend on data, an algorithm in a foreign look.

`publish.figure` records what is found in the manifest, and a test expects none in the committed
figures.
"""

import itertools
import re
from collections import defaultdict

from matplotlib.collections import Collection
from matplotlib.colors import same_color, to_rgba_array
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from privregret.press import style

BOUND = re.compile(r"\bbound\b|^(Theorem|Corollary|Lemma|Proposition) ")


def faults(fig) -> list[str]:
    """List the faults of a figure that is laid out, one line each.

    A legend must cover no line, marker, bar, band or text of any axes. What is labelled with the
    name of an algorithm must have the look of `style.look`, in one artist or in a line and points
    of the same label; after a comma, as in "UCB1, not private", dashes are free. Two algorithms
    must differ in marker, and in colour or dashes. What is labelled as a bound must be grey.

    Examples
    --------
    >>> from privregret.press import draw
    >>> fig, ax = draw.subplots()
    >>> _ = ax.plot([0, 1], [0, 1], "k-", label="UCB1")
    >>> faults(fig)
    ["the marker of 'UCB1' is not its own", "the dashes of 'UCB1' are not its own"]
    """
    legends = [a for x in (fig, *fig.axes) for a in x.get_children() if isinstance(a, Legend)]
    covers = [f"a legend covers {what!r}" for legend in legends for what in covered(legend)]
    labels = {label for ax in fig.axes for label in ax.get_legend_handles_labels()[1]}
    names = sorted({name for label in labels if (name := algorithm(label))})
    return [*covers, *(fault for ax in fig.axes for fault in _foreign(ax)), *_alike(names)]


def algorithm(label: str) -> str | None:
    """Return the algorithm that a label is about, before any colon or comma.

    Examples
    --------
    >>> algorithm("UCB1: 120"), algorithm("UCB1, not private"), algorithm("UCB1 or so")
    ('UCB1', 'UCB1', None)
    """
    starts = [a for a in style.ALGORITHMS if f"{label}: ".startswith((f"{a}: ", f"{a}, "))]
    return max(starts, key=len, default=None)


def covered(legend, margin: float = 0.0) -> list[str]:
    """List the labels, or kinds, of what a legend covers in a figure that is laid out.

    A margin of some points around the legend counts as covered.
    """
    fig = legend.get_figure(root=True)
    box = legend.get_window_extent()
    if not legend.get_frame_on():  # its margin is invisible
        margin -= legend.borderpad * legend.prop.get_size_in_points()
    box = box.padded(margin * fig.dpi / 72)
    found = []
    for ax in fig.axes:
        if inside := Bbox.intersection(box, ax.bbox):
            drawn = (*ax.lines, *ax.collections, *ax.patches, *ax.texts)
            found += [a for a in drawn if a.get_visible() and _touches(a, inside, fig.dpi / 72)]
    labels = [(str(a.get_label()), type(a).__name__) for a in found]
    return [kind if label[:1] in ("", "_") else label for label, kind in labels]


def _touches(artist, box, point):
    """Whether any ink of an artist is in a box of pixels, of which a point has `point`."""
    if isinstance(artist, Text):
        return bool(artist.get_text()) and box.overlaps(artist.get_window_extent())
    if isinstance(artist, Line2D):
        path = artist.get_transform().transform_path(artist.get_path())
        around = box.padded(artist.get_linewidth() * point / 2)
        if artist.get_linestyle() != "None" and path.intersects_bbox(around, filled=False):
            return True
        marked = artist.get_marker() not in NO_MARKER and artist.get_markevery() is None
        near = box.padded(marked * artist.get_markersize() * point / 2)
        return marked and near.count_contains(path.vertices) > 0
    if isinstance(artist, Collection):
        offsets = artist.get_offset_transform()
        if offsets.contains_branch(artist.axes.transData):  # points of `scatter`
            return box.count_contains(offsets.transform(artist.get_offsets())) > 0
        paths, filled = artist.get_paths(), len(artist.get_facecolor()) > 0
    else:
        paths, filled = [artist.get_path()], artist.get_fill()
    across = artist.get_transform()
    return any(across.transform_path(p).intersects_bbox(box, filled=filled) for p in paths)


NO_MARKER = "None", "none", "", " ", None


def _foreign(ax):
    """Faults in the looks of what has a label in an axes."""
    parts = defaultdict(list)
    for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
        parts[label].append(handle[0] if isinstance(handle, tuple) else handle)
    found = []
    for label, artists in parts.items():
        name = algorithm(label)
        if name is None and not BOUND.search(label):
            continue
        lines = [a for a in artists if isinstance(a, Line2D)]
        colour = style.look(name)["color"] if name else style.GREY
        if not all(same_color(_colour(a), colour) for a in (artists if name else lines)):
            found.append(f"the colour of {label!r} is not its own")
        if name is None or not lines:
            continue
        own = Line2D([], [], **style.look(name))
        if {a.get_marker() for a in lines}.difference(NO_MARKER) != {own.get_marker()}:
            found.append(f"the marker of {label!r} is not its own")
        dashes = {_dashes(a) for a in lines if a.get_linestyle() != "None"}
        if dashes - {_dashes(own)} and not label.startswith(f"{name}, "):
            found.append(f"the dashes of {label!r} are not its own")
    return found


def _alike(names):
    """Faults of algorithms that a reader would confuse."""
    for pair in itertools.combinations(names, 2):
        (colour, marker, dashes), other = (style.ALGORITHMS[name] for name in pair)
        if marker == other[1] or (colour, dashes) == (other[0], other[2]):
            yield f"{pair[0]!r} and {pair[1]!r} look alike"


def _colour(artist):
    if isinstance(artist, Line2D):
        return artist.get_color()
    faces, edges = (to_rgba_array(c) for c in (artist.get_facecolor(), artist.get_edgecolor()))
    return (faces if len(faces) else edges)[0, :3]


def _dashes(line):
    return repr(line._unscaled_dash_pattern)  # matplotlib has no public name for it
