"""Pass arguments to inlined kernels without counting references."""

from typing import TypeVar

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

T = TypeVar("T")


def borrowed(thing: T) -> T:
    """Return an array, generator or tuple whose references are not counted.

    An inlined call counts each of its arguments up and down, with atomic operations of 5 ns each.
    The caller must keep the original alive: an argument of the function stays alive, and so does an
    array that is used after the loop.

    Examples
    --------
    >>> borrowed((1, 2))
    (1, 2)
    """
    return thing


@overload(borrowed)
def _borrowed(thing):
    return lambda thing: _uncounted(thing)


@intrinsic
def _uncounted(typing, thing):
    def code(context, builder, signature, values):
        return _without(context, builder, signature.args[0], values[0])

    return thing(thing), code


def _without(context, builder, kind, value):
    """Return the value without an owner of its memory, whose count numba would change."""
    if isinstance(kind, types.BaseTuple):
        for i, member in enumerate(kind):
            inner = _without(context, builder, member, builder.extract_value(value, i))
            value = builder.insert_value(value, inner, i)
    elif isinstance(kind, (types.Array, types.NumPyRandomGeneratorType)):
        struct = cgutils.create_struct_proxy(kind)(context, builder, value=value)
        struct.meminfo = cgutils.get_null_value(struct.meminfo.type)
        value = struct._getvalue()
    return value
