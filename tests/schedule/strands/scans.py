"""Running sums and extremes as graphs, in both directions, with starts before and after the first point."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tabla.graph.graph import Affine, Extreme, Graph, Index, Linear, Operation, Product, Read, Term
from tests.graph.examples import Builder, at, product, word


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """``y[b][i]`` over the points j with ``sign * j <= sign * i + offset``; `low` is where i begins.

    `kind`: a sum of words, of products (with a second term and a start value), a largest or smallest word (with an
    initial one), or a product. With `last`, i is the first axis of the result.
    """

    kind: str = "words"
    rows: int = 1
    outputs: int = 5
    points: int = 5
    low: int = 0
    sign: int = 1
    offset: int = 0
    last: bool = False


def scan_graph(shape: Shape) -> Graph:
    """The statement, and one that lanes may want to compute from what it makes."""
    b = Builder()
    b.tensor("x", "input", shape.rows, shape.points)
    b.tensor("w", "model", shape.points)
    b.tensor("c", "input", shape.rows)
    size = (shape.outputs, shape.rows) if shape.last else (shape.rows, shape.outputs)
    names = "ib" if shape.last else "bi"
    b.tensor("y", "value", *size)
    b.tensor("m", "model", *size)
    b.tensor("z", "value", *size)
    b.let("y", names, _operation(shape), "j", b=shape.rows, i=shape.outputs, j=shape.points)
    b.let("z", names, Linear(terms=(product(at("y", *names), at("m", *names)),)), b=shape.rows, i=shape.outputs)
    made = b.statements[0]
    box = {**made.box, "i": Index(name="i", low=shape.low, high=shape.low + shape.outputs)}
    write = tuple(Affine.of(-shape.low * (name == "i"), **{name: 1}) for name in names)
    b.statements[0] = replace(
        made,
        write=write,
        indices=tuple(box[name] for name in names),
        constraints=(Affine.of(shape.offset, i=shape.sign, j=-shape.sign),),
    )
    return b.graph("scan", {}, (("y", "y"), ("z", "z")))


def _operation(shape: Shape) -> Operation:
    x, w = at("x", "b", "j"), at("w", "j")
    match shape.kind:
        case "words":
            return Linear(terms=(Term(factors=(x,), reduce=("j",)),))
        case "products":
            return Linear(terms=(product(w, x, "j"), word(at("c", "b")), Term(factors=(w,), sign=-1, reduce=("j",))))
        case "max" | "min" as op:
            return Extreme(op=op, operands=(x,), reduce=("j",))
        case "product":
            return Product(operand=x, reduce=("j",))
        case "scaled":
            return Product(operand=w, reduce=("j",), initial=at("c", "b"), shift=-3)
        case _:
            initial: Read = at("c", "b")
            return Extreme(op="min", operands=(x, w), reduce=("j",), initial=initial)


KINDS = ("words", "products", "max", "min", "both", "product", "scaled")
