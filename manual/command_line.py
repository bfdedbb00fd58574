"""The reference of the command line, from the parsers of ``tabla``."""

from __future__ import annotations

import argparse

from tabla.commands.cli import COMMANDS, parser_for


def page(commands: tuple[str, ...] = tuple(COMMANDS)) -> str:
    """Return a section for each command: what it does, how it is called, and a table of its options."""
    return "\n".join(_section(command) for command in commands)


def _section(command: str) -> str:
    parser = _parser(command)
    # The width is fixed, so that the page does not depend on the terminal.
    formatter = argparse.HelpFormatter(parser.prog, width=100)
    formatter.add_usage(None, parser._actions, parser._mutually_exclusive_groups, prefix="")
    usage = formatter.format_help().strip()
    described = (parser.description or "").strip()
    lines = [f"## {command}", "", f"{described[:1].upper()}{described[1:]}.", "", "```text", usage, "```", ""]
    for group in parser._action_groups:
        actions = [action for action in group._group_actions if not isinstance(action, argparse._HelpAction)]
        if actions:
            title = {"positional arguments": "arguments", "options": "options"}.get(group.title or "", group.title)
            lines += [f"| {title} | |", "|---|---|", *map(_row, actions), ""]
    return "\n".join(lines)


def _parser(command: str) -> argparse.ArgumentParser:
    """Return the parser of one command."""
    actions = parser_for(command)._actions
    (found,) = (action for action in actions if isinstance(action, argparse._SubParsersAction))
    parser: argparse.ArgumentParser = found.choices[command]
    return parser


def _row(action: argparse.Action) -> str:
    value = action.metavar or action.dest.upper()
    shown = value if isinstance(value, str) else " ".join(value)
    if action.option_strings:
        takes = "" if action.nargs == 0 else f" {shown}"
        name = ", ".join(f"`{option}{takes}`" for option in action.option_strings)
    else:
        name = f"`{shown}`"
    told = (action.help or "") % {**vars(action), "prog": "tabla"} if action.help else ""
    return f"| {_cell(name)} | {_cell(told)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
