"""Records of options: each option is one field, from which all that users see of it is made.

The parser of the command line, the checks of ranges, the reference page and the signatures of Python are made from the
fields (decision 36). A record is a frozen dataclass with the base :class:`Record`, and a field is :func:`option`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from difflib import get_close_matches
from functools import cache, wraps
from typing import Any, Required, Self, TypedDict, TypeVar, Unpack

from tabla.base.kinds import Kind, WholeNumber
from tabla.base.parameters import Whole
from tabla.base.source import TablaTypeError

_METADATA = "option"
COMMANDS = {
    **{name: name for name in ("train", "progressive", "test", "predict", "formats", "explore")},
    "evaluate": "eval",
    "simulate": "sim",
}
"""The commands whose options of data and learning, and whose phrases, the functions of Python have, too. The function
`progressive` is an option of a command and not a command itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """What users can know of an option beside its name, its type and its default.

    `kind` are the values that it takes, and `unit` is what they count. `help` is a phrase for ``--help`` and the
    reference. `kinds`, `helps` and `metavars` are those of commands that have others. `example` is a value as
    the command line has it. `group` is the title under which the option is listed. `commands` are the commands that
    take it, and `functions` the functions of Python, by their names without the class. The commands `required` refuse
    to run without it. `flag` is the option of the command line, and `metavar` stands for its value there.
    """

    name: str
    kind: Kind
    help: str
    kinds: Mapping[str, Kind]
    helps: Mapping[str, str]
    metavars: Mapping[str, str]
    example: str
    unit: str
    group: str
    commands: frozenset[str]
    functions: frozenset[str]
    required: frozenset[str]
    flag: str
    metavar: str

    def help_of(self, command: str) -> str:
        """Return the phrase for a command."""
        return self.helps.get(command, self.help)

    def metavar_of(self, command: str) -> str:
        """Return what stands for the value in the help of a command."""
        return self.metavars.get(command, self.metavar)

    def kind_of(self, command: str) -> Kind:
        """Return the values that a command takes."""
        return self.kinds.get(command, self.kind)


FUNCTIONS = {"gen": "compile", "formats": "formats", "explore": "explore"}
"""The functions of Python by the commands that take the same options of a program and an array."""


class About(TypedDict, total=False):
    """What the field of an option may say of it; see :class:`Option`."""

    group: Required[str]
    commands: tuple[str, ...]
    functions: tuple[str, ...]
    required: tuple[str, ...]
    kinds: Mapping[str, Kind]
    helps: Mapping[str, str]
    metavars: Mapping[str, str]
    example: str
    metavar: str
    flag: str
    unit: str


_NOTHING: Mapping[str, Any] = {
    **dict.fromkeys(("commands", "functions", "required"), ()),
    **dict.fromkeys(("example", "metavar", "flag", "unit"), ""),
    **{name: {} for name in ("kinds", "helps", "metavars")},
}


def option(kind: Kind, help: str, *, default: Any = None, **about: Unpack[About]) -> Any:
    """Return the field of an option (:class:`Option`).

    A `default` of None leaves the choice to the tool. One that is a dict is a new empty one for each record. The
    `functions` are added to those that belong to the commands (`FUNCTIONS`).
    """
    known: dict[str, Any] = {"kind": kind, "help": help, **_NOTHING, **about}
    of_commands = {FUNCTIONS[command] for command in known["commands"] if command in FUNCTIONS}
    known["functions"] = {*known["functions"], *of_commands}
    for name in ("commands", "functions", "required"):
        known[name] = frozenset(known[name])
    chosen: dict[str, Any] = {"default_factory": dict} if isinstance(default, dict) else {"default": default}
    return field(**chosen, metadata={_METADATA: known})


def options_of(record: type[Record]) -> dict[str, Option]:
    """Return the options of a record by the names of their fields, in their order."""
    hashable: Any = record  # mypy takes the hash of an instance for that of its class
    return _options_of(hashable)


@cache
def _options_of(record: Any) -> dict[str, Option]:
    return {each.name: _option(each) for each in fields(record) if _METADATA in each.metadata}


def rule_of(record: type[Record], name: str) -> Whole:
    """Return the range of an option that is a whole number."""
    kind = options_of(record)[name].kind
    assert isinstance(kind, WholeNumber)
    return kind.rule


def _option(each: Field[Any]) -> Option:
    known = dict(each.metadata[_METADATA])
    known["flag"] = known["flag"] or f"--{each.name.replace('_', '-')}"
    return Option(name=each.name, **known)


