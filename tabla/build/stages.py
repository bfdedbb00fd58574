"""The stages of a build: text -> tree -> graph -> legal graph -> mapping -> schedule -> microcode -> Verilog.

Each stage is made once, when it is first asked for. :class:`tabla.driver.Build` adds what can be done with a build.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np

from tabla.base import progress
from tabla.base.source import Span, TablaError, TablaValueError
from tabla.build.options import Options
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.passes.framework import Setting
from tabla.graph.passes.minibatch import minibatched
from tabla.graph.passes.model_guard import with_model_guard
from tabla.graph.passes.pipeline import LEGALISE, PassRun, groups, pass_runs, shaped
from tabla.graph.words import WordType
from tabla.languages import Program, Reading, read
from tabla.program.image import FirstWords, Image
from tabla.program.overlay import Overlay
from tabla.program.overlay_file import NAME as OVERLAY_NAME
from tabla.schedule.cache import cached
from tabla.schedule.mapping.effort import effort_of
from tabla.schedule.mapping.mapping import Mapping
from tabla.schedule.placing.schedule import Schedule
from tabla.templates.template import Template, function_kinds, functions

if TYPE_CHECKING:
    from tabla.build.files.figures import BuildReport
    from tabla.program.bus import BusShape
    from tabla.schedule.bound import Bound
    from tabla.schedule.placing.placed import Scheduler

STAGES = ("ast", "kernel", "graph", "mapping", "schedule", "program")
"""The stages that can be printed; ``program`` is the microcode."""


class FormatReport(Protocol):
    """How a number format was chosen from data. Whoever chose it hands this in."""

    def lines(self) -> Iterator[str]:
        """Yield the lines that commands print."""

    def as_json(self) -> dict[str, object]:
        """Return the entry of manifests and ``--json`` files."""


def format_entry(report: FormatReport | None) -> dict[str, object]:
    """Return the entry of a manifest or a ``--json`` file; there is none if the format was not chosen from data."""
    return {} if report is None else {"format_choice": report.as_json()}


@dataclass(frozen=True, kw_only=True, eq=False)
class Stages:
    """A program on its way from text to Verilog.

    `name` is the program's name, `options` what the user asks for, `reading` the checked text, `template` the array
    that the options describe, and `format` the format of all words. `format_choice` says how the format was chosen, if
    it was chosen from data.
    """

    name: str
    options: Options
    reading: Reading = field(repr=False)
    template: Template
    format: Format
    format_choice: FormatReport | None = None

    @classmethod
    def of(cls, source: Program, options: Options, format_choice: FormatReport | None = None) -> Self:
        """Read and check a program. The graph and all stages behind it are made when they are asked for.

        `source` is the path of a program, ``kernel.tc:def``, a Tile function, a model of ONNX, or the text of a TABLA
        program. `format_choice` says how the format of the options was chosen, if it was chosen from data. Raises
        `TablaError` for every fault of the text and of the options.
        """
        template = options.chosen_template()
        if options.part is not None and options.onto is None:
            from tabla.build.cost.capacity import for_part, named_part

            template = for_part(template, named_part(options.part, options.records))
        number = Format(integer=template.integer_bits, fraction=template.fraction_bits)
        reading = read(source, options)
        return cls(
            name=reading.name,
            options=options,
            reading=reading,
            template=template,
            format=number,
            format_choice=format_choice,
        )

    def word_type(self, tensor: str) -> WordType:
        """Return what the words of an input, a label or a model stand for."""
        return WordType.of(self.lowered.tensors[tensor], self.format, integer=tensor in self.integers)

    def result_type(self, shown: str) -> WordType:
        """Return what the words of a result stand for, by the name that is shown. A result never has guard bits."""
        return WordType(name=shown, format=self.format, role="result", integer=shown in self.integers)

    @property
    def setting(self) -> Setting:
        """What passes may ask for."""
        return Setting(
            fmt=self.format,
            samples=self.options.minibatch,
            guard=self.options.model_guard or 0,
            pes=self.template.pes,
            scatters=self.template.scatters,
            predict=self.options.predicted,
        )

    @cached_property
    def integers(self) -> frozenset[str]:
        """The inputs and results whose words are integers."""
        return self.reading.integers | self.reading.positions(self.format)

    @cached_property
    def integer_tensors(self) -> frozenset[str]:
        """The tensors of the graph whose words are integers."""
        named = self.integers
        return named | {tensor for shown, tensor in self.lowered.results if shown in named}

    def relowered(self, results: Sequence[str]) -> Graph:
        """Return the graph of one sample, which also returns the values named in `results`."""
        guard = self.options.model_guard or 0
        with self.reading.text.pointing_back():
            graph = with_model_guard.run(self.reading.lower(self.format, results), self.setting)
        if self.options.runtime_rate and graph.rate is None:
            raise TablaError(
                f"--runtime-rate: '{self.name}' has no learning rate that can be loaded",
                hint="leave --runtime-rate out; only a program that updates models has a rate",
            )
        for name in results if guard else ():
            if name in graph.updates:
                # A result is a word, and a wide model has more bits.
                raise TablaError(
                    f"--result {name}: models are returned anyway, with their guard bits", hint="leave --result out"
                )
        return graph

    @cached_property
    def sample(self) -> Graph:
        """The graph of one sample, as the text says it."""
        return self.relowered(self.options.results)

    @cached_property
    def lowered(self) -> Graph:
        """The graph of a step of ``options.minibatch`` samples. Its evaluation judges the machine, word for word."""
        return minibatched.run(self.sample, self.setting)

    @cached_property
    def graph(self) -> Graph:
        """The graph that is compiled: that of a step, after the passes."""
        from tabla.build.files.notebook import drawn_graph

        template = self.template
        made = shaped(self.lowered, self.format, self.options.passes, pes=template.pes, scatters=template.scatters)
        return drawn_graph(made)

    def pass_runs(self) -> Iterator[PassRun]:
        """Run all passes of the build anew, from the lowered program on, and yield each run when it has ended.

        The passes are those that make `lowered`, `graph` and `legal`, whether these exist already or not. Raises
        `TablaError` as these do.
        """
        from tabla.schedule.mapping.capacity import refuse_excess

        with self.reading.text.pointing_back():
            graph = self.reading.lower(self.format, self.options.results)
            for group in groups(self.options.passes):
                if group is LEGALISE:
                    refuse_excess(graph, self.template)
                for each in pass_runs(graph, self.setting, group):
                    yield each
                    graph = each.after

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is legal in the program and probably a slip, and what the number format makes of its constants."""
        return (*self.text_warnings, *self.graph.notes)

    @cached_property
    def text_warnings(self) -> tuple[str, ...]:
        """The warnings about the text alone: those of the notation, and those about parts of tensors."""
        from tabla.graph.unread_parts import remarks

        conventions = self.reading.conventions
        found = remarks(self.sample, conventions) if conventions is not None else []
        return (*self.reading.warnings, *(self._placed(remark.text, remark.span) for remark in found))

    def _placed(self, text: str, span: Span | None) -> str:
        if span is None:
            return text
        place = self.reading.text.locate(span)
        return f"{place.source.name}:{place.line}:{place.column}: {text}"

    @cached_property
    def overlay(self) -> Overlay | None:
        """The overlay that the program is compiled for, if there is one."""
        return self.options.overlay

    @property
    def module(self) -> str:
        """The name of the Verilog module: the program's name, made legal. All overlays have the same name."""
        from tabla.build.files.names import legal

        return legal(self.name) if self.overlay is None else OVERLAY_NAME

    @cached_property
    def verilog(self) -> str:
        """The accelerator as Verilog text; with an overlay, that of the overlay."""
        from tabla.hw.emit import verilog

        content = self.overlay or self.image
        progress.step("Verilog")
        return verilog(content, self.module)

    @cached_property
    def bus_shape(self) -> BusShape | None:
        """The sizes of the wrapper for the host's bus; None without a bus.

        Raises `TablaError` for a width that there is not, for steps that are too large for the wrapper, and for a
        program whose header would have the name of one that the driver has or includes.
        """
        from tabla.program.bus import BUS_WIDTHS, BusShape
        from tabla.program.host import Host

        if self.options.bus is None:
            return None
        self.refuse_header_name()
        bits = self.options.bus_width or BUS_WIDTHS[0]
        ignored = Host(self.schedule).ignored
        return BusShape.of(self.image, bus_bits=bits, dump_count=self.schedule.dump_count, ignored=ignored)

    def refuse_header_name(self) -> None:
        """Raise `TablaError` if the header of the C driver cannot have the name of the program."""
        # A compiler that searches the build folder would take it for the header that the driver includes.
        if self.name.lower() in ("tabla", "stdint", "stddef"):
            raise TablaError(f"--bus: '{self.name}.h' is the name of another header", hint="rename the program")
        if re.search(r'["\\\x00-\x1f\x7f]', self.name):
            hint = "rename the program, without quotes, backslashes and line ends"
            raise TablaError(f"--bus: C cannot include a file called {self.name + '.h'!r}", hint=hint)

    @cached_property
    def bus_verilog(self) -> dict[str, str]:
        """The accelerator with the input that its wrapper needs, and the wrapper, by the ends of their files' names.

        There are none without a bus.
        """
        from tabla.hw.bus.text import wrapper_verilog
        from tabla.hw.emit import verilog

        if self.bus_shape is None:
            return {}
        wrapper = wrapper_verilog(self.image, self.bus_shape, self.module)
        return {".v": verilog(self.image, self.module, stoppable=True), "_axi.v": wrapper}

    @cached_property
    def legal(self) -> Graph:
        """The graph that the machine can run: the graph after the legalising passes, with the words of its constants.

        Raises `TablaError` for a program that no array holds, or that the machine cannot run.
        """
        from tabla.schedule.compile import legal_graph

        with self.reading.text.pointing_back():
            return legal_graph(self.graph, self.template, self.format)

    @property
    def _scheduler(self) -> Scheduler:
        from tabla.schedule.placing.list_scheduler import list_schedule

        return self.options.scheduler or list_schedule

    @cached_property
    def mapping(self) -> Mapping:
        """Where each tensor lies and how each statement is computed.

        Raises `TablaError` for a program that cannot be mapped.
        """
        from tabla.schedule.compile import best_mapping

        with self.reading.text.pointing_back():
            effort = effort_of(self.options.effort, self.options.objective)
            return best_mapping(self.graph, self.legal, self.template, self.format, effort, self._scheduler)

    @cached_property
    def schedule(self) -> Schedule:
        """When every unit does what, proven by the checker. The schedule is that of an earlier build, if there was one
        of the same program and options.

        Raises `TablaError` if the program needs deeper memories than the options allow.
        """
        from tabla.build.files.notebook import drawn_schedule
        from tabla.schedule.compile import checked_schedule

        def made() -> Schedule:
            mapping = self.mapping
            progress.step("schedule and its check")
            # What does not fit an overlay is told by its limits, when the image is made.
            deep = self.template if self.overlay is None else self.template.of_any_depth()
            objective = self.options.objective
            return checked_schedule(self.graph, mapping, deep, self.format, self._scheduler, objective)

        with self.reading.text.pointing_back():
            if self.options.scheduler is not None:  # nobody can say when a function of the user's changes
                return drawn_schedule(made())
            # Users may add functions and kinds of functions, whose latencies the schedule keeps.
            known = (tuple(sorted(functions().items())), tuple(sorted(function_kinds().items())))
            effort = effort_of(self.options.effort, self.options.objective)
            parts: tuple[object, ...] = (self.graph, self.template, self.format, effort, known)
            parts += () if self.overlay is None else ("overlay",)
            return drawn_schedule(cached(parts, made))

    @cached_property
    def bound(self) -> Bound:
        """The quick bound: a number of cycles that no schedule of the graph on the array of this build can beat."""
        from tabla.schedule.bound import quick

        schedule = self.schedule
        progress.step("lower bound")
        return quick(self.graph, schedule.template, self.format)

    @cached_property
    def image(self) -> Image:
        """The microcode and the parameters of the hardware.

        Raises `TablaError` for a program that does not fit the overlay that it is for.
        """
        from tabla.program.encode import encode

        schedule = self.schedule
        progress.step("microcode")
        image = encode(schedule, self.overlay)
        begins = self.options.infer and self.reading.models and self.overlay is None
        return replace(image, first=self._first_words(image)) if begins else image

    def _first_words(self, image: Image) -> FirstWords:
        """Return what the memories of an inference build start with, which are the models that it brings."""
        from tabla.program.host import Host

        models = {
            name: self.word_type(name).to_words(np.asarray(self.reading.models[name]))
            for name, tensor in self.lowered.tensors.items()
            if tensor.role == "model"
        }
        return Host(self.schedule).first_words(models, image.parameters)

    @cached_property
    def image_file(self) -> bytes:
        """The image for the overlay, as ``tabla load`` writes it. Raises `TablaError` without an overlay."""
        from tabla.base.arrays import npz_bytes
        from tabla.build.files.manifest import HOST_FIELDS, manifest
        from tabla.program.host import Host
        from tabla.program.overlay_image import image_file
        from tabla.program.positions import positions

        if self.overlay is None:
            raise TablaError("an image is for an overlay, and there is none", hint="name its folder with --onto")
        image, schedule = self.image, self.schedule
        program, rate = self.reading.text.original, self.lowered.rate
        whole = manifest(schedule, self.bound, image, self.module, program, None, self.integers, rate)
        needed = {name: whole[name] for name in HOST_FIELDS if name in whole}
        return image_file(image, self.overlay, needed, npz_bytes(positions(Host(schedule)), deflate=True))

    def check(self) -> None:
        """Make every stage up to the microcode, so that every fault of the program is found."""
        _ = self.image

    def emit(self, stage: str) -> str:
        """Return a stage, one of `STAGES`, as text. Raises `TablaError` for any other name."""
        match stage:
            case "ast":
                return self.reading.ast()
            case "kernel":
                return self._kernel_text()
            case "graph":
                from tabla.graph.text import graph_file_text

                return graph_file_text(self.graph, self.format, self.integers)
            case "mapping":
                return f"{self.mapping.text()}\n{self.report().costs.text()}"
            case "schedule":
                return self.schedule.text()
            case "program":
                from tabla.program.decode import disassemble

                return disassemble(self.image)
            case _:
                raise TablaValueError(f"there is no stage '{stage}'", hint=f"the stages are {', '.join(STAGES)}")

    def _kernel_text(self) -> str:
        from tabla.languages.kernel.text import kernel_text

        kernel = self.reading.kernel or self.reading.printed_kernel
        if kernel is None:
            file = self.reading.text.original.name
            hint = "print the kernel of a program that is no .graph file and not built for inference, or another stage"
            raise TablaError(f"--emit kernel: '{file}' has no kernel", hint=hint)
        return kernel_text(kernel())

    def report(self) -> BuildReport:
        """Return the figures of the build, such as cycles, bound and words, which ``tabla gen`` prints."""
        from tabla.build.files.figures import figures

        return figures(self.schedule, self.bound, self.reading.text.locate)
