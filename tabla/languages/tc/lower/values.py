"""Values of Tensor Comprehensions as expressions of the kernel, at the points of one statement.

A choice computes both of its values, so a read that a condition keeps inside its tensor has to be inside anyway. If it
is by sums of indices, it reads a padded copy, a tensor with zeros around it. Else the condition chooses its position,
and where the condition fails, the position is the first one of the axis. No choice takes what is read there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import NoReturn, Protocol

from tabla.base.source import Label, Span, TablaError
from tabla.graph.boxes import Box, volume
from tabla.graph.constraints import ends
from tabla.graph.graph import Affine, Index
from tabla.languages.kernel import tree
from tabla.languages.kernel.constants import element
from tabla.languages.kernel.signatures import SIGNATURES, apply
from tabla.languages.kernel.substitution import whole_number
from tabla.languages.kernel.tree import Number, Reduce
from tabla.languages.tc import program
from tabla.languages.tc.lower.points import Points
from tabla.languages.tc.program import Value, walk
from tabla.languages.tc.scalars import Scalar

MOST_PADDING = 4
"""A padded copy has at most so many times the elements of its tensor. Reads that reach further compute positions."""
_ARITHMETIC = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "remainder"}
_COMPARED = {
    "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal", "==": "equal", "!=": "not_equal",
}  # fmt: skip
_NAMED = {"fabs": "abs", "fmin": "min", "fmax": "max", "pow": "power", "fdivide": "divide"}
_REALS = {name for name, signature in SIGNATURES.items() if signature.rule == "reals"} | {"abs", "min", "max", "divide"}
"""The functions of the kernel that a program may call by their names there, or by those of `_NAMED`."""
_FACTOR = "factor'"
"""The index over the factors of a power; no index of a program has such a name."""


class Tensors(Protocol):
    """Where the kernel holds the tensors of a function, before the statement whose values are made."""

    def held(self, name: str) -> tuple[tree.Tensor, tuple[int, ...]]:
        """Return a tensor of the kernel, all of whose elements may be read, and the subscripts that the program gives
        to its first element.
        """

    def padded(self, name: str, inside: Box, wide: Box, span: Span) -> tuple[tree.Tensor, tuple[int, ...]]:
        """Return a copy of the elements with the subscripts `inside`, with zeros around it up to `wide`."""

    def inside(self, name: str) -> tuple[tree.Tensor, tuple[int, ...]]:
        """Return the same as `held` for an element that has a value already."""


def type_of(scalar: Scalar) -> tree.Type:
    """Return the kernel's type for the values of a type of the language. The kernel's types have no sizes."""
    match scalar.kind:
        case "float":
            return "real"
        case "bool":
            return "truth"
        case _:
            return "integer"


class Values:
    """The values at some points, as expressions of the kernel.

    `factors` are the identities of factors by which a sum is multiplied already, so that they are left out.
    """

    def __init__(self, tensors: Tensors, points: Points, factors: set[int]) -> None:
        self._tensors, self._points, self._factors = tensors, points, factors
        # The conditions under which the value at hand is chosen, the outermost one first.
        self._path: tuple[tree.Expression, ...] = ()
        self._copies: dict[str, tuple[tree.Tensor, tuple[int, ...]]] = {}

    def of(self, value: Value, kind: tree.Type) -> tree.Expression:
        """Return a value as one of a type of the kernel."""
        return {"real": self.real, "integer": self.integer, "truth": self.truth}[kind](value)

    def real(self, value: Value) -> tree.Expression:
        """Return a value as a real number."""
        span = value.span
        if value.scalar.kind == "bool":
            return apply("real", self.truth(value), span=span)
        if value.scalar.integral:
            return apply("real", self.integer(value), span=span)
        match value:
            case program.Constant(value=number):
                return Number(value=number, span=span)
            case program.Convert(operand=operand):
                return self.real(operand)
            case program.Binary(operator="*" | "/", left=left, right=right) if id(right) in self._factors:
                return self.real(left)
            case program.Binary(operator="*", left=left, right=right) if id(left) in self._factors:
                return self.real(right)
            case program.Apply(function="pow", arguments=(base, exponent)):
                return self._power(base, exponent, span)
            case program.Apply(function=function, arguments=arguments):
                return self._call(function, [self.real(argument) for argument in arguments], span)
            case _:
                return self._number(value, "real")

    def integer(self, value: Value) -> tree.Expression:
        """Return a value as an integer; a real number is rounded toward zero."""
        span = value.span
        if (form := self._points.affine(value)) is not None:
            return whole_number(form, span)
        match value:
            case program.Convert(operand=operand):
                return self.integer(operand)
            case _ if value.scalar.kind == "bool":
                return apply("integer", self.truth(value), span=span)
            case _ if value.scalar.kind == "float":
                return apply("integer", self.real(value), span=span)
            case program.Constant(value=number):
                return Number(value=number, type="integer", span=span)
            case program.Apply(function="min" | "max" as function, arguments=(left, right)):
                return apply(function, self.integer(left), self.integer(right), span=span)
            case _:
                return self._number(value, "integer")

    def truth(self, value: Value) -> tree.Expression:
        """Return a value as a truth value. A number is true if it is not 0."""
        span = value.span
        match value:
            case program.Binary(operator="&&" | "||" as operator, left=left, right=right):
                one = self.truth(left)
                with self._under(one, operator == "&&"):
                    other = self.truth(right)
                return apply("and" if operator == "&&" else "or", one, other, span=span)
            case program.Unary(operator="!", operand=operand):
                return apply("not", self.truth(operand), span=span)
            case program.Binary(operator=operator, left=left, right=right, common=common) if operator in _COMPARED:
                side = self.integer if common.integral else self.real
                return apply(_COMPARED[operator], side(left), side(right), span=span)
            case program.Constant(value=number):
                return Number(value=Fraction(bool(number)), type="truth", span=span)
            case program.Convert(operand=operand) if operand.scalar.kind == "bool":
                return self.truth(operand)
            case _ if value.scalar.kind != "bool":
                kind = type_of(value.scalar)
                return apply("not_equal", self.of(value, kind), Number(value=Fraction(0), type=kind), span=span)
            case _:
                return self._number(value, "truth")

    def _number(self, value: Value, kind: tree.Type) -> tree.Expression:
        """Return what means the same for values of all types: an element, a choice, and arithmetic."""
        span = value.span
        match value:
            case program.Read():
                return self._read(value)
            case program.Choice(condition=condition, chosen=chosen, other=other):
                test = self.truth(condition)
                with self._under(test, True):
                    one = self.of(chosen, kind)
                with self._under(test, False):
                    two = self.of(other, kind)
                return apply("select", test, one, two, span=span)
            case program.Unary(operator="-", operand=operand):
                return apply("negate", self.of(operand, kind), span=span)
            case program.Binary(operator=operator, left=left, right=right) if operator in _ARITHMETIC:
                return apply(_ARITHMETIC[operator], self.of(left, kind), self.of(right, kind), span=span)
            case _:
                refuse("this arithmetic does not run on the machine", span, "tabla eval --float has all of it")

    @contextmanager
    def _under(self, condition: tree.Expression, holds: bool) -> Iterator[None]:
        """Make values that count only where a condition holds, or where it does not."""
        path = self._path
        self._path = (*path, condition if holds else apply("not", condition, span=condition.span))
        yield
        self._path = path

    def _read(self, read: program.Read) -> tree.Expression:
        """Return an element of a tensor."""
        forms = [self._points.affine(subscript) for subscript in read.subscripts]
        known = [form for form in forms if form is not None]
        bounds = self._points.bounds(read.tensor)
        if len(known) == len(forms):
            pairs = zip(known, bounds, strict=True)
            if all(self._points.inside(form, between) for form, between in pairs):
                return self._element(self._tensors.inside(read.tensor), known, read.span)
            if (copy := self._padded(read)) is not None:
                return self._element(copy, known, read.span)
        tensor, base = self._tensors.held(read.tensor)
        subscripts: list[Affine | tree.Expression] = []
        for subscript, form, low, between in zip(read.subscripts, forms, base, bounds, strict=True):
            if form is not None and self._points.inside(form, between):
                subscripts.append(form - low)
            else:
                subscripts.append(self._position(subscript, between[0], low))
        return element(tensor, subscripts, read.span)

    @staticmethod
    def _element(
        held: tuple[tree.Tensor, tuple[int, ...]], forms: Sequence[Affine], span: Span
    ) -> tree.Read | tree.Gather:
        tensor, base = held
        return element(tensor, [form - low for form, low in zip(forms, base, strict=True)], span)

    def _position(self, subscript: Value, first: int, low: int) -> tree.Expression:
        """Return a computed subscript, less `low`. Under conditions that fail it is `first`, less `low`."""
        place, span = self.integer(subscript), subscript.span
        if not self._path:
            return _plus(place, -low, span)
        test = self._path[0]
        for condition in self._path[1:]:
            test = apply("and", test, condition, span=span)
        chosen = apply("select", test, _plus(place, -first, span), Number(value=Fraction(0), type="integer"), span=span)
        return _plus(chosen, first - low, span)

    def _padded(self, read: program.Read) -> tuple[tree.Tensor, tuple[int, ...]] | None:
        """Return a copy of a tensor with all elements that the value reads of it. None if it would be too large."""
        name, inside = read.tensor, self._points.bounds(read.tensor)
        if name not in self._copies:
            wide = _reach(self._points, name)
            if volume(wide) > MOST_PADDING * volume(inside):
                return None
            self._copies[name] = self._tensors.padded(name, inside, wide, read.span)
        return self._copies[name]

    def _power(self, base: Value, exponent: Value, span: Span) -> tree.Expression:
        """Return a power. By an index it is a product of as many factors as the index says."""
        whole = exponent
        while isinstance(whole, program.Convert) and not whole.scalar.integral:
            whole = whole.operand
        form = self._points.affine(whole) if whole.scalar.integral else Affine.of(0)
        low, high = form.bounds(self._points.box) if form is not None else (-1, -1)
        if form is not None and not form.names:
            return apply("power", self.real(base), self.real(exponent), span=span)
        if form is None or low < 0:
            what = "data" if form is None else "an index that may be negative"
            hint = "exp(x * log(a)) does for a > 0; tabla eval --float has all powers"
            refuse(f"a power whose exponent is {what} does not run on the machine", span, hint)
        factor = Index(name=_FACTOR, low=0, high=max(high, 1))
        taken = form - Affine.of(**{_FACTOR: 1}) - 1
        return Reduce(reduction="product", indices=(factor,), body=self.real(base), conditions=(taken,), span=span)

    @staticmethod
    def _call(function: str, arguments: Sequence[tree.Expression], span: Span) -> tree.Expression:
        one = Number(value=Fraction(1), span=span)
        match function, arguments:
            case "rsqrt", [x]:
                return apply("divide", one, apply("sqrt", x, span=span), span=span)
            case "hypot", [x, y]:
                squares = apply("add", apply("multiply", x, x), apply("multiply", y, y), span=span)
                return apply("sqrt", squares, span=span)
        name = _NAMED.get(function, function)
        if name not in _REALS:
            refuse(f"'{function}' does not run on the machine", span, "tabla eval --float has every function")
        return apply(name, *arguments, span=span)


def _plus(value: tree.Expression, number: int, span: Span) -> tree.Expression:
    """Return an integer plus a number."""
    return apply("add", value, whole_number(Affine.of(number), span), span=span) if number else value


def _reach(points: Points, tensor: str) -> Box:
    """Return the ranges of the subscripts that the value's affine reads of a tensor have at some point, axis by axis,
    with those of the tensor itself.
    """
    found = list(points.bounds(tensor))
    for read in walk(points.value):
        if isinstance(read, program.Read) and read.tensor == tensor:
            for axis, subscript in enumerate(read.subscripts):
                affine = points.affine(subscript)
                taken = None if affine is None else ends(affine, points.constraints, points.all)
                if taken is not None:
                    low, high = found[axis]
                    found[axis] = (min(low, taken[0]), max(high, taken[1] + 1))
    return tuple(found)


def refuse(message: str, span: Span, hint: str) -> NoReturn:
    """Raise a fault for a part of the program that does not run on the machine."""
    raise TablaError(message, Label(span), hint=hint)