def default_of(each: Field[Any]) -> Any:
    """Return the default of a field."""
    return each.default if each.default_factory is MISSING else each.default_factory()


@dataclass(frozen=True, kw_only=True)
class Record:
    """A record of options. A wrong value of one is a `TablaTypeError` or a `TablaValueError`, and a TypeError or
    ValueError of Python, too.
    """

    def __post_init__(self) -> None:
        known = options_of(type(self))
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name in known and not (value is None and default_of(each) is None):
                # A frozen record is set in this way; values of numpy become those of Python.
                object.__setattr__(self, each.name, known[each.name].kind.checked(each.name, value))

    def given(self) -> dict[str, Any]:
        """Return the options that are not left to the tool, by name."""
        known = options_of(type(self))
        found = {each.name: getattr(self, each.name) for each in fields(self) if each.name in known}
        return {name: value for name, value in found.items() if not _is_left(value)}

    def given_for(self, function: str) -> dict[str, Any]:
        """Return those of `given` that a function of Python takes."""
        known = options_of(type(self))
        return {name: value for name, value in self.given().items() if function in known[name].functions}

    @classmethod
    def of(cls, options: Mapping[str, Any], function: str | None = None) -> Self:
        """Return the record with those of some options that it has, and that a `function` of Python takes for it."""
        known = options_of(cls)
        return cls(
            **{name: options[name] for name in known if name in options and function in (None, *known[name].functions)}
        )


def _is_left(value: object) -> bool:
    # Values may be arrays or data frames, which are not compared as a whole; and a seed of 0 is no default.
    return value is None or value is False or (isinstance(value, tuple | list | dict) and not value)


def written(option: Option, value: Any) -> Iterator[str]:
    """Yield the words that give a value on the command line."""
    for text in option.kind.written(value):
        yield option.flag
        if option.kind.takes != "switch":
            yield text


Function = TypeVar("Function", bound=Callable[..., Any])


def taking(*records: type[Record]) -> Callable[[Function], Function]:
    """Return a decorator of a function with ``**options``, which takes those options of the records that are its own.

    ``help`` and the reference then show all of them with their defaults, and an option that the function does not have
    is a `TablaTypeError` that names the one that is most like it. For checkers of types, the annotation of the function
    says the same (:mod:`tabla.learn.keywords`).
    """

    def around(function: Function) -> Function:
        name = function.__name__
        known = {
            each.name: (each, option)
            for record in records
            for each in fields(record)
            if (option := options_of(record).get(each.name)) is not None and name in option.functions
        }
        plain = inspect.signature(function)
        own = [each for each in plain.parameters.values() if each.kind is not each.VAR_KEYWORD]
        every = [*(each.name for each in own), *known]

        @wraps(function)
        def checked(*values: Any, **options: Any) -> Any:
            _refuse_unknown(function.__qualname__, options, every)
            return function(*values, **options)

        named = [
            inspect.Parameter(each, inspect.Parameter.KEYWORD_ONLY, default=default_of(field), annotation=field.type)
            for each, (field, _) in known.items()
        ]
        checked.__signature__ = plain.replace(parameters=[*own, *named])  # type: ignore[attr-defined]
        listed = _listed((option for _, option in known.values()), COMMANDS.get(name, ""))
        checked.__doc__ = f"{inspect.getdoc(function)}\n\n{listed}"
        return checked  # type: ignore[return-value]

    return around


def _refuse_unknown(function: str, given: Iterable[str], known: list[str]) -> None:
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, 1, 0.75)
            hint = f"did you mean '{near[0]}'?" if near else f"help(tabla.{function}) lists its options"
            raise TablaTypeError(f"{function}() got an unexpected keyword argument '{name}'", hint=hint)


def _listed(options: Iterable[Option], command: str) -> str:
    """Return options as lists, one for each group, as a docstring has them. A command may have its own phrases."""
    groups: dict[str, list[Option]] = {}
    for each in options:
        groups.setdefault(each.group, []).append(each)
    lists = []
    for group, listed in groups.items():
        rows = (f"* `{each.name}`: {_in_python(each, command)}." for each in listed)
        lists.append("\n".join([f"{group[:1].upper()}{group[1:]}:", "", *rows]))
    return "\n\n".join(lists)


def _in_python(option: Option, command: str) -> str:
    """Return the phrase of an option with the names that Python has for the options in it."""
    known, text = option.kind_of(command).range, option.help_of(command)
    said = all(word in text for word in known.split(", "))
    text = text if said else f"{text}; {known}"
    return re.sub(r"--([a-z][a-z-]*)", lambda found: f"`{found[1].replace('-', '_')}`", text)
