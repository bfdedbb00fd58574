"""``tabla test`` scores trained models on data that they have not seen."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path

from tabla.base.arrays import read_arrays
from tabla.build.options import Options
from tabla.commands.arguments import (
    add_build,
    add_data,
    add_file,
    add_json,
    add_options,
    add_quiet,
    add_strict,
    build_options,
    record_of,
)
from tabla.commands.console import Console
from tabla.commands.output import cycle_status, strict_status, write_json
from tabla.driver import build
from tabla.learn.data.dataset import Data
from tabla.learn.data.options import DataOptions
from tabla.learn.data.recipe import recipe_in
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


def scored_options(arguments: Namespace, console: Console) -> Options:
    """Return the options of the build: with the number format in which the models were learnt, if nothing else is said.

    What the file of the models does not tell, and what the user says otherwise, is remarked.
    """
    options = build_options(arguments)
    if arguments.weights is None:
        return options
    recipe = recipe_in(read_arrays(Path(arguments.weights)), f"'{arguments.weights}'")
    asked = options.format is not None or options.onto is not None
    number = options.chosen_template() if asked or recipe is None else None
    used = "" if number is None else f"q{number.integer_bits}.{number.fraction_bits}"
    if recipe is None:
        if not asked:
            console.remark(
                f"note: '{arguments.weights}' does not tell in which number format its models were learnt; they are"
                f" scored in {used}, and --format names another one"
            )
        return options
    if not asked:
        return replace(options, format=recipe.format, saturate=options.saturate or recipe.saturate)
    if used != recipe.format:
        console.remark(
            f"note: the models of '{arguments.weights}' were learnt in {recipe.format}, and are scored in {used}"
        )
    return options


def run(arguments: Namespace, console: Console) -> int:
    """Score the models and print the report."""
    made = build(arguments.file, scored_options(arguments, console))
    console.progress(f"{arguments.file}: scoring")
    data = Data.of_source(arguments.data, record_of(arguments, DataOptions))
    tested = test(made, data, record_of(arguments, LearnOptions))
    if arguments.json:
        write_json(arguments.json, tested.as_json(), console)
    if arguments.json != "-":
        console.result(tested.text())
    events = tested.events.overflows + tested.events.domain_errors
    return cycle_status(console, as_predicted=tested.as_predicted) or strict_status(arguments, console, events)
