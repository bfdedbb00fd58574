"""An ONNX file, or a model in memory, becomes a checked list of nodes. The package onnx reads it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tabla.base.source import TablaError, extra, refuse_pipe
from tabla.languages.onnx.model import DEFAULT, MACHINE_LEARNING, Attribute, Given, Model, Node
from tabla.languages.tile.program import Kind

if TYPE_CHECKING:
    from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TypeProto

OLDEST = 7
"""The oldest version of ONNX's operators that is read: since then operands broadcast as in numpy."""
_KINDS: dict[str, Kind] = {"b": "boolean", "i": "integer", "u": "integer", "f": "float"}


def read_path(path: Path) -> Model:
    """Read the model in a file. What is wrong with the file or the model is a `TablaError`."""
    onnx = _package()
    refuse_pipe(path)
    try:
        data = path.read_bytes()
    except OSError as fault:
        raise TablaError(f"cannot read '{path}': {fault.strerror or fault}", hint="check the path") from None
    try:
        proto = onnx.load_model_from_string(data)
    except Exception as fault:  # protobuf has several kinds of faults, and they differ between its releases
        raise _no_model(str(path), fault) from None
    try:
        onnx.load_external_data_for_model(proto, str(path.parent))
    except Exception as fault:
        hint = "keep the file of the weights beside the model, or save the model with its weights in it"
        raise TablaError(f"cannot read the external data of '{path}': {_line(fault)}", hint=hint) from None
    return read_proto(proto, path.stem, str(path))


def external_files(path: Path) -> list[Path]:
    """Return the files beside a model that hold the numbers of its tensors. A file that is no model has none."""
    onnx = _package()
    try:
        proto = onnx.load_model_from_string(path.read_bytes())
    except Exception:  # whoever reads the model says what is wrong with it
        return []
    outside = (tensor for tensor in _tensors(proto.graph) if onnx.external_data_helper.uses_external_data(tensor))
    named = (entry.value for tensor in outside for entry in tensor.external_data if entry.key == "location")
    return [path.parent / name for name in dict.fromkeys(named)]


def read_proto(proto: ModelProto, name: str, file: str) -> Model:
    """Check a model in memory. `name` is that of the program, and `file` stands in messages."""
    onnx = _package()
    if not len(proto.graph.node):
        raise TablaError(f"'{file}' is not an ONNX model: it has no nodes", hint="check the file")
    if not len(proto.graph.output):
        raise TablaError(f"'{file}' has no results", hint="name the results when the model is exported")
    opset = _opset(proto, file)
    _refuse_outside(proto.graph, file)
    held = {each.name for each in proto.graph.initializer}
    inputs = [_given(each.name, each.type, file) for each in proto.graph.input if each.name not in held]
    try:
        onnx.checker.check_model(_with_shapes(proto))
    except Exception as fault:
        raise _no_model(file, fault) from None
    if proto.functions:
        from onnx.inliner import inline_local_functions

        proto = inline_local_functions(proto)
    graph = proto.graph
    if len(graph.sparse_initializer):
        raise TablaError(f"'{file}' has sparse initialisers", hint="make them dense before the model is saved")
    arrays = {each.name: _array(each, file) for each in graph.initializer}
    return Model.make(
        name,
        inputs,
        [each.name for each in graph.output],
        [_node(each, file) for each in graph.node],
        arrays,
        opset=opset,
        file=file,
    )


def _with_shapes(proto: ModelProto) -> ModelProto:
    """Return the model with a shape for each result. The checker wants one, and nothing here reads it."""
    checked = type(proto)()
    checked.CopyFrom(proto)
    for each in checked.graph.output:
        if each.type.HasField("tensor_type") and not each.type.tensor_type.HasField("shape"):
            each.type.tensor_type.shape.SetInParent()
    return checked


def _package() -> Any:
    try:
        import onnx
        import onnx.checker
        import onnx.external_data_helper
    except ImportError:
        message = "models of ONNX are read by the package onnx, which is not installed"
        raise TablaError(message, hint=extra("onnx")) from None
    return onnx


def _no_model(file: str, fault: Exception) -> TablaError:
    return TablaError(
        f"'{file}' is not a valid ONNX model: {_line(fault)}", hint="check it with onnx.checker, or export it anew"
    )


