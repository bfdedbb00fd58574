"""Lowered values of expressions: sums that are not yet rounded, and operations that give one word."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from tabla.base.source import Span
from tabla.graph.graph import (
    Affine,
    Compare,
    CompareOp,
    Constant,
    Divide,
    Extreme,
    ExtremeOp,
    Function,
    Gather,
    Linear,
    Operand,
    Product,
    Term,
)
from tabla.languages.kernel import tree
from tabla.languages.kernel.constants import constant_value
from tabla.languages.kernel.lower.builder import single


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """Signed terms that are not yet rounded, or the negative of all of them. A sum without terms is zero."""

    terms: tuple[Term, ...] = ()
    negated: bool = False

    def signed(self, sign: int = 1) -> tuple[Term, ...]:
        """Return the terms of this sum times `sign`."""
        if self.negated:
            sign = -sign
        if sign == 1:
            return self.terms
        return tuple(replace(term, sign=-term.sign) for term in self.terms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """An operation that gives one word. A `Linear` one is rounded before anything is added to it."""

    operation: Compare | Divide | Extreme | Function | Gather | Linear | Product
    span: Span | None


Value = Sum | Word

COMPARISONS: Mapping[str, CompareOp] = {
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
    "equal": "==",
    "not_equal": "!=",
}
EXTREMES: Mapping[str, ExtremeOp] = {"max": "max", "min": "min"}
"""The functions of the kernel that the graph has as operations of the same names."""


def operand_of(operand: Operand) -> Sum:
    """Return an operand as a sum of one term."""
    return Sum(terms=(Term(factors=(operand,)),))


def constant_of(value: Fraction, span: Span | None) -> Sum:
    """Return a constant as a sum; 0 has no terms."""
    return operand_of(Constant(value=value, span=span)) if value else Sum()


def known_of(value: Value) -> Fraction | None:
    """Return the constant that a value is, or None."""
    if isinstance(value, Word):
        return None
    if not value.terms:
        return Fraction(0)
    term = value.signed()[0]
    match single(term):
        case Constant(value=constant) if len(value.terms) == 1:
            return term.sign * constant
        case _:
            return None


def span_of(value: Value) -> Span | None:
    """Return where the only operand of a sum stands."""
    return value.terms[0].factors[0].span if isinstance(value, Sum) and value.terms else None


def starts(expression: tree.Expression, function: str) -> bool:
    """Return whether an argument of ``max`` or ``min`` is the limit from which such a function starts."""
    return isinstance(expression, tree.Limit) and expression.end == {"max": "lowest", "min": "highest"}.get(function)


def unlimited(expression: tree.Expression) -> tree.Expression:
    """Return a value without the limit with which a maximum or a minimum of no values starts: words have that limit."""
    match expression:
        case tree.Apply(function=function, arguments=(one, other)) if starts(one, function):
            return other
        case tree.Apply(function=function, arguments=(one, other)) if starts(other, function):
            return one
        case _:
            return expression


def inside(reduce: tree.Reduce) -> tree.Reduce:
    """Return a reduction whose conditions all mention one of its indices, so that it has a value of no values, too.

    A condition of the graph that mentions no summed index says where a statement writes. A sum is 0 there anyway.
    """
    if reduce.reduction in ("sum", "norm"):
        return reduce
    names, index = {each.name for each in reduce.indices}, reduce.indices[0]
    place = Affine.make(-index.low, {index.name: 1})
    # With a whole number f, f * extent + place is at least 0 just where f is, because place is 0 to extent - 1.
    forms = (each if names & set(each.names) else each * index.extent + place for each in reduce.conditions)
    return replace(reduce, conditions=tuple(forms))


def total_of(expression: tree.Expression) -> tree.Reduce | None:
    """Return the only sum under conditions of a real value to which nothing but reads, numbers and their products are
    added, and which nothing but numbers multiply.

    Each of its conditions mentions one of its indices, so that a statement over all elements may have them. The result
    is None for any other value.
    """
    found: list[tree.Reduce] = []
    waiting = [expression]
    while waiting:
        match waiting.pop():
            case tree.Apply(function="add" | "subtract" | "negate", arguments=arguments, type="real"):
                waiting += arguments
            case tree.Apply(function="multiply" | "divide", arguments=(other, known), type="real") if _is_known(known):
                waiting.append(other)
            case tree.Apply(function="multiply", arguments=(known, other), type="real") if _is_known(known):
                waiting.append(other)
            case tree.Reduce(reduction="sum") as total:
                found.append(total)
            case other if any(isinstance(part, tree.Reduce) for part in tree.walk(other)):
                return None
    if len(found) != 1 or not found[0].conditions:
        return None
    names = {index.name for index in found[0].indices}
    return found[0] if all(names.intersection(form.names) for form in found[0].conditions) else None


def _is_known(expression: tree.Expression) -> bool:
    return constant_value(expression) is not None
