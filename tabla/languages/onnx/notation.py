"""``model.onnx``, or a model in memory: a network that was trained elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla.base.faults import did_you_mean
from tabla.base.source import TablaError
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.languages.losses import LABEL
from tabla.languages.onnx import Imported, Model, inference, read_path
from tabla.languages.onnx.training import Tuning, learning
from tabla.languages.options import ProgramOptions
from tabla.languages.preprocess import Preprocessed
from tabla.languages.reading import Reading
from tabla.languages.tile.kernel import translated
from tabla.languages.tile.lower import lower
from tabla.languages.tile.notation import named_positions
from tabla.languages.tile.program import Program
from tabla.languages.tile.text import names_of


def read_onnx(path: Path, options: ProgramOptions) -> Reading:
    """Read a model in a file. Everything that is wrong with the model is a `TablaError`."""
    return read_model(read_path(path), options)


def read_model(model: Model, options: ProgramOptions) -> Reading:
    """Translate a model, whose initialisers become models on chip.

    Options that make no sense for it are a `TablaError`.
    """
    _refuse_options(model, options)
    learns = bool(options.train or options.freeze or options.loss)
    made = learning(model, dict(options.shapes), _tuning(options)) if learns else inference(model, dict(options.shapes))
    program = made.program
    shown = {name for name, _ in program.results()}
    values = [name for node, name in names_of(program).items() if node not in program.inputs]
    for name in options.results:
        if name not in values:
            hint = did_you_mean(name, values) or f"it computes {', '.join(values)}"
            raise TablaError(f"--result {name}: '{model.name}' does not compute it", hint=hint)

    def lowered(number_format: Format, results: Sequence[str]) -> Graph:
        _refuse_zeros(made, number_format)
        graph = lower(
            program,
            number_format=number_format,
            keep=tuple(made.models),
            results=[name for name in results if name not in shown],
            name=model.name,
            runtime_rate=options.runtime_rate,
        )
        return replace(graph, notes=(*graph.notes, *_zeros(made.models, number_format)))

    return Reading(
        name=model.name,
        text=Preprocessed(source=model.source, original=model.source),
        ast=model.text,
        printed_kernel=lambda: translated(program, name=model.name, keep=tuple(made.models)).kernel,
        lower=lowered,
        trainable=learns,
        values=tuple(values),
        positions=lambda number_format: named_positions(program, number_format),
        models=_brought(made),
        merge=made.taken,
        labels=made.labels,
        scored_by="" if learns else LABEL,
        scores=_real(program),
    )


def _real(program: Program) -> tuple[str, ...]:
    """Return the values of real numbers by name, the results first. Positions and conditions are none."""
    inner = ((name, node) for node, name in names_of(program).items() if node not in program.inputs)
    return tuple(dict.fromkeys(name for name, node in (*program.results(), *inner) if node.kind == "float"))


def _tuning(options: ProgramOptions) -> Tuning:
    return Tuning(
        train=tuple(options.train),
        freeze=tuple(options.freeze),
        loss=options.loss,
        rate=options.exact_rate,
    )


def _refuse_zeros(made: Imported, number_format: Format) -> None:
    """Raise `TablaError` for an initialiser that learns, and of whose numbers no word is left."""
    for step in made.program.steps:
        name = step.weights.parameter
        array = made.models[name]
        if array.any() and not np.floor(array * number_format.one + 0.5).any():
            raise TablaError(
                f"'{name}' cannot learn: {number_format} rounds all of its numbers to 0",
                hint="choose a format with more fraction bits",
            )


def _zeros(models: Mapping[str, NDArray[np.float64]], number_format: Format) -> Iterator[str]:
    """Yield a note for each array with numbers that are not 0 and whose words are."""
    for name, array in models.items():
        lost = int(((array != 0) & (np.floor(array * number_format.one + 0.5) == 0)).sum())
        if lost:
            step = f"the smallest step of {number_format} is {1 / number_format.one:.10g}"
            yield f"'{name}': {lost:,} of {array.size:,} numbers round to zero; {step}"


def _brought(made: Imported) -> dict[str, NDArray[Any]]:
    """Return the models with what the host does to inputs, under the names that files of models have for it."""
    found: dict[str, NDArray[Any]] = dict(made.models)
    for kind, arrays in (("mean", made.means), ("deviation", made.deviations)):
        found |= {f"{name}.{kind}": np.asarray(array) for name, array in arrays.items()}
    return found


def _refuse_options(model: Model, options: ProgramOptions) -> None:
    for option, listed in (("-D", options.defines), ("--size", options.sizes), ("--keep", options.keep)):
        if listed:
            hint = "leave it out: a model says its sizes, and its initialisers are on chip"
            raise TablaError(f"{option} is not for models of ONNX, and '{model.name}' is one", hint=hint)
    if options.arguments:
        raise TablaError("--arg is for Tile functions, and a model of ONNX has no parameters", hint="leave it out")
    learns = options.train or options.freeze or options.loss
    for option, given in (
        ("--learning-rate", options.learning_rate is not None),
        ("--runtime-rate", options.runtime_rate),
    ):
        if given and not learns:
            raise TablaError(f"{option}: '{model.name}' does not learn", hint="say what learns: --train NAME,NAME")
