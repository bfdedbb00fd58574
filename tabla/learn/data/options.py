"""The options of data: what the columns of a table mean, how samples are prepared, and which of them are held out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tabla.base.kinds import COLUMNS, Names, Object, Switch, WholeNumber
from tabla.base.options import COMMANDS, Record, option
from tabla.learn.data.source import DataSource
from tabla.learn.data.split import Shares, Split, split_of

SPLIT = "0.2,0.2"
"""The shares of an exploration if none are named: the test part, and the validation part that scores the formats."""
_LEARNERS = ("gen", "train", "formats", "explore")
_TABLE, _PREPARATION = "tables and classes", "the preparation of samples"
_HELD_OUT = "samples that are held out: scored, and never learnt from"


def runs_of(*commands: str) -> tuple[str, ...]:
    """Return the methods of a build that take the options of some commands."""
    return tuple(name for name, command in COMMANDS.items() if command in commands)


@dataclass(frozen=True, kw_only=True)
class DataOptions(Record):
    """The options of data.

    `columns` are the columns of a table that inputs and labels take, and `classes` the labels whose values name
    classes. `standardise` gives the inputs, and `standardise_labels` the labels, a mean of 0 and a standard deviation
    of 1 in the training part. `samples` limits the data to the first ones. The samples that are held out are those of
    `test`, which are data of their own, or the shares `split`, chosen by the seed `split_seed`. `shuffle` is the seed
    of a new order of the training part.
    """

    columns: Mapping[str, str | Sequence[str]] | None = option(
        COLUMNS,
        "the columns of the table that an input or a label takes; * stands for all others",
        group=_TABLE,
        commands=(*_LEARNERS, "test", "predict"),
        functions=runs_of("train", "progressive", "test", "predict"),
        metavar="NAME=COLUMN,...",
        example="x=sepal,petal",
    )
    classes: str | Sequence[str] = option(
        Names(example="['y']"),
        "labels whose values name classes: integers or texts, sorted; one-hot, or 0 and 1 for a scalar label",
        default=(),
        group=_TABLE,
        commands=(*_LEARNERS, "test"),
        functions=runs_of("train", "progressive", "test"),
        metavar="y",
        example="y",
    )
    standardise: bool = option(
        Switch(),
        "give each input a mean of 0 and a standard deviation of 1 in the training part; kept beside the models",
        default=False,
        group=_PREPARATION,
        commands=_LEARNERS,
        functions=runs_of("train", "progressive"),
    )
    standardise_labels: bool = option(
        Switch(),
        "give each label a mean of 0 and a standard deviation of 1, for regression; loss and metric are then those of"
        " the new labels",
        default=False,
        group=_PREPARATION,
        commands=_LEARNERS,
        functions=runs_of("train", "progressive"),
    )
    shuffle: int | None = option(
        WholeNumber(low=0),
        "put the training part into another order, by the seed S",
        group=_PREPARATION,
        commands=_LEARNERS,
        functions=runs_of("train", "progressive"),
        metavar="S",
        example="1",
    )
    samples: int | None = option(
        WholeNumber(low=1),
        "use only the first N samples",
        group=_PREPARATION,
        commands=(*_LEARNERS, "test", "predict", "eval", "sim"),
        functions=runs_of("train", "progressive", "test", "predict", "eval", "sim"),
        metavar="N",
        example="1000",
        unit="samples",
    )
    test: DataSource | None = option(
        Object(reads=True),
        "the test part, in a file of its own: .npz or .csv",
        group=_HELD_OUT,
        commands=("train",),
        functions=("compile", *runs_of("train", "progressive")),
        metavar="FILE",
        example="test.csv",
    )
    split: Shares | None = option(
        Object(reads=True),
        "hold out the share A of the samples as test part, and the share B as validation part",
        group=_HELD_OUT,
        commands=_LEARNERS,
        functions=runs_of("train", "progressive"),
        metavar="A[,B]",
        metavars=dict.fromkeys(("formats", "explore"), "A,B"),
        example="0.2,0.1",
        helps={
            "formats": "hold out the share A of the samples as test part, and choose by the share B, the validation"
            " part",
            "explore": "hold out the share A of the samples as test part, and score the validation share B (default"
            f" {SPLIT})",
        },
    )
    split_seed: int | None = option(
        WholeNumber(low=0),
        "choose the samples that are held out by the seed S (default 0)",
        group=_HELD_OUT,
        commands=_LEARNERS,
        functions=runs_of("train", "progressive"),
        metavar="S",
        example="1",
    )

    @property
    def shares(self) -> Split | None:
        """The shares that are held out. Anything that is not one or two shares, and a seed without shares, are a
        `TablaError`.
        """
        return split_of(self.split, self.split_seed)
