"""What an algorithm guarantees about privacy."""

import math
from typing import NamedTuple


class Privacy(NamedTuple):
    """What the whole sequence of actions is guaranteed.

    Attributes
    ----------
    printed : float
        Epsilon as the source claims it; inf if it claims none.
    proved : float
        Epsilon as it can be proved, here or there; inf if nothing is.
    delta : float
        0 for pure differential privacy.
    neighbours : str
        Which changes of the data are covered.
    """

    printed: float
    proved: float
    delta: float = 0.0
    neighbours: str = "everything in one round replaced"


NOT_PRIVATE = Privacy(math.inf, math.inf)
