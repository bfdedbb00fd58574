"""Random TABLA programs through the Verilog in Icarus: every word, result and cycle."""

from __future__ import annotations

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tabla.graph.format import Format
from tests.end_to_end.algorithms import hold_against_evaluation, need
from tests.languages.tabla.random_programs import programs
from tests.schedule.test_random_programs import lowered

FORMATS = [Format(integer=6, fraction=10), Format(integer=2, fraction=6), Format(integer=16, fraction=16)]
drawn = given(programs(), st.sampled_from([1, 2, 3, 4]), st.sampled_from(FORMATS), st.integers(0, 2**20))


def exact(text: str, pes: int, format: Format, seed: int) -> None:
    """Check words, results and cycles of a program in Icarus."""
    need("icarus")
    hold_against_evaluation(lowered(text, format), "icarus", pes, format, samples=2, seed=seed)


@settings(max_examples=3, phases=[Phase.generate])
@drawn
def test_random_programs_in_icarus(text: str, pes: int, format: Format, seed: int) -> None:
    exact(text, pes, format, seed)


@pytest.mark.slow
@settings(max_examples=60, phases=[Phase.generate])
@drawn
def test_many_random_programs_in_icarus(text: str, pes: int, format: Format, seed: int) -> None:
    exact(text, pes, format, seed)
