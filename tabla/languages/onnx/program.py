"""A model as a program of Tile that infers: what the machine computes, and what the host does before and after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla.base.source import TablaError
from tabla.languages.onnx.merging import Merged
from tabla.languages.onnx.model import Model
from tabla.languages.onnx.translate import Translation, Translator
from tabla.languages.onnx.values import Known, Labels, Tensor
from tabla.languages.tile import program as tile

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Imported:
    """A model as a program.

    `models` are the values of the models by name. The host standardises inputs by `means` and `deviations`, and looks
    the positions that a result has up in `labels`. `merged` are the layers with the normalisations in their weights.
    """

    program: tile.Program
    models: Mapping[str, Reals] = field(repr=False)
    means: Mapping[str, Reals] = field(default_factory=dict, repr=False)
    deviations: Mapping[str, Reals] = field(default_factory=dict, repr=False)
    labels: Mapping[str, NDArray[Any]] = field(default_factory=dict, repr=False)
    merged: tuple[Merged, ...] = ()


def inference(model: Model, shapes: Mapping[str, Sequence[int]]) -> Imported:
    """Return the program that computes the results of a model.

    `shapes` are those of samples, for inputs with open extents. What the machine cannot compute is a `TablaError`.
    """
    made = Translator(model, shapes).run()
    results: dict[str, tile.Node] = {}
    labels: dict[str, NDArray[Any]] = {}
    for name in model.outputs:
        shown = made.names.get(name, name)
        match made.values[name]:
            case Tensor(node=node):
                results[shown] = node
            case Labels(position=position, labels=texts):
                results[shown], labels[shown] = position.node, texts
            case Known():
                raise TablaError(
                    f"the result '{name}' is the same for all samples, so there is nothing to compute",
                    hint="leave it out of the model's results",
                )
    return Imported(
        program=program_of(model, made, results),
        models=used(made.models, results.values()),
        means=made.means,
        deviations=made.deviations,
        labels=labels,
        merged=made.merged,
    )


def program_of(
    model: Model, made: Translation, results: Mapping[str, tile.Node], steps: Sequence[tile.Step] = ()
) -> tile.Program:
    """Return the program with some results, each under its name."""
    nodes = tile.ordered((*results.values(), *(step.gradient for step in steps)))
    return tile.Program(
        name=model.name,
        inputs=(*made.inputs, *(each for each in made.weights if each in nodes)),
        outputs=tuple(results.values()),
        shown=tuple(results),
        steps=tuple(steps),
    )


def used(models: Mapping[str, Reals], roots: Any) -> dict[str, Reals]:
    """Return the models that tensors are made of."""
    names = {node.parameter for node in tile.ordered(roots) if isinstance(node, tile.Input)}
    return {name: array for name, array in models.items() if name in names}
