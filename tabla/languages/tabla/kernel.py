"""A checked TABLA program becomes a kernel, statement by statement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields

from tabla.base.source import Label, TablaError
from tabla.graph import graph
from tabla.graph.rate import RATE
from tabla.languages.kernel.signatures import INFIX, SIGNATURES, apply
from tabla.languages.kernel.tree import Expression as KernelExpression
from tabla.languages.kernel.tree import Kernel, Position, Reduce, Reduction, Role, Statement, Tensor, Update
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
    Negation,
    Node,
    Number,
    Operation,
    Program,
    Read,
    chain,
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
    tensors = {
        each.name: Tensor(name=each.name, shape=each.shape, role=_ROLES.get(each.kind, "value"), span=each.span)
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
    statements = tuple(map(_statement, program.assignments))
    return Kernel(name=name, tensors=tensors, statements=statements, updates=updates, results=program.outputs)


def _statement(assignment: Assignment) -> Statement:
    if assignment.constant is not None:
        value: KernelExpression = KernelNumber(value=assignment.constant, span=assignment.value.span)
    else:
        value = kernel_expression(assignment.value)
    return Statement(
        target=assignment.target,
        write=assignment.subscripts,
        indices=tuple(map(index_of, assignment.iterators)),
        value=value,
        span=assignment.span,
    )


def kernel_expression(expression: Expression) -> KernelExpression:
    """Return an expression as one of the kernel, a real number."""
    span = expression.span
    match expression:
        case Number(value=value) | Constant(value=value):
            return KernelNumber(value=value, span=span)
        case Index(iterator=iterator):
            return apply("real", Position(index=iterator.name, span=span), span=span)
        case Read(name=name, subscripts=subscripts):
            return KernelRead(tensor=name, subscripts=subscripts, span=span)
        case Negation(operand=operand):
            return apply("negate", kernel_expression(operand), span=span)
        case Operation():
            first, operations = chain(expression)
            left = kernel_expression(first)
            for operation in operations:
                left = _operated(operation, left)
            return left
        case Call(function=function, arguments=arguments):
            called = _RENAMED.get(function, function.value)
            return apply(called, *map(kernel_expression, arguments), span=span)
        case Group(function=function, iterators=iterators, body=body):
            return Reduce(
                reduction=_REDUCTIONS[function],
                indices=tuple(map(index_of, iterators)),
                body=kernel_expression(body),
                span=span,
            )


def _operated(operation: Operation, left: KernelExpression) -> KernelExpression:
    """Return a binary operation. A comparison is 0 or 1 in TABLA."""
    function, span = INFIX[operation.operator.value], operation.span
    value = apply(function, left, kernel_expression(operation.right), span=span)
    return apply("real", value, span=span) if SIGNATURES[function].rule == "comparison" else value


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
        for read in _constants(assignment.value) if assignment.target != RATE else ():
            if read.name == RATE:
                raise TablaError(
                    f"--runtime-rate: '{RATE}' is used as a value, which would stay as it is compiled",
                    Label(read.span, "used here"),
                    hint="write the number, or give it another name",
                )


def _constants(node: Node) -> Iterator[Constant]:
    """Yield the named constants of an expression, in no particular order."""
    waiting = [node]
    while waiting:
        match waiting.pop():
            case Constant() as found:
                yield found
            case parent:
                for each in (getattr(parent, field.name) for field in fields(parent)):
                    parts = each if isinstance(each, tuple) else (each,)
                    waiting += [part for part in parts if isinstance(part, Node)]
