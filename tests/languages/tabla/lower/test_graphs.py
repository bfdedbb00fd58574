"""Graphs of small programs, line by line, and the messages for what a format cannot hold."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from tabla.base.source import Source, TablaError
from tabla.graph.format import Format
from tabla.graph.graph import Graph, Linear
from tabla.graph.verify import verify
from tabla.languages.kernel.lower.rate import Rate
from tabla.languages.tabla import parse
from tabla.languages.tabla.lower import lower
from tests.languages.tabla.lower.graph_lines import lines

PROGRAMS = Path(__file__).parents[3] / "programs" / "tabla"
LOWERED = sorted((PROGRAMS / "lowered").glob("*.t"))
UNFIT = sorted((PROGRAMS / "unfit").glob("*.t"))
FORMAT = Format.parse("q6.10")
Golden = Callable[[str, str], None]


def lowered(text: str, *results: str, number_format: Format = FORMAT, name: str = "<text>") -> Graph:
    graph = lower(parse(Source.from_text(text, name)), number_format=number_format, results=results)
    verify(graph)
    return graph


@pytest.mark.parametrize("path", LOWERED, ids=lambda path: path.stem)
def test_graph(path: Path, golden: Golden) -> None:
    graph = lowered(path.read_text(encoding="utf-8"), name=path.name)
    golden(f"tabla/lowered/{path.stem}.txt", "".join(f"{line}\n" for line in lines(graph)))


@pytest.mark.parametrize("path", UNFIT, ids=lambda path: path.stem)
def test_unfit(path: Path, golden: Golden) -> None:
    with pytest.raises(TablaError) as caught:
        lowered(path.read_text(encoding="utf-8"), name=path.name)
    golden(f"tabla/unfit/{path.stem}.txt", f"{caught.value}\n")


def test_a_gradient_that_is_a_result(golden: Golden) -> None:
    text = (PROGRAMS / "lowered" / "linear.t").read_text(encoding="utf-8")
    graph = lowered(text, "g", "mu", "w", "h", "g", name="linear.t")
    golden("tabla/lowered/linear.results.txt", "".join(f"{line}\n" for line in lines(graph)))


@pytest.mark.parametrize(
    ("asked", "message"),
    [("hh", "there is no 'hh'"), ("x", "'x' is not computed"), ("y", "'y' is not computed"), ("i", "there is no 'i'")],
)
def test_results_that_are_none(asked: str, message: str) -> None:
    text = (PROGRAMS / "lowered" / "linear.t").read_text(encoding="utf-8")
    with pytest.raises(TablaError, match=message) as caught:
        lowered(text, asked)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("rate", "mantissa", "shift"),
    [("1", "1", 0), ("0.5", "1", 1), ("2", "1", -1), ("0.3", "0.6", 1), ("3", "0.75", -2), ("0.51", "0.51", 0)],
)
def test_rate(rate: str, mantissa: str, shift: int) -> None:
    taken = Rate(Fraction(rate), FORMAT, None)
    assert (taken.sign, taken.mantissa, taken.shift) == (1, Fraction(mantissa), shift)
    assert Rate(-Fraction(rate), FORMAT, None).sign == -1


def test_the_limits_of_rates() -> None:
    # 2^-21 times the largest product, 2^30 units of 2^-20, is half a unit of 2^-10: the last that counts.
    assert Rate(Fraction(1, 2**21), FORMAT, None).shift == 21
    assert Rate(Fraction(2**10), FORMAT, None).shift == -10
    for rate in (Fraction(1, 2**22), Fraction(2**10 + 1)):
        with pytest.raises(TablaError):
            Rate(rate, FORMAT, None)


def test_a_format_matters_only_for_what_it_cannot_hold() -> None:
    text = (PROGRAMS / "lowered" / "backpropagation.t").read_text(encoding="utf-8")
    wide, narrow = (lowered(text, number_format=Format.parse(f)) for f in ("q16.16", "q4.4"))
    assert wide.statements == narrow.statements and wide.tensors == narrow.tensors
    assert wide.notes != narrow.notes


def test_an_addend_that_rounds_to_zero_is_noted() -> None:
    (note,) = lowered("model_input x; a = x + 0.0001;").notes
    assert note == "<text>:1:24: 0.0001 becomes 0 in q6.10, 1e+02 % off"


def test_a_rate_of_one_leaves_the_gradient_alone() -> None:
    graph = lowered("model_input x; model w; gradient g -> w; g = w + x;")
    assert [line for line in lines(graph) if line.startswith("w.next =")] == ["w.next = + w - g"]


def test_many_scalar_statements() -> None:
    count = 1000
    text = "model_input x;" + "".join(f"a[{k}] = x * {2 + k % 7};\n" for k in range(count))
    graph = lowered(text + f"iterator i[0:{count}]; s = sum[i](a[i]);")
    assert len(graph.statements) == count + 1


def test_long_sums_and_products() -> None:
    count = 3000
    graph = lowered("model_input x; a = " + " + ".join(["x * x"] * count) + "; b = " + " * ".join(["x"] * count) + ";")
    assert len(graph.statements) == count
    first = graph.statements[0].operation
    assert isinstance(first, Linear) and len(first.terms) == count


def test_size_does_not_matter() -> None:
    text = (PROGRAMS / "lowered" / "backpropagation.t").read_text(encoding="utf-8")
    large = lowered(text.replace("n = 4; h = 3; o = 2", "n = 100000; h = 50000; o = 20000"))
    assert len(large.statements) == len(lowered(text).statements)
