"""Layers with weights: matrix products, convolutions, and normalisation by known figures."""

from __future__ import annotations

from math import prod

from tabla.languages.onnx.call import Call, Results
from tabla.languages.onnx.operators.registry import Table, operator
from tabla.languages.onnx.tiles import axes, axis, contract, fixed, form, read
from tabla.languages.onnx.values import Tensor, Value
from tabla.languages.tile import program as tile

TABLE: Table = {}


@operator(TABLE, "Gemm", alpha=1.0, beta=1.0, transA=0, transB=0)
def _gemm(call: Call) -> Results:
    left = call.tensor(0)
    if left.rank != 2:
        left = call.sample(0, 2)
    if left.batched and call.integer("transA"):
        call.refuse("transA exchanges the axis of the samples", call.one_by_one(left))
    right = call.tensor(1)
    if right.batched or right.rank != 2:
        call.refuse(f"its operand '{call.node.inputs[1]}' is no matrix without samples", "use MatMul")
    a, b = ("k", "m") if call.integer("transA") else ("m", "k"), ("n", "k") if call.integer("transB") else ("k", "n")
    made = _product(call, left, a, right, b)
    alpha, beta = float(call.attribute("alpha")), float(call.attribute("beta"))
    result: Tensor = made if alpha == 1 else call.elementwise("multiply", made, alpha)
    if call.given(2) is None or beta == 0:
        return result
    addend: Value = call.operand(2)
    if beta != 1:
        addend = call.elementwise("multiply", addend, beta)
    return call.biased(result, addend)


def _product(call: Call, left: Tensor, a: tuple[str, str], right: Tensor, b: tuple[str, str]) -> Tensor:
    """Return the product of two matrices, whose axes are named m and k, and k and n."""
    sizes = dict(zip(a, (1, *left.shape) if left.batched else left.shape, strict=True))
    for name, extent in zip(b, right.shape, strict=True):
        if sizes.setdefault(name, extent) != extent:
            call.refuse(
                f"{sizes[name]} columns meet {extent} rows of '{call.node.inputs[1]}'",
                "the inner extents must be equal",
            )
    kept = ("n",) if left.batched else ("m", "n")
    reads = _flat_reads(call, left.node, right.node, b) or [
        read(left.node, [axis(name) for name in (a[1:] if left.batched else a)], call.span),
        read(right.node, [axis(name) for name in b], call.span),
    ]
    node = contract(tuple(sizes[n] for n in kept), [axis(name) for name in kept], reads, span=call.span)
    return Tensor(node=node, batched=left.batched)


def _flat_reads(call: Call, left: tile.Node, right: tile.Node, b: tuple[str, str]) -> list[tile.Access] | None:
    """Return reads of the tensor that was flattened, and of the weights of its elements, so that nothing is moved.

    Return None if the left operand is not a tensor that was flattened.
    """
    if not isinstance(left, tile.Reshape) or len(left.shape) != 1 or isinstance(left.operand, tile.Reshape):
        return None
    shape = left.operand.shape
    factors = {f"k{at}": prod(shape[at + 1 :]) for at in range(len(shape))}
    inner = [form(factors) if name == "k" else axis(name) for name in b]
    return [read(left.operand, axes(len(shape), "k"), call.span), read(right, inner, call.span)]


@operator(TABLE, "MatMul")
def _matmul(call: Call) -> Results:
    left, right = call.tensor(0), call.tensor(1)
    for at, value in ((0, left), (1, right)):
        inner = 2 if at else 1
        if value.batched and len(value.shape) < inner:
            call.refuse(f"it would sum over the samples of '{call.node.inputs[at]}'", call.one_by_one(value))
        if not value.rank:
            call.refuse(f"'{call.node.inputs[at]}' is a single value", "use Mul")
    batched = left.batched or right.batched
    # With fewer axes than the other operand, the samples of an operand would meet another axis of that one.
    if any(value.batched and value.rank != max(left.rank, right.rank) for value in (left, right)):
        hint = call.one_by_one(left, right, cure="samples come first")
        call.refuse("the axis of the samples is not the first one of the result", hint)
    shapes = [_inner(call, value, batched, max(left.rank, right.rank)) for value in (left, right)]
    return Tensor(node=_matrix_product(call, (left.node, right.node), shapes), batched=batched)


def _inner(call: Call, value: Tensor, batched: bool, rank: int) -> tile.Shape:
    """Return the shape of an operand without the axis of samples."""
    if batched and not value.batched and value.rank == rank and rank > 2:
        if value.shape[0] != 1:
            call.refuse(f"a first extent of {value.shape[0]} meets the axis of the samples", "it must be 1")
        return value.shape[1:]
    return value.shape


def _matrix_product(call: Call, nodes: tuple[tile.Node, tile.Node], shapes: list[tile.Shape]) -> tile.Node:
    """Multiply as numpy.matmul does: the last two axes are those of matrices, and the others broadcast."""
    left, right = shapes
    rows, columns = len(left) > 1, len(right) > 1
    if left[-1] != right[-2 if columns else -1]:
        call.refuse(f"shapes {list(left)} and {list(right)} do not multiply", "the inner extents must be equal")
    outer = max(len(left), len(right)) - 2
    stack: list[int] = []
    for at in range(outer):
        extents = {shape[at - outer - 2] for shape in shapes if len(shape) - 2 >= outer - at} - {1}
        if len(extents) > 1:
            call.refuse(f"shapes {list(left)} and {list(right)} do not broadcast", "extents are equal or 1")
        stack.append(extents.pop() if extents else 1)
    reads = []
    for node, shape, inner in zip(nodes, shapes, (["m"] * rows + ["k"], ["k"] + ["n"] * columns), strict=True):
        own = len(shape) - len(inner)
        subscripts = [fixed(0) if shape[at] == 1 else axis(f"i{at + outer - own}") for at in range(own)] + [
            axis(name) for name in inner
        ]
        # A reshaped operand has leading axes of extent 1 that it lost here.
        subscripts = [fixed(0)] * (len(node.shape) - len(shape)) + subscripts
        reads.append(read(node, subscripts, call.span))
    shape = (*stack, *left[-2:-1], *(right[-1:] if columns else ()))
    write = [*axes(outer), *([axis("m")] if rows else []), *([axis("n")] if columns else [])]
    return contract(shape, write, reads, span=call.span)
