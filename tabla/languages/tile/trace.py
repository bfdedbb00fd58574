"""Runs the user's function once, for given shapes, and keeps what it says.

The user's Python files are read as modules.
"""

from __future__ import annotations

import inspect
import linecache
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FunctionType, ModuleType, TracebackType
from typing import Any

from tabla.base.faults import did_you_mean
from tabla.base.source import Label, Source, Span, TablaError
from tabla.languages.tile import edsl
from tabla.languages.tile.places import line_span, place, refuse, source_of
from tabla.languages.tile.program import Input, Kind, Name, Node, Program, Step
from tabla.languages.tile.steps import collecting
from tabla.languages.tile.tensors import Tensor


def load_module(path: Path) -> ModuleType:
    """Run a file. What is wrong with it is a `TablaError` at its place, under the name that the user gave."""
    source = Source.from_path(path)
    code = _compiled(source, path)
    linecache.checkcache(str(path))
    module = ModuleType(f"tile_{path.stem}")
    # A text of the tutorial has no import. What a file imports or defines under these names counts.
    module.__dict__.update({name: getattr(edsl, name) for name in edsl.__all__})
    module.__file__ = str(path)
    # Entered first because dataclasses look their module up there.
    sys.modules[module.__name__] = module
    # Beside the file lie the modules that it imports, as for a script. Python remembers what "." was when it was asked
    # first, so the path is absolute.
    folder = str(path.parent.resolve())
    sys.path.insert(0, folder)
    try:
        with _plaidml():
            exec(code, module.__dict__)
    except TablaError:
        raise
    except (Exception, SystemExit) as error:
        span = _span_in(path, error)
        labels = [Label(span)] if span else []
        hint = "Python runs the file, and ended with this exception; mend what raises it"
        raise TablaError(f"{type(error).__name__}: {error}", *labels, hint=hint) from error
    finally:
        sys.path.remove(folder)
    return module


@contextmanager
def _plaidml() -> Iterator[None]:
    """Let ``from plaidml.edsl import *`` mean Tile of this package, as long as the ``with`` block runs."""
    package = ModuleType("plaidml")
    package.__dict__.update(edsl=edsl, DType=edsl.DType, __path__=[])
    aliases: dict[str, ModuleType] = {"plaidml": package, "plaidml.edsl": edsl}
    before = {name: sys.modules.get(name) for name in aliases}
    sys.modules.update(aliases)
    try:
        yield
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


def _compiled(source: Source, path: Path) -> CodeType:
    """Compile a file. What Python cannot compile is a `TablaError`."""
    if (nothing := source.text.find("\0")) >= 0:
        place = Label(Span(source=source, start=nothing, end=nothing + 1))
        raise TablaError("a program holds no null characters", place, hint="is this a text?")
    try:
        return compile(source.text, str(path), "exec")
    except SyntaxError as error:
        span = _syntax_span(source, error)
        labels = [Label(span)] if span else []
        hint = "mend the line, so that Python can read the file"
        raise TablaError(f"{type(error).__name__}: {error.msg}", *labels, hint=hint) from error
    except (MemoryError, RecursionError, ValueError, OverflowError) as error:
        # Python's own parser ends so where a text is nested deeper than it can read.
        reason = str(error) or type(error).__name__
        raise TablaError(f"Python cannot compile '{path}': {reason}", hint="is something nested too deeply?") from None


def _syntax_span(source: Source, error: SyntaxError) -> Span | None:
    if error.lineno is None or error.filename is None or not error.filename.endswith(source.name):
        return None
    line = line_span(source, error.lineno)
    column = max(1, error.offset or 1)
    start = line.start - (len(source.line(error.lineno)) - len(source.line(error.lineno).lstrip())) + column - 1
    return Span(source=source, start=start, end=max(start + 1, line.end if column > 1 else start + 1))


