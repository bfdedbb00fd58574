"""The options of a build: keywords in Python, options on the command line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from tabla.base.arrays import read_arrays, unreserved
from tabla.base.npz import RESERVED
from tabla.base.source import TablaError, TablaTypeError, TablaValueError
from tabla.build.parameters import (
    checked_mapping,
    checked_names,
    checked_number,
    checked_path,
    checked_shape,
    checked_text,
    checked_truth,
    checked_whole,
    optional_whole,
)
from tabla.graph.format import Format, width_of
from tabla.graph.passes.pipeline import Pass
from tabla.languages.options import InputShapes, ProgramOptions
from tabla.program.overlay import Overlay
from tabla.program.overlay_file import read_overlay
from tabla.schedule.mapping.effort import DEFAULT_EFFORT, OBJECTIVES, Objective
from tabla.templates.template import Template, default_preset, formats, limits, pes_per_pu_for, presets

if TYPE_CHECKING:
    from tabla.schedule.placing.placed import Scheduler


_WHOLE = ("minibatch", "effort")
_OPTIONAL_WHOLE = (
    "model_guard",
    "pes",
    "pes_per_pu",
    "sequencers",
    "stream_words",
    "model_words",
    "data_words",
    "interim_words",
    "bus_width",
)
_OF_OVERLAYS = (
    *("pes", "pes_per_pu", "sequencers", "format", "stream_words", "model_words", "data_words", "interim_words"),
    *("template", "model_guard", "bus"),
)
"""What an overlay has fixed, so that no option may change it."""
_TEXTS = {"format": "q6.10", "template": "Pe16", "bus": "axi", "loss": "mse", "objective": "latency"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of a build; None leaves the choice to the tool or to the template.

    Array: `pes` is the number of PEs, 1 to 128, and `pes_per_pu` the number of PEs of a processing unit (PU).
    `sequencers` is the number of sequencers. `stream_words` is the number of words of a beat, a power of two.
    `model_words`, `data_words` and `interim_words` are depths of the lanes' memories. `template` names a preset, and
    `templates` is a file with more presets and formats. `format` is a number format such as ``q6.10``. `onto` is the
    folder of an overlay, which has all of these, and takes the place of the array. `bus` is ``axi`` for a wrapper, and
    `bus_width` the bits of its streams.

    Program: `defines` are the ``-D`` options by name. `learning_rate` is the constant ``mu``, and with `runtime_rate`
    hosts can load another one. `minibatch` is the number of samples of a step. `model_guard` is the number of guard
    bits of the models that learn; None stands for 0, or with ``auto`` for what the data ask for. `results` are the
    names of values to return beside the models. `sizes` gives a kernel its sizes; so do `inputs`, which are arrays by
    name or their file (.npz or .csv). `keep` names the inputs of a kernel that are loaded once. `shapes` and
    `arguments` are the tensors and the other parameters of a Tile function. Of a model that was trained elsewhere, the
    initialisers `train` learn, or all but those of `freeze`, from the `loss`.

    Search: `effort` is the level of the search for a mapping, 0 to 3. `objective` is what the search makes small: the
    cycles of a sample (``throughput``), or those from its first word to its last result or update (``latency``).
    `force` goes on with a program that no known part holds. With `saturate`, inputs and labels outside of the range of
    the format become the nearest word; otherwise they are an error, unless data chose the format. `passes` run after
    those of :mod:`tabla.graph.passes.pipeline`. `scheduler` places the strands of every mapping that is tried; None
    stands for the list scheduler.
    """

    pes: int | None = None
    pes_per_pu: int | None = None
    sequencers: int | None = None
    format: str | None = None
    defines: Mapping[str, str | float] = field(default_factory=dict)
    learning_rate: str | float | None = None
    minibatch: int = 1
    model_guard: int | None = None
    results: Sequence[str] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    inputs: str | Path | Mapping[str, ArrayLike] | None = None
    keep: Sequence[str] = ()
    shapes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    arguments: Mapping[str, object] = field(default_factory=dict)
    stream_words: int | None = None
    model_words: int | None = None
    data_words: int | None = None
    interim_words: int | None = None
    template: str | None = None
    templates: str | None = None
    bus: str | None = None
    bus_width: int | None = None
    onto: str | None = None
    effort: int = DEFAULT_EFFORT
    objective: Objective = "throughput"
    force: bool = False
    saturate: bool = False
    runtime_rate: bool = False
    train: Sequence[str] = ()
    freeze: Sequence[str] = ()
    loss: str | None = None
    passes: Sequence[Pass] = ()
    scheduler: Scheduler | None = None

    def __post_init__(self) -> None:
        for name, value in self._checked():
            # A frozen record is set in this way; values of numpy become those of Python.
            object.__setattr__(self, name, value)
        rate = self.defines.get("mu")
        if self.learning_rate is not None and rate is not None and str(rate) != str(self.learning_rate):
            raise TablaValueError(
                f"the learning rate is given twice: -D mu={rate} and --learning-rate {self.learning_rate}",
                hint="leave one of them out",
            )
        if self.objective not in OBJECTIVES:
            raise TablaValueError(f"there is no objective '{self.objective}'", hint=f"use {' or '.join(OBJECTIVES)}")
        if self.bus not in (None, "axi"):
            raise TablaValueError(f"there is no bus '{self.bus}'", hint="use axi")
        if self.bus is None and self.bus_width is not None:
            raise TablaValueError("--bus-width is given without a bus", hint="add --bus axi")
        for name in ("model_words", "data_words", "interim_words"):
            words = getattr(self, name)
            if words is not None and words > limits().memory_words:
                raise TablaValueError(
                    f"--{name.replace('_', '-')} {words} is not a memory depth",
                    hint=f"use 1 to {limits().memory_words} words",
                )

    def _checked(self) -> Iterator[tuple[str, object]]:
        """Yield the fields with the values that are used. A wrong one is a `TablaTypeError` or `TablaValueError`."""
        for name in _WHOLE:
            yield name, checked_whole(name, getattr(self, name))
        for name in _OPTIONAL_WHOLE:
            yield name, optional_whole(name, getattr(self, name))
        for name, example in _TEXTS.items():
            if (text := getattr(self, name)) is not None:
                yield name, checked_text(name, text, example)
        for name in ("results", "keep", "train", "freeze"):
            yield name, checked_names(name, getattr(self, name))
        for name in ("force", "saturate", "runtime_rate"):
            yield name, checked_truth(name, getattr(self, name))
        if self.learning_rate is not None:
            yield "learning_rate", checked_number("learning_rate", self.learning_rate)
        if self.onto is not None:
            yield "onto", checked_path("onto", self.onto)
        if self.templates is not None:
            yield "templates", checked_path("templates", self.templates)
        defines = checked_mapping("defines", self.defines, "{'m': 10}")
        # The text of a definition is whatever stands for $name, and need not be a number.
        numbers = {n: v if isinstance(v, str) else checked_number(f"defines['{n}']", v) for n, v in defines.items()}
        yield "defines", numbers
        sizes = checked_mapping("sizes", self.sizes, "{'N': 64}")
        yield "sizes", {n: checked_whole(f"sizes['{n}']", size, rule="size") for n, size in sizes.items()}
        shapes = checked_mapping("shapes", self.shapes, "{'I': (8, 3)}")
        yield "shapes", {n: checked_shape(f"shapes['{n}']", shape) for n, shape in shapes.items()}
        yield "arguments", dict(checked_mapping("arguments", self.arguments, "{'s': 2}"))
        if self.inputs is not None and not isinstance(self.inputs, str | Path):
            yield "inputs", checked_mapping("inputs", self.inputs, "{'x': array}")
        if not isinstance(self.passes, Sequence) or not all(isinstance(each, Pass) for each in self.passes):
            raise TablaTypeError("passes: these are not passes", hint="write passes=(Pass(name=..., function=...),)")
        yield "passes", tuple(self.passes)
        if self.scheduler is not None and not callable(self.scheduler):
            raise TablaTypeError("scheduler: this is not a function", hint="docs/extend/scheduler.md has an example")

    @property
    def of_program(self) -> ProgramOptions:
        """What the options say about the program, whatever array it is compiled for."""
        names = {each.name for each in fields(ProgramOptions)} - {"inputs"}
        return ProgramOptions(inputs=self._input_shapes, **{name: getattr(self, name) for name in names})

    def _input_shapes(self) -> InputShapes:
        """Return the shapes of `inputs`. A file that cannot be read is a `TablaError`."""
        match self.inputs:
            case None:
                return InputShapes()
            case str() | Path() as path:
                found = unreserved(read_arrays(Path(path)))
                return InputShapes(shapes={name: array.shape for name, array in found.items()})
            case arrays:
                return InputShapes(
                    shapes={name: np.shape(array) for name, array in arrays.items() if not name.startswith(RESERVED)},
                    types={name: np.asarray(array).dtype.kind for name, array in arrays.items()},
                )

    def refuse_unused_records(self, *users: object) -> None:
        """Raise `TablaError` if `templates` names a file and none of the options in `users` takes a record from it."""
        if self.templates is not None and not any(users):
            hint = "add --template NAME, or --format NAME of a number format in it"
            raise TablaError("--templates names a file of records, but no option uses any of them", hint=hint)

    def chosen_template(self) -> Template:
        """Return the array: the preset, ours or the user's, changed as the options say.

        Raises `TablaError` for an unknown preset or a value that the array cannot have. An overlay has an array of its
        own, and takes no option about it.
        """
        if self.onto is not None:
            return self._overlay_array(self.onto)
        preset = self._preset()
        pes = self.pes if self.pes is not None else preset.pes
        per_pu = self.pes_per_pu
        if per_pu is None:
            kept = self.template is not None and self.pes is None
            per_pu = preset.pes_per_pu if kept else pes_per_pu_for(pes) if 1 <= pes <= limits().pes else 1
        asked = {
            name: value
            for name in ("sequencers", "stream_words", "model_words", "data_words", "interim_words")
            if (value := getattr(self, name)) is not None
        }
        name = self.template or f"Pe{pes}"
        number = self.chosen_format(preset)
        return replace(
            preset,
            name=name,
            pes=pes,
            pes_per_pu=per_pu,
            roots=self._asked_roots(preset, pes),
            integer_bits=number.integer,
            fraction_bits=number.fraction,
            **asked,
        )

    @property
    def overlay(self) -> Overlay | None:
        """The overlay that the program is compiled for, if there is one. One that cannot be read is a `TablaError`."""
        return None if self.onto is None else read_overlay(self.onto)

    def _overlay_array(self, folder: str) -> Template:
        """Return the array of an overlay. Raises `TablaError` for an option that would change it."""
        overlay = read_overlay(folder)
        for name in _OF_OVERLAYS:
            if getattr(self, name):
                option = name.replace("_", "-")
                raise TablaValueError(
                    f"--{option} is given with --onto, and the overlay in '{folder}' has it fixed",
                    hint=f"leave --{option} out, or build another overlay",
                )
        return overlay.template

    def _asked_roots(self, preset: Template, pes: int) -> int:
        """Return one root for each tap group if the user asks for tap groups, else the preset's number of roots."""
        if self.pes_per_pu is None or (self.sequencers or preset.sequencers) > 1 or pes % max(1, self.pes_per_pu):
            return preset.roots
        return pes // self.pes_per_pu

    def _preset(self) -> Template:
        if self.template is None:
            return default_preset()
        known = presets(self.templates)
        if self.template not in known:
            raise unknown_template(self.template, known)
        return known[self.template]

    def chosen_format(self, preset: Template | None = None) -> Format:
        """Return the number format: that of the option, else that of the preset or of the overlay."""
        if self.onto is not None:
            array = self._overlay_array(self.onto)
            return Format(integer=array.integer_bits, fraction=array.fraction_bits)
        if self.format is not None:
            return self._named_format(self.format)
        preset = preset or self._preset()
        try:
            return Format(integer=preset.integer_bits, fraction=preset.fraction_bits)
        except TablaValueError as fault:
            raise TablaValueError(f"template '{preset.name}': {fault.message}", hint=fault.hint) from None

    def _named_format(self, text: str) -> Format:
        """Return the format that a text names: ``qI.F``, or the name of a record."""
        record = formats(self.templates).get(text)
        if record is None and width_of(text) is not None:
            raise TablaValueError(
                f"--format {text} chooses the format from data, and there is none here",
                hint="train, and gen with --data FILE, print the format that fits; name it here, such as q6.10."
                " In Python: tabla.compile(..., format='auto', data=...)",
            )
        return Format.parse(text) if record is None else Format.parse(record.text)


def unknown_template(name: str, known: Iterable[str]) -> TablaValueError:
    """Return the error that refuses the name of a template. The cure lists the `known` ones."""
    return TablaValueError(f"unknown template '{name}'", hint=f"there are {', '.join(sorted(known))}")
