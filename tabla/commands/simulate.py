"""``tabla sim`` computes the arrays of ``tabla eval`` on the simulated accelerator."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tabla.build.stages import format_entry
from tabla.commands.arguments import add_build, add_file, add_json, add_options, add_quiet, add_strict
from tabla.commands.choosing import build_for_inputs, tell_choice
from tabla.commands.console import Console
from tabla.commands.output import check_arrays, cycle_status, strict_status, write_arrays, write_json
from tabla.learn.data.options import DataOptions
from tabla.learn.options import LearnOptions
from tabla.learn.runs import simulate

SCHEMA = "tabla-sim-1"


def configure(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser)
    parser.add_argument("-o", "--output", metavar="FILE.npz", help="write models and results there")
    add_strict(parser)
    add_build(parser)
    add_options(parser, DataOptions, LearnOptions)
    add_json(parser)
    add_quiet(parser)


def run(arguments: Namespace, console: Console) -> int:
    """Simulate the accelerator, write the arrays and print the counted cycles."""
    check_arrays(arguments.output)
    made, inputs, options = build_for_inputs(arguments, console)
    for note in made.warnings:
        console.remark(f"warning: {note}")
    console.progress(f"{arguments.file}: simulating")
    done = simulate(made, inputs, options)
    if arguments.output:
        write_arrays(arguments.output, done.arrays, console)
    tell_choice(made, arguments, console)
    if arguments.json:
        content = {
            "schema": SCHEMA,
            "engine": done.engine,
            "samples": done.samples,
            "cycles": {"predicted": done.cycles_predicted, "simulated": done.cycles_simulated},
            "latency": {"predicted": done.latency_predicted, "simulated": done.latency_simulated},
            "lane_overflows": done.counters.lane_overflows,
            "root_overflows": done.counters.root_overflows,
            "domain_errors": done.counters.domain_errors,
            **format_entry(made.format_choice),
        }
        write_json(arguments.json, content, console)
    if arguments.json != "-":
        console.report(done.text())
    counters = done.counters
    events = counters.lane_overflows + counters.root_overflows + counters.domain_errors
    return cycle_status(console, as_predicted=done.as_predicted) or strict_status(arguments, console, events)
