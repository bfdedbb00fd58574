"""Operators that move elements: shapes, axes, parts and padding."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tabla.base.source import Span
from tabla.languages.onnx.call import REQUIRED, Call, Results
from tabla.languages.onnx.operators.registry import Table, operator
from tabla.languages.onnx.tiles import axes, contract, fixed, form, made, number, read, reshaped, within
from tabla.languages.onnx.values import Labels, Tensor
from tabla.languages.tile import program as tile
from tabla.languages.tile.starts import Start, started

TABLE: Table = {}


@operator(TABLE, "Reshape", allowzero=0)
def _reshape(call: Call) -> Results:
    value, target = call.operand(0), call.integers(1) or []
    if isinstance(value, Labels):
        return Labels(position=_reshaped(call, value.position, target), labels=value.labels)
    return _reshaped(call, call.as_tensor(value), target)


def _reshaped(call: Call, value: Tensor, target: list[int]) -> Tensor:
    """Return a tensor in a shape of ONNX, where 0 stands for the extent that the axis has, and -1 for the rest."""
    own = list(target)
    if any(extent < -1 for extent in own):
        call.refuse(f"{target} has an extent below -1", "use extents from 1 on, 0 or -1")
    if not call.integer("allowzero"):
        for at, extent in enumerate(own):
            if extent == 0 and at < value.rank and (at or not value.batched):
                own[at] = value.shape[at - value.batched]
    if not value.batched:
        return call.reshape(value, _filled(call, own, prod(value.shape)))
    if not own:
        call.refuse("it leaves no axis of samples", call.one_by_one(value))
    first, *rest = own
    known = prod(extent for extent in rest if extent != -1)
    # An axis of samples stays in front if the others hold one sample: [-1, 12], [0, 3, 4] or [1, -1] of 12 elements.
    if -1 in rest if first in (0, 1) else first == -1 and known == prod(value.shape):
        return call.reshape(value, _filled(call, rest, prod(value.shape)))
    if first in (0, 1) and known == prod(value.shape):
        return call.reshape(value, tuple(rest))
    call.refuse(
        f"{target} does not keep the samples of {list(value.shape)} apart",
        call.one_by_one(value, cure="keep them on the first axis: [0, -1]"),
    )


def _filled(call: Call, target: list[int], count: int) -> tile.Shape:
    known = prod(extent for extent in target if extent != -1)
    if target.count(-1) > 1 or known < 1 or (-1 in target and count % known):
        call.refuse(f"{count} elements do not fill {target}", "the products must be equal")
    return tuple(count // known if extent == -1 else extent for extent in target)


@operator(TABLE, "Flatten", axis=1)
def _flatten(call: Call) -> Results:
    value = call.tensor(0)
    axis = call.integer("axis")
    axis += value.rank if axis < 0 else 0
    if value.batched and axis != 1:
        call.refuse(f"axis={axis} joins samples and elements", call.one_by_one(value, cure="use axis=1"))
    if value.batched:
        return call.reshape(value, (prod(value.shape),))
    return call.reshape(value, (prod(value.shape[:axis]), prod(value.shape[axis:])))


@operator(TABLE, "Squeeze", axes=None)
def _squeeze(call: Call) -> Results:
    value = call.operand(0)
    found = call.integers(1) if call.opset >= 13 else call.attribute("axes")
    if isinstance(value, Labels):
        return Labels(position=_squeezed(call, value.position, found), labels=value.labels)
    return _squeezed(call, call.as_tensor(value), found)


def _squeezed(call: Call, value: Tensor, given: Sequence[int] | None) -> Tensor:
    if given is None:
        over = [at for at, extent in enumerate(value.shape) if extent == 1]
    else:
        over = call.axes(value, given)
    if any(value.shape[at] != 1 for at in over):
        call.refuse("it leaves out an axis whose extent is not 1", "use Reshape")
    return call.reshape(value, tuple(n for at, n in enumerate(value.shape) if at not in over))


@operator(TABLE, "Unsqueeze", axes=None)
def _unsqueeze(call: Call) -> Results:
    value = call.tensor(0)
    given = call.integers(1) if call.opset >= 13 else call.attribute("axes")
    rank = value.rank + len(given or ())
    places = call.places(given or (), rank, "a result")
    if value.batched and 0 in places:
        call.refuse("a new axis in front of the samples", call.one_by_one(value))
    rest = iter(((1,) if value.batched else ()) + value.shape)
    shape = tuple(1 if at in places else next(rest) for at in range(rank))
    return call.reshape(value, shape[1:] if value.batched else shape)


@operator(TABLE, "Transpose", perm=None)
def _transpose(call: Call) -> Results:
    value = call.tensor(0)
    order = [int(each) for each in call.attribute("perm") or reversed(range(value.rank))]
    if sorted(order) != list(range(value.rank)):
        call.refuse(f"perm={order} is no order of {value.rank} axes", f"name each of 0 to {value.rank - 1} once")
    if value.batched:
        if order[0]:
            call.refuse("it moves the axis of the samples", call.one_by_one(value))
        order = [each - 1 for each in order[1:]]
    places = axes(len(order))
    node = contract(
        tuple(value.shape[each] for each in order),
        [places[each] for each in order],
        [read(value.node, places, call.span)],
        aggregation="assign",
        span=call.span,
    )
    return Tensor(node=node, batched=value.batched)


@operator(TABLE, "Concat", axis=REQUIRED)
def _concat(call: Call) -> Results:
    nodes, batched = _parts(call)
    rank = len(nodes[0].shape) + batched
    over = call.axis(Tensor(node=nodes[0], batched=batched), call.integer("axis"))
    total, shapes = sum(node.shape[over] for node in nodes), {_others(node, over) for node in nodes}
    if len(shapes) > 1:
        call.refuse(f"its operands differ along another axis than {over + batched}", f"all {rank} others must be equal")
    shape = (*nodes[0].shape[:over], total, *nodes[0].shape[over + 1 :])
    result: tile.Node | None = None
    start = 0
    for node in nodes:
        part = _placed(node, shape, over, start, call.span)
        result = part if result is None else made("add", result, part, span=call.span)
        start += node.shape[over]
    assert result is not None
    return Tensor(node=result, batched=batched)


def _parts(call: Call) -> tuple[list[tile.Node], bool]:
    """Return the operands of one rank, without the axis of samples. A known array is the same for all samples."""
    values = [call.tensor(at) for at in range(len(call.values))]
    batched = any(value.batched for value in values)
    nodes = []
    for at, value in enumerate(values):
        if value.rank != values[0].rank:
            call.refuse(f"its operands have {values[0].rank} and {value.rank} axes", "all must have the same number")
        if batched and not value.batched:
            if value.shape[:1] != (1,):
                call.refuse(f"'{call.node.inputs[at]}' has no axis of samples", "its first extent must be 1")
            nodes.append(reshaped(value.node, value.shape[1:], call.span))
        else:
            nodes.append(value.node)
    return nodes, batched


def _others(node: tile.Node, over: int) -> tile.Shape:
    return (*node.shape[:over], *node.shape[over + 1 :])


def _placed(node: tile.Node, shape: tile.Shape, over: int, start: int, span: Span | None) -> tile.Contraction:
    """Return zeros of a shape in which a tensor stands, moved along an axis."""
    places = axes(len(shape))
    write = [form({f"i{at}": 1}, start if at == over else 0) for at in range(len(shape))]
    return contract(shape, write, [read(node, places, span)], aggregation="assign", span=span)


@operator(TABLE, "Pad", mode="constant", pads=None, value=0.0)
def _pad(call: Call) -> Results:
    value, mode = call.tensor(0), call.choice("mode", "constant", "reflect", "edge", "wrap")
    pads = [int(each) for each in call.attribute("pads") or ()] if call.opset < 11 else call.integers(1) or []
    fill = float(call.attribute("value")) if call.opset < 11 else call.real(2) or 0.0
    over = call.integers(3)
    listed = call.places(range(value.rank) if over is None else over, value.rank, "a tensor")
    if len(pads) != 2 * len(listed):
        call.refuse(f"pads has {len(pads)} numbers for {len(listed)} axes", "give two for each axis")
    before = dict(zip(listed, pads[: len(listed)], strict=True))
    after = dict(zip(listed, pads[len(listed) :], strict=True))
    node = value.node
    ends = {}
    for axis in sorted(before):
        if before[axis] or after[axis]:
            ends[call.axis(value, axis)] = (before[axis], after[axis])
    if mode == "constant":
        node = _filled_around(call, node, ends, fill)
    else:
        for at, (first, last) in ends.items():
            node = _continued(call, node, at, first, last, mode)
    return Tensor(node=node, batched=value.batched)


def _filled_around(call: Call, node: tile.Node, ends: dict[int, tuple[int, int]], fill: float) -> tile.Node:
    """Return a tensor with a number around it. A negative padding cuts."""
    if not ends:
        return node
    shape = tuple(extent + sum(ends.get(at, (0, 0))) for at, extent in enumerate(node.shape))
    if min(shape) < 1:
        call.refuse("it leaves no elements", "pad less")
    write = [form({f"i{at}": 1}, ends.get(at, (0, 0))[0]) for at in range(len(shape))]
    made_of = contract(shape, write, [read(node, axes(len(shape)), call.span)], aggregation="assign", span=call.span)
    if not fill:
        return made_of
    return started(made_of, Start(values=number(fill, span=call.span), joins=False, span=call.span))


def _continued(call: Call, node: tile.Node, at: int, first: int, last: int, mode: str) -> tile.Node:
    """Return a tensor that goes on beyond its ends along an axis, as the mode says: three parts that are added."""
    extent = node.shape[at]
    reach = extent - (mode == "reflect") if mode != "edge" else max(first, last)
    if min(first, last) < 0 or max(first, last) > reach:
        call.refuse(f"mode={mode} with pads {first} and {last} for {extent} elements", f"use 0 to {reach}")
    shape = (*node.shape[:at], extent + first + last, *node.shape[at + 1 :])
    result: tile.Node = _placed(node, shape, at, first, call.span)
    before = {"reflect": form({"e": -1}, first), "edge": fixed(0), "wrap": form({"e": 1}, extent - first)}
    after = {"reflect": form({"e": -1}, extent - 2), "edge": fixed(extent - 1), "wrap": form({"e": 1})}
    for count, start, place in ((first, 0, before[mode]), (last, first + extent, after[mode])):
        if count:
            write, source = list(axes(len(shape))), list(axes(len(shape)))
            write[at], source[at] = form({"e": 1}, start), place
            end = contract(
                shape, write, [read(node, source, call.span)],
                aggregation="assign", constraints=[within(form({"e": 1}), count)], span=call.span,
            )  # fmt: skip
            result = made("add", result, end, span=call.span)
    return result
