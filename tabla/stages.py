"""The stages of a build: text -> tree -> graph -> legal graph -> mapping -> schedule -> program -> Verilog.

Each stage is made once, when it is first asked for. :class:`tabla.driver.Build` adds what can be done with them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from tabla.ir.format import Format
from tabla.ir.graph import Graph
from tabla.ir.legal import Legal
from tabla.mapping.effort import effort_of
from tabla.mapping.mapping import Mapping
from tabla.notations import Reading
from tabla.options import Options
from tabla.passes.minibatch import minibatched
from tabla.passes.pipeline import shaped
from tabla.program.image import Image
from tabla.schedule.schedule import Schedule
from tabla.source import TablaError
from tabla.templates.template import Template

if TYPE_CHECKING:
    from tabla.bound import Bound
    from tabla.report.figures import BuildReport
    from tabla.schedule.placed import Scheduler

STAGES = ("ast", "graph", "mapping", "schedule", "program")


@dataclass(frozen=True, kw_only=True, eq=False)
class Stages:
    """A program on its way from text to Verilog.

    `name` is the program's name, `reading` its checked text, `template` the array that the options describe, and
    `format` the format of its words.
    """

    name: str
    options: Options
    reading: Reading = field(repr=False)
    template: Template
    format: Format

    def format_of(self, name: str) -> Format:
        """What the words of an input or a result stand for: reals of the build's format, or integers."""
        if name in self.reading.integers:
            return Format(integer=self.format.width, fraction=0)
        return self.format

    def relowered(self, results: tuple[str, ...]) -> Graph:
        """What the text says of one sample, with `results` to return too."""
        with self.reading.text.pointing_back():
            return self.reading.lower(self.format, results)

    @cached_property
    def sample(self) -> Graph:
        """What the text says of one sample."""
        made = self.relowered(self.options.results)
        if self.options.minibatch > 1 and not made.updates:
            file, hint = self.reading.text.original.name, "leave --minibatch out: samples overlap anyway"
            raise TablaError(f"'{file}' has no gradient, so it takes no steps", hint=hint)
        return made

    @cached_property
    def lowered(self) -> Graph:
        """The same for a step of ``options.minibatch`` samples, word for word: the judge of the machine."""
        return minibatched(self.sample, self.options.minibatch)

    @cached_property
    def graph(self) -> Graph:
        """What is compiled: the same after the passes."""
        from tabla.report.notebook import drawn_graph

        return drawn_graph(shaped(self.lowered, self.format, self.options.passes))

    @property
    def module(self) -> str:
        """The name of the Verilog module: the program's, made legal."""
        from tabla.report.names import legal

        return legal(self.name)

    @cached_property
    def verilog(self) -> str:
        """The accelerator."""
        from tabla.hw.emit import verilog

        return verilog(self.image, self.module)

    @cached_property
    def legal(self) -> Legal:
        """What the machine runs: the graph after the legalising passes, with the words of its constants."""
        from tabla.backend import legal_graph

        with self.reading.text.pointing_back():
            return legal_graph(self.graph, self.template, self.format)

    @property
    def _scheduler(self) -> Scheduler:
        from tabla.schedule.list_scheduler import list_schedule

        return self.options.scheduler or list_schedule

    @cached_property
    def mapping(self) -> Mapping:
        """Where each tensor lies and how each statement is computed.

        Raises `TablaError` for a program that cannot be mapped.
        """
        from tabla.backend import best_mapping

        with self.reading.text.pointing_back():
            effort = effort_of(self.options.effort)
            return best_mapping(self.graph, self.legal, self.template, self.format, effort, self._scheduler)

    @cached_property
    def schedule(self) -> Schedule:
        """When every unit does what, checked. A program that does not fit is a `TablaError`."""
        from tabla.backend import checked_schedule
        from tabla.report.notebook import drawn_schedule

        with self.reading.text.pointing_back():
            made = checked_schedule(self.graph, self.mapping, self.template, self.format, self._scheduler)
            return drawn_schedule(made)

    @cached_property
    def bound(self) -> Bound:
        """Cycles that no schedule of the graph on the array of this build can beat: the quick bound."""
        from tabla.bound import quick

        return quick(self.graph, self.schedule.template, self.format)

    @cached_property
    def image(self) -> Image:
        """Microcode and parameters."""
        from tabla.program.encode import encode

        return encode(self.schedule)

    def check(self) -> None:
        """Go all the way to the program, for its faults."""
        _ = self.image

    def emit(self, stage: str) -> str:
        """A stage as text: one of `STAGES`."""
        match stage:
            case "ast":
                return self.reading.ast()
            case "graph":
                from tabla.ir.text import graph_text

                return graph_text(self.graph)
            case "mapping":
                return f"{self.mapping.text()}\n{self.report().costs.text()}"
            case "schedule":
                return self.schedule.text()
            case "program":
                from tabla.program.decode import disassemble

                return disassemble(self.image)
            case _:
                raise TablaError(f"there is no stage '{stage}'", hint=f"the stages are {', '.join(STAGES)}")

    def report(self) -> BuildReport:
        """Cycles, bound, words: what ``tabla gen`` prints and the manifest holds."""
        from tabla.report.figures import figures

        return figures(self.schedule, self.bound)
