"""A model as a program of Tile that infers: what the machine computes, and what the host does before and after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla.base.source import TablaError
from tabla.languages.onnx.merging import Merged, merge_all
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
    `constants` are the initialisers that the program has as numbers, because their elements are all equal.
    """

    program: tile.Program
    models: Mapping[str, Reals] = field(repr=False)
    means: Mapping[str, Reals] = field(default_factory=dict, repr=False)
    deviations: Mapping[str, Reals] = field(default_factory=dict, repr=False)
    labels: Mapping[str, NDArray[Any]] = field(default_factory=dict, repr=False)
    merged: tuple[Merged, ...] = ()
    constants: Mapping[str, NDArray[Any]] = field(default_factory=dict, repr=False)

    def taken(self, given: Mapping[str, Reals]) -> dict[str, Reals]:
        """Return the arrays of a file with models as the program has them: merged, and without its constants.

        A constant with other numbers is a `TablaError`, because the program cannot take them.
        """
        found = merge_all(self.merged, given)
        for name in sorted(found.keys() & self.constants.keys()):
            array = found.pop(name)
            if np.shape(array) != self.constants[name].shape or not np.array_equal(array, self.constants[name]):
                raise TablaError(
                    f"the set of weights holds '{name}', which is a constant of the program: all its elements are"
                    f" {self.constants[name].flat[0]:g} in the model",
                    hint="compile the model with the options with which it learned, such as --train or --freeze",
                )
        return found


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
    models = used(made.models, results.values())
    initialisers = {made.names.get(name, name): array for name, array in model.arrays.items()}
    return Imported(
        program=program_of(model, made, results),
        models=models,
        constants={name: array for name, array in initialisers.items() if name not in models and _is_one_number(array)},
        means=made.means,
        deviations=made.deviations,
        labels=labels,
        merged=made.merged,
    )


def _is_one_number(array: NDArray[Any]) -> bool:
    return array.dtype.kind == "f" and array.size > 0 and bool((array == array.flat[0]).all())


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
