"""Softmax, and the position of the largest element."""

from __future__ import annotations

from math import prod

from tabla.base.source import Span
from tabla.languages.onnx.call import Call, Results
from tabla.languages.onnx.operators.registry import Table, operator
from tabla.languages.onnx.tiles import largest_of, made, reduced, reshaped
from tabla.languages.onnx.values import Tensor
from tabla.languages.tile import program as tile

TABLE: Table = {}


def softmax(node: tile.Node, over: int, span: Span | None) -> tile.Node:
    """Return exp(x) / sum(exp(x)) along an axis; the largest element is taken from all, so that no power saturates."""
    powers = made("exponential", _below_largest(node, over, span), span=span)
    return made("divide", powers, reduced(powers, [over], span=span), span=span)


def _below_largest(node: tile.Node, over: int, span: Span | None) -> tile.Node:
    return made("subtract", node, reduced(node, [over], aggregation="max", span=span), span=span)


def _axis(call: Call, value: Tensor) -> int:
    """Return the axis of a softmax, without that of the samples."""
    axis = call.attribute("axis")
    first = -1 if call.opset >= 13 else 1
    over = call.axis(value, first if axis is None else int(axis))
    if call.opset < 13 and prod(value.shape[over + 1 :]) > 1:
        call.refuse(
            "before version 13 it runs over all axes from this one on, and evaluators differ about that",
            "convert the model: onnx.version_converter.convert_version(model, 13)",
        )
    return over


@operator(TABLE, "Softmax", axis=None)
def _softmax(call: Call) -> Results:
    value = call.tensor(0)
    over = _axis(call, value)
    found = Tensor(node=softmax(value.node, over, call.span), batched=value.batched)
    call.program.decided(call.node.outputs[0], value, found)
    return found


@operator(TABLE, "LogSoftmax", axis=None)
def _log_softmax(call: Call) -> Results:
    value, span = call.tensor(0), call.span
    over = _axis(call, value)
    below = _below_largest(value.node, over, span)
    whole = reduced(made("exponential", below, span=span), [over], span=span)
    return Tensor(node=made("subtract", below, made("logarithm", whole, span=span), span=span), batched=value.batched)


@operator(TABLE, "ArgMax", axis=0, keepdims=1, select_last_index=0)
def _argmax(call: Call) -> Results:
    value = call.tensor(0)
    over = call.axis(value, call.integer("axis"))
    node = largest_of(value.node, over, last=bool(call.integer("select_last_index")), span=call.span)
    if not call.integer("keepdims"):
        node = reshaped(node, tuple(n for at, n in enumerate(node.shape) if at != over), call.span)
    return Tensor(node=node, batched=value.batched)
