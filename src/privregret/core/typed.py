"""What compiled code does by the types of its arguments."""

from typing import Any

import numba
import numpy as np
from numba.extending import overload


def arm_of(choice: Any) -> Any:
    """Return a choice as it is, and False and True as numbers, which index arrays."""
    return int(choice) if isinstance(choice, (bool, np.bool_)) else choice


def keep_alive(*arrays: np.ndarray) -> None:
    """Keep arrays alive up to this line: a record in compiled code does not."""


def _arm_of(choice):
    is_bool = isinstance(choice, numba.types.Boolean)
    return (lambda choice: int(choice)) if is_bool else (lambda choice: choice)


def _keep_alive(*arrays):
    return lambda *arrays: None


for function, compiled in ((arm_of, _arm_of), (keep_alive, _keep_alive)):
    # as an attribute it counts for all that calls the function
    function.compiled = overload(function)(compiled)  # type: ignore
