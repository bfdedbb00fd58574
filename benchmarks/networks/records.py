"""The records of the benchmarks of networks: files of JSON with a schema and rows, which are frozen dataclasses."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar


class Named(Protocol):
    """A row about a network. It must be a dataclass."""

    __dataclass_fields__: ClassVar[Any]

    @property
    def name(self) -> str:
        """The name of the network."""


Row = TypeVar("Row", bound=Named)


def rows_in(file: Path, schema: str, kind: type[Row]) -> list[Row]:
    """Return the rows of a record, in their order. A record of another schema is an AssertionError."""
    content = json.loads(file.read_text(encoding="utf-8"))
    assert content["schema"] == schema, f"{file} holds no rows of this kind"
    return [kind(**row) for row in content["rows"]]


def write_rows(file: Path, schema: str, rows: Sequence[Named]) -> None:
    """Write rows as a record, in place of what the file held."""
    content = {"schema": schema, "rows": [asdict(row) for row in rows]}
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def put_row(file: Path, schema: str, row: Named, order: Iterable[str]) -> None:
    """Write a row into a record, in place of that of the same network.

    Rows are written in the order of the names in `order`, and no others.
    """
    held = rows_in(file, schema, type(row)) if file.is_file() else []
    rows = {**{each.name: each for each in held}, row.name: row}
    write_rows(file, schema, [rows[name] for name in order if name in rows])
