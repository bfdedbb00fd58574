"""The operators for machine learning, which the models of scikit-learn become."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla.languages.onnx.call import REQUIRED, Call, Results
from tabla.languages.onnx.model import MACHINE_LEARNING
from tabla.languages.onnx.operators.distributions import softmax
from tabla.languages.onnx.operators.registry import Table, operator
from tabla.languages.onnx.tiles import axis, chosen, contract, largest_of, made, number, pair, read, reduced, reshaped
from tabla.languages.onnx.values import Known, Labels, Tensor
from tabla.languages.tile import program as tile

TABLE: Table = {}
_DISTRIBUTIONS = ("Softmax", "LinearClassifier")


def _linear(call: Call, rows: int) -> tile.Node:
    """Return one score for each row of the attribute `coefficients`, with the intercepts."""
    value = call.sample(0, 2)
    name = call.node.name or call.node.operator
    coefficients = np.asarray(call.attribute("coefficients"), dtype=np.float64)
    if coefficients.size != rows * value.shape[0]:
        call.refuse(
            f"{coefficients.size} coefficients are not {rows} rows for {value.shape[0]} features",
            "export the model anew",
        )
    weights = call.program.new(f"{name}.coefficients", coefficients.reshape(rows, -1))
    reads = [read(value.node, [axis("k")], call.span), read(call.model(weights), [axis("n"), axis("k")], call.span)]
    scores: tile.Node = contract((rows,), [axis("n")], reads, span=call.span)
    intercepts = call.attribute("intercepts")
    if intercepts is None or not len(intercepts):
        return scores
    if len(intercepts) != rows:
        call.refuse(f"{len(intercepts)} intercepts for {rows} rows of coefficients", "export the model anew")
    addends = call.program.new(f"{name}.intercepts", np.asarray(intercepts, dtype=np.float64))
    return made("add", scores, call.model(addends), span=call.span)


@operator(
    TABLE, "LinearRegressor", domain=MACHINE_LEARNING,
    coefficients=REQUIRED, intercepts=None, post_transform="NONE", targets=1,
)  # fmt: skip
def _linear_regressor(call: Call) -> Results:
    call.choice("post_transform", "NONE")
    return Tensor(node=_linear(call, call.integer("targets")), batched=True)


@operator(
    TABLE, "LinearClassifier", domain=MACHINE_LEARNING,
    classlabels_ints=None, classlabels_strings=None, coefficients=REQUIRED, intercepts=None, multi_class=0,
    post_transform="NONE",
)  # fmt: skip
def _linear_classifier(call: Call) -> Results:
    labels, value = _labels(call), call.sample(0, 2)
    rows, rest = divmod(len(call.attribute("coefficients")), value.shape[0])
    if rest or (rows, len(labels)) not in ((1, 2), (len(labels), len(labels))) or rows == len(labels) == 1:
        call.refuse(
            f"{rows} rows of coefficients for {len(labels)} labels",
            "give a row for each label, or one row for two labels",
        )
    scores, transform = _linear(call, rows), call.choice("post_transform", "NONE", "LOGISTIC", "SOFTMAX")
    position = largest_of(scores, 0, span=call.span) if rows > 1 else _above(call, scores)
    both = scores if rows > 1 else pair(made("negate", scores, span=call.span), scores, call.span)
    if rows == 1 and transform == "LOGISTIC":
        chance = made("sigmoid", scores, span=call.span)
        found = pair(made("subtract", number(1, span=call.span), chance, span=call.span), chance, call.span)
    else:
        match transform:
            case "LOGISTIC":
                found = made("sigmoid", both, span=call.span)
            case "SOFTMAX":
                found = softmax(both, 0, call.span)
            case _:
                found = both
    place, result = Tensor(node=reshaped(position, (), call.span), batched=True), Tensor(node=found, batched=True)
    if transform != "NONE":
        call.program.decided(call.node.outputs[1], Tensor(node=both, batched=True), result)
    return Labels(position=place, labels=labels), result


def _labels(call: Call) -> NDArray[Any]:
    texts, integers = call.attribute("classlabels_strings"), call.attribute("classlabels_ints")
    if not texts and not integers:
        call.refuse("it has no labels", "export the model anew")
    return np.array(texts, dtype=str) if texts else np.array(integers, dtype=np.int64)


def _above(call: Call, score: tile.Node) -> tile.Node:
    """Return 1 where a score is above 0, else 0."""
    return made(
        "cast", made("greater", score, number(0, span=call.span), span=call.span), span=call.span, kind="integer"
    )


@operator(TABLE, "Normalizer", domain=MACHINE_LEARNING, norm="MAX")
def _normalizer(call: Call) -> Results:
    norm, value = call.choice("norm", "MAX", "L1", "L2"), call.sample(0, 2)
    source = call.source(0)
    if norm == "L1" and source is not None and source.operator in _DISTRIBUTIONS and _sums_to_one(source.attributes):
        return value  # its sum is 1 already
    node = value.node
    magnitudes = (
        made("multiply", node, node, span=call.span) if norm == "L2" else made("absolute", node, span=call.span)
    )
    total = reduced(magnitudes, [0], aggregation="max" if norm == "MAX" else "sum", span=call.span)
    if norm == "L2":
        total = made("square_root", total, span=call.span)
    # Elements that are all 0 stay 0.
    zero, one = number(0, span=call.span), number(1, span=call.span)
    divisor = made("select", made("equal", total, zero, span=call.span), one, total, span=call.span)
    return Tensor(node=made("divide", node, divisor, span=call.span), batched=True)


def _sums_to_one(attributes: Any) -> bool:
    return bool(attributes.get("post_transform", "SOFTMAX") == "SOFTMAX")


@operator(TABLE, "Scaler", domain=MACHINE_LEARNING, offset=REQUIRED, scale=REQUIRED)
def _scaler(call: Call) -> Results:
    value = call.sample(0, 2)
    offset, scale = (np.asarray(call.attribute(name), dtype=np.float64) for name in ("offset", "scale"))
    for array in (offset, scale):
        if array.shape not in ((1,), value.shape):
            call.refuse(
                f"{array.size} numbers for {value.shape[0]} features", "give one for each feature, or one for all"
            )
    if (scale > 0).all() and (found := call.program.standardised(value, offset, 1 / scale)) is not None:
        return found
    name = call.node.name or call.node.operator
    moved = call.elementwise("subtract", value, call.program.new(f"{name}.offset", offset))
    return call.elementwise("multiply", moved, call.program.new(f"{name}.scale", scale))


@operator(TABLE, "ZipMap", domain=MACHINE_LEARNING, classlabels_int64s=None, classlabels_strings=None)
def _zip_map(call: Call) -> Results:
    # The host has the numbers of all classes in an array, in the order of the labels.
    return call.tensor(0)


@operator(TABLE, "ArrayFeatureExtractor", domain=MACHINE_LEARNING)
def _array_feature_extractor(call: Call) -> Results:
    data, places = call.operand(0), call.operand(1)
    if isinstance(data, Known) and not isinstance(places, Known):
        if data.array.ndim > 1 and data.array.shape[:-1] != (1,) * (data.array.ndim - 1):
            call.refuse("it looks up rows of a matrix", "use an array of one axis")
        return Labels(position=call.as_tensor(places), labels=data.array.reshape(-1))
    value, numbers = call.sample(0), call.integers(1) or []
    extent = value.shape[-1] if value.shape else 1
    if not value.shape or not numbers or not all(0 <= each < extent for each in numbers):
        call.refuse(f"features {numbers} of {extent}", f"use 0 to {extent - 1}")
    return Tensor(node=chosen(value.node, len(value.shape) - 1, numbers, call.span), batched=True)
