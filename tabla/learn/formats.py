"""``tabla formats``: number formats compared by what they learn, on a validation part.

Each format learns in the evaluation alone, so nothing is scheduled and no hardware is simulated. The test part is cut
off before anything is computed from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

import numpy as np

from tabla.base import progress
from tabla.base.options import taking
from tabla.base.parameters import Whole, check_function, checked_numbers
from tabla.base.source import TablaError
from tabla.build.arrays import Samples, held, sample_words, steps_of, words_of
from tabla.build.options import Options
from tabla.build.stages import Stages
from tabla.graph.compiled.plans import Evaluators
from tabla.graph.format import LARGEST_WIDTH, LEAST_WIDTH
from tabla.languages import Program
from tabla.languages.options import ProgramOptions
from tabla.learn.auto_format import Made, learning_judge, learning_survey, wide_stages
from tabla.learn.data.dataset import Data
from tabla.learn.data.options import DataOptions
from tabla.learn.data.parts import Best, Parts
from tabla.learn.data.source import DataSource
from tabla.learn.events import Events, events
from tabla.learn.format_choice import FormatChoice, Judge, Survey
from tabla.learn.format_table import Cell, FormatTable
from tabla.learn.inference import as_learnt
from tabla.learn.measure import Measure, Score
from tabla.learn.metrics import SCORES, choose, no_classes
from tabla.learn.options import LearnOptions
from tabla.learn.train import Start, learning_start, measured_graph

if TYPE_CHECKING:
    from tabla.learn.keywords import FormatsOptions

WIDTHS, GUARDS = range(8, 19), (0, 4, 8)
"""The bits of words and the guard bits that are compared if the user names none."""
WIDTH = Whole(low=LEAST_WIDTH, high=LARGEST_WIDTH)
"""The bits of a word."""
GUARD = Whole(low=0, high=LARGEST_WIDTH // 2)
"""The guard bits of a model. No format takes more: they fit a word, and both together fit the widest one."""
TEXTS = 4
"""About so many of the compared formats need machine code of their own; all others share it."""
Models = TypeVar("Models")


@taking(DataOptions, LearnOptions, ProgramOptions)
def formats(
    source: str | Path | Callable[..., Any],
    data: DataSource | Data,
    *,
    widths: Sequence[int] = WIDTHS,
    guards: Sequence[int] = GUARDS,
    remark: Callable[[str], None] | None = None,
    **options: Unpack[FormatsOptions],
) -> FormatTable:
    """Compare number formats with each other and with float64, by what they learn, on a validation part.

    The program learns from the training part of `data` once in float64, and once for each of the `widths`, which are
    the bits of words, 8 to 32, with each of the `guards`, which are guard bits of models, 0 to 16. The integer bits
    of a width are those that ``format="autoN"`` chooses. The scores are those of the validation part: the accuracy if
    the labels are classes, otherwise ``r2``, the coefficient of determination; `metric` is one of the two. `split` is a
    pair of shares, such as ``(0.2, 0.2)``: the first one is the test part, which is never looked at, and the second one
    the validation part. `data` may also be a :class:`tabla.Data` with its own split.

    `source` and the options of the program are those of :func:`tabla.compile`, all others those of
    :meth:`tabla.Build.train`. A format in which the program cannot be compiled, or that does not hold the data, is
    refused in the result. It is a `TablaError` if all formats are, and if the data has no validation part. `remark`
    takes a line that says why numpy evaluates where machine code would be faster.
    """
    built = replace(Options.of(options), format="auto")
    learning = LearnOptions.of(options)
    check_function("remark", remark)
    bits, guard_bits = checked_numbers("widths", widths, WIDTH), checked_numbers("guards", guards, GUARD)
    if learning.metric not in (None, *SCORES):
        raise TablaError(f"formats cannot be compared by the metric '{learning.metric}'", hint="use accuracy or r2")
    return table_of(source, built, Data.of_source(data, DataOptions.of(options)), learning, bits, guard_bits, remark)


def table_of(
    source: Program,
    options: Options,
    data: Data,
    learning: LearnOptions,
    widths: Sequence[int],
    guards: Sequence[int],
    remark: Callable[[str], None] | None,
) -> FormatTable:
    """Return the table of :func:`formats`."""
    made = partial(Stages.of, source)
    wide = _learning_stages(made, options)
    learning = _as_learnt(wide, learning)
    start = _start(wide, data, learning)
    parts = start.ready.parts
    assert parts.validation is not None
    run = _Run(made, options, start, learning, len(widths) * len(guards))
    if remark is not None and (note := run.evaluators(wide).note):
        remark(note)
    measure, reference = run.float64(wide)
    judge = learning_judge(made, options, wide, start, learning)
    cells = tuple(run.cells(learning_survey(wide, start, learning), judge, widths, guards))
    if all(cell.refused for cell in cells):
        last = cells[-1]
        cure = last.cure if last.format else f"{last.cure}; for this command that is --widths 32"
        raise TablaError(f"every format is refused; the widest one: {last.refused}", hint=cure)
    return FormatTable(
        name=wide.name,
        metric=measure.metric,
        samples=parts.training.count,
        validation_samples=parts.validation.count,
        epochs=learning.passes,
        patience=learning.patience,
        float64=reference,
        cells=cells,
    )


def learnt(source: Program, options: Options, data: Data, learning: LearnOptions) -> tuple[str, Score, Events]:
    """Learn in the number format of `options`. Return the metric's name, the score of the validation part, and events.

    The test part is never looked at. A format that does not hold the program or the data is a `TablaError`.
    """
    made = partial(Stages.of, source)
    wide = _learning_stages(made, options)
    learning = _as_learnt(wide, learning)
    start = _start(wide, data, learning)
    run = _Run(made, options, start, replace(learning, patience=None), 1)
    stages = made(options)
    _ = stages.legal
    name = run.measured(stages).metric.name
    return name, *run.words(stages)


def check_data(source: Program, options: Options, data: Data, learning: LearnOptions) -> None:
    """Raise `TablaError` for a program that learns nothing, and for data that it cannot learn from in any format."""
    _start(_learning_stages(partial(Stages.of, source), options), data, learning)


def _as_learnt(wide: Stages, learning: LearnOptions) -> LearnOptions:
    """Return a run with the value and the metric of its first models, if formats can be compared by that metric."""
    run = as_learnt(wide, learning)
    return run if run.metric in SCORES else replace(run, metric=None)


def _start(wide: Stages, data: Data, learning: LearnOptions) -> Start:
    """Return what learning starts from, without the test part. Data without a validation part is a `TablaError`."""
    start = learning_start(wide, data, learning, needs_test=False)
    parts = start.ready.parts
    if parts.validation is None:
        raise TablaError(
            "formats are compared on a validation part, and the data has none",
            hint="hold one out with --split 0.2,0.2, which leaves a fifth for the test; or if the test part is a file"
            " of its own, with --split 0,0.2",
        )
    return replace(start, ready=replace(start.ready, parts=replace(parts, test=None)))


def _learning_stages(made: Made, options: Options) -> Stages:
    """Return the stages of a program in wide words. A program that learns nothing is a `TablaError`."""
    wide = wide_stages(made, options)
    file = wide.reading.text.original.name
    if not wide.reading.trainable:
        raise TablaError(f"'{file}' is a kernel, so it learns nothing", hint="run it with tabla sim or tabla eval")
    if not wide.lowered.updates:
        raise TablaError(
            f"'{file}' has no gradient, so it learns nothing in any format",
            hint="compare formats of the program that learns the models; tabla test --format scores given models",
        )
    return wide


@dataclass(frozen=True, slots=True)
class _Run:
    """What all compared formats have in common: the data without its test part, and how it is learnt from."""

    made: Made
    options: Options
    start: Start
    learning: LearnOptions
    count: int

    def float64(self, wide: Stages) -> tuple[Measure, Score]:
        """Learn in float64. Return the measure of the validation part and the score there."""
        evaluators, measure = self.evaluators(wide), self.measured(wide)
        plan, steps = (
            evaluators.real(wide.lowered, wide.format),
            self._steps(wide, self.start.ready.parts.training.arrays),
        )
        plan.load(self.start.models)
        found = self._kept(self.start.models, lambda: plan.run(steps).models, measure.of_reals)
        if not math.isfinite(found.metric):
            raise TablaError(
                "the program diverges in float64, so there is nothing to compare formats with",
                hint="use a smaller --learning-rate, or scale the inputs and labels to the size of 1",
            )
        return measure, found

    def measured(self, build: Stages) -> Measure:
        """Return the measure of the validation part in float64."""
        return self._measure(build, self.evaluators(build), lambda samples: {})

    def cells(self, survey: Survey, judge: Judge, widths: Sequence[int], guards: Sequence[int]) -> Iterator[Cell]:
        """Yield the cells of the table, width by width. The judge chooses the integer bits of a width."""
        done = 0
        for width in widths:
            progress.tell("number formats", done, len(widths) * len(guards), "format")
            try:
                choice, refused = survey.choose(width, judge), None
            except TablaError as fault:
                choice, refused = None, fault
            for guard in guards:
                progress.tell("number formats", done, len(widths) * len(guards), "format")
                cell = Cell(width=width, guard=guard, format=None if choice is None else choice.format)
                if choice is not None:
                    yield self._filled(cell, choice)
                elif refused is not None:
                    yield replace(cell, refused=refused.message, cure=refused.hint or "")
                done += 1
        progress.tell("number formats", done, done, "format")

    def _filled(self, cell: Cell, choice: FormatChoice) -> Cell:
        """Return a cell with what its format is worth, or with the reason why it is refused."""
        try:
            options = replace(self.options, format=str(choice.format), model_guard=cell.guard, saturate=True)
            build = replace(self.made(options), format_choice=choice)
            _ = build.legal  # what the machine refuses, no format should be praised for
            score, found = self.words(build)
        except TablaError as fault:
            return replace(cell, refused=fault.message, cure=fault.hint or "")
        parts = self.start.ready.parts
        saturated = sum(held(build, part.arrays)[1] for part in (parts.training, parts.validation) if part)
        return replace(cell, score=score, events=found, saturated=saturated)

    def words(self, build: Stages) -> tuple[Score, Events]:
        """Learn in the number format of a build. Return the score of the validation part, and the events."""
        evaluators = self.evaluators(build)
        measure = self._measure(build, evaluators, lambda samples: sample_words(build, samples))
        training = self.start.ready.parts.training
        words, steps = words_of(build, self.start.models), self._steps(build, sample_words(build, training))
        plan = evaluators.fixed(build.lowered, build.format)
        plan.load(words)
        score = self._kept(words, lambda: {**words, **plan.run(steps).models}, measure.of_words)
        return score, events(build.lowered, plan.counts())

    def _kept(self, first: Models, learn: Callable[[], Models], score: Callable[[Models], Score]) -> Score:
        """Learn for all epochs, or as long as the patience lasts. Return the score of the models that are kept."""
        if self.learning.patience is None:
            models = first
            for _ in range(self.learning.passes):
                models = learn()
            return score(models)
        best, scores = Best(patience=self.learning.patience), [score(first)]
        while True:
            now = replace(scores[-1], validation=scores[-1])
            if best.see(len(scores) - 1, now, now, {}) or len(scores) > self.learning.passes:
                return scores[best.epoch]
            scores.append(score(learn()))

    def _measure(self, build: Stages, evaluators: Evaluators, words: Callable[[Samples], Mapping[str, Any]]) -> Measure:
        """Return the measure of the validation part, by the metric that suits the labels of the training part."""
        ready = self.start.ready
        graph, prediction = measured_graph(build, ready, self.learning.predict)
        parts = ready.parts
        assert parts.validation is not None
        labels = parts.training.arrays[prediction.label]
        fitting = choose(None, labels, margin=prediction.margin).name
        if self.learning.metric == "accuracy" and fitting != "accuracy":
            raise no_classes("r2")
        name = self.learning.metric or (fitting if fitting in SCORES else "r2")
        if name == "r2" and not np.ptp(parts.validation.arrays[prediction.label], axis=0).any():
            hint = "give it more samples, or try another --split-seed"
            raise TablaError("r2 has no meaning: all labels of the validation part are equal", hint=hint)
        found = Parts.of(
            graph,
            prediction,
            build.format,
            metric=name,
            parts=parts,
            words=words,
            evaluators=evaluators,
            classes=ready.preparation.classes.get(prediction.label),
        ).validation
        assert found is not None
        return found

    def _steps(self, build: Stages, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
        whole = self.start.steps * build.lowered.samples
        return steps_of(build, {name: array[:whole] for name, array in arrays.items()})

    def evaluators(self, build: Stages) -> Evaluators:
        """Choose how a build is evaluated; machine code that serves several formats is made once."""
        steps = self.start.steps * self.learning.passes * max(1, self.count // TEXTS)
        return Evaluators.of(build.lowered, build.format, steps, build.integer_tensors)
