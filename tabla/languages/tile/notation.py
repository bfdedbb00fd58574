"""``layer.py:function``, or the function itself: Tile, for given shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tabla.base.arrays import refuse_strangers
from tabla.base.faults import did_you_mean
from tabla.base.source import Source, TablaError
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.unread_parts import Conventions
from tabla.languages.kernel.evaluate import evaluate
from tabla.languages.options import ProgramOptions
from tabla.languages.preprocess import Preprocessed
from tabla.languages.reading import Reading, Reals
from tabla.languages.tile import Program, load, trace
from tabla.languages.tile.kernel import Translation, translated
from tabla.languages.tile.lower import lower
from tabla.languages.tile.places import source_of
from tabla.languages.tile.positions import positions_of
from tabla.languages.tile.program import Kind, Shape
from tabla.languages.tile.text import names_of, program_text


def read_tile_file(path: Path, member: str | None, options: ProgramOptions) -> Reading:
    """Read a function of a Python file. Everything that is wrong with it is a `TablaError` at its place."""
    return read_tile(load(path, member), options, name=path.stem)


def read_tile(function: Callable[..., Any], options: ProgramOptions, *, name: str | None = None) -> Reading:
    """Run a function once for the shapes of `options`, or of its inputs."""
    given = options.input_shapes
    program = trace(function, shapes_of(options, given.shapes), arguments_of(options), kinds_of(given.types))
    return reading_of(program, _source(function), options, name=name or program.name)


def reading_of(
    program: Program, source: Source, options: ProgramOptions, *, name: str, warnings: tuple[str, ...] = ()
) -> Reading:
    """Return what is made of a traced program, whatever language its text is in."""
    keep, rated = options.keep, options.runtime_rate
    _refuse_unknown(program, options)

    def lowered(number_format: Format, results: Sequence[str]) -> Graph:
        return lower(program, number_format=number_format, keep=keep, results=results, name=name, runtime_rate=rated)

    def evaluated(arrays: Mapping[str, Reals], calls: int | None) -> dict[str, Reals]:
        return _evaluate(program, arrays, keep, calls)

    values = tuple(text for node, text in names_of(program).items() if node not in program.inputs)
    derived = _derived(program)
    return Reading(
        name=name,
        text=Preprocessed(source=source, original=source),
        ast=lambda: program_text(program),
        printed_kernel=lambda: translated(program, name=name, keep=keep).kernel,
        lower=lowered,
        evaluate_float=None if program.steps else evaluated,
        trainable=bool(program.steps),
        positions=lambda number_format: named_positions(program, number_format),
        values=values,
        warnings=warnings,
        conventions=Conventions(
            values=frozenset(name for node, name in names_of(program).items() if node.name.text) - derived,
            derived=derived,
            stated_is_meant=True,
            outputs_have_sizes=True,
            unread="write add_constraint({shifted} < {extent}) if that is meant",
            unlearnt="compare it with the label, or leave it out of the tensors that learn",
        ),
    )


def _derived(program: Program) -> frozenset[str]:
    """Return the names of the derivatives, and of the next values of the weights."""
    names = {name for node, name in names_of(program).items() if node.name.derived}
    return frozenset(names | {f"{step.weights.parameter}.next" for step in program.steps})


def named_positions(program: Program, number_format: Format) -> frozenset[str]:
    """Return the names of the tensors and results of a program whose words are integers in a format."""
    found = positions_of(program, number_format)
    names = {name for name, node in program.results() if node in found}
    return frozenset(names | {text for node, text in names_of(program).items() if node in found})


def _source(function: Callable[..., Any]) -> Source:
    """The text of the function's file, or of its cell."""
    code = getattr(function, "__code__", None)
    found = source_of(code.co_filename) if code is not None else None
    return found or Source.from_text("", "<function>")


def shapes_of(options: ProgramOptions, found: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of tensors; those of samples are said by --shape."""
    given = {name: tuple(shape) for name, shape in options.shapes.items()}
    return {**{name: shape for name, shape in found.items() if name not in options.arguments}, **given}


def arguments_of(options: ProgramOptions) -> dict[str, object]:
    """The other parameters; a learning rate is the parameter of that name."""
    found = dict(options.arguments)
    if options.learning_rate is not None:
        found["learning_rate"] = float(options.learning_rate)
    for name in options.defines:
        raise TablaError(f"-D {name}: a Tile function has parameters", hint=f"write --arg {name}=...")
    for name in options.sizes:
        raise TablaError(f"--size {name}: a Tile function takes shapes", hint="write --shape I=2,8,3")
    return found


def kinds_of(types: Mapping[str, str]) -> dict[str, Kind]:
    """Return the kinds of arrays, given what numpy calls the kinds of their element types."""
    kinds: dict[str, Kind] = {"b": "boolean", "i": "integer", "u": "integer"}
    return {name: kinds.get(letter, "float") for name, letter in types.items()}


def _refuse_unknown(program: Program, options: ProgramOptions) -> None:
    parameters = [given.parameter for given in program.inputs]
    for name in options.keep:
        if name not in parameters:
            hint = did_you_mean(name, parameters) or f"the tensors of '{program.name}' are {', '.join(parameters)}"
            raise TablaError(f"--keep {name}: '{program.name}' has no such tensor", hint=hint)
    names = [name for name in names_of(program).values() if name not in parameters]
    for name in options.results:
        if name not in names:
            hint = did_you_mean(name, names) or f"it computes {', '.join(names)}"
            raise TablaError(f"--result {name}: '{program.name}' does not compute it", hint=hint)


def _evaluate(
    program: Program, arrays: Mapping[str, Reals], keep: Sequence[str], calls: int | None
) -> dict[str, Reals]:
    """What the program's kernel means, call by call: streamed arrays may have an axis more in front."""
    shapes = {given.parameter: given.shape for given in program.inputs}
    refuse_strangers(arrays, shapes, "the input")
    for name in shapes:
        if name not in arrays:
            raise TablaError(f"no values given for '{name}'", hint="add an array of that name")
    found = translated(program, name=program.name, keep=keep)
    streamed = [name for name in shapes if name not in keep]
    if not streamed or not all(np.ndim(arrays[name]) == len(shapes[name]) + 1 for name in streamed):
        return _call(found, shapes, arrays)
    counts = {len(arrays[name]) for name in streamed}
    if len(counts) > 1:
        raise TablaError(
            f"the inputs hold different numbers of samples: {sorted(counts)}",
            hint="give as many samples of each, and name what is the same for all samples with --keep",
        )
    count = min(counts.pop(), calls or 1 << 62)
    each = [
        _call(found, shapes, {n: a[call] if n in streamed else a for n, a in arrays.items()}) for call in range(count)
    ]
    return {name: np.stack([results[name] for results in each]) for name in each[0]}


def _call(found: Translation, shapes: Mapping[str, Shape], arrays: Mapping[str, Reals]) -> dict[str, Reals]:
    """Return the results of one call in float64."""
    for name, shape in shapes.items():
        if np.shape(arrays[name]) != shape:
            raise TablaError(
                f"'{name}' has shape {np.shape(arrays[name])}, the program says {shape}",
                hint="give an array of that shape, or several samples along one axis more in front",
            )
    values = evaluate(found.kernel, {tensor: np.asarray(arrays[name]) for name, tensor in found.parameters.items()})
    return {name: np.asarray(values[tensor], dtype=np.float64) for name, tensor in found.results.items()}
