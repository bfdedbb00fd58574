"""``tabla test`` scores trained models on data that they have not seen."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tabla.commands.arguments import (
    add_build,
    add_data,
    add_file,
    add_json,
    add_options,
    add_quiet,
    add_strict,
    record_of,
)
from tabla.commands.console import Console
from tabla.commands.models import build_for_models
from tabla.commands.output import cycle_status, strict_status, write_json
from tabla.learn.data.dataset import Data
from tabla.learn.data.options import DataOptions
from tabla.learn.inference import recipe_of
from tabla.learn.options import LearnOptions
from tabla.learn.test import test


def configure(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser)
    add_data(parser, required=True)
    add_strict(parser)
    add_build(parser)
    add_options(parser, DataOptions, LearnOptions)
    add_json(parser)
    add_quiet(parser)


def run(arguments: Namespace, console: Console) -> int:
    """Score the models and print the report."""
    made = build_for_models(arguments, console, "scored")
    console.progress(f"{arguments.file}: scoring")
    data = Data.of_source(arguments.data, record_of(arguments, DataOptions))
    learnt = recipe_of(made, arguments.weights)
    kept = None if learnt is None else learnt.how.get("metric")
    if None not in (arguments.metric, kept) and arguments.metric != kept:
        console.remark(f"note: the models were learnt with the metric {kept}, and are scored by {arguments.metric}")
    tested = test(made, data, record_of(arguments, LearnOptions))
    if arguments.json:
        write_json(arguments.json, tested.as_json(), console)
    if arguments.json != "-":
        console.report(tested.text(console.width))
    events = tested.events.overflows + tested.events.domain_errors
    return cycle_status(console, as_predicted=tested.as_predicted) or strict_status(arguments, console, events)
