"""The options of commands that learn from data, and their translation into parameters of Python."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from tabla.build.parameters import EPOCHS
from tabla.commands.arguments import add_table, table_options, whole


def add_data(parser: ArgumentParser) -> None:
    """Add the options about the samples, and how they are prepared."""
    parser.add_argument("--data", metavar="FILE", required=True, help="the samples: .npz, or .csv with a header")
    add_preparation(parser)


def add_preparation(parser: ArgumentParser) -> None:
    """Add the options that say which samples are learnt from, and how they are prepared."""
    add_table(parser)
    text = "give each input a mean of 0 and a standard deviation of 1 in the training part; kept beside the models"
    parser.add_argument("--standardise", action="store_true", help=text)
    text = "do the same to the labels, for regression; loss and metric are then those of the new labels"
    parser.add_argument("--standardise-labels", action="store_true", help=text)
    text = "put the training part into another order, by the seed S"
    parser.add_argument("--shuffle", type=whole("shuffle"), metavar="S", help=text)
    parser.add_argument("--samples", type=whole("samples"), metavar="N", help="use only the first N samples")


def add_epochs(parser: ArgumentParser) -> None:
    """Add the options about the number of passes, the prediction, and the models to start from."""
    parser.add_argument(
        "--epochs",
        type=whole("epochs"),
        default=EPOCHS,
        metavar="N",
        help=f"passes over the data (default {EPOCHS})",
    )
    parser.add_argument("--predict", metavar="NAME", help="the value to compare with the label")
    add_start(parser, 0)


def add_start(parser: ArgumentParser, seed: int | None) -> None:
    """Add the options about the models to start from; `seed` is the default of ``--seed``."""
    start = parser.add_mutually_exclusive_group()
    start.add_argument("--weights", metavar="FILE.npz", help="start from these models")
    start.add_argument(
        "--seed", type=whole("seed"), default=seed, metavar="S", help="start from random models (default 0)"
    )


def learning_options(arguments: Namespace) -> dict[str, Any]:
    """Return the options of `add_preparation` and `add_start` as parameters of Python, and those of the split."""
    names = ("split", "split_seed", "shuffle", "standardise", "standardise_labels", "weights", "seed", "samples")
    return {**table_options(arguments), **{name: getattr(arguments, name) for name in names}}
