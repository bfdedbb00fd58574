"""Two readings of a program in exact rational numbers: of its tree, element by element, and of its graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from math import prod

from tabla.graph import graph as nodes
from tabla.languages.tabla import program as tree
from tabla.languages.tabla.operators import Function, GroupFunction, Operator

Point = dict[str, int]
Values = dict[tuple[str, tuple[int, ...]], Fraction]

OPERATORS = {
    Operator.ADD: lambda a, b: a + b,
    Operator.SUBTRACT: lambda a, b: a - b,
    Operator.MULTIPLY: lambda a, b: a * b,
    Operator.LESS: lambda a, b: Fraction(a < b),
    Operator.LESS_EQUAL: lambda a, b: Fraction(a <= b),
    Operator.GREATER: lambda a, b: Fraction(a > b),
    Operator.GREATER_EQUAL: lambda a, b: Fraction(a >= b),
    Operator.EQUAL: lambda a, b: Fraction(a == b),
    Operator.NOT_EQUAL: lambda a, b: Fraction(a != b),
}
GROUPS = {GroupFunction.SUM: sum, GroupFunction.PI: prod, GroupFunction.MIN: min, GroupFunction.MAX: max}
CHOICES = {Function.ABS: abs, Function.MIN: min, Function.MAX: max}


def points(ranges: Mapping[str, range]) -> Iterator[Point]:
    for values in product(*ranges.values()):
        yield dict(zip(ranges, values, strict=True))


def over(iterators: tuple[tree.Iterator, ...]) -> Iterator[Point]:
    return points({i.name: range(i.start, i.stop) for i in iterators})


def value_of(expression: tree.Expression, point: Point, values: Values) -> Fraction:
    match expression:
        case tree.Number(value=value) | tree.Constant(value=value):
            return value
        case tree.Index(iterator=iterator):
            return Fraction(point[iterator.name])
        case tree.Read(name=name, subscripts=subscripts):
            return values[name, tuple(s.at(point) for s in subscripts)]
        case tree.Negation(operand=operand):
            return -value_of(operand, point, values)
        case tree.Operation(operator=operator, left=left, right=right):
            return OPERATORS[operator](value_of(left, point, values), value_of(right, point, values))
        case tree.Call(function=function, arguments=arguments):
            return CHOICES[function](*(value_of(a, point, values) for a in arguments))
        case tree.Group(function=function, iterators=iterators, body=body):
            inner = [value_of(body, point | more, values) for more in over(iterators)]
            return GROUPS[function](inner)


def run_tree(program: tree.Program, given: Values) -> Values:
    """The values of all elements after one sample; a model's new element is called ``NAME.next``."""
    values = dict(given)
    for assignment in program.assignments:
        computed = {
            (assignment.target, tuple(s.at(point) for s in assignment.subscripts)): value_of(
                assignment.value, point, values
            )
            for point in over(assignment.iterators)
        }
        values.update(computed)
    for gradient in program.gradients:
        for (name, element), value in list(values.items()):
            if name == gradient.gradient:
                old = values[gradient.model, element]
                values[f"{gradient.model}.next", element] = old - program.learning_rate * value
    return values


def run_graph(graph: nodes.Graph, given: Values) -> Values:
    """The values of all tensors' elements; every element is written once, before it is read.

    What the statements of a filled tensor leave out is 0 after the last of them.
    """
    values = dict(given)
    last = {statement.target: number for number, statement in enumerate(graph.statements)}
    for number, statement in enumerate(graph.statements):
        for point in points({i.name: range(i.low, i.high) for i in statement.indices}):
            element = (statement.target, tuple(w.at(point) for w in statement.write))
            assert element not in values, f"{element} is written twice"
            shape = graph.tensors[statement.target].shape
            assert all(0 <= at < size for at, size in zip(element[1], shape, strict=True))
            values[element] = _operate(statement, point, values)
        tensor = graph.tensors[statement.target]
        if tensor.filled and last[tensor.name] == number:
            for at in product(*map(range, tensor.shape)):
                values.setdefault((tensor.name, at), Fraction(0))
    return values


def _operate(statement: nodes.Statement, point: Point, values: Values) -> Fraction:
    box = statement.box

    def word(operand: nodes.Operand, at: Point) -> Fraction:
        match operand:
            case nodes.Read(tensor=tensor, subscripts=subscripts):
                return values[tensor, tuple(s.at(at) for s in subscripts)]
            case nodes.Constant(value=value):
                return value
            case nodes.Ordinal(value=value):
                return Fraction(value.at(at), 1 << operand.fraction)

    def reduced(names: tuple[str, ...]) -> Iterator[Point]:
        return (point | more for more in points({n: range(box[n].low, box[n].high) for n in names}))

    match statement.operation:
        case nodes.Linear(terms=terms, shift=shift):
            total = Fraction(0)
            for term in terms:
                scale = term.sign * Fraction(2) ** (-shift if len(term.factors) == 2 else 0)
                total += sum(scale * prod(word(f, at) for f in term.factors) for at in reduced(term.reduce))
            return total
        case nodes.Product(operand=operand, reduce=reduce):
            return prod((word(operand, at) for at in reduced(reduce)), start=Fraction(1))
        case nodes.Compare(op=op, left=left, right=right):
            return OPERATORS[Operator(op)](word(left, point), word(right, point))
        case nodes.Extreme(op=op, operands=operands, reduce=reduce, initial=None):
            return {"max": max, "min": min}[op](word(operand, at) for at in reduced(reduce) for operand in operands)
        case other:
            raise AssertionError(f"{other} has no exact value")
