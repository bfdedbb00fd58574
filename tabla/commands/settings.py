"""``tabla.toml``: what a project says once, for the commands that run in its folder.

The file is that of the current folder, and no other. A command reads it if its FILE is left out, or is the one that the
file names, or models that it names. Its keys are the options of the records, by their names in Python, and `FILE`,
`DATA` and `OUTPUT`; a table of the name of a command holds what is for that command alone. The command line comes
first, then what models tell of how they were learnt, then a table of the command, then the keys above all tables, and
then the defaults.
"""

from __future__ import annotations

import re
import tomllib
from argparse import Namespace
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from tabla.base.npz import read_npz
from tabla.base.options import Option, options_of
from tabla.base.source import Label, Source, Span, TablaError
from tabla.learn.data.options import LEARNERS, USERS, DataOptions
from tabla.learn.data.recipe import NAME as RECIPE
from tabla.learn.data.split import split_of
from tabla.learn.options import RECORDS, LearnOptions

NAME = "tabla.toml"
FILE, DATA, OUTPUT = "file", "data", "output"
"""The keys that are no fields of a record: the program, the data to learn from, and what a command writes."""
PROGRAM_COMMANDS = (
    "gen",
    "check",
    "bound",
    "eval",
    "sim",
    "train",
    "test",
    "predict",
    "formats",
    "explore",
    "load",
    "synth",
    "build",
)
"""The commands whose FILE the settings may name."""
_OUTPUTS = ("train", "gen", "predict", "eval", "sim", "explore", "load", "build")
_ONE_OF = (("split", "split_last"), ("weights", "seed"), ("split_last", "split_seed"))
"""Options of which a command takes one. One that the command line gives takes the place of the other."""
_TOLD = ("format", "model_guard", "saturate", "columns", "classes", "categories", "missing", "no_header")
"""The options that a file of models keeps: how its models were learnt, and from which columns."""
_PATHS = "correct the path, which begins in this folder"
_MOST_SHOWN = 8
"""So many values of a list are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A value of the settings, as the parser of a command has it, and its place."""

    name: str
    value: Any
    shown: str
    span: Span = field(repr=False)

    @property
    def place(self) -> str:
        """The file and the line."""
        return f"{self.span.source.name}:{self.span.line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a ``tabla.toml`` says: the keys above all tables, and those of each command."""

    source: Source
    content: Mapping[str, Any]

    @property
    def file(self) -> str | None:
        """The program; None if the settings do not name it."""
        return self.content.get(FILE)

    def span(self, name: str, section: str = "") -> Span:
        """Return the place of a key, or of the table of that name; of the table `section`, if it is in one."""
        text, inside, start = self.source.text, "", 0
        for line in text.splitlines(keepends=True):
            if header := re.match(r"\s*\[+\s*([^\]\s]+)\s*\]", line):
                inside = header[1].strip("\"'").partition(".")[0]
                if not section and inside == name:
                    return Span(source=self.source, start=start + header.start(1), end=start + header.end(1))
            key = re.match(r"\s*[\"']?([^\s\"'=.]+)[\"']?\s*[.=]", line)
            if key is not None and key[1] == name and inside == section:
                return Span(source=self.source, start=start + key.start(1), end=start + key.end(1))
            start += len(line)
        return Span(source=self.source, start=0, end=0)

    def of(self, command: str) -> dict[str, Setting]:
        """Return the settings of a command by the names of its options. A wrong value is a `TablaError` there."""
        found = {}
        sections = {"": self.content, command: self.content.get(command)}
        for section, keys in sections.items():
            for name, value in keys.items() if isinstance(keys, dict) else ():
                if (option := _option(name, command)) is not None and not _is_section(name, value):
                    found[name] = self._setting(name, value, section, option, command)
                elif (name == DATA and (section or command in LEARNERS)) or (name == OUTPUT and section):
                    span = self.span(name, section)
                    found[name] = Setting(name=name, value=self._text(name, value, span), shown=str(value), span=span)
        return found

    def _setting(self, name: str, value: Any, section: str, option: Option, command: str) -> Setting:
        span, kind = self.span(name, section), option.kind_of(command)
        try:
            takes_text = isinstance(value, str) and kind.takes == "one"
            checked = kind.checked(name, kind.read(value) if takes_text else value)
            if name == "split":
                split_of(checked, None)
            elif name == "split_last":
                split_of(None, None, checked)
        except TablaError as fault:
            known = f"the values are {kind.range}" if kind.range else None
            raise TablaError(fault.message, Label(span), hint=fault.hint or known) from None
        shown = " ".join(kind.written(checked)) if kind.takes != "switch" else str(value).lower()
        match kind.takes:
            case "names":
                checked = [list(checked)]
            case "pairs" | "lists":
                checked = list(checked.items())
        return Setting(name=name, value=checked, shown=shown or str(value), span=span)

    def _text(self, name: str, value: Any, span: Span) -> str:
        if not isinstance(value, str) or not value:
            raise TablaError(f"{name}: {value!r} is not the path of a file", Label(span), hint="write it in quotes")
        return value

    def models(self) -> list[str]:
        """Return the files of models that the settings name: what ``train`` writes, and what other commands use."""
        named = [("train", OUTPUT), *((command, "weights") for command in ("test", "predict"))]
        found = [self.content.get(command, {}).get(key) for command, key in named]
        return list(dict.fromkeys(each for each in found if isinstance(each, str)))

    def listed(self) -> Iterator[tuple[str, str, int]]:
        """Yield the name of each setting, its value as text, and its line, in the order of the file."""
        found: dict[int, tuple[str, str, int]] = {}
        for name, value in self.content.items():
            inside = value if _is_section(name, value) else None
            for key, each in [(name, value)] if inside is None else inside.items():
                span = self.span(key, "" if inside is None else name)
                shown = name if inside is None else f"{name}.{key}"
                found[span.start] = (shown, _shown(each), span.line)
        yield from (found[start] for start in sorted(found))

    def check(self) -> None:
        """Raise `TablaError` for the first key that is no option, at its place, with the one that is most like it."""
        for name, value in self.content.items():
            if _is_section(name, value):
                for key in value:
                    if _option(key, name) is None and key not in _own_keys(name):
                        self._refuse(key, name, [*_names(name), *_own_keys(name)])
            elif name not in (FILE, DATA) and not any(_option(name, command) for command in PROGRAM_COMMANDS):
                every = dict.fromkeys(key for command in PROGRAM_COMMANDS for key in _names(command))
                self._refuse(name, "", [FILE, DATA, *every, *PROGRAM_COMMANDS])
        if self.file is not None:
            self._text(FILE, self.file, self.span(FILE))

    def _refuse(self, name: str, section: str, known: list[str]) -> None:
        span = self.span(name, section)
        near = get_close_matches(name.replace("-", "_"), known, 1, 0.7)
        if not section and name == OUTPUT:
            hint = "write it into the table of a command, such as [train]"
        else:
            of = section or "train"
            hint = f"did you mean '{near[0]}'?" if near else f"tabla {of} --help lists the options of {of}"
        where = f"tabla {section} has" if section else "there is"
        raise TablaError(f"{where} no option '{name}'", Label(span), hint=hint)