def _line(fault: Exception) -> str:
    """The first line of what a library says."""
    return (str(fault).strip().splitlines() or [type(fault).__name__])[0].rstrip(". ")


def _opset(proto: ModelProto, file: str) -> int:
    versions = {each.domain: each.version for each in proto.opset_import}
    found = versions.get(DEFAULT, versions.get("ai.onnx", 0))
    newest = _package().defs.onnx_opset_version()
    if found > newest:
        raise TablaError(
            f"'{file}' has operators of version {found}, and the package onnx here knows them up to {newest}",
            hint="export the model with an older version, or install a newer package onnx",
        )
    if not found:
        # A model of scikit-learn may have operators for machine learning alone.
        found = OLDEST if MACHINE_LEARNING in versions else 0
    if found < OLDEST:
        raise TablaError(
            f"'{file}' has operators of version {found}, and the oldest version that is read is {OLDEST}",
            hint="convert it: onnx.version_converter.convert_version(model, 13)",
        )
    return int(found)


def _tensors(graph: GraphProto) -> Iterator[Any]:
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t


def _refuse_outside(graph: GraphProto, file: str) -> None:
    """Raise `TablaError` for a tensor whose numbers are not in the model: only a file has a folder to look in."""
    from onnx import TensorProto

    for tensor in _tensors(graph):
        if tensor.data_location == TensorProto.EXTERNAL:
            raise TablaError(
                f"the numbers of '{tensor.name}' are not in the model, but in another file",
                hint="give the path of the model, or call onnx.load_external_data_for_model first",
            )


def _array(tensor: Any, file: str) -> NDArray[Any]:
    from onnx import numpy_helper

    try:
        array = numpy_helper.to_array(tensor)
    except Exception as fault:
        raise TablaError(
            f"'{file}': the tensor '{tensor.name}' cannot be read: {_line(fault)}", hint="export it anew"
        ) from None
    if array.dtype.kind == "O":
        return np.array([each.decode() if isinstance(each, bytes) else str(each) for each in array.ravel()]).reshape(
            array.shape
        )
    if array.dtype.kind not in "biufSU":
        raise TablaError(f"'{file}': the tensor '{tensor.name}' has numbers of type {array.dtype}", hint="use float32")
    return array


def _given(name: str, kind: TypeProto, file: str) -> Given:
    from onnx import helper

    if not kind.HasField("tensor_type"):
        raise TablaError(f"'{file}': the input '{name}' is no tensor", hint="a model takes tensors of numbers")
    tensor = kind.tensor_type
    if not tensor.HasField("shape"):
        raise TablaError(
            f"'{file}': the input '{name}' has no shape",
            hint=f"give it when the model is exported, such as {name}[N, 4]",
        )
    try:
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.elem_type))
    except (KeyError, TypeError):
        dtype = np.dtype(object)
    if dtype.kind not in _KINDS:
        raise TablaError(f"'{file}': the input '{name}' is no tensor of numbers", hint="encode texts on the host")
    shape = tuple(
        int(each.dim_value) if each.HasField("dim_value") and each.dim_value > 0 else None for each in tensor.shape.dim
    )
    return Given(name=name, shape=shape, kind=_KINDS[dtype.kind])


def _node(node: NodeProto, file: str) -> Node:
    return Node(
        operator=node.op_type,
        inputs=tuple(node.input),
        outputs=tuple(node.output),
        attributes={each.name: _attribute(each, file) for each in node.attribute},
        domain=DEFAULT if node.domain == "ai.onnx" else node.domain,
        name=node.name,
    )


def _attribute(attribute: AttributeProto, file: str) -> Attribute:
    from onnx import AttributeProto, helper

    if attribute.ref_attr_name:
        raise TablaError(
            f"'{file}': the attribute '{attribute.name}' stands for '{attribute.ref_attr_name}' of a function, and its"
            " node is in no function",
            hint="export the model anew",
        )
    if attribute.type == AttributeProto.TENSOR:
        return _array(attribute.t, file)
    if attribute.type in (AttributeProto.FLOAT, AttributeProto.INT, AttributeProto.STRING):
        return _plain(helper.get_attribute_value(attribute))
    if attribute.type in (AttributeProto.FLOATS, AttributeProto.INTS, AttributeProto.STRINGS):
        return tuple(_plain(each) for each in helper.get_attribute_value(attribute))
    return None


def _plain(value: Any) -> int | float | str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value
