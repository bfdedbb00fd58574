"""One run: from text to records, within the limits of Python's stack."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal, TypeAlias

from tabla.lang.tablegen import backend
from tabla.lang.tablegen.api import Records
from tabla.lang.tablegen.keeper import RecordKeeper
from tabla.lang.tablegen.parser import parse
from tabla.lang.tablegen.scanner import Scanner
from tabla.lang.tablegen.scope import Scope
from tabla.lang.tablegen.stack import STACK_FRAMES, deep_stack
from tabla.lang.tablegen.statements import Statements
from tabla.source import Source, TablaError

Action: TypeAlias = Literal["print-records", "dump-json", "null-backend"]


def load(
    path: str | Path,
    *,
    include_dirs: Iterable[str | Path] = (),
    macros: Iterable[str] = (),
    before: Iterable[str | Path] = (),
) -> Records:
    """Return the records of a file. ``include_dirs`` are searched after the working directory, and `before` are read
    first.
    """
    return _run([Source.from_path(name) for name in (*before, path)], include_dirs, macros)


def loads(
    text: str,
    *,
    name: str = "<text>",
    include_dirs: Iterable[str | Path] = (),
    macros: Iterable[str] = (),
) -> Records:
    """Return the records of a text. `name` stands for it in messages."""
    return _run([Source.from_text(text, name)], include_dirs, macros)


def run(
    path: str | Path,
    include_dirs: Iterable[str | Path] = (),
    macros: Iterable[str] = (),
    action: Action = "print-records",
    say: Callable[[str], None] | None = None,
) -> str:
    """Return what ``tabla tblgen`` writes: the text of `action` for the records of a file.

    `say` is given the texts of ``dump`` statements, which belong on standard error.
    """
    records = load(path, include_dirs=include_dirs, macros=macros)
    if say is not None:
        for text in records.dumped:
            say(text)
    match action:
        case "print-records":
            return backend.print_records(records.keeper)
        case "dump-json":
            return backend.dump_json(records.keeper)
        case "null-backend":
            return ""


def _run(sources: Iterable[Source], include_dirs: Iterable[str | Path], macros: Iterable[str]) -> Records:
    scanner = Scanner(include_dirs, macros)
    parsed = parse(scanner.scan(*sources), scanner.positions)
    keeper = RecordKeeper(scanner.positions)
    statements = Statements(Scope(keeper))
    fault: TablaError | None = None
    with deep_stack():
        try:
            for statement in parsed.statements:
                statements.run(statement)
            if parsed.partial is not None:
                statements.check(parsed.partial)
        except RecursionError:
            fault = keeper.fault(
                f"the program recurses too deeply: it takes more than {STACK_FRAMES} calls of Python",
                keeper.current,
                hint="does a value refer to itself?",
            )
    if fault is not None:
        raise fault
    if parsed.fault is not None:
        raise parsed.fault
    return Records(keeper, tuple(scanner.dependencies), tuple(keeper.dumped))
