"""Every theorem's bound as a function, one file per paper.

What functions take is checked (`privregret.core.checks.arguments`): a TypeError or ValueError of
one line names the argument that is wrong, its value and what is allowed. Rules in the plural are
for a number or an array of numbers, those in the singular for a number alone.
"""

import numpy as np

from privregret.core import checks

Numbers = float | np.ndarray  # a number, or an array of numbers

POSITIVES = checks.array_in(
    1e-15, 1e15
)  # what may be divided by, squared, and multiplied with rounds
POSITIVE = checks.number_in(1e-15, 1e15)
SHARES = checks.array_in(0, 1)
GAPS = checks.array_in(1e-30, 1)
ROUNDS = checks.array_in(0, 2**62)
HORIZONS = checks.array_in(1, 2**62)
HORIZON = checks.number_in(1, 2**62)
LOGARITHMS = checks.array_in(0, 1e6)  # of a number of actions
LOG_ACTIONS = checks.array_in(0.69, 1e6)  # ln 2 is 0.693
LOG_COUNTS = checks.array_in(0, 1e6, shape=1)  # of groups of actions
NOISE = checks.one_of("laplace", "exponential", "gumbel")
