"""What a command reads of its arguments is what its parser has: no checker of types sees a slip there."""

from __future__ import annotations

import argparse
import ast
from pathlib import Path

import pytest

from tabla.commands import cli
from tabla.commands.cli import COMMANDS, main, parser_for

FOLDER = Path(cli.__file__).parent


def names_read(module: str) -> set[str]:
    """The attributes of `arguments` in a module of a command."""
    tree = ast.parse((FOLDER / f"{module}.py").read_text(encoding="utf-8"))
    found = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return {node.attr for node in found if isinstance(node.value, ast.Name) and node.value.id == "arguments"}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_reads_its_own_arguments(command: str) -> None:
    (commands,) = (each for each in parser_for(command)._actions if isinstance(each, argparse._SubParsersAction))
    known = {action.dest for action in commands.choices[command]._actions} | {"command"}
    assert names_read(COMMANDS[command].module) <= known


@pytest.mark.parametrize("command", COMMANDS)
def test_the_options_that_are_listed_first_are_ten_at_most(command: str) -> None:
    (commands,) = (each for each in parser_for(command)._actions if isinstance(each, argparse._SubParsersAction))
    options = {action.dest for action in commands.choices[command]._actions if action.option_strings}
    often = COMMANDS[command].often.split()
    assert set(often) <= options and len(often) == len(set(often)) <= 10
    assert len(often) == 10 or len(options) < 12


@pytest.mark.parametrize("seed", [("--seed", "4"), ("--seed=4",)])
def test_options_that_exclude_each_other_are_told_with_their_values(
    seed: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", "p.t", "--data", "d.npz", "--weights", "w.npz", *seed]) == 2
    assert capsys.readouterr().err == (
        f"error: --weights w.npz and {' '.join(seed)} are given, and only one of them can be: leave one out\n"
        "hint: tabla train --help\n"
    )
