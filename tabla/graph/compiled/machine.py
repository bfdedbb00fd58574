"""The machine code of a text, from numba or from the cache."""

from __future__ import annotations

import platform
import types
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tabla._version import VERSION
from tabla.base.caches import Cache, key_of

Function = Callable[..., Any]
LARGEST = 64_000_000
"""How many bytes the machine code of all texts may take on disk. That of one takes about 200 kB."""
_FILE = "steps.py"
_MOST_READY = 64
READY: dict[str, Function] = {}
"""The machine code that this process has made or read, by its key. What was used last stands at the end."""


def available() -> bool:
    """Return whether numba is installed."""
    return find_spec("numba") is not None


def machine_code(text: str, units: Mapping[str, Function], arguments: tuple[Any, ...], *, reorder: bool) -> Function:
    """Return the function ``steps`` of a text as machine code for arguments of these types.

    `units` are the functions that the text may call. With `reorder`, sums of float64 may be taken in any order.
    """
    key = _key(text, units, arguments, reorder)
    found = READY.pop(key, None) or _from_cache(text, key, units, arguments, reorder)
    READY[key] = found
    if len(READY) > _MOST_READY:
        del READY[next(iter(READY))]
    return found


def _from_cache(
    text: str, key: str, units: Mapping[str, Function], arguments: tuple[Any, ...], reorder: bool
) -> Function:
    """Return machine code from the cache, where it is put if it is not there."""
    kept = Cache.of("compiled", LARGEST)
    if kept is None:
        return _compile(text, None, key, units, arguments, reorder)

    def read(entry: Path) -> Function:
        return _compile((entry / _FILE).read_text(encoding="utf-8"), entry / _FILE, key, units, arguments, reorder)

    def write(entry: Path) -> Function:
        (entry / _FILE).write_text(text, encoding="utf-8", newline="\n")
        return read(entry)

    try:
        return kept.read(key, read) or kept.add(key, write)
    except OSError:  # a full disk
        return _compile(text, None, key, units, arguments, reorder)


def _key(text: str, units: Mapping[str, Function], arguments: tuple[Any, ...], reorder: bool) -> str:
    """Name all that the machine code depends on."""
    import llvmlite.binding
    import numba

    parts = [text, VERSION, numba.__version__, platform.python_version(), platform.machine(), str(reorder)]
    parts += [llvmlite.binding.get_host_cpu_name(), llvmlite.binding.get_host_cpu_features().flatten()]
    parts += map(str, _types(arguments))
    for name, function in units.items():
        parts += [name, function.__code__.co_code.hex(), repr(function.__code__.co_consts)]
    return key_of(*parts)


def run_text(text: str, path: Path | None) -> dict[str, Any]:
    """Return the names that a text defines. `path` is the file of the text, if it has one."""
    # The name is that of a module that exists, because numba imports it when it reads machine code from a file.
    space: dict[str, Any] = {"__name__": __name__, "__file__": str(path or "<tabla>")}
    exec(compile(text, str(path or "<tabla>"), "exec"), space)
    return space


def _compile(
    text: str,
    path: Path | None,
    key: str,
    units: Mapping[str, Function],
    arguments: tuple[Any, ...],
    reorder: bool,
) -> Function:
    """Compile a text. Numba looks for its machine code beside its file, and writes it there."""
    import numba

    space = run_text(text, path)
    # Exact sums need no order. In float64 only the order is given up: infinities, NaN and signs of zero are kept.
    options: dict[str, Any] = {"error_model": "numpy", "fastmath": {"reassoc", "contract"} if reorder else False}
    for name, function in units.items():
        # A copy of the function with these globals: machine code calls machine code only.
        copied = types.FunctionType(function.__code__, function.__globals__ | space, name)
        space[name] = numba.njit(_renamed(copied, key), **options)
    steps: Any = numba.njit(_renamed(space["steps"], key), cache=path is not None, **options)
    steps.compile(_types(arguments))
    made: Function = steps
    return made


def _types(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    import numba

    type_of: Function = numba.typeof
    return tuple(map(type_of, arguments))


def _renamed(function: Any, key: str) -> Any:
    """Give a function a name that no other text has, because machine code of one name must be the same in a process."""
    function.__name__ = function.__qualname__ = f"{function.__name__}_{key}"
    return function
