"""Statements as assignments to fresh elements: what a tensor holds before it is written anew is ``h'1``, ``h'2``, ...

Derivatives read values as they were when a statement read them, so no value may be lost. What an overwritten tensor
keeps is copied, and copies are no statements of the graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tabla.graph.boxes import MARKED, Box, axes, difference, whole
from tabla.graph.constraints import failures
from tabla.languages.kernel.faults import refused
from tabla.languages.kernel.regions import Region
from tabla.languages.kernel.substitution import reading, renamed
from tabla.languages.kernel.tree import Kernel, Read, Statement, Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """Statements of which no two write one element, but for copies that a condition overwrites.

    `writes` are the same without that exception: there the copy has the opposite conditions. What a tensor holds last
    has its name. An ``initial`` tensor is an input here, and `last` has the name of what it holds last.
    """

    tensors: Mapping[str, Tensor]
    statements: tuple[Statement, ...]
    writes: tuple[Statement, ...]
    last: Mapping[str, str]


def versions_of(kernel: Kernel) -> Versions:
    """Return the statements of a kernel with a name for each time that elements are written anew."""
    initial = [tensor for tensor in kernel.tensors.values() if tensor.role == "initial"]
    renaming = _Renaming(
        tensors=dict(kernel.tensors) | {tensor.name: replace(tensor, role="input") for tensor in initial},
        latest={tensor.name: tensor.name for tensor in initial},
        regions={tensor.name: Region(boxes=(whole(tensor.shape),)) for tensor in initial},
        statements=[],
        writes=[],
    )
    for statement in kernel.statements:
        renaming.add(statement)
    names = _shown(renaming)
    return Versions(
        tensors={
            names.get(name, name): replace(tensor, name=names.get(name, name))
            for name, tensor in renaming.tensors.items()
        },
        statements=tuple(renamed(statement, names) for statement in renaming.statements),
        writes=tuple(renamed(statement, names) for statement in renaming.writes),
        last={tensor.name: renaming.latest[tensor.name] for tensor in initial},
    )


def _shown(renaming: _Renaming) -> dict[str, str]:
    """Return new names, so that the last elements of a tensor have the name of the text, and earlier ones a mark."""
    names: dict[str, str] = {}
    for name, last in renaming.latest.items():
        if last != name and renaming.tensors[name].role == "value":
            names |= {name: f"{name}'1", last: name}
    return names


@dataclass(slots=True)
class _Renaming:
    tensors: dict[str, Tensor]
    latest: dict[str, str]
    regions: dict[str, Region]
    statements: list[Statement]
    writes: list[Statement]

    def add(self, statement: Statement) -> None:
        name = statement.target
        box, value = statement.box, reading(statement.value, self.latest)
        before, target = self.latest.get(name), name
        if before is None:
            self.latest[name] = name
            self.regions[name] = Region()
        elif self.regions[before].meets(box):
            target = self._anew(before, statement)
        else:
            target = before
        own = replace(statement, target=target, value=value)
        self.statements.append(own)
        self.writes.append(own)
        if statement.partial and before is None:
            box = whole(self.tensors[name].shape)
        self.regions[target] = self.regions[target].with_box(box)

    def _anew(self, before: str, statement: Statement) -> str:
        """Begin a new name for what a statement writes, with copies of the elements that it leaves as they were."""
        name, box, partial = statement.target, statement.box, statement.partial
        number = 2
        while f"{name}'{number}" in self.tensors:
            number += 1
        target = f"{name}'{number}"
        self.tensors[target] = replace(self.tensors[name], name=target, role="value")
        kept = self.regions[before]
        if partial and not statement.conditions:
            message = f"elements of '{name}' that a stride leaves out keep their values, and this has no derivative"
            raise refused(message, statement.span, "write them into a tensor of their own, and add it")
        boxes = kept.boxes if partial else tuple(rest for old in kept.boxes for rest in difference(old, box))
        for each in boxes:
            copied = _copy(target, before, each, self.tensors[name])
            self.statements.append(copied)
            self.writes += _left(copied, statement) if partial else [copied]
        self.latest[name], self.regions[target] = target, Region(boxes=boxes)
        return target


def _copy(target: str, source: str, box: Box, tensor: Tensor) -> Statement:
    indices, at = axes(box, MARKED)
    value = Read(tensor=source, subscripts=at, type=tensor.type)
    return Statement(target=target, write=at, indices=indices, value=value, span=tensor.span)


def _left(copied: Statement, statement: Statement) -> Iterator[Statement]:
    """Yield the parts of a copy that a statement under conditions does not overwrite."""
    for rest in difference(copied.box, statement.box):
        yield replace(copied, indices=axes(rest, MARKED)[0])
    assert isinstance(copied.value, Read)
    source = replace(copied.value, subscripts=statement.write)
    for conditions in failures(statement.conditions, statement.indices):
        yield replace(statement, target=copied.target, value=source, conditions=conditions)
