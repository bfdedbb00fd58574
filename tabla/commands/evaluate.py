"""``tabla eval`` computes the results of a program without hardware."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tabla.base.source import TablaError
from tabla.commands.arguments import add_build, add_file, add_options, add_quiet, add_strict
from tabla.commands.choosing import build_for_inputs, tell_choice
from tabla.commands.console import Console
from tabla.commands.output import check_arrays, strict_status, write_arrays
from tabla.learn.data.options import DataOptions
from tabla.learn.options import LearnOptions
from tabla.learn.runs import evaluation, progressive


def configure(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser)
    parser.add_argument("-o", "--output", metavar="FILE.npz", required=True, help="write models and results there")
    parser.add_argument("--float", action="store_true", help="compute in float64 instead of the number format")
    add_strict(parser)
    add_build(parser)
    add_options(parser, DataOptions, LearnOptions)
    add_quiet(parser)


def _finite_status(arguments: Namespace, console: Console, arrays: Mapping[str, NDArray[np.float64]]) -> int:
    """Say which results of float64 are no numbers, and return the exit status: 1 for such a result with ``--strict``.

    Float64 does not saturate. It goes on with infinities and with nan, as after a division by zero.
    """
    wrong = {name: int(np.sum(~np.isfinite(array))) for name, array in arrays.items()}
    listed = ", ".join(f"{name}: {count} of {arrays[name].size}" for name, count in wrong.items() if count)
    if not listed:
        return 0
    text = f"float64 gave results that are not finite ({listed})"
    hint = "look for a division by zero, a logarithm of zero, or a learning rate that is too large"
    if arguments.strict:
        console.fault(f"error: --strict: {text}\nhint: {hint}")
        return 1
    console.remark(f"warning: {text}: {hint}")
    return 0


def run(arguments: Namespace, console: Console) -> int:
    """Evaluate the program and write the arrays."""
    check_arrays(arguments.output)
    made, inputs, options = build_for_inputs(arguments, console)
    if not arguments.float:
        for note in made.warnings:
            console.remark(f"warning: {note}")
    if arguments.progressive and arguments.float:
        raise TablaError("--progressive and --float are given together", hint="leave one of them out")
    found = evaluation(made, inputs, options, float64=arguments.float)
    write_arrays(arguments.output, found.arrays, console)
    tell_choice(made, arguments, console)
    if found.events is None:
        return _finite_status(arguments, console, found.arrays)
    console.report(found.text())
    if arguments.progressive:
        console.report(progressive(made, inputs, options).text())
    return strict_status(arguments, console, found.events.overflows + found.events.domain_errors)
