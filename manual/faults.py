"""The reference of error messages with their cures, read from the places in the source that raise them."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterable, Iterator
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
    """A message as the source has it. Angle brackets stand for what is filled in.

    With `varies` it has a cure that depends on the program, so that its words do not stand beside the message.
    """

    text: str
    hint: str
    path: str
    varies: bool = False


@cache
def messages() -> tuple[Message, ...]:
    """Return every message whose words stand in the source beside its hint, in the order of files and lines.

    A call is a message if it makes one of `ERRORS`, or if it has a ``hint`` and its class collects faults.
    """
    paths = sorted((ROOT / "tabla").rglob("*.py"))
    return tuple(message for path in paths for message in _of_file(path))


def _of_file(path: Path) -> Iterator[Message]:
    place = path.relative_to(ROOT)
    module = ".".join(place.with_suffix("").parts).removesuffix(".__init__")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
    # Of functions inside each other, the innermost one counts, which comes last.
    functions = [tuple(ast.walk(n)) for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    scopes = {n: function for function in functions for n in function}
    for call in sorted(calls, key=lambda call: call.lineno):
        hints = [keyword.value for keyword in call.keywords if keyword.arg == "hint"]
        makes = isinstance(call.func, ast.Name) and call.func.id in ERRORS
        if call.args and (makes or hints) and (text := words(call.args[0], module)):
            hint = _cure(hints[0], scopes.get(call, ()), module) if hints else ""
            yield Message(text=text, hint=hint, varies=bool(hints) and not hint, path=place.as_posix())


def _cure(hint: ast.expr, scope: Iterable[ast.AST], module: str) -> str:
    """Return the text of a hint. A variable stands for the texts that its function gives it, a constant for its own."""
    match hint:
        case ast.Name(id=name) if name.strip("_").isupper():
            value = getattr(importlib.import_module(module), name, "")
            return value if isinstance(value, str) else ""
        case ast.Name(id=name):
            given = (
                words(node.value, module)
                for node in scope
                if isinstance(node, ast.Assign)
                and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
            )
            return " / ".join(dict.fromkeys(filter(None, given)))
    return words(hint, module)


def words(node: ast.expr, module: str = "") -> str:
    """Return the text of a string in the source, with what is filled in as a name in angle brackets.

    A constant of `module` stands as its value. The text is empty if the node is no string: such a message is put
    together elsewhere.
    """
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(words(part, module) for part in parts)
        case ast.FormattedValue(value=value):
            return _filled(value, module)
        case ast.IfExp(body=one, orelse=other):
            return " / ".join(filter(None, (words(one, module), words(other, module))))
        case ast.BoolOp(values=parts):
            return " / ".join(filter(None, (words(part, module) for part in parts)))
        case ast.BinOp(left=one, op=ast.Add(), right=other):
            first, second = words(one, module), words(other, module)
            return first + second if first and second else ""
    return ""


SAID = {
    "strerror": "reason",
    "what": "what is wrong",
    "fmt": "format",
    "msg": "message",
    "said": "what it says",
    "a": "kind",
    "b": "name",
    "shown": "value",
    "found": "value",
    "there": "what there is",
    "own": "name",
    "describe": "what belongs there",
    "f32x4x8": "type",
    "hertz": "number",
    "self": "name",
    "stack": "operands",
    "dtype": "type",
    "dirname": "folder",
    "ref_attr_name": "name",
    "quoted": "text",
}
"""What stands for names of the source that mean nothing to a reader."""
NUMBERS = ("len", "int", "float", "max", "min", "prod", "sum", "abs", "round")
"""Functions whose result is a number."""


def _filled(value: ast.expr, module: str) -> str:
    """Return what stands for a value that a message fills in."""
    match value:
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]) if name.isalpha() and len(name) > 2:
            return f"<number of {SAID.get(name, name)}>"
        case ast.Call(func=ast.Name(id=name)) if name in NUMBERS:
            return "<number>"
        case ast.Call(func=ast.Name(id="getattr")) | ast.Call(func=ast.Attribute(attr="splitlines")):
            return "<value>"
        case ast.Call(func=ast.Name(id="str" | "sorted" | "list" | "repr"), args=[inside, *_]):
            return _filled(inside, module)
        case ast.Call(func=ast.Attribute(attr="replace" | "strip" | "lstrip" | "upper" | "lower", value=inside)):
            return _filled(inside, module)
        case ast.Call(func=ast.Attribute(attr="join"), args=[ast.Name(id=name)]) if name.isupper():
            return _constant(name, module)
        case ast.Call(func=ast.Attribute(attr="join"), args=[ast.Name(id=name), *_]):
            return _called(name)
        case ast.Call(func=ast.Attribute(attr="join")):
            return "<names>"
        case ast.Name(id=name) if name.isupper():
            return _constant(name, module)
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return _called(name)
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            return _called(name)
        case ast.Subscript(value=ast.Attribute(attr=name) | ast.Name(id=name)):
            return _called(name.removesuffix("s"))
        case ast.IfExp() | ast.JoinedStr() | ast.Constant(value=str()):
            return words(value, module) or "<value>"
        case ast.BoolOp(values=[first, *others]):
            rest = [words(other, module) for other in others if isinstance(other, ast.Constant)]
            return " / ".join([_filled(first, module), *rest])
        case ast.BinOp():
            return "<number>"
    return "<value>"


def _called(name: str) -> str:
    plain = name.strip("_")
    return f"<{SAID.get(plain, plain).replace('_', ' ')}>"


def _constant(name: str, module: str) -> str:
    """Return the value of a constant as a message shows it: a number, a text, or the names of a table."""
    value = getattr(importlib.import_module(module), name, None) if module else None
    match value:
        case int() | float() if abs(value) >= 10_000:
            return f"{value:,}"
        case str() | int() | float():
            return str(value)
        case dict() | tuple() | list():
            return ", ".join(map(str, value))
    return "<limit>"


def page() -> str:
    """Return a table of messages and cures for each group."""
    rows: dict[str, list[str]] = {title: [] for title in GROUPS}
    for message in messages():
        title = next(t for t, paths in GROUPS.items() if any(message.path.startswith(path) for path in paths))
        cure = _cell(message.hint) or ("*the message has one that fits your program*" if message.varies else "")
        row = f"| {_cell(message.text)} | {cure} |"
        if row not in rows[title]:
            rows[title].append(row)
    head = ["", "| message | cure |", "|---|---|"]
    return "\n".join(line for title, found in rows.items() for line in (f"## {title}", *head, *sorted(found), ""))


def _cell(text: str) -> str:
    """Return a text as a cell of a table, with every character that means something in Markdown as its number."""
    return re.sub(r"[&<>|*_`\[\\]", lambda found: f"&#{ord(found[0])};", text).replace("\n", " ")
