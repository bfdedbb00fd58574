"""The weights of an inference build: the models of a file or of arrays, with what lies beside them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tabla.base.arrays import refuse_strangers
from tabla.base.source import TablaError
from tabla.build.arrays import shapes_of
from tabla.build.inference import inference_of
from tabla.build.rate import built_rate
from tabla.build.stages import Stages
from tabla.learn.data.preparation import separated
from tabla.learn.data.recipe import ModelRecipe, recipe_in
from tabla.learn.data.source import ArraySource, reals
from tabla.learn.metrics import PLAIN
from tabla.learn.options import LearnOptions

S = TypeVar("S", bound=Stages)


def inference(build: S, weights: ArraySource | None, predict: str | None) -> S:
    """Return the inference build of a program, with the models of the `weights` as its own.

    What lies beside the models in their file is kept: the preparation of the data, and the recipe, which also says with
    which value the models predict if `predict` does not. Weights that do not fit the program are a `TablaError`.
    """
    if weights is None:
        return inference_of(build, predict)
    given = reals(weights, "weights")
    arrays, _ = separated(given)
    models = build.reading.merge(arrays)
    shapes = shapes_of(build.sample, "model")
    refuse_strangers(models, shapes, "the set of weights")
    beside: dict[str, NDArray[Any]] = {name: array for name, array in given.items() if name not in arrays}
    chosen = predict_of(build, predict, recipe_in(given, "the weights"))
    own = {name: np.asarray(array) for name, array in models.items() if name not in built_rate(build.sample)}
    return inference_of(build, chosen, {**build.reading.models, **own, **beside})


def recipe_of(build: Stages, weights: ArraySource | None) -> ModelRecipe | None:
    """Return the recipe beside some weights, or beside the models that a build brings; None if there is none."""
    return recipe_in(build.reading.models if weights is None else reals(weights, "weights"), "the weights")


def read_weights(build: Stages, run: LearnOptions) -> tuple[LearnOptions, ModelRecipe | None]:
    """Return a run whose weights are arrays, for their file is read once, and the recipe beside the models."""
    if run.weights is not None:
        run = replace(run, weights=reals(run.weights, "weights"))
    return run, recipe_of(build, run.weights)


def predict_of(build: Stages, predict: str | None, recipe: ModelRecipe | None) -> str | None:
    """Return the value that predicts: the one that is named, or the one with which the models were learnt.

    Models that another program has learnt may have a value that this one lacks; it is passed over.
    """
    if predict is not None or recipe is None:
        return predict
    kept = recipe.how.get("predict")
    return kept if isinstance(kept, str) and kept in build.reading.values else None


def as_learnt(build: Stages, run: LearnOptions) -> LearnOptions:
    """Return a run that predicts with the value, and measures by the metric, with which its first models were learnt.

    What the run names itself holds. Weights of a file are read once, and the run has them as arrays.
    """
    run, recipe = read_weights(build, run)
    return replace(run, predict=predict_of(build, run.predict, recipe), metric=metric_of(run.metric, recipe))


def metric_of(metric: str | None, recipe: ModelRecipe | None) -> str | None:
    """Return the metric that is named, or the one of the training. Whether an accuracy has a meaning, labels say."""
    kept = None if metric is not None or recipe is None else recipe.how.get("metric")
    return kept if isinstance(kept, str) and kept in PLAIN else metric


def refuse_inference(build: Stages, what: str) -> None:
    """Raise `TablaError` for an inference build, which does not do `what` a program does that learns."""
    if build.options.infer:
        raise TablaError(
            f"'{build.name}' is built for inference, so it {what}",
            hint="use the build of the program itself, without --infer",
        )
