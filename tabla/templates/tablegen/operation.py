"""A bang operator with its operands: a value that waits until enough of the operands is known.

What one operator computes, and how it prints while it waits, is its record in `operators`. What all operators share is
here: the operands are resolved, and the result is computed as soon as that can be done.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tabla.templates.tablegen.literals import IntValue
from tabla.templates.tablegen.resolvers import ShadowResolver
from tabla.templates.tablegen.types import INT, Type
from tabla.templates.tablegen.values import (
    Owner,
    PendingValue,
    Pool,
    Resolver,
    Value,
    all_complete,
    all_concrete,
    all_ground,
)

Compute: TypeAlias = "Callable[[Operation, Owner | None, Pool, bool], Value | None]"
"""Computes the result in a record. None means that it is not known yet. The last parameter says whether this is the
last step, after which nothing becomes known."""

Form: TypeAlias = Literal["one", "several", "three", "text", "loop", "fold", "isa", "cond", "listed"]
"""How the arguments are written and in which order they are checked; `bang` has a reader for each form."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Operand:
    """What an argument must be: the words for it in a message, and whether a type will do."""

    what: str
    fits: Callable[[Type], bool]
    may_be_unset: bool = False


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Operator:
    """One operator.

    `least` and `most` are the numbers of its arguments. `result` is the type of its value; None says that the type
    depends on the operands. `operands` are the types of the arguments, for the form "listed" alone; an operator with
    fewer arguments than `operands` leaves the last ones out.
    """

    name: str
    form: Form
    least: int
    most: int
    compute: Compute
    operands: tuple[Operand, ...] = ()
    result: Type | None = None
    # Numbers to a number: what `compute` does, without the values around it.
    arithmetic: Callable[[int, int], int] | None = None
    # A number on the left that decides the result alone, whatever stands on the right.
    absorbing: int | None = None
    # If the operator is computed by another one where nothing else helps, this makes the operation of that one.
    otherwise: Callable[[Operation, Pool], Value | None] | None = None
    # a op b op c is a op (b op c).
    associative: bool = False
    # The result depends on the records that there are: the last step looks again, even if no operand changed.
    looks_up: bool = False
    # A result that is not of the type that the place asks for is refused where the operator stands, for the form
    # "listed" alone. Others may have a suffix, such as the number of an element, that makes it fit.
    suits_its_place: bool = True
    # The form <type>(...) is written, and printed.
    typed: bool = False
    # Between the brackets while the value waits. None prints the operands as they were written.
    text: Callable[[Operation], str] | None = None
    # Whether a part is unset: the operands say so, or it never is, or it may always be.
    complete: Literal["always", "by operands", "never", "by clauses"] = "always"
    # A bit of such a value is named by its number, even if the value is of type bit, which shows in unfinished output.
    names_its_bits: bool = False

    @property
    def may_change(self) -> bool:
        """Whether the value may become another one while its operands stay."""
        # The value of a fold may change with the variables of the loop around it.
        return self.looks_up or self.otherwise is not None or self.form == "fold"


# From this version on the left operand of !and and !or may decide the result alone, when it is resolved.
_ABSORBS_SINCE = 22


def _is_absorbed(operator: Operator, left: Value) -> bool:
    """Whether the left operand decides the result."""
    return operator.absorbing is not None and isinstance(left, IntValue) and left.value == operator.absorbing


class Operation(PendingValue):
    """``!operator<wanted>(operands)``. `variables` are the names that a loop binds in its last operand."""

    __slots__ = ("operands", "operator", "variables", "wanted")

    def __init__(
        self, operator: Operator, type: Type, wanted: Type | None, variables: tuple[str, ...], *operands: Value
    ) -> None:
        ground = not operator.may_change and all_ground(operands)
        super().__init__(type, ground and not _is_absorbed(operator, operands[0]))
        self.operator = operator
        self.wanted = wanted
        self.variables = variables
        self.operands = operands

    def text(self) -> str:
        if self.operator.text is not None:
            return self.operator.text(self)
        wanted = f"<{self.wanted}>" if self.wanted is not None else ""
        return f"!{self.operator.name}{wanted}({', '.join([operand.text() for operand in self.operands])})"

    def is_complete(self) -> bool:
        match self.operator.complete:
            case "always":
                return True
            case "never":
                return False
            case "by operands":
                return all_complete(self.operands)
            case "by clauses":
                # The conditions, then their values. Before version 22 a value may be unset, and since then it may wait.
                half = len(self.operands) // 2
                conditions, values = self.operands[:half], self.operands[half:]
                return all_complete(conditions) and (all_concrete(values) or all_complete(values))

    def is_concrete(self) -> bool:
        return self.operator.complete == "by clauses" and all_concrete(self.operands)

    def bit(self, index: int, pool: Pool) -> Value:
        return pool.bit_of(self, index) if self.operator.names_its_bits else super().bit(index, pool)

    def resolve(self, resolver: Resolver) -> Value:
        if self.ground:
            return self
        operator, pool, operands = self.operator, resolver.pool, self.operands
        if operator.name == "if":
            first = operands[0].resolve(resolver)
            condition = first.convert(INT, pool) if first is not operands[0] else None
            if isinstance(condition, IntValue):
                # The branch not taken may be nonsense: it is not looked at.
                return operands[1 if condition.value else 2].resolve(resolver)
        if operator.absorbing is not None and (pool.llvm >= _ABSORBS_SINCE or resolver.insists):
            # The right side is not looked at, as the branch above.
            left = operands[0].resolve(resolver)
            if _is_absorbed(operator, left):
                return left
        if resolver.insists and operator.otherwise is not None:
            other = operator.otherwise(self, pool)
            if other is not None:
                return other.resolve(resolver)
        if self.variables:
            inner = ShadowResolver(resolver, *self.variables)
            new = [*[one.resolve(resolver) for one in operands[:-1]], operands[-1].resolve(inner)]
        else:
            new = [one if one.ground else one.resolve(resolver) for one in operands]
        if resolver.insists and operator.otherwise is not None:
            operation = pool.unique(Operation, operator, self.type, self.wanted, self.variables, *new)
            other = operator.otherwise(operation, pool)
            return operation if other is None else other
        # Values are compared by identity.
        if new == [*operands] and not (resolver.is_final and operator.looks_up):
            return self
        if operator.arithmetic is not None and type(new[0]) is IntValue and type(new[1]) is IntValue:
            return pool.integer(operator.arithmetic(new[0].value, new[1].value))
        operation = pool.unique(Operation, operator, self.type, self.wanted, self.variables, *new)
        return operation.fold(resolver.record, pool, final=resolver.is_final)

    def fold(self, record: Owner | None, pool: Pool, *, final: bool = False) -> Value:
        """Return the result, or the operation itself if an operand is not known yet."""
        result = self.operator.compute(self, record, pool, final)
        return self if result is None else result

    def numbers(self, pool: Pool) -> list[int] | None:
        """Return the operands as numbers, or None until all of them are known."""
        known = [operand.convert(INT, pool) for operand in self.operands]
        numbers = [one.value for one in known if isinstance(one, IntValue)]
        return numbers if len(numbers) == len(known) else None
