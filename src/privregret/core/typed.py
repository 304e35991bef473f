"""Functions that compiled code takes by the types of their arguments."""

from typing import Any

import numba
import numpy as np
from numba.extending import overload

ARMS = int, np.integer, np.bool_


class WrongArm(ValueError):
    """An arm that does not exist: (arm, round, number of arms[, class of the algorithm])."""

    def __str__(self):
        arm, t, arms, *of = self.args
        who = f" of {of[0]}" if of else ""
        return f"choose{who} must return one of 0..{arms - 1}, got {arm!r} in round {t}"


def arm_of(choice: Any, t: int, arms: int) -> int:
    """Return the choice of round t as a number, False and True as 0 and 1; WrongArm for others."""
    if not isinstance(choice, ARMS) or not 0 <= choice < arms:
        raise WrongArm(choice, t, arms)
    return int(choice)


def keep_alive(*arrays: np.ndarray) -> None:
    """Keep arrays alive up to this line: a record in compiled code does not."""


def _arm_of(choice, t, arms):
    def arm(choice, t, arms):
        if choice < 0 or choice >= arms:
            raise WrongArm(choice, t, arms)
        return choice

    # True does not index arrays
    is_bool = isinstance(choice, numba.types.Boolean)
    return (lambda choice, t, arms: int(choice)) if is_bool else arm


def _keep_alive(*arrays):
    return lambda *arrays: None


# as an attribute it counts for all code that calls the function
arm_of.compiled = overload(arm_of)(_arm_of)  # type: ignore
keep_alive.compiled = overload(keep_alive)(_keep_alive)  # type: ignore
