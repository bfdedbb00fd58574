"""Derivatives of kernels: statements that run a kernel backwards.

For each read of a tensor that matters, the derivative of the value by that read, times the derivative of what was
written, is summed over all points that read one element. Where several elements are the maximum of a reduction, each of
them gets the whole derivative.
"""

from __future__ import annotations

from collections.abc import Sequence

from tabla.base.source import Span
from tabla.graph.boxes import MARKED, axes, difference, whole
from tabla.graph.constraints import applying
from tabla.graph.graph import Affine, Index
from tabla.languages.kernel.coordinates import Coordinates, coordinates_of
from tabla.languages.kernel.faults import refused
from tabla.languages.kernel.intervals import Rational, Row
from tabla.languages.kernel.signatures import apply
from tabla.languages.kernel.slopes import SLOPES, number, times
from tabla.languages.kernel.substitution import placed
from tabla.languages.kernel.tree import (
    Apply,
    Expression,
    Gather,
    Limit,
    Number,
    Position,
    Read,
    Reduce,
    Statement,
    Tensor,
    reads,
    spine,
)


class Backwards:
    """The derivatives of one value by the tensors that it depends on.

    `tensors` are those of the kernel, to which derivatives are added; `statements` are what computes these, in order.
    `wanted` are the tensors whose derivatives are asked for, so no others are computed than those on the way.
    """

    def __init__(self, tensors: dict[str, Tensor], writes: Sequence[Statement], wanted: Sequence[str]) -> None:
        self.tensors, self._writes = tensors, writes
        self.statements: list[Statement] = []
        self._parts: dict[str, list[str]] = {}
        self._concerned = set(wanted)
        for write in writes:
            if any(name in self._concerned for name in reads(write.value)):
                self._concerned.add(write.target)

    def run(self, value: str, seed: str) -> None:
        """Take the derivatives, given the tensor `seed`: the derivative of a loss by the tensor `value`."""
        self._parts[value] = [seed]
        for write in reversed(self._writes):
            if write.target in self._concerned and (slope := self.derivative(write.target)) is not None:
                _Write(self, write, slope).run()

    def derivative(self, tensor: str) -> str | None:
        """Return the tensor with the derivative by a tensor, or None where the loss does not depend on it."""
        parts = self._parts.get(tensor, [])
        if len(parts) < 2:
            return parts[0] if parts else None
        shape = self.tensors[tensor].shape
        indices, at = axes(whole(shape), MARKED)
        total: Expression = Read(tensor=parts[0], subscripts=at)
        for part in parts[1:]:
            total = apply("add", total, Read(tensor=part, subscripts=at))
        name = self.new(f"d.{tensor}", shape)
        self.statements.append(Statement(target=name, write=at, indices=indices, value=total))
        self._parts[tensor] = [name]
        return name

    def concerns(self, tensor: str) -> bool:
        """Return whether the derivative by a tensor is asked for, or is on the way to one that is."""
        return tensor in self._concerned

    def add(self, tensor: str, part: str) -> None:
        """Add a tensor to the derivative by a tensor."""
        self._parts.setdefault(tensor, []).append(part)

    def new(self, name: str, shape: tuple[int, ...], span: Span | None = None) -> str:
        """Declare a value with a name like this one, and return its name."""
        unique, count = name, 1
        while unique in self.tensors:
            count += 1
            unique = f"{name}.{count}"
        self.tensors[unique] = Tensor(name=unique, shape=shape, role="value", span=span)
        return unique


