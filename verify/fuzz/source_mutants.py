"""Faults for Python sources: one operator, constant or condition is changed, and nothing else of the text.

Annotations, docstrings, texts and the messages of errors stay as they are, so that every fault is one of behaviour.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "+",
    ast.FloorDiv: "*",
    ast.Mod: "//",
    ast.LShift: ">>",
    ast.RShift: "<<",
    ast.BitAnd: "|",
    ast.BitOr: "&",
    ast.BitXor: "|",
}
_COMPARED: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: ">=",
    ast.LtE: ">",
    ast.Gt: "<=",
    ast.GtE: "<",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceMutant:
    """A file with one change: its path below the root, the line from 1, the line before and after, the whole text.

    `number` counts the same change of equal lines of a file, from 1.
    """

    file: str
    line: int
    before: str
    after: str
    text: str
    number: int = 1

    @property
    def key(self) -> str:
        """The name under which the verdict on the fault is kept."""
        return f"{self.file}: {self.before} -> {self.after} ({self.number})"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """The bytes [start, end) of a source get another text."""

    start: int
    end: int
    text: str


class _Changes(ast.NodeVisitor):
    """Collects every change of a source."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.found: list[_Change] = []
        lines = source.splitlines(keepends=True)
        self._starts = [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]

    def _at(self, line: int, column: int) -> int:
        return self._starts[line - 1] + column

    def _span(self, node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._at(node.lineno, node.col_offset), self._at(node.end_lineno, node.end_col_offset)

    def _text(self, node: ast.expr) -> str:
        start, end = self._span(node)
        return self.source[start:end].decode()

    def _replace(self, node: ast.expr, text: str) -> None:
        start, end = self._span(node)
        self.found.append(_Change(start=start, end=end, text=text))

    def _between(self, left: ast.expr, right: ast.expr, old: str, new: str) -> None:
        """Replace an operator that stands between two operands; comments and parentheses there stay."""
        start, end = self._span(left)[1], self._span(right)[0]
        at = self.source.find(old.encode(), start, end)
        if at >= 0:
            self.found.append(_Change(start=at, end=at + len(old), text=new))

    def visit_BinOp(self, node: ast.BinOp) -> None:
        new = _BINARY.get(type(node.op))
        if new is not None:
            old = next(text for text, kind in _SIGNS if kind is type(node.op))
            self._between(node.left, node.right, old, new)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        new = _BINARY.get(type(node.op))
        # Amaranth's `m.d.sync += ...` is no sum: any other operator is refused at once.
        if new is not None and not self._text(node.target).startswith("m."):
            old = next(text for text, kind in _SIGNS if kind is type(node.op))
            self._between(node.target, node.value, f"{old}=", f"{new}=")
        self.visit(node.value)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        words = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._between(left, right, *words)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for left, sign, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
            old = next(text for text, kind in _COMPARISONS if kind is type(sign))
            self._between(left, right, old, _COMPARED[type(sign)])
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.Invert | ast.USub):
            self._replace(node, self._text(node.operand))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._replace(node, str(not node.value))
        elif isinstance(node.value, int):
            self._replace(node, str(node.value + 1))

    def visit_If(self, node: ast.If) -> None:
        self._negated(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._negated(node.test)
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self._negated(node.test)
        self.generic_visit(node)

    def _negated(self, test: ast.expr) -> None:
        # The negation of a single comparison is a change of its operator already.
        if not isinstance(test, ast.Compare) and not (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)):
            self._replace(test, f"not ({self._text(test)})")

    def visit_Call(self, node: ast.Call) -> None:
        match node.func, node.args:
            case ast.Attribute(attr="If" | "Elif"), [condition]:
                self._replace(condition, f"~({self._text(condition)})")
            case ast.Name(id="Mux"), [choice, first, second]:
                swapped = ", ".join(map(self._text, (choice, second, first)))
                self.found.append(_Change(start=self._span(choice)[0], end=self._span(second)[1], text=swapped))
        self.generic_visit(node)

    # What follows says nothing of behaviour.
    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_arg(self, node: ast.arg) -> None:
        pass

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for part in (*node.decorator_list, node.args, *node.body):
            self.visit(part)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        pass

    def visit_Raise(self, node: ast.Raise) -> None:
        pass

    def visit_Assert(self, node: ast.Assert) -> None:
        pass


_SIGNS = (
    ("+", ast.Add),
    ("-", ast.Sub),
    ("*", ast.Mult),
    ("//", ast.FloorDiv),
    ("%", ast.Mod),
    ("<<", ast.LShift),
    (">>", ast.RShift),
    ("&", ast.BitAnd),
    ("|", ast.BitOr),
    ("^", ast.BitXor),
)
_COMPARISONS = (
    ("==", ast.Eq),
    ("!=", ast.NotEq),
    ("<=", ast.LtE),
    (">=", ast.GtE),
    ("<", ast.Lt),
    (">", ast.Gt),
    ("not in", ast.NotIn),
    ("in", ast.In),
    ("is not", ast.IsNot),
    ("is", ast.Is),
)


def changed_texts(text: str) -> list[tuple[int, str]]:
    """Return the line, from 1, and the whole text of every change of a source, in the order of the text."""
    source = text.encode()
    visitor = _Changes(source)
    visitor.visit(ast.parse(text))
    found: dict[str, int] = {}
    for change in sorted(visitor.found, key=lambda change: (change.start, change.end, change.text)):
        changed = (source[: change.start] + change.text.encode() + source[change.end :]).decode()
        found.setdefault(changed, source[: change.start].count(b"\n") + 1)
    return [(line, changed) for changed, line in found.items() if changed != text]


def source_mutants(root: Path, files: Sequence[str], count: int, seed: int) -> list[SourceMutant]:
    """Return so many faults, drawn evenly from all that the files can have.

    A shorter drawing with the same seed is the beginning of a longer one. A fault is drawn or not by a digest of its
    own text, so a change of the sources draws other faults for the lines that changed, and the same ones elsewhere.
    """
    every = [mutant for file in files for mutant in _described(root, file)]
    return sorted(every, key=lambda mutant: digest(seed, mutant.key))[:count]


def digest(seed: int, key: str) -> bytes:
    """Return the bytes by whose order faults are drawn."""
    return sha256(f"{seed} {key}".encode()).digest()


def _described(root: Path, file: str) -> Iterator[SourceMutant]:
    sound = (root / file).read_text(encoding="utf-8")
    old, seen = sound.split("\n"), Counter[tuple[str, str]]()
    for line, text in changed_texts(sound):
        new = text.split("\n")
        # A change of several lines, such as a longer condition, is told by the lines that differ.
        same = next(n for n in range(1, len(old) + 1) if n > len(new) or old[-n] != new[-n]) - 1
        before = " ".join(part.strip() for part in old[line - 1 : len(old) - same])
        after = " ".join(part.strip() for part in new[line - 1 : len(new) - same])
        seen[before, after] += 1
        yield SourceMutant(file=file, line=line, before=before, after=after, text=text, number=seen[before, after])
