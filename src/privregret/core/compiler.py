"""What the package takes from numba beyond its documented interface: what a new version may break.

`jit` decides what is compiled and where its code is stored; this says how numba is told.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from llvmlite.binding import get_host_cpu_name
from numba import config
from numba.core import event
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature

__all__ = ["Dispatcher", "NumbaError"]  # to import from here
# those of numba's switches that decide what it compiles
SWITCHES = """BOUNDSCHECK CPU_FEATURES CPU_NAME DEBUGINFO_DEFAULT DISABLE_INTEL_SVML DISABLE_JIT
    ENABLE_AVX EXTEND_VARIABLE_LIFETIMES LLVM_REFPRUNE_FLAGS LLVM_REFPRUNE_PASS LOOP_VECTORIZE OPT
    SLP_VECTORIZE""".split()
processor = get_host_cpu_name


def switches() -> tuple[str, ...]:
    """Return numba's switches, as they are now."""
    return tuple(repr(getattr(config, name, None)) for name in SWITCHES)


def all_options(kernel: Any) -> dict[str, Any]:
    """Return the options of a kernel, with the types of local variables if it was given any."""
    return kernel.targetoptions | ({"locals": kernel.locals} if kernel.locals else {})


def fixed_signatures(kernel: Any) -> str:
    """Return the signatures of a kernel that takes no others, or an empty text."""
    return "" if kernel._can_compile else str(kernel.signatures)


def compiled_from(kernel: Any) -> set[str]:
    """Return the set, which `jit` adds to, of digests of what a kernel was compiled from."""
    return vars(kernel).setdefault("compiled_from", {"unknown"} if kernel.overloads else set())


def before_compiling(notify: Callable[[Any], None]) -> None:
    """Call a function with each kernel that numba is about to compile, whoever decorated it."""

    class Listener(event.Listener):
        def on_start(self, event):
            with suppress(Exception):
                notify(event.data["dispatcher"])

        def on_end(self, event):
            pass

    event.register("numba:compile", Listener())


class Cache(NullCache):
    """Code of a kernel on disk; `read` and `write`, of a subclass, are given what it is for."""

    read: Callable[[tuple], tuple]  # any error if there is none
    write: Callable[[tuple, bytes], None]

    def attach(self, kernel: Any) -> None:
        """Make numba look here before it compiles a kernel."""
        kernel._cache = self

    def load_overload(self, signature, context):
        context.refresh()
        with suppress(Exception):  # there is none, or it is damaged
            code = self.read(variant(signature, context.codegen()))
            result = CompileResult._rebuild(context, *code)
            if result.signature.args == normalize_signature(signature)[0]:
                return result
        return None

    def save_overload(self, signature, result):
        with suppress(Exception):  # disk full
            # such code has addresses of this process
            if not result.library.has_dynamic_globals:
                self.write(variant(signature, result.library.codegen), dumps(result._reduce()))


def variant(signature: Any, codegen: Any) -> tuple:
    """Return the types, with the fields of named tuples, and the machine that code is for."""
    arguments, _ = normalize_signature(signature)
    return [(str(one), getattr(one, "fields", ())) for one in arguments], codegen.magic_tuple()
