"""The types of the options that functions of Python take, as ``**options``.

The records of options (:data:`tabla.learn.options.RECORDS`) say what there is; ``python -m manual.keywords`` writes
this module from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from numpy.typing import ArrayLike

from tabla.graph.passes.framework import Pass
from tabla.learn.data.source import DataSource
from tabla.learn.data.split import Shares
from tabla.schedule.mapping.effort import Objective
from tabla.schedule.placing.placed import Scheduler


class CompileOptions(TypedDict, total=False):
    """The options of the function `compile`."""

    pes: int | None
    pes_per_pu: int | None
    sequencers: int | None
    stream_words: int | None
    model_words: int | None
    data_words: int | None
    interim_words: int | None
    template: str | None
    templates: str | Path | None
    onto: str | Path | None
    effort: int
    objective: Objective
    part: str | None
    force: bool
    format: str | None
    saturate: bool
    model_guard: int | None
    bus: str | None
    bus_width: int | None
    passes: Sequence[Pass[...]]
    scheduler: Scheduler | None
    defines: Mapping[str, str | float]
    learning_rate: str | float | None
    minibatch: int
    runtime_rate: bool
    infer: bool
    results: Sequence[str]
    inputs: str | Path | Mapping[str, ArrayLike] | None
    sizes: Mapping[str, int]
    shapes: Mapping[str, Sequence[int]]
    arguments: Mapping[str, object]
    keep: Sequence[str]
    train: Sequence[str]
    freeze: Sequence[str]
    loss: str | None
    name: str | None
    columns: Mapping[str, str | Sequence[str]] | None
    classes: str | Sequence[str]
    categories: Mapping[str, Sequence[str]]
    unknown: str | None
    missing: str | None
    no_header: bool
    standardise: bool
    standardise_labels: bool
    shuffle: int | None
    samples: int | None
    test: DataSource | None
    split: Shares | None
    split_last: Shares | None
    split_seed: int | None
    epochs: int | None
    predict: str | None
    weights: str | Path | Mapping[str, ArrayLike] | None
    seed: int | None


class TrainOptions(TypedDict, total=False):
    """The options of the function `train`."""

    columns: Mapping[str, str | Sequence[str]] | None
    classes: str | Sequence[str]
    categories: Mapping[str, Sequence[str]]
    unknown: str | None
    missing: str | None
    no_header: bool
    standardise: bool
    standardise_labels: bool
    shuffle: int | None
    samples: int | None
    test: DataSource | None
    split: Shares | None
    split_last: Shares | None
    split_seed: int | None
    epochs: int | None
    patience: int | None
    predict: str | None
    metric: str | None
    progressive: bool
    weights: str | Path | Mapping[str, ArrayLike] | None
    seed: int | None
    engine: str | None
    devices: int | Sequence[str] | None
    scheduler: str | None


class ProgressiveOptions(TypedDict, total=False):
    """The options of the function `progressive`."""

    columns: Mapping[str, str | Sequence[str]] | None
    classes: str | Sequence[str]
    standardise: bool
    standardise_labels: bool
    shuffle: int | None
    samples: int | None
    test: DataSource | None
    split: Shares | None
    split_seed: int | None
    predict: str | None
    metric: str | None
    weights: str | Path | Mapping[str, ArrayLike] | None
    seed: int | None


class TestOptions(TypedDict, total=False):
    """The options of the function `test`."""

    columns: Mapping[str, str | Sequence[str]] | None
    classes: str | Sequence[str]
    unknown: str | None
    missing: str | None
    no_header: bool
    samples: int | None
    predict: str | None
    metric: str | None
    weights: str | Path | Mapping[str, ArrayLike] | None
    engine: str | None


class PredictOptions(TypedDict, total=False):
    """The options of the function `predict`."""

    columns: Mapping[str, str | Sequence[str]] | None
    unknown: str | None
    missing: str | None
    no_header: bool
    samples: int | None
    predict: str | None
    weights: str | Path | Mapping[str, ArrayLike] | None
    engine: str | None


class EvaluateOptions(TypedDict, total=False):
    """The options of the function `evaluate`."""

    unknown: str | None
    missing: str | None
    no_header: bool
    samples: int | None
    weights: str | Path | Mapping[str, ArrayLike] | None
    seed: int | None
    devices: int | Sequence[str] | None


class SimulateOptions(TypedDict, total=False):
    """The options of the function `simulate`."""

    unknown: str | None
    missing: str | None
    no_header: bool
    samples: int | None
    weights: str | Path | Mapping[str, ArrayLike] | None
    seed: int | None
    engine: str | None


class InferenceOptions(TypedDict, total=False):
    """The options of the function `inference`."""

    predict: str | None


class FormatsOptions(TypedDict, total=False):
    """The options of the function `formats`."""

    defines: Mapping[str, str | float]
    learning_rate: str | float | None
    minibatch: int
    sizes: Mapping[str, int]
    shapes: Mapping[str, Sequence[int]]
    arguments: Mapping[str, object]
    train: Sequence[str]
    freeze: Sequence[str]
    loss: str | None
    columns: Mapping[str, str | Sequence[str]] | None
    classes: str | Sequence[str]
    categories: Mapping[str, Sequence[str]]
    unknown: str | None
    missing: str | None
    no_header: bool
    standardise: bool
    standardise_labels: bool
    shuffle: int | None
    samples: int | None
    split: Shares | None
    split_last: Shares | None
    split_seed: int | None
    epochs: int | None
    patience: int | None
    predict: str | None
    metric: str | None
    weights: str | Path | Mapping[str, ArrayLike] | None
    seed: int | None


class ExploreOptions(TypedDict, total=False):
    """The options of the function `explore`."""

    sequencers: int | None
    stream_words: int | None
    defines: Mapping[str, str | float]
    learning_rate: str | float | None
    infer: bool
    inputs: str | Path | Mapping[str, ArrayLike] | None
    sizes: Mapping[str, int]
    shapes: Mapping[str, Sequence[int]]
    arguments: Mapping[str, object]
    keep: Sequence[str]
    train: Sequence[str]
    freeze: Sequence[str]
    loss: str | None
    columns: Mapping[str, str | Sequence[str]] | None
    classes: str | Sequence[str]
    categories: Mapping[str, Sequence[str]]
    unknown: str | None
    missing: str | None
    no_header: bool
    standardise: bool
    standardise_labels: bool
    shuffle: int | None
    samples: int | None
    split: Shares | None
    split_last: Shares | None
    split_seed: int | None
    epochs: int | None
    predict: str | None
    metric: str | None
    weights: str | Path | Mapping[str, ArrayLike] | None
    seed: int | None


class SynthesiseOptions(TypedDict, total=False):
    """The options of the function `synthesise`."""

    device: str | None
    speed: int | None
    place_and_route: bool
    seeds: int | None
    templates: str | Path | None


class BitstreamOptions(TypedDict, total=False):
    """The options of the function `bitstream`."""

    megahertz: float | None
    baud: int
    seeds: int
