"""What the grammar makes of a statement of a graph, before its names have a meaning."""

from __future__ import annotations

from dataclasses import dataclass

from tabla.base.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number without a sign, as it is written."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """A power of two, such as ``2^-4``, by its exponent."""

    exponent: int
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordinal:
    """``<2*i+1>`` or ``<(i)/2^10>``, with the text between the signs."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """A name with expressions in brackets, and perhaps arguments in parentheses: ``w[i]``, ``sum[i](...)``."""

    name: str
    groups: tuple[tuple[Node, ...], ...]
    arguments: tuple[Node, ...] | None
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Parenthesis:
    """An expression in parentheses."""

    inner: Node
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """Factors, the first of them as it is, each other one with whether it divides."""

    factors: tuple[tuple[bool, Node], ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """Terms, each with its sign."""

    terms: tuple[tuple[int, Node], ...]
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two expressions with a sign of comparison between them."""

    op: str
    left: Node
    right: Node
    span: Span


Node = Number | Power | Ordinal | Element | Parenthesis | Product | Sum | Comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """``i in [0, 8)``."""

    name: str
    low: int
    high: int
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A statement: what is written, what it is, where its indices run, and the forms that are at least 0."""

    target: Element
    value: Node
    box: tuple[Bounds, ...]
    constraints: tuple[Node, ...]
    span: Span