def _span_in(path: Path, error: BaseException) -> Span | None:
    """The innermost place of an exception in this file."""
    found: Span | None = None
    traceback = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename == str(path) and source_of(code.co_filename) is not None:
            found = place(code, traceback.tb_lasti, traceback.tb_lineno)
        traceback = traceback.tb_next
    return found


def trace(
    function: Callable[..., Any],
    shapes: Mapping[str, Sequence[int]],
    arguments: Mapping[str, Any] | None = None,
    kinds: Mapping[str, Kind] | None = None,
) -> Program:
    """Return the program of a function, given the `shapes` of its tensors by parameter and `arguments` for its other
    parameters.

    `kinds` says which tensors hold integers or booleans; the others hold floats. Raises `TablaError` for everything
    that the function does wrong, at its place.
    """
    arguments, kinds = arguments or {}, kinds or {}
    where = _definition(function)
    inputs: dict[str, Input] = {}
    passed: dict[str, Any] = {}
    parameters = _parameters(function, where)
    _refuse_strangers(function, parameters, {**shapes, **arguments}, where)
    for parameter in parameters.values():
        name = parameter.name
        if name in shapes:
            inputs[name] = input_of(name, shapes[name], kinds.get(name, "float"), where)
            passed[name] = Tensor(inputs[name])
        elif name in arguments:
            passed[name] = arguments[name]
        elif parameter.default is inspect.Parameter.empty:
            refuse(
                f"'{name}' of '{_name(function)}' has neither a shape nor a value",
                f"give the shape of a tensor (--shape {name}=2,8,3) or the value of a parameter (--arg {name}=2)",
                where,
            )
    with collecting() as steps:
        returned = _call(function, passed)
        # A function that learns need not return anything.
        outputs = () if returned is None and steps else _outputs(returned, function, where)
    return Program(
        name=_name(function), inputs=tuple(inputs.values()), outputs=outputs, steps=distinct(steps), span=where
    )


def _call(function: Callable[..., Any], passed: Mapping[str, Any]) -> Any:
    """Call it; what Python finds wrong in the user's text is the user's fault too."""
    try:
        return function(**passed)
    except TablaError:
        raise
    except (RecursionError, MemoryError) as error:
        # Our own frames are the innermost ones by chance.
        span = _deepest_own(error.__traceback__)
        raise TablaError(
            f"{type(error).__name__}: {error}", *([Label(span)] if span else []), hint="does the function call itself?"
        ) from None
    except (Exception, SystemExit) as error:
        steps = list(_steps_of(error.__traceback__))
        called = _called(steps)
        last = steps[-2 if called else -1]
        span = None if _is_ours(last) else place(last.tb_frame.f_code, last.tb_lasti, last.tb_lineno)
        if span is None:
            raise
        raise TablaError(f"{type(error).__name__}: {error}", Label(span), hint=_cure(error, called)) from error


def _cure(error: BaseException, called: str) -> str | None:
    """What helps against an exception of Python, or of numpy, which does not know index variables."""
    if isinstance(error, IndexError) and "numpy.newaxis" in str(error):
        return "an index variable is no subscript of a numpy array W: write ident(W)[i]"
    return f"help(tabla.tile.{called}) says what {called} takes" if called else None


def _called(steps: Sequence[TracebackType]) -> str:
    """Return the name of the public function of this package that raised an exception itself; "" if none did.

    An argument that such a function does not take raises Python's own exception in it, as in a function of Python. If
    the user's text called it, that is a fault of the call. Whatever is raised further inside is one of ours.
    """
    frame = steps[-1].tb_frame
    name = frame.f_code.co_name
    function = frame.f_globals.get(name)
    public = isinstance(function, FunctionType) and function.__code__ is frame.f_code and not name.startswith("_")
    return name if public and _is_ours(steps[-1]) else ""


def _is_ours(step: TracebackType) -> bool:
    return bool(step.tb_frame.f_globals.get("__name__", "").startswith("tabla."))


