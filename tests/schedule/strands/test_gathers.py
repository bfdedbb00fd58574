"""Gathers on the machine: words as evaluated, cycles as predicted, a slot for each row and each of its words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tabla
from tabla.base.source import TablaError
from tabla.graph.format import Format
from tabla.graph.graph import Affine, Gather, Gathered, Graph, Linear, Read
from tabla.graph.passes.legalise.flat_gathers import flatten_gathers
from tabla.graph.verify import verify
from tabla.host.engines.session import open_machine
from tabla.program.encode import encode
from tabla.program.host import Host
from tabla.schedule.check import check
from tabla.schedule.compile import schedule_graph
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.regions import ScheduleFault
from tabla.schedule.strands.strand import Operation
from tabla.templates.template import template_for
from tests.graph.examples import Builder, at, product
from tests.graph.runs import run_fixed

Q6_10 = Format(integer=6, fraction=10)


def embedding(count: int = 5, width: int = 9) -> Graph:
    """Rows of a kept table by streamed positions, a score of each, and the row before it, from its second word on."""
    b = Builder()
    b.tensor("ids", "input", count)
    b.tensor("table", "model", 6, width)
    b.tensor("w", "model", width)
    b.tensor("e", "value", count, width)
    b.tensor("s", "value", count)
    b.tensor("p", "value", count, width)
    row = Gathered(table=at("ids", "i"))
    b.let("e", "id", Gather(tensor="table", subscripts=(row, Affine.of(d=1))), i=count, d=width)
    b.let("s", "i", Linear(terms=(product(at("e", "i", "d"), at("w", "d"), "d"),)), "d", i=count, d=width)
    before = replace(row, offset=Affine.of(-1))
    b.let("p", "id", Gather(tensor="table", subscripts=(before, Affine.of(d=1))), i=count, d=width)
    return b.graph("embedding", {}, (("s", "s"), ("e", "e"), ("p", "p")))


def indirect(count: int = 8) -> Graph:
    """y[i] = x[q[p[i]]]: streamed positions, kept positions, streamed words; and one word by two scalars."""
    b = Builder()
    b.tensor("p", "input", count)
    b.tensor("x", "input", 6)
    b.tensor("q", "model", 6)
    b.tensor("m", "model", 6, 6)
    b.tensor("k", "input")
    b.tensor("t", "value", count)
    b.tensor("y", "value", count)
    b.tensor("z", "value")
    b.let("t", "i", Gather(tensor="q", subscripts=(Gathered(table=at("p", "i")),)), i=count)
    b.let("y", "i", Gather(tensor="x", subscripts=(Gathered(table=at("t", "i")),)), i=count)
    first = Gathered(table=Read(tensor="p", subscripts=(Affine.of(2),)))
    b.let("z", "", Gather(tensor="m", subscripts=(first, Gathered(table=at("k")))))
    return b.graph("indirect", {}, (("y", "y"), ("z", "z")))


def draw(graph: Graph, samples: int, seed: int = 0) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Positions from 1 to 5 in the tables, any words elsewhere."""
    random = np.random.default_rng(seed)

    def words(name: str, shape: tuple[int, ...]) -> np.ndarray:
        low, high = (1, 6) if name in ("ids", "p", "q", "k") else (Q6_10.lowest, Q6_10.highest + 1)
        return random.integers(low, high, shape)

    tensors = graph.tensors.values()
    inputs = {t.name: words(t.name, (samples, *t.shape)) for t in tensors if t.role == "input"}
    return inputs, {t.name: words(t.name, t.shape) for t in tensors if t.role == "model"}


def agree(graph: Graph, pes: int, samples: int = 4, engine: str = "model") -> Schedule:
    """Every result of an engine is the evaluation's, and the cycles are those predicted."""
    verify(graph)
    schedule = schedule_graph(graph, template_for(pes), Q6_10)
    host = Host(schedule)
    inputs, models = draw(graph, samples)
    kept = [tensor for _, tensor in graph.results]
    expected = run_fixed(graph, Q6_10, inputs, models, keep=kept)
    with open_machine(encode(schedule), engine, "unit") as machine:
        machine.load(host.load_beats(models))
        result = machine.run(host.sample_beats(inputs), samples)
    shown = host.results(result.outputs)
    for name, tensor in graph.results:
        np.testing.assert_array_equal(shown[name], expected.kept[tensor], err_msg=name)
    assert result.cycles == schedule.cycles
    return schedule


