"""Every theorem's bound as a function, one file per paper."""

import numpy as np

Numbers = float | np.ndarray  # a number, or an array of numbers
