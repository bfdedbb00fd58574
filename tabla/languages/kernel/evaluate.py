"""What a kernel means, in float64. Integers are of 64 bits.

Where a function has no value, the result is infinite or not a number. A computed subscript outside of its tensor is a
`TablaError`. Each tie of a maximum gets the whole derivative,
where derivatives are taken. Integers divide toward zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from tabla.graph.graph import Affine, Index
from tabla.languages.kernel.faults import refused
from tabla.languages.kernel.signatures import SIGNATURES
from tabla.languages.kernel.tree import (
    Apply,
    Expression,
    Gather,
    Kernel,
    Limit,
    Number,
    Position,
    Read,
    Reduce,
    Reduction,
    Statement,
    Tensor,
    Type,
    spine,
)

Array = NDArray[Any]
MOST_POINTS = 1 << 20
"""The points of a domain that are computed at once. Larger domains are cut along their longest index."""
_DTYPES: Mapping[Type, type[np.generic]] = {"real": np.float64, "integer": np.int64, "truth": np.bool_}
_JOIN: Mapping[Reduction, np.ufunc] = {
    "sum": np.add,
    "norm": np.add,
    "product": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}
_LEAST: Mapping[str, Any] = {"f": -np.inf, "i": np.iinfo(np.int64).min, "b": False}
_GREATEST: Mapping[str, Any] = {"f": np.inf, "i": np.iinfo(np.int64).max, "b": True}
"""The lowest and the highest value, by the kind of an array."""


def _nothing(reduction: Reduction, kind: str) -> Any:
    """Return what a value counts as where conditions leave it out. `kind` is that of the array of values."""
    match reduction:
        case "max":
            return _LEAST[kind]
        case "min":
            return _GREATEST[kind]
        case _:
            return int(reduction == "product")


def evaluate(kernel: Kernel, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return all tensors of a kernel after one sample, by name; a model that learns is the updated one.

    `arrays` has the inputs, labels and models by name, with the shapes that the kernel says.
    """
    stored = {
        name: np.zeros(tensor.shape, _DTYPES[tensor.type]) if tensor.role == "value" else _given(arrays[name], tensor)
        for name, tensor in kernel.tensors.items()
    }
    with np.errstate(all="ignore"):
        for statement in kernel.statements:
            _run(statement, stored)
        steps = {each.model: float(each.rate) * stored[each.gradient] for each in kernel.updates}
    return stored | {name: stored[name] - step for name, step in steps.items()}


def _given(array: Array, tensor: Tensor) -> Array:
    """Return the array of a tensor that comes from outside, a copy of one that statements may write."""
    own = np.ascontiguousarray(array, dtype=_DTYPES[tensor.type]).reshape(tensor.shape)
    return own.copy() if tensor.role == "initial" else own