def read_settings() -> Settings | None:
    """Return the settings of the current folder, or None if it has none. A fault in them is a `TablaError`."""
    path = Path(NAME)
    if not path.is_file():
        return None
    source = Source.from_path(path)
    try:
        content = tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as fault:
        found = re.search(r"\(at line (\d+), column (\d+)\)", str(fault))
        lines = source.text.split("\n")
        line, column = (int(found[1]), int(found[2])) if found else (len(lines), len(lines[-1]) + 1)
        start = sum(len(each) + 1 for each in lines[: line - 1]) + column - 1
        what = re.sub(r" \(at .*\)$", "", str(fault))
        hint = "texts stand in quotes, and lists in brackets: columns = {x = ['age', 'fare'], y = ['price']}"
        if "\\" in what:
            hint = "write paths with / in place of \\, or in single quotes: data = 'C:\\tables\\ship.csv'"
        raise TablaError(
            f"this is no TOML: {what}", Label(Span(source=source, start=start, end=start + 1)), hint=hint
        ) from None
    settings = Settings(source=source, content=content)
    settings.check()
    return settings


def complete(arguments: Namespace) -> tuple[str, ...]:
    """Complete the arguments of a command by the settings of the current folder, if they are for it.

    Return the names of the arguments that the settings gave.
    """
    command = arguments.command
    if command not in PROGRAM_COMMANDS:
        return ()
    settings = read_settings()
    if settings is None or not _concerns(settings, arguments.file):
        return ()
    given = [FILE] if arguments.file is None and settings.file is not None else []
    if given:
        arguments.file = settings.file
        _refuse_no_file(settings)
    found = settings.of(command)
    infers, named = getattr(arguments, "infer", False), arguments.file.endswith(".npz")
    if named:
        found.pop("weights", None)
    _use(arguments, found, "weights", given)
    if infers and not named and arguments.weights is None:
        arguments.weights = next((each for each in settings.models() if Path(each).is_file()), None)
        given += ["weights"] if arguments.weights is not None else []
    models = arguments.file if named else getattr(arguments, "weights", None)
    if models is not None:
        _refuse_missing(arguments, found)
        if (infers or command in USERS) and _tells(models):
            found = {name: setting for name, setting in found.items() if name not in _TOLD}
    if command == "gen":
        found = _of_gen(arguments, found)
    for name in found:
        _use(arguments, found, name, given)
    if DATA in given and not Path(found[DATA].value).exists():
        raise TablaError(f"there is no file '{found[DATA].value}'", Label(found[DATA].span), hint=_PATHS)
    return tuple(given)


