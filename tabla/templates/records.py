"""Reads the records: our two files and a user's own file beside them, and fields that hold what they must."""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path

from tabla.base.source import Label, TablaError, refuse_pipe
from tabla.templates import tablegen

HERE = Path(__file__).resolve().parent
MACHINE = HERE / "machine.td"
TARGETS = HERE / "targets.td"


def records(file: Path, own: str | None = None) -> tablegen.Records:
    """Return the records of `file`, one of ours. With a user's own file, return those of both of ours and of that file.

    The user's file needs no ``include`` of ours, but may have it. A file that cannot be read is a `TablaError`.
    """
    if own is None:
        return _ours(file)
    path = Path(own)
    refuse_pipe(path)
    if not path.is_file():
        what = "it is a folder" if path.is_dir() else "no such file"
        raise TablaError(f"cannot read '{own}': {what}", hint="check the path")
    return _with_own(path, path.read_bytes())


def included(own: str) -> tuple[Path, ...]:
    """Return the files that a user's file of records includes, ours apart. A file with a fault is a `TablaError`."""
    found = (Path(name) for name in records(MACHINE, own).dependencies)
    return tuple(path for path in found if HERE not in path.resolve().parents)


@cache
def _ours(file: Path) -> tablegen.Records:
    return tablegen.load(file)


@lru_cache(maxsize=8)
def _with_own(path: Path, _content: bytes) -> tablegen.Records:
    # The content is part of the key: a file that has changed is read again.
    return tablegen.load(path, include_dirs=(path.parent, HERE), before=(MACHINE, TARGETS))


def unset(record: tablegen.Record, field: str, kind: str) -> TablaError:
    """Return the fault of a field that does not hold what it must."""
    return TablaError(
        f"field '{field}' of record '{record.name}' is not set to {kind}",
        Label(record.span),
        Label(record.field_span(field), "the field"),
        hint=f"let {field} = ... in the record",
    )


def integer(record: tablegen.Record, field: str) -> int:
    """Return an ``int`` field. A field that is not set to one is a `TablaError`, as in the functions below."""
    value = record[field]
    if not isinstance(value, int):
        raise unset(record, field, "an integer")
    return value


def bit(record: tablegen.Record, field: str) -> bool:
    """Return a ``bit`` field."""
    return bool(integer(record, field))


def string(record: tablegen.Record, field: str) -> str:
    """Return a ``string`` field."""
    value = record[field]
    if not isinstance(value, str):
        raise unset(record, field, "a string")
    return value


def record_of(record: tablegen.Record, field: str) -> tablegen.Record:
    """Return a field whose type is a class."""
    value = record[field]
    if not isinstance(value, tablegen.Record):
        raise unset(record, field, "a record")
    return value


def strings(record: tablegen.Record, field: str) -> tuple[str, ...]:
    """Return a ``list<string>`` field."""
    value = record[field]
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise unset(record, field, "a list of strings")
    return tuple(str(item) for item in value)


def integers(record: tablegen.Record, field: str) -> tuple[int, ...]:
    """Return a ``list<int>`` field."""
    value = record[field]
    if not isinstance(value, list):
        raise unset(record, field, "a list of integers")
    found = tuple(item for item in value if isinstance(item, int))
    if len(found) != len(value):
        raise unset(record, field, "a list of integers")
    return found


def records_of(record: tablegen.Record, field: str) -> tuple[tablegen.Record, ...]:
    """Return a list field whose items are records."""
    value = record[field]
    if not isinstance(value, list):
        raise unset(record, field, "a list of records")
    found = tuple(item for item in value if isinstance(item, tablegen.Record))
    if len(found) != len(value):
        raise unset(record, field, "a list of records")
    return found
