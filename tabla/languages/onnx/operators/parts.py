"""Operators that take parts of a tensor whose places are known: slices, rows by number, and splits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tabla.base.source import Span
from tabla.languages.onnx.call import Call, Results
from tabla.languages.onnx.operators.registry import Table, operator
from tabla.languages.onnx.tiles import axes, contract, fixed, form, made, read, within
from tabla.languages.onnx.values import Tensor
from tabla.languages.tile import program as tile

TABLE: Table = {}
_NO_END = (1 << 31) - 1
"""Exporters write this end, or that of 64 bits, for all elements. A smaller one would leave out samples."""


@operator(TABLE, "Slice", starts=None, ends=None, axes=None)
def _slice(call: Call) -> Results:
    value = call.tensor(0)
    if call.opset < 10:
        starts, ends, over = (call.attribute(name) for name in ("starts", "ends", "axes"))
        steps = None
    else:
        starts, ends, over, steps = (call.integers(at) for at in range(1, 5))
    count = len(starts or ())
    over = list(range(count)) if over is None else list(over)
    steps = [1] * count if steps is None else steps
    if not len(over) == len(steps) == len(ends or ()) == count or 0 in steps:
        call.refuse("its starts, ends, axes and steps do not fit together", "give one of each for an axis")
    node = value.node
    for start, end, which, step in zip(starts or (), ends or (), over, steps, strict=True):
        if which % value.rank == 0 and value.batched and (start, step) == (0, 1) and end >= _NO_END:
            continue  # all samples
        at = call.axis(value, which)
        chosen = range(node.shape[at])[slice(start, None if step < 0 and end < -node.shape[at] else end, step)]
        node = _part(call, node, at, chosen)
    return Tensor(node=node, batched=value.batched)


@operator(TABLE, "Split", axis=0, split=None, num_outputs=None)
def _split(call: Call) -> Results:
    value = call.tensor(0)
    at = call.axis(value, call.integer("axis"))
    extent, count = value.shape[at], len(call.node.outputs)
    if call.attribute("num_outputs") not in (None, count):
        call.refuse(f"num_outputs={call.attribute('num_outputs')} and {count} results", "both must be equal")
    given = call.attribute("split") if call.opset < 13 else call.integers(1)
    each = -(-extent // count)
    sizes = [min(each, extent - each * n) for n in range(count)] if given is None else [int(size) for size in given]
    if len(sizes) != count or min(sizes) < 1 or sum(sizes) != extent:
        call.refuse(f"{extent} elements do not split into {sizes}", f"give {count} sizes, of which none is 0")
    ends = np.cumsum(sizes).tolist()
    nodes = [_part(call, value.node, at, range(end - size, end)) for size, end in zip(sizes, ends, strict=True)]
    return tuple(Tensor(node=node, batched=value.batched) for node in nodes)


@operator(TABLE, "Gather", axis=0)
def _gather(call: Call) -> Results:
    value, places = call.tensor(0), call.known(1).array
    at = call.axis(value, call.integer("axis"))
    extent = value.shape[at]
    if places.dtype.kind not in "iu":
        call.refuse(f"its operand '{call.node.inputs[1]}' holds no integers", "make it int64")
    if places.ndim > 1 or not places.size:
        call.refuse(f"its indices have the shape {list(places.shape)}", "give one number, or a list of them")
    chosen = [int(each) for each in places.reshape(-1)]
    if wrong := [each for each in chosen if not -extent <= each < extent]:
        call.refuse(f"index {wrong[0]} of an axis of {extent} elements", f"use {-extent} to {extent - 1}")
    chosen = [each % extent for each in chosen]
    if places.ndim:
        return Tensor(node=_part(call, value.node, at, chosen), batched=value.batched)
    kept = axes(len(value.shape))
    source = [fixed(chosen[0]) if axis == at else place for axis, place in enumerate(kept)]
    write = [place for axis, place in enumerate(kept) if axis != at]
    shape = (*value.shape[:at], *value.shape[at + 1 :])
    node = contract(shape, write, [read(value.node, source, call.span)], aggregation="assign", span=call.span)
    return Tensor(node=node, batched=value.batched)


def _part(call: Call, node: tile.Node, at: int, chosen: Sequence[int]) -> tile.Node:
    """Return the elements at some places of an axis, in their order."""
    if not chosen:
        call.refuse("it leaves no elements", "take at least one")
    if list(chosen) == list(range(node.shape[at])):
        return node
    shape = (*node.shape[:at], len(chosen), *node.shape[at + 1 :])
    result: tile.Node | None = None
    for start, run in _runs(chosen):
        part = _run(node, shape, at, start, run, call.span)
        result = part if result is None else made("add", result, part, span=call.span)
    assert result is not None
    return result


def _runs(chosen: Sequence[int]) -> list[tuple[int, range]]:
    """Return numbers as ranges. With each range comes the place of its first number among all of them."""
    found, start = [], 0
    while start < len(chosen):
        end = start + 1
        step = chosen[end] - chosen[start] if end < len(chosen) else 1
        while step and end < len(chosen) and chosen[end] - chosen[end - 1] == step:
            end += 1
        last = chosen[end - 1] + (step or 1) // abs(step or 1)
        found.append((start, range(chosen[start], last, step or 1)))
        start = end
    return found


def _run(node: tile.Node, shape: tile.Shape, at: int, start: int, run: range, span: Span | None) -> tile.Contraction:
    """Return zeros of a shape in which the elements of a range of places stand, from `start` on along an axis."""
    write, source = list(axes(len(shape))), list(axes(len(shape)))
    write[at], source[at] = form({"e": 1}, start), form({"e": run.step}, run.start)
    alone = len(run) == shape[at]
    return contract(
        shape, write, [read(node, source, span)],
        aggregation="assign", constraints=[] if alone else [within(form({"e": 1}), len(run))], span=span,
    )  # fmt: skip