@pytest.mark.parametrize("pes", [1, 4, 16])
@pytest.mark.parametrize(
    "graph",
    [embedding(), embedding(3, 14), embedding(1, 3), indirect(), indirect(7), indirect(3)],
    ids=["5x9", "3x14", "1x3", "8", "7", "3"],
)
def test_words_and_cycles(graph: Graph, pes: int) -> None:
    agree(graph, pes)


def rows_of(shape: tuple[int, ...], width: int, *, turned: bool = False, blocks: int = 0) -> Graph:
    """e[..., d] = table[ids[...], d], the positions' axes turned around if wanted; or [ids[...], b, d] of `blocks`."""
    b = Builder()
    names = "ijk"[: len(shape)]
    b.tensor("ids", "input", *(shape[::-1] if turned else shape))
    depth = (blocks,) if blocks else ()
    b.tensor("table", "model", 6, *depth, width)
    b.tensor("e", "value", *shape, *depth, width)
    row = Gathered(table=at("ids", *(names[::-1] if turned else names)))
    inner = "bd" if blocks else "d"
    gather = Gather(tensor="table", subscripts=(row, *(Affine.of(**{name: 1}) for name in inner)))
    extents = dict(zip(names, shape, strict=True)) | {"d": width} | ({"b": blocks} if blocks else {})
    b.let("e", names + inner, gather, **extents)
    return b.graph("rows", {}, (("e", "e"),))


@pytest.mark.parametrize("width", [1, 2, 3, 4, 7, 8, 9, 64])
@pytest.mark.parametrize("rows", [1, 2, 5, 11])
def test_rows_in_one_loop(rows: int, width: int) -> None:
    schedule = agree(rows_of((rows,), width), 2)
    # Positions are worked out first, a slot each; then a slot for each fetch and each word.
    assert schedule.cycles <= rows + rows * (width + 1) + 24


@pytest.mark.parametrize(
    "graph",
    [
        rows_of((3, 4), 5),
        rows_of((3, 4), 5, turned=True),
        rows_of((2, 5), 1, turned=True),
        rows_of((2, 9), 3, turned=True),
        rows_of((2,), 70),
        rows_of((3, 2), 131, turned=True),
        rows_of((3,), 5, blocks=4),
        rows_of((3,), 30, blocks=3),
        rows_of((), 12),
    ],
    ids=["3x4", "turned", "words", "threes", "70", "131", "blocks", "90", "one"],
)
@pytest.mark.parametrize("pes", [2, 8])
def test_other_nests(graph: Graph, pes: int) -> None:
    agree(graph, pes)


def test_a_position_of_another_row_is_refused() -> None:
    """Fetches one slot later, or earlier: words are then gathered by the position of the row before, or after."""
    schedule = agree(rows_of((5,), 9), 2)
    count = 0
    for number, strand in enumerate(schedule.strands):
        slots = [n for n, o in enumerate(strand.body) if o.field("b") == "position"]
        for slot in slots:
            for other in {max(0, slot - 1), min(len(strand.body) - 1, slot + 1)} - {slot}:
                body = list(strand.body)
                body[slot], body[other] = body[other], body[slot]
                moved = replace(strand, body=tuple(body))
                strands = (*schedule.strands[:number], moved, *schedule.strands[number + 1 :])
                with pytest.raises(ScheduleFault):
                    check(replace(schedule, strands=strands))
                count += 1
    assert count


def test_a_word_gathered_before_its_position_is_refused() -> None:
    schedule = agree(rows_of((), 12), 2)
    issue = next(s for s in schedule.strands if s.unit == "root_issue" and any(_gathers(o) for o in s.body))
    first = next(n for n, o in enumerate(issue.body) if _gathers(o))
    body = (issue.body[first], *issue.body[1:])
    strands = tuple(replace(s, body=body) if s is issue else s for s in schedule.strands)
    with pytest.raises(ScheduleFault, match="gathers when no position is held"):
        check(replace(schedule, strands=strands))


