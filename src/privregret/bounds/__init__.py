"""Bounds of the headline theorems, one file per paper; what one notebook needs is in it."""

import numpy as np

Numbers = float | np.ndarray