def evaluate_samples(
    kernel: Kernel,
    models: Mapping[str, Array],
    samples: Mapping[str, Array],
    count: int,
    *,
    minibatch: int = 1,
    keep: Sequence[str] = (),
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return the models after the first `count` samples, and the tensors to `keep` after each, on a leading axis.

    `samples` are arrays of inputs and labels with a leading axis of samples. The samples of a `minibatch` see the same
    models, and their steps add up.
    """
    now = {name: np.asarray(array, dtype=np.float64) for name, array in models.items()}
    shapes = {name: (count, *kernel.tensors[name].shape) for name in keep}
    kept = {name: np.zeros(shape, _DTYPES[kernel.tensors[name].type]) for name, shape in shapes.items()}
    learnt = [update.model for update in kernel.updates]
    for begin in range(0, count, minibatch):
        after = dict(now)
        for sample in range(begin, min(begin + minibatch, count)):
            found = evaluate(kernel, now | {name: array[sample] for name, array in samples.items()})
            for name in keep:
                kept[name][sample] = found[name]
            for name in learnt:
                after[name] = after[name] + (found[name] - now[name]) if minibatch > 1 else found[name]
        now = after
    return now, kept


def _run(statement: Statement, stored: dict[str, Array]) -> None:
    # All values are computed before any is stored.
    domains = [_Domain.of(box, stored, statement.conditions) for box in _parts(statement.indices, MOST_POINTS)]
    for domain, value in [(domain, domain.value(statement.value)) for domain in domains]:
        if not statement.conditions:
            np.copyto(domain.view(statement.target, statement.write), value)
            continue
        holds = np.broadcast_to(domain.holds(), [index.extent for index in domain.indices])
        # Where conditions fail, a subscript may be outside of the tensor.
        places = tuple(np.broadcast_to(domain.form(form), holds.shape)[holds] for form in statement.write)
        stored[statement.target][places] = np.broadcast_to(value, holds.shape)[holds]


def _parts(indices: tuple[Index, ...], room: int) -> Iterator[tuple[Index, ...]]:
    """Yield a box in parts of at most `room` points, cut along the longest index."""
    longest = max(indices, key=lambda index: index.extent, default=None)
    if longest is None or longest.extent == 1 or prod(index.extent for index in indices) <= room:
        yield indices
        return
    middle = (longest.low + longest.high) // 2
    for part in (replace(longest, high=middle), replace(longest, low=middle)):
        yield from _parts(tuple(part if index is longest else index for index in indices), room)


@dataclass(frozen=True, slots=True)
class _Domain:
    """The points around an expression: an axis of arrays for each index, in order. Values broadcast to it.

    Values count only where all `conditions` are at least 0.
    """

    indices: tuple[Index, ...]
    stored: Mapping[str, Array]
    along: Mapping[str, Array]
    conditions: tuple[Affine, ...]

    @staticmethod
    def of(indices: tuple[Index, ...], stored: Mapping[str, Array], conditions: tuple[Affine, ...]) -> _Domain:
        """Return the points of a box."""
        along = {}
        for axis, index in enumerate(indices):
            shape = [1] * len(indices)
            shape[axis] = index.extent
            along[index.name] = np.arange(index.low, index.high).reshape(shape)
        return _Domain(indices, stored, along, conditions)

    def form(self, form: Affine) -> Array:
        """Return the value of an affine form at all points."""
        return sum((factor * self.along[name] for name, factor in form.coefficients), np.asarray(form.constant))

    def holds(self) -> Array:
        """Return where all conditions hold."""
        mask: Array = np.asarray(True)
        for condition in self.conditions:
            mask = mask & (self.form(condition) >= 0)
        return mask

    def value(self, expression: Expression) -> Array:
        """Return the value of an expression at all points."""
        first, chain = spine(expression)
        value = self._leaf(first)
        for call in chain:
            value = np.asarray(SIGNATURES[call.function].meaning(value, *map(self.value, call.arguments[1:])))
        return value

    def _leaf(self, expression: Expression) -> Array:
        match expression:
            case Number(value=value, type="real"):
                return np.asarray(float(value))
            case Number(value=value):
                return np.asarray(int(value))
            case Position(index=index):
                return self.along[index]
            case Read(tensor=tensor, subscripts=subscripts):
                return self.gathered(tensor, subscripts) if self.conditions else self.view(tensor, subscripts)
            case Gather(subscripts=subscripts):
                places = (self.form(each) if isinstance(each, Affine) else self.value(each) for each in subscripts)
                return self.looked_up(expression, tuple(places))
            case Limit(end=end, type=kind):
                return np.asarray((_LEAST if end == "lowest" else _GREATEST)[np.dtype(_DTYPES[kind]).kind])
            case Reduce():
                return self._reduced(expression)
            case Apply():
                raise AssertionError(f"{expression.function} has no arguments")

    def view(self, tensor: str, subscripts: tuple[Affine, ...]) -> Array:
        """Return the elements of a tensor at all points, without a copy of them."""
        array = self.stored[tensor]
        low = {index.name: index.low for index in self.indices}
        # With the dots a single value is a view, too.
        first: Any = (*(slice(at, at + 1) for at in (form.at(low) for form in subscripts)), ...)
        strides = [
            sum(form.coefficient(index.name) * stride for form, stride in zip(subscripts, array.strides, strict=True))
            for index in self.indices
        ]
        return as_strided(array[first], [index.extent for index in self.indices], strides)

    def gathered(self, tensor: str, subscripts: tuple[Affine, ...]) -> Array:
        """Return the elements of a tensor at all points. Where conditions fail, a subscript may be outside of it."""
        array = self.stored[tensor]
        places = zip(map(self.form, subscripts), array.shape, strict=True)
        return np.asarray(array[tuple(np.clip(place, 0, size - 1) for place, size in places)])

    def looked_up(self, gather: Gather, places: tuple[Array, ...]) -> Array:
        """Return the elements of a tensor at computed places."""
        array = self.stored[gather.tensor]
        holds = self.holds()
        for axis, (place, size) in enumerate(zip(places, array.shape, strict=True)):
            outside = holds & ((place < 0) | (place >= size))
            if np.any(outside):
                wrong = int(np.broadcast_to(place, outside.shape)[outside].flat[0])
                message = f"'{gather.tensor}' is read at {wrong} on axis {axis}, which has {size}"
                raise refused(message, gather.span, "check the data that subscripts are made of")
        sizes = zip(places, array.shape, strict=True)
        return np.asarray(array[tuple(np.clip(place, 0, size - 1) for place, size in sizes)])

    def _reduced(self, reduce: Reduce) -> Array:
        """Join the values of the body over its indices, as many points at once as there is room for."""
        total: Array | None = None
        join = _JOIN[reduce.reduction]
        room = max(1, MOST_POINTS // prod(index.extent for index in self.indices))
        for box in _parts(reduce.indices, room):
            inner = _Domain.of((*self.indices, *box), self.stored, (*self.conditions, *reduce.conditions))
            body = np.broadcast_to(inner.value(reduce.body), tuple(index.extent for index in inner.indices))
            if reduce.conditions:
                body = np.where(inner.holds(), body, _nothing(reduce.reduction, body.dtype.kind))
            if reduce.reduction == "norm":
                body = body * body
            axes = tuple(range(len(self.indices), len(inner.indices)))
            part = join.reduce(body, axis=axes)
            total = part if total is None else join(total, part)
        assert total is not None
        return np.sqrt(total) if reduce.reduction == "norm" else np.asarray(total)
