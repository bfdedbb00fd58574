"""``tabla pass`` runs one pass of the compiler on the text of a graph, and lists all passes."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tabla.base.arrays import write_npz
from tabla.base.folder import check_file, replaced_file
from tabla.base.options import options_of
from tabla.base.source import Source, TablaError
from tabla.build.options import ArrayOptions, Options
from tabla.commands.arguments import add_options, add_quiet, record_of
from tabla.commands.console import Console
from tabla.graph.format import Format
from tabla.graph.passes.framework import Pass, Setting, pass_named
from tabla.graph.passes.inference import predicting
from tabla.graph.passes.pipeline import all_passes, groups
from tabla.graph.text import graph_file_text, words_beside
from tabla.languages.graph_text.reader import GraphFile, read_graph
from tabla.languages.options import ProgramOptions
from tabla.learn.options import LearnOptions

_NEEDS = {"minibatch": "samples", "model_guard": "guard", "pes": "pes", "predict": "predict"}
"""The options of the command, and the fields of a `Setting` that they give."""
_ALONE = (predicting,)
"""The passes that a build runs before the graph has the format of its array: with ``--infer``."""


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("name", metavar="PASS", nargs="?", help="the pass; without one, all passes are listed")
    parser.add_argument("graph", metavar="FILE.graph", nargs="?", help="a graph as --emit graph prints it")
    parser.add_argument("--list", action="store_true", help="list all passes in their order, with what each does")
    parser.add_argument("-o", "--output", metavar="FILE.graph", help="write to this file instead of standard output")
    add_options(parser, ArrayOptions, ProgramOptions, LearnOptions)
    add_quiet(parser)


def run(arguments: Namespace, console: Console) -> int:
    """Run one pass and print or write the graph; without a pass, list the passes."""
    if arguments.list or arguments.name is None:
        if arguments.name is not None or arguments.output is not None:
            raise TablaError("--list lists the passes and reads no graph", hint="leave the other arguments out")
        console.table(list(_rows()), texts=(0, 1, 2, 3))
        return 0
    one = pass_named(arguments.name, (*all_passes(), *_ALONE))
    if arguments.graph is None:
        raise TablaError(f"the pass '{one.name}' needs a graph", hint=f"write tabla pass {one.name} FILE.graph")
    if arguments.output is not None:
        _check_output(Path(arguments.output))
    path = Path(arguments.graph)
    if path.suffix != ".graph":
        raise TablaError(
            f"'{path}' is no text of a graph", hint=f"print one with tabla gen {path} --emit graph > x.graph"
        )
    read = read_graph(Source.from_path(path), path.parent)
    setting = _with_options(Setting(fmt=_format(arguments, read)), arguments, one)
    if one.condition is not None and not one.applies(read.graph, setting):
        console.remark(f"note: {one.name} leaves this graph as it is: it has work only where {one.condition.text}")
    _put(arguments, read, one, setting, console)
    return 0


def _rows() -> Iterator[tuple[str, ...]]:
    """Yield the passes as a table: the group, the name, what the pass does, and where it has work."""
    yield "group", "pass", "what it does", "has work where"
    for group in groups():
        for one in group.passes:
            yield group.name, *_about(one)
    for one in _ALONE:
        yield "--infer", *_about(one)


def _about(one: Pass[...]) -> tuple[str, str, str]:
    return one.name, one.description, "" if one.condition is None else one.condition.text


def _check_output(path: Path) -> None:
    if path.suffix != ".graph":
        raise TablaError(f"a graph cannot be written to '{path}'", hint="name a file that ends in .graph with -o")
    check_file(path)


def _with_options(setting: Setting, arguments: Namespace, one: Pass[...]) -> Setting:
    """Return the setting with the options that the pass needs. One that it does not need is a `TablaError`."""
    options = {**record_of(arguments, Options).given(), **record_of(arguments, LearnOptions).given()}
    given: dict[str, Any] = {}
    for option, need in _NEEDS.items():
        value = options.get(option)
        if value is None or (option == "minibatch" and value == 1):
            continue
        if need not in one.needs:
            flag = {**options_of(Options), **options_of(LearnOptions)}[option].flag
            raise TablaError(f"{flag}: the pass '{one.name}' does not ask for it", hint=f"leave {flag} out")
        given[need] = value
    return replace(setting, **given)


def _format(arguments: Namespace, read: GraphFile) -> Format:
    """Return the format of the words, which the file names, or the user if it does not."""
    asked = None if arguments.format is None else record_of(arguments, Options).chosen_format()
    if read.format is None and asked is None:
        raise TablaError(f"'{arguments.graph}' names no format", hint="add --format, such as --format q6.10")
    if read.format is not None and asked is not None and read.format != asked:
        raise TablaError(
            f"'{arguments.graph}' is a graph for {read.format}, not for {asked}", hint="leave --format out"
        )
    chosen = read.format or asked
    assert chosen is not None
    return chosen


def _put(arguments: Namespace, read: GraphFile, one: Pass[...], setting: Setting, console: Console) -> None:
    """Print the graph after the pass, or write it, with a file beside it for the words of large constants."""
    after = one.run(read.graph, setting)
    if arguments.output is None:
        console.verbatim(graph_file_text(after, setting.fmt, read.integers))
        return
    path, large = Path(arguments.output), words_beside(after)
    beside = path.with_name(f"{path.name}.npz")
    if large:
        with replaced_file(beside) as fresh, fresh.open("wb") as file:
            write_npz(file, large)
    with replaced_file(path) as fresh:
        text = graph_file_text(after, setting.fmt, read.integers, beside.name)
        fresh.write_text(text, encoding="utf-8", newline="\n")