def _steps_of(traceback: TracebackType | None) -> Iterator[TracebackType]:
    """Yield the steps of a traceback, the innermost one last."""
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _deepest_own(traceback: TracebackType | None) -> Span | None:
    """Where in the user's text an exception comes from, whoever raised it."""
    found: Span | None = None
    for step in _steps_of(traceback):
        if not _is_ours(step):
            found = place(step.tb_frame.f_code, step.tb_lasti, step.tb_lineno) or found
    return found


def _outputs(returned: Any, function: Callable[..., Any], where: Span | None) -> tuple[Node, ...]:
    items = tuple(returned) if isinstance(returned, tuple | list) else (returned,)
    if not items:
        refuse(f"'{_name(function)}' returns nothing", "return a tensor, or several", where)
    for item in items:
        if not isinstance(item, Tensor):
            what = "nothing" if item is None else f"a {type(item).__name__}"
            refuse(f"'{_name(function)}' returns {what}", "return a tensor, or several", where)
    return tuple(item.node for item in items)


def distinct(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return the steps of a function. Two steps of the same weights are a `TablaError`."""
    seen: set[Node] = set()
    for step in steps:
        if step.weights in seen:
            refuse(f"'{step.weights.parameter}' takes two steps", "update each of the weights once", step.span)
        seen.add(step.weights)
    return tuple(steps)


def _parameters(function: Callable[..., Any], where: Span | None) -> dict[str, inspect.Parameter]:
    try:
        parameters = dict(inspect.signature(function).parameters)
    except ValueError:  # a class or a function of C code
        refuse(f"'{_name(function)}' is not a function that is written in Python", "write it with def", where)
    for parameter in parameters.values():
        if parameter.kind not in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY):
            refuse(f"'{parameter.name}' of '{_name(function)}' is not a parameter with a name of its own", None, where)
    return parameters


def _refuse_strangers(
    function: Callable[..., Any], parameters: Mapping[str, Any], given: Mapping[str, Any], where: Span | None
) -> None:
    for name in given:
        if name not in parameters:
            refuse(f"'{_name(function)}' has no parameter '{name}'", f"there are {', '.join(parameters)}", where)


def input_of(name: str, shape: Sequence[int], kind: Kind, where: Span | None) -> Input:
    """Return a parameter as a tensor. A shape without elements is a `TablaError` at `where`."""
    sizes = tuple(int(size) for size in shape)
    if any(size < 1 for size in sizes):
        refuse(f"'{name}' of shape {sizes} has no elements", "sizes are positive", where)
    return Input(shape=sizes, kind=kind, name=Name(name), span=where, parameter=name)


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", "function")


def _definition(function: Callable[..., Any]) -> Span | None:
    """The line of the ``def``."""
    function = inspect.unwrap(function)
    if not isinstance(function, FunctionType):
        return None
    source = source_of(function.__code__.co_filename)
    line = function.__code__.co_firstlineno
    while source is not None and source.line(line).lstrip().startswith("@"):
        line += 1  # the line of a decorated function is that of its first decorator
    return line_span(source, line) if source is not None else None


def load(path: Path, name: str | None = None) -> Callable[..., Any]:
    """Return the function `name` of a Python file, or its only function.

    What is wrong in the file is a `TablaError`.
    """

    module = load_module(path)
    functions = [key for key, value in vars(module).items() if _is_own(value, path)]
    if name is None and len(functions) == 1:
        name = functions[0]
    hint = f"its functions are {', '.join(functions)}" if functions else "write one: def layer(I): ..."
    if name is None:
        raise TablaError(f"'{path}' has {len(functions) or 'no'} functions", hint=f"{hint}; name one: {path}:NAME")
    found = vars(module).get(name)
    if not callable(found) or isinstance(found, type):
        raise TablaError(f"'{path}' has no function '{name}'", hint=did_you_mean(name, functions) or hint)
    return found  # type: ignore[no-any-return]


def _is_own(value: Any, path: Path) -> bool:
    return isinstance(value, FunctionType) and Path(value.__code__.co_filename) == path
