"""State what an algorithm guarantees about privacy."""

import math
from typing import NamedTuple


class Privacy(NamedTuple):
    """Hold the guarantee for the whole sequence of actions.

    Attributes
    ----------
    printed : float
        Epsilon as claimed by the source; inf if the source claims none.
    proved : float
        Epsilon that is proved, in the source or here; inf if none is.
    delta : float
        0 for pure differential privacy.
    neighbours : str
        Changes of the data that are covered.
    """

    printed: float
    proved: float
    delta: float = 0.0
    neighbours: str = "everything in one round replaced"


NOT_PRIVATE = Privacy(math.inf, math.inf)
