"""How programs are drawn at random: a graph from one of the notations, an array, and a number format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from tabla.base.source import Source, TablaError
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.passes.framework import Setting
from tabla.graph.passes.minibatch import minibatched
from tabla.graph.passes.pipeline import SHAPE, SIMPLIFY, pass_runs
from tabla.graph.text import graph_text
from tabla.languages.tc import parse as parse_kernel
from tabla.languages.tc.lower import lower as lower_kernel
from tabla.languages.tile.lower import lower as lower_tile
from tabla.schedule.mapping.changes import kinds
from tabla.templates.template import Template, template_for
from tests.graph.graph_strategy import SMALLEST_FRACTION, graphs
from tests.languages.onnx.models import read
from tests.languages.tabla.independent_models import independent_models
from tests.languages.tabla.random_programs import programs
from tests.languages.tc.guarded_kernels import kernels
from tests.languages.tile.random_contractions import contractions
from tests.schedule.test_random_programs import lowered, shifts_like_updates
from verify.fuzz.learners import learners
from verify.fuzz.networks import networks
from verify.fuzz.overlays import OVERLAYS

FORMATS = tuple(Format.parse(text) for text in ("q6.10", "q4.4", "q2.6", "q8.0", "q4.14", "q16.16", "q2.30", "q32.0"))
_PES = (1, 1, 2, 3, 4, 5, 7, 8, 16)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A graph, and the array and the format that it is compiled for.

    `onto` is the name of the overlay whose array that is, if it is one of an overlay. `change` names a kind of changes
    of the mapping that is found first, and which of them; None takes that mapping as it is. `words` is the seed of the
    data. `passes` are those that have changed the graph.
    """

    notation: str
    graph: Graph
    template: Template
    format: Format
    onto: str | None
    change: tuple[str, int] | None
    words: int
    passes: frozenset[str]

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Tell the program as `--emit graph` does, where hypothesis tells it: its objects fill 60,000 characters."""
        array = f"{self.onto or self.template}, {self.format}, change {self.change}, words {self.words}"
        printer.text(f"{self.notation} on {array}\n{graph_text(self.graph)}")


@st.composite
def arrays(draw: st.DrawFn) -> Template:
    """Draw an array: often with one PE or a prime number of them, several roots or sequencers, and wide beats."""
    pes = draw(st.sampled_from(_PES))
    divisors = [n for n in range(1, pes + 1) if pes % n == 0]
    options: dict[str, Any] = {"stream_words": draw(st.sampled_from((1, 1, 2, 4)))}
    array = replace(template_for(pes), **options)
    match draw(st.integers(0, 4)):
        case 0:
            array = replace(array, pes_per_pu=draw(st.sampled_from(divisors)))
        case 1:
            array = array.with_sequencers(draw(st.sampled_from([n for n in divisors if n <= 4])))
        case 2 | 3:
            array = array.with_roots(draw(st.sampled_from(divisors[1:] or divisors)))
    return array


def _tabla(draw: st.DrawFn, format: Format) -> Graph:
    graph = lowered(draw(programs(learns=draw(st.booleans()))), format)
    return minibatched(graph, draw(st.sampled_from((1, 1, 2, 3)))) if graph.updates else graph


def _learner(draw: st.DrawFn, format: Format) -> Graph:
    return minibatched(lowered(draw(learners()), format), draw(st.sampled_from((1, 1, 2, 3, 4))))


def _graph(draw: st.DrawFn, format: Format) -> Graph:
    # The strategy draws shifts to the left of so many bits, which no front end makes of a format with fewer.
    assume(format.fraction >= SMALLEST_FRACTION)
    return draw(graphs().filter(shifts_like_updates))


def _kernel(draw: st.DrawFn, format: Format) -> Graph:
    sizes = {"N": draw(st.integers(1, 5)), "M": draw(st.integers(1, 3))}
    text = draw(kernels()).text
    if draw(st.booleans()):  # the tensor that is read at positions from data is computed, and lies at the root
        text = text.replace("float(N) A,", "float(N) G,").replace("-> (B) {", "-> (A, B) { A(i) = 0.5 * G(i) ")
    function = parse_kernel(Source.from_text(text, "k.tc")).function(None)
    keep = draw(st.lists(st.sampled_from(function.inputs), max_size=1)) if function.inputs else []
    try:
        return lower_kernel(function, sizes, number_format=format, name="k", keep=keep, results=())
    except TablaError:  # what is read for its sizes alone, or at positions of its own, cannot be kept
        return lower_kernel(function, sizes, number_format=format, name="k", keep=(), results=())


def _network(draw: st.DrawFn, format: Format) -> Graph:
    return read(draw(networks()).proto(), format=str(format)).graph


def _tile(draw: st.DrawFn, format: Format) -> Graph:
    return lower_tile(draw(contractions()).traced(), number_format=format, name="k")


def _independent(draw: st.DrawFn, format: Format) -> Graph:
    return minibatched(lowered(draw(independent_models()), format), draw(st.sampled_from((1, 1, 2))))


NOTATIONS: dict[str, Callable[[st.DrawFn, Format], Graph]] = {
    "tabla": _tabla,
    "independent": _independent,
    "published": _learner,
    "graph": _graph,
    "tc": _kernel,
    "tile": _tile,
    "onnx": _network,
}


@st.composite
def drawn(draw: st.DrawFn, notation: str) -> Drawn:
    """Draw a program of a notation. One that the format or the machine does not take makes no test."""
    onto = draw(st.sampled_from((None, *OVERLAYS)))
    if onto is None:
        format, template = draw(st.sampled_from(FORMATS)), draw(arrays())
    else:
        format, template = OVERLAYS[onto].format, OVERLAYS[onto].overlay.template.of_any_depth()
    try:
        graph, passes = NOTATIONS[notation](draw, format), set[str]()
        if draw(st.booleans()):
            graph = _shaped(graph, format, passes)
    except TablaError:
        assume(False)
        raise
    return Drawn(
        notation=notation,
        graph=graph,
        template=template,
        format=format,
        onto=onto,
        change=_change(draw) if draw(st.integers(0, 3)) else None,
        words=draw(st.integers(0, 1 << 20)),
        passes=frozenset(passes),
    )


def _change(draw: st.DrawFn) -> tuple[str, int]:
    return draw(st.sampled_from([kind.__name__ for kind in kinds()])), draw(st.integers(0, 40))


def _shaped(graph: Graph, format: Format, changed: set[str]) -> Graph:
    """Return what `shaped` returns, and note the passes that change the graph."""

    for group in (SIMPLIFY, SHAPE):
        for each in pass_runs(graph, Setting(fmt=format), group):
            changed.update([each.which.name] if each.after != each.before else [])
            graph = each.after
    return graph
