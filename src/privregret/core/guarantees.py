"""State what an algorithm guarantees about privacy."""

import math
from typing import NamedTuple


class Privacy(NamedTuple):
    """The guarantee for the whole sequence of actions; epsilon is inf if there is none."""

    printed: float  # epsilon as claimed by the source
    proved: float  # epsilon that is proved, in the source or here
    delta: float = 0.0  # 0 for pure differential privacy
    neighbours: str = "everything in one round replaced"  # changes of the data that are covered


NOT_PRIVATE = Privacy(math.inf, math.inf)
