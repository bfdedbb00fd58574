"""The accelerator that predicts with what an estimator has learnt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tabla.build.options import Options
from tabla.driver import Build
from tabla.learn.data.preparation import Preparation
from tabla.sklearn.learning import Learned
from tabla.sklearn.program import DECISION, INPUT, LABEL
from tabla.sklearn.scaling import Scaling


def inference_build(learnt: Learned, inputs: Scaling, labels: Scaling, options: Mapping[str, Any]) -> Build:
    """Return the inference build of what an estimator has learnt, for its own array or for one that `options` describe.

    `inputs` and `labels` say how the host stores the numbers of the user. Beside the models lies the same preparation,
    so that the build standardises inputs of the user, and gives predictions in the units of the labels.
    """
    recipe = learnt.recipe
    own = {**recipe.options.given(), "minibatch": 1, "model_guard": recipe.model_guard, **options}
    build = recipe.program(Options.of(own))
    scalings = {INPUT: inputs, LABEL: labels}
    used = {name: each for name, each in scalings.items() if each.mean.any() or (each.scale != 1).any()}
    preparation = Preparation(
        means={name: each.mean for name, each in used.items()},
        deviations={name: each.scale for name, each in used.items()},
    )
    return build.inference({**learnt.models, **preparation.stored()}, predict=DECISION)


def inference_of_estimator(estimator: Any, name: str | None, options: Mapping[str, Any]) -> Build:
    """Return the inference build of a fitted estimator of this package, for an array that `options` describe.

    `name` is that of the program, if it is to have another one.
    """
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator, "_learned")
    learnt: Learned = estimator._learned
    if name is not None:
        learnt = replace(learnt, recipe=replace(learnt.recipe, program=replace(learnt.recipe.program, name=name)))
    build = inference_build(learnt, estimator._inputs, estimator._labels, options)
    build.refuse_too_large()
    build.check()
    return build
