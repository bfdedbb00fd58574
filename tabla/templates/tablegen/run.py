"""One run: from text to records, within the limits of Python's stack."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from tabla.base.source import Source, TablaError
from tabla.templates.tablegen import backend
from tabla.templates.tablegen.api import Records
from tabla.templates.tablegen.keeper import MAX_RECORDS, RecordKeeper, TooManyFaults
from tabla.templates.tablegen.lexer import Lexer
from tabla.templates.tablegen.parser import Parsed, parse
from tabla.templates.tablegen.pool import DEFAULT_LLVM
from tabla.templates.tablegen.scope import Scope
from tabla.templates.tablegen.stack import STACK_FRAMES, deep_stack, no_collection
from tabla.templates.tablegen.statements import Statements

LLVM_VERSIONS = (14, 19, 22)
"""The versions of the reference tool whose answers are known."""

_TOO_DEEP = "the program recurses too deeply"

Action: TypeAlias = Literal["print-records", "dump-json", "null-backend"]


def load(
    path: str | Path | Source,
    *,
    include_dirs: Iterable[str | Path] = (),
    macros: Iterable[str] = (),
    before: Iterable[str | Path] = (),
    say: Callable[[str], None] | None = None,
    warn_of_unused: bool = True,
    llvm: int = DEFAULT_LLVM,
) -> Records:
    """Return the records of a file, or of a source that was read already. ``include_dirs`` are searched after the
    working directory, and `before` are read first.

    `say` is given the texts of ``dump`` statements and the warnings, also before a fault is raised.
    `warn_of_unused` is whether template arguments that no value names are worth a warning. `llvm` is one of
    `LLVM_VERSIONS`: what the versions of ``llvm-tblgen`` answer differently is answered as by this one. A text that
    makes no sense by the rules of this version is read by those of another one, which alone has an answer then.
    """
    sources = [one if isinstance(one, Source) else Source.from_path(one) for one in (*before, path)]
    include_dirs, macros = list(include_dirs), list(macros)
    with no_collection():
        reading = _read(Lexer(include_dirs, macros, llvm=llvm), sources, warn_of_unused=warn_of_unused)
        if reading.may_be_meant_otherwise:
            for version in LLVM_VERSIONS:
                other = _read(Lexer(include_dirs, macros, llvm=version), sources, warn_of_unused=warn_of_unused)
                if not other.faults:
                    reading = other
                    break
    keeper = reading.keeper
    if say is not None:
        for text in (*keeper.warnings, *keeper.dumped):
            say(text)
    if reading.faults:
        first, *others = reading.faults
        raise TablaError(first.message, *first.labels, hint=first.hint, notes=first.notes, more=others)
    return Records(keeper, reading.dependencies)


def loads(
    text: str,
    *,
    name: str = "<text>",
    include_dirs: Iterable[str | Path] = (),
    macros: Iterable[str] = (),
    llvm: int = DEFAULT_LLVM,
) -> Records:
    """Return the records of a text. `name` stands for it in messages."""
    return load(Source.from_text(text, name), include_dirs=include_dirs, macros=macros, llvm=llvm)


def run(
    path: str | Path | Source,
    include_dirs: Iterable[str | Path] = (),
    macros: Iterable[str] = (),
    action: Action = "print-records",
    say: Callable[[str], None] | None = None,
) -> str:
    """Return what ``tabla tblgen`` writes: the text of `action` for the records of a file.

    `say` is given the texts of ``dump`` statements and the warnings, which belong on standard error.
    """
    return written(load(path, include_dirs=include_dirs, macros=macros, say=say), action)


def written(records: Records, action: Action) -> str:
    """Return the text of `action` for some records."""
    with no_collection():
        match action:
            case "print-records":
                return backend.print_records(records.keeper)
            case "dump-json":
                return backend.dump_json(records.keeper)
            case "null-backend":
                return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """What the rules of one version make of a text. `faults` is empty if the text makes sense by these rules."""

    keeper: RecordKeeper
    dependencies: tuple[str, ...]
    faults: list[TablaError]
    # The grammar is the same for all versions, and so are the limits.
    may_be_meant_otherwise: bool


def _read(lexer: Lexer, sources: Iterable[Source], *, warn_of_unused: bool) -> _Reading:
    parsed = parse(lexer.read(*sources), lexer.positions)
    keeper = RecordKeeper(lexer.positions, warns_of_unused=warn_of_unused, llvm=lexer.llvm)
    keeper.warnings += lexer.warnings
    faults = _evaluate(keeper, parsed)
    within_limits = len(keeper.defs) < MAX_RECORDS and not any(fault.message.startswith(_TOO_DEEP) for fault in faults)
    return _Reading(
        keeper=keeper,
        dependencies=tuple(lexer.dependencies),
        faults=faults,
        may_be_meant_otherwise=bool(faults) and parsed.fault is None and within_limits,
    )


def _evaluate(keeper: RecordKeeper, parsed: Parsed) -> list[TablaError]:
    """Evaluate the statements, and return all faults."""
    statements = Statements(Scope(keeper))
    last = parsed.fault
    with deep_stack():
        try:
            for statement in parsed.statements:
                statements.run(statement)
            if parsed.partial is not None:
                statements.check(parsed.partial)
        except TooManyFaults:
            last = None
        except TablaError as fault:
            last = fault
        except RecursionError:
            last = keeper.fault(
                f"{_TOO_DEEP}: it takes more than {STACK_FRAMES} calls of Python",
                keeper.current,
                hint="does a value refer to itself?",
            )
    return keeper.faults if last is None else [*keeper.faults, last]
