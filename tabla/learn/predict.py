"""Predicting with trained models: a row of output for each row of data, without labels."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabla.base.arrays import Reals, refuse_strangers
from tabla.base.source import TablaError
from tabla.base.table import Frame
from tabla.build.arrays import Samples, sample_words, samples_of, words_of
from tabla.build.stages import Stages
from tabla.learn.data.classes import Classes
from tabla.learn.data.dataset import Data, tensors_of
from tabla.learn.data.preparation import Preparation
from tabla.learn.data.recipe import recipe_in
from tabla.learn.data.source import reals
from tabla.learn.events import Events, events
from tabla.learn.notebook import first_rows
from tabla.learn.one_pass import pass_over
from tabla.learn.options import LearnOptions
from tabla.learn.prediction import Prediction
from tabla.learn.test import CHECKED, ENGINE, inference_part, ran_on, with_models


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
    user's units. `classes` are the names of the predicted classes of the `label`, if it has classes. Of the samples the
    first `simulated` ran on the `engine`, and every word was as in the evaluation.
    """

    name: str
    label: str
    values: Reals = field(repr=False)
    classes: NDArray[Any] | None = field(repr=False)
    engine: str
    simulated: int
    format: str
    events: Events = field(repr=False)

    @property
    def samples(self) -> int:
        """The number of samples."""
        return len(self.values)

    def __repr__(self) -> str:
        return f"<Predictions {self.text().splitlines()[0]}>"

    def _repr_html_(self) -> str:
        return first_rows(self.text().splitlines()[0], self.columns())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the names of the classes under the label, if there are some, and the values under their own name."""
        named = {} if self.classes is None else {self.label: self.classes}
        return ShownArrays({**named, self.name: self.values}, page=self._repr_html_)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns of a table: the label, and a column for each element of the value, as in ``h[0]``."""
        found = {} if self.classes is None else {self.label: self.classes}
        flat = self.values.reshape(self.samples, -1)
        for place, element in enumerate(np.ndindex(self.values.shape[1:])):
            found[self.name + "".join(f"[{k}]" for k in element)] = flat[:, place]
        return found

    def csv(self) -> str:
        """Return the table as comma-separated text. A number has as many digits as give it back."""
        columns, out = self.columns(), io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([_written(each[row]) for each in columns.values()] for row in range(self.samples))
        return out.getvalue()

    def text(self) -> str:
        """Return what ``tabla predict`` prints."""
        where = ran_on(self.engine, self.simulated, self.samples)
        lines = [f"{self.samples} samples predicted, {self.format}, {where}"]
        if self.classes is not None:
            counts = sorted(Counter(map(str, self.classes)).items())
            lines.append(f"{self.label:<24}" + ", ".join(f"{name} {count}" for name, count in counts))
        else:
            least, greatest = float(self.values.min()), float(self.values.max())
            lines.append(f"{self.name:<24}from {least:.6g} to {greatest:.6g}, mean {float(self.values.mean()):.6g}")
        return "\n".join([*lines, *self.events.lines()])


def _written(value: Any) -> str:
    return repr(float(value)) if isinstance(value, np.floating) else str(value)


def predict(build: Stages, data: Data, run: LearnOptions) -> Predictions:
    """Predict with the models of the weights, or those that the program brings. Labels in the data are ignored.

    A program that learns is run as its inference part. With an engine, all samples run there. Without one the
    evaluation computes every sample, and the cycle model the first ones; a word that differs is an AssertionError.
    """
    if run.weights is not None:
        run = replace(run, weights=reals(run.weights, "weights"))  # the recipe lies beside the models
    build, models, preparation = with_models(build, run, "predict with")
    part, prediction = inference_part(build, run.predict)
    samples = _inputs(build, part, data, preparation)
    words = sample_words(part, samples)
    simulated = samples.count if run.engine else min(samples.count, CHECKED)
    engine = run.engine or ENGINE
    ran = pass_over(part, engine, words_of(part, models), words, samples.count, np.arange(simulated))
    values = part.result_type(prediction.name).to_reals(ran.expected.kept[prediction.tensor])
    # The label of a residual is 0 here.
    values = -prediction.residual * values if prediction.residual else values
    classes = _classes(prediction, preparation, run, scalar=values.ndim == 1)
    if prediction.label in preparation.means:
        values = values * preparation.deviations[prediction.label] + preparation.means[prediction.label]
    names = None if classes is None else np.array(classes.names())[classes.numbers(values)]
    return Predictions(
        name=prediction.name,
        label=prediction.label,
        values=values,
        classes=names,
        engine=engine,
        simulated=simulated,
        format=str(build.format),
        events=events(part.lowered, ran.expected.counts),
    )


def _inputs(build: Stages, part: Stages, data: Data, preparation: Preparation) -> Samples:
    """Return the samples of the inputs, with zeros for the labels. Data that does not fit is a `TablaError`."""
    tensors = tensors_of(build)
    if isinstance(data.source, np.ndarray):
        if len(tensors.inputs) != 1:
            raise TablaError(
                "an array alone is for programs with one input",
                hint=f"give arrays by name: {', '.join(tensors.inputs)}",
            )
        data = data.changed(source=dict.fromkeys(tensors.inputs, data.source))
    arrays, _, origin = data.arrays(tensors, "data", preparation)
    refuse_strangers(arrays, tensors.shapes, "the data")
    inputs = {name: array for name, array in arrays.items() if name in tensors.inputs}
    inputs = preparation.apply(inputs, tensors.inputs, origin.place)
    stacked = [len(array) for name, array in inputs.items() if array.ndim > len(tensors.inputs[name])]
    head = (stacked[0],) if stacked else ()
    labels = {name: np.zeros((*head, *shape)) for name, shape in tensors.labels.items()}
    return replace(samples_of(part, {**inputs, **labels}, data.samples), origin=origin)


def _classes(prediction: Prediction, preparation: Preparation, run: LearnOptions, *, scalar: bool) -> Classes | None:
    """Return the classes of the label: those that have names, or those of the recipe beside the models."""
    names = preparation.classes.get(prediction.label)
    recipe = None if run.weights is None else recipe_in(reals(run.weights, "weights"), "the weights")
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
