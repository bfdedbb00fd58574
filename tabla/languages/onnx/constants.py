"""Nodes whose operands are all known: their results are known, too, and are computed when the model is read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla.languages.onnx.call import Call
from tabla.languages.onnx.model import DEFAULT
from tabla.languages.onnx.values import Known, Value

_BROUGHT = {"Constant", "ConstantOfShape"}


def computed(call: Call) -> tuple[Value | None, ...] | None:
    """Return the results of a node that reads no samples, and None for any other node."""
    known = [value for value in call.values if value is not None]
    if call.node.operator == "Shape":
        return (_shape(call),)
    if not all(isinstance(value, Known) for value in known) or call.node.domain != DEFAULT:
        return None
    if not known and call.node.operator not in _BROUGHT:
        return None
    arrays = [value.array if isinstance(value, Known) else None for value in call.values]
    found = _evaluated(call, arrays)
    return tuple(
        Known(name=name, array=np.asarray(array)) for name, array in zip(call.node.outputs, found, strict=False)
    )


def _shape(call: Call) -> Known:
    """Return the extents of a tensor. There is one sample."""
    value = call.operand(0)
    match value:
        case Known(array=array):
            extents = array.shape
        case _:
            tensor = call.as_tensor(value)
            extents = (1,) * tensor.batched + tensor.shape
    end = call.attribute("end")
    found = extents[slice(call.integer("start"), None if end is None else int(end))]
    return Known(name=call.node.outputs[0], array=np.array(found, dtype=np.int64))


def _evaluated(call: Call, arrays: list[NDArray[Any] | None]) -> list[NDArray[Any]]:
    """Evaluate one node by the reference evaluator of ONNX."""
    from onnx import AttributeProto, TensorProto, helper
    from onnx.reference import ReferenceEvaluator

    node = call.node
    made = helper.make_node(node.operator, list(node.inputs), list(node.outputs))
    for name, value in node.attributes.items():
        # Nothing tells of what an empty list is; those of operators are lists of integers.
        kind = AttributeProto.INTS if isinstance(value, tuple) and not value else None
        given = helper.make_attribute(name, _attribute(value), attr_type=kind)
        made.attribute.append(given)
    inputs = {name: array for name, array in zip(node.inputs, arrays, strict=True) if array is not None}
    graph = helper.make_graph(
        [made],
        "constant",
        [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None) for name in inputs],
        [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None) for name in node.outputs if name],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", call.opset)])
    try:
        with np.errstate(all="ignore"):  # numbers that are not finite are told where they are used
            return list(ReferenceEvaluator(model).run(None, inputs))
    except Exception as fault:  # whatever the evaluator raises is about this node
        call.refuse(f"it cannot be computed of constants: {fault}", "export the model anew")


def _attribute(value: object) -> object:
    from onnx import numpy_helper

    if isinstance(value, np.ndarray):
        return numpy_helper.from_array(value)
    return list(value) if isinstance(value, tuple) else value
