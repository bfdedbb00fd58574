"""Chunks: the parts of an index that the body of a strand takes at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tabla.graph.graph import Affine, Index
from tabla.schedule.strands.loops import Loop


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A range of an index in `count` parts of `size` elements: element k of part n is ``first + n * size + k``.

    `what` names what is divided: rows or words. Without an index there is one element.
    """

    what: str
    index: Index | None
    first: int
    count: int
    size: int

    @property
    def own(self) -> str:
        """The name of the loop over the elements of a part; no index has a name with spaces."""
        return f"one of {self.what}"

    @property
    def loops(self) -> tuple[Loop, ...]:
        """The loop over the parts, if there are several."""
        return (Loop(name=f"some {self.what}", count=self.count),) if self.count > 1 else ()

    def member(self, k: int) -> Mapping[str, Affine]:
        """Return the index, by name, as the k-th element of a part."""
        if self.index is None:
            return {}
        return {self.index.name: Affine.make(self.first + k, {loop.name: self.size for loop in self.loops})}

    @property
    def members(self) -> Mapping[str, Affine]:
        """The index, by name, as any element of a part."""
        return {
            name: Affine.make(at.constant, {**dict(at.coefficients), self.own: 1})
            for name, at in self.member(0).items()
        }


def chunks(what: str, index: Index | None, size: int) -> Iterator[Chunk]:
    """Yield the chunks of an index: parts of one size and, if some elements are left, one smaller part."""
    extent, low = (index.extent, index.low) if index is not None else (1, 0)
    whole, rest = divmod(extent, size)
    if whole:
        yield Chunk(what=what, index=index, first=low, count=whole, size=size)
    if rest:
        yield Chunk(what=what, index=index, first=low + whole * size, count=1, size=rest)
