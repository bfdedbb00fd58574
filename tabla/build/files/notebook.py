"""What Jupyter notebooks show of a graph and of a schedule: a picture, and a page."""

from __future__ import annotations

from dataclasses import dataclass, fields
from html import escape

from tabla.build.files.graph_picture import svg
from tabla.build.files.schedule_page import schedule_page
from tabla.graph.graph import Graph
from tabla.schedule.bound import quick
from tabla.schedule.placing.schedule import Schedule


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawnGraph(Graph):
    """A graph that notebooks show as its picture. It is equal to the graph that it was made from."""

    def _repr_svg_(self) -> str:
        return svg(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return all(getattr(self, each.name) == getattr(other, each.name) for each in fields(Graph) if each.compare)

    __hash__ = None  # type: ignore[assignment]  # a graph has no hash either, because its fields hold dictionaries


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawnSchedule(Schedule):
    """A schedule that notebooks show as its page."""

    def _repr_html_(self) -> str:
        page = escape(schedule_page(self, quick(self.graph, self.template, self.format)), quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:480px;border:0"></iframe>'


def drawn_graph(graph: Graph) -> DrawnGraph:
    """Return the same graph, as one that notebooks show as its picture."""
    return DrawnGraph(**{each.name: getattr(graph, each.name) for each in fields(Graph)})


def drawn_schedule(schedule: Schedule) -> DrawnSchedule:
    """Return the same schedule, as one that notebooks show as its page."""
    return DrawnSchedule(**{each.name: getattr(schedule, each.name) for each in fields(Schedule)})
