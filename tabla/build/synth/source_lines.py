"""Finding where a signal is declared: in the Verilog, and in the component of ``hw/`` that it comes from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_MODULE = re.compile(r"^module (\w+)")
_INSTANCE = re.compile(r"^  (?:\(\*.*\*\) )?(\w+) (?:#\(.*\) )?(\w+) \($")
_SIGNAL = re.compile(r"^  (?:\(\*.*\*\) )?(?:wire|reg|input|output|inout)\b(?: wire\b| reg\b)?(?: \[[^\]]*\])? (\w+)\b")
_INDEX = re.compile(r"\[\d+\]$")

Signal = tuple[str, str]
"""The name of a module and the name of a signal in that module."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLines:
    """The lines of a Verilog text of ``tabla gen`` in which the signals are declared.

    `file` is the name of the text in reports, and `top` the top module. `declared` gives the line of each signal, and
    `instances` the module of each instance. `components` gives the place in ``hw/`` that declares a signal, such as
    ``hw/mac.py:88``; it is empty for Verilog that was read from a file.
    """

    file: str
    top: str
    declared: Mapping[Signal, int] = field(repr=False)
    instances: Mapping[Signal, str] = field(repr=False)
    components: Mapping[Signal, str] = field(default_factory=dict, repr=False)

    def place(self, name: str) -> str:
        """Return the place that declares a signal, given its hierarchical name; an empty text if there is none.

        For example ``lane_0.mac.sum`` gives ``logistic.v:1234 (hw/mac.py:88)``. Anything after the name of a signal, as
        for the words of a memory, is ignored.
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
    """Read the declarations of a Verilog text. Its lines must have the form that ``hw/emit.py`` writes."""
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
