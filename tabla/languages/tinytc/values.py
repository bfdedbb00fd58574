"""What names of the tensor language stand for while a function is translated."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn, TypeGuard

from tabla.base.source import Label, Span, TablaError
from tabla.graph.graph import Affine
from tabla.languages.kernel.signatures import apply
from tabla.languages.kernel.substitution import whole_number
from tabla.languages.kernel.tree import Expression, Number
from tabla.languages.tinytc.truths import Truth
from tabla.languages.tinytc.views import View


@dataclass(frozen=True, slots=True)
class GroupId:
    """The number of the group, which is the number of the sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A parameter with a memref for each group: ``group<memref<...>x?>``, or a memref whose last mode is not known."""

    view: View
    group: bool


Value = Affine | Expression | Truth | View | Batch | GroupId


def is_expression(value: Value) -> TypeGuard[Expression]:
    """Return whether a value is an expression of the kernel."""
    return not isinstance(value, Affine | Truth | View | Batch | GroupId)


def as_expression(value: Value) -> Expression | None:
    """Return a value as an expression: a truth value that indices decide is one of comparisons."""
    if not isinstance(value, Truth):
        return value if is_expression(value) else None
    result: Expression | None = None
    zero = Number(value=Fraction(0), type="integer")
    for case in value.yes:
        part: Expression | None = None
        for form in case:
            holds = apply("greater_equal", whole_number(form, None), zero)
            part = holds if part is None else apply("and", part, holds)
        if part is None:
            part = apply("equal", zero, zero)
        result = part if result is None else apply("or", result, part)
    return result if result is not None else apply("not_equal", zero, zero)


def refuse(message: str, span: Span | None, hint: str) -> NoReturn:
    """Raise the fault of a place."""
    raise TablaError(message, *([] if span is None else [Label(span)]), hint=hint)
