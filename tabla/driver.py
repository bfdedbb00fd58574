"""From a program to a build, and what can be done with a build. Read this file first.

``compile("model.t", pes=16)`` goes the whole way from the text to the microcode. :func:`build` only reads and checks
the text; each stage behind it is made when it is first asked for (:class:`tabla.build.stages.Stages`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabla.base.options import taking
from tabla.base.parameters import checked_path
from tabla.base.source import Source, TablaError, TablaTypeError
from tabla.build.options import Options
from tabla.build.part_options import BoardOptions, PartOptions
from tabla.build.stages import STAGES, Stages
from tabla.languages.onnx.model import Model
from tabla.learn.data.dataset import Data
from tabla.learn.data.options import DataOptions
from tabla.learn.data.source import DataSource
from tabla.learn.options import RECORDS, LearnOptions

if TYPE_CHECKING:
    from tabla.build.synth import SynthesisReport
    from tabla.build.synth.board import Bitstream
    from tabla.learn.format_choice import FormatChoice
    from tabla.learn.keywords import (
        BitstreamOptions,
        CompileOptions,
        EvaluateOptions,
        InferenceOptions,
        PredictOptions,
        ProgressiveOptions,
        SimulateOptions,
        SynthesiseOptions,
        TestOptions,
        TrainOptions,
    )
    from tabla.learn.progressive import Progressive
    from tabla.learn.record import Training
    from tabla.learn.runs import Simulation
    from tabla.learn.test import Tested
    from tabla.templates.targets import Device, Target

__all__ = ["STAGES", "Build", "build", "compile"]


@taking(*RECORDS)
def compile(
    source: str | Path | Model | Callable[..., Any],
    *,
    data: DataSource | Data | None = None,
    **options: Unpack[CompileOptions],
) -> Build:
    """Compile a program for the array that the options describe.

    `source` is one of these:

    * the path of a program, ``model.t``;
    * the path of a kernel, ``kernel.tc`` or ``kernel.tc:def``, with ``sizes`` or ``inputs`` among the options;
    * a Tile function, or its path ``layer.py:function``, with ``shapes`` or ``inputs``, and with ``arguments`` for the
      parameters that are no tensors;
    * the path of a model that was trained elsewhere, ``model.onnx``, or the model as :mod:`tabla.imported` reads it.

    None leaves a choice to the tool or to the template.

    With ``format="auto"`` the data choose the number format: `data`, with the options of data and learning, is what
    :meth:`Build.train` takes, with the same defaults. Give `train` the same ones. Only the training part is looked at.
    Without `data`, the format fits one pass over `inputs`, with the `weights`, `seed` and `samples` of
    :meth:`Build.evaluate`. The build has the choice as its `format_choice`.

    With `infer` the build is that of :meth:`Build.inference`, with the models `weights` and the value `predict`.

    Raises `TablaError` for every fault of the program. For an option of a wrong type the error is a TypeError, too, and
    for one that is out of its range a ValueError.
    """
    whole = Options.of(options)
    asked = replace(whole, infer=False)
    asked.refuse_unused_records(asked.template, asked.format, asked.part)
    from tabla.learn.auto_format import for_build, is_automatic

    # Only where data are to choose the format; otherwise the options come back as they are.
    about, learning = DataOptions.of(options), LearnOptions.of(options, "compile")
    used = replace(learning, weights=None, predict=None) if whole.infer and not is_automatic(asked) else learning
    made = build(source, *for_build(partial(build, source), asked, data, about, used))
    if whole.infer:
        made = made.inference(learning.weights, predict=learning.predict)
    made.refuse_too_large()
    made.check()
    return made


def build(
    source: str | Path | Source | Model | Callable[..., Any],
    options: Options,
    format_choice: FormatChoice | None = None,
) -> Build:
    """Read and check a program. The graph and all stages behind it are made when they are asked for.

    `source` is what `compile` takes, or the text of a TABLA program.
    `format_choice` says how the format of the options was chosen, if it was chosen from data.
    """
    return Build.of(source, options, format_choice)


@dataclass(frozen=True, kw_only=True, eq=False)
class Build(Stages):
    """A program with all its stages, and with everything that can be done with it."""

    @taking(DataOptions, LearnOptions)
    def evaluate(
        self, inputs: DataSource | Data, *, float64: bool = False, **options: Unpack[EvaluateOptions]
    ) -> dict[str, NDArray[np.float64]]:
        """Return the models after the last sample, and the results of all samples, as the program means them.

        No hardware takes part. `inputs` are arrays by name, the path of their file, or a :class:`tabla.Data`, all of
        whose samples are taken in their order. With `float64` the numbers are
        not rounded to the number format. Models that `inputs` lacks come from `weights`, or are drawn by `seed`.
        `devices` share each step, as those of `train` do. Data that does not fit the program is a `TablaError`.
        """
        from tabla.learn.runs import evaluation

        given = Data.of_source(inputs, DataOptions.of(options))
        return dict(evaluation(self, given, LearnOptions.of(options), float64=float64).arrays)

    @taking(DataOptions, LearnOptions)
    def simulate(self, inputs: DataSource | Data, **options: Unpack[SimulateOptions]) -> Simulation:
        """Run the simulated accelerator, hold every word against the evaluation, and count cycles.

        `engine` is ``model``, ``cxxrtl``, ``verilator``, ``icarus``, ``amaranth``, or ``serial:PATH`` for a board. The
        other parameters are those of `evaluate`.
        """
        from tabla.learn.runs import simulate

        return simulate(self, Data.of_source(inputs, DataOptions.of(options)), LearnOptions.of(options))

    def __call__(self, *arrays: ArrayLike, **named: ArrayLike) -> Any:
        """Run the simulated accelerator on arrays, given in the order of the program's inputs or by name.

        Return the result, or a tuple of results. Of a program that learns, return its models after the step, by name.
        """
        from tabla.learn.runs import call

        return call(self, arrays, named)

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled: a build holds functions, and its stages are made again from the program anyway."""
        raise TablaTypeError("a build cannot be pickled", hint="pickle the program and its options, and compile again")

    def _repr_html_(self) -> str:
        """Return the report as HTML, which a notebook shows."""
        return self.report()._repr_html_()

    @taking(DataOptions, LearnOptions)
    def train(
        self,
        data: DataSource | Data,
        *,
        report: Callable[[object], None] | None = None,
        remark: Callable[[str], None] | None = None,
        **options: Unpack[TrainOptions],
    ) -> Training:
        """Train the models in the evaluation and on the simulated accelerator, and in float64 for comparison.

        `data` are arrays by name, the path of an .npz or .csv file, a data frame, a pair ``(X, y)`` of the input and
        the label, or a :class:`tabla.Data` with options of its own. The models start from `weights`, or else from
        `seed`. `engine` is one of those of `simulate`, which takes all steps, or ``evaluation``, the default: the
        simulated accelerator then repeats the first 16 steps and the last 16. `report` is called with the progress, and
        `remark` with a line that says why machine code is not used where it would be faster.

        Samples that are held out are scored after every epoch and never learnt from: those of `test`, or the share
        `split` of `data`, or with ``split=(0.2, 0.1)`` a test and a validation part.

        `columns`, such as ``{"x": ["sepal", "petal"], "y": "species"}``, names the columns of a table or data frame;
        ``"*"`` stands for all the others. What is fitted to data is fitted to the samples that are learnt from. It is
        kept beside the models of the result, so that `test` and `evaluate` use it again.

        `devices` learn one model together: a number of simulated ones, or the names of boards, such as
        ``["serial:/dev/ttyUSB0", "serial:/dev/ttyUSB1"]``. Each takes its share of every minibatch, and the host adds
        up what they have learnt. With `scheduler`, the address of a Dask scheduler, its workers simulate the devices.
        """
        from tabla.learn.train import train

        given = Data.of_source(data, DataOptions.of(options))
        return train(self, given, LearnOptions.of(options), report=report, remark=remark)

    @taking(DataOptions, LearnOptions)
    def progressive(self, data: DataSource | Data, **options: Unpack[ProgressiveOptions]) -> Progressive:
        """Learn from `data` in one pass, and judge each sample just before its update, as online learners are judged.

        Return the predictions, the metric over all samples, and the running metric. The parameters are those of
        `train`, and only the training part is learnt from. The words are those of every engine.
        """
        from tabla.learn.train import learning_start, progressive

        learning = LearnOptions.of(options)
        start = learning_start(self, Data.of_source(data, DataOptions.of(options)), learning)
        return progressive(self, start, learning)

    @taking(DataOptions, LearnOptions)
    def test(self, data: DataSource | Data, **options: Unpack[TestOptions]) -> Tested:
        """Score the models `weights` on `data` without learning: metric, loss and the confusion matrix of classes.

        Of a :class:`tabla.Data` that holds samples out, its test part is scored. A program that learns is run as its
        inference part. A model of ONNX brings its `weights`, and is scored by the array ``label`` of the data. Without
        an `engine` every sample is evaluated, and the first ones run on the cycle model as well. The other parameters
        are those of `train`.
        """
        from tabla.learn.test import test

        return test(self, Data.of_source(data, DataOptions.of(options)), LearnOptions.of(options))

    @taking(DataOptions, LearnOptions)
    def predict(self, data: DataSource | Data | NDArray[Any], **options: Unpack[PredictOptions]) -> Any:
        """Predict with the models `weights`, or those that a model of ONNX brings; labels in the data are ignored.

        Return a data frame if one was given, with its index: the names of the classes under the label, if it has
        classes, and the predicted values. Otherwise these are arrays by name. Data is standardised as when the models
        were learnt, and predictions of standardised labels are in the user's units. `data` may also be the array of the
        only input. Without an `engine` every sample is evaluated, and the first ones run on the cycle model as well.
        """
        from tabla.learn.predict import as_given, predict

        given = Data.of_source(data, DataOptions.of(options))  # type: ignore[arg-type]  # an array alone is for this
        return as_given(predict(self, given, LearnOptions.of(options)), given.source)

    @taking(LearnOptions)
    def inference(
        self, weights: str | Path | Mapping[str, ArrayLike] | None = None, **options: Unpack[InferenceOptions]
    ) -> Build:
        """Return the build of the part of the program that predicts, without any update.

        The accelerator computes a prediction for each sample, and needs no labels. With the models `weights`, or those
        of a model of ONNX, its memories start with them: a run needs no load before it. Without them the host loads the
        models. The options are those of this build, and `minibatch` is the number of samples that are computed
        together. Models that lack one that the predictions read are a `TablaError`.
        """
        from tabla.learn.inference import inference

        learning = LearnOptions.of(options)
        return inference(self, weights, learning.predict)

    @taking(PartOptions)
    def synthesise(
        self,
        target: str,
        *,
        progress: Callable[[str], None] = lambda step: None,
        **options: Unpack[SynthesiseOptions],
    ) -> SynthesisReport:
        """Return the area on an FPGA, by the name of its family; with `place_and_route`, also the clock.

        `progress` is called with a text before each step. A design that the part does not hold is made for that part
        instead, as :meth:`fitted` has it. A program for an overlay is a `TablaError`.
        """
        self._refuse_overlay("tabla synth takes its folder")
        from tabla.build.synth import chosen_part, source_lines, synthesise
        from tabla.hw.places import signal_places
        from tabla.templates.targets import target as find_target

        asked = PartOptions.of(options)
        # The part is looked up before the program is compiled, which may take seconds.
        chosen_part(target, asked)
        family = find_target(target, asked.records)
        made = self.fitted((family, family.device(asked.device)), progress=progress)
        places = signal_places(made.image, made.module) if asked.place_and_route else {}
        lines = source_lines(made.verilog, f"{made.name}.v", made.module, places)
        cycles = made.schedule.cycles
        return synthesise(made.verilog, made.module, target, asked, cycles=cycles, lines=lines, progress=progress)

    @taking(BoardOptions)
    def bitstream(
        self,
        board: str,
        *,
        templates: str | Path | None = None,
        progress: Callable[[str], None] = lambda step: None,
        **options: Unpack[BitstreamOptions],
    ) -> Bitstream:
        """Make the bitstream of a board, by the name of its record.

        `templates` is a file with more records. `progress` is called with a text before each step. A design that the
        board's part does not hold is made for that part instead, as :meth:`fitted` has it.
        """
        from tabla.build.synth.board import build_bitstream
        from tabla.templates.targets import board as find_board
        from tabla.templates.targets import target

        self._refuse_overlay("tabla synth takes its folder")
        asked = BoardOptions.of(options)
        records = None if templates is None else checked_path("templates", templates)
        found = find_board(board, records)
        family = target(found.target, records)
        made = self.fitted((family, family.device(found.device)), progress=progress)
        return build_bitstream(made.image, made.module, made.verilog, found, family, options=asked, progress=progress)

    def fitted(self, part: tuple[Target, Device], *, progress: Callable[[str], None] = lambda step: None) -> Build:
        """Return this build, or one that is made for a part that has too few block RAMs for this one.

        A build whose options name a part, or that is forced, stays as it is. `progress` is called with a text before
        the program is compiled again. A program whose memories the part does not hold either way is a `TablaError`.
        """
        from tabla.build.cost.capacity import for_part, room

        name = part[1].part
        free = self.options.part is None and not self.options.force and self.options.onto is None
        if free:
            self.refuse_too_large(part)
            taken = room(self.image, part)
            if taken is not None and not taken.fits and (template := for_part(self.template, part)).block_rams:
                progress(f"note: {self.name} is compiled again, for the {taken.has_blocks:,} block RAMs of {name}")
                named = replace(self.options, part=name)
                return replace(self, options=named, template=template).fitted(part)
        self._refuse_memories(part)
        return self

    def refuse_too_large(self, part: tuple[Target, Device] | None = None) -> None:
        """Raise `TablaError` for a program whose models and sample the part does not hold, or no known part.

        Nothing is compiled for that. With the option ``force`` nothing is refused.
        """
        from tabla.schedule.mapping.capacity import refuse_excess, refuse_without_part

        part = part or self._named_part
        if self.options.force or self.options.onto is not None:
            return
        with self.reading.text.pointing_back():
            refuse_excess(self.graph, self.template)  # first, because `force` cannot help there
            refuse_without_part(self.graph, self.format, self.options.records, () if part is None else (part,))

    @property
    def _named_part(self) -> tuple[Target, Device] | None:
        """The part that the options name, with its family. An unknown one is a `TablaError`."""
        from tabla.build.cost.capacity import named_part

        return None if self.options.part is None else named_part(self.options.part, self.options.records)

    def _refuse_memories(self, part: tuple[Target, Device] | None = None) -> None:
        """Raise `TablaError` for a design whose memories the part does not hold, or no known part."""
        from tabla.build.cost.capacity import refuse_without_room
        from tabla.schedule.mapping.capacity import known_parts

        part = part or self._named_part
        if self.options.force or self.options.onto is not None:
            return
        self.refuse_too_large(part)
        parts = known_parts(self.options.records) if part is None else [part]
        refuse_without_room(self.image, self.name, parts, named=part is not None)

    def _refuse_overlay(self, cure: str) -> None:
        """Raise `TablaError` if the program is for an overlay, which has hardware of its own."""
        if self.options.onto is not None:
            raise TablaError("a program for an overlay has no hardware of its own", hint=f"leave --onto out; {cure}")

    def write(self, folder: str | Path = "build") -> Path:
        """Write the output folder of ``tabla gen``, as a whole or not at all, and return its path."""
        from tabla.build.bench.vectors import SEED
        from tabla.build.files.output_folder import write
        from tabla.learn.runs import words_of_inputs

        self._refuse_memories()
        # The words of --inputs are for the test bench. A build may not read data itself (decision 35).
        given = None if self.options.inputs is None else partial(words_of_inputs, self, SEED)
        return write(self, Path(checked_path("folder", folder)), given)
