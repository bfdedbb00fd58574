"""What holds for every kernel, whoever made it. A kernel for which it does not hold is a `TablaError` at its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tabla.base.source import Span, TablaError
from tabla.graph.boxes import MARKED, Box, whole
from tabla.graph.constraints import coordinates, ends, possible, satisfied, values
from tabla.graph.graph import Affine, Index
from tabla.languages.kernel.coordinates import apart
from tabla.languages.kernel.faults import refused
from tabla.languages.kernel.regions import Region, first_outside
from tabla.languages.kernel.tree import (
    Apply,
    End,
    Expression,
    Gather,
    Kernel,
    Limit,
    Position,
    Read,
    Reduce,
    Reduction,
    Statement,
    Tensor,
    Type,
    spine,
)

_ENDS: Mapping[str, End] = {"max": "lowest", "min": "highest"}
"""The number that a maximum or a minimum begins with."""
_REDUCED: Mapping[Reduction, tuple[Type, ...]] = {
    **dict.fromkeys(("sum", "product"), ("real", "integer")),
    **dict.fromkeys(("max", "min"), ("real", "integer", "truth")),
    "norm": ("real",),
}
"""The types whose values a reduction joins."""
_WRITTEN = ("value", "initial")
"""The roles of tensors that statements write."""


def verify(kernel: Kernel) -> None:
    """Prove that a kernel has a meaning. Raises `TablaError` for the first place where it has none.

    Statements write values, inside their shapes, and no element twice. They read elements that are there: of an input,
    a label or a model, or of a value where statements before have written them. Indices have one meaning at each place.
    A model and its gradient have one shape, and each model has one update.
    """
    written = {
        name: Region(boxes=() if tensor.role == "value" else (whole(tensor.shape),))
        for name, tensor in kernel.tensors.items()
        if tensor.role in _WRITTEN
    }
    changed = {statement.target for statement in kernel.statements}
    for tensor in kernel.tensors.values():
        _shaped(tensor)
    for statement in kernel.statements:
        _Statement(kernel.tensors, written, statement).verify()
    _updates(kernel, written)
    if not kernel.results and not kernel.updates:
        raise TablaError("the kernel returns nothing and learns nothing", hint="add return, or update")
    for name in kernel.results:
        if name not in written or name not in changed:
            raise refused(f"'{name}' is returned, and no statement writes it", None, "return what a statement writes")


def _shaped(tensor: Tensor) -> None:
    if any(size < 1 for size in tensor.shape):
        raise refused(f"'{tensor.name}' has no elements", tensor.span, "sizes are positive")
    if tensor.role == "label" and tensor.type != "real":
        raise refused(f"'{tensor.name}' is a label of {tensor.type}s", tensor.span, "labels are reals")


def _updates(kernel: Kernel, written: Mapping[str, Region]) -> None:
    seen = set[str]()
    for update in kernel.updates:
        model, gradient = kernel.tensors[update.model], kernel.tensors[update.gradient]
        if model.role != "model":
            raise refused(f"'{model.name}' is no model, so it learns nothing", update.span, "update a model")
        if model.type != "real":
            raise refused(
                f"'{model.name}' is a model of {model.type}s, which learns nothing", update.span, "make it real"
            )
        if gradient.role != "value" or gradient.type != "real" or gradient.shape != model.shape:
            message = f"'{gradient.name}' is no gradient of '{model.name}', which has the shape {list(model.shape)}"
            raise refused(message, update.span, "a gradient is a value of reals with the shape of its model")
        if not written[gradient.name].boxes:
            raise refused(f"no statement writes the gradient '{gradient.name}'", update.span, "write it before")
        if model.name in seen:
            raise refused(f"'{model.name}' has two updates", update.span, "add up the gradients")
        seen.add(model.name)


@dataclass(frozen=True, slots=True)
class _Scope:
    """The indices around an expression by name, and the conditions under which it counts."""

    indices: Mapping[str, Index] = field(default_factory=dict)
    conditions: tuple[Affine, ...] = ()

    def ends(self, form: Affine) -> tuple[int, int] | None:
        """Return the least and the largest value of a form where the conditions hold, None where they never do."""
        return ends(form, self.conditions, list(self.indices.values()))

    def first_outside(self, region: Region, subscripts: tuple[Affine, ...]) -> tuple[int, ...] | None:
        """Return an element that the subscripts reach and a region lacks, or None."""
        if not self.conditions:
            return first_outside(region, subscripts, self.indices)
        names = {name for subscript in subscripts for name in subscript.names}
        at = coordinates(self.conditions, list(self.indices.values()), names)
        places = np.stack([values(form, at) for form in subscripts], axis=1) if at else np.empty((0, len(subscripts)))
        for box in region.boxes:
            low, high = np.array(box).reshape(-1, 2).T
            places = places[~((places >= low) & (places < high)).all(axis=1)]
        return tuple(places[0].tolist()) if len(places) else None


class _Statement:
    """The proof of one statement. `written` has the elements of each value that statements before have written."""

    def __init__(self, tensors: Mapping[str, Tensor], written: dict[str, Region], statement: Statement) -> None:
        self._tensors, self._written, self._statement = tensors, written, statement

    def verify(self) -> None:
        statement = self._statement
        scope = self._entered(_Scope(), statement.indices, statement.conditions, statement.span)
        self._value(statement.value, scope)
        target = self._tensors[statement.target]
        if target.role not in _WRITTEN:
            hint = "write a value; models change by update" if target.role == "model" else "write a value"
            raise refused(f"'{target.name}' is {_article(target.role)}, and is written", statement.span, hint)
        if target.type != statement.value.type:
            message = f"'{target.name}' holds {target.type}s, and this value is {_article(statement.value.type)}"
            raise refused(message, statement.value.span or statement.span, f"write {target.type}(...)")
        self._once(statement)
        box = self._box(target, statement.write, scope, statement.span)
        written = self._written[target.name]
        if statement.partial and written.boxes and not written.covers(box):
            message = f"a part of '{target.name}' is written, and other elements between have no value"
            raise refused(message, statement.span, "write all of it before")
        if statement.partial and not written.boxes:
            box = whole(target.shape)  # what is left out is 0
        self._written[target.name] = written.with_box(box)

    def _once(self, statement: Statement) -> None:
        """Each point writes an element of its own."""
        named = {name for subscript in statement.write for name in subscript.names}
        for index in statement.indices:
            if index.name not in named:
                message = f"'{index.name}' is not in a subscript of what is written"
                raise refused(message, statement.span, "sum over it, or write it in one subscript")
        box = {index.name: (index.low, index.high) for index in statement.indices}
        shape = self._tensors[statement.target].shape
        each = sum(len(subscript.names) for subscript in statement.write) == len(box)
        # Where each index is in one subscript, no subscript can undo what another one does.
        by_axis = each and all(
            apart([form], [size], form.names, box) for form, size in zip(statement.write, shape, strict=True)
        )
        if not by_axis and not apart(statement.write, shape, list(box), box):
            message = f"two points of {', '.join(box)} may write one element"
            raise refused(message, statement.span, "write one index, plus or minus a number, in each subscript")

    def _entered(
        self, scope: _Scope, indices: tuple[Index, ...], conditions: tuple[Affine, ...], span: Span | None
    ) -> _Scope:
        inner = dict(scope.indices)
        for index in indices:
            if index.name in inner or index.name in self._tensors:
                raise refused(f"'{index.name}' means something else here", span, "give the index another name")
            inner[index.name] = index
        for name in (name for condition in conditions for name in condition.names if name not in inner):
            raise refused(f"there is no index '{name}' here", span, "give it a range: for i in 0:3")
        found = _Scope(inner, (*scope.conditions, *conditions))
        if conditions and not possible(found.conditions, list(found.indices.values())):
            raise refused("no values of the indices meet the conditions", span, "leave the statement or the sum out")
        return found

    def _value(self, expression: Expression, scope: _Scope, *, limited: bool = False) -> None:
        """Prove an expression. It is `limited` if it is an argument of a maximum or minimum with a `Limit`."""
        first, chain = spine(expression)
        inner = chain[0] if chain else None
        limited = limited if inner is None else inner.function in _ENDS and _limits(inner.arguments[1], inner.function)
        match first:
            case Position(index=name) if name not in scope.indices:
                raise refused(f"there is no index '{name}' here", first.span, "give it a range: for i in 0:3")
            case Read():
                self._read(first, scope)
            case Gather():
                self._gather(first, scope)
            case Reduce(indices=indices, body=body, conditions=conditions):
                if body.type not in _REDUCED[first.reduction]:
                    raise refused(f"a {first.reduction} of {body.type}s", first.span, "write real(...) around it")
                within = self._entered(scope, indices, conditions, first.span)
                needs = first.reduction in _ENDS and body.type != "truth" and not limited
                outer = tuple(scope.indices.values())
                if needs and not somewhere(within.conditions, scope.conditions, outer, indices):
                    message = f"a {first.reduction} of no values at some point"
                    start = f"{first.reduction}({_ENDS[first.reduction]}({body.type}), ...)"
                    raise refused(message, first.span, f"its conditions leave a value at each point, or write {start}")
                self._value(body, within)
            case Apply():
                raise refused(f"'{first.function}' has no argument", first.span, "give it one")
        for call in chain:
            limited = call.function in _ENDS and _limits(call.arguments[0], call.function)
            for argument in call.arguments[1:]:
                self._value(argument, scope, limited=limited)

    def _read(self, read: Read, scope: _Scope) -> None:
        tensor = self._tensors[read.tensor]
        box = self._box(tensor, read.subscripts, scope, read.span)
        written = self._written.get(tensor.name)
        if written is not None and not written.covers(box):
            outside = scope.first_outside(written, read.subscripts)
            if outside is not None:
                element = f"{tensor.name}{list(outside) if outside else ''}"
                raise refused(f"'{element}' is read, and no statement before writes it", read.span, "write it before")

    def _gather(self, gather: Gather, scope: _Scope) -> None:
        """All elements that computed subscripts may reach have a value. Data say whether they are inside."""
        tensor = self._tensors[gather.tensor]
        ranges: dict[str, Index] = dict(scope.indices)
        forms: list[Affine] = []
        for axis, subscript in enumerate(gather.subscripts):
            if isinstance(subscript, Affine):
                forms.append(subscript)
                continue
            self._value(subscript, scope)
            if subscript.type != "integer":
                raise refused(f"a subscript is {_article(subscript.type)}", subscript.span, "write integer(...)")
            name = f"{MARKED.format(axis)}'"  # no index of a text or of a statement has this name
            forms.append(Affine.of(**{name: 1}))
            # With too many subscripts there is no such axis, which is told below.
            size = tensor.shape[axis] if axis < len(tensor.shape) else 1
            ranges[name] = Index(name=name, low=0, high=size)
        read = Read(tensor=gather.tensor, subscripts=tuple(forms), span=gather.span)
        self._read(read, _Scope(ranges, scope.conditions))

    def _box(self, tensor: Tensor, subscripts: tuple[Affine, ...], scope: _Scope, span: Span | None) -> Box:
        if len(subscripts) != len(tensor.shape):
            message = f"'{tensor.name}' has {len(tensor.shape)} axes, and this has {len(subscripts)} subscripts"
            raise refused(message, span, "write one for each axis")
        for subscript in subscripts:
            for name in subscript.names:
                if name not in scope.indices:
                    raise refused(f"there is no index '{name}' here", span, "give it a range: for i in 0:3")
        found = [scope.ends(subscript) for subscript in subscripts]
        box = tuple((low, high + 1) for low, high in (each for each in found if each is not None))
        for (low, high), size, subscript in zip(box, tensor.shape, subscripts, strict=True):
            if low < 0 or high > size:
                end = low if low < 0 else high - 1
                message = f"the subscript {subscript} of '{tensor.name}' is {end} somewhere"
                raise refused(message, span, f"the elements of this axis are 0 to {size - 1}")
        return box


def somewhere(
    conditions: Sequence[Affine], given: Sequence[Affine], outer: Sequence[Index], inner: Sequence[Index]
) -> bool:
    """Return whether all `conditions` hold for some values of `inner` indices wherever those of `given` hold, which
    mention `outer` ones only.
    """
    tied = {name for form in conditions for name in form.names}
    around, within = ([index for index in each if index.name in tied] for each in (outer, inner))
    mask = satisfied(conditions, [*around, *within])
    found = mask.any(axis=tuple(range(len(around), mask.ndim)))
    return bool((found | ~satisfied(given, around)).all())


def _limits(expression: Expression, function: str) -> bool:
    """Return whether an expression is the lowest number, beside a maximum, or the highest one, beside a minimum."""
    return isinstance(expression, Limit) and expression.end == _ENDS[function]


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeio" else f"a {kind}"
