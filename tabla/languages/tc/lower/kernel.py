"""A function of Tensor Comprehensions as a kernel, for given sizes. Calls are inlined.

Real numbers, comparisons, and reads by sums of indices become a kernel. What data choose, integers of data, and tensors
that the caller passes to accumulate into, are refused with their place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import NoReturn

from tabla.base.source import Label, Span, TablaError
from tabla.graph.constraints import applying, possible
from tabla.graph.graph import Affine, Index
from tabla.languages.kernel import tree
from tabla.languages.kernel.boxes import MARKED, Box, axes, covers, difference, hull, intersection, whole, without
from tabla.languages.kernel.constants import constant_value
from tabla.languages.kernel.regions import Region
from tabla.languages.kernel.signatures import SIGNATURES, apply
from tabla.languages.kernel.substitution import whole_number, with_indices
from tabla.languages.kernel.tree import Kernel, Number, Read, Reduce, Statement, Tensor
from tabla.languages.kernel.verify import verify
from tabla.languages.tc import program
from tabla.languages.tc.lower.domains import left_out, pieces_of, stated
from tabla.languages.tc.lower.means import overwriting
from tabla.languages.tc.lower.points import Points, box_of, written
from tabla.languages.tc.program import Function, Value, walk
from tabla.languages.tc.ranges import Called, Inference, infer
from tabla.languages.tc.statement_ranges import Domain

_REDUCTIONS: Mapping[str, tree.Reduction] = {"+": "sum", "*": "product", "min": "min", "max": "max"}
_JOINED = {"+": "add", "*": "multiply", "min": "min", "max": "max"}
_INFIX = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}
_COMPARED = {
    "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal", "==": "equal", "!=": "not_equal",
}  # fmt: skip
_NAMED = {"fabs": "abs", "fmin": "min", "fmax": "max", "pow": "power", "fdivide": "divide"}
_REALS = {name for name, signature in SIGNATURES.items() if signature.rule == "reals"} | {"abs", "min", "max", "divide"}
"""The functions of the kernel that a program may call by their names there, or by those of `_NAMED`."""
_FACTOR = "factor'"
"""The index over the factors of a power; no index of a program has such a name."""


class Unsaid(TablaError):
    """A function has a part that no kernel says yet."""


def kernel_of(
    function: Function, sizes: Mapping[str, int], *, name: str, models: Sequence[str] = (), results: Sequence[str] = ()
) -> Kernel:
    """Return the kernel of a function for given sizes. The inputs `models` stay on chip.

    Raises `Unsaid` for what no kernel says yet, and `TablaError` for sizes that make a range empty.
    """
    inference = infer(function, sizes)
    found = _Translation(inference, {}, [], "")
    for given in function.inputs:
        found.declare(given, "model" if given in models else "input")
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

    `bases` has the subscripts that the program gives to the first element of each tensor, and `regions` the elements
    that were written, from 0 on.
    """

    def __init__(
        self, inference: Inference, tensors: dict[str, Tensor], statements: list[Statement], prefix: str
    ) -> None:
        self.inference, self.tensors, self.statements, self.prefix = inference, tensors, statements, prefix
        self.names: dict[str, str] = {}
        self.bases: dict[str, tuple[int, ...]] = {}
        self.regions: dict[str, Region] = {}
        self.calls = 0
        # The factors of means, which the sums have already.
        self.factors: set[int] = set()

    def declare(self, name: str, role: tree.Role) -> None:
        """Declare a tensor of the function with all elements that it ever has."""
        tensor = self.inference.function.tensors[name]
        if tensor.scalar.kind != "float":
            _refuse(f"'{name}' holds {tensor.scalar}", tensor.span, "make it float")
        box = box_of(self.inference.bounds[name])
        self.names[name] = unique = f"{self.prefix}{name}"
        self.bases[name] = tuple(low for low, _ in box)
        shape = tuple(high - low for low, high in box)
        self.tensors[unique] = Tensor(name=unique, shape=shape, role=role, span=tensor.span, base=self.bases[name])
        self.regions[name] = Region(boxes=() if role == "value" else (whole(shape),))

    def give(self, name: str, unique: str, base: tuple[int, ...]) -> None:
        """Let a tensor of the function be one that the kernel has already."""
        self.names[name], self.bases[name] = unique, base
        self.regions[name] = Region(boxes=(whole(self.tensors[unique].shape),))

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
            if self.inference.function.tensors[name].initial:
                _refuse(f"'{name}' is passed in, and changed", span, "write '=!' in place of '=', which begins at 0")
            self.declare(name, "value")
        begins = statement.reduction is not None and statement.initialise
        pieces = pieces_of(step, self.inference.sizes)
        for points in pieces:
            self._complete(points, span)
        box = self._shifted(name, written(step))
        if begins:
            self._begin(step, box)
        elif statement.reduction is not None:
            self._fill(name, box, span)
        elif self.regions[name].meets(box) and pieces != (whole := stated(step, self.inference.sizes),):
            # A condition leaves points out because they are 0.
            self._write(whole, Number(value=Fraction(0), span=span))
        mean = self._mean(step)
        for points in pieces:
            self._state(points, joins=statement.reduction is not None and not begins, mean=mean)

    def _mean(self, step: Domain) -> tuple[str, tree.Expression] | None:
        """Return the function and the constant by which a statement overwrites the sum of `step`, or None.

        The sum then is the multiple already, and the later statement takes it as it is.
        """
        overwritten = overwriting(self.inference.steps, step)
        if overwritten is None or not covers(written(overwritten[0]), written(step)):
            return None
        later, factor, inverse = overwritten
        pieces = pieces_of(later, self.inference.sizes)
        expression = _Values(self, pieces[0]).real(factor)
        if not constant_value(expression) or any(points.partial for points in pieces):
            return None
        self.factors.add(id(factor))
        return "divide" if inverse else "multiply", expression

    def _state(self, points: Points, *, joins: bool, mean: tuple[str, tree.Expression] | None) -> None:
        """Append the statement of some points. One that `joins` goes on from the elements that it writes."""
        statement = points.step.statement
        name = statement.target
        value = _Values(self, points).real(points.value)
        if statement.reduction is not None and points.reduced:
            kind = _REDUCTIONS[statement.reduction]
            if points.constraints and not possible(points.constraints, points.all):
                _refuse(f"a {kind} of no values", statement.span, "let its conditions hold somewhere")
            own = applying(points.constraints, points.indices)
            inner = tuple(form for form in points.constraints if form not in own)
            value = Reduce(reduction=kind, indices=points.reduced, body=value, conditions=inner, span=statement.span)
        if mean is not None:
            function, factor = mean
            value = apply(function, value, factor, span=factor.span)
        if joins:
            assert statement.reduction is not None
            at = self._at(name, (points.places[index] for index in statement.indices))
            before = Read(tensor=self.names[name], subscripts=at, span=statement.span)
            value = apply(_JOINED[statement.reduction], before, value, span=statement.span)
        self._write(points, value)

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

    def _begin(self, step: Domain, box: Box) -> None:
        """Let all elements that a tensor has be the identity of the reduction that starts it."""
        statement = step.statement
        name, identity = statement.target, Fraction(statement.reduction == "*")
        reads = any(isinstance(part, program.Read) and part.tensor == name for part in walk(statement.value))
        if reads:
            _refuse(f"'{name}' is read, and begins anew, in one statement", statement.span, "write it in two")
        before = self.regions[name].boxes
        # An element that nothing has written, between others, is none that a sum has to make 0.
        had = before if not identity or not before else (hull(self._now(name), box),)
        rest = [piece for old in had for piece in difference(old, box)]
        if left_out(step, self.inference.sizes) and (before or identity or statement.reduction in ("min", "max")):
            rest.append(box)
        if rest and statement.reduction in ("min", "max"):
            _refuse(f"elements of '{name}' begin anew, and get no value", statement.span, "write all of them")
        for piece in rest:
            self._number(name, piece, identity, statement.span)
        self.regions[name] = Region(boxes=before)
        for piece in rest:
            self.regions[name] = self.regions[name].with_box(piece)

    def _fill(self, name: str, box: Box, span: Span) -> None:
        """Let elements of a box that have no value yet be 0."""
        for piece in without([box], self.regions[name].boxes):
            self._number(name, piece, Fraction(0), span)
            self.regions[name] = self.regions[name].with_box(piece)

    def _number(self, name: str, box: Box, value: Fraction, span: Span) -> None:
        indices, at = axes(box, MARKED)
        number = Number(value=value, span=span)
        self.statements.append(Statement(target=self.names[name], write=at, indices=indices, value=number, span=span))

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
            now = self._now(argument)
            self._fill(argument, now, call.span)
            inner.give(parameter, self.names[argument], tuple(-low for low, _ in now))
        inner.run()
        for result, target in zip(call.function.results, call.targets, strict=True):
            if target not in self.names:
                self.declare(target, "value")
            box = whole(self._tensor(target).shape)
            inner._fill(result, box, call.span)
            indices, at = axes(box, MARKED)
            value = Read(tensor=inner.names[result], subscripts=at, span=call.span)
            self.statements.append(
                Statement(target=self.names[target], write=at, indices=indices, value=value, span=call.span)
            )
            self.regions[target] = Region(boxes=(box,))

    def _now(self, name: str) -> Box:
        """Return the box around the elements that a tensor has by now, from 0 on."""
        return reduce(hull, self.regions[name].boxes)

    def _tensor(self, name: str) -> Tensor:
        return self.tensors[self.names[name]]

    def _shifted(self, name: str, box: Box) -> Box:
        pairs = zip(box, self.bases[name], strict=True)
        return tuple((low - base, high - base) for (low, high), base in pairs)

    def _at(self, name: str, forms: Iterable[Affine]) -> tuple[Affine, ...]:
        """Return subscripts from 0 on."""
        pairs = zip(forms, self.bases[name], strict=True)
        return tuple(form - base for form, base in pairs)

    def read(self, points: Points, read: program.Read) -> Read:
        """Return an element of a tensor, whose subscripts are sums of indices that stay inside of it."""
        if read.scalar.kind != "float":
            _refuse(f"'{read.tensor}' holds {read.scalar}", read.span, "make it float")
        forms = []
        for subscript, between in zip(read.subscripts, points.bounds(read.tensor), strict=True):
            form = points.affine(subscript)
            if form is None:
                _refuse("a subscript that data choose", subscript.span, "read by sums of indices")
            if not points.inside(form, between):
                message = f"'{read.tensor}' is read outside of it where a condition chooses another value"
                _refuse(message, read.span, "let a where clause narrow the range")
            forms.append(form)
        subscripts = self._at(read.tensor, forms)
        return Read(tensor=self.names[read.tensor], subscripts=subscripts, span=read.span)


