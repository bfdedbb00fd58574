"""Where a signal is declared: in the Verilog, and in the component that the Verilog was made of."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_MODULE = re.compile(r"^module (\w+)")
_INSTANCE = re.compile(r"^  (\w+) (?:#\(.*\) )?(\w+) \($")
_SIGNAL = re.compile(r"^  (?:wire|reg|input|output|inout)\b(?: signed)?(?: \[[^\]]*\])? (\w+)\b")
_INDEX = re.compile(r"\[\d+\]$")

Signal = tuple[str, str]
"""A module and the name of a signal in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLines:
    """Lines of a Verilog text as ``tabla gen`` writes it, by module and signal.

    `file` is what the text is called in a report. `components` gives the place in ``hw/`` that declares a signal, as
    ``hw/mac.py:88``; it is empty for Verilog whose making is over.
    """

    file: str
    top: str
    declared: Mapping[Signal, int] = field(repr=False)
    instances: Mapping[Signal, str] = field(repr=False)
    components: Mapping[Signal, str] = field(default_factory=dict, repr=False)

    def place(self, name: str) -> str:
        """``logistic.v:1234 (hw/mac.py:88)`` for a hierarchical name ``lane_0.mac.sum``; '' if it is not declared.

        What follows a signal's name (a memory's words) does not matter.
        """
        module = self.top
        for step in _INDEX.sub("", name).split("."):
            if (module, step) in self.instances:
                module = self.instances[module, step]
            elif line := self.declared.get((module, step)):
                component = self.components.get((module, step))
                return f"{self.file}:{line}" + (f" ({component})" if component else "")
            else:
                break
        return ""


def source_lines(verilog: str, file: str, top: str, components: Mapping[Signal, str] | None = None) -> SourceLines:
    """Read the declarations of a Verilog text whose lines have the form that Yosys writes."""
    module = ""
    declared: dict[Signal, int] = {}
    instances: dict[Signal, str] = {}
    for number, line in enumerate(verilog.splitlines(), 1):
        if found := _MODULE.match(line):
            module = found[1]
        elif found := _SIGNAL.match(line):
            declared.setdefault((module, found[1]), number)
        elif found := _INSTANCE.match(line):
            instances[module, found[2]] = found[1]
    return SourceLines(file=file, top=top, declared=declared, instances=instances, components=components or {})
