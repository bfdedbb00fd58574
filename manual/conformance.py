"""The page of conformance: each rule of the five documents that the languages come from, and whether it holds here.

``python -m manual.conformance`` writes ``docs/conformance.md``. The rules stand in ``manual/rules``, a file for each
document, and each of them has the program that shows it. `demonstrate` runs the program; a test does so for every rule.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

import tabla
from tabla.base.source import Source, TablaError
from tabla.languages.preprocess import preprocess
from tabla.templates import tablegen

ROOT = Path(__file__).resolve().parent
PAGE = ROOT.parent / "docs" / "conformance.md"
DOCUMENTS = ("tabla", "tensor-comprehensions", "tile", "preprocessor", "tablegen")
Verdict = Literal["holds", "differs", "refused"]

HEAD = """# Conformance

The languages of `tabla` come from five documents, which their authors have published. This page goes through them, rule
by rule, in words of its own. It is made by `python -m manual.conformance`, and a test runs the program of each row.

- *holds*: what the document says is so here. Where the document forbids something, it is refused here, too.
- *differs*: it means something else here, more is accepted, or what the document leaves open is said here. The last
  column says why.
- *refused*: the document allows it, and `tabla` refuses it with an error. The last column says why.

The program of row 3 of the first table is the third `[[row]]` of `manual/rules/tabla.toml`, and so for the others.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One rule, and the program that shows it.

    `file` names the program; with ``:name`` it names the function in it. What the program must do is one of these:
    `gives` (results by name; of TableGen, fields as printed by ``def.field``), `expands` (the text after the
    preprocessor), or `error` (a part of the message of a refusal).
    """

    section: str
    rule: str
    verdict: Verdict
    program: str
    file: str
    why: str = ""
    arrays: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    gives: Mapping[str, Any] | None = None
    expands: str | None = None
    error: str | None = None

    def __post_init__(self) -> None:
        assert self.verdict in get_args(Verdict), f"{self.rule}: there is no verdict '{self.verdict}'"
        shown = sum(one is not None for one in (self.gives, self.expands, self.error))
        assert shown == 1, f"{self.rule}: one of gives, expands and error"
        assert (self.verdict == "holds") == (not self.why), f"{self.rule}: a difference has a reason, and no other row"
        assert self.verdict != "refused" or self.error is not None, f"{self.rule}: a refusal has an error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What the reference implementation does with a text, by its source, and `row` for what `tabla` does with it."""

    theirs: str
    source: str
    row: Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One document: its rules, what the reference implementation does beyond it and `tabla` does not, and what both do
    with the same text.
    """

    name: str
    title: str
    source: str
    reference: str
    beyond: tuple[str, ...]
    compared: tuple[Comparison, ...]
    rows: tuple[Row, ...]


def document(name: str) -> Document:
    """Return the rules of one of `DOCUMENTS`."""
    table = tomllib.loads((ROOT / "rules" / f"{name}.toml").read_text(encoding="utf-8"))
    rows = tuple(Row(**{"file": table["file"], **row}) for row in table["row"])
    return Document(
        name=name,
        title=table["title"],
        source=table["source"],
        reference=table["reference"],
        beyond=tuple(table["beyond"]),
        compared=tuple(_compared(table["file"], row) for row in table.get("compared", ())),
        rows=rows,
    )


def _compared(file: str, row: dict[str, Any]) -> Comparison:
    shown = {key: value for key, value in row.items() if key not in ("theirs", "ours", "source")}
    ours = Row(section="compared", rule=row["ours"], verdict="holds", **{"file": file, **shown})
    return Comparison(theirs=row["theirs"], source=row["source"], row=ours)


def demonstrate(row: Row, folder: Path) -> None:
    """Run the program of a row in `folder`. Raises AssertionError if the program does not do what the row says."""
    try:
        found = _outcome(row, folder)
    except TablaError as fault:
        assert row.error is not None, f"{row.rule}: refused: {fault}"
        assert row.error in str(fault), f"{row.rule}: the error is another one: {fault}"
        return
    assert row.error is None, f"{row.rule}: accepted, and expected was an error with '{row.error}'"
    if row.expands is not None:
        assert found == row.expands, f"{row.rule}: {found!r}"
        return
    assert row.gives is not None, "a row says what the program must do"
    for name, expected in row.gives.items():
        if isinstance(expected, str):
            assert found[name] == expected, f"{row.rule}: {name} is {found[name]}"
        else:
            np.testing.assert_allclose(found[name], np.array(expected), rtol=1e-9, atol=1e-9, err_msg=row.rule)


def _outcome(row: Row, folder: Path) -> Any:
    """The results of the program by name, or the text that the preprocessor makes of it."""
    file = row.file.partition(":")[0]
    if file.endswith(".txt"):
        text = preprocess(Source.from_text(row.program, file)).source.text
        return "\n".join(line.strip() for line in text.splitlines() if line.strip())
    path = folder / file
    path.write_text(row.program, encoding="utf-8")
    if file.endswith(".td"):
        printed = tablegen.run(path, include_dirs=[folder])
        return {f"{name}.{key}": text for name, key, text in _fields(printed)}
    build = tabla.compile(f"{folder}/{row.file}", **row.options)
    arrays = {name: np.array(values, float) for name, values in row.arrays.items()}
    return build.evaluate(arrays, float64=True)


def _fields(printed: str) -> list[tuple[str, str, str]]:
    """The fields of the defs in a text of records: the name of the def, that of the field, and the value."""
    found, name = [], ""
    for line in printed.splitlines():
        if opened := re.match(r"def (\S+) \{", line):
            name = opened[1]
            found.append((name, "", "a def"))
        elif value := re.match(r"  \S.* (\w+) = (.*);$", line):
            found.append((name, value[1], value[2]))
    return found


def page() -> str:
    """Return the text of the page."""
    parts = [HEAD]
    for name in DOCUMENTS:
        one = document(name)
        counts = {verdict: sum(row.verdict == verdict for row in one.rows) for verdict in get_args(Verdict)}
        parts.append(f"\n## {one.title}\n\nThe document: {one.source}. Its rules here: {len(one.rows)}. ")
        parts.append(f"Holds: {counts['holds']}, differs: {counts['differs']}, refused: {counts['refused']}.\n\n")
        parts.append("| | section | rule | verdict | why |\n|---|---|---|---|---|\n")
        for number, row in enumerate(one.rows, 1):
            cells = (str(number), row.section, row.rule, row.verdict, row.why)
            parts.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n")
        parts.append(f"\nWhat {one.reference} does, and `tabla` does not:\n\n")
        parts += [f"- {line}\n" for line in one.beyond]
        if one.compared:
            parts.append(
                f"\nThe same text for {one.reference}, by its source, and for `tabla`, by the program of each row:\n"
            )
            parts.append("\n| | there | here | source |\n|---|---|---|---|\n")
            for number, both in enumerate(one.compared, 1):
                parts.append(f"| {number} | {both.theirs} | {both.row.rule} | {both.source} |\n")
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
