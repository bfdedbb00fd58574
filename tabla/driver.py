"""From a program to a build, and what can be done with a build. Read this file first.

``compile("model.t", pes=16)`` goes the whole way from the text to the microcode. :func:`build` only reads and checks
the text; each stage behind it is made when it is first asked for (:class:`tabla.build.stages.Stages`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabla.base.source import Source, TablaError, TablaTypeError
from tabla.build.options import Options
from tabla.build.parameters import EPOCHS, NOTHING, check_tools, checked_path
from tabla.build.stages import STAGES, Stages
from tabla.graph.passes.pipeline import Pass
from tabla.languages.onnx.model import Model
from tabla.learn.data.reading import Data, Given
from tabla.schedule.mapping.effort import DEFAULT_EFFORT, Objective

if TYPE_CHECKING:
    from tabla.build.synth import SynthesisReport
    from tabla.build.synth.board import Bitstream
    from tabla.learn.format_choice import FormatChoice
    from tabla.learn.record import Training
    from tabla.learn.runs import Simulation
    from tabla.learn.test import Tested
    from tabla.schedule.placing.placed import Scheduler
    from tabla.templates.targets import Device, Target

__all__ = ["STAGES", "Build", "build", "compile"]


def compile(
    source: str | Path | Model | Callable[..., Any],
    *,
    pes: int | None = None,
    pes_per_pu: int | None = None,
    sequencers: int | None = None,
    format: str | None = None,
    defines: Mapping[str, str | float] = NOTHING,
    learning_rate: str | float | None = None,
    runtime_rate: bool = False,
    minibatch: int = 1,
    model_guard: int | None = None,
    results: Sequence[str] = (),
    sizes: Mapping[str, int] = NOTHING,
    inputs: Data | None = None,
    keep: Sequence[str] = (),
    shapes: Mapping[str, Sequence[int]] = NOTHING,
    arguments: Mapping[str, object] = NOTHING,
    train: Sequence[str] = (),
    freeze: Sequence[str] = (),
    loss: str | None = None,
    stream_words: int | None = None,
    model_words: int | None = None,
    data_words: int | None = None,
    interim_words: int | None = None,
    template: str | None = None,
    templates: str | Path | None = None,
    bus: str | None = None,
    bus_width: int | None = None,
    onto: str | Path | None = None,
    effort: int = DEFAULT_EFFORT,
    objective: Objective = "throughput",
    force: bool = False,
    saturate: bool = False,
    passes: Sequence[Pass] = (),
    scheduler: Scheduler | None = None,
    data: Given | None = None,
    epochs: int | None = None,
    weights: Data | None = None,
    seed: int | None = None,
    samples: int | None = None,
    test: Given | None = None,
    split: str | float | Sequence[float] | None = None,
    split_seed: int | None = None,
    shuffle: int | None = None,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    classes: str | Sequence[str] = (),
    standardise: bool = False,
    standardise_labels: bool = False,
) -> Build:
    """Compile a program for the array that the options describe.

    `source` is one of these:

    * the path of a program, ``model.t``;
    * the path of a kernel, ``kernel.tc`` or ``kernel.tc:def``, with ``sizes`` or ``inputs`` among the options;
    * a Tile function, or its path ``layer.py:function``, with ``shapes`` or ``inputs``, and with ``arguments`` for the
      parameters that are no tensors;
    * the path of a model that was trained elsewhere, ``model.onnx``, or the model as :mod:`tabla.imported` reads it.

    None leaves a choice to the tool or to the template.

    The array:

    * `pes`: the number of processing elements (PEs), 1 to 128; 16 without a template.
    * `pes_per_pu`: the number of PEs of a processing unit (PU), a divisor of `pes`.
    * `sequencers`: the number of instruction streams, a divisor of `pes`.
    * `stream_words`: the words of the input port per cycle, a power of two from 1 to 128, and the most words that leave
      in one cycle.
    * `model_words`, `data_words`, `interim_words`: the depths of the memories of each PE, in words, 1 or more.
    * `template`: the name of a preset, such as ``Pe16``. `templates`: the path of a file with more presets and formats.
    * `format`: a number format ``qI.F``, where I is 2 to 32, F is 0 to 30 and I + F is 8 to 32; or the name of one; or
      ``auto``, or ``autoN`` for N bits, 8 to 32: the data choose it, see below.
    * `bus`: ``axi`` for a wrapper that speaks AXI. `bus_width`: the bits of its streams, 32, 64, 128, 256 or 512.
    * `onto`: the folder of an overlay, for whose array the program is compiled; it has all of the above fixed.
    * `effort`: how long to search for a fast schedule, 0 to 3. `force` goes on with a program that no known part holds.
    * `objective`: ``throughput`` for the fewest cycles a sample, or ``latency`` for the fewest from the first word of a
      sample to its last result, or to its last update where nothing is returned.

    The program:

    * `defines`: the values of constants and of ``$name`` variables, such as ``{"m": 10}``.
    * `learning_rate`: the constant ``mu``. `runtime_rate`: hosts can load another one beside the models, as `mu`.
    * `minibatch`: the number of samples of a step, 1 or more.
    * `saturate`: inputs and labels outside of the range of the format become the nearest word. Without it they are an
      error, unless ``format="auto"`` chose the format.
    * `model_guard`: the bits that models that learn have beside those of a word, 0 or more; None stands for 0, or
      with ``format="auto"`` for what the data ask for.
    * `results`: the names of values to return beside the models.
    * `sizes`: the sizes of a kernel, each 1 or more. `inputs`: arrays by name, or their file, whose shapes give sizes.
    * `keep`: the names of the inputs of a kernel that are loaded once.
    * `shapes` and `arguments`: the tensors and the other parameters of a Tile function.
    * `train`: the initialisers of a model of ONNX that learn; or with `freeze`, those that do not. `loss`:
      ``cross-entropy`` or ``mse``, against the label ``label``.

    Extensions: `passes` run after those of :mod:`tabla.graph.passes.pipeline`, and `scheduler` places the strands.

    The data that ``format="auto"`` chooses by: `data`, `epochs`, `weights`, `seed`, `samples`, `test`, `split`,
    `split_seed`, `shuffle`, `columns`, `classes`, `standardise` and `standardise_labels` are parameters of
    :meth:`Build.train`, with the same defaults. Give `train` the same ones. Only the training part is looked at.
    Without `data`, the format fits one pass over `inputs`, with the `weights`, `seed` and `samples` of
    :meth:`Build.evaluate`. The build has the choice as its `format_choice`.

    Raises `TablaError` for every fault of the program. For an option of a wrong type the error is a TypeError, too, and
    for one that is out of its range a ValueError.
    """
    options = Options(
        pes=pes, pes_per_pu=pes_per_pu, sequencers=sequencers, format=format, defines=defines,
        learning_rate=learning_rate, runtime_rate=runtime_rate, minibatch=minibatch, model_guard=model_guard,
        results=results, sizes=sizes, inputs=inputs, keep=keep, shapes=shapes, arguments=arguments, train=train,
        freeze=freeze, loss=loss, stream_words=stream_words, model_words=model_words, data_words=data_words,
        interim_words=interim_words, template=template,
        templates=None if templates is None else checked_path("templates", templates), bus=bus, bus_width=bus_width,
        onto=None if onto is None else checked_path("onto", onto), effort=effort, objective=objective,
        force=force, saturate=saturate, passes=passes, scheduler=scheduler,
    )  # fmt: skip
    options.refuse_unused_records(template, format)
    from tabla.learn.auto_format import for_build

    # Only where data are to choose the format; otherwise the options come back as they are.
    chosen, format_choice = for_build(
        partial(build, source), options, data, epochs=epochs, weights=weights, seed=seed, samples=samples, test=test,
        split=split, split_seed=split_seed, shuffle=shuffle, columns=columns, classes=classes, standardise=standardise,
        standardise_labels=standardise_labels,
    )  # fmt: skip
    made = build(source, chosen, format_choice)
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

    def evaluate(
        self,
        inputs: Given,
        *,
        float64: bool = False,
        samples: int | None = None,
        seed: int | None = None,
        weights: Data | None = None,
        devices: int | None = None,
    ) -> dict[str, NDArray[np.float64]]:
        """Return the models after the last sample, and the results of all samples, as the program means them.

        No hardware takes part. `inputs` are arrays by name, or the path of their file. With `float64` the numbers are
        not rounded to the number format. `samples`, 1 or more, limits the run to the first samples. Models that
        `inputs` lacks come from `weights`, or are drawn by `seed`, 0 or more. `devices` share each step, as those of
        `train` do. Data that does not fit the program is a `TablaError`.
        """
        from tabla.learn.runs import evaluate

        return evaluate(self, inputs, float64=float64, samples=samples, seed=seed, weights=weights, devices=devices)

    def simulate(
        self,
        inputs: Given,
        *,
        engine: str = "model",
        samples: int | None = None,
        seed: int | None = None,
        weights: Data | None = None,
    ) -> Simulation:
        """Run the simulated accelerator, hold every word against the evaluation, and count cycles.

        `engine` is ``model``, ``cxxrtl``, ``verilator``, ``icarus``, ``amaranth``, or ``serial:PATH`` for a board. The
        other parameters are those of `evaluate`.
        """
        from tabla.learn.runs import simulate

        return simulate(self, inputs, engine=engine, samples=samples, seed=seed, weights=weights)

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
        from tabla.build.files.notebook import report_html

        return report_html(self.name, self.report())

    def train(
        self,
        data: Given,
        *,
        epochs: int = EPOCHS,
        predict: str | None = None,
        metric: str | None = None,
        weights: Data | None = None,
        seed: int = 0,
        engine: str | None = None,
        samples: int | None = None,
        test: Given | None = None,
        split: str | float | Sequence[float] | None = None,
        split_seed: int | None = None,
        shuffle: int | None = None,
        patience: int | None = None,
        columns: Mapping[str, str | Sequence[str]] | None = None,
        classes: str | Sequence[str] = (),
        standardise: bool = False,
        standardise_labels: bool = False,
        devices: int | Sequence[str] | None = None,
        scheduler: str | None = None,
        report: Callable[[object], None] | None = None,
        remark: Callable[[str], None] | None = None,
    ) -> Training:
        """Train the models in the evaluation and on the simulated accelerator, and in float64 for comparison.

        `data` are arrays by name, the path of an .npz or .csv file, a data frame, or a pair ``(X, y)`` of the input and
        the label. `epochs`, 1 or more, is the number of passes
        over them. `predict` names the value to compare with the label. `metric` is ``accuracy``, ``mse``, ``hinge``,
        ``mae`` or ``r2``. The models start from `weights`, or else from `seed`, 0 or more. `engine` is one of those of
        `simulate`, which takes all steps, or ``evaluation``, the default: the simulated accelerator then repeats the
        first 16 steps and the last 16. `samples`, 1 or more, limits the data to the first samples. `report` is called
        with the progress, and `remark` with a line that says why machine code is not used where it would be faster.

        Samples that are held out are scored after every epoch and never learnt from: those of `test`, or the share
        `split` of `data`, or with ``split=(0.2, 0.1)`` a test and a validation part. `split_seed`, 0 or more, chooses
        them. With a `patience`, 1 or more, training stops after so many epochs without a smaller validation loss, and
        keeps the best models.

        `columns`, such as ``{"x": ["sepal", "petal"], "y": "species"}``, names the columns of a table or data frame;
        ``"*"`` stands for all the others. `classes` are the labels whose values name classes. `standardise` gives the
        inputs, and `standardise_labels` the labels, a mean of 0 and a standard deviation of 1. All this is fitted to
        the samples that are learnt from, and kept beside the models of the result, so that `test` and `evaluate` use
        it again. `shuffle`, 0 or more, is the seed of a new order of those samples.

        `devices` learn one model together: a number of simulated ones, or the names of boards, such as
        ``["serial:/dev/ttyUSB0", "serial:/dev/ttyUSB1"]``. Each takes its share of every minibatch, and the host adds
        up what they have learnt. With `scheduler`, the address of a Dask scheduler, its workers simulate the devices.
        """
        from tabla.learn.train import train

        return train(
            self,
            data,
            epochs=epochs,
            predict=predict,
            metric=metric,
            weights=weights,
            seed=seed,
            engine=engine,
            samples=samples,
            test=test,
            split=split,
            split_seed=split_seed,
            shuffle=shuffle,
            patience=patience,
            columns=columns,
            classes=classes,
            standardise=standardise,
            standardise_labels=standardise_labels,
            devices=devices,
            scheduler=scheduler,
            report=report,
            remark=remark,
        )

    def test(
        self,
        data: Given,
        *,
        weights: Data | None = None,
        predict: str | None = None,
        metric: str | None = None,
        engine: str | None = None,
        samples: int | None = None,
        columns: Mapping[str, str | Sequence[str]] | None = None,
        classes: str | Sequence[str] = (),
    ) -> Tested:
        """Score the models `weights` on `data` without learning: metric, loss and the confusion matrix of classes.

        A program that learns is run as its inference part. A model of ONNX brings its `weights`, and is scored by the
        array ``label`` of the data. Without an `engine` every sample is evaluated, and the first
        ones run on the cycle model as well. The other parameters are those of `train`.
        """
        from tabla.learn.test import test

        return test(
            self,
            data,
            weights=weights,
            predict=predict,
            metric=metric,
            engine=engine,
            samples=samples,
            columns=columns,
            classes=classes,
        )

    def synthesise(self, target: str, *, place_and_route: bool = False, **options: Any) -> SynthesisReport:
        """Return the area on an FPGA, by the name of its family; with `place_and_route`, also the clock.

        `options` are those of :func:`tabla.build.synth.synthesise`. A program for an overlay is a `TablaError`.
        """
        self._refuse_overlay("tabla synth takes its folder")
        from tabla.build.synth import chosen_part, source_lines, synthesise
        from tabla.hw.places import signal_places
        from tabla.templates.targets import target as find_target

        check_tools(options)
        # The part is looked up before the program is compiled, which may take seconds.
        about_part = {name: options[name] for name in ("device", "speed", "seeds", "templates") if name in options}
        chosen_part(target, place_and_route=place_and_route, **about_part)
        family = find_target(target, options.get("templates"))
        self._refuse_memories((family, family.device(options.get("device"))))
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

        `templates` is a file with more records. `options` are those of :func:`tabla.build.synth.board.build_bitstream`.
        """
        from tabla.build.synth.board import build_bitstream
        from tabla.templates.targets import board as find_board
        from tabla.templates.targets import target

        self._refuse_overlay("tabla synth takes its folder")
        check_tools(options)
        templates = None if templates is None else checked_path("templates", templates)
        found = find_board(board, templates)
        family = target(found.target, templates)
        self._refuse_memories((family, family.device(found.device)))
        return build_bitstream(self.image, self.module, self.verilog, found, family, **options)

    def refuse_too_large(self, part: tuple[Target, Device] | None = None) -> None:
        """Raise `TablaError` for a program whose models and sample the part does not hold, or no known part.

        Nothing is compiled for that. With the option ``force`` nothing is refused.
        """
        from tabla.schedule.mapping.capacity import refuse_excess, refuse_without_part

        if self.options.force or self.options.onto is not None:
            return
        with self.reading.text.pointing_back():
            refuse_excess(self.graph, self.template)  # first, because `force` cannot help there
            refuse_without_part(self.graph, self.format, self.options.templates, () if part is None else (part,))

    def _refuse_memories(self, part: tuple[Target, Device] | None = None) -> None:
        """Raise `TablaError` for a design whose memories the part does not hold, or no known part."""
        from tabla.build.cost.capacity import refuse_without_room
        from tabla.schedule.mapping.capacity import known_parts

        if self.options.force or self.options.onto is not None:
            return
        self.refuse_too_large(part)
        parts = known_parts(self.options.templates) if part is None else [part]
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
