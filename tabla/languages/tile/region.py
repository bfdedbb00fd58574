"""Where a contraction writes and what it reads, in coordinates that the graph can express."""

from __future__ import annotations

from dataclasses import dataclass

from tabla.base.source import Span
from tabla.graph.graph import Affine, Index
from tabla.languages.kernel.coordinates import coordinates_of
from tabla.languages.tile.domain import Domain
from tabla.languages.tile.program import Contraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """Where a contraction writes and what it reads there.

    `reads` are the subscripts of each source. `constraints` are forms that are at least 0 at the valid points of the
    box of all indices.
    """

    indices: tuple[Index, ...]
    reduced: tuple[Index, ...]
    write: tuple[Affine, ...]
    reads: tuple[tuple[Affine, ...], ...]
    constraints: tuple[Affine, ...]

    @property
    def points(self) -> int:
        """How many output elements the box has."""
        count = 1
        for index in self.indices:
            count *= index.extent
        return count


def region_of(contraction: Contraction) -> Region | None:
    """Return the region of a contraction, or None if no index values are valid."""
    domain = Domain.of(contraction)
    if domain.intervals is None:
        return None
    write = [subscript.value for subscript in contraction.write]
    points = coordinates_of(
        domain.names, domain.rows, write, contraction.shape, whole=domain.whole, stated=_stated(contraction)
    )
    if points is None:
        return None
    return Region(
        indices=points.indices,
        reduced=points.reduced,
        write=tuple(points.change.affine(form) for form in write),
        reads=tuple(tuple(points.change.affine(s.value) for s in source.subscripts) for source in contraction.sources),
        constraints=points.constraints,
    )


def _stated(contraction: Contraction) -> dict[str, Span]:
    """Return the variables that constraints of the text mention, each with the place of one."""
    return {
        name: constraint.span
        for constraint in contraction.constraints
        if constraint.span is not None  # a derivative has further ones, which keep it inside what it no longer reads
        for name in constraint.subscript.value.names
    }
