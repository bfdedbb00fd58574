"""How programs are drawn at random: a graph from one of the notations, an array, and a number format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st
from tabla.templates.template import Template, template_for

from tabla.ir.format import Format
from tabla.ir.graph import Graph
from tabla.lang.tc import parse as parse_kernel
from tabla.lower.tc import lower as lower_kernel
from tabla.lower.tile import lower as lower_tile
from tabla.passes.minibatch import minibatched
from tabla.passes.pipeline import shaped
from tabla.source import Source, TablaError
from tests.fuzz.networks import networks
from tests.fuzz.overlays import OVERLAYS
from tests.ir.graph_strategy import SMALLEST_FRACTION, graphs
from tests.lang.onnx.models import read
from tests.lang.tabla.random_programs import programs
from tests.lang.tc.guarded_kernels import kernels
from tests.lang.tile.random_contractions import contractions
from tests.schedule.test_random_programs import lowered, shifts_like_updates

FORMATS = tuple(Format.parse(text) for text in ("q6.10", "q4.4", "q2.6", "q8.0", "q4.14", "q16.16", "q2.30", "q32.0"))
_PES = (1, 1, 2, 3, 4, 5, 7, 8, 16)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A graph, and the array and the format that it is compiled for.

    `onto` is the name of the overlay whose array that is, if it is one of an overlay. `change` chooses one of the
    changes of the mapping that is found first; None takes that mapping as it is. `words` is the seed of the data.
    """

    notation: str
    graph: Graph
    template: Template
    format: Format
    onto: str | None
    change: int | None
    words: int


@st.composite
def arrays(draw: st.DrawFn) -> Template:
    """Draw an array: often with one PE or a prime number of them, several roots or sequencers, and wide beats."""
    pes = draw(st.sampled_from(_PES))
    divisors = [n for n in range(1, pes + 1) if pes % n == 0]
    options: dict[str, Any] = {"stream_words": draw(st.sampled_from((1, 1, 2, 4)))}
    match draw(st.integers(0, 3)):
        case 0:
            options["pes_per_pu"] = draw(st.sampled_from(divisors))
        case 1:
            options["sequencers"] = draw(st.sampled_from([n for n in divisors if n <= 4]))
    return replace(template_for(pes), **options)


def _tabla(draw: st.DrawFn, format: Format) -> Graph:
    graph = lowered(draw(programs(learns=draw(st.booleans()))), format)
    return minibatched(graph, draw(st.sampled_from((1, 1, 2, 3)))) if graph.updates else graph


def _graph(draw: st.DrawFn, format: Format) -> Graph:
    # The strategy draws shifts to the left of so many bits, which no front end makes of a format with fewer.
    assume(format.fraction >= SMALLEST_FRACTION)
    return draw(graphs().filter(shifts_like_updates))


def _kernel(draw: st.DrawFn, format: Format) -> Graph:
    sizes = {"N": draw(st.integers(1, 5)), "M": draw(st.integers(1, 3))}
    function = parse_kernel(Source.from_text(draw(kernels()).text, "k.tc")).function(None)
    return lower_kernel(function, sizes, number_format=format, name="k", keep=(), results=())


def _network(draw: st.DrawFn, format: Format) -> Graph:
    return read(draw(networks()).proto(), format=str(format)).graph


def _tile(draw: st.DrawFn, format: Format) -> Graph:
    return lower_tile(draw(contractions()).traced(), number_format=format, name="k")


NOTATIONS: dict[str, Callable[[st.DrawFn, Format], Graph]] = {
    "tabla": _tabla,
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
        graph = NOTATIONS[notation](draw, format)
        graph = shaped(graph, format) if draw(st.booleans()) else graph
    except TablaError:
        assume(False)
        raise
    return Drawn(
        notation=notation,
        graph=graph,
        template=template,
        format=format,
        onto=onto,
        change=draw(st.none() | st.integers(0, 40)),
        words=draw(st.integers(0, 1 << 20)),
    )
