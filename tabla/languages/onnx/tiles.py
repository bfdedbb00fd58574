"""The statements of Tile that ONNX's operators are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import prod

from tabla.base.source import Span
from tabla.languages.kernel.intervals import Rational
from tabla.languages.tile.elementwise import apply
from tabla.languages.tile.program import (
    Access,
    Aggregation,
    Biased,
    Constraint,
    Contraction,
    Factor,
    Kind,
    Node,
    Number,
    Operator,
    Ordinal,
    Reshape,
    Shape,
    Subscript,
)


def number(value: Fraction | float, kind: Kind = "float", span: Span | None = None) -> Number:
    """Return a number of the program, exactly as it is given."""
    return Number(shape=(), kind=kind, value=Fraction(value), span=span)


def factor(above: int, below: int, span: Span | None = None) -> Factor:
    """Return the factor ``above / below``, which products take as exactly as words allow."""
    return Factor(shape=(), kind="float", value=Fraction(above, below), span=span)


def form(factors: Mapping[str, int], constant: int = 0) -> Subscript:
    """Return the subscript ``constant + sum(factor * index)``."""
    return Subscript(value=Rational.make(constant, factors))


def axis(name: str) -> Subscript:
    """Return the subscript that is an index variable."""
    return form({name: 1})


def axes(count: int, letter: str = "i") -> tuple[Subscript, ...]:
    """Return the subscripts ``i0``, ``i1`` and so on."""
    return tuple(axis(f"{letter}{at}") for at in range(count))


def fixed(place: int) -> Subscript:
    """Return a subscript that is a number."""
    return form({}, place)


def within(subscript: Subscript, bound: int) -> Constraint:
    """Return the constraint ``0 <= subscript < bound``."""
    return Constraint(subscript=subscript, bound=bound)


def read(node: Node, subscripts: Sequence[Subscript], span: Span | None = None) -> Access:
    """Return the element of a tensor."""
    return Access(node=node, subscripts=tuple(subscripts), span=span)


def contract(
    shape: Shape,
    write: Sequence[Subscript],
    sources: Sequence[Access],
    *,
    aggregation: Aggregation = "sum",
    constraints: Sequence[Constraint] = (),
    span: Span | None = None,
) -> Contraction:
    """Return ``output[write] aggregation= product of sources`` over all valid index values."""
    return Contraction(
        shape=shape,
        kind=sources[0].node.kind,
        span=span,
        aggregation=aggregation,
        write=tuple(write),
        combination="multiply" if len(sources) > 1 else "none",
        sources=tuple(sources),
        constraints=tuple(constraints),
    )


def reduced(
    node: Node, over: Sequence[int], *, aggregation: Aggregation = "sum", keep: bool = True, span: Span | None = None
) -> Node:
    """Aggregate over the axes `over`, which stay as axes of extent 1 if `keep` is set."""
    rank = len(node.shape)
    if all(node.shape[each] == 1 for each in over):
        return node if keep else reshaped(node, tuple(n for at, n in enumerate(node.shape) if at not in over), span)
    shape, write = [], []
    for at, (extent, subscript) in enumerate(zip(node.shape, axes(rank), strict=True)):
        if at not in over:
            shape.append(extent)
            write.append(subscript)
        elif keep:
            shape.append(1)
            write.append(fixed(0))
    return contract(tuple(shape), write, [read(node, axes(rank), span)], aggregation=aggregation, span=span)


def reshaped(node: Node, shape: Shape, span: Span | None) -> Node:
    """Return the same elements in another shape."""
    if node.shape == shape:
        return node
    assert prod(node.shape) == prod(shape), (node.shape, shape)
    return Reshape(shape=shape, kind=node.kind, operand=node, span=span)


def spread(node: Node, shape: Shape, span: Span | None) -> Node:
    """Return a tensor broadcast to a shape."""
    if prod(node.shape) == prod(shape):
        return reshaped(node, shape, span)
    first = len(shape) - len(node.shape)
    source = [fixed(0) if n == 1 else place for n, place in zip(node.shape, axes(len(shape))[first:], strict=True)]
    return contract(shape, axes(len(shape)), [read(node, source, span)], aggregation="assign", span=span)


def made(operator: Operator, *operands: Node, span: Span | None, kind: Kind | None = None) -> Node:
    """Return an operator on every element."""
    return apply(operator, operands, span, kind)


def with_bias(total: Node, bias: Node, span: Span | None) -> Node:
    """Return the sum of a contraction and a bias, which is rounded once."""
    plain = apply("add", (total, bias), span)
    return Biased(shape=plain.shape, kind=plain.kind, operator="add", inputs=(total, bias), span=span)


def pair(first: Node, second: Node, span: Span | None) -> Node:
    """Return two tensors of one element as one tensor of two."""
    places = Ordinal(shape=(2,), kind="integer", axis=0, span=span)
    return made("select", made("equal", places, number(0, "integer"), span=span), first, second, span=span)


def chosen(node: Node, over: int, numbers: Sequence[int], span: Span | None) -> Node:
    """Return the elements with these positions along an axis, in this order."""
    shape = (*node.shape[:over], len(numbers), *node.shape[over + 1 :])
    result: Node | None = None
    for at, place in enumerate(numbers):
        write, source = list(axes(len(shape))), list(axes(len(shape)))
        write[over], source[over] = fixed(at), fixed(place)
        part = contract(shape, write, [read(node, source, span)], aggregation="assign", span=span)
        result = part if result is None else made("add", result, part, span=span)
    assert result is not None
    return result


def largest_of(node: Node, over: int, *, last: bool = False, span: Span | None = None) -> Node:
    """Return the position of the largest element along an axis, which stays with extent 1.

    Of several largest elements it is the first one, or the `last` one.
    """
    extent = node.shape[over]
    if extent == 2 and not last:
        first, second = (chosen(node, over, [place], span) for place in (0, 1))
        return made("cast", made("greater", second, first, span=span), span=span, kind="integer")
    top = reduced(node, [over], aggregation="max", span=span)
    places = Ordinal(shape=node.shape, kind="integer", axis=over, span=span)
    # Somewhere the element is the largest one, so the number that stands elsewhere never wins.
    other = number(0 if last else extent - 1, "integer", span)
    candidates = made("select", made("equal", node, top, span=span), places, other, span=span)
    return reduced(candidates, [over], aggregation="max" if last else "min", span=span)
