"""Words of one statement of Tensor Comprehensions: what its reals and its integers have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from tabla.base.source import Label, Span, TablaError
from tabla.graph.graph import Constant, Extreme, ExtremeOp, Linear, Operand, Operation, Read, Term
from tabla.languages.kernel.lower import choices
from tabla.languages.kernel.lower.builder import GraphBuilder, Sum
from tabla.languages.kernel.lower.functions import idle
from tabla.languages.kernel.lower.scaled import SummedPart
from tabla.languages.tc import program
from tabla.languages.tc.lower.points import Points
from tabla.languages.tc.program import Value
from tabla.languages.tc.scalars import BOOL
from tabla.languages.tc.subscripts import linear_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Where the graph holds a tensor: `base` is the index, in the program, of its first element."""

    tensor: str
    base: tuple[int, ...]


class Words(ABC):
    """Emits the words of one statement; `owner` names the temporaries that they need.

    Reals are made of integers and integers of reals: `Expressions` computes the reals, and asks its `Integers` for
    the rest; these ask for reals through `word` and `read`.
    """

    def __init__(self, builder: GraphBuilder, points: Points, held: Mapping[str, Held]) -> None:
        self.builder, self.points, self.held = builder, points, held
        self.owner = points.step.statement.target
        # The conditions under which the value that is being lowered is chosen, the outermost one first.
        self.path: tuple[Value, ...] = ()

    @abstractmethod
    def word(self, value: Value) -> Operand:
        """Return a real value as one word, a temporary where it is more."""

    @abstractmethod
    def read(self, read: program.Read) -> Read:
        """Return an element of a tensor; where data are part of a subscript, a copy of it."""

    def joined(self, terms: Sum, span: Span) -> Operand:
        """Return terms as one word."""
        if not terms:
            return Constant(value=Fraction(0), span=span)
        if len(terms) == 1 and len(terms[0].factors) == 1 and terms[0].sign == 1:
            return terms[0].factors[0]
        return self.part(Linear(terms=terms), span)

    def constant(self, value: Value) -> Fraction | None:
        """Return the exact number that a value has for these sizes, or None where it depends on indices or tensors."""
        match value:
            case program.Constant(value=number):
                return number
            case program.SizeVariable() | program.Extent():
                linear = linear_of(value, self.points.extent, self.points.sizes)
                assert linear is not None and linear.constant.value is not None
                return Fraction(linear.constant.value)
            case program.Convert(operand=operand, scalar=scalar) if scalar.kind == "float":
                return self.constant(operand)
            case program.Unary(operator="-", operand=operand):
                inner = self.constant(operand)
                return None if inner is None else -inner
            case program.Binary(operator="+" | "-" | "*" | "/" as operator, left=left, right=right):
                one, other = self.constant(left), self.constant(right)
                if one is None or other is None or (operator == "/" and (value.scalar.integral or not other)):
                    return None
                return {"+": one + other, "-": one - other, "*": one * other}.get(operator, one / (other or 1))
            case _:
                return None

    @contextmanager
    def under(self, condition: Value, truth: bool) -> Iterator[None]:
        """Lower values that count only where a condition is true, or where it is false."""
        path = self.path
        span = condition.span
        holds = condition if truth else program.Unary(operator="!", operand=condition, scalar=BOOL, span=span)
        self.path = (*path, holds)
        yield
        self.path = path

    def chosen(self, choice: program.Choice, word: Callable[[Value], Operand]) -> Sum:
        """Return a choice of two values that `word` lowers."""
        condition = self.word(choice.condition)
        with self.under(choice.condition, True):
            one = word(choice.chosen)
        with self.under(choice.condition, False):
            other = word(choice.other)
        return choices.choice(condition, one, other)

    def path_word(self) -> Operand | None:
        """Return 1 where all conditions of the path hold and else 0, or None where the path has no condition."""
        conditions, found = self.path, list[Operand]()
        for at, condition in enumerate(conditions):
            self.path = conditions[:at]
            found.append(self.word(condition))
        self.path = conditions
        if not found:
            return None
        whole = found[0]
        for operand in found[1:]:
            whole = self.joined((Term(factors=(whole, operand)),), conditions[-1].span)
        return whole

    def extreme(
        self,
        op: ExtremeOp,
        value: program.Apply,
        sum_of: Callable[[Value], Sum],
        *,
        one: Fraction = Fraction(1),
    ) -> Sum:
        """Return the larger or the smaller of two values that `sum_of` lowers.

        A limit that no word reaches is left out. `one` is what the word of the number 1 stands for.
        """
        for limit, other in (value.arguments, value.arguments[::-1]):
            number = self.constant(limit)
            if idle(op, None if number is None else number * one, self.builder.number_format):
                return sum_of(other)
        left, right = (self.joined(sum_of(argument), argument.span) for argument in value.arguments)
        return (Term(factors=(self.part(Extreme(op=op, operands=(left, right)), value.span),)),)

    def parts(self, span: Span) -> SummedPart:
        """Return what makes temporaries at a place, at all points of the statement."""
        return lambda operation, summed: self.part(operation, span)

    def part(self, operation: Operation, span: Span) -> Read:
        """Return a temporary that holds an operation."""
        return self.builder.part(self.owner, operation, self.points.all, span, self.points.constraints)


def refuse(message: str, span: Span, hint: str) -> NoReturn:
    """Raise a fault for a part of the program that the graph cannot express."""
    raise TablaError(message, Label(span), hint=hint)
