"""The options of data: what the columns of a table mean, how samples are prepared, and which of them are held out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tabla.base.kinds import CATEGORIES, COLUMNS, Choice, Names, Object, Switch, WholeNumber
from tabla.base.options import COMMANDS, Record, option
from tabla.learn.data.source import DataSource
from tabla.learn.data.split import Shares, Split, split_of

SPLIT = "0.2,0.2"
"""The shares of an exploration if none are named: the test part, and the validation part that scores the formats."""
LEARNERS = ("gen", "train", "formats", "explore")
"""The commands that learn from data, or look at how a program learns from them."""
USERS = ("test", "predict", "eval", "sim")
"""The commands that use models, and learn none."""
_READERS = (*LEARNERS, *USERS)
_TABLE, _PREPARATION = "tables and classes", "the preparation of samples"
_HELD_OUT = "samples that are held out: scored, and never learnt from"


def runs_of(*commands: str) -> tuple[str, ...]:
    """Return the methods of a build that take the options of some commands."""
    return tuple(name for name, command in COMMANDS.items() if command in commands)


@dataclass(frozen=True, kw_only=True)
class DataOptions(Record):
    """The options of data.

    `columns` are the columns of a table that inputs and labels take, and `classes` the labels whose values name
    classes. `categories` are the columns of a table whose values are categories, with these if they are named, and
    `unknown` says what becomes of others. `missing` says what is done about missing values. With `no_header` the first
    line of a table is a sample. `standardise` gives the inputs, and `standardise_labels` the labels, a mean of 0 and a
    standard deviation of 1 in the training part. `samples` limits the data to the first ones. The samples that are held
    out are those of `test`, which are data of their own, or the shares `split`, chosen by the seed `split_seed`, or the
    last ones by the shares `split_last`. `shuffle` is the seed of a new order of the training part.
    """

    columns: Mapping[str, str | Sequence[str]] | None = option(
        COLUMNS,
        "the columns of the table that an input or a label takes; * stands for all others",
        group=_TABLE,
        commands=(*LEARNERS, "test", "predict"),
        functions=runs_of("train", "progressive", "test", "predict"),
        metavar="NAME=COLUMN,...",
        example="x=sepal,petal",
    )
    classes: str | Sequence[str] = option(
        Names(example="['y']"),
        "labels whose values name classes: integers or texts, sorted; one-hot, or 0 and 1 for a scalar label",
        default=(),
        group=_TABLE,
        commands=(*LEARNERS, "test"),
        functions=runs_of("train", "progressive", "test"),
        metavar="y",
        example="y",
    )
    categories: Mapping[str, Sequence[str]] = option(
        CATEGORIES,
        "columns of inputs whose values are categories: each becomes a column of 0 and 1; columns of texts need no"
        " naming (default: the categories of the training part)",
        default={},
        group=_TABLE,
        commands=LEARNERS,
        functions=runs_of("train"),
        metavar="COLUMN[=A,B,...]",
        example="port=C,Q,S",
    )
    unknown: str | None = option(
        Choice(values=("zeros", "error"), what="treatment of unknown categories"),
        "what a category becomes that the training part does not have: zeros alone, which are counted (default), or an"
        " error",
        group=_TABLE,
        commands=_READERS,
        functions=runs_of(*_READERS),
        example="error",
    )
    missing: str | None = option(
        Choice(values=("error", "mean", "drop"), what="treatment of missing values"),
        "what is done about missing values of inputs: an error (default), the mean or the most frequent category of the"
        " training part, or the sample is left out",
        group=_TABLE,
        commands=_READERS,
        functions=runs_of(*_READERS),
        example="mean",
    )
    no_header: bool = option(
        Switch(),
        "the table has no header: its first line is a sample, and its columns are c0, c1, ...",
        default=False,
        group=_TABLE,
        commands=_READERS,
        functions=runs_of(*_READERS),
    )
    standardise: bool = option(
        Switch(),
        "give each input a mean of 0 and a standard deviation of 1 in the training part; kept beside the models",
        default=False,
        group=_PREPARATION,
        commands=LEARNERS,
        functions=runs_of("train", "progressive"),
    )
    standardise_labels: bool = option(
        Switch(),
        "give each label a mean of 0 and a standard deviation of 1, for regression; loss and metric are then those of"
        " the new labels",
        default=False,
        group=_PREPARATION,
        commands=LEARNERS,
        functions=runs_of("train", "progressive"),
    )
    shuffle: int | None = option(
        WholeNumber(low=0),
        "put the training part into another order, by the seed S",
        group=_PREPARATION,
        commands=LEARNERS,
        functions=runs_of("train", "progressive"),
        metavar="S",
        example="1",
    )
    samples: int | None = option(
        WholeNumber(low=1),
        "use only the first N samples",
        group=_PREPARATION,
        commands=_READERS,
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
        commands=LEARNERS,
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
    split_last: Shares | None = option(
        Object(reads=True),
        "as --split, but take the last samples: the test part from the end, and the validation part before it",
        group=_HELD_OUT,
        commands=LEARNERS,
        functions=runs_of("train"),
        metavar="A[,B]",
        metavars=dict.fromkeys(("formats", "explore"), "A,B"),
        example="0.2,0.1",
    )
    split_seed: int | None = option(
        WholeNumber(low=0),
        "choose the samples that are held out by the seed S (default 0)",
        group=_HELD_OUT,
        commands=LEARNERS,
        functions=runs_of("train", "progressive"),
        metavar="S",
        example="1",
    )

    @property
    def shares(self) -> Split | None:
        """The shares that are held out. Anything that is not one or two shares, and a seed without shares, are a
        `TablaError`.
        """
        return split_of(self.split, self.split_seed, self.split_last)
