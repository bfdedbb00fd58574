"""``--format auto`` on the command line: the build of a command with ``--inputs``, and what is told of the choice."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from functools import partial

from tabla.build.stages import Stages
from tabla.commands.arguments import build_options, record_of
from tabla.commands.console import Console
from tabla.commands.models import inference_build
from tabla.driver import Build, build
from tabla.learn.auto_format import for_inputs
from tabla.learn.data.dataset import Data
from tabla.learn.data.options import DataOptions
from tabla.learn.options import LearnOptions


def build_for_inputs(arguments: Namespace, console: Console) -> tuple[Build, Data, LearnOptions]:
    """Return the build of a command with ``--inputs``, the inputs, and the options of the run.

    The inputs choose the format if the options leave it to them.
    """
    made, run = partial(build, arguments.file), record_of(arguments, LearnOptions)
    inputs = Data.of_source(arguments.inputs, record_of(arguments, DataOptions))
    if arguments.infer:
        return inference_build(arguments, console), inputs, replace(run, weights=None, predict=None)
    return made(*for_inputs(made, build_options(arguments), inputs, run)), inputs, run


def tell_choice(made: Stages, arguments: Namespace, console: Console) -> None:
    """Print by what the format was chosen, if it was chosen from data and standard output is not for JSON."""
    if made.format_choice is not None and getattr(arguments, "json", None) != "-":
        for line in made.format_choice.lines():
            console.report(line)
        console.result("")
