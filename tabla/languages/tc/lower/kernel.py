"""A function of Tensor Comprehensions as a kernel, for given sizes. Calls are inlined.

The statements of a step are made here, and their values in :mod:`tabla.languages.tc.lower.values`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from tabla.base.source import Span
from tabla.graph.boxes import MARKED, Box, axes, covers, difference, hull, intersection, whole, without
from tabla.graph.constraints import applying, possible
from tabla.graph.graph import Affine
from tabla.languages.kernel import tree
from tabla.languages.kernel.constants import constant_value
from tabla.languages.kernel.regions import Region
from tabla.languages.kernel.signatures import apply
from tabla.languages.kernel.substitution import with_indices
from tabla.languages.kernel.tree import Kernel, Limit, Number, Read, Reduce, Statement, Tensor
from tabla.languages.kernel.verify import somewhere, verify
from tabla.languages.tc import program
from tabla.languages.tc.lower.domains import left_out, pieces_of, stated
from tabla.languages.tc.lower.means import overwriting
from tabla.languages.tc.lower.points import Points, box_of, written
from tabla.languages.tc.lower.values import Values, refuse, type_of
from tabla.languages.tc.program import Function, walk
from tabla.languages.tc.ranges import Called, Inference, infer
from tabla.languages.tc.statement_ranges import Domain

_REDUCTIONS: Mapping[str, tree.Reduction] = {"+": "sum", "*": "product", "min": "min", "max": "max"}
_TRUTHS: Mapping[str, tree.Reduction] = {"+": "max", "*": "min", "min": "min", "max": "max"}
"""A sum of truth values is true if one of them is, and a product if each of them is."""
_JOINED: Mapping[str, str] = {"+": "add", "*": "multiply", "min": "min", "max": "max"}
_JOINED_TRUTHS: Mapping[str, str] = {"+": "or", "*": "and", "min": "and", "max": "or"}


def kernel_of(
    function: Function, sizes: Mapping[str, int], *, name: str, models: Sequence[str] = (), results: Sequence[str] = ()
) -> Kernel:
    """Return the kernel of a function for given sizes. The inputs `models` stay on chip.

    Raises `TablaError` for sizes that make a range empty, and for what does not run on the machine.
    """
    inference = infer(function, sizes)
    found = _Translation(inference, {}, [], "")
    for given in function.inputs:
        found.declare(given, "model" if given in models else "input")
    found.take_initial()
    found.run()
    for result in dict.fromkeys((*function.results, *results)):
        found.complete(result)
    kernel = Kernel(
        name=name,
        tensors=found.tensors,
        statements=tuple(_apart(statement, found.tensors) for statement in found.statements),
        results=tuple(dict.fromkeys((*function.results, *results))),
    )
    verify(kernel)
    return kernel


class _Translation:
    """The statements of one function, inlined where `prefix` names the call.

    `bases` has the subscripts that the program gives to the first element of each tensor. `now` are the ranges that the
    program gives it by now, and `regions` the elements that were written, both from 0 on.
    """

    def __init__(
        self, inference: Inference, tensors: dict[str, Tensor], statements: list[Statement], prefix: str
    ) -> None:
        self.inference, self.tensors, self.statements, self.prefix = inference, tensors, statements, prefix
        self.names: dict[str, str] = {}
        self.bases: dict[str, tuple[int, ...]] = {}
        self.now: dict[str, Box] = {}
        self.regions: dict[str, Region] = {}
        self.calls = 0
        # The factors of means, which the sums have already.
        self.factors: set[int] = set()

    def declare(self, name: str, role: tree.Role) -> None:
        """Declare a tensor of the function with all elements that it ever has."""
        tensor = self.inference.function.tensors[name]
        box = box_of(self.inference.bounds[name])
        self.names[name] = unique = f"{self.prefix}{name}"
        self.bases[name] = tuple(low for low, _ in box)
        shape = tuple(high - low for low, high in box)
        kind, base = type_of(tensor.scalar), self.bases[name]
        self.tensors[unique] = Tensor(name=unique, shape=shape, role=role, type=kind, span=tensor.span, base=base)
        self.regions[name] = Region(boxes=() if role == "value" else (whole(shape),))
        if role != "value":
            self.now[name] = whole(shape)

    def give(self, name: str, unique: str, base: tuple[int, ...], now: Box) -> None:
        """Let a tensor of the function be one that the kernel has already."""
        self.names[name], self.bases[name], self.now[name] = unique, base, now
        self.regions[name] = Region(boxes=(whole(self.tensors[unique].shape),))

    def take_initial(self) -> None:
        """Declare the tensors that the caller passes to accumulate into."""
        for step in self.inference.steps:
            if isinstance(step, Domain) and step.statement.target not in self.names:
                name = step.statement.target
                tensor = self.inference.function.tensors[name]
                if not tensor.initial:
                    continue
                if written(step) != box_of(self.inference.bounds[name]):
                    message = f"'{name}' is passed in, and gets more elements later"
                    refuse(message, tensor.span, "write the other elements into a tensor of their own")
                self.declare(name, "initial")

    def run(self) -> None:
        """Append the statements of the function, in the order of the text."""
        for step in self.inference.steps:
            match step:
                case Domain():
                    self._assign(step)
                case Called():
                    self._call(step)

    def complete(self, name: str) -> None:
        """Let a tensor that no statement has written be 0."""
        if not self.regions[name].boxes:
            self._fill(name, whole(self._tensor(name).shape), self.inference.function.tensors[name].span)

    def _assign(self, step: Domain) -> None:
        statement, span = step.statement, step.statement.span
        name = statement.target
        if name not in self.names:
            self.declare(name, "value")
        begins = statement.reduction is not None and statement.initialise
        pieces = pieces_of(step, self.inference.sizes)
        for points in pieces:
            self._complete(points, span)
        box = self._shifted(name, written(step))
        if begins:
            self._begin(step, box, narrowed=pieces != (stated(step, self.inference.sizes),))
        elif statement.reduction is not None:
            self._fill(name, box, span)
        elif self.regions[name].meets(box) and pieces != (whole := stated(step, self.inference.sizes),):
            # A condition leaves points out because they are 0.
            self._write(whole, self._zero(name, span))
        mean = self._mean(step)
        for points in pieces:
            self._state(points, joins=statement.reduction is not None and not begins, mean=mean)
        self.now[name] = hull(self.now.get(name, box), box)

    def _mean(self, step: Domain) -> tuple[str, tree.Expression] | None:
        """Return the function and the constant by which a statement overwrites the sum of `step`, or None.

        The sum then is the multiple already, and the later statement takes it as it is.
        """
        overwritten = overwriting(self.inference.steps, step)
        if overwritten is None or not covers(written(overwritten[0]), written(step)):
            return None
        later, factor, inverse = overwritten
        pieces = pieces_of(later, self.inference.sizes)
        expression = Values(self, pieces[0], self.factors).real(factor)
        if not constant_value(expression) or any(points.partial for points in pieces):
            return None
        self.factors.add(id(factor))
        return "divide" if inverse else "multiply", expression

    def _state(self, points: Points, *, joins: bool, mean: tuple[str, tree.Expression] | None) -> None:
        """Append the statement of some points. One that `joins` goes on from the elements that it writes."""
        statement = points.step.statement
        name = statement.target
        kind = self._tensor(name).type
        if statement.reduction is not None and points.constraints and not possible(points.constraints, points.all):
            value = self._identity(statement, kind)
        elif statement.reduction is not None and points.reduced:
            value = self._reduced(points, statement.reduction, kind)
        else:
            value = Values(self, points, self.factors).of(points.value, kind)
        if mean is not None:
            function, factor = mean
            value = apply(function, value, factor, span=factor.span)
        if joins:
            assert statement.reduction is not None
            at = self._at(name, (points.places[index] for index in statement.indices))
            before = Read(tensor=self.names[name], subscripts=at, type=kind, span=statement.span)
            joined = _JOINED_TRUTHS if kind == "truth" else _JOINED
            value = apply(joined[statement.reduction], before, value, span=statement.span)
        self._write(points, value)

    def _reduced(self, points: Points, reduction: program.Reduction, kind: tree.Type) -> tree.Expression:
        """Return the reduction of a value. It is the identity of the reduction where its conditions leave no value."""
        statement = points.step.statement
        own = applying(points.constraints, points.indices)
        value: tree.Expression = Reduce(
            reduction=(_TRUTHS if kind == "truth" else _REDUCTIONS)[reduction],
            indices=points.reduced,
            body=Values(self, points, self.factors).of(points.value, kind),
            conditions=tuple(form for form in points.constraints if form not in own),
            span=statement.span,
        )
        if (
            reduction in ("min", "max")
            and kind != "truth"
            and not somewhere(points.constraints, own, points.indices, points.reduced)
        ):
            value = apply(reduction, self._identity(statement, kind), value, span=statement.span)
        return value

    @staticmethod
    def _identity(statement: program.Assign, kind: tree.Type) -> tree.Expression:
        """Return what a reduction starts from."""
        match statement.reduction:
            case "min" | "max" if kind != "truth":
                end: tree.End = "highest" if statement.reduction == "min" else "lowest"
                return Limit(end=end, type=kind, span=statement.span)
            case reduction:
                return Number(value=Fraction(reduction in ("*", "min")), type=kind, span=statement.span)

    def _zero(self, name: str, span: Span) -> Number:
        return Number(value=Fraction(0), type=self._tensor(name).type, span=span)

    def _write(self, points: Points, value: tree.Expression) -> None:
        """Append a statement that writes a value at the points of the outputs."""
        statement = points.step.statement
        name = statement.target
        at = self._at(name, (points.places[index] for index in statement.indices))
        own = Statement(
            target=self.names[name],
            write=at,
            indices=points.indices,
            value=value,
            conditions=applying(points.constraints, points.indices),
            span=statement.span,
        )
        if own.conditions and not possible(own.conditions, own.indices):
            return
        box = own.box
        if own.partial:
            # What the statement leaves out is 0 if nothing was written before, or stays as it is.
            box = intersection(box, all_of := whole(self._tensor(name).shape)) or box
            if self.regions[name].boxes:
                self._fill(name, box, statement.span)
            else:
                box = all_of
        self.statements.append(own)
        self.regions[name] = self.regions[name].with_box(box)

    def _begin(self, step: Domain, box: Box, *, narrowed: bool) -> None:
        """Let all elements that a tensor has be the identity of the reduction that starts it.

        What the statement writes anyway is left out. It leaves out elements of its box if conditions have `narrowed`
        it, or if the range of one index depends on another one.
        """
        statement = step.statement
        name = statement.target
        identity = self._identity(statement, self._tensor(name).type)
        nothing = isinstance(identity, Number) and not identity.value
        before = self.regions[name].boxes
        # An element that nothing has written, between others, is none that a sum has to make 0.
        had = before if nothing or not before else (hull(self.now[name], box),)
        rest = [piece for old in had for piece in difference(old, box)]
        reads = any(isinstance(part, program.Read) and part.tensor == name for part in walk(statement.value))
        partial = narrowed or bool(left_out(step, self.inference.sizes))
        if (reads and before) or (partial and (before or not nothing)):
            rest.append(box)
        for piece in rest:
            self._constant(name, piece, identity)
        self.regions[name] = Region(boxes=before)
        for piece in rest:
            self.regions[name] = self.regions[name].with_box(piece)

    def _fill(self, name: str, box: Box, span: Span) -> None:
        """Let elements of a box that have no value yet be 0."""
        for piece in without([box], self.regions[name].boxes):
            self._constant(name, piece, self._zero(name, span))
            self.regions[name] = self.regions[name].with_box(piece)

    def _constant(self, name: str, box: Box, value: tree.Expression) -> None:
        indices, at = axes(box, MARKED)
        statement = Statement(target=self.names[name], write=at, indices=indices, value=value, span=value.span)
        self.statements.append(statement)

    def inside(self, name: str) -> tuple[Tensor, tuple[int, ...]]:
        """Return a tensor, and the subscripts that the program gives to its first element."""
        return self._tensor(name), self.bases[name]

    def held(self, name: str) -> tuple[Tensor, tuple[int, ...]]:
        """Return the same, where each element has a value: those that no statement has written are 0."""
        tensor = self._tensor(name)
        for piece in without([whole(tensor.shape)], self.regions[name].boxes):
            self._constant(name, piece, self._zero(name, tensor.span or self.inference.function.span))
        return tensor, self.bases[name]

    def padded(self, name: str, inside: Box, wide: Box, span: Span) -> tuple[Tensor, tuple[int, ...]]:
        """Return a copy of the elements with the subscripts `inside`, with zeros around it up to `wide`."""
        source, base = self._tensor(name), tuple(low for low, _ in wide)
        self._fill(name, self._shifted(name, inside), span)
        unique, number = f"{source.name}.padded", 1
        while unique in self.tensors:
            number += 1
            unique = f"{source.name}.padded.{number}"
        copy = replace(source, name=unique, role="value", shape=tuple(high - low for low, high in wide), base=base)
        self.tensors[unique] = copy
        indices, forms = axes(inside, MARKED)
        own = tuple(form - low for form, low in zip(forms, base, strict=True))
        read = Read(tensor=source.name, subscripts=self._at(name, forms), type=source.type, span=span)
        zero = Number(value=Fraction(0), type=source.type, span=span)
        for rest in difference(wide, inside):
            around, at = axes(tuple((low - b, high - b) for (low, high), b in zip(rest, base, strict=True)), MARKED)
            self.statements.append(Statement(target=unique, write=at, indices=around, value=zero, span=span))
        self.statements.append(Statement(target=unique, write=own, indices=indices, value=read, span=span))
        return copy, base

    def _complete(self, points: Points, span: Span) -> None:
        """Let elements that a value reads, and that nothing has written, be 0."""
        for read in walk(points.value):
            if isinstance(read, program.Read):
                box = points.reached(read)
                if box is not None and covers(points.bounds(read.tensor), box):
                    self._fill(read.tensor, self._shifted(read.tensor, box), span)

    def _call(self, step: Called) -> None:
        call = step.statement
        self.calls += 1
        prefix = f"{self.prefix}{call.function.name}.{self.calls}."
        inner = _Translation(step.inference, self.tensors, self.statements, prefix)
        for parameter, argument in zip(call.function.inputs, call.arguments, strict=True):
            # Inside, the indices of an argument start at 0, where the elements that it has by now begin.
            now = self.now[argument]
            self._fill(argument, now, call.span)
            self.held(argument)
            inner.give(parameter, self.names[argument], tuple(-low for low, _ in now), now)
        inner.run()
        for result, target in zip(call.function.results, call.targets, strict=True):
            if target not in self.names:
                self.declare(target, "value")
            box = whole(inner._tensor(result).shape)
            inner._fill(result, box, call.span)
            indices, at = axes(box, MARKED)
            kind = inner.inference.function.tensors[result].scalar
            value = Read(tensor=inner.names[result], subscripts=at, type=type_of(kind), span=call.span)
            self.statements.append(
                Statement(target=self.names[target], write=at, indices=indices, value=value, span=call.span)
            )
            self.regions[target], self.now[target] = Region(boxes=(box,)), box

    def _tensor(self, name: str) -> Tensor:
        return self.tensors[self.names[name]]

    def _shifted(self, name: str, box: Box) -> Box:
        pairs = zip(box, self.bases[name], strict=True)
        return tuple((low - base, high - base) for (low, high), base in pairs)

    def _at(self, name: str, forms: Iterable[Affine]) -> tuple[Affine, ...]:
        """Return subscripts from 0 on."""
        pairs = zip(forms, self.bases[name], strict=True)
        return tuple(form - base for form, base in pairs)


def _apart(statement: Statement, tensors: Collection[str]) -> Statement:
    """Return a statement whose indices have no name of a tensor."""
    sums = [part for part in tree.walk(statement.value) if isinstance(part, Reduce)]
    names = {index.name for indices in (statement.indices, *(each.indices for each in sums)) for index in indices}
    new = {name: f"{name}'" for name in names if name in tensors}
    return with_indices(statement, new) if new else statement
