"""The options of a build: those of its array and those of its program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabla.base.kinds import Choice, FileName, NumberChoice, Object, Switch, Text, WholeNumber
from tabla.base.options import About, Record, option
from tabla.base.source import TablaError, TablaTypeError, TablaValueError
from tabla.graph.format import Format, width_of
from tabla.graph.passes.framework import Pass
from tabla.languages.options import BUILDS, ProgramOptions
from tabla.program.bus import BUS_WIDTHS
from tabla.program.overlay import Overlay
from tabla.program.overlay_file import read_overlay
from tabla.schedule.mapping.effort import DEFAULT_EFFORT, EFFORTS, OBJECTIVES, Objective
from tabla.templates.template import Template, default_preset, formats, limits, pes_per_pu_for, presets

if TYPE_CHECKING:
    from tabla.schedule.placing.placed import Scheduler

_OF_OVERLAYS = (
    *("pes", "pes_per_pu", "sequencers", "format", "stream_words", "model_words", "data_words", "interim_words"),
    *("template", "model_guard", "bus", "part"),
)
"""What an overlay has fixed, so that no option may change it."""
_MEMORIES = ("model_words", "data_words", "interim_words")
_DEPTH: About = {"group": "the array", "commands": BUILDS, "metavar": "N", "example": "512", "unit": "words"}
_ARRAY, _PROGRAM, _HOST = "the array", "the program", "the host"


def _checked_passes(name: str, value: Any) -> tuple[Pass[...], ...]:
    if not isinstance(value, Sequence) or not all(isinstance(each, Pass) for each in value):
        raise TablaTypeError(f"{name}: these are not passes", hint="docs/extend/pass.md has an example")
    return tuple(value)


def _checked_scheduler(name: str, value: Any) -> Any:
    if not callable(value):
        raise TablaTypeError(f"{name}: this is not a function", hint="docs/extend/scheduler.md has an example")
    return value


@dataclass(frozen=True, kw_only=True)
class ArrayOptions(Record):
    """The options of an array: its size, its words, the bus of its host, and the search for a schedule.

    None leaves a choice to the tool or to the template. `pes` is the number of PEs, 1 to 128, and `pes_per_pu` the
    number of PEs of a processing unit (PU). `sequencers` is the number of sequencers. `stream_words` is the number of
    words of a beat, a power of two. `model_words`, `data_words` and `interim_words` are depths of the lanes' memories.
    `template` names a preset, and `templates` is a file with more presets and formats. `onto` is the folder of an
    overlay, which has all of these, and takes the place of the array.

    `format` is a number format such as ``q6.10``. With `saturate`, inputs and labels outside of the range of the format
    become the nearest word; otherwise they are an error, unless data chose the format. `model_guard` is the number of
    guard bits of the models that learn; None stands for 0, or with ``auto`` for what the data ask for. `bus` is ``axi``
    for a wrapper, and `bus_width` the bits of its streams.

    `part` names the FPGA that the design is for, such as ``LFE5U-45F``. The search then leaves out arrays that need
    more block RAMs than it has, if there are others, and no files are written of a design that it does not hold.
    Without a `part` block RAMs have a price, and a design is refused that no known part holds.

    `effort` is the level of the search for a mapping. `objective` is what the search makes small. `force` goes on with
    a program that no known part holds. `passes` run after those of :mod:`tabla.graph.passes.pipeline`. `scheduler`
    places the strands of every mapping that is tried; None stands for the list scheduler.
    """

    pes: int | None = option(
        WholeNumber(low=1, shown="1 to 128"),
        "processing elements, 1 to 128 (default 16)",
        group=_ARRAY,
        commands=(*BUILDS, "overlay", "pass"),
        metavar="N",
        example="16",
        unit="PEs",
        helps={"pass": "processing elements, for a pass that asks for their number"},
    )
    pes_per_pu: int | None = option(
        WholeNumber(low=1, shown="a divisor of --pes"),
        "processing elements per processing unit (PU); a divisor of --pes",
        group=_ARRAY,
        commands=(*BUILDS, "overlay"),
        metavar="N",
        example="4",
        unit="PEs",
    )
    sequencers: int | None = option(
        WholeNumber(low=1, shown="a divisor of --pes"),
        "instruction streams; a divisor of --pes (default: the number that gives the fewest cycles)",
        group=_ARRAY,
        commands=(*BUILDS, "explore", "overlay"),
        metavar="N",
        example="2",
        helps={"overlay": "instruction streams; a divisor of --pes (default 1)"},
    )
    stream_words: int | None = option(
        WholeNumber(low=1, shown="a power of two"),
        "words of the input port per cycle, a power of two, and the most words that leave in one cycle (without this"
        " option one word leaves)",
        group=_ARRAY,
        commands=(*BUILDS, "explore"),
        metavar="S",
        example="8",
        unit="words",
    )
    model_words: int | None = option(WholeNumber(low=1), "depth of the model memory of each PE", **_DEPTH)
    data_words: int | None = option(WholeNumber(low=1), "depth of the data memory of each PE", **_DEPTH)
    interim_words: int | None = option(WholeNumber(low=1), "depth of the interim memory of each PE", **_DEPTH)
    template: str | None = option(
        Text(example="Pe16"),
        "a preset of the array (see tabla templates)",
        group=_ARRAY,
        commands=(*BUILDS, "overlay"),
        metavar="NAME",
        example="Pe64",
        helps={"overlay": "a preset of the array, or an overlay such as LearningOverlay"},
    )
    templates: str | Path | None = option(
        FileName(),
        "a file with presets and number formats of your own",
        group=_ARRAY,
        commands=(*BUILDS, "overlay"),
        metavar="FILE.td",
        example="my.td",
    )
    onto: str | Path | None = option(
        FileName(),
        "the folder of an overlay: compile for its array, which has its size, memories, number format and bus fixed",
        group=_ARRAY,
        commands=BUILDS,
        metavar="FOLDER",
        example="overlay",
    )
    effort: int = option(
        WholeNumber(low=0, high=len(EFFORTS) - 1),
        f"how long to search for a fast schedule: 0 is quickest, 3 may take minutes (default {DEFAULT_EFFORT})",
        default=DEFAULT_EFFORT,
        group=_ARRAY,
        commands=BUILDS,
        metavar="0..3",
        example="3",
    )
    objective: Objective = option(
        Choice(values=OBJECTIVES, what="objective"),
        "make small the cycles of a sample (throughput, the default), or those until its last result (latency)",
        default="throughput",
        group=_ARRAY,
        commands=BUILDS,
        example="latency",
    )
    part: str | None = option(
        Text(example="LFE5U-45F"),
        "the FPGA that the design is for: the search leaves out arrays that need more block RAMs than it has, and gen"
        " refuses a design that it does not hold (default: the largest known part; see tabla targets)",
        group=_ARRAY,
        commands=BUILDS,
        metavar="NAME",
        example="LFE5U-45F",
    )
    force: bool = option(
        Switch(),
        "go on with a program that no known part holds",
        default=False,
        group=_ARRAY,
        commands=BUILDS,
    )
    format: str | None = option(
        Text(example="q6.10", known="I from 2 to 32, F from 0 to 30, 8 to 32 bits in all"),
        "number format: I integer bits with the sign, F fraction bits (default q6.10); a name that tabla templates"
        " lists; or auto, or autoN for N bits: the data choose it (train, gen, eval, sim)",
        group=_PROGRAM,
        commands=(*BUILDS, "overlay", "pass"),
        metavar="qI.F",
        example="q4.12",
        helps={"overlay": "number format (default q6.10)", "pass": "number format, if the file names none"},
    )
    saturate: bool = option(
        Switch(),
        "make inputs and labels outside of the format's range the nearest word (always so with --format auto)",
        default=False,
        group=_PROGRAM,
        commands=BUILDS,
    )
    model_guard: int | None = option(
        WholeNumber(low=0),
        "bits that models that learn have beside those of a word (default 0, or with --format auto as the data ask)",
        group=_PROGRAM,
        commands=(*BUILDS, "pass"),
        metavar="G",
        example="4",
        unit="bits",
    )
    bus: str | None = option(
        Choice(values=("axi",), what="bus"),
        "also write a wrapper for this bus: <name>_axi.v",
        group=_HOST,
        commands=("gen", "overlay"),
        example="axi",
    )
    bus_width: int | None = option(
        NumberChoice(values=BUS_WIDTHS),
        f"bits of the streams of the bus: {', '.join(map(str, BUS_WIDTHS))} (default {BUS_WIDTHS[0]})",
        group=_HOST,
        commands=("gen", "overlay"),
        metavar="N",
        example="64",
        unit="bits",
    )
    passes: Sequence[Pass[...]] = option(
        Object(check=_checked_passes),
        "passes of your own, which run after those of the pipeline",
        default=(),
        group="extensions",
        functions=("compile",),
    )
    scheduler: Scheduler | None = option(
        Object(check=_checked_scheduler),
        "a function that places the strands, in place of the list scheduler",
        group="extensions",
        functions=("compile",),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bus is None and self.bus_width is not None:
            raise TablaValueError("--bus-width is given without a bus", hint="add --bus axi")
        for name in _MEMORIES:
            words = getattr(self, name)
            if words is not None and words > limits().memory_words:
                raise TablaValueError(
                    f"--{name.replace('_', '-')} {words} is not a memory depth",
                    hint=f"use 1 to {limits().memory_words} words",
                )

    @property
    def records(self) -> str | None:
        """The file of `templates` as text."""
        return None if self.templates is None else str(self.templates)

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

    def _overlay_array(self, folder: str | Path) -> Template:
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
        known = presets(self.records)
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
        record = formats(self.records).get(text)
        if record is None and width_of(text) is not None:
            raise TablaValueError(
                f"--format {text} chooses the format from data, and there is none here",
                hint="train, and gen with --data FILE, print the format that fits; name it here, such as q6.10."
                " In Python: tabla.compile(..., format='auto', data=...)",
            )
        return Format.parse(text) if record is None else Format.parse(record.text)


@dataclass(frozen=True, kw_only=True)
class Options(ArrayOptions, ProgramOptions):
    """The options of a build: those of its array, and those of its program.

    `predicted` names the value of an inference build, where it is not the one that the program compares with a label.
    """

    predicted: str | None = None


def unknown_template(name: str, known: Iterable[str]) -> TablaValueError:
    """Return the error that refuses the name of a template. The cure lists the `known` ones."""
    return TablaValueError(f"unknown template '{name}'", hint=f"there are {', '.join(sorted(known))}")
