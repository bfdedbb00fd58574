"""Shifts in common: products with constants give up shifts of their own where the smallest array has too few.

The product with ``m * 2^-s`` is also the product with ``2^n * m * 2^-(s + n)``, bit for bit, as long as a word holds
the mantissa ``2^n * m`` exactly. Statements therefore share a shift where these ranges of shifts meet.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from tabla.graph.body import FEW_SHIFTS
from tabla.graph.format import Format
from tabla.graph.graph import Constant, Graph, Linear, Operand, Product, Statement, Term
from tabla.graph.passes.framework import Condition, graph_pass
from tabla.graph.rewrite import with_statements


@dataclass(frozen=True, slots=True, kw_only=True)
class _Window:
    """The shifts that a statement can have."""

    least: int
    most: int

    def __contains__(self, shift: int) -> bool:
        return self.least <= shift <= self.most


@graph_pass(
    "common-shifts",
    "let products with constants share shifts, as far as the words of the constants can say the same",
    condition=Condition(
        text=f"there are more than {FEW_SHIFTS} shifts", holds=lambda graph: len(_used(graph)) > FEW_SHIFTS
    ),
)
def common_shifts(graph: Graph, fmt: Format) -> Graph:
    """Change the shifts of statements so that there are fewer, if there are more than the smallest array has."""
    windows = {statement.id: window for statement in graph.statements if (window := _window(statement, fmt))}
    fixed = {0, *(_place(s)[0] for s in graph.statements if s.id not in windows and not _place(s)[1])}
    chosen = _chosen(windows.values(), fixed)
    return with_statements(
        graph,
        (_moved(s, windows[s.id], chosen, fmt) if s.id in windows else s for s in graph.statements),
    )


def _used(graph: Graph) -> set[tuple[int, bool]]:
    """Return the shifts of a graph, as `_place` gives them. All arrays have the shift 0."""
    return {_place(statement) for statement in graph.statements} | {(0, False)}


def _place(statement: Statement) -> tuple[int, bool]:
    """Return the shift of a statement, and whether it is one of those of wide models, which are listed apart."""
    match statement.operation:
        case Linear(shift=shift, guard=guard):
            return shift - guard, guard > 0
        case Product(shift=shift):
            return shift, False
        case _:
            return 0, False


def _window(statement: Statement, fmt: Format) -> _Window | None:
    """Return the shifts that a statement can have, or None if its shift is fixed."""
    operation = statement.operation
    if not isinstance(operation, Linear) or not operation.shift or operation.guard:
        return None
    least, most = -fmt.fraction, 2 * fmt.width
    for term in operation.terms:
        if len(term.factors) == 1:
            continue
        word = next((abs(fmt.nearest(f.value)) for f in term.factors if isinstance(f, Constant)), 0)
        if not word:
            return None
        down = (word & -word).bit_length() - 1
        up = (fmt.highest + 1).bit_length() - 1 - word.bit_length()
        least, most = max(least, operation.shift - down), min(most, operation.shift + up)
    return _Window(least=least, most=most)


def _chosen(windows: Iterable[_Window], fixed: Iterable[int]) -> list[int]:
    """Return the fewest shifts beside the `fixed` ones, so that each window holds one: the ends of the windows that end
    first.
    """
    chosen = sorted(fixed)
    for window in sorted(windows, key=lambda each: (each.most, each.least)):
        if not any(shift in window for shift in chosen):
            chosen.append(window.most)
    return chosen


def _moved(statement: Statement, window: _Window, chosen: Iterable[int], fmt: Format) -> Statement:
    operation = statement.operation
    assert isinstance(operation, Linear)
    shift = next(shift for shift in chosen if shift in window)
    terms = tuple(_scaled(term, shift - operation.shift, fmt) for term in operation.terms)
    return replace(statement, operation=replace(operation, terms=terms, shift=shift))


def _scaled(term: Term, places: int, fmt: Format) -> Term:
    """Return a product of which the first constant is 2^places times as large."""
    if len(term.factors) == 1:
        return term
    factors: list[Operand] = list(term.factors)
    number, constant = next((n, f) for n, f in enumerate(factors) if isinstance(f, Constant))
    word = Fraction(fmt.nearest(constant.value), fmt.one)
    factors[number] = replace(constant, value=word * Fraction(2) ** places)
    return replace(term, factors=tuple(factors))
