"""``tabla new`` makes a project from a table: a program, its settings, and a page about them."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from tabla.base.folder import check_new, new_folder
from tabla.commands.arguments import add_quiet, reader
from tabla.commands.console import Console
from tabla.driver import build
from tabla.learn.project.programs import MODELS, ModelKind
from tabla.learn.project.project import new_project


def configure(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("name", metavar="NAME", help="the folder of the project, which is not there yet")
    parser.add_argument("--data", metavar="FILE", required=True, help="the table to learn from: .csv, .tsv or .txt")
    text = "the column to predict; without one, the model learns the table itself"
    parser.add_argument("--label", metavar="COLUMN", help=text)
    text = f"one of {', '.join(MODELS)}, with network:32 for a hidden layer of 32 (default: what fits the label)"
    parser.add_argument("--model", type=reader(ModelKind()), metavar="MODEL", help=text)
    add_quiet(parser)


def run(arguments: Namespace, console: Console) -> int:
    """Look at the table, write the project, and say what comes next."""
    folder = Path(arguments.name)
    check_new(folder)
    console.progress(f"{arguments.data}: choosing a model and a number format")
    made = new_project(folder, Path(arguments.data), arguments.label, arguments.model, build)
    if made.columns:
        console.remark(
            f"note: the first line of '{arguments.data}' is a sample and no header, so the columns are called"
            f" {made.columns[0]} to {made.columns[-1]}"
        )
    if arguments.label is None:
        console.remark("note: no --label names a column to predict, so the model learns the table itself")
    with new_folder(folder) as fresh:
        for name, text in made.files.items():
            (fresh / name).write_text(text, encoding="utf-8", newline="\n")
    console.result(f"{folder / f'{made.name}.t'}: {made.about}")
    for each in made.left_out:
        console.result(f"left out     {each.column}: {each.reason}")
    console.result(f"next         cd {folder} && tabla train")
    return 0
