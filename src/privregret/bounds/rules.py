"""Every theorem's bound as a function, one file per paper.

What functions take is checked (`privregret.checks.arguments`): a TypeError or ValueError of one line names the argument
that is wrong, its value and what is allowed. Where formulas say so, a number may be an array of numbers.
"""

from privregret import checks

POSITIVE = checks.within(1e-15, 1e15)  # what may be divided by, squared, and multiplied with rounds
SHARE = checks.within(0, 1)
ROUNDS = checks.within(0, 2**62)
LOGARITHM = checks.within(0, 1e6)  # of a number of actions
RULES = {
    "epsilon": POSITIVE,
    "eta": POSITIVE,
    "scale": POSITIVE,
    "gap": checks.within(1e-30, 1),
    "rounds": ROUNDS,
    "horizon": checks.within(1, 2**62),
    "log_actions": checks.within(0.69, 1e6),  # ln 2 is 0.693
    "noise": checks.one_of("laplace", "exponential", "gumbel"),
}
ONE = {name: checks.within(1e-15, 1e15, shape=0) for name in ("epsilon", "eta", "scale")}  # a number, and no array
ONE["horizon"] = checks.within(1, 2**62, shape=0)
