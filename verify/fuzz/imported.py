"""The subject of the sweep for models of ONNX: the small models of all operators, with their parts or bytes changed."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper
from onnx.defs import get_all_schemas

from tabla.base.source import TablaError
from tabla.build.options import Options
from tabla.driver import build
from tabla.languages.onnx.operators import OPERATORS
from tests.languages.onnx.cases import CASES
from tests.languages.onnx.test_machine import NETWORK

_NUMBERS = (0, 1, -1, 2, 3, -2, 7, 64, 2**31, -(2**31), 2**62, -(2**63), 2**63 - 1)
_REALS = (0.0, 1.0, -1.0, 0.5, 1e-30, 1e30, -1e30, float("inf"), float("-inf"), float("nan"))
_NAMES = ("", "x", "y", "w", "always", "module", "a\nb", "é", "\x1b[31m", "../x", "constant.0", "label", "input.1")
_LOSSES = ("cross-entropy", "mse")
_TYPES = tuple(TensorProto.DataType.values())


@cache
def _models() -> tuple[bytes, ...]:
    """Return all small models, and a network."""
    return tuple(case.proto().SerializeToString() for case in (*CASES.values(), NETWORK))


@cache
def _operators() -> tuple[tuple[str, str], ...]:
    """Return the domain and the name of every operator that the package onnx knows."""
    return tuple(sorted({(schema.domain, schema.name) for schema in get_all_schemas()}))


def draw(chance: Random) -> bytes:
    """Return the file of a model with one to four changes. One of ten files has other bytes, too."""
    model = ModelProto.FromString(chance.choice(_models()))
    changes = _CHANGES if chance.random() < 0.4 else _VALID
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 4))):
        chance.choice(changes)(model, chance)
    data = model.SerializeToString()
    if chance.random() < 0.1:
        changed = bytearray(data)
        for _ in range(chance.choice((1, 1, 2, 5))):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        data = bytes(changed[: chance.randrange(len(changed))] if chance.random() < 0.2 else changed)
    return data


def read(data: bytes) -> None:
    """Do what ``tabla check`` does with the file. Every second one is asked to learn what it can before."""
    with tempfile.TemporaryDirectory(prefix="tabla-fuzz-") as folder:
        path = Path(folder) / "p.onnx"
        path.write_bytes(data)
        if sum(data) % 2:
            try:
                build(path, Options(pes=4, effort=0, loss=_LOSSES[sum(data) // 2 % 2], learning_rate=0.1)).check()
            except TablaError as fault:
                if not (fault.message and (fault.hint or fault.labels)):
                    raise
        build(path, Options(pes=4, effort=0)).check()


def _node(graph: GraphProto, chance: Random) -> NodeProto:
    return graph.node[chance.randrange(len(graph.node))] if graph.node else graph.node.add()


def _values(graph: GraphProto) -> list[str]:
    found = [each.name for each in (*graph.input, *graph.initializer)]
    return [*found, *(name for node in graph.node for name in node.output), *_NAMES]


def _operator(model: ModelProto, chance: Random) -> None:
    node = _node(model.graph, chance)
    node.domain, node.op_type = chance.choice(_operators())


def _neighbour(model: ModelProto, chance: Random) -> None:
    """Let a node do what another operator that is there does, with the attributes that both have."""
    node = _node(model.graph, chance)
    operator = OPERATORS[chance.choice(tuple(OPERATORS))]
    node.domain, node.op_type = operator.domain, operator.name
    kept = [each for each in node.attribute if each.name in operator.attributes]
    del node.attribute[:]
    node.attribute.extend(kept)
    if all(each.domain != operator.domain for each in model.opset_import):
        model.opset_import.append(helper.make_opsetid(operator.domain, 3))


def _reads(model: ModelProto, chance: Random) -> None:
    """Let a node read another value that is there before it."""
    nodes = model.graph.node
    if not nodes or not (readers := [at for at, node in enumerate(nodes) if node.input]):
        return
    at = chance.choice(readers)
    there = [each.name for each in (*model.graph.input, *model.graph.initializer)]
    there += [name for node in nodes[:at] for name in node.output if name]
    if there:
        nodes[at].input[chance.randrange(len(nodes[at].input))] = chance.choice(there)


def _numbers(model: ModelProto, chance: Random) -> None:
    """Give an initialiser other numbers, of another type or in another shape."""
    if not model.graph.initializer:
        return
    tensor = chance.choice(model.graph.initializer)
    array = numpy_helper.to_array(tensor) if tensor.data_location == TensorProto.DEFAULT else np.zeros(3)
    match chance.randrange(5):
        case 0 if array.dtype.kind == "f" and array.size:
            array = array.copy()
            array.reshape(-1)[chance.randrange(array.size)] = chance.choice(_REALS)
        case 1 if array.dtype.kind in "iu" and array.size:
            array = array.astype(np.int64)
            array.reshape(-1)[chance.randrange(array.size)] = chance.choice(_NUMBERS)
        case 2:
            array = np.resize(array, [chance.choice((0, 1, 2, 3, 6)) for _ in range(chance.randrange(5))])
        case 3:
            kinds = (np.float16, np.float64, np.int8, np.uint64, np.bool_, np.complex64, np.str_)
            with np.errstate(all="ignore"):
                array = (array.real if array.dtype.kind == "c" else array).astype(chance.choice(kinds))
        case _:
            array = array.T if chance.random() < 0.5 else array[None]
    tensor.CopyFrom(numpy_helper.from_array(np.asarray(array), tensor.name))


def _known_name(model: ModelProto, chance: Random) -> None:
    """Give a value a name that is hard to keep and that no other value has."""
    old = chance.choice([name for name in _values(model.graph) if name] or ["x"])
    _rename(model, old, chance.choice([name for name in _NAMES if name and name not in ("x", "y", "w")]))


def _operand(model: ModelProto, chance: Random) -> None:
    """Exchange, leave out or add an operand or a result."""
    node = _node(model.graph, chance)
    names = chance.choice((node.input, node.input, node.output))
    match chance.randrange(3):
        case 0 if names:
            names[chance.randrange(len(names))] = chance.choice(_values(model.graph))
        case 1 if names:
            del names[chance.randrange(len(names))]
        case _:
            names.append(chance.choice(_values(model.graph)))


def _attribute(model: ModelProto, chance: Random) -> None:
    """Change, leave out or add an attribute."""
    node = _node(model.graph, chance)
    if node.attribute and chance.random() < 0.2:
        del node.attribute[chance.randrange(len(node.attribute))]
    elif node.attribute and chance.random() < 0.8:
        _other_value(node.attribute[chance.randrange(len(node.attribute))], chance)
    else:
        name = chance.choice(("axis", "axes", "alpha", "perm", "pads", "to", "group", "keepdims", "auto_pad", "odd"))
        made = helper.make_attribute(name, chance.choice((chance.choice(_NUMBERS), 0.5, "SAME_UPPER", [1, 0, -1])))
        node.attribute.append(made)


def _known_attribute(model: ModelProto, chance: Random) -> None:
    """Change an attribute that is there, or give a node another one that its operator has."""
    node = _node(model.graph, chance)
    operator = OPERATORS.get((node.domain, node.op_type))
    if node.attribute and (operator is None or chance.random() < 0.7):
        _other_value(node.attribute[chance.randrange(len(node.attribute))], chance)
        return
    there = {each.name for each in node.attribute}
    for name, default in operator.attributes.items() if operator is not None else ():
        if name not in there and isinstance(default, int | float | str) and chance.random() < 0.5:
            choices: tuple[object, ...] = (default, "SAME_UPPER", "reflect", "L1")
            choices = choices if isinstance(default, str) else _REALS if isinstance(default, float) else _NUMBERS
            node.attribute.append(helper.make_attribute(name, chance.choice(choices)))


def _other_value(attribute: AttributeProto, chance: Random) -> None:
    """Give an attribute another value, or a list of another length."""
    match attribute.type:
        case AttributeProto.INT:
            attribute.i = chance.choice((*_NUMBERS, 0, 1, 2))
        case AttributeProto.FLOAT:
            attribute.f = chance.choice(_REALS)
        case AttributeProto.STRING:
            attribute.s = chance.choice((b"", b"VALID", b"L2", b"\xff\xfe", b"SOFTMAX_ZERO"))
        case AttributeProto.TENSOR:
            _other_tensor(attribute.t, chance)
        case AttributeProto.INTS | AttributeProto.FLOATS:
            numbers = attribute.ints if attribute.type == AttributeProto.INTS else attribute.floats
            choices = _NUMBERS if attribute.type == AttributeProto.INTS else _REALS
            if numbers and chance.random() < 0.6:
                numbers[chance.randrange(len(numbers))] = chance.choice(choices)
            elif numbers and chance.random() < 0.5:
                numbers.pop()
            else:
                numbers.append(chance.choice(choices))
        case _:
            attribute.type = chance.choice(tuple(AttributeProto.AttributeType.values()))


def _other_tensor(tensor: TensorProto, chance: Random) -> None:
    """Give a tensor another shape, another type, other bytes, or a place outside of the file."""
    match chance.randrange(5):
        case 0 if tensor.dims:
            tensor.dims[chance.randrange(len(tensor.dims))] = chance.choice(_NUMBERS)
        case 1:
            tensor.dims.append(chance.choice(_NUMBERS))
        case 2:
            tensor.data_type = chance.choice(_TYPES)
        case 3:
            tensor.data_location = TensorProto.EXTERNAL
            entry = tensor.external_data.add()
            entry.key, entry.value = "location", chance.choice(("none.bin", "../none", "/dev/zero", "p.onnx", ""))
        case _ if tensor.raw_data:
            raw = bytearray(tensor.raw_data)
            start = 4 * chance.randrange(max(1, len(raw) // 4))
            raw[start : start + 4] = chance.choice(
                (b"\0\0\xc0\x7f", b"\0\0\x80\x7f", b"\xff\xff\xff\x7f", b"", b"\0" * 4)
            )
            tensor.raw_data = bytes(raw)


def _array(model: ModelProto, chance: Random) -> None:
    arrays = model.graph.initializer
    if arrays and chance.random() < 0.9:
        _other_tensor(arrays[chance.randrange(len(arrays))], chance)
    elif arrays:
        del arrays[chance.randrange(len(arrays))]


def _input(model: ModelProto, chance: Random) -> None:
    """Give an input another extent, rank or type."""
    if not model.graph.input:
        return
    given = model.graph.input[chance.randrange(len(model.graph.input))]
    tensor = given.type.tensor_type
    match chance.randrange(5):
        case 0 if tensor.shape.dim:
            tensor.shape.dim[chance.randrange(len(tensor.shape.dim))].dim_value = chance.choice(_NUMBERS)
        case 1:
            tensor.shape.dim.add().dim_value = chance.choice(_NUMBERS)
        case 2:
            tensor.elem_type = chance.choice(_TYPES)
        case 3 if tensor.shape.dim:
            tensor.shape.dim[chance.randrange(len(tensor.shape.dim))].dim_param = "n"
        case _:
            given.name = chance.choice(_NAMES)


def _renamed(model: ModelProto, chance: Random) -> None:
    """Rename a value wherever it stands, perhaps to a name that another one has."""
    values = _values(model.graph)
    _rename(model, chance.choice(values), chance.choice((*_NAMES, *values)))


def _rename(model: ModelProto, old: str, new: str) -> None:
    graph = model.graph
    for each in (*graph.input, *graph.initializer, *graph.output):
        each.name = new if each.name == old else each.name
    for node in graph.node:
        for names in (node.input, node.output):
            for at, name in enumerate(names):
                names[at] = new if name == old else name


def _version(model: ModelProto, chance: Random) -> None:
    if model.opset_import:
        model.opset_import[chance.randrange(len(model.opset_import))].version = chance.choice(
            (*range(1, 27), *_NUMBERS)
        )
    if chance.random() < 0.3:
        model.ir_version = chance.choice((0, 1, 3, 7, 10, 13, 99))


def _nodes(model: ModelProto, chance: Random) -> None:
    """Leave out, double or move a node, or compute it in a graph of another node."""
    nodes = model.graph.node
    if not nodes:
        return
    at = chance.randrange(len(nodes))
    match chance.randrange(4):
        case 0:
            del nodes[at]
        case 1:
            nodes.append(nodes[at])
        case 2:
            moved = list(nodes)
            chance.shuffle(moved)
            del nodes[:]
            nodes.extend(moved)
        case _:
            inner = helper.make_graph([nodes[at]], "inner", [], list(model.graph.output))
            nodes[at].attribute.append(helper.make_attribute("then_branch", inner))


def _output(model: ModelProto, chance: Random) -> None:
    """Name another value as a result, or leave one out."""
    outputs = model.graph.output
    if outputs and chance.random() < 0.3:
        del outputs[chance.randrange(len(outputs))]
    elif outputs and chance.random() < 0.6:
        outputs[0].name = chance.choice(_values(model.graph))
    else:
        outputs.append(helper.make_tensor_value_info(chance.choice(_values(model.graph)), TensorProto.FLOAT, None))


Change = Callable[[ModelProto, Random], None]
_CHANGES: tuple[Change, ...] = (
    *(_attribute, _array, _operand, _input, _operator, _renamed, _version, _nodes, _output),
)
"""Changes after which few models pass the check of the package onnx."""
_VALID: tuple[Change, ...] = (
    *(_known_attribute, _known_attribute, _neighbour, _reads, _numbers, _numbers, _input, _known_name),
)
"""Changes after which most models pass it, so that the reader of this package says what is wrong."""
