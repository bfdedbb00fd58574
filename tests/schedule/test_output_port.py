"""How results leave, as the scheduler counts it, against the borders' own recurrence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tabla.sim.machine import Stalls
from tabla.sim.model.border import timeline
from tabla.templates.template import template_for, timing

from tabla.backend import schedule_graph
from tabla.program.encode import encode
from tabla.schedule.output_port import OutputPort
from tests.end_to_end.algorithms import PROGRAMS, Q6_10, graph_of

IMAGE = encode(schedule_graph(graph_of(PROGRAMS["linear"]), template_for(4), Q6_10))


def tokens(port: OutputPort, depth: int, samples: int) -> tuple[list[int], list[int]]:
    """(tokens, cycles in which words leave) with a buffer of so many words and a host that never waits."""
    parameters = replace(IMAGE.parameters, output_depth=depth, split_results=port.each > 1)
    times = timeline(
        replace(IMAGE, parameters=parameters),
        samples=samples,
        beats=0,
        period=port.period,
        outputs=[timing().front + int(cycle) for cycle in np.repeat(port.puts, port.each)],
        stalls=Stalls(),
        origin=0,
    )
    return times.starts, times.leaves


@settings(max_examples=200, deadline=None)
@given(
    puts=st.lists(st.integers(0, 60), min_size=1, max_size=12, unique=True),
    each=st.integers(1, 4),
    more=st.integers(0, 50),
)
def test_the_last_word_and_the_least_buffer(puts: list[int], each: int, more: int) -> None:
    period = max(each * len(puts), max(puts) - min(puts) + 1) + more
    port = OutputPort(puts=np.array(sorted(puts)), each=each, period=period)
    starts, leaves = tokens(port, port.depth, 150)
    assert starts == [n * period for n in range(150)]
    assert leaves[port.words - 1] == timing().front + port.last
    # The same after many samples: words of one never hold up the last of the next.
    assert leaves[-1] == starts[-1] + timing().front + port.last
    if port.depth > port.words:
        assert tokens(port, port.depth - 1, 150)[0] != starts
