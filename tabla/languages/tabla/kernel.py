"""A checked TABLA program becomes a kernel, statement by statement."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Mapping
from fractions import Fraction

from tabla.base.source import Label, TablaError
from tabla.graph import graph
from tabla.graph.graph import Affine
from tabla.graph.rate import RATE
from tabla.languages.kernel.signatures import INFIX, SIGNATURES, apply
from tabla.languages.kernel.tree import Expression as KernelExpression
from tabla.languages.kernel.tree import (
    Gather,
    Kernel,
    Position,
    Reduce,
    Reduction,
    Role,
    Statement,
    Tensor,
    Type,
    Update,
)
from tabla.languages.kernel.tree import Number as KernelNumber
from tabla.languages.kernel.tree import Read as KernelRead
from tabla.languages.tabla.operators import Function, GroupFunction
from tabla.languages.tabla.program import (
    Assignment,
    Call,
    Constant,
    Expression,
    Group,
    Index,
    Kind,
    Lookup,
    Negation,
    Number,
    Operation,
    Program,
    Read,
    chain,
    nodes,
    positions,
)
from tabla.languages.tabla.program import (
    Iterator as Range,
)

_ROLES: Mapping[Kind, Role] = {Kind.INPUT: "input", Kind.LABEL: "label", Kind.MODEL: "model"}
_REDUCTIONS: Mapping[GroupFunction, Reduction] = {
    GroupFunction.SUM: "sum",
    GroupFunction.PI: "product",
    GroupFunction.NORM: "norm",
    GroupFunction.MIN: "min",
    GroupFunction.MAX: "max",
}
_RENAMED: Mapping[Function, str] = {Function.SIG_SYM: "tanh"}
"""Functions that the kernel has under another name."""


def kernel_of(program: Program, name: str = "program") -> Kernel:
    """Return the kernel of a checked program."""
    numbers = numbers_of(program)
    tensors = {
        each.name: Tensor(
            name=each.name,
            shape=each.shape,
            role=_ROLES.get(each.kind, "value"),
            type="integer" if each.name in numbers else "real",
            span=each.span,
        )
        for each in program.variables
    }
    updates = tuple(
        Update(
            model=gradient.model,
            gradient=gradient.gradient,
            rate=program.learning_rate,
            rate_span=program.learning_rate_span,
            span=gradient.span,
        )
        for gradient in program.gradients
    )
    made = _Statements(tensors)
    statements = tuple(each for assignment in program.assignments for each in made.statements(assignment))
    return Kernel(name=name, tensors=tensors, statements=statements, updates=updates, results=program.outputs)


def numbers_of(program: Program) -> frozenset[str]:
    """Return the inputs that stand in positions. Their elements are whole numbers."""
    found = set[str]()
    for assignment in program.assignments:
        lookups = [each.subscripts for each in nodes(assignment.value) if isinstance(each, Lookup)]
        for subscripts in (assignment.subscripts, *lookups):
            for position in positions(subscripts):
                found.update(each.name for each in nodes(position) if isinstance(each, Read | Lookup))
    return frozenset(found)


def kernel_expression(expression: Expression, numbers: Collection[str] = ()) -> KernelExpression:
    """Return an expression as one of the kernel, a real number. `numbers` are the inputs that are whole numbers."""
    span = expression.span
    match expression:
        case Number(value=value) | Constant(value=value):
            return KernelNumber(value=value, span=span)
        case Index(iterator=iterator):
            return apply("real", Position(index=iterator.name, span=span), span=span)
        case Read(name=name) | Lookup(name=name) if name in numbers:
            return apply("real", _position(expression), span=span)
        case Read(name=name, subscripts=subscripts):
            return KernelRead(tensor=name, subscripts=subscripts, span=span)
        case Lookup():
            return _gather(expression, "real")
        case Negation(operand=operand):
            return apply("negate", kernel_expression(operand, numbers), span=span)
        case Operation():
            first, operations = chain(expression)
            left = kernel_expression(first, numbers)
            for operation in operations:
                left = _operated(operation, left, kernel_expression(operation.right, numbers))
            return left
        case Call(function=function, arguments=arguments):
            called = _RENAMED.get(function, function.value)
            return apply(called, *(kernel_expression(each, numbers) for each in arguments), span=span)
        case Group(function=function, iterators=iterators, body=body):
            return Reduce(
                reduction=_REDUCTIONS[function],
                indices=tuple(map(index_of, iterators)),
                body=kernel_expression(body, numbers),
                span=span,
            )


def _operated(operation: Operation, left: KernelExpression, right: KernelExpression) -> KernelExpression:
    """Return a binary operation. A comparison is 0 or 1 in TABLA."""
    function, span = INFIX[operation.operator.value], operation.span
    value = apply(function, left, right, span=span)
    return apply("real", value, span=span) if SIGNATURES[function].rule == "comparison" else value


def _position(expression: Expression) -> KernelExpression:
    """Return a position as an integer of the kernel."""
    span = expression.span
    match expression:
        case Number(value=value) | Constant(value=value):
            return KernelNumber(value=value, type="integer", span=span)
        case Index(iterator=iterator):
            return Position(index=iterator.name, span=span)
        case Read(name=name, subscripts=subscripts):
            return KernelRead(tensor=name, subscripts=subscripts, type="integer", span=span)
        case Lookup():
            return _gather(expression, "integer")
        case Negation(operand=operand):
            return apply("negate", _position(operand), span=span)
        case Operation():
            first, operations = chain(expression)
            left = _position(first)
            for operation in operations:
                left = apply(INFIX[operation.operator.value], left, _position(operation.right), span=operation.span)
            return left
        case _:
            raise AssertionError(f"{type(expression).__name__} in a position")


def _gather(lookup: Lookup, kind: Type) -> Gather:
    places = tuple(each if isinstance(each, Affine) else _position(each) for each in lookup.subscripts)
    return Gather(tensor=lookup.name, subscripts=places, type=kind, span=lookup.span)


class _Statements:
    """Makes statements of a kernel from those of a program. `tensors` get what they need beside the program's."""

    def __init__(self, tensors: dict[str, Tensor]) -> None:
        self._tensors = tensors
        self._numbers = frozenset(name for name, tensor in tensors.items() if tensor.type == "integer")

    def statements(self, assignment: Assignment) -> Iterator[Statement]:
        """Yield the statements of one assignment, in order."""
        if positions(assignment.subscripts):
            yield from self._addition(assignment)
            return
        if assignment.constant is not None:
            value: KernelExpression = KernelNumber(value=assignment.constant, span=assignment.value.span)
        else:
            value = kernel_expression(assignment.value, self._numbers)
        yield Statement(
            target=assignment.target,
            write=tuple(each for each in assignment.subscripts if isinstance(each, Affine)),
            indices=tuple(map(index_of, assignment.iterators)),
            value=value,
            span=assignment.span,
        )

    def _addition(self, assignment: Assignment) -> Iterator[Statement]:
        """Yield statements that add values to the elements to which positions lead.

        The values are computed once. Every element that a position may lead to then becomes what it was, and the sum of
        the values whose positions are its own.
        """
        target, span = assignment.target, assignment.span
        added = yield from self._values(assignment)
        write, indices = list[Affine](), list[graph.Index]()
        for axis, subscript in enumerate(assignment.subscripts):
            if isinstance(subscript, Affine):
                write.append(subscript)
                continue
            row = graph.Index(name=f"{target}.row{axis}", low=0, high=self._tensors[target].shape[axis])
            here = apply("equal", _position(subscript), Position(index=row.name), span=subscript.span)
            added = apply("select", here, added, KernelNumber(value=Fraction(0)), span=span)
            write.append(Affine.index(row.name))
            indices.append(row)
        kept = {name for form in write for name in form.names}
        indices += (index_of(each) for each in assignment.iterators if each.name in kept)
        summed = tuple(index_of(each) for each in assignment.iterators if each.name not in kept)
        if summed:
            added = Reduce(reduction="sum", indices=summed, body=added, span=span)
        if assignment.again:
            added = apply("add", KernelRead(tensor=target, subscripts=tuple(write)), added, span=span)
        yield Statement(target=target, write=tuple(write), indices=tuple(indices), value=added, span=span)

    def _values(self, assignment: Assignment) -> Generator[Statement, None, KernelExpression]:
        """Return the values of an assignment as numbers or reads. Yield the statement that computes them, if any."""
        value, span = kernel_expression(assignment.value, self._numbers), assignment.span
        if isinstance(value, KernelNumber | KernelRead):
            return value
        name = f"{assignment.target}.added{sum(each.startswith(f'{assignment.target}.') for each in self._tensors)}"
        indices = tuple(map(index_of, assignment.iterators))
        at = tuple(Affine.index(index.name) - index.low for index in indices)
        self._tensors[name] = Tensor(name=name, shape=tuple(each.extent for each in indices), role="value", span=span)
        yield Statement(target=name, write=at, indices=indices, value=value, span=span)
        return KernelRead(tensor=name, subscripts=at, span=assignment.value.span)


def index_of(iterator: Range) -> graph.Index:
    """Return an iterator as an index."""
    return graph.Index(name=iterator.name, low=iterator.start, high=iterator.stop, span=iterator.span)


def refuse_runtime_rate(program: Program, results: tuple[str, ...]) -> None:
    """Refuse a program whose learning rate cannot be a word that hosts load, or that returns it among `results`.

    Such a program has no gradient, or uses ``mu`` as a value.
    """
    if not program.gradients:
        raise TablaError("--runtime-rate: the program has no gradient, so it has no learning rate", hint="leave it out")
    if RATE in results:
        raise TablaError(
            f"--runtime-rate: the result '{RATE}' would stay as it is compiled",
            hint="leave the result out: hosts know the rate that they load",
        )
    for assignment in program.assignments:
        for read in nodes(assignment.value) if assignment.target != RATE else ():
            if isinstance(read, Constant) and read.name == RATE:
                raise TablaError(
                    f"--runtime-rate: '{RATE}' is used as a value, which would stay as it is compiled",
                    Label(read.span, "used here"),
                    hint="write the number, or give it another name",
                )
