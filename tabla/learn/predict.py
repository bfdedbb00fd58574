"""Predicting with trained models: a row of output for each row of data, without labels."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla.base.arrays import Reals, refuse_strangers
from tabla.base.source import TablaError
from tabla.base.table import Frame
from tabla.build.arrays import Samples, sample_words, samples_of, words_of
from tabla.build.stages import Stages
from tabla.graph.passes.inference import refuse_labels
from tabla.graph.prediction import Prediction
from tabla.learn.data.classes import Classes
from tabla.learn.data.dataset import Data, stacked_samples, tensors_of
from tabla.learn.data.gathered import Gathered
from tabla.learn.data.preparation import Preparation
from tabla.learn.data.recipe import ModelRecipe
from tabla.learn.data.treated import Treated
from tabla.learn.events import Events, events
from tabla.learn.inference import predict_of, read_weights
from tabla.learn.notebook import first_rows
from tabla.learn.one_pass import pass_over
from tabla.learn.options import LearnOptions
from tabla.learn.test import CHECKED, ENGINE, ran_on, read_by, single_part, with_models, with_samples_of


class ShownArrays(dict[str, NDArray[Any]]):
    """Arrays by name, which notebooks show as a table."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], page: Callable[[], str]) -> None:
        super().__init__(arrays)
        self._page = page

    def __reduce__(self) -> tuple[type[dict[str, NDArray[Any]]], tuple[dict[str, NDArray[Any]]]]:
        return dict, (dict(self),)

    def _repr_html_(self) -> str:
        return self._page()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Predictions:
    """The predictions for some samples, in their order.

    `values` are those of the predicted tensor `name`, with a leading axis of samples; of standardised labels in the
    user's units. `classes` are the names of the predicted classes of the `label`, if it has classes, one for each of
    its elements if it has several of 0 and 1. Of the samples the
    first `simulated` ran on the `engine`, and every word was as in the evaluation. A sample that was left out because a
    value is missing has no number (NaN) and an empty class. `treated` counts what was done to cells of the data.
    `column` is the column of a table that the label was, or empty.
    """

    name: str
    label: str
    values: Reals = field(repr=False)
    classes: NDArray[Any] | None = field(repr=False)
    engine: str
    simulated: int
    format: str
    events: Events = field(repr=False)
    treated: Treated = field(default_factory=Treated, repr=False)
    column: str = ""

    @property
    def samples(self) -> int:
        """The number of samples."""
        return len(self.values)

    @property
    def left_out(self) -> NDArray[np.bool_]:
        """Which samples have no prediction."""
        return np.asarray(np.isnan(self.values.reshape(self.samples, -1)).all(axis=1))

    def __repr__(self) -> str:
        return f"<Predictions {self.text().splitlines()[0]}>"

    def _repr_html_(self) -> str:
        return first_rows(self.text().splitlines()[0], self.columns())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the names of the classes under the label, if there are some, and the values under their own name."""
        named = {} if self.classes is None else {self.label: self.classes}
        return ShownArrays({**named, self.name: self.values}, page=self._repr_html_)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns of a table: the label, and a column for each element of the value, as in ``h[0]``.

        A label that was a column of a table has the name of that column, and so has a single number that predicts it.
        """
        found = {} if self.classes is None else _elements(self.column or self.label, self.classes)
        flat = self.values.reshape(self.samples, -1)
        if self.classes is None and self.column and flat.shape[1] == 1:
            return {self.column: flat[:, 0]}
        return found | _elements(self.name, self.values)

    def csv(self) -> str:
        """Return the table as comma-separated text. A number has as many digits as give it back."""
        columns, out = self.columns(), io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([_written(each[row]) for each in columns.values()] for row in range(self.samples))
        return out.getvalue()

    def text(self) -> str:
        """Return what ``tabla predict`` prints."""
        kept = ~self.left_out
        count = int(kept.sum())
        lines = [f"{count} samples predicted, {self.format}, {ran_on(self.engine, self.simulated, count)}"]
        if self.classes is not None:
            counts = sorted(Counter(map(str, self.classes[kept].reshape(-1))).items())
            lines.append(f"{self.label:<24}" + ", ".join(f"{name} {number}" for name, number in counts))
        else:
            found = self.values[kept]
            least, greatest = float(found.min()), float(found.max())
            lines.append(f"{self.name:<24}from {least:.6g} to {greatest:.6g}, mean {float(found.mean()):.6g}")
        if count < self.samples:
            empty = self.samples - count
            lines.append(f"{'rows left empty':<24}{empty} of {self.samples}, in which a cell is missing")
        return "\n".join([*lines, *self.treated.lines(), *self.events.lines()])


