"""The inference build of a program: the part that computes the predictions, as a program of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tabla.base.source import TablaError
from tabla.build.options import Options
from tabla.build.stages import Stages
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.passes.inference import inference, narrow, refuse_labels
from tabla.graph.prediction import Prediction, default_prediction, named_prediction
from tabla.languages import Program

Reals = NDArray[np.float64]
S = TypeVar("S", bound=Stages)


def stages_of(source: Program, options: Options) -> Stages:
    """Return the stages of a program; with the option `infer` those of its inference build."""
    made = Stages.of(source, options)
    return inference_of(made, options.predicted) if options.infer else made


def chosen_prediction(build: Stages, predict: str | None) -> tuple[Graph, Prediction]:
    """Return the prediction of a program, and a graph that computes it.

    A value that the user names with `predict` may have been optimised away, so the program is lowered again with that
    value as a result. A name that the program does not have, and a program that compares nothing with a label, are a
    `TablaError`.
    """
    labels = [tensor.name for tensor in build.sample.tensors.values() if tensor.role == "label"]
    if predict is not None:
        values = build.reading.values
        if predict not in values:
            raise TablaError(
                f"--predict {predict}: the program computes no such value", hint=f"there are {', '.join(values)}"
            )
        names = tuple(dict.fromkeys((*build.options.results, predict)))
        graph = build.relowered(names)
        return graph, named_prediction(graph, predict, labels)
    if not build.sample.updates and len(build.sample.results) == 1 and labels:
        return build.sample, named_prediction(build.sample, build.sample.results[0][0], labels)
    return build.sample, default_prediction(build.sample)


def inference_of(build: S, predict: str | None = None, models: Mapping[str, NDArray[Any]] | None = None) -> S:
    """Return the inference build of a program: its prediction for each sample, without one update.

    `predict` names the prediction, which is by default the value that the program text compares with a label. The
    values of ``--result`` are returned, too. A program that has no updates is its own inference build. The `models`
    are those that the build brings, by name; what else lies in such a mapping, such as the preparation of the data, is
    kept beside them. A model that the predictions read and that `models` lack is a `TablaError`.

    Models of an inference build have no guard bits: it reads nothing of them but words.
    """
    part = inference_part(build, predict)[0] if build.sample.updates else build
    with build.reading.text.pointing_back():
        refuse_labels(part.sample)
    brought = dict(part.reading.models if models is None else models)
    needed = {name: tensor.shape for name, tensor in part.sample.tensors.items() if tensor.role == "model"}
    for name, shape in needed.items() if brought else ():
        if name not in brought or np.shape(brought[name]) != shape:
            text = name + "".join(f"[{size}]" for size in shape)
            found = f"with shape {np.shape(brought[name])}" if name in brought else "not"
            raise TablaError(
                f"the predictions read the model '{text}', which is {found} among the models",
                hint=f"give the models that {part.reading.text.original.name} learns",
            )
    return replace(part, options=replace(part.options, infer=True), reading=replace(part.reading, models=brought))


def inference_part(build: S, predict: str | None = None) -> tuple[S, Prediction]:
    """Return the inference build of a program that learns, whatever its models are, and its prediction.

    A prediction that reads a label keeps it as a label, so that it can be scored.
    """
    own = build.reading.predicts
    if own is not None and predict in (None, own.name):
        return build, own
    graph, prediction = chosen_prediction(build, predict)
    wanted = [(name, tensor) for name, tensor in graph.results if name in build.options.results]
    part = narrow(inference(graph, prediction, wanted))

    def lowered(number_format: Format, results: Sequence[str]) -> Graph:
        return part

    def merged(arrays: Mapping[str, Reals]) -> dict[str, Reals]:
        return {name: array for name, array in build.reading.merge(arrays).items() if name not in unread}

    unread = frozenset(build.sample.tensors.keys() - part.tensors.keys())
    options = replace(build.options, results=(), model_guard=0, runtime_rate=False)
    # The part reads less than the program. The user's text is the program's, and so are the warnings about it.
    reading = replace(build.reading, warnings=build.text_warnings, conventions=None, kernel=None)
    reading = replace(reading, lower=lowered, trainable=False, merge=merged, unread=unread, predicts=prediction)
    return replace(build, options=options, reading=reading), prediction
