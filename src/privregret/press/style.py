"""One look for every figure: sizes for print; a colour, a marker and dashes for each algorithm."""

from itertools import cycle
from pathlib import Path

import matplotlib as mpl
import numpy as np
import seaborn as sns

from privregret.core import files

# inches: one column of a two-column page, and both
COLUMN, PAGE = (3.4, 2.45), (7.0, 2.6)
# of the PNGs an inch, and where a notebook shows them
DPI, PIXELS = 200, 130

# Okabe and Ito's colours stay apart for the colour-blind, markers and dashes in grey.
BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PINK, SKY, BLACK, GREY = "#CC79A7", "#56B4E9", "#000000", "#7F7F7F"
SOLID, DASHED, DOTTED, MIXED = "-", (0, (4, 1.5)), (0, (1, 1.8)), (0, (5, 1.2, 1, 1.2))
# a theorem's bound, never a measurement
BOUND = {"color": BLACK, "linestyle": DASHED, "linewidth": 0.7}

_palette = files.toml(Path(__file__).with_name("palette.toml")).items()
_at = globals()
ALGORITHMS = {label: (_at[c.upper()], marker, _at[d.upper()]) for label, (c, marker, d) in _palette}

# for other algorithms, four of one, nine of another and five of the third
OWN = ("#000080", "#B08D57", "#661100", "#C51B7D"), "ov^<>sDPX"
_long = (8, 1.5), (8, 1.5, 1, 1.5), (2.2, 2.2), (8, 1.5, 1, 1.5, 1, 1.5), (8, 1.5, 3.5, 1.5)
_fresh = zip(*map(cycle, (*OWN, [(0, dashes) for dashes in _long])), strict=True)
_known = dict(ALGORITHMS)

RC = {
    "font.family": "serif",
    "font.serif": ["STIXGeneral"],
    "mathtext.fontset": "stix",
    **dict.fromkeys(("font.size", "axes.labelsize", "axes.titlesize"), 8),
    **dict.fromkeys(("legend.fontsize", "xtick.labelsize", "ytick.labelsize"), 7),
    # else ticks are measured in each drawing, to place titles above them
    "axes.titley": 1.0,
    "legend.frameon": False,
    "legend.handlelength": 2.4,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.5,
    **dict.fromkeys(("axes.linewidth", "xtick.major.width", "ytick.major.width"), 0.6),
    **dict.fromkeys(("grid.linewidth", "xtick.minor.width", "ytick.minor.width"), 0.4),
    "axes.grid": True,
    "grid.color": "#DDDDDD",
    "figure.figsize": COLUMN,
    "figure.constrained_layout.use": True,
    # so that the PNG has the texts that were laid out
    "figure.dpi": DPI,
    "pdf.fonttype": 42,
}


def use() -> None:
    """Set the look for all figures drawn from now on; a user's matplotlibrc has no part in it."""
    mpl.rcdefaults()
    sns.set_theme(context="paper", style="ticks", rc=RC)


def look(label: str) -> dict:
    """Colour, marker and dashes of an algorithm, as keywords for `plot`.

    One that `ALGORITHMS` does not list gets the next ones of its own, in the order in which they
    first appear. Of twenty, any two differ in two of the three, and all in colour and dashes from
    those listed.
    """
    if label not in _known:
        _known[label] = next(_fresh)
    return dict(zip(("color", "marker", "linestyle"), _known[label], strict=True))


def ramp(count: int) -> list[str]:
    """Colours for the values of an ordered parameter, from light to dark; the last is black."""
    shades = mpl.colormaps["BuPu"](np.linspace(0.4, 0.95, count - 1)) if count > 1 else ()
    return [*map(mpl.colors.to_hex, shades), BLACK]
