"""What notebooks show of an exploration: for each part, its points in a picture, and the front as a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tabla.base.html import COLOURS, Series, block, paragraph, picture, table
from tabla.learn.explore.candidate import Candidate, Part
from tabla.learn.explore.page import Comparison

Rows = Callable[[Sequence[Candidate]], Sequence[Sequence[str]]]
"""Makes the rows of a table of points, the head first."""


def exploration_html(found: Comparison, rows: Rows) -> str:
    """Return the picture and the front of each part."""
    return block(*(_part(found, part, rows) for part in found.parts))


def _part(found: Comparison, part: Part, rows: Rows) -> str:
    best = found.front(part)
    on_front = {each.point for each in best}
    others = [each for each in found.points if each.part == part and each.fits and each.point not in on_front]
    series = [
        _points("other points", others, COLOURS[1]),
        _points("on the front", best, COLOURS[0]),
    ]
    head, *front = rows(best)
    count = sum(each.part == part for each in found.points)
    told = f"{found.name} on {part.name}: {count} points, {len(best)} on the front"
    return block(
        paragraph(told),
        picture(series, across="area, % of the scarcest resource", up="samples/s", title=told) if best else "",
        table(front, head=head, texts=(head.index("format"),)),
    )


def _points(name: str, found: Sequence[Candidate], colour: str) -> Series:
    drawn = [each for each in found if each.area is not None and each.rate is not None]
    return Series(
        name=name,
        x=[each.area or 0.0 for each in drawn],
        y=[each.rate or 0.0 for each in drawn],
        colour=colour,
        joined=False,
        names=[each.point.name for each in drawn],
    )
