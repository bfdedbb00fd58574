"""The reference of error messages with their cures, read from the places in the source that raise them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# The title of each group of messages, and the paths that belong to it. The first group that fits a file has it.
GROUPS = {
    "Programs in the TABLA language": ("tabla/languages/tabla", "tabla/languages/preprocess"),
    "Tensor Comprehensions": ("tabla/languages/tc",),
    "Tile": ("tabla/languages/tile", "tabla/tile.py"),
    "TableGen": ("tabla/templates/tablegen",),
    "Data and training": (
        *("tabla/learn", "tabla/base/table.py", "tabla/base/arrays.py", "tabla/build/arrays.py"),
        "tabla/examples",
    ),
    "Engines and boards": ("tabla/sim", "tabla/host"),
    "Synthesis": ("tabla/build/synth",),
    "Options, arrays and files": ("",),
}


ERRORS = ("DeviceFault", "TablaError", "TablaTypeError", "TablaValueError")
"""The classes of faults of a user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message as the source has it. Angle brackets stand for what is filled in."""

    text: str
    hint: str
    path: str


@cache
def messages() -> tuple[Message, ...]:
    """Return every message whose words stand in the source beside its hint, in the order of files and lines.

    A call is a message if it makes one of `ERRORS`, or if it has a ``hint`` and its class collects faults.
    """
    paths = sorted((ROOT / "tabla").rglob("*.py"))
    return tuple(message for path in paths for message in _of_file(path))


def _of_file(path: Path) -> Iterator[Message]:
    calls = [n for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, ast.Call)]
    for call in sorted(calls, key=lambda call: call.lineno):
        hints = [keyword.value for keyword in call.keywords if keyword.arg == "hint"]
        makes = isinstance(call.func, ast.Name) and call.func.id in ERRORS
        if call.args and (makes or hints) and (text := words(call.args[0])):
            hint = words(hints[0]) if hints else ""
            yield Message(text=text, hint=hint, path=path.relative_to(ROOT).as_posix())


def words(node: ast.expr) -> str:
    """Return the text of a string in the source, with what is filled in as a name in angle brackets.

    The text is empty if the node is no string: such a message is put together elsewhere.
    """
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(words(part) for part in parts)
        case ast.FormattedValue(value=ast.Attribute(attr=name) | ast.Name(id=name)):
            return f"<{name.strip('_')}>"
        case ast.FormattedValue(value=ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name))):
            return f"<{name.strip('_')}>"
        case ast.FormattedValue():
            return "<...>"
        case ast.IfExp(body=one, orelse=other):
            return " / ".join(filter(None, (words(one), words(other))))
        case ast.BoolOp(values=parts):
            return " / ".join(filter(None, map(words, parts)))
    return ""


def page() -> str:
    """Return a table of messages and cures for each group."""
    rows: dict[str, list[str]] = {title: [] for title in GROUPS}
    for message in messages():
        title = next(t for t, paths in GROUPS.items() if any(message.path.startswith(path) for path in paths))
        row = f"| {_cell(message.text)} | {_cell(message.hint)} |"
        if row not in rows[title]:
            rows[title].append(row)
    head = ["", "| message | cure |", "|---|---|"]
    return "\n".join(line for title, found in rows.items() for line in (f"## {title}", *head, *sorted(found), ""))


def _cell(text: str) -> str:
    """Return a text as a cell of a table, with every character that means something in Markdown as its number."""
    return re.sub(r"[&<>|*_`\[\\]", lambda found: f"&#{ord(found[0])};", text).replace("\n", " ")
