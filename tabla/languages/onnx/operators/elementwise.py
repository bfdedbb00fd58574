"""Operators on every element, and those that change nothing."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla.languages.onnx.call import REQUIRED, Call, Results
from tabla.languages.onnx.operators.registry import Table, operator
from tabla.languages.onnx.tiles import made, number
from tabla.languages.onnx.values import Known, Labels, Tensor, Value
from tabla.languages.tile import program as tile

TABLE: Table = {}
_TEXT, _INTEGERS, _FLOATS, _BOOLEAN = 8, (2, 3, 4, 5, 6, 7, 12, 13), (1, 10, 11, 16), 9


def _register(name: str, of: tile.Operator, count: int) -> None:
    """Register an operator with so many operands that an operator of Tile computes."""

    def function(call: Call) -> Results:
        return call.elementwise(of, *(call.operand(at) for at in range(count)))

    operator(TABLE, name)(function)


for _name, _of, _count in (
    ("Add", "add", 2),
    ("Sub", "subtract", 2),
    ("Mul", "multiply", 2),
    ("Sqrt", "square_root", 1),
    ("Tanh", "hyperbolic_tangent", 1),
    ("Exp", "exponential", 1),
    ("Log", "logarithm", 1),
    ("Neg", "negate", 1),
    ("Abs", "absolute", 1),
    ("Erf", "error_function", 1),
    ("Softplus", "soft_plus", 1),
    ("Equal", "equal", 2),
    ("Greater", "greater", 2),
    ("GreaterOrEqual", "greater_equal", 2),
    ("Less", "less", 2),
    ("LessOrEqual", "less_equal", 2),
    ("Where", "select", 3),
):
    _register(_name, _of, _count)  # type: ignore[arg-type]


@operator(TABLE, "Div")
def _div(call: Call) -> Results:
    call.refuse_integers(call.operand(0), call.operand(1))
    return call.elementwise("divide", call.operand(0), call.operand(1))


@operator(TABLE, "Sigmoid")
def _sigmoid(call: Call) -> Results:
    value = call.tensor(0)
    found = call.elementwise("sigmoid", value)
    call.program.decided(call.node.outputs[0], value, found)
    return found


@operator(TABLE, "Relu")
def _relu(call: Call) -> Results:
    return call.elementwise("maximum", call.operand(0), 0)


@operator(TABLE, "LeakyRelu", alpha=0.01)
def _leaky_relu(call: Call) -> Results:
    value = call.operand(0)
    scaled = call.elementwise("multiply", value, float(call.attribute("alpha")))
    below = call.elementwise("less", value, 0)
    return call.elementwise("select", below, scaled, value)


@operator(TABLE, "PRelu")
def _prelu(call: Call) -> Results:
    value = call.tensor(0)
    below = call.elementwise("less", value, 0)
    return call.elementwise("select", below, call.elementwise("multiply", value, call.operand(1)), value)


@operator(TABLE, "Elu", alpha=1.0)
def _elu(call: Call) -> Results:
    value, alpha = call.tensor(0), float(call.attribute("alpha"))
    powers = call.elementwise("exponential", call.elementwise("minimum", value, 0))
    bent = call.elementwise("multiply", call.elementwise("subtract", powers, 1), alpha)
    return call.elementwise("select", call.elementwise("less", value, 0), bent, value)


@operator(TABLE, "Gelu", approximate="none")
def _gelu(call: Call) -> Results:
    value = call.tensor(0)
    if call.choice("approximate", "none", "tanh") == "none":
        bent = call.elementwise("error_function", call.elementwise("multiply", value, sqrt(1 / 2)))
    else:
        cubes = call.elementwise("multiply", call.elementwise("multiply", value, value), value)
        inner = call.elementwise("add", value, call.elementwise("multiply", cubes, 0.044715))
        bent = call.elementwise("hyperbolic_tangent", call.elementwise("multiply", inner, sqrt(2 / pi)))
    half = call.elementwise("multiply", value, 0.5)
    return call.elementwise("add", half, call.elementwise("multiply", half, bent))


@operator(TABLE, "HardSigmoid", alpha=0.2, beta=0.5)
def _hard_sigmoid(call: Call) -> Results:
    return _ramp(call, float(call.attribute("alpha")), float(call.attribute("beta")))


@operator(TABLE, "HardSwish")
def _hard_swish(call: Call) -> Results:
    return call.elementwise("multiply", call.operand(0), _ramp(call, 1 / 6, 0.5))


def _ramp(call: Call, slope: float, middle: float) -> Tensor:
    """Return a line that ends at 0 and at 1."""
    line = call.elementwise("add", call.elementwise("multiply", call.operand(0), slope), middle)
    return call.elementwise("maximum", call.elementwise("minimum", line, 1), 0)


@operator(TABLE, "Reciprocal")
def _reciprocal(call: Call) -> Results:
    return call.elementwise("divide", 1, call.operand(0))


def _register_of_several(name: str, of: tile.Operator) -> None:
    def function(call: Call) -> Results:
        found: Value = call.operand(0)
        for at in range(1, len(call.values)):
            found = call.elementwise(of, found, call.operand(at))
        return found

    operator(TABLE, name)(function)


_register_of_several("Max", "maximum")
_register_of_several("Min", "minimum")
_register_of_several("Sum", "add")


@operator(TABLE, "Clip", min=None, max=None)
def _clip(call: Call) -> Results:
    low = call.attribute("min") if call.opset < 11 else call.real(1, limit=True)
    high = call.attribute("max") if call.opset < 11 else call.real(2, limit=True)
    value: Value = call.tensor(0)
    for operation, limit in (("maximum", low), ("minimum", high)):
        if limit is not None and abs(limit) < np.finfo(np.float32).max:
            value = call.elementwise(operation, value, float(limit))  # type: ignore[arg-type]
    return value


@operator(TABLE, "Pow")
def _pow(call: Call) -> Results:
    exponents = call.known(1).array
    if exponents.dtype.kind not in "biuf" or not np.isfinite(exponents).all():
        call.refuse("its exponent is no finite number", "give a finite number")
    if not exponents.size or (exponents != exponents.reshape(-1)[0]).any():
        call.refuse("its exponents differ", "give one exponent, and a node for each of several")
    exponent, value = exponents.reshape(-1)[0].item(), call.operand(0)
    nodes, batched = call.aligned(value, call.known(1))
    if nodes[0].kind == "integer":
        if exponent < 0:
            call.refuse_integers(value)
        if exponent != int(exponent):
            call.refuse("the machine would not round such powers of integers", "cast to float first")
        nodes[1] = number(int(exponent), "integer", call.span)
    return Tensor(node=made("power", *nodes, span=call.span), batched=batched)


@operator(TABLE, "Identity")
def _identity(call: Call) -> Results:
    return call.operand(0)


@operator(TABLE, "Dropout", ratio=0.5, seed=None)
def _dropout(call: Call) -> Results:
    training = call.given(2)
    if training is not None and (not isinstance(training, Known) or bool(training.array.any())):
        call.refuse("it drops elements while it learns", "export the model for inference: model.eval()")
    return call.operand(0)


@operator(TABLE, "Cast", to=REQUIRED, saturate=1, round_mode="up")
def _cast(call: Call) -> Results:
    value, to = call.operand(0), call.integer("to")
    if isinstance(value, Labels):
        return Labels(position=value.position, labels=_cast_labels(call, value.labels, to))
    tensor = call.as_tensor(value)
    kind: tile.Kind
    if to in _FLOATS:
        kind = "float"
    elif to in _INTEGERS:
        kind = "integer"
    elif to == _BOOLEAN:
        kind = "boolean"
    else:
        call.refuse(f"a cast to the type {to} of ONNX is not there", "cast to a type of real numbers or integers")
    if tensor.node.kind == kind:
        return tensor
    return Tensor(node=made("cast", tensor.node, span=call.span, kind=kind), batched=tensor.batched)


def _cast_labels(call: Call, labels: NDArray[Any], to: int) -> NDArray[Any]:
    try:
        if to == _TEXT:
            return labels.astype(str)
        return labels.astype(np.int64 if to in _INTEGERS else np.float64)
    except ValueError:
        call.refuse("its labels are texts, which are no numbers", "leave the cast out")


@operator(TABLE, "Shape", start=0, end=None)
@operator(TABLE, "Constant", value=None, value_float=None, value_floats=None, value_int=None, value_ints=None)
@operator(TABLE, "ConstantOfShape", value=None)
def _known(call: Call) -> Results:
    call.known(0)
    raise AssertionError("a node whose operands are known is computed when the model is read")