def _concerns(settings: Settings, file: str | None) -> bool:
    """Return whether settings are for a command: its FILE is left out, or is a program or models that they name."""
    return file is None or _same(file, settings.file) or any(_same(file, each) for each in settings.models())


def _refuse_no_file(settings: Settings) -> None:
    """Raise `TablaError` at its place for a program that is not there. A part of a file stands after a colon."""
    file = str(settings.file)
    if not Path(file).exists() and not Path(file.rpartition(":")[0] or file).exists():
        raise TablaError(f"there is no file '{file}'", Label(settings.span(FILE)), hint=_PATHS)


def _use(arguments: Namespace, found: Mapping[str, Setting], name: str, given: list[str]) -> None:
    """Take the setting of a name, if the command line gives neither it nor an option that excludes it."""
    others = [other for pair in _ONE_OF if name in pair for other in pair]
    if name in found and name not in given and hasattr(arguments, name):
        if all(_left(getattr(arguments, each, None)) or each in given for each in (name, *others)):
            setattr(arguments, name, found[name].value)
            given.append(name)


def _left(value: object) -> bool:
    return value is None or value is False or value == []


def _of_gen(arguments: Namespace, found: dict[str, Setting]) -> dict[str, Setting]:
    """Return the settings of ``gen``, which looks at data only where data choose the number format."""
    number = arguments.format or (found["format"].value if "format" in found else None)
    if isinstance(number, str) and number.startswith("auto"):
        return found
    names = {DATA, *options_of(DataOptions), *options_of(LearnOptions)}
    return {name: setting for name, setting in found.items() if name not in names}


def _refuse_missing(arguments: Namespace, found: Mapping[str, Setting]) -> None:
    """Raise `TablaError` if the settings name models that are not there yet."""
    setting = found.get("weights")
    if setting is not None and arguments.weights == setting.value and not Path(setting.value).exists():
        raise TablaError(
            f"'{setting.value}' is not there yet", Label(setting.span), hint="tabla train writes it, if it learns here"
        )


def _tells(weights: str) -> bool:
    """Return whether a file of models tells how they were learnt."""
    path = Path(weights)
    return path.suffix == ".npz" and path.is_file() and RECIPE in read_npz(path)


def _same(one: str, other: str | None) -> bool:
    return other is not None and (one == other or Path(one).resolve() == Path(other).resolve())


def _shown(value: object) -> str:
    """Return a value as a line of text."""
    match value:
        case bool():
            return str(value).lower()
        case dict():
            return "; ".join(f"{key} = {_shown(each)}" for key, each in value.items())
        case list():
            texts = [str(each) for each in value]
            more = f" and {len(texts) - _MOST_SHOWN} more" if len(texts) > _MOST_SHOWN else ""
            return ", ".join(texts[:_MOST_SHOWN]) + more
    return str(value)


def _is_section(name: str, value: object) -> bool:
    return name in PROGRAM_COMMANDS and isinstance(value, dict)


def _own_keys(command: str) -> Iterator[str]:
    if command in (*LEARNERS, "test", "predict"):
        yield DATA
    if command in _OUTPUTS:
        yield OUTPUT


@cache
def _options(command: str) -> Mapping[str, Option]:
    """Return the options of the records that a command takes, by name."""
    return {
        name: option for record in RECORDS for name, option in options_of(record).items() if command in option.commands
    }


def _option(name: str, command: str) -> Option | None:
    return _options(command).get(name)


def _names(command: str) -> list[str]:
    return list(_options(command))
