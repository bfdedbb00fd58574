"""Small ONNX models, and the judge of their results: the reference evaluator of the package onnx."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from tabla.base.source import TablaError
from tabla.build.options import Options
from tabla.driver import Build, build
from tabla.languages.onnx import read_proto

FORMAT = "q8.24"
SAMPLES = 5
REACH = 2.0**-16
ML = "ai.onnx.ml"
Array = NDArray[Any]


def node(operator: str, inputs: str, outputs: str, **attributes: Any) -> NodeProto:
    """Make a node whose operands and results are separated by blanks; ``_`` is one that is left out."""
    given, made = ([{"_": ""}.get(name, name) for name in text.split()] for text in (inputs, outputs))
    return helper.make_node(operator, given, made, name=f"/{operator.lower()}", **attributes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A model and its samples. `shapes` are those of samples; inputs are uniform within `low` and `high`."""

    nodes: Sequence[NodeProto]
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: {"x": (6,)})
    arrays: Mapping[str, Any] = field(default_factory=dict)
    outputs: Sequence[str] = ("y",)
    opset: int = 17
    low: float = -2.0
    high: float = 2.0
    whole: Sequence[str] = ()
    texts: Sequence[str] = ()
    ranks: Mapping[str, int] = field(default_factory=dict)
    seed: int = 0
    count: int = SAMPLES

    def proto(self) -> ModelProto:
        """Return the model, whose first axis is that of the samples."""
        inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["N", *s]) for n, s in self.shapes.items()]
        outputs = [
            helper.make_value_info(name, helper.make_tensor_type_proto(*self._type(name))) for name in self.outputs
        ]
        held = [numpy_helper.from_array(as_array(array), name) for name, array in self.arrays.items()]
        graph = helper.make_graph(list(self.nodes), "g", inputs, outputs, held)
        domains = {each.domain for each in self.nodes}
        opsets = [helper.make_opsetid("", self.opset)] + [helper.make_opsetid(ML, 3)] * (ML in domains)
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)

    def _type(self, result: str) -> tuple[int, list[None]]:
        """Return the type of the elements of a result, and open extents for as many axes as it has."""
        kind = TensorProto.INT64 if result in self.whole else TensorProto.STRING if result in self.texts else None
        return TensorProto.FLOAT if kind is None else kind, [None] * self.ranks.get(result, 2)

    def samples(self) -> dict[str, Array]:
        """Return the inputs of some samples."""
        draw = np.random.default_rng(self.seed)
        return {
            name: draw.uniform(self.low, self.high, (self.count, *shape)).astype(np.float32)
            for name, shape in self.shapes.items()
        }

    def expected(self) -> dict[str, Any]:
        """Return the results of the reference evaluator."""
        return dict(zip(self.outputs, ReferenceEvaluator(self.proto()).run(None, self.samples()), strict=True))


def as_array(value: Any) -> Array:
    """Return real numbers as float32, which models hold, and other arrays as they are."""
    array = np.asarray(value)
    return array.astype(np.float32) if array.dtype.kind == "f" else array


def drawn(*shape: int, seed: int = 1, scale: float = 1.0) -> Array:
    """Return an array of weights."""
    return (np.random.default_rng([seed, *shape]).normal(size=shape) * scale).astype(np.float32)


def read(proto: ModelProto, **options: Any) -> Build:
    """Read a model in memory. Nothing is scheduled before it is asked for."""
    return build(read_proto(proto, "model", "model.onnx"), Options(**options))


def refused(case: Case, message: str, hint: str) -> TablaError:
    """Return the error with which a model is refused. Its message and its hint match two regular expressions."""
    with pytest.raises(TablaError, match=message) as caught:
        _ = read(case.proto()).lowered
    assert re.search(hint, caught.value.hint or ""), caught.value.hint
    return caught.value


def close(found: Array, expected: Array) -> None:
    """Hold words of q8.24 against the reference: both have the same shape, and differ by 2^-16 (1 + |y|) at most."""
    assert found.shape == expected.shape
    bound = REACH * (1 + np.abs(expected))
    worst = float((np.abs(found - expected) / bound).max(initial=0))
    assert worst <= 1, f"{worst:.2f} times the bound"
