"""The types of ``**options`` are those of the records."""

from __future__ import annotations

from dataclasses import fields

import pytest

from manual import keywords
from tabla.base.options import Record, options_of
from tabla.commands.cli import COMMANDS, parser_for
from tabla.learn.options import RECORDS


def test_the_module_is_what_the_records_say() -> None:
    text = keywords.WHERE.read_text(encoding="utf-8")
    assert text == keywords.page(), "python -m manual.keywords writes the module anew"


@pytest.mark.parametrize("record", RECORDS)
def test_every_option_says_what_it_is(record: type[Record]) -> None:
    known = options_of(record)
    assert set(known) == {each.name for each in fields(record)}
    for option in known.values():
        assert option.help and option.group and (option.commands or option.functions)
        assert option.commands <= COMMANDS.keys()
        assert option.required <= option.commands
        if option.commands and option.kind.takes != "switch":
            assert option.example, f"{option.name} has no example"


@pytest.mark.parametrize("record", RECORDS)
def test_examples_are_read(record: type[Record]) -> None:
    for option in options_of(record).values():
        if option.example:
            for command in option.commands:
                option.kind_of(command).read(option.example)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_example_of_a_command_is_one(command: str) -> None:
    words = COMMANDS[command].example.split()
    assert words[:2] == ["tabla", command]
    parsed, unknown = parser_for(command).parse_known_args(words[1:])
    assert parsed.command == command and not unknown
