"""What no array can hold, or no one would wait for, is refused at its place and at once."""

from __future__ import annotations

from pathlib import Path

import pytest

import tabla
from tabla.base.source import Source, TablaError
from tabla.build.options import Options
from tabla.driver import build
from tabla.graph.format import Format
from tabla.languages.tabla import parse as parse_tabla
from tabla.languages.tabla.lower import lower as lower_tabla
from tabla.languages.tc import parse
from tabla.languages.tc.lower import lower
from tabla.schedule.compile import schedule_graph
from tabla.schedule.mapping.capacity import least_bits, refuse_without_part
from tabla.templates.targets import targets

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


LEARNS = (
    "mu = 0.5; model_input x[n]; model_output y; model w[n]; gradient g[n] -> w; iterator i[0:n];"
    " e = sum[i](w[i] * x[i]) - y; g[i] = e * x[i];"
)
ROOT = Path(__file__).resolve().parents[3]


def test_what_no_known_part_holds_is_refused(tmp_path: Path) -> None:
    """The largest part is filled to the last bit: one feature more is refused, and nothing less."""
    most = max(t.memory_bits(d) or 0 for t in targets(None).values() for d in t.devices)
    features = (most // 16 - 1) // 2  # a model and an input of 16 bits each, beside the label
    for n, refused in ((features, False), (features + 1, True)):
        graph = lower_tabla(parse_tabla(Source.from_text(f"n = {n}; {LEARNS}", "large.t")), number_format=FORMAT)
        assert least_bits(graph, FORMAT) == 16 * (2 * n + 1)
        if not refused:
            refuse_without_part(graph, FORMAT)
            continue
        with pytest.raises(TablaError, match="the largest known part, XC7A200T, holds 16,326,784") as caught:
            refuse_without_part(graph, FORMAT)
        assert "--force" in caught.value.hint
        # Nobody knows how much a part of one's own holds, unless its record says so.
        own = 'def F : Target<"own", "Own", "synth"> {%s} def : Device<F, "d", "D"> { let Rams = 9999; }'
        (tmp_path / "own.td").write_text(own % "")
        refuse_without_part(graph, FORMAT, str(tmp_path / "own.td"))
        (tmp_path / "known.td").write_text(own % "let RamBits = 18432;")
        refuse_without_part(graph, FORMAT, str(tmp_path / "known.td"))
        (tmp_path / "small.td").write_text(own % "let RamBits = 1;")
        with pytest.raises(TablaError, match="XC7A200T"):
            refuse_without_part(graph, FORMAT, str(tmp_path / "small.td"))


def test_force_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "large.t"
    path.write_text(f"n = 600000; {LEARNS}")
    with pytest.raises(TablaError, match="the largest known part"):
        tabla.compile(path)
    assert build(path, Options(force=True)).legal.statements


@pytest.mark.parametrize("path", sorted(ROOT.glob("examples/*.t")), ids=lambda path: path.stem)
def test_no_array_has_less_memory_than_its_least(path: Path) -> None:
    """The bound is honest: the memories of a build never hold fewer bits."""
    made = tabla.compile(path, pes=4, effort=0)
    assert 0 < least_bits(made.graph, made.format) <= made.report().memory_bits