def _gathers(operation: Operation) -> bool:
    return str(operation.field("a")).startswith("gathered_")


def test_a_gathered_word_costs_two_slots() -> None:
    b = Builder()
    b.tensor("p", "input", 70)
    b.tensor("m", "model", 6)
    b.tensor("y", "value", 70)
    b.let("y", "i", Gather(tensor="m", subscripts=(Gathered(table=at("p", "i")),)), i=70)
    assert agree(b.graph("many", {}, (("y", "y"),)), 4).cycles <= 2 * 70 + 10


def test_positions_must_fit_a_word() -> None:
    b = Builder()
    b.tensor("p", "input", 3)
    b.tensor("m", "model", 20, 10)
    b.tensor("y", "value", 3, 10)
    b.let("y", "ij", Gather(tensor="m", subscripts=(Gathered(table=at("p", "i")), Affine.of(j=1))), i=3, j=10)
    with pytest.raises(TablaError, match=r"'m' has 200 words, more than a word of q2\.6 can count"):
        flatten_gathers(b.graph("large", {}), Format(integer=2, fraction=6))


STATIC = {
    "beyond the end": ("T(I(i) + 4)", lambda i: -4 + i % 4),
    "far below": ("T(I(i) - 200)", lambda i: 200 + i % 4),
    "with the index": ("T(I(i) + i + 2)", lambda i: 3 - i % 4 - i - 2),
    "against the index": ("T(I(i) - 3*i)", lambda i: 3 * i + i % 4),
    "further than a word": ("T(I(i) + 130)", lambda i: -128),
}


@pytest.mark.parametrize("pes", [1, 4])
@pytest.mark.parametrize("case", STATIC)
def test_the_static_part_may_lie_outside(case: str, pes: int, tmp_path: Path) -> None:
    """A position is the sum of a word and of a static part, and only the sum has to lie in the tensor."""
    read, position = STATIC[case]
    path = tmp_path / "f.tc"
    path.write_text(f"def f(float(E) T, int32(N) I) -> (O) {{ O(i) = {read} where i in 0:N }}")
    inputs = {"T": np.array([0.25, 0.5, 0.75, 1.0]), "I": np.array([position(i) for i in range(6)])}
    made = tabla.compile(path, inputs=inputs, pes=pes, format="q4.4" if case == "further than a word" else "q6.10")
    assert made.simulate(inputs).counters.domain_errors == 0
    expected = {"beyond the end": [0, 1, 2, 3, 0, 1], "with the index": [3, 2, 1, 0, 3, 2]}
    places = expected.get(case, [2] * 6 if case == "further than a word" else [0, 1, 2, 3, 0, 1])
    assert made.evaluate(inputs)["O"].tolist() == inputs["T"][places].tolist()


def test_rows_whose_static_part_lies_outside(tmp_path: Path) -> None:
    path = tmp_path / "f.tc"
    read = "T(I(i) + 2, J(i) - 4)"
    path.write_text(f"def f(float(E,F) T, int32(N) I, int32(N) J) -> (O) {{ O(i) = {read} where i in 0:N }}")
    inputs = {"T": np.arange(12).reshape(4, 3) / 4, "I": np.array([-2, -1, 0, 1]), "J": np.array([4, 5, 6, 4])}
    made = tabla.compile(path, inputs=inputs, pes=4)
    assert made.simulate(inputs).samples == 1
    assert made.evaluate(inputs)["O"].tolist() == [0.0, 1.0, 2.0, 2.25]


@pytest.mark.parametrize("offset", [Affine.of(-70_000), Affine.of(0, i=7_000)])
def test_a_static_part_that_no_word_can_make_up_for(offset: Affine) -> None:
    b = Builder()
    b.tensor("p", "input", 6)
    b.tensor("x", "input", 4)
    b.tensor("y", "value", 6)
    b.let("y", "i", Gather(tensor="x", subscripts=(Gathered(table=at("p", "i"), offset=offset),)), i=6)
    with pytest.raises(TablaError, match="positions in 'y' lie further from the words of their table than a word"):
        flatten_gathers(b.graph("far", {}, (("y", "y"),)), Q6_10)
