"""In which memories of a lane tensors lie: such that no operation needs two words of one."""

from __future__ import annotations

from tabla.ir.graph import Extreme, Graph
from tabla.mapping.fit import without_bus
from tabla.mapping.search import Mapping
from tabla.strands.bodies import Clash, LaneContext, lane_body
from tabla.strands.extremes import lane_extreme
from tabla.strands.layout import Layout, first_layout
from tabla.strands.loops import Lanes, plain
from tabla.strands.running import clashes
from tabla.templates.template import Template


def banked(graph: Graph, mapping: Mapping, template: Template) -> Layout | None:
    """Banks such that no operation's words clash; None if two banks are not enough."""
    layout = first_layout(graph, mapping, pes=template.lanes)
    while True:
        try:
            for statement, fit in zip(graph.statements, mapping.fits, strict=True):
                if fit.way == "root":
                    continue
                if statement.constraints:
                    clashes(statement, fit, layout, template.lanes)
                    continue
                lanes = Lanes.of(statement, fit, template.lanes)
                loops = tuple(
                    lanes.loop if i.name == fit.index else plain(i) for i in (*statement.indices, *statement.reduced)
                )
                for each in (fit, without_bus(fit)) if fit.early else (fit,):
                    context = LaneContext(layout=layout, fit=each, lanes=lanes, loops=loops)
                    if isinstance(statement.operation, Extreme):
                        lane_extreme(statement.operation, context)
                    else:
                        lane_body(statement, context, shift=0, levels=len(statement.reduced))
            return layout
        except Clash as clash:
            # Double the first that can be; a model is loaded twice, a computed word is written twice at once.
            if not any(layout.widen(tensor, spot) for tensor, spot in clash.keys):
                return None
