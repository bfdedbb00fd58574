"""What no array can hold, or no one would wait for, is refused at its place and at once."""

from __future__ import annotations

import pytest

from tabla.backend import schedule_graph
from tabla.ir.format import Format
from tabla.lang.tabla import parse as parse_tabla
from tabla.lang.tc import parse
from tabla.lower.tabla import lower as lower_tabla
from tabla.lower.tc import lower
from tabla.options import Options
from tabla.source import Source, TablaError

FORMAT = Format(integer=6, fraction=10)


@pytest.mark.parametrize(
    ("text", "size", "message"),
    [
        ("def f(float(N) A) -> (B) { B(i, j) = A(i) * A(j) }", 5000, "'B' has 25,000,000 elements"),
        ("def f(float(N,N) A) -> (B) { B +=! A(i, j) }", 4000, "'A' has 16,000,000 elements"),
        ("def f(float(N) A) -> (B) { B +=! A(i) * A(j) }", 10**5, "'B' takes 10,000,000,000 operations a sample"),
    ],
)
def test_excess_is_refused(text: str, size: int, message: str) -> None:
    graph = lower(parse(Source.from_text(text, "large.tc")).function(), {"N": size}, number_format=FORMAT)
    with pytest.raises(TablaError) as caught:
        schedule_graph(graph, Options(pes=4).chosen_template(), FORMAT)
    assert message in caught.value.message and caught.value.hint and caught.value.file == "large.tc"


def test_a_large_contraction_is_a_small_matter() -> None:
    """Two million multiplies: what is gone through are the operands, not the products."""
    text = "def f(float(N,N) A, float(N,N) B) -> (C) { C(i, j) +=! A(i, k) * B(k, j) }"
    graph = lower(parse(Source.from_text(text)).function(), {"N": 128}, number_format=FORMAT, keep=("B",))
    assert schedule_graph(graph, Options(pes=16).chosen_template(), FORMAT).cycles == 128**3 // 16


def test_partial_words_that_no_memory_holds_are_refused() -> None:
    text = "model_input x; iterator i[0:9000000]; y = pi[i](x);"
    graph = lower_tabla(parse_tabla(Source.from_text(text)), number_format=FORMAT)
    with pytest.raises(TablaError, match="a memory of more than 8,388,608 words"):
        schedule_graph(graph, Options(pes=4).chosen_template(), FORMAT)
