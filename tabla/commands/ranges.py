"""``tabla ranges`` prints the ranges that the compiler infers for the indices of a kernel."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tabla.base.source import TablaError
from tabla.build.options import Options
from tabla.commands.arguments import add_options, record_of
from tabla.commands.console import Console
from tabla.languages import split
from tabla.languages.options import ProgramOptions
from tabla.languages.tc import ranges_text
from tabla.languages.tc.notation import read_unit, sizes_of


def configure(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("file", metavar="FILE.tc[:def]", help="the kernel; without a def, all kernels of the file")
    add_options(parser, ProgramOptions)


def run(arguments: Namespace, console: Console) -> int:
    """Print the ranges: as formulas of the sizes, or as numbers if the sizes are given."""
    path, member = split(arguments.file)
    if path.suffix != ".tc":
        raise TablaError(f"'{arguments.file}' has no ranges to infer", hint="ranges are those of a .tc file")
    options = record_of(arguments, Options)
    expanded, unit = read_unit(path, options)
    with expanded.pointing_back():
        if options.sizes or options.inputs:
            function = unit.function(member)
            text = ranges_text(unit, function.name, sizes_of(function, options))
        else:
            text = ranges_text(unit, member)
    console.result(text)
    return 0
