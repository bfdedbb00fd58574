"""From a program to a build, and what can be done with it. Read this file first.

``compile("model.t", pes=16)`` goes the whole way. :func:`build` reads and checks the text; the stages behind it are
made when they are asked for (:class:`tabla.stages.Stages`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabla.ir.format import Format
from tabla.notations import read
from tabla.options import Options
from tabla.stages import STAGES, Stages

if TYPE_CHECKING:
    from tabla.runs import Simulation
    from tabla.synth import SynthesisReport
    from tabla.synth.board import Bitstream
    from tabla.training.record import Training

__all__ = ["STAGES", "Build", "build", "compile"]


def compile(source: str | Path | Callable[..., Any], **options: Any) -> Build:
    """Compile a program for the array that `options` (the fields of `Options`) describe. Raises `TablaError`.

    `source` is ``model.t``, ``kernel.tc[:def]`` with ``sizes`` or ``inputs``, or a Tile function (also
    ``layer.py:function``) with ``shapes`` or ``inputs``, and ``arguments`` for its other parameters.
    """
    made = build(source, Options(**options))
    made.check()
    return made


def build(source: str | Path | Callable[..., Any], options: Options) -> Build:
    """Read and check a program; the graph and all behind it are made when they are needed."""
    template = options.chosen_template()
    number = Format(integer=template.integer_bits, fraction=template.fraction_bits)
    reading = read(source, options)
    return Build(name=reading.name, options=options, reading=reading, template=template, format=number)


@dataclass(frozen=True, kw_only=True, eq=False)
class Build(Stages):
    """A program with everything that is made of it, and with everything that can be done with it."""

    def evaluate(self, inputs: Mapping[str, ArrayLike], **options: Any) -> dict[str, NDArray[np.float64]]:
        """Models after the last sample, and results, by the program's own meaning; `options` as in `runs.evaluate`."""
        from tabla.runs import evaluate

        return evaluate(self, inputs, **options)

    def simulate(self, inputs: Mapping[str, ArrayLike], **options: Any) -> Simulation:
        """The same on the simulated accelerator, with cycles counted; `options` as :func:`runs.simulate`."""
        from tabla.runs import simulate

        return simulate(self, inputs, **options)

    def __call__(self, *arrays: ArrayLike, **named: ArrayLike) -> Any:
        """Run the simulated accelerator on arrays, in the order of the program's inputs or by name.

        Gives the result, or a tuple of them; of a program that learns, its models by name after the step.
        """
        from tabla.runs import call

        return call(self, arrays, named)

    def _repr_html_(self) -> str:
        """What a notebook shows: the report."""
        from tabla.report.notebook import report_html

        return report_html(self.name, self.report())

    def train(self, data: Mapping[str, ArrayLike] | str | Path, *, epochs: int = 10, **options: Any) -> Training:
        """Learn on the simulated accelerator; `options` as :func:`runs.train`."""
        from tabla.runs import train

        return train(self, data, epochs=epochs, **options)

    def synthesise(self, target: str, *, place_and_route: bool = False, **options: Any) -> SynthesisReport:
        """Area on an FPGA, with `place_and_route` its clock too; `options` as in :func:`synth.synthesise`."""
        from tabla.hw.places import signal_places
        from tabla.synth import source_lines, synthesise

        places = signal_places(self.image, self.module) if place_and_route else {}
        return synthesise(
            self.verilog,
            self.module,
            target,
            place_and_route=place_and_route,
            cycles=self.schedule.cycles,
            lines=source_lines(self.verilog, f"{self.name}.v", self.module, places),
            **options,
        )

    def bitstream(self, board: str, *, templates: str | None = None, **options: Any) -> Bitstream:
        """The bitstream of a board, by name of its record; `options` as in :func:`synth.build_bitstream`.

        `templates` is a file with more records.
        """
        from tabla.synth.board import build_bitstream
        from tabla.templates.targets import board as find_board
        from tabla.templates.targets import target

        found = find_board(board, templates)
        return build_bitstream(self.image, self.module, self.verilog, found, target(found.target, templates), **options)

    def check_output(self, folder: str | Path) -> None:
        """Refuse early what `write` would refuse at its end."""
        from tabla.report.folder import check_replaceable

        check_replaceable(Path(folder))

    def write(self, folder: str | Path = "build") -> Path:
        """Write the output folder of ``tabla gen``, whole or not at all; returns it."""
        from tabla.artifacts import write

        return write(self, Path(folder))
