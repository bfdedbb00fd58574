"""Sums, means and extremes over axes, and normalisation by known figures."""

from __future__ import annotations

import numpy as np

from tabla.languages.onnx.call import Call, Results
from tabla.languages.onnx.merging import figures
from tabla.languages.onnx.operators.registry import Table, operator
from tabla.languages.onnx.operators.windows import mean_of
from tabla.languages.onnx.tiles import reduced
from tabla.languages.onnx.values import Tensor
from tabla.languages.tile import program as tile

TABLE: Table = {}


def _over(call: Call, value: Tensor, inputs_since: int) -> tuple[list[int], bool]:
    """Return the axes of a reduction, and whether they stay with extent 1."""
    given = call.integers(1) if call.opset >= inputs_since else call.attribute("axes")
    keep = bool(call.integer("keepdims"))
    if given is None or not len(given):
        if call.attribute("noop_with_empty_axes"):
            return [], keep
        if value.batched:
            hint = call.one_by_one(value, cure="name the axes, from 1 on")
            call.refuse("it reduces over the samples, because it names no axes", hint)
        return list(range(len(value.shape))), keep
    return call.axes(value, given), keep


@operator(TABLE, "ReduceMean", axes=None, keepdims=1, noop_with_empty_axes=0)
def _reduce_mean(call: Call) -> Results:
    value = call.tensor(0)
    over, keep = _over(call, value, 18)
    return Tensor(node=mean_of(call, value.node, over, keep=keep), batched=value.batched)


@operator(TABLE, "ReduceSum", axes=None, keepdims=1, noop_with_empty_axes=0)
def _reduce_sum(call: Call) -> Results:
    value = call.tensor(0)
    over, keep = _over(call, value, 13)
    return Tensor(node=reduced(value.node, over, keep=keep, span=call.span), batched=value.batched)


def _extreme(name: str, aggregation: tile.Aggregation) -> None:
    def function(call: Call) -> Results:
        value = call.tensor(0)
        over, keep = _over(call, value, 18)
        node = reduced(value.node, over, aggregation=aggregation, keep=keep, span=call.span)
        return Tensor(node=node, batched=value.batched)

    operator(TABLE, name, axes=None, keepdims=1, noop_with_empty_axes=0)(function)


_extreme("ReduceMax", "max")
_extreme("ReduceMin", "min")


@operator(TABLE, "BatchNormalization", epsilon=1e-5, momentum=0.9, spatial=1, training_mode=0)
def _batch_normalization(call: Call) -> Results:
    if call.integer("training_mode"):
        call.refuse("it takes its figures from the samples of a batch", "export the model for inference: model.eval()")
    call.choice("spatial", 1)
    value = call.sample(0)
    known = [call.known(at) for at in range(1, 5)]
    channels = value.shape[0] if value.shape else 1
    for at, each in enumerate(known):
        if each.array.shape != (channels,):
            call.refuse(f"its operand {at + 1} has shape {list(each.array.shape)}", f"give {channels} numbers")
    if not all(each.array.dtype.kind in "iuf" and np.isfinite(each.array).all() for each in known):
        call.refuse("its operands have numbers that are not finite", "export the model anew")
    if (known[3].array + call.attribute("epsilon") <= 0).any():
        call.refuse("a variance with epsilon is not above 0", "export the model anew")
    factors, addends = figures([each.array for each in known], float(call.attribute("epsilon")))
    name = call.node.outputs[0]
    shape = (1, channels, *[1] * (value.rank - 2))
    # Two arrays are left of the four.
    multiplied = call.elementwise("multiply", value, call.program.new(f"{name}.factors", factors.reshape(shape)))
    return call.elementwise("add", multiplied, call.program.new(f"{name}.addends", addends.reshape(shape)))
