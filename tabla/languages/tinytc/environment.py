"""What the translation of a function knows: its names and their values, and the statements of the regions around."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count

from tabla.base.faults import did_you_mean
from tabla.base.source import Span
from tabla.graph.graph import Affine, Index
from tabla.languages.kernel.signatures import apply
from tabla.languages.kernel.tree import Expression, Number, Read, Statement, walk
from tabla.languages.tinytc.bodies import instructions_of, last_uses
from tabla.languages.tinytc.loops import reads_of
from tabla.languages.tinytc.syntax import (
    Function,
    Literal,
    Local,
    Operand,
    Slice,
)
from tabla.languages.tinytc.truths import constant
from tabla.languages.tinytc.values import Batch, GroupId, Value, is_expression, refuse
from tabla.languages.tinytc.views import NeedsConstant, View, Views

MOST_STATEMENTS = 4000
"""The most statements of a program."""
_LARGEST = 40
"""The most parts of an expression that is used several times."""
_HALF = Number(value=Fraction(1, 2))


@dataclass(slots=True, kw_only=True)
class Translated:
    """What a function becomes: the shapes of all tensors, and the statements in their order.

    `local` are the tensors that the function makes itself, of which those of `filled` begin as 0. `kept` are parameters
    that no group selects.
    """

    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    statements: list[Statement] = field(default_factory=list)
    local: set[str] = field(default_factory=set)
    filled: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)
    grouped: bool = False


class Environment:
    """The names and the statements of the translation of one function.

    `_fixed` are the tensors that never change once they have a value, `_last` and `_clock` count instructions in the
    order of the text, and `_written` counts statements. `_blocks` and `_own` have the statements of the regions around,
    and the tensors that they make.
    """

    def __init__(self, function: Function) -> None:
        self._function = function
        self._views = Views()
        # The type of the elements of each memref.
        self._elements: dict[str, str] = {}
        self._found = Translated(grouped=any(each.name == "group_id" for each in instructions_of(function.body)))
        self._scopes: list[dict[str, Value]] = [{}]
        self._blocks: list[list[Statement]] = [self._found.statements]
        self._own: list[set[str]] = [set()]
        self._numbers = count()
        self._last = last_uses(function.body)
        self._clock = 0
        self._written = 0
        self._fixed: set[str] = set()

    def _define(self, local: Local, value: Value) -> None:
        if any(local.name in scope for scope in self._scopes):
            refuse(f"'%{local.name}' is defined twice", local.span, "give one of them another name")
        self._scopes[-1][local.name] = self._small(value)

    def _small(self, value: Value) -> Value:
        """Return a value whose expression is not so large that its use would make the program grow."""
        if is_expression(value) and sum(1 for _ in walk(value)) > _LARGEST:
            return self._kept(value)
        return value

    def _kept(self, value: Expression) -> Expression:
        """Return the read of a new tensor that has a value now."""
        name = f"value.{next(self._numbers)}"
        self._allocate(name, ())
        self._fixed.add(name)
        truth = value.type == "truth"
        self._state(name, (), (), apply("real", value) if truth else value, value.span)
        read = Read(tensor=name, span=value.span)
        return apply("greater", read, _HALF) if truth else read

    def _allocate(self, name: str, shape: tuple[int, ...]) -> None:
        self._found.shapes[name] = shape
        self._found.local.add(name)
        self._own[-1].add(name)

    def _state(
        self, target: str, write: tuple[Affine, ...], indices: tuple[Index, ...], value: Expression, span: Span | None
    ) -> None:
        self._written += 1
        if self._written > MOST_STATEMENTS:
            hint = "write foreach, or a block instruction, whose turns do not touch each other"
            refuse(f"the function is more than {MOST_STATEMENTS:,} statements, its loops written out", span, hint)
        self._blocks[-1].append(Statement(target=target, write=write, indices=indices, value=value, span=span))

    def _overwrites(self, base: str) -> None:
        """Keep the values that read a tensor which is about to change, and that are still used."""
        for scope in self._scopes:
            for name, value in scope.items():
                if is_expression(value) and self._last.get(name, 0) > self._clock:
                    if any(read.tensor == base for read in reads_of(value)):
                        scope[name] = self._kept(value)

    @contextmanager
    def _inner(self, statements: list[Statement]) -> Iterator[set[str]]:
        """Collect the statements of a region, and the tensors that it makes."""
        self._scopes.append({})
        self._blocks.append(statements)
        self._own.append(set())
        try:
            yield self._own[-1]
        finally:
            self._scopes.pop()
            self._blocks.pop()
            self._own.pop()

    def _value(self, operand: Operand) -> Value:
        match operand:
            case Literal(value=bool() as value):
                return constant(value)
            case Literal(value=int() as value):
                return Affine.of(value)
            case Literal(value=value):
                return Number(value=Fraction(value), span=operand.span)
            case Slice():
                raise AssertionError(operand)
        for scope in reversed(self._scopes):
            if operand.name in scope:
                return scope[operand.name]
        known = {name for scope in self._scopes for name in scope}
        hint = did_you_mean(operand.name, known) or "an instruction before gives it: %a = load %A[%i] : f32"
        refuse(f"there is no '%{operand.name}'", operand.span, hint)

    def _whole(self, operand: Operand) -> Affine:
        value = self._value(operand)
        if not isinstance(value, Affine):
            what = "the group id" if isinstance(value, GroupId) else "a value of the data"
            refuse(f"{what} where an index stands", operand.span, "indices are constants and the names of loops")
        return value

    def _number(self, operand: Operand) -> int:
        value = self._whole(operand)
        if value.coefficients:
            raise NeedsConstant
        return value.constant

    def _real(self, operand: Operand) -> Expression:
        value = self._value(operand)
        if not is_expression(value) or value.type != "real":
            refuse("this is no real number", operand.span, "a constant has a point: constant 1.0 : f32")
        return value

    def _view(self, operand: Operand) -> View:
        value = self._value(operand)
        if isinstance(value, Batch):
            hint = "select one: subview %P[0:8, 0:3, %gid]"
            hint = "select one: load %A[%gid]" if value.group else hint
            refuse("the memrefs of all groups", operand.span, hint)
        if not isinstance(value, View):
            refuse("this is no memref", operand.span, "memrefs are parameters, views of them, and what alloca makes")
        return value

    def _index(self, name: str) -> str:
        name = name if name.isidentifier() else "index"
        return f"{name}.{next(self._numbers)}"