def _elements(name: str, array: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Return a column for each element that a sample has, as ``h[0]``."""
    flat = array.reshape(len(array), -1)
    places = enumerate(np.ndindex(array.shape[1:]))
    return {name + "".join(f"[{k}]" for k in element): flat[:, place] for place, element in places}


def _written(value: Any) -> str:
    if isinstance(value, np.floating) and np.isnan(value):
        return ""
    return repr(float(value)) if isinstance(value, np.floating) else str(value)


def predict(build: Stages, data: Data, run: LearnOptions) -> Predictions:
    """Predict with the models of the weights, or those that the program brings. Labels in the data are ignored.

    A program that learns is run as its inference part. With an engine, all samples run there. Without one the
    evaluation computes every sample, and the cycle model the first ones; a word that differs is an AssertionError.
    """
    run, recipe = read_weights(build, run)
    run = replace(run, predict=predict_of(build, run.predict, recipe))
    build, models, preparation = with_models(build, run, "predict with")
    part, prediction = single_part(build, run.predict)
    with build.reading.text.pointing_back():
        refuse_labels(part.sample)
    whole = with_samples_of(build, part)
    samples, gathered = _inputs(build, whole, data, preparation)
    words = read_by(part, sample_words(whole, samples))
    simulated = samples.count if run.engine else min(samples.count, CHECKED)
    engine = run.engine or ENGINE
    ran = pass_over(part, engine, words_of(part, read_by(part, models)), words, samples.count, np.arange(simulated))
    values = part.result_type(prediction.name).to_reals(ran.expected.kept[prediction.tensor])
    classes = _classes(recipe, prediction, preparation, scalar=values.ndim == 1)
    if prediction.label in preparation.means:
        values = values * preparation.deviations[prediction.label] + preparation.means[prediction.label]
    names = None if classes is None else _named(classes, values)
    if gathered.gaps is not None:
        values, names = _with_gaps(values, names, gathered.gaps[: data.samples])
    return Predictions(
        name=prediction.name,
        label=prediction.label,
        values=values,
        classes=names,
        treated=gathered.treated,
        column=column[0] if len(column := preparation.columns.get(prediction.label, ())) == 1 else "",
        engine=engine,
        simulated=simulated,
        format=str(build.format),
        events=events(part.lowered, ran.expected.counts),
    )


def _named(classes: Classes, values: Reals) -> NDArray[Any]:
    """Return the name of the class of each sample, or of each element of a label that has classes of its own."""
    names = np.array(classes.names())[classes.numbers(values)]
    return names if len(names) == len(values) else names.reshape(values.shape)


def _with_gaps(values: Reals, names: NDArray[Any] | None, gaps: NDArray[np.bool_]) -> tuple[Reals, NDArray[Any] | None]:
    """Return predictions and names of classes with a place for each sample that was left out."""
    every = np.full((len(gaps), *values.shape[1:]), np.nan)
    every[~gaps] = values
    if names is None:
        return every, None
    named = np.full((len(gaps), *names.shape[1:]), "", dtype=names.dtype)
    named[~gaps] = names
    return every, named


def _inputs(build: Stages, part: Stages, data: Data, preparation: Preparation) -> tuple[Samples, Gathered]:
    """Return the samples of the inputs, with zeros for the labels, and how they were gathered.

    Samples with gaps are left out. Data that does not fit is a `TablaError`.
    """
    tensors = tensors_of(build)
    if isinstance(data.source, np.ndarray):
        if len(tensors.inputs) != 1:
            raise TablaError(
                "an array alone is for programs with one input",
                hint=f"give arrays by name: {', '.join(tensors.inputs)}",
            )
        data = data.changed(source=dict.fromkeys(tensors.inputs, data.source))
    gathered = data.arrays(tensors, "data", preparation, fits=False, whole=True)
    known = {**tensors.shapes, **dict.fromkeys(build.reading.unread, ())}
    refuse_strangers(gathered.arrays, known, "the data")
    inputs = {name: array for name, array in gathered.arrays.items() if name in tensors.inputs}
    stacked = [len(array) for name, array in inputs.items() if array.ndim > len(tensors.inputs[name])]
    head = (stacked[0],) if stacked else ()
    labels = {name: np.zeros((*head, *shape)) for name, shape in tensors.labels.items()}
    gathered = replace(gathered, arrays={**inputs, **labels})
    samples = stacked_samples(gathered, preparation, tensors.inputs, partial(samples_of, part), data.samples)
    if gathered.gaps is None or not gathered.gaps.any():
        return samples, replace(gathered, gaps=None)
    kept = np.flatnonzero(~gathered.gaps[: samples.count])
    if not len(kept):
        raise TablaError("every row of the data has a missing value", hint="write the values that the models need")
    return samples.taken(kept), gathered


def _classes(
    recipe: ModelRecipe | None, prediction: Prediction, preparation: Preparation, *, scalar: bool
) -> Classes | None:
    """Return the classes of the label: those that have names, or those of the recipe beside the models."""
    names = preparation.classes.get(prediction.label)
    kept = None if recipe is None else recipe.classes
    if kept is not None:
        return kept if names is None else replace(kept, given=names)
    if names is None:
        return None
    return Classes(count=len(names), threshold=0.5 if scalar else None, given=names)


def as_given(found: Predictions, source: object) -> Any:
    """Return predictions as the data was given: a data frame for one, with its index, else arrays by name."""
    if not isinstance(source, Frame):
        return found.arrays()
    index = {"index": source.index} if hasattr(source, "index") else {}
    maker: Any = type(source)
    return maker(found.columns(), **index)
