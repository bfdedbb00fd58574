"""The options of learning, and all records of options together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from numpy.typing import ArrayLike

from tabla.base.kinds import ArraysOrFile, Choice, Kind, Names, Object, Switch, Text, WholeNumber
from tabla.base.options import Record, option
from tabla.build.options import ArrayOptions
from tabla.build.part_options import BoardOptions, PartOptions
from tabla.host.engines.session import ENGINES, EVALUATION, checked_engine
from tabla.languages.options import INFERENCES, ProgramOptions
from tabla.learn.data.options import DataOptions, runs_of
from tabla.learn.data.source import EXAMPLE
from tabla.learn.fleet.devices import DEVICES
from tabla.learn.metrics import NAMES, SCORES

EPOCHS = 10
"""The passes over the data, if the user says nothing else."""
_LEARNERS = ("train", "formats", "explore")
_PREDICTS = "the value that predicts (default: the one that the text compares with a label)"
_FIRST = "the models, which the memories then start with"
_LEARNING, _FLEET = "learning", "several devices, one model"


@dataclass(frozen=True, kw_only=True)
class Engine(Kind):
    """The name of what runs the accelerator; with `trains`, the evaluation is one, too.

    The run knows whether the evaluation may learn, and checks the values of Python.
    """

    trains: bool = False

    @property
    def range(self) -> str:
        names = [EVALUATION, *ENGINES] if self.trains else list(ENGINES)
        return f"one of {', '.join(names)}, or serial:/dev/ttyUSB0[@BAUD] for a board"

    def read(self, text: str) -> str:
        return checked_engine(text, trains=self.trains)


@dataclass(frozen=True, kw_only=True)
class SeveralDevices(Kind):
    """A number of devices, or the names of boards, which have a colon. `devices_of` checks the values of Python."""

    @property
    def range(self) -> str:
        return f"{DEVICES.range}, or boards"

    def read(self, text: str) -> int | list[str]:
        return Names().read(text) if ":" in text else DEVICES.read(text)

    def written(self, value: int | list[str]) -> list[str]:
        return [str(value) if isinstance(value, int) else ",".join(value)]


@dataclass(frozen=True, kw_only=True)
class LearnOptions(Record):
    """The options of a run: what it starts from, how long it learns, what is measured, and where it runs.

    `epochs` is the number of passes over the data, `EPOCHS` where it is None. With a `patience`, training stops after
    so many epochs without a smaller validation loss, and keeps the best models. `predict` names the value that is
    compared with the label, and `metric` the figure. With `progressive` each sample is also judged before its update.
    The models start from `weights`, or else from the `seed`. `engine` is the engine. `devices` learn one model
    together, a number of simulated ones or the names of boards, and the workers of the Dask scheduler at the address
    `scheduler` may play them.
    """

    epochs: int | None = option(
        WholeNumber(low=1),
        f"passes over the data (default {EPOCHS})",
        group=_LEARNING,
        commands=("gen", *_LEARNERS),
        functions=runs_of("train"),
        metavar="N",
        example="20",
        unit="passes",
        helps={"gen": "passes over the data in float64 (default 1)"},
    )
    patience: int | None = option(
        WholeNumber(low=1),
        "stop after N epochs without a smaller validation loss, and keep the models of the best epoch",
        group=_LEARNING,
        commands=("train", "formats"),
        functions=runs_of("train"),
        metavar="N",
        example="5",
        unit="passes",
        helps={
            "formats": "stop each format after N epochs without a smaller validation loss, and score its best epoch"
        },
    )
    predict: str | None = option(
        Text(example="h"),
        "the value to compare with the label",
        group=_LEARNING,
        commands=tuple(dict.fromkeys((*_LEARNERS, "test", "predict", *INFERENCES, "pass"))),
        functions=(*runs_of("train", "test", "predict"), "inference", "progressive"),
        metavar="NAME",
        example="h",
        helps={
            **dict.fromkeys(("predict", "pass"), _PREDICTS),
            **{name: f"with --infer: {_PREDICTS}" for name in INFERENCES if name != "explore"},
            "eval": f"with --infer or --progressive: {_PREDICTS}",
        },
    )
    metric: str | None = option(
        Choice(values=NAMES, what="metric", later=True),
        f"one of {', '.join(NAMES)}",
        group=_LEARNING,
        commands=(*_LEARNERS, "test", "eval"),
        functions=(*runs_of("train", "test"), "progressive"),
        metavar="NAME",
        example="accuracy",
        kinds=dict.fromkeys(("formats", "explore"), Choice(values=SCORES, what="metric", later=True)),
        helps={
            "eval": f"with --progressive: one of {', '.join(NAMES)}",
            **dict.fromkeys(("formats", "explore"), "accuracy, or r2 for regression (default: what suits the labels)"),
        },
    )
    progressive: bool = option(
        Switch(),
        "also judge each sample before its update, as online learners are judged",
        default=False,
        group=_LEARNING,
        commands=("train", "eval"),
        functions=runs_of("train"),
    )
    weights: str | Path | Mapping[str, ArrayLike] | None = option(
        ArraysOrFile(example=EXAMPLE),
        "start from these models",
        group=_LEARNING,
        commands=tuple(dict.fromkeys(("gen", *_LEARNERS, "test", "predict", *INFERENCES))),
        functions=runs_of("train", "progressive", "test", "predict", "eval", "sim"),
        metavar="FILE.npz",
        example="trained.npz",
        helps={
            **dict.fromkeys(
                ("test", "predict"),
                "the models, as tabla train -o wrote them (default: those that a model of ONNX brings)",
            ),
            **dict.fromkeys(("eval", "sim"), "take the models that the inputs lack from this file"),
            **dict.fromkeys(("check", "bound", "load", "synth", "build"), f"with --infer: {_FIRST}"),
            "gen": f"start from these models; with --infer: {_FIRST}",
        },
    )
    seed: int | None = option(
        WholeNumber(low=0),
        "start from random models (default 0)",
        group=_LEARNING,
        commands=("gen", *_LEARNERS, "eval", "sim"),
        functions=runs_of("train", "progressive", "eval", "sim"),
        metavar="S",
        example="1",
        helps=dict.fromkeys(("eval", "sim"), "draw the models that are still missing"),
    )
    engine: str | None = option(
        Engine(),
        f"{Engine().range} (default model)",
        group="where it runs",
        commands=("train", "test", "predict", "sim"),
        functions=runs_of("train", "test", "predict", "sim"),
        metavar="NAME",
        example="verilator",
        kinds={"train": Engine(trains=True)},
        helps={
            "train": f"{Engine(trains=True).range} (default {EVALUATION})",
            **dict.fromkeys(("test", "predict"), Engine().range),
        },
    )
    devices: int | Sequence[str] | None = option(
        SeveralDevices(),
        "share each minibatch among N simulated devices, or among boards: serial:/dev/ttyUSB0,serial:/dev/ttyUSB1",
        group=_FLEET,
        commands=("train", "eval"),
        functions=runs_of("train", "eval"),
        metavar="N|BOARD,...",
        example="4",
        unit="devices",
        kinds={"eval": DEVICES},
        metavars={"eval": "N"},
        helps={"eval": "let N devices share each minibatch, as tabla train --devices does"},
    )
    scheduler: str | None = option(
        Object(reads=True),
        "let the workers of a Dask cluster simulate the devices, such as tcp://host:8786",
        group=_FLEET,
        commands=("train",),
        functions=runs_of("train"),
        metavar="ADDRESS",
        example="tcp://host:8786",
    )

    @property
    def passes(self) -> int:
        """The passes over the data."""
        return EPOCHS if self.epochs is None else self.epochs


RECORDS: tuple[type[Record], ...] = (
    *(ArrayOptions, ProgramOptions, DataOptions, LearnOptions),
    *(PartOptions, BoardOptions),
)
"""All records, in the order in which ``tabla.compile`` lists their options."""
