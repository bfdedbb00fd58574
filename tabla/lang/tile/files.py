"""The user's Python files, read as modules."""

from __future__ import annotations

import linecache
import sys
from pathlib import Path
from types import CodeType, ModuleType

from tabla.lang.tile.places import line_span, place, source_of
from tabla.source import Label, Source, Span, TablaError


def load_module(path: Path) -> ModuleType:
    """Run a file. What is wrong with it is a `TablaError` at its place, under the name that the user gave."""
    source = Source.from_path(path)
    code = _compiled(source, path)
    linecache.checkcache(str(path))
    module = ModuleType(f"tile_{path.stem}")
    module.__file__ = str(path)
    # Entered first because dataclasses look their module up there.
    sys.modules[module.__name__] = module
    # Beside the file lie the modules that it imports, as for a script. Python remembers what "." was when it was asked
    # first, so the path is absolute.
    folder = str(path.parent.resolve())
    sys.path.insert(0, folder)
    try:
        exec(code, module.__dict__)
    except TablaError:
        raise
    except (Exception, SystemExit) as error:
        span = _span_in(path, error)
        raise TablaError(f"{type(error).__name__}: {error}", *([Label(span)] if span else [])) from error
    finally:
        sys.path.remove(folder)
    return module


def _compiled(source: Source, path: Path) -> CodeType:
    """Compile a file. What Python cannot compile is a `TablaError`."""
    if (nothing := source.text.find("\0")) >= 0:
        place = Label(Span(source=source, start=nothing, end=nothing + 1))
        raise TablaError("a program holds no null characters", place, hint="is this a text?")
    try:
        return compile(source.text, str(path), "exec")
    except SyntaxError as error:
        span = _syntax_span(source, error)
        raise TablaError(f"{type(error).__name__}: {error.msg}", *([Label(span)] if span else [])) from error
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
