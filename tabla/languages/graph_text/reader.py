"""The text of a graph becomes the graph: lines with a word in front, and the statements between them."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any, get_args

import ply.yacc as ply_yacc  # type: ignore[import-untyped]

from tabla.base.lexemes import Token, require_docstrings
from tabla.base.source import Source, Span, TablaError
from tabla.graph.constraints import TooManyPoints
from tabla.graph.format import Format
from tabla.graph.graph import Graph, Role, Statement, Tensor
from tabla.graph.rate import RATE, RuntimeRate
from tabla.graph.verify import GraphFault, verify
from tabla.languages.graph_text.lexer import read_tokens
from tabla.languages.graph_text.meaning import Meaning, refused
from tabla.languages.graph_text.tree import Line

_NAME = r"[^\W\d][\w.']*"
_ROLES: tuple[Role, ...] = get_args(Role)
_HEAD = re.compile(r"graph (?P<name>.+?)(?:, (?P<samples>[0-9]+) samples a step)?")
_TENSOR = re.compile(
    rf"(?P<role>{'|'.join(_ROLES)}) (?P<name>{_NAME})(?P<shape>(?:\[[0-9]+\])*)"
    r"(?P<filled> ?filled with 0)?(?: with (?P<guard>[0-9]+) guard bits)?"
)
_UPDATE = re.compile(rf"update (?P<model>{_NAME}) <- (?P<next>{_NAME})")
_RESULT = re.compile(rf"result (?P<shown>.+?)(?: = (?P<tensor>{_NAME}))?")
_RATE = re.compile(
    rf"rate (?P<sign>-?){RATE} \* 2\^(?P<power>-?[0-9]+), (?P<built>-?[0-9./]+) unless another one is loaded"
)
_MOST_AXES = 16


@dataclass(slots=True, kw_only=True)
class _Content:
    """What the lines of a text have said so far."""

    name: str = ""
    samples: int = 1
    number: Format | None = None
    integers: frozenset[str] = frozenset()
    tensors: dict[str, Tensor] = field(default_factory=dict)
    statements: list[Statement] = field(default_factory=list)
    updates: dict[str, str] = field(default_factory=dict)
    results: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    rate: RuntimeRate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphFile:
    """A graph with what its file says beside it: the number format, and the tensors whose words are integers."""

    graph: Graph
    format: Format | None
    integers: frozenset[str]


def read_graph(source: Source) -> GraphFile:
    """Read the text that ``--emit graph`` prints. What is no such text, and no valid graph, is a `TablaError`."""
    content = _Content()
    for span in _lines(source):
        _line(content, span)
    if not content.name:
        raise TablaError(f"'{source.name}' is no graph: no line says 'graph NAME'", hint="print one with --emit graph")
    for name in (*content.updates, *content.updates.values(), *(tensor for _, tensor in content.results)):
        if name not in content.tensors:
            raise TablaError(f"'{source.name}' has no tensor '{name}'", hint="declare it, as in: value h[3]")
    graph = Graph(
        name=content.name,
        tensors=content.tensors,
        statements=tuple(content.statements),
        updates=content.updates,
        results=tuple(content.results),
        notes=tuple(content.notes),
        samples=content.samples,
        rate=content.rate,
    )
    try:
        verify(graph)
    except (GraphFault, TooManyPoints) as fault:
        raise TablaError(f"'{source.name}' is no valid graph: {fault}", hint="mend that statement") from None
    return GraphFile(graph=graph, format=content.number, integers=content.integers)


def _lines(source: Source) -> Iterator[Span]:
    """Yield the place of the text of each line that has some, without spaces around it."""
    start = 0
    for line in source.text.splitlines(keepends=True):
        text = line.strip()
        if text:
            begin = start + line.index(text[0])
            yield Span(source=source, start=begin, end=begin + len(text))
        start += len(line)


def _line(content: _Content, span: Span) -> None:
    """Add what a line says. A line that says nothing known is read as a statement."""
    text = span.source.text[span.start : span.end]
    if text.startswith("note: "):
        content.notes.append(text.removeprefix("note: "))
    elif text.startswith("format "):
        content.number = Format.parse(text.removeprefix("format "))
    elif text.startswith("integers "):
        content.integers = frozenset(name.strip() for name in text.removeprefix("integers ").split(","))
    elif found := _HEAD.fullmatch(text):
        content.name, content.samples = found["name"], int(found["samples"] or 1)
    elif found := _TENSOR.fullmatch(text):
        _tensor(content, found, span)
    elif found := _UPDATE.fullmatch(text):
        content.updates[found["model"]] = found["next"]
    elif found := _RESULT.fullmatch(text):
        content.results.append((found["shown"], found["tensor"] or found["shown"]))
    elif found := _RATE.fullmatch(text):
        sign, built = -1 if found["sign"] else 1, Fraction(found["built"])
        content.rate = RuntimeRate(sign=sign, shift=-int(found["power"]), built=built)
    else:
        line = _parsed(span)
        content.statements.append(Meaning(tensors=content.tensors, line=line).statement(len(content.statements)))


def _tensor(content: _Content, found: re.Match[str], span: Span) -> None:
    name, shape = found["name"], tuple(map(int, re.findall(r"[0-9]+", found["shape"])))
    if name in content.tensors:
        raise refused(f"'{name}' is declared twice", span, "give it another name")
    if len(shape) > _MOST_AXES or 0 in shape:
        raise refused(f"'{name}' has an axis without an element, or too many axes", span, "an axis has 1 or more")
    (role,) = (each for each in _ROLES if each == found["role"])
    content.tensors[name] = Tensor(
        name=name,
        shape=shape,
        role=role,
        filled=bool(found["filled"]),
        guard=int(found["guard"] or 0),
        span=span,
    )


@cache
def _tables() -> Any:
    import tabla.languages.graph_text.grammar as rules

    require_docstrings()
    return ply_yacc.yacc(module=rules, write_tables=False, debug=False, errorlog=ply_yacc.NullLogger())


def _parsed(span: Span) -> Line:
    """Return the tree of a statement. What is no statement is a `TablaError` at its place."""
    tokens = iter(read_tokens(span))

    def meet(token: Token | None) -> None:
        if token is None:
            raise refused("the line ends too early", Span(source=span.source, start=span.end, end=span.end))
        raise refused(f"'{token.value.text}' does not fit here", token.value.span)

    parser = copy.copy(_tables())
    parser.errorfunc = meet
    found: Line = parser.parse(lexer=tokens, tokenfunc=lambda: next(tokens, None))
    return found
