"""Operators over windows: convolution and pooling, along one axis, two or more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from tabla.languages.onnx.call import Call, Results
from tabla.languages.onnx.operators.registry import Table, operator
from tabla.languages.onnx.tiles import axes, axis, contract, factor, form, made, read, reduced, within
from tabla.languages.onnx.values import LARGEST, Tensor
from tabla.languages.tile import program as tile

TABLE: Table = {}
_PADDING = ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Where the windows lie along one axis: output y reads ``stride * y + dilation * k - before`` for k < extent.

    `inputs` and `outputs` are extents. `after` is the padding behind the end.
    """

    inputs: int
    outputs: int
    extent: int
    stride: int
    dilation: int
    before: int
    after: int

    def place(self, at: int) -> tile.Subscript:
        """Return the subscript of what is read. The index variables end with the number of the axis."""
        return form({f"y{at}": self.stride, f"k{at}": self.dilation}, -self.before)

    def counts(self, *, padding: bool) -> NDArray[np.int64]:
        """Return for each output how many elements of its window there are, with those of the padding if it counts."""
        places = self.stride * np.arange(self.outputs)[:, None] + self.dilation * np.arange(self.extent) - self.before
        low, high = (-self.before, self.inputs + self.after) if padding else (0, self.inputs)
        return np.asarray(((places >= low) & (places < high)).sum(axis=1), dtype=np.int64)


