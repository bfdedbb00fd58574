"""How results leave, as the scheduler counts it, against the borders' own recurrence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.program.encode import encode
from tabla.schedule.compile import schedule_graph
from tabla.schedule.placing.output_port import OutputPort
from tabla.schedule.strands.strand import Operation, Strand
from tabla.sim.machine import Stalls
from tabla.sim.model.cycle_model import timeline
from tabla.templates.template import template_for, timing
from tests.end_to_end.algorithms import PROGRAMS, Q6_10, graph_of

IMAGE = encode(schedule_graph(graph_of(PROGRAMS["linear"]), template_for(4), Q6_10))


def tokens(port: OutputPort, depth: int, samples: int) -> tuple[list[int], list[int]]:
    """(tokens, cycles in which words leave) with a buffer of so many words and a host that never waits."""
    parameters = replace(
        IMAGE.parameters,
        output_depth=depth,
        split_results=port.each > 1,
        roots=port.each,
        port_words=port.beat,
    )
    times = timeline(
        replace(IMAGE, parameters=parameters),
        samples=samples,
        beats=0,
        period=port.initiation_interval,
        outputs=[timing().front + int(cycle) for cycle in np.repeat(port.puts, port.each)],
        stalls=Stalls(),
        origin=0,
    )
    return times.starts, times.leaves


@settings(max_examples=200, deadline=None)
@given(
    puts=st.lists(st.integers(0, 60), min_size=1, max_size=12, unique=True),
    turns=st.integers(1, 4),
    beat=st.sampled_from([1, 2, 4]),
    more=st.integers(0, 50),
)
def test_the_last_word_and_the_least_buffer(puts: list[int], turns: int, beat: int, more: int) -> None:
    initiation_interval = max(turns * len(puts), max(puts) - min(puts) + 1) + more
    port = OutputPort(
        puts=np.array(sorted(puts)), each=turns * beat, initiation_interval=initiation_interval, beat=beat
    )
    starts, leaves = tokens(port, port.depth, 150)
    assert starts == [n * initiation_interval for n in range(150)]
    assert leaves[port.words - 1] == timing().front + port.last
    # The same after many samples: words of one never hold up the last of the next.
    assert leaves[-1] == starts[-1] + timing().front + port.last
    assert all(len(set(leaves[n : n + beat])) == 1 for n in range(0, len(leaves), beat))
    if port.depth > port.words:
        assert tokens(port, port.depth - beat, 150)[0] != starts


def port_of(words: int, each: int, initiation_interval: int, **asked: int) -> OutputPort:
    """The port of a sample whose root writes so many times in a row."""
    put = Operation(fields={"source": "result", "to_output": 1})
    strand = Strand(unit="root_write", start=9, body=(put,), counts=(words,), comment="")
    return OutputPort.of([strand], each, initiation_interval, **asked)


@pytest.mark.parametrize(
    ("each", "initiation_interval", "asked", "beat", "binds"),
    [
        (4, 64, {}, 1, 64),  # nobody asked for a wide beat
        (4, 64, {"widest": 8}, 1, 64),  # words do not bind
        (4, 63, {"widest": 8}, 2, 63),  # the narrowest beat that does not bind
        (4, 63, {"widest": 1}, 1, 64),
        (4, 20, {"widest": 2}, 2, 32),  # as wide as was asked for
        (4, 10, {"widest": 8}, 4, 16),  # as wide as there are roots
        (6, 10, {"widest": 8}, 2, 48),  # in whole beats of a power of two
        (3, 10, {"widest": 8}, 1, 48),
        (4, 10, {"widest": 8, "beats_in": 40}, 2, 32),  # no wider than what comes in allows
        (4, 10, {"widest": 8, "beats_in": 64}, 1, 64),
        (1, 10, {"widest": 8}, 1, 16),
    ],
)
def test_a_beat_is_as_wide_as_the_cycles_gain(
    each: int, initiation_interval: int, asked: dict[str, int], beat: int, binds: int
) -> None:
    port = port_of(16, each, initiation_interval, **asked)
    assert (port.beat, port.initiation_interval) == (beat, binds)
    assert port.beats * beat == port.words == 16 * each
