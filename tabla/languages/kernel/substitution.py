"""Statements and expressions with other names of tensors, and with other affine forms in place of their indices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

from tabla.base.source import Span
from tabla.graph.graph import Affine, Index
from tabla.languages.kernel.signatures import apply
from tabla.languages.kernel.tree import Expression, Gather, Number, Position, Read, Reduce, Statement, rewritten

Form = Callable[[Affine], Affine]


def renamed(statement: Statement, names: Mapping[str, str]) -> Statement:
    """Return a statement with other names of tensors; those that are not in `names` stay."""
    target = names.get(statement.target, statement.target)
    return replace(statement, target=target, value=reading(statement.value, names))


def reading(expression: Expression, names: Mapping[str, str]) -> Expression:
    """Return an expression that reads tensors of other names."""

    def leaf(part: Expression) -> Expression:
        match part:
            case Read(tensor=tensor) | Gather(tensor=tensor):
                return replace(part, tensor=names.get(tensor, tensor))
            case _:
                return part

    return rewritten(expression, leaf)


def placed(expression: Expression, form: Form) -> Expression:
    """Return an expression with another form in place of each affine form. The indices of sums stay as they are."""

    def leaf(part: Expression) -> Expression:
        match part:
            case Read(subscripts=subscripts):
                return replace(part, subscripts=tuple(map(form, subscripts)))
            case Gather(subscripts=subscripts):
                moved = (form(each) if isinstance(each, Affine) else each for each in subscripts)
                return replace(part, subscripts=tuple(moved))
            case Position(index=index):
                return whole_number(form(Affine.index(index)), part.span)
            case Reduce(conditions=conditions):
                return replace(part, conditions=tuple(map(form, conditions)))
            case _:
                return part

    return rewritten(expression, leaf)


def with_indices(statement: Statement, names: Mapping[str, str]) -> Statement:
    """Return a statement with other names of indices; those that are not in `names` stay."""

    def form(old: Affine) -> Affine:
        return Affine.make(old.constant, {names.get(name, name): factor for name, factor in old.coefficients})

    def indices(old: Iterable[Index]) -> tuple[Index, ...]:
        return tuple(replace(index, name=names.get(index.name, index.name)) for index in old)

    def leaf(part: Expression) -> Expression:
        return replace(part, indices=indices(part.indices)) if isinstance(part, Reduce) else part

    return replace(
        statement,
        write=tuple(map(form, statement.write)),
        indices=indices(statement.indices),
        value=rewritten(placed(statement.value, form), leaf),
        conditions=tuple(map(form, statement.conditions)),
    )


def whole_number(form: Affine, span: Span | None) -> Expression:
    """Return an affine form as an expression of integers."""
    total: Expression | None = None
    for name, factor in form.coefficients:
        term: Expression = Position(index=name, span=span)
        if factor != 1:
            term = apply("multiply", Number(value=Fraction(factor), type="integer", span=span), term, span=span)
        total = term if total is None else apply("add", total, term, span=span)
    constant = Number(value=Fraction(form.constant), type="integer", span=span)
    if total is None:
        return constant
    return apply("add", total, constant, span=span) if form.constant else total