def windows_of(call: Call, sizes: Sequence[int], kernel: Sequence[int]) -> list[Window]:
    """Return the windows over axes of so many elements, as the attributes of a node say."""
    rank = len(sizes)
    strides, dilations = (_numbers(call, name, [1] * rank) for name in ("strides", "dilations"))
    pads = _numbers(call, "pads", [0] * (2 * rank))
    padding = call.choice("auto_pad", *_PADDING)
    ceil = "ceil_mode" in call.operator.attributes and bool(call.integer("ceil_mode"))
    found = []
    for at, (size, extent, stride, dilation) in enumerate(zip(sizes, kernel, strides, dilations, strict=True)):
        if min(extent, stride, dilation) < 1 or min(pads) < 0:
            call.refuse("a window, a stride or a dilation below 1, or a negative padding", "export the model anew")
        span = dilation * (extent - 1) + 1
        before, after = pads[at], pads[at + rank]
        if padding.startswith("SAME"):
            outputs = -(-size // stride)
            missing = max(0, (outputs - 1) * stride + span - size)
            small, large = missing // 2, missing - missing // 2
            before, after = (small, large) if padding == "SAME_UPPER" else (large, small)
        else:
            if padding == "VALID":
                before = after = 0
            room = size + before + after - span
            outputs = (-(-room // stride) if ceil else room // stride) + 1
            if ceil and (outputs - 1) * stride >= size + before:
                outputs -= 1  # a window that would begin behind the end
        if outputs > LARGEST or extent > LARGEST:
            call.refuse(f"windows of {extent:,} elements in {outputs:,} places", f"the limit of both is {LARGEST:,}")
        if outputs < 1:
            call.refuse(f"a window of {span} elements over {size} has no place", "use a smaller window or more padding")
        found.append(
            Window(inputs=size, outputs=outputs, extent=extent, stride=stride, dilation=dilation,
                   before=before, after=after)
        )  # fmt: skip
    return found


def _numbers(call: Call, name: str, default: list[int]) -> list[int]:
    value = call.attribute(name) if name in call.operator.attributes else None
    found = default if value is None else [int(each) for each in value]
    if len(found) != len(default):
        call.refuse(f"{name} has {len(found)} numbers", f"give {len(default)}")
    return found


def _channels(call: Call) -> Tensor:
    """Return the first operand, whose axes are those of samples, channels, and one or more others."""
    value = call.sample(0)
    return value if value.rank >= 3 else call.sample(0, 3)


@operator(TABLE, "Conv", auto_pad="NOTSET", dilations=None, group=1, kernel_shape=None, pads=None, strides=None)
def _conv(call: Call) -> Results:
    value, weights, groups = _channels(call), call.tensor(1), call.integer("group")
    channels, *sizes = value.shape
    if weights.batched or weights.rank != value.rank:
        call.refuse(
            f"its weights have {weights.rank} axes and its input has {value.rank}",
            "give one array of weights for all samples",
        )
    outputs, own, *kernel = weights.shape
    if groups < 1 or outputs % groups or own * groups != channels:
        call.refuse(
            f"{channels} channels in {groups} groups meet weights of shape {list(weights.shape)}",
            "the second extent of the weights is the channels of a group",
        )
    if _numbers(call, "kernel_shape", list(kernel)) != kernel:
        call.refuse(f"kernel_shape is not that of the weights, {kernel}", "export the model anew")
    windows, inner = windows_of(call, sizes, kernel), range(len(sizes))
    each = outputs // groups
    # With one group, or one channel of output for each, an index variable is enough.
    out = axis("o") if groups == 1 else axis("g") if each == 1 else form({"g": each, "o": 1})
    channel = axis("c") if groups == 1 else form({"g": own, "c": 1})
    constraints = [within(axis("o"), each)] if groups > 1 and each > 1 else []
    node = contract(
        (outputs, *(window.outputs for window in windows)),
        [out, *axes(len(sizes), "y")],
        [
            read(value.node, [channel, *(window.place(at) for at, window in enumerate(windows))], call.span),
            read(weights.node, [out, axis("c"), *(axis(f"k{at}") for at in inner)], call.span),
        ],
        constraints=constraints,
        span=call.span,
    )
    result = Tensor(node=node, batched=True)
    if call.given(2) is None:
        return result
    bias = call.tensor(2)
    if bias.batched or bias.shape != (outputs,):
        call.refuse(f"its bias has shape {list(bias.shape)}", f"give {outputs} numbers")
    return call.biased(result, call.reshape(bias, (outputs, *[1] * len(sizes))))


def _pooled(call: Call, value: Tensor, windows: Sequence[Window], aggregation: tile.Aggregation) -> tile.Node:
    """Aggregate over the windows of each channel. A mean that counts the padding may have a window of nothing else."""
    padding = aggregation == "sum" and bool(call.integer("count_include_pad"))
    if any((window.counts(padding=padding) == 0).any() for window in windows):
        call.refuse("a window lies in the padding alone", "pad less than the size of the window")
    rank = len(windows)
    return contract(
        (value.shape[0], *(window.outputs for window in windows)),
        [axis("c"), *axes(rank, "y")],
        [read(value.node, [axis("c"), *(window.place(at) for at, window in enumerate(windows))], call.span)],
        aggregation=aggregation,
        constraints=[within(axis(f"k{at}"), window.extent) for at, window in enumerate(windows)],
        span=call.span,
    )


@operator(
    TABLE, "MaxPool",
    auto_pad="NOTSET", ceil_mode=0, dilations=None, kernel_shape=None, pads=None, storage_order=0, strides=None,
)  # fmt: skip
def _max_pool(call: Call) -> Results:
    value = _channels(call)
    windows = windows_of(call, value.shape[1:], _kernel(call, value))
    return Tensor(node=_pooled(call, value, windows, "max"), batched=True)


def _kernel(call: Call, value: Tensor) -> list[int]:
    kernel = call.attribute("kernel_shape")
    if kernel is None or len(kernel) != value.rank - 2:
        call.refuse(f"kernel_shape does not fit {value.rank - 2} axes", "give a number for each of them")
    return [int(each) for each in kernel]


@operator(
    TABLE, "AveragePool",
    auto_pad="NOTSET", ceil_mode=0, count_include_pad=0, dilations=None, kernel_shape=None, pads=None, strides=None,
)  # fmt: skip
def _average_pool(call: Call) -> Results:
    value = _channels(call)
    kernel = _kernel(call, value)
    windows = windows_of(call, value.shape[1:], kernel)
    total = _pooled(call, value, windows, "sum")
    mean = made("multiply", total, factor(1, prod(kernel), call.span), span=call.span)
    counts = [window.counts(padding=bool(call.integer("count_include_pad"))) for window in windows]
    if all((each == extent).all() for each, extent in zip(counts, kernel, strict=True)):
        return Tensor(node=mean, batched=True)
    # Fewer elements at the borders: their mean is larger by what is missing.
    ratios = np.ones(())
    for each, extent in zip(counts, kernel, strict=True):
        ratios = ratios[..., None] * (extent / np.maximum(each, 1))
    known = call.program.new(f"{call.node.outputs[0]}.ratios", ratios)
    return Tensor(node=made("multiply", mean, call.model(known), span=call.span), batched=True)


@operator(TABLE, "GlobalAveragePool")
def _global_average_pool(call: Call) -> Results:
    value = _channels(call)
    return Tensor(node=mean_of(call, value.node, range(1, len(value.shape)), keep=True), batched=True)


@operator(TABLE, "GlobalMaxPool")
def _global_max_pool(call: Call) -> Results:
    value = _channels(call)
    node = reduced(value.node, list(range(1, len(value.shape))), aggregation="max", span=call.span)
    return Tensor(node=node, batched=True)


def mean_of(call: Call, node: tile.Node, over: Sequence[int], *, keep: bool) -> tile.Node:
    """Return the mean over some axes."""
    count = prod(node.shape[each] for each in over)
    if count > 1:
        call.refuse_integers(call.operand(0))
    total = reduced(node, list(over), keep=keep, span=call.span)
    return total if count == 1 else made("multiply", total, factor(1, count, call.span), span=call.span)