class _Values:
    """The values at some points, as expressions of the kernel."""

    def __init__(self, translation: _Translation, points: Points) -> None:
        self._translation, self._points = translation, points

    def real(self, value: Value) -> tree.Expression:
        """Return a value as a real number."""
        if value.scalar.kind == "bool":
            return apply("real", self.truth(value), span=value.span)
        if value.scalar.integral:
            return apply("real", self._integer(value), span=value.span)
        span = value.span
        match value:
            case program.Constant(value=number):
                return Number(value=number, span=span)
            case program.Read():
                return self._translation.read(self._points, value)
            case program.Convert(operand=operand):
                return self.real(operand)
            case program.Unary(operator="-", operand=operand):
                return apply("negate", self.real(operand), span=span)
            case program.Binary(operator="*" | "/", left=left, right=right) if id(right) in self._translation.factors:
                return self.real(left)
            case program.Binary(operator="*", left=left, right=right) if id(left) in self._translation.factors:
                return self.real(right)
            case program.Binary(operator=operator, left=left, right=right) if operator in _INFIX:
                return apply(_INFIX[operator], self.real(left), self.real(right), span=span)
            case program.Choice(condition=condition, chosen=chosen, other=other):
                return apply("select", self.truth(condition), self.real(chosen), self.real(other), span=span)
            case program.Apply(function="pow", arguments=(base, exponent)) if (
                power := self._steps(exponent)
            ) is not None:
                return self._power(self.real(base), power, span)
            case program.Apply(function=function, arguments=arguments):
                return self._call(function, [self.real(argument) for argument in arguments], span)
            case _:
                _refuse("this arithmetic", span, "write it by sums, products, quotients and functions")

    def truth(self, value: Value) -> tree.Expression:
        """Return a value as a truth value."""
        span = value.span
        match value:
            case program.Binary(operator="&&" | "||" as operator, left=left, right=right):
                return apply("and" if operator == "&&" else "or", self.truth(left), self.truth(right), span=span)
            case program.Unary(operator="!", operand=operand):
                return apply("not", self.truth(operand), span=span)
            case program.Binary(operator=operator, left=left, right=right, common=common) if operator in _COMPARED:
                side = self._integer if common.integral else self.real
                return apply(_COMPARED[operator], side(left), side(right), span=span)
            case program.Choice(condition=condition, chosen=chosen, other=other) if value.scalar.kind == "bool":
                return apply("select", self.truth(condition), self.truth(chosen), self.truth(other), span=span)
            case program.Constant(value=number):
                return Number(value=Fraction(bool(number)), type="truth", span=span)
            case program.Convert(operand=operand) if operand.scalar.kind == "bool":
                return self.truth(operand)
            case _ if value.scalar.kind == "float":
                return apply("not_equal", self.real(value), Number(value=Fraction(0)), span=span)
            case _ if value.scalar.integral:
                return apply("not_equal", self._integer(value), Number(value=Fraction(0), type="integer"), span=span)
            case _:
                _refuse("this truth value", span, "compare two numbers")

    def _integer(self, value: Value) -> tree.Expression:
        form = self._points.affine(value)
        if form is None:
            _refuse("an integer that is no sum of indices", value.span, "compute in float")
        return whole_number(form, value.span)

    def _steps(self, exponent: Value) -> Affine | None:
        """Return an exponent that indices make, and None for a constant or a real one."""
        while isinstance(exponent, program.Convert):
            exponent = exponent.operand
        form = self._points.affine(exponent) if exponent.scalar.integral else None
        return None if form is None or not form.names else form

    def _power(self, base: tree.Expression, exponent: Affine, span: Span) -> tree.Expression:
        """Return a power by an index: a product of as many factors as it says."""
        low, high = exponent.bounds(self._points.box)
        if low < 0:
            _refuse("a power by an index that may be negative", span, "exp(x * log(a)) does for a > 0")
        factor = Index(name=_FACTOR, low=0, high=max(high, 1))
        taken = exponent - Affine.of(**{_FACTOR: 1}) - 1
        return Reduce(reduction="product", indices=(factor,), body=base, conditions=(taken,), span=span)

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
            _refuse(f"'{function}'", span, "tabla eval --float has every function")
        return apply(name, *arguments, span=span)


def _apart(statement: Statement, tensors: Collection[str]) -> Statement:
    """Return a statement whose indices have no name of a tensor."""
    sums = [part for part in tree.walk(statement.value) if isinstance(part, Reduce)]
    names = {index.name for indices in (statement.indices, *(each.indices for each in sums)) for index in indices}
    new = {name: f"{name}'" for name in names if name in tensors}
    return with_indices(statement, new) if new else statement


def _refuse(what: str, span: Span, hint: str) -> NoReturn:
    raise Unsaid(f"no kernel says this yet: {what}", Label(span), hint=hint)
