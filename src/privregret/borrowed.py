"""Arguments of inlined kernels without a reference count, which takes longer than many a step."""

from typing import TypeVar

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

T = TypeVar("T")


def borrowed(thing: T) -> T:
    """The same array, generator, or tuple with such in it, but compiled code does not count it.

    An inlined call counts each of its arguments up and down, with atomic operations of 5 ns each.
    Who borrows must see to it that the thing itself lives as long: an argument of the function
    does, and so does an array that is used after the loop.

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
    """The value with no owner of its memory, whose count is what numba would change."""
    if isinstance(kind, types.BaseTuple):
        for i, member in enumerate(kind):
            inner = _without(context, builder, member, builder.extract_value(value, i))
            value = builder.insert_value(value, inner, i)
    elif isinstance(kind, (types.Array, types.NumPyRandomGeneratorType)):
        struct = cgutils.create_struct_proxy(kind)(context, builder, value=value)
        struct.meminfo = cgutils.get_null_value(struct.meminfo.type)
        value = struct._getvalue()
    return value
