"""The command line: it parses the arguments, runs one command and returns the exit status.

The status is 0 when the command succeeded, 1 for a fault of the user's program or data, 2 for a wrong command line,
130 after Ctrl-C and 143 after SIGTERM. A command that runs until Ctrl-C, as ``tabla play`` does, ends with 0 then. A
fault of this tool itself is an exception with its traceback.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NoReturn, TextIO

from tabla._version import VERSION
from tabla.base.caches import SharedCacheWarning
from tabla.base.disk import cure
from tabla.base.interrupts import INTERRUPTED, Interrupted, handled, private_temporary_folder
from tabla.base.progress import listening
from tabla.base.source import TablaError
from tabla.commands.colour import painted
from tabla.commands.console import Console


@dataclass(frozen=True, slots=True)
class Command:
    """The module of `tabla.commands` that has a command, and what the command does.

    The module defines ``configure(parser)`` and ``run(arguments, console)``, which returns the exit status. It is
    imported when its command is called, so that ``tabla --help`` imports no part of the compiler. ``--help`` lists the
    options `often` first, by their names in Python, and ends with the `example`.
    """

    module: str
    help: str
    example: str = ""
    often: str = ""


COMMANDS = {
    "new": Command(
        "new",
        "make a project from a table: a program that fits it, its settings, and a page about them",
        "tabla new iris --data iris.csv --label species",
    ),
    "gen": Command(
        "gen",
        "write the accelerator: Verilog, memory images, manifest, pictures and a test bench",
        "tabla gen model.t --pes 16 --format q4.12 -o build/",
        "output pes format defines learning_rate minibatch sizes shapes data emit",
    ),
    "check": Command(
        "check",
        "report every fault of a program and write nothing; a program of Python is run for that, with all your rights",
        "tabla check model.t --pes 64",
        "pes format defines learning_rate minibatch sizes shapes inputs template json",
    ),
    "bound": Command(
        "bound",
        "print a lower bound on the cycles of any schedule of the program, and its reasons",
        "tabla bound model.t --pes 64",
        "pes format defines learning_rate minibatch sizes shapes inputs effort json",
    ),
    "eval": Command(
        "evaluate",
        "compute the results of the program without hardware, in fixed point or float64",
        "tabla eval model.t --inputs data.npz --seed 0 -o results.npz",
        "inputs output format float weights seed samples defines sizes shapes",
    ),
    "sim": Command(
        "simulate",
        "compute the results of the program on the simulated accelerator, and count its cycles",
        "tabla sim model.t --inputs data.npz --seed 0 --engine verilator",
        "inputs output engine pes format weights seed samples defines sizes",
    ),
    "train": Command(
        "train",
        "train the models on the simulated accelerator, and in float64 for comparison",
        "tabla train model.t --data data.csv --split 0.2 --epochs 20 -o trained.npz",
        "data output split epochs pes format learning_rate columns classes standardise",
    ),
    "test": Command(
        "test",
        "score trained models on data that they have not seen, without learning",
        "tabla test model.t --weights trained.npz --data new.csv",
        "data weights metric predict columns classes engine pes format samples",
    ),
    "predict": Command(
        "predict",
        "predict for data without labels with trained models, a row of output for each row of data",
        "tabla predict trained.npz --data new.csv -o predictions.csv",
        "data weights output engine predict columns format pes samples defines",
    ),
    "show": Command(
        "show", "say what a file of models holds, and how its models were learnt", "tabla show trained.npz"
    ),
    "formats": Command(
        "formats",
        "learn in many number formats, and name the narrowest that is as good as float64 on a validation part",
        "tabla formats model.t --data data.csv --split 0.2,0.2",
        "data split epochs widths guards metric columns classes standardise learning_rate",
    ),
    "explore": Command(
        "explore",
        "compare arrays and number formats of a program by samples a second, area and accuracy",
        "tabla explore model.t --pes 4..64 --data data.csv -o exploration/",
        "pes format part data split epochs output synth workers defines",
    ),
    "overlay": Command(
        "overlay",
        "write an array without a program, which takes one image after the other",
        "tabla overlay --template LearningOverlay --pes 16 -o overlay/",
        "output template pes format programs functions features shifts bus json",
    ),
    "load": Command(
        "load",
        "compile a program for an overlay, and write the image that brings it there",
        "tabla load model.t --onto overlay/ -o model.image",
        "onto output defines learning_rate minibatch sizes shapes inputs effort json",
    ),
    "synth": Command(
        "synthesise",
        "synthesise the accelerator for an FPGA; with --pnr, also place and route it",
        "tabla synth model.t --target ecp5 --device 85k --pnr",
        "target device speed place_and_route seeds pes format defines minibatch json",
    ),
    "build": Command(
        "bitstream",
        "synthesise, place and route the accelerator for a board and write the bitstream",
        "tabla build model.t --board ulx3s-85f -o bitstream/",
        "board output megahertz baud seeds pes format defines minibatch json",
    ),
    "ranges": Command(
        "ranges",
        "print the inferred ranges of a kernel, half-open: i in [1, N)",
        "tabla ranges kernel.tc --size N=64",
    ),
    "pass": Command(
        "passes",
        "run one pass of the compiler on the text of a graph and print the graph, or list all passes",
        "tabla pass fold-constants model.graph -o folded.graph",
    ),
    "preprocess": Command(
        "preprocess",
        "replace the $ variables of a text, or list the values of these variables",
        "tabla preprocess model.t -D m=10",
    ),
    "tblgen": Command("tablegen", "read TableGen records and print them", "tabla tblgen machine.td"),
    "templates": Command("templates", "list the presets of the array and the number formats", "tabla templates"),
    "targets": Command(
        "targets", "list the FPGA families and their devices, with the capacity of each", "tabla targets"
    ),
    "boards": Command("boards", "list the boards, their chips and pins", "tabla boards"),
    "examples": Command(
        "examples", "list the example programs, or write some of them with their data", "tabla examples"
    ),
    "play": Command(
        "play",
        "serve a page for this machine's browser: write a program, and see its graph, schedule, Verilog and training",
        "tabla play --port 8080 --no-open",
    ),
    "doctor": Command(
        "doctor", "say which tools this machine has, their versions, and what each of them is for", "tabla doctor"
    ),
    "completion": Command(
        "completion",
        "print a script that lets bash, zsh or fish complete commands, options and their values",
        "tabla completion bash",
    ),
}

FIRST = (
    ("tabla new my --data FILE --label COLUMN", "make a project from a table"),
    ("tabla examples logistic", "write an example with its data"),
    ("tabla check logistic.t", "report its faults"),
    ("tabla train logistic.t --data FILE -o w.npz", "learn, on the simulated array"),
    ("tabla predict w.npz --data NEW -o out.csv", "predict for new data"),
    ("tabla gen logistic.t -o build/", "write the accelerator in Verilog"),
    ("tabla synth logistic.t --target ecp5", "see what it takes of an FPGA"),
)
"""Commands for a beginner, each with what it does."""
_OTHER = "see that files can be written to the outputs and to the temporary folder, which TMPDIR names"


_EXCLUDED = re.compile(r"argument (\S+): not allowed with argument (\S+)")


class Parser(argparse.ArgumentParser):
    """A parser whose messages begin with ``error: ``, as all messages about faults do."""

    often: tuple[str, ...] = ()
    """The options that the help lists first."""
    needed: tuple[argparse.Action, ...] = ()
    """The arguments that the command needs, from the command line or from ``tabla.toml``."""
    _words: Sequence[str] = ()

    def relax(self) -> None:
        """Let a ``tabla.toml`` give what the command needs: only `complete` refuses what is missing then."""
        self.needed = tuple(
            each for each in self._actions if each.required or (each.dest == "file" and each.nargs == "?")
        )
        for each in self.needed:
            each.required = False

    def complete(self, parsed: argparse.Namespace, console: Console) -> None:
        """Complete the arguments by ``tabla.toml``, and say so. What is missing then is a fault of the command line."""
        from tabla.commands.settings import NAME, complete

        given = complete(parsed)
        missing = [each for each in self.needed if getattr(parsed, each.dest) is None and parsed.command != "show"]
        if missing:
            names = ("/".join(each.option_strings) or str(each.metavar) for each in missing)
            self.error(f"the following arguments are required: {', '.join(names)}")
        if given:
            console.remark(f"{NAME} gives {', '.join(given)}")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse words as argparse does, and keep them for messages."""
        self._words = sys.argv[1:] if args is None else list(args)
        return super().parse_known_args(args, namespace)

    def sections(self) -> Iterator[tuple[str, list[argparse.Action]]]:
        """Yield the titles of the help with their options: first those that people use, then the groups."""
        shown = {action.dest: action for group in self._action_groups for action in group._group_actions}
        first = [shown[name] for name in self.often]
        for group in self._action_groups:
            rest = [action for action in group._group_actions if action not in first]
            if group.title == "options":
                if first:
                    yield "options that are used most", first
                rest = [] if first else rest
            if rest:
                yield group.title or "", rest
        if first:
            (others,) = (group for group in self._action_groups if group.title == "options")
            yield "other options", [action for action in others._group_actions if action not in first]

    def usage_line(self) -> str:
        """Return how the command is called: its arguments, and the options that it needs.

        All options would make a usage of twenty lines, and ``--help`` lists them anyway.
        """
        needed = [action for action in self._actions if action in self.needed or not action.option_strings]
        needed.sort(key=lambda action: bool(action.option_strings))
        return " ".join([self.prog, *map(_in_usage, needed), "[OPTIONS]"])

    def format_help(self) -> str:
        """Return the help: how the command is called, what it does, its options, and an example."""
        formatter = self._get_formatter()
        if any(isinstance(action, argparse._SubParsersAction) for action in self._actions):
            formatter.add_usage(None, self._actions, self._mutually_exclusive_groups)
        else:
            formatter.add_usage(self.usage_line().replace("%", "%%"), [], [])
        formatter.add_text(self.description)
        for title, actions in self.sections():
            formatter.start_section(title)
            formatter.add_arguments(actions)
            formatter.end_section()
        return formatter.format_help() + (f"\nexample: {self.epilog}\n" if self.epilog else "")

    def error(self, message: str) -> NoReturn:
        """Report a wrong command line and exit with status 2. Two options that exclude each other are both shown."""
        if found := _EXCLUDED.fullmatch(message):
            second, first = (self._as_given(names.split("/")) for names in found.groups())
            message = f"{first} and {second} are given, and only one of them can be: leave one out"
        self.exit(2, painted(f"error: {message}\nhint: {self.prog} --help\n", sys.stderr))

    def _as_given(self, names: Sequence[str]) -> str:
        """Return an option as the user wrote it, with its value."""
        for position, word in enumerate(self._words):
            if word in names:
                value = self._words[position + 1 : position + 2]
                return " ".join([word, *(each for each in value if not each.startswith("-"))])
            if word.partition("=")[0] in names:
                return word
        return names[-1]

    def refuse(self, unknown: Sequence[str]) -> NoReturn:
        """Report words that this command does not know, with the option that is most like one of them."""
        known = [option for action in self._actions for option in action.option_strings]
        options = [word.partition("=")[0] for word in unknown if word.startswith("--")]
        near = [close for option in options for close in get_close_matches(option, known, 1)]
        self.error(f"unrecognized arguments: {' '.join(unknown)}{f'; did you mean {near[0]}?' if near else ''}")


