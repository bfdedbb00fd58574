"""Parts of tensors that no statement reads, and parts of models that no step changes: legal, and often a slip.

Where two tensors share an index, the shorter one ends it, and a part of the longer one is left out. The graph of one
sample, as a notation lowers it, shows this for every notation: its statements still have the indices of the text, and
nothing has been simplified.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

import numpy as np

from tabla.base.source import Span
from tabla.graph.accesses import Access, reached, reads_of, write_of
from tabla.graph.constraints import MOST_POINTS, Mask
from tabla.graph.graph import Affine, Graph, Index, Linear, Statement, Tensor
from tabla.graph.structural_zeros import changing

MEANT = "_"
"""How a name begins that reads elements for nobody. So a program says that it means to leave them out."""
End = Literal["low", "high"]
Verb = Literal["read", "learn"]
_OTHER: dict[End, End] = {"low": "high", "high": "low"}
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


@dataclass(frozen=True, slots=True, kw_only=True)
class Conventions:
    """What the ranges of a notation say about the intention of a program.

    `values` are the names of the values that the user knows. `derived` are the names of those that the notation itself
    derives, as gradients: what they read counts for nothing, and elements of models to which they bring nothing but 0
    do not learn. `stated_is_meant` says that a range that the text gives is meant, because ranges follow from
    subscripts otherwise. `outputs_have_sizes` says that the text gives the sizes of results, so that these may end an
    index, too.

    `unread` is the cure for a part that is never read. In it ``{index}``, ``{low}`` and ``{high}`` stand for the index
    that leaves the part out and its range, ``{shifted}`` for the index less its low end, and ``{extent}`` for how many
    values it takes. `unlearnt` is the cure for a part that never learns.
    """

    values: frozenset[str]
    derived: frozenset[str] = frozenset()
    stated_is_meant: bool
    outputs_have_sizes: bool
    unread: str
    unlearnt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """A text for the user, and the place that it is about."""

    text: str
    span: Span | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gap:
    """The positions [low, high) of an axis at which every element of a tensor is left out."""

    axis: int
    low: int
    high: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cause:
    """Why an access goes no further, in words. `index` is the one to name in a cure."""

    text: str
    span: Span | None
    index: Index


def remarks(graph: Graph, conventions: Conventions) -> list[Remark]:
    """Return what to tell the user about the parts of inputs, labels, models and named values of a graph.

    A part is all that a tensor has at some positions of one axis. A part counts if it is at least as long as the step
    of the subscripts: a window of stride 2 may end one element before its input does. A tensor of which nothing is
    read, and a model of which nothing learns, are no matter here.
    """
    return _Remarks(graph, conventions).run()


@dataclass(slots=True)
class _Remarks:
    graph: Graph
    conventions: Conventions
    reads: dict[str, list[Access]] = field(default_factory=dict)
    writes: dict[str, list[Access]] = field(default_factory=dict)
    changing: dict[str, Mask] = field(default_factory=dict)

    def run(self) -> list[Remark]:
        for statement in self.graph.statements:
            self.writes.setdefault(statement.target, []).append(write_of(statement))
            if not self._derives(statement):
                for access in reads_of(statement, self.graph):
                    self.reads.setdefault(access.tensor, []).append(access)
        if self.conventions.derived and self.graph.updates:
            self.changing = changing(self.graph)
        told: dict[tuple[Verb, _Cause | str], list[tuple[Tensor, str]]] = {}
        for tensor in self.graph.tensors.values():
            for verb, part, cause in self._of(tensor):
                told.setdefault((verb, cause or tensor.name), []).append((tensor, part))
        found = [
            self._remark(verb, cause if isinstance(cause, _Cause) else None, parts)
            for (verb, cause), parts in told.items()
        ]
        return sorted(found, key=lambda remark: remark.span.start if remark.span else 0)

    def _remark(self, verb: Verb, cause: _Cause | None, parts: list[tuple[Tensor, str]]) -> Remark:
        shown = [part for _, part in parts]
        several = len(shown) > 1 or ".." in shown[0]
        if verb == "read":
            what, cure = "are never read" if several else "is never read", self.conventions.unread
        else:
            what, cure = "never learn" if several else "never learns", self.conventions.unlearnt
        why = f": {cause.text}" if cause else ""
        cure = _with_index(cure, cause.index) if cause else cure
        return Remark(text=f"{_listed(shown)} {what}{why}; {cure}", span=cause.span if cause else parts[0][0].span)

    def _of(self, tensor: Tensor) -> Iterator[tuple[Verb, str, _Cause | None]]:
        """Yield the parts of a tensor that are left out."""
        if tensor.size > MOST_POINTS or tensor.role in ("next", "constant"):
            return
        read = self._read(tensor)
        if read is not None:
            for part, gap in _parts(tensor, read):
                worth, cause = self._judged([self._cause(gap, self.reads[tensor.name])])
                if worth:
                    yield "read", part, cause
        learns = self._learns(tensor)
        if learns is not None:
            # A part that is never read cannot learn, and has been told.
            for part, gap in _parts(tensor, learns if read is None else learns | ~read):
                worth, cause = self._judged(self._stops(tensor, gap))
                if worth:
                    yield "learn", part, cause

    def _judged(self, causes: Iterable[_Cause | Literal["meant", "unknown"]]) -> tuple[bool, _Cause | None]:
        """Return whether a gap with these causes is worth a warning, and the cause to tell."""
        listed = list(causes)
        first = next((cause for cause in listed if isinstance(cause, _Cause)), None)
        if "meant" in listed:
            return False, None
        return first is not None or not self.conventions.stated_is_meant, first

    def _read(self, tensor: Tensor) -> Mask | None:
        """Return which elements of a tensor are read, or written by nobody; None for a tensor that is no matter."""
        accesses = self.reads.get(tensor.name, [])
        returned = any(name == tensor.name for _, name in self.graph.results)
        if not accesses or returned or not self._known(tensor):
            return None
        mask = reached(tensor, accesses)
        if tensor.role == "value":
            mask |= ~reached(tensor, self.writes.get(tensor.name, []))
            mask |= self._read_elsewhere(tensor)
        return mask

    def _read_elsewhere(self, tensor: Tensor) -> Mask:
        """Return which elements of a value are copies of those of an earlier tensor of its name, and read there."""
        sources = [(write, self._earlier(write)) for write in self.writes.get(tensor.name, [])]
        others = {source for _, source in sources if source}
        reads = [read for name in others for read in self.reads.get(name, []) if not self._earlier(read)]
        return reached(tensor, (write for write, source in sources if source)) & reached(tensor, reads)

    def _earlier(self, access: Access) -> str:
        """Return the tensor from which the statement of an access brings elements of one name together; or nothing."""
        statement = access.statement
        if not _copies(statement) or len(statement.reads) != 1:
            return ""
        (read,) = statement.reads
        same = self.graph.tensors[read.tensor].origin == self.graph.tensors[statement.target].origin
        return read.tensor if same and read.subscripts == statement.write else ""

    def _known(self, tensor: Tensor) -> bool:
        """Return whether the user knows a tensor: it comes from outside, or is a value and no temporary of one."""
        if tensor.role != "value":
            return tensor.role != "next"
        version = tensor.name.removeprefix(f"{tensor.origin}.").isdigit()
        return tensor.origin in self.conventions.values and (tensor.name == tensor.origin or version)

    def _derives(self, statement: Statement) -> bool:
        """Return whether the notation has derived a statement, or a part of it, from the text."""
        names = {statement.target, self.graph.tensors[statement.target].origin}
        return not names.isdisjoint(self.conventions.derived)

    def _learns(self, tensor: Tensor) -> Mask | None:
        """Return which elements of a model its update changes; None for a tensor that is no model that learns."""
        following = self.graph.updates.get(tensor.name)
        if following is None:
            return None
        mask = reached(tensor, self.writes.get(following, []))
        if self.changing:
            mask &= self.changing[following]
        if not mask.any():
            return None
        named = (a for a in self.reads.get(tensor.name, []) if self._origin(a).startswith(MEANT))
        return mask | reached(tensor, named)

    def _origin(self, access: Access) -> str:
        return self.graph.tensors[access.statement.target].origin

    def _stops(self, tensor: Tensor, gap: _Gap) -> Iterator[_Cause | Literal["meant", "unknown"]]:
        """Yield why a model does not learn at a gap: causes of its next value, and of what brings this a 0."""
        following = self.graph.updates[tensor.name]
        yield self._cause(gap, self.writes[following])
        waiting, seen = [following], {following}
        while waiting:
            sources = [name for access in self.writes.get(waiting.pop(), []) for name in access.statement.sources]
            for name in dict.fromkeys(sources):
                source = self.graph.tensors[name]
                if name in seen or source.role != "value":
                    continue
                seen.add(name)
                if name in self.changing:
                    gaps = [own for _, own in _parts(source, self.changing[name])]
                    waiting += [name] if gaps else []
                else:
                    gaps = [gap] if source.shape == tensor.shape else []
                for own in gaps:
                    yield self._cause(own, self.writes.get(name, []))

    def _cause(self, gap: _Gap, accesses: Sequence[Access]) -> _Cause | Literal["meant", "unknown"]:
        """Return why the accesses of a tensor leave a gap on an axis."""
        found: list[_Cause] = []
        if max((access.step(gap.axis) for access in accesses), default=1) > gap.high - gap.low:
            return "meant"
        for access in accesses:
            taken = access.ends(gap.axis)
            end: End | None = None
            if taken is not None:
                end = "high" if taken[1] == gap.low - 1 else "low" if taken[0] == gap.high else None
            if end is None:
                continue
            cause = self._limit(access, gap.axis, end)
            if cause is None and self.conventions.stated_is_meant:
                return "meant"
            found += [cause] if cause else []
        return found[0] if found else "unknown"

    def _limit(self, access: Access, axis: int, end: End) -> _Cause | None:
        """Return why an access ends where it does. None says that its range is meant, or that nothing is known."""
        subscript, conventions = access.subscripts[axis], self.conventions
        if access.ends(axis) != subscript.bounds({index.name: index for index in access.indices}):
            return None  # a condition ends it, and no index
        several = [(access.index(name), factor) for name, factor in subscript.coefficients]
        several = [(index, factor) for index, factor in several if index.extent > 1] or several[:1]
        if not several:
            return None
        reasons: list[str] = []
        for index, factor in several:
            if index.span is None:
                # Where the text states all ranges, an index without a place is none of the text.
                limits = self._limiting(access, axis, index, end if factor > 0 else _OTHER[end])
                if not limits or not conventions.stated_is_meant:
                    return None
                reasons += [limit for limit in limits[:1] if limit not in reasons]
            elif conventions.stated_is_meant:
                return None
        taken, base = access.ends(axis), self.graph.tensors[access.tensor].base
        assert taken is not None
        first = base[axis] if base else 0
        what = f"ends before {taken[1] + 1 + first}" if end == "high" else f"begins at {taken[0] + first}"
        shown = Affine(constant=subscript.constant + first, coefficients=subscript.coefficients)
        index, _ = several[0]
        why = f" because of {_listed(reasons)}" if reasons else ""
        return _Cause(
            text=f"'{shown}' {what}{why}", span=index.span or access.span or access.statement.span, index=index
        )

    def _limiting(self, access: Access, axis: int, index: Index, end: End) -> list[str]:
        """Return the axes of other tensors, in words, at which an index ends."""
        found: list[str] = []
        for other in self._beside(access, index):
            for place, subscript in enumerate(other.subscripts):
                factor = subscript.coefficient(index.name)
                if not factor or (other.tensor, place) == (access.tensor, axis):
                    continue
                taken, tensor = other.ends(place), self.graph.tensors[other.tensor]
                last = (factor > 0) == (end == "high")
                if taken is not None and taken[1 if last else 0] == (tensor.shape[place] - 1 if last else 0):
                    found.append(_axis(tensor, place))
        return found

    def _beside(self, access: Access, index: Index) -> Iterator[Access]:
        """Yield the accesses over the same index: of the statement, and of those that compute parts of it."""
        origin = self._origin(access)
        group = [
            statement
            for statement in self.graph.statements
            if statement is access.statement
            or (self.graph.tensors[statement.target].origin == origin and index in statement.box.values())
        ]
        for statement in group:
            yield from (
                each for each in reads_of(statement, self.graph) if self._known(self.graph.tensors[each.tensor])
            )
        for statement in group if self.conventions.outputs_have_sizes else ():
            if not _copies(statement) and self._known(self.graph.tensors[statement.target]):
                yield write_of(statement)


def _parts(tensor: Tensor, mask: Mask) -> Iterator[tuple[str, _Gap]]:
    """Yield the parts of a tensor that a mask leaves out on all of an axis, none of which lies in one before it."""
    box = [(0, extent) for extent in tensor.shape]
    for axis, extent in enumerate(tensor.shape):
        others = tuple(each for each in range(len(tensor.shape)) if each != axis)
        taken = np.flatnonzero(mask.any(axis=others)).tolist()
        if not taken:
            return
        for before, after in pairwise([-1, *taken, extent]):
            if after - before > 1:
                gap = before + 1, after
                yield _part(tensor, [*box[:axis], gap, *box[axis + 1 :]]), _Gap(axis=axis, low=gap[0], high=gap[1])
        box[axis] = taken[0], taken[-1] + 1


def _copies(statement: Statement) -> bool:
    """Return whether a statement copies elements. A result takes what it has room for, as a slice does."""
    match statement.operation:
        case Linear(terms=(term,)):
            return len(term.factors) == 1 and not term.reduce
        case _:
            return False


def _with_index(cure: str, index: Index) -> str:
    """Return a cure with the index that it is about."""
    shifted = f"{index.name} - {index.low}" if index.low else index.name
    return cure.format(index=index.name, low=index.low, high=index.high, shifted=shifted, extent=index.extent)


def _axis(tensor: Tensor, axis: int) -> str:
    """Return an axis in words."""
    if len(tensor.shape) == 1:
        return f"the size of '{tensor.origin}'"
    ordinal = _ORDINALS[axis] if axis < len(_ORDINALS) else f"{axis + 1}th"
    return f"the {ordinal} axis of '{tensor.origin}'"


def _part(tensor: Tensor, ranges: Sequence[tuple[int, int]]) -> str:
    """Return elements as the user would write them, ``W[0..2][3]``."""
    base = tensor.base or (0,) * len(ranges)
    placed = [(low + first, high + first) for (low, high), first in zip(ranges, base, strict=True)]
    return tensor.origin + "".join(f"[{low}]" if high - low == 1 else f"[{low}..{high - 1}]" for low, high in placed)


def _listed(parts: Sequence[str]) -> str:
    """Return parts as words."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
