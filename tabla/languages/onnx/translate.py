"""A list of nodes of ONNX becomes a program of Tile: one statement or a few for each node.

Tile has the contractions, the elementwise operators and the gradients that ONNX's operators are made of. So everything
behind the translation is shared (``docs/decisions/0026-models-from-elsewhere.md``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla.base.faults import did_you_mean
from tabla.base.source import Label, Span, TablaError
from tabla.languages.losses import LABEL
from tabla.languages.onnx.call import Call, Operator, Results, refuse_node
from tabla.languages.onnx.constants import computed
from tabla.languages.onnx.merging import Merged, merge
from tabla.languages.onnx.model import DEFAULT, Given, Model, Node, shown
from tabla.languages.onnx.names import distinct, program_names
from tabla.languages.onnx.operators import OPERATORS
from tabla.languages.onnx.tiles import number, reshaped
from tabla.languages.onnx.values import LARGEST, Known, Labels, Tensor, Value
from tabla.languages.tile import program as tile

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Translation:
    """A model as a program.

    `values` are the model's values by their names in ONNX, and `names` the names of the program for them. `models` are
    the arrays that stay on chip, by the names of the program. `labels` are what the host makes of the positions that a
    result has. `means` and `deviations` are by what the host standardises inputs. `decisions` are scores and
    probabilities by the names of the values that are probabilities. `merged` are the layers with the normalisations
    that became part of their weights.
    """

    values: Mapping[str, Value] = field(repr=False)
    names: Mapping[str, str] = field(repr=False)
    inputs: tuple[tile.Input, ...]
    models: Mapping[str, Reals] = field(repr=False)
    weights: tuple[tile.Input, ...] = ()
    means: Mapping[str, Reals] = field(default_factory=dict, repr=False)
    deviations: Mapping[str, Reals] = field(default_factory=dict, repr=False)
    decisions: Mapping[str, tuple[Tensor, Tensor]] = field(default_factory=dict, repr=False)
    merged: tuple[Merged, ...] = ()


class Translator:
    """Translates node by node. `learned` are initialisers that learn, so nothing is computed of them in advance.

    Without `merging`, normalisations stay what they are.
    """

    def __init__(
        self, model: Model, shapes: Mapping[str, Sequence[int]], learned: Iterable[str] = (), *, merging: bool = True
    ) -> None:
        self.merging, self.merged = merging, dict[str, Merged]()
        self.model, self.learned = model, frozenset(learned)
        # A model that learns has a label, too.
        self.names = program_names(model, [LABEL] if self.learned else [])
        self.decisions: dict[str, tuple[Tensor, Tensor]] = {}
        self.sources = {output: node for node in model.nodes for output in node.outputs}
        self.values: dict[str, Value] = {}
        self.models: dict[str, Reals] = {}
        self.held: dict[str, tile.Input] = {}
        self.means: dict[str, Reals] = {}
        self.deviations: dict[str, Reals] = {}
        self.inputs: list[tile.Input] = []
        for name in shapes:
            if name not in [given.name for given in model.inputs]:
                known = ", ".join(given.name for given in model.inputs)
                raise TablaError(f"--shape {name}: the model has no such input", hint=f"its inputs are {known}")
        for given in model.inputs:
            self.values[given.name] = self._input(given, shapes.get(given.name))
        self.values |= {name: Known(name=name, array=array) for name, array in model.arrays.items()}

    def run(self) -> Translation:
        """Translate all nodes that the results need."""
        needed = _needed(self.model)
        for node in self.model.nodes:
            if node.outputs[:1] and node.outputs[0] in self.merged:
                continue
            if any(output in needed for output in node.outputs if output):
                self._node(node)
        return Translation(
            values=self.values,
            names=self.names,
            inputs=tuple(self.inputs),
            models=self.models,
            weights=tuple(self.held.values()),
            means=self.means,
            deviations=self.deviations,
            decisions=self.decisions,
            merged=tuple(self.merged.values()),
        )

    def _input(self, given: Given, shape: Sequence[int] | None) -> Tensor:
        """Return an input. Its first axis is that of the samples if it is open or 1, or if `shape` does not have it."""
        batched = len(given.shape) > 0 and (given.shape[0] is None or (given.shape[0] == 1 and len(given.shape) > 1))
        own = given.shape[1:] if batched else given.shape
        if shape is not None:
            batched = len(shape) == len(given.shape) - 1
            own = given.shape[1:] if batched else given.shape
            if len(shape) != len(own) or any(n not in (None, m) for n, m in zip(own, shape, strict=True)):
                declared = ", ".join("?" if extent is None else str(extent) for extent in given.shape)
                raise TablaError(
                    f"--shape {given.name}={','.join(map(str, shape))} does not fit [{declared}], as the model has it",
                    hint="give the shape of a sample",
                )
            own = tuple(shape)
        sizes = [extent for extent in own if extent is not None]
        if len(sizes) < len(own):
            declared = ", ".join("?" if extent is None else str(extent) for extent in own)
            example = ",".join("8" if extent is None else str(extent) for extent in own)
            raise TablaError(
                f"the input '{given.name}' has the shape [{declared}] for a sample, and an accelerator has a fixed one",
                hint=f"say it: --shape {given.name}={example}",
            )
        if prod(sizes) > LARGEST:
            message = f"'{given.name}' has {prod(sizes):,} elements, the largest array holds {LARGEST:,}"
            raise TablaError(message, hint="make it smaller, or compile a part of it for each call")
        name = self.names[given.name]
        node = tile.Input(shape=tuple(sizes), kind=given.kind, name=tile.Name(name), parameter=name)
        self.inputs.append(node)
        return Tensor(node=node, batched=batched)

    # Known arrays

    def new(self, name: str, array: NDArray[Any]) -> Known:
        """Return an array that a node brings, under a name that no other value has."""
        found = distinct([name], {*self.values, *self.models, *self.names.values()})[name]
        self.names[found] = found
        return Known(name=found, array=array)

    def learned_in(self, node: tile.Node) -> str | None:
        """Return an initialiser that learns and that a tensor is made of, or None if it is made of none."""
        made = _made_of(node)
        found = (name for name in self.model.arrays if name in self.learned and self.held.get(self.names[name]) in made)
        return next(found, None)

    def inputs_in(self, node: tile.Node) -> dict[str, Tensor]:
        """Return the inputs of the model that a tensor is made of, by their names in ONNX."""
        made = _made_of(node)
        values = {given.name: self.values[given.name] for given in self.model.inputs}
        return {name: value for name, value in values.items() if isinstance(value, Tensor) and value.node in made}

    def weights(self, known: Known, shape: tile.Shape, span: Span | None) -> tile.Node:
        """Return a known array in a shape: as a model, or as a number if it has one element and does not learn."""
        array = known.array
        wrong = ""
        if array.dtype.kind not in "biuf":
            wrong = "holds texts, which are no numbers"
        elif not np.isfinite(array).all():
            wrong = "has elements that are no finite numbers"
        elif not array.size:
            wrong = "has no elements"
        if wrong:
            places = [Label(span)] if span else []
            raise TablaError(f"'{known.name}' {wrong}", *places, hint="export the model anew")
        if array.size == 1 and known.name not in self.learned:
            value = number(Fraction(array.reshape(-1)[0].item()), "float", span)
            return value if not any(extent != 1 for extent in shape) and not shape else _spread(value, shape, span)
        name = self.names.setdefault(known.name, known.name)
        if name not in self.held:
            self.models[name] = array.astype(np.float64).reshape(shape)
            self.held[name] = tile.Input(shape=shape, kind="float", name=tile.Name(name), parameter=name)
        return reshaped(self.held[name], shape, span)

    def decided(self, output: str, scores: Tensor, probabilities: Tensor) -> None:
        """Note that a result is the probabilities of scores."""
        self.decisions[output] = scores, probabilities

    def standardised(self, source: Tensor, mean: Reals, deviation: Reals) -> Tensor | None:
        """Let the host standardise an input that nothing else reads. Return None where it cannot."""
        node = source.node
        if not isinstance(node, tile.Input) or node not in self.inputs or not (deviation > 0).all():
            return None
        names = {name for name, value in self.values.items() if value is source}
        readers = [each for each in self.model.nodes if names & set(each.inputs) and not names & set(each.outputs)]
        if len(readers) != 1 or names & set(self.model.outputs) or node.parameter in self.means:
            return None
        self.means[node.parameter] = np.broadcast_to(mean, node.shape).astype(np.float64)
        self.deviations[node.parameter] = np.broadcast_to(deviation, node.shape).astype(np.float64)
        return source

    # Nodes

    def _node(self, node: Node) -> None:
        given = [self.values[name] if name else None for name in node.inputs]
        if self.merging:
            node, given = self._merged(node, given)
        operator = _operator(node, given)
        call = Call(
            node=node,
            operator=operator,
            values=self._operands(given),
            sources=self.sources,
            opset=self.model.opset,
            program=self,
        )
        folded = computed(call)
        if folded is None:
            results = operator.function(call)
            folded = results if isinstance(results, tuple) else (results,)
        for name, value in zip(node.outputs, folded, strict=False):
            if name and value is not None:
                if isinstance(value, Tensor) and prod(value.shape) > LARGEST:
                    has = f"its result has {prod(value.shape):,} elements"
                    refuse_node(node, has, f"the largest array holds {LARGEST:,}")
                self.values[name] = value
                self._call(name, value)
        for name in node.outputs[len(folded) :]:
            if name and name in _needed(self.model):
                refuse_node(node, f"its result '{name}' is not there", "leave it out of the model")

    def _merged(self, node: Node, given: list[Value | None]) -> tuple[Node, list[Value | None]]:
        """Return a layer, and its operands, with the normalisation behind it if there is one to merge."""

        def name_of(name: str) -> str:
            return self.names.get(name) or distinct([name])[name]

        found = merge(self.model, node, given, self.values, self.learned, self.new, name_of)
        if found is None:
            return node, given
        layer, operands, behind, merged = found
        self.merged[behind.outputs[0]] = merged
        return layer, operands

    def _operands(self, given: Sequence[Value | None]) -> list[Value | None]:
        """Return operands. An initialiser that learns is a tensor from the beginning, so that nothing folds it."""
        made: list[Value | None] = []
        for value in given:
            if isinstance(value, Known) and value.name in self.learned:
                value = Tensor(node=self.weights(value, value.array.shape, None), batched=False)
            made.append(value)
        return made

    def _call(self, name: str, value: Value) -> None:
        """Let the tensor of a value have its name, if the tensor has none. What it is made of is called ``NAME.1`` and
        so on.
        """
        match value:
            case Tensor(node=node) | Labels(position=Tensor(node=node)):
                node.name.text = node.name.text or self.names[name]
                number_of, pending = 0, list(node.operands)
                while pending:
                    part = pending.pop(0)
                    if part.name.text is None and not isinstance(part, tile.Number):
                        number_of += 1
                        part.name.text = f"{self.names[name]}.{number_of}"
                        pending += part.operands


def _made_of(node: tile.Node) -> set[tile.Node]:
    """Return a tensor, and all tensors that it is made of."""
    made, pending = set[tile.Node](), [node]
    while pending:
        part = pending.pop()
        if part not in made:
            made.add(part)
            pending += part.operands
    return made


def _spread(value: tile.Number, shape: tile.Shape, span: Span | None) -> tile.Node:
    return tile.Values(shape=shape, kind=value.kind, values=(value.value,), span=span)


def _operator(node: Node, given: Sequence[Value | None]) -> Operator:
    """Return the operator of a node with some operands.

    An operator that is not there, or an attribute that it does not know, is a `TablaError`. Any operator of ONNX whose
    operands are all known is there, because it is computed when the model is read.
    """
    operator = OPERATORS.get((node.domain, node.operator))
    known = any(isinstance(each, Known) for each in given) and all(isinstance(each, Known | None) for each in given)
    # An attribute that is None here is a graph, as that of If.
    if operator is None and known and node.domain == DEFAULT and all(v is not None for v in node.attributes.values()):
        return Operator(name=node.operator, domain=DEFAULT, function=_learns, attributes=dict(node.attributes))
    attributes = ", ".join(f"{name}={shown(value)}" for name, value in node.attributes.items())
    if operator is None:
        there = ", ".join(sorted(name for _, name in OPERATORS))
        domain = f" of '{node.domain}'" if node.domain else ""
        near = did_you_mean(node.operator, [name for _, name in OPERATORS])
        refuse_node(
            node,
            f"this operator{domain} is not there; the node has {attributes or 'no attributes'}",
            f"{f'{near}; ' if near else ''}the operators are {there}",
        )
    for name, value in node.attributes.items():
        if name not in operator.attributes or value is None:
            there = ", ".join(operator.attributes) or "none"
            message = f"the attribute '{name}' is not there; the node has {attributes}"
            refuse_node(node, message, f"the attributes that are there: {there}")
    return operator


def _learns(call: Call) -> Results:
    call.refuse("it computes something of an initialiser that learns", "leave that initialiser out of --train")


def _needed(model: Model) -> set[str]:
    """Return the names of the values that the results are made of."""
    needed = set(model.outputs)
    for node in reversed(model.nodes):
        if needed.intersection(node.outputs) - {""}:
            needed.update(name for name in node.inputs if name)
    return needed