class _Write:
    """The derivatives by what one statement reads. `slope` is the tensor with the derivative by what it writes."""

    def __init__(self, backwards: Backwards, write: Statement, slope: str) -> None:
        self._backwards, self._write, self._slope = backwards, write, slope

    def run(self) -> None:
        write = self._write
        value = Read(tensor=write.target, subscripts=write.write, type=write.value.type, span=write.span)
        d = Read(tensor=self._slope, subscripts=write.write, span=write.span)
        self._pull(write.value, value, d, write.indices, write.conditions)

    def _pull(
        self,
        expression: Expression,
        value: Expression,
        d: Expression,
        indices: tuple[Index, ...],
        conditions: tuple[Affine, ...],
    ) -> None:
        """Take derivatives by what an expression reads; `value` stands for it, and `d` is the derivative by it."""
        if isinstance(d, Number) and not d.value:
            return
        match expression:
            case Read(tensor=tensor) if self._backwards.concerns(tensor):
                self._join(expression, d, indices, conditions)
            case Gather(tensor=tensor) if self._backwards.concerns(tensor):
                self._look_up(expression, d, indices, conditions)
            case Apply():
                self._through(expression, value, d, indices, conditions)
            case Reduce():
                self._reduced(expression, value, d, indices, conditions)
            case Read() | Gather() | Number() | Position() | Limit():
                pass

    def _through(
        self,
        call: Apply,
        value: Expression,
        d: Expression,
        indices: tuple[Index, ...],
        conditions: tuple[Affine, ...],
    ) -> None:
        first, chain = spine(call)  # chains lean to the left, and may be long
        reading = [self._reads(first)]
        for each in chain:
            reading.append(reading[-1] or any(map(self._reads, each.arguments[1:])))
        if not reading.pop():
            return
        for call, inside in zip(reversed(chain), reversed(reading), strict=True):
            if call.type != "real":
                return
            slopes = SLOPES.get(call.function)
            if slopes is None:
                message = f"there is no derivative of '{call.function}' yet"
                raise refused(message, call.span or self._write.span, f"there are those of {', '.join(SLOPES)}")
            for slope, argument in zip(slopes[1:], call.arguments[1:], strict=True):
                if self._reads(argument):
                    self._pull(argument, argument, slope(d, value, call.arguments), indices, conditions)
            if not inside:
                return
            d, value = slopes[0](d, value, call.arguments), call.arguments[0]
        self._pull(first, first, d, indices, conditions)

    def _reduced(
        self,
        reduce: Reduce,
        value: Expression,
        d: Expression,
        indices: tuple[Index, ...],
        conditions: tuple[Affine, ...],
    ) -> None:
        if reduce.type != "real" or not self._reads(reduce.body):
            return
        # Inside, these stand for one number each at every point outside.
        d = self._named(d, indices, conditions)
        body = reduce.body
        if reduce.reduction != "sum":
            value = self._named(value, indices, conditions)
        match reduce.reduction:
            case "max" | "min":
                d = apply("select", apply("equal", body, value), d, number(0))
            case "product":
                d = apply("divide", times(d, value), body)
            case "norm":
                d = apply("divide", times(d, body), value)
            case "sum":
                pass
        self._pull(body, body, d, (*indices, *reduce.indices), (*conditions, *reduce.conditions))

    def _named(self, value: Expression, indices: tuple[Index, ...], conditions: tuple[Affine, ...]) -> Expression:
        """Return a value as a number or a read: a tensor of its own, where it is more."""
        if isinstance(value, Number | Read):
            return value
        box = tuple((index.low, index.high) for index in indices)
        shape = tuple(high - low for low, high in box)
        at = tuple(Affine.make(-index.low, {index.name: 1}) for index in indices)
        name = self._backwards.new(f"d.{self._write.target}.part", shape, self._write.span)
        self._backwards.statements.append(
            Statement(target=name, write=at, indices=indices, value=value, conditions=conditions, span=self._write.span)
        )
        return Read(tensor=name, subscripts=at, span=value.span)

    def _reads(self, expression: Expression) -> bool:
        """Return whether an expression reads a tensor whose derivative matters."""
        return any(self._backwards.concerns(name) for name in reads(expression))

    def _look_up(
        self, gather: Gather, d: Expression, indices: tuple[Index, ...], conditions: tuple[Affine, ...]
    ) -> None:
        """Add the derivative `d` at all points to that of the elements at computed subscripts.

        Each element of such an axis sums what the points add of which the subscript leads to it.
        """
        shape = self._backwards.tensors[gather.tensor].shape
        subscripts: list[Affine] = []
        for axis, (subscript, size) in enumerate(zip(gather.subscripts, shape, strict=True)):
            if isinstance(subscript, Affine):
                subscripts.append(subscript)
                continue
            place = Index(name=f"{gather.tensor}.place{axis}'", low=0, high=size)
            indices = (*indices, place)
            subscripts.append(Affine.of(**{place.name: 1}))
            here = apply("equal", subscript, Position(index=place.name))
            d = apply("select", here, d, number(0))
        read = Read(tensor=gather.tensor, subscripts=tuple(subscripts), span=gather.span)
        self._join(read, d, indices, conditions)

    def _join(self, read: Read, d: Expression, indices: tuple[Index, ...], conditions: tuple[Affine, ...]) -> None:
        """Add the derivative `d` at all points to that of the elements that are read there."""
        backwards, span = self._backwards, read.span or self._write.span
        shape = backwards.tensors[read.tensor].shape
        points = _points(read, shape, indices, conditions)
        if points is None:
            return
        own = applying(points.constraints, points.indices)
        value = placed(d, points.change.form)
        if points.reduced:
            inner = tuple(form for form in points.constraints if form not in own)
            value = Reduce(reduction="sum", indices=points.reduced, body=value, conditions=inner, span=span)
        target = backwards.new(f"d.{read.tensor}", shape, span)
        statement = Statement(
            target=target,
            write=tuple(map(points.change.form, read.subscripts)),
            indices=points.indices,
            value=value,
            conditions=own,
            span=span,
        )
        backwards.statements.append(statement)
        if not statement.partial:
            for rest in difference(whole(shape), statement.box):
                indices, at = axes(rest, MARKED)
                backwards.statements.append(Statement(target=target, write=at, indices=indices, value=number(0)))
        backwards.add(read.tensor, target)


def _points(
    read: Read, shape: tuple[int, ...], indices: tuple[Index, ...], conditions: tuple[Affine, ...]
) -> Coordinates | None:
    """Return the points of a domain in coordinates of which some name the element that is read."""
    ranges = {index.name: index for index in indices}
    write = [_rational(form) for form in read.subscripts]
    rows = [Row(value=form, bound=size) for form, size in zip(write, shape, strict=True)]
    rows += [Row(value=_rational(Affine.make(-i.low, {i.name: 1})), bound=i.extent) for i in indices]
    rows += [Row(value=_rational(form), bound=max(form.bounds(ranges)[1], 0) + 1) for form in conditions]
    stated = {index.name: index.span for index in indices if index.span is not None}
    return coordinates_of(tuple(ranges), tuple(dict.fromkeys(rows)), write, shape, stated=stated)


def _rational(form: Affine) -> Rational:
    return Rational.make(form.constant, dict(form.coefficients))
