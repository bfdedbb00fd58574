"""Statements as assignments to fresh elements: what a tensor holds before it is written anew is ``h'1``, ``h'2``, ...

Derivatives read values as they were when a statement read them, so no value may be lost. What an overwritten tensor
keeps is copied, and copies are no statements of the graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from tabla.graph.constraints import ends
from tabla.graph.graph import Affine, Index
from tabla.languages.kernel.boxes import Box, difference
from tabla.languages.kernel.faults import refused
from tabla.languages.kernel.regions import Region
from tabla.languages.kernel.tree import (
    Expression,
    Kernel,
    Position,
    Read,
    Reduce,
    Statement,
    Tensor,
    rewritten,
)
from tabla.languages.kernel.verify import dense


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """Statements of which no two write one element, but for copies that a condition overwrites.

    `writes` are the same without that exception: there the copy has the opposite conditions. What a tensor holds last
    has its name.
    """

    tensors: Mapping[str, Tensor]
    statements: tuple[Statement, ...]
    writes: tuple[Statement, ...]


def versions_of(kernel: Kernel) -> Versions:
    """Return the statements of a kernel with a name for each time that elements are written anew."""
    renaming = _Renaming(dict(kernel.tensors), {}, {}, [], [])
    for statement in kernel.statements:
        renaming.add(statement)
    names = _shown(renaming)
    return Versions(
        tensors={
            names.get(name, name): replace(tensor, name=names.get(name, name))
            for name, tensor in renaming.tensors.items()
        },
        statements=tuple(_named(statement, names) for statement in renaming.statements),
        writes=tuple(_named(statement, names) for statement in renaming.writes),
    )


def _shown(renaming: _Renaming) -> dict[str, str]:
    """Return new names, so that the last elements of a tensor have the name of the text, and earlier ones a mark."""
    names: dict[str, str] = {}
    for name, last in renaming.latest.items():
        if last != name:
            names |= {name: f"{name}'1", last: name}
    return names


def _named(statement: Statement, names: Mapping[str, str]) -> Statement:
    target = names.get(statement.target, statement.target)
    return replace(statement, target=target, value=renamed(statement.value, names))


@dataclass(slots=True)
class _Renaming:
    tensors: dict[str, Tensor]
    latest: dict[str, str]
    regions: dict[str, Region]
    statements: list[Statement]
    writes: list[Statement]

    def add(self, statement: Statement) -> None:
        name = statement.target
        ranges = {index.name: index for index in statement.indices}
        box = tuple((low, high + 1) for low, high in (form.bounds(ranges) for form in statement.write))
        value = renamed(statement.value, self.latest)
        partial = bool(statement.conditions) or not dense(statement, box)
        before, target = self.latest.get(name), name
        if before is None:
            self.latest[name] = name
            self.regions[name] = Region()
        elif self.regions[before].meets(box):
            target = self._anew(name, before, box, statement, partial=partial)
        else:
            target = before
        own = replace(statement, target=target, value=value)
        self.statements.append(own)
        self.writes.append(own)
        if partial and before is None:
            box = tuple((0, size) for size in self.tensors[name].shape)
        self.regions[target] = self.regions[target].with_box(box)

    def _anew(self, name: str, before: str, box: Box, statement: Statement, *, partial: bool) -> str:
        """Begin a new name, with copies of the elements that a statement leaves as they were."""
        number = 2
        while f"{name}'{number}" in self.tensors:
            number += 1
        target = f"{name}'{number}"
        self.tensors[target] = replace(self.tensors[name], name=target)
        kept = self.regions[before]
        if partial and not statement.conditions:
            message = f"elements of '{name}' that a stride leaves out keep their values, and this has no derivative"
            raise refused(message, statement.span, "write them into a tensor of their own, and add it")
        boxes = kept.boxes if partial else tuple(rest for old in kept.boxes for rest in difference(old, box))
        for each in boxes:
            copied = _copy(target, before, each, self.tensors[name])
            self.statements.append(copied)
            self.writes += _left(copied, box, statement) if partial else [copied]
        self.latest[name], self.regions[target] = target, Region(boxes=boxes)
        return target


def _copy(target: str, source: str, box: Box, tensor: Tensor) -> Statement:
    indices = tuple(Index(name=f"axis{axis}'", low=low, high=high) for axis, (low, high) in enumerate(box))
    at = tuple(Affine.make(0, {index.name: 1}) for index in indices)
    value = Read(tensor=source, subscripts=at, type=tensor.type)
    return Statement(target=target, write=at, indices=indices, value=value, span=tensor.span)


def _left(copied: Statement, box: Box, statement: Statement) -> Iterator[Statement]:
    """Yield the parts of a copy that a statement under conditions does not overwrite."""
    whole = tuple((index.low, index.high) for index in copied.indices)
    for rest in difference(whole, box):
        indices = tuple(
            replace(index, low=low, high=high) for index, (low, high) in zip(copied.indices, rest, strict=True)
        )
        yield replace(copied, indices=indices)
    assert isinstance(copied.value, Read)
    source = replace(copied.value, subscripts=statement.write)
    for number, condition in enumerate(statement.conditions):
        # The parts in which this condition is the first that fails are disjoint, and all of them are the rest.
        conditions = (*statement.conditions[:number], condition.fails)
        if ends(Affine.of(), conditions, statement.indices) is not None:
            yield replace(statement, target=copied.target, value=source, conditions=conditions)


def renamed(expression: Expression, names: Mapping[str, str]) -> Expression:
    """Return an expression with other names of tensors."""

    def leaf(old: Expression) -> Expression:
        match old:
            case Read(tensor=tensor):
                return replace(old, tensor=names.get(tensor, tensor))
            case Reduce(body=body):
                return replace(old, body=rewritten(body, leaf))
            case _:
                return old

    return rewritten(expression, leaf)


def with_indices(statement: Statement, names: Mapping[str, str]) -> Statement:
    """Return a statement with other names of indices."""

    def form(old: Affine) -> Affine:
        return Affine.make(old.constant, {names.get(name, name): factor for name, factor in old.coefficients})

    def forms(old: Iterable[Affine]) -> tuple[Affine, ...]:
        return tuple(map(form, old))

    def indices(old: Iterable[Index]) -> tuple[Index, ...]:
        return tuple(replace(index, name=names.get(index.name, index.name)) for index in old)

    def leaf(old: Expression) -> Expression:
        match old:
            case Read(subscripts=subscripts):
                return replace(old, subscripts=forms(subscripts))
            case Position(index=index):
                return replace(old, index=names.get(index, index))
            case Reduce(indices=inside, body=body, conditions=conditions):
                inner = rewritten(body, leaf)
                return replace(old, indices=indices(inside), body=inner, conditions=forms(conditions))
            case _:
                return old

    return replace(
        statement,
        write=forms(statement.write),
        indices=indices(statement.indices),
        value=rewritten(statement.value, leaf),
        conditions=forms(statement.conditions),
    )
