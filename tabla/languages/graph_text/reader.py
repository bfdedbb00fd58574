"""The text of a graph becomes the graph: lines with a word in front, and the statements between them."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, get_args

import numpy as np
import ply.yacc as ply_yacc  # type: ignore[import-untyped]
from numpy.typing import NDArray

from tabla.base.arrays import read_arrays
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
    r"(?P<filled> ?filled with 0)?(?: with (?P<guard>[0-9]+) guard bits)?(?: split at axis (?P<split>[0-9]+))?"
    r"(?: words (?:in (?P<file>.+)|(?P<words>-?[0-9]+(?: +-?[0-9]+)*)))?"
)
_UPDATE = re.compile(rf"update (?P<model>{_NAME}) <- (?P<next>{_NAME})")
_RESULT = re.compile(rf"result (?P<shown>.+?)(?: = (?P<tensor>{_NAME}))?")
_RATE = re.compile(
    rf"rate (?P<sign>-?){RATE} \* 2\^(?P<power>-?[0-9]+), (?P<built>-?[0-9./]+) unless another one is loaded"
)
_ACROSS = "   across groups"
_MOST_AXES = 16


@dataclass(slots=True, kw_only=True)
class _Content:
    """What the lines of a text have said so far."""

    folder: Path
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
    flat: bool = False
    words: dict[str, NDArray[np.int64]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphFile:
    """A graph with what its file says beside it: the number format, and the tensors whose words are integers."""

    graph: Graph
    format: Format | None
    integers: frozenset[str]


def read_graph(source: Source, folder: Path = Path()) -> GraphFile:
    """Read the text that ``--emit graph`` prints. The files of constants that it names are in a folder.

    What is no such text, and no valid graph, is a `TablaError`.
    """
    content = _Content(folder=folder)
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
        flat_gathers=content.flat,
        words=content.words,
        fraction=content.number.fraction if content.number is not None and content.words else 0,
    )
    try:
        verify(graph)
    except (GraphFault, TooManyPoints) as fault:
        raise TablaError(f"'{source.name}' is no valid graph: {fault}", hint="mend that statement") from None
    return GraphFile(graph=graph, format=content.number, integers=content.integers)


def _lines(source: Source) -> Iterator[Span]:
    """Yield the place of the text of each line that has some, without spaces around it. A comment begins with //."""
    start = 0
    for line in source.text.splitlines(keepends=True):
        text = line.strip()
        if text and not text.startswith("//"):
            begin = start + line.index(text[0])
            yield Span(source=source, start=begin, end=begin + len(text))
        start += len(line)


def _line(content: _Content, span: Span) -> None:
    """Add what a line says. A line that says nothing known is read as a statement."""
    text = span.source.text[span.start : span.end]
    if text == "flat gathers":
        content.flat = True
    elif text.startswith("note: "):
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
        crosses = text.endswith(_ACROSS)
        if crosses:
            span = Span(source=span.source, start=span.start, end=span.end - len(_ACROSS))
        made = Meaning(tensors=content.tensors, line=_parsed(span)).statement(len(content.statements))
        content.statements.append(replace(made, crosses=crosses))


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
        split=int(found["split"]) if found["split"] else -1,
        span=span,
    )
    if role == "constant" or found["words"] or found["file"]:
        content.words[name] = _words(content, content.tensors[name], found, span)


def _words(content: _Content, tensor: Tensor, found: re.Match[str], span: Span) -> NDArray[np.int64]:
    """Return the words of a constant, which are in the text or in a file. Wrong ones are a `TablaError`."""
    if tensor.role != "constant":
        raise refused(f"'{tensor.name}' is no constant, so it has no words", span, "leave the words out")
    if content.number is None:
        raise refused("words belong to a format, and the text names none", span, "begin the file with: format q6.10")
    if found["file"]:
        words = _words_of_file(content.folder / found["file"], tensor.name, span)
    elif found["words"]:
        words = np.array([int(word) for word in found["words"].split()], dtype=object)
    else:
        raise refused(f"the constant '{tensor.name}' has no words", span, "write them behind it: words 0 1 2")
    lowest, highest = content.number.lowest, content.number.highest
    if words.min() < lowest or words.max() > highest:
        raise refused(f"words of {content.number} lie between {lowest} and {highest}", span, "these are integers")
    # Each of several groups has a part of a constant that is split, and the words are those of all groups.
    groups = max(1, words.size // tensor.size) if tensor.split >= 0 else 1
    if words.size != groups * tensor.size:
        raise refused(f"'{tensor.name}' has {tensor.size} elements and {words.size} words", span, "write all of them")
    shape = (n * groups if axis == tensor.split else n for axis, n in enumerate(tensor.shape))
    return words.astype(np.int64).reshape(tuple(shape))


def _words_of_file(path: Path, name: str, span: Span) -> NDArray[Any]:
    arrays = read_arrays(path)
    if name not in arrays:
        raise refused(f"'{path}' has no array '{name}'", span, "write it again with tabla pass -o")
    words = arrays[name].ravel()
    if not words.size or np.any(words != np.rint(words)):
        raise refused(
            f"the words of '{name}' in '{path}' are no integers", span, "write the file again with tabla pass"
        )
    return words


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
