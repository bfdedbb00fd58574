"""The reference of the command line, from the parsers of ``tabla``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from tabla.base.options import options_of
from tabla.build.pass_options import PassOptions
from tabla.commands.cli import COMMANDS, Parser, parser_for
from tabla.learn.options import RECORDS

FOLDER = "commands"
"""The folder of the commands' pages, beside the page that lists them."""


def page() -> str:
    """Return a table of all commands: each with a link to its page, and what it does."""
    rows = [f"| [`tabla {command}`]({FOLDER}/{command}.md) | {_cell(_described(command))} |" for command in COMMANDS]
    return "\n".join(["| command | what it does |", "|---|---|", *rows, ""])


def pages(commands: tuple[str, ...] = tuple(COMMANDS)) -> dict[str, str]:
    """Return a page for each command: what it does, how it is called, and a table of its options."""
    return {command: _page(command) for command in commands}


def _described(command: str) -> str:
    described = (_parser(command).description or "").strip()
    return f"{described[:1].upper()}{described[1:]}."


def _page(command: str) -> str:
    parser = _parser(command)
    lines = [
        f"# tabla {command}",
        "",
        _described(command),
        "",
        "```text",
        parser.usage_line(),
        "```",
        "",
    ]
    for title, listed in parser.sections():
        actions = [action for action in listed if not isinstance(action, argparse._HelpAction)]
        if actions:
            title = {"positional arguments": "arguments"}.get(title, title)
            name = "argument" if title == "arguments" else "option"
            rows = [(name, "what it does", "values", "example"), *(_row(action, command) for action in actions)]
            lines += [f"## {title[:1].upper()}{title[1:]}", "", *_table(rows), ""]
    lines.append("What holds for all commands is on the page [Command line](../command-line.md).")
    return "\n".join(lines)


def _parser(command: str) -> Parser:
    """Return the parser of one command."""
    actions = parser_for(command)._actions
    (found,) = (action for action in actions if isinstance(action, argparse._SubParsersAction))
    parser: Parser = found.choices[command]
    return parser


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table, whose first row is its head. A column without any content is left out."""
    kept = [number for number, column in enumerate(zip(*rows, strict=True)) if any(column[1:])]
    head, *others = ("| " + " | ".join(_cell(row[number]) for number in kept) + " |" for row in rows)
    return [head, "|" + "---|" * len(kept), *others]


def _row(action: argparse.Action, command: str) -> tuple[str, str, str, str]:
    value = action.metavar or action.dest.upper()
    shown = value if isinstance(value, str) else " ".join(value)
    if action.option_strings:
        takes = "" if action.nargs == 0 else f" {shown}"
        name = ", ".join(f"`{option}{takes}`" for option in action.option_strings)
    else:
        name = f"`{shown}`"
    told = (action.help or "") % {**vars(action), "prog": "tabla"} if action.help else ""
    options = (options_of(record).get(action.dest) for record in (*RECORDS, PassOptions))
    known = next((each for each in options if each is not None and command in each.commands), None)
    values = "" if known is None else known.kind_of(command).range
    example = "" if known is None or not known.example else f"`{known.flag} {known.example}`"
    unit = f" ({known.unit})" if known is not None and known.unit and values else ""
    return name, told, values + unit, example


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
