"""From a program to a build, and what can be done with a build. Read this file first.

``compile("model.t", pes=16)`` goes the whole way from the text to the microcode. :func:`build` only reads and checks
the text; each stage behind it is made when it is first asked for (:class:`tabla.stages.Stages`).
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
    from tabla.scoring import Tested
    from tabla.synth import SynthesisReport
    from tabla.synth.board import Bitstream
    from tabla.training.record import Training

__all__ = ["STAGES", "Build", "build", "compile"]


def compile(source: str | Path | Callable[..., Any], **options: Any) -> Build:
    """Compile a program for the array that the options describe. Raises `TablaError` for every fault of the program.

    `source` is one of these:

    * the path of a program, ``model.t``;
    * the path of a kernel, ``kernel.tc`` or ``kernel.tc:def``, with ``sizes`` or ``inputs`` among the options;
    * a Tile function, or its path ``layer.py:function``, with ``shapes`` or ``inputs``, and with ``arguments`` for the
      parameters that are no tensors.

    `options` are the fields of :class:`tabla.options.Options`.
    """
    made = build(source, Options(**options))
    made.check()
    return made


def build(source: str | Path | Callable[..., Any], options: Options) -> Build:
    """Read and check a program. The graph and all stages behind it are made when they are asked for."""
    template = options.chosen_template()
    number = Format(integer=template.integer_bits, fraction=template.fraction_bits)
    reading = read(source, options)
    return Build(name=reading.name, options=options, reading=reading, template=template, format=number)


@dataclass(frozen=True, kw_only=True, eq=False)
class Build(Stages):
    """A program with all its stages, and with everything that can be done with it."""

    def evaluate(self, inputs: Mapping[str, ArrayLike], **options: Any) -> dict[str, NDArray[np.float64]]:
        """Return the models after the last sample, and the results of all samples, as the program means them.

        No hardware takes part. `inputs` are arrays by name, and `options` are those of :func:`tabla.runs.evaluate`.
        """
        from tabla.runs import evaluate

        return evaluate(self, inputs, **options)

    def simulate(self, inputs: Mapping[str, ArrayLike], **options: Any) -> Simulation:
        """Run the simulated accelerator, hold every word against the evaluation, and count cycles.

        `inputs` are arrays by name, and `options` are those of :func:`tabla.runs.simulate`.
        """
        from tabla.runs import simulate

        return simulate(self, inputs, **options)

    def __call__(self, *arrays: ArrayLike, **named: ArrayLike) -> Any:
        """Run the simulated accelerator on arrays, given in the order of the program's inputs or by name.

        Return the result, or a tuple of results. Of a program that learns, return its models after the step, by name.
        """
        from tabla.runs import call

        return call(self, arrays, named)

    def _repr_html_(self) -> str:
        """Return the report as HTML, which a notebook shows."""
        from tabla.report.notebook import report_html

        return report_html(self.name, self.report())

    def train(self, data: Mapping[str, ArrayLike] | str | Path, *, epochs: int = 10, **options: Any) -> Training:
        """Train the models on the simulated accelerator.

        `data` are arrays by name, or the path of an .npz or .csv file. `options` are those of :func:`tabla.runs.train`.
        """
        from tabla.runs import train

        return train(self, data, epochs=epochs, **options)

    def test(
        self,
        data: Mapping[str, ArrayLike] | str | Path,
        *,
        weights: Mapping[str, ArrayLike] | str | Path,
        **options: Any,
    ) -> Tested:
        """Score the models `weights` on `data` without learning: metric, loss and the confusion matrix of classes.

        Both are arrays by name, or paths of files. `options` are those of :func:`tabla.scoring.test`.
        """
        from tabla.scoring import test

        return test(self, data, weights=weights, **options)

    def synthesise(self, target: str, *, place_and_route: bool = False, **options: Any) -> SynthesisReport:
        """Return the area on an FPGA, by the name of its family; with `place_and_route`, also the clock.

        `options` are those of :func:`tabla.synth.synthesise`.
        """
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
        """Make the bitstream of a board, by the name of its record.

        `templates` is a file with more records. `options` are those of :func:`tabla.synth.board.build_bitstream`.
        """
        from tabla.synth.board import build_bitstream
        from tabla.templates.targets import board as find_board
        from tabla.templates.targets import target

        found = find_board(board, templates)
        return build_bitstream(self.image, self.module, self.verilog, found, target(found.target, templates), **options)

    def check_output(self, folder: str | Path) -> None:
        """Raise `TablaError` for a folder that `write` would refuse, before any stage is made."""
        from tabla.report.folder import check_replaceable

        check_replaceable(Path(folder))

    def write(self, folder: str | Path = "build") -> Path:
        """Write the output folder of ``tabla gen``, as a whole or not at all, and return its path."""
        from tabla.artifacts import write

        return write(self, Path(folder))