def _in_usage(action: argparse.Action) -> str:
    """Return an argument as the usage has it."""
    value = action.metavar or action.dest.upper()
    shown = value if isinstance(value, str) else " ".join(value)
    if action.option_strings:
        return f"{action.option_strings[-1]} {shown}"
    return f"[{shown} ...]" if action.nargs == "*" else f"[{shown}]" if action.nargs == "?" else shown


def parser_for(*wanted: str | None) -> Parser:
    """Return the parser of all commands. Only those that are `wanted` get their options and are imported."""
    parser = Parser(prog="tabla", description="From the gradient of a loss to an FPGA accelerator.", allow_abbrev=False)
    parser.add_argument("-V", "--version", action="version", version=f"tabla {VERSION}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    for name, known in COMMANDS.items():
        sub = commands.add_parser(
            name, help=known.help, description=known.help, epilog=known.example, allow_abbrev=False
        )
        if name in wanted:
            found = import_module(f"tabla.commands.{known.module}")
            found.configure(sub)
            sub.relax()
            sub.often = tuple(known.often.split())
            sub.set_defaults(run=found.run, parser=sub)
    return parser


def short_help() -> str:
    """Return what ``tabla`` alone prints: the way of a program through the commands that people use first."""
    lines = (f"  {example:<45}{text}" for example, text in FIRST)
    return "\n".join(
        [
            "tabla makes an FPGA accelerator of the gradient of a loss.",
            "",
            *lines,
            "",
            "tabla --help lists all commands, and tabla help COMMAND the options of one.",
        ]
    )


def _parsed(words: list[str]) -> argparse.Namespace:
    """Return the arguments of a command. Words that it does not know are a fault of this command, and argparse exits.

    argparse itself would report them for the program as a whole, with the help that lists no option.
    ``tabla help COMMAND`` is ``tabla COMMAND --help``.
    """
    if words[:1] == ["help"]:
        words = [*words[1:2], "--help"]
    command = next((word for word in words if not word.startswith("-")), None)
    if command is not None and command not in COMMANDS:
        near = get_close_matches(command, COMMANDS, 1)
        parser_for(None).error(f"there is no command '{command}'{f'; did you mean {near[0]}?' if near else ''}")
    parsed: argparse.Namespace
    parsed, unknown = parser_for(command).parse_known_args(words)
    if unknown:
        parsed.parser.refuse(unknown)
    return parsed


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, whose words are `arguments` or those of the process, and return the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    console = Console(out=sys.stdout, err=sys.stderr)
    if not words:
        console.result(short_help())
        return 0
    try:
        with handled(), private_temporary_folder():
            return _run(words, console)
    except Interrupted as stop:
        # Amaranth warns about components that were built and not used; after an interrupt that is no fault.
        warnings.simplefilter("ignore")
        if console.ends_by_interrupt and stop.status == INTERRUPTED:
            return 0
        console.fault(f"error: {stop}")
        return stop.status


def _nowhere() -> bool:
    """Return whether the current folder is there no more. The system then fails without a name."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


@contextmanager
def _cache_warnings(console: Console) -> Iterator[None]:
    """Show the warning about a cache that is not used as all warnings of commands are shown, once a command."""
    with warnings.catch_warnings():
        shown, told = warnings.showwarning, set[str]()

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if not issubclass(category, SharedCacheWarning):
                shown(message, category, filename, lineno, file, line)
            elif str(message) not in told:
                told.add(str(message))
                console.remark(f"warning: {message}")

        warnings.showwarning = show
        warnings.simplefilter("always", SharedCacheWarning)
        yield


def _run(words: list[str], console: Console) -> int:
    """Run the command of `words` and return the exit status. An interrupt goes on to the caller."""
    try:
        parsed = _parsed(words)
        console.quiet = getattr(parsed, "quiet", False)
        parsed.parser.complete(parsed, console)
    except SystemExit as stop:  # argparse exits after --help, --version and errors
        return int(stop.code or 0)
    except TablaError as fault:  # the records of templates, which are choices of options, cannot be read
        console.fault(str(fault))
        return 1
    try:
        from tabla.commands.overwriting import check_outputs

        check_outputs(parsed)
        with listening(console.work), _cache_warnings(console):
            status: int = parsed.run(parsed, console)
        console.clear()
        sys.stdout.flush()
        return status
    except TablaError as fault:
        console.fault(str(fault))
        return 1
    except BrokenPipeError:
        # The program that reads our output has ended, as in `tabla targets | head -1`. Python would report the same
        # error again when it closes standard output, so standard output becomes the null device.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as fault:
        if fault.filename is None and _nowhere():
            console.fault("error: the current folder has been removed\nhint: go to a folder that exists")
            return 1
        place = f" '{fault.filename}'" if fault.filename else ""
        console.fault(f"error: {fault.strerror or fault}{place}\nhint: {cure(fault, _OTHER)}")
        return 1
    except MemoryError:
        console.fault("error: the memory of this machine is not enough\nhint: use smaller sizes, or less data at once")
        return 1
