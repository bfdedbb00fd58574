"""Fits against the array itself: which lane has which word, point by point, and what the machine computes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.graph.accesses import spread
from tabla.graph.graph import (
    Affine,
    Compare,
    Divide,
    Extreme,
    Function,
    Graph,
    Index,
    Linear,
    Operation,
    Product,
    Read,
    Statement,
    Term,
)
from tabla.schedule.check import check
from tabla.schedule.mapping.fit import AT_ROOT, Fit, fits, read_from_bus, without_bus
from tabla.schedule.mapping.places import ALL, EVERY, ROOT, Span, Spot
from tabla.schedule.placing.build import schedule_mapping
from tests.draws import draws
from tests.graph.examples import Builder, at, product, word
from tests.languages.tabla.random_programs import programs
from tests.schedule.agreement import Q6_10, agree_on, shaped_graph
from tests.schedule.mapping.single import legal_of, one_in_its_way, ways
from tests.schedule.strands.scans import Shape, scan_graph

PES = 3
EXTENT = 2 * PES + 1
"""More than two rows of lanes: a subscript that only begins in step with the lanes is found out."""


# ---- which indices fit, by going through all points


def lane_offset(subscripts: Sequence[Affine], index: str, points: Sequence[dict[str, int]]) -> int | str | None:
    """Say in which lane the element of each point lies: the offset to the index, modulo the lanes.

    "any" if the element does not depend on the index; None if no spread of one axis has it in the index's lane.
    """

    def moves(subscript: Affine) -> bool:
        return any(subscript.at({**point, index: 0}) != subscript.at({**point, index: 1}) for point in points)

    moving = [d for d, subscript in enumerate(subscripts) if moves(subscript)]
    if not moving:
        return "any"
    if len(moving) > 1:
        return None
    offsets = {(subscripts[moving[0]].at(point) - point[index]) % PES for point in points}
    return offsets.pop() if len(offsets) == 1 else None


def fitting(statement: Statement) -> set[tuple[str, str]]:
    """The (way, index) that the array can do, for sums of one term and for comparisons."""
    box = statement.box
    points = [
        dict(zip(box, values, strict=True))
        for values in itertools.product(*(range(i.low, i.high) for i in box.values()))
    ]
    found = {("root", "")}
    for index in box:
        reads = [lane_offset(read.subscripts, index, points) for read in statement.reads]
        write = lane_offset(statement.write, index, points)
        offsets = {offset for offset in (*reads, write) if offset != "any"}
        if None in offsets or len(offsets) != 1:
            continue
        if write != "any":
            found.add(("lane", index))
        elif isinstance(statement.operation, Linear | Extreme):
            found.add(("tree", index))
    return found


@st.composite
def statements(draw: st.DrawFn) -> Graph:
    """One statement over i and j that sums, compares or takes the largest of reads at all kinds of subscripts."""

    def subscript(names: str) -> Affine:
        coefficients = {name: draw(st.sampled_from([0, 0, 1, 1, 1, 2, -1])) for name in names}
        lowest = sum(c * (EXTENT - 1) for c in coefficients.values() if c < 0)
        return Affine.make(draw(st.integers(0, PES)) - lowest, coefficients)

    kind = draw(st.sampled_from(["sum", "pointwise", "compare", "largest"]))
    reduced = "j" if kind in ("sum", "largest") else ""
    outputs = "i" if reduced else "ij"
    box = {name: Index(name=name, low=0, high=EXTENT) for name in "ij"}
    reads = []
    for name in "xw":
        subscripts = tuple(subscript("ij") for _ in range(draw(st.integers(0, 2))))
        reads.append(Read(tensor=name, subscripts=subscripts))
    if reduced and not any("j" in read.names for read in reads):
        reads[0] = Read(tensor="x", subscripts=(Affine.of(j=1),))
    operation: Operation
    match kind:
        case "compare":
            operation = Compare(op="<", left=reads[0], right=reads[1])
        case "largest":
            operation = Extreme(op="max", operands=(reads[0],), reduce=("j",))
            if "j" not in reads[0].names:
                operation = Extreme(op="max", operands=(at("x", "j"),), reduce=("j",))
        case _:
            operation = Linear(terms=(Term(factors=(reads[0], reads[1]), reduce=tuple(reduced)),))
    builder = Builder()
    builder.tensor("y", "value", *(EXTENT for _ in outputs))
    builder.let("y", outputs, operation, reduced, **{name: EXTENT for name in "ij"})
    for read in builder.statements[0].reads:
        builder.tensor(read.tensor, "input", *(s.bounds(box)[1] + 1 for s in read.subscripts))
    return builder.graph("single", {}, (("y", "y"),))


@settings(max_examples=400)
@given(statements())
def test_exactly_the_indices_whose_words_lie_in_the_lane_that_needs_them(graph: Graph) -> None:
    (statement,) = graph.statements
    found = list(fits(statement, graph, PES, frozenset()))
    assert {(fit.way, fit.index) for fit in found} == fitting(statement)
    assert len({(fit.way, fit.index) for fit in found}) == len(found)
    assert found[-1].way == "root", "the last one is always possible"


@settings(max_examples=200)
@given(statements())
def test_needs_are_the_lanes_of_the_points(graph: Graph) -> None:
    """Every read has one need; a spread tensor's element lies in the lane of the point that reads it."""
    (statement,) = graph.statements
    for fit in fits(statement, graph, PES, frozenset()):
        assert {tensor for tensor, _ in fit.needs} == set(statement.sources)
        for read in statement.reads:
            spots = {spot for tensor, spot in fit.needs if tensor == read.tensor}
            if fit.way == "root":
                assert spots == {ROOT}
            elif fit.index not in read.names:
                assert spots & {ROOT if fit.bus == read.tensor else EVERY}
            else:
                (axis,) = (d for d, s in enumerate(read.subscripts) if fit.index in s.names)
                assert Spot("lane", axis) in spots
                for value in range(EXTENT):
                    point = {name: 0 for name in statement.box} | {fit.index: value}
                    assert (read.subscripts[axis].at(point) - value - fit.offset) % PES == 0


# ---- the machine computes the right words in every way


@draws(20, 60)
@given(st.booleans().flatmap(lambda learns: programs(learns=learns)), st.sampled_from([1, 2, 3, 4]), st.integers(0, 99))
def test_every_fit_of_random_programs_runs(text: str, pes: int, seed: int) -> None:
    graph = shaped_graph(text)
    for statement, fit, mapping in one_in_its_way(legal_of(graph, Q6_10), pes):
        schedule = schedule_mapping(graph, mapping, Q6_10)
        assert schedule is not None, f"s{statement.id}: {fit.text()}"
        check(schedule)
        agree_on(schedule, samples=2, seed=seed)


@settings(max_examples=60)
@given(statements(), st.sampled_from([1, 2, 3, 4]), st.integers(0, 99))
def test_every_fit_of_single_statements_runs(graph: Graph, pes: int, seed: int) -> None:
    for _, fit, mapping in one_in_its_way(legal_of(graph, Q6_10), pes):
        schedule = schedule_mapping(graph, mapping, Q6_10)
        assert schedule is not None, fit.text()
        check(schedule)
        agree_on(schedule, samples=2, seed=seed)


# ---- one rule each


def graph_of(operation: Operation, names: str = "i", reduced: str = "", **shapes: tuple[int, ...]) -> Graph:
    """One statement ``y[names] = operation`` with extents of 4; tensors `shapes` are inputs, but models for w and v."""
    builder = Builder()
    for name, shape in shapes.items():
        builder.tensor(name, "model" if name in "wv" else "input", *shape)
    builder.tensor("y", "value", *(4 for _ in names))
    builder.let("y", names, operation, reduced, **dict.fromkeys("ijk", 4))
    return builder.graph("one", {}, (("y", "y"),))


def fits_of(graph: Graph, *, static: tuple[str, ...] = (), sequencers: int = 1) -> list[Fit]:
    return list(fits(graph.statements[0], graph, 4, frozenset(static), sequencers=sequencers))


def test_the_largest_free_operand_takes_the_bus() -> None:
    operation = Linear(terms=(product(at("w", "i"), at("x", "j")), product(at("v", "i"), at("z"))))
    graph = graph_of(operation, "ij", w=(4,), v=(4,), x=(4,), z=())
    along_i = fits_of(graph)[0]
    assert (along_i.way, along_i.index, along_i.bus) == ("lane", "i", "x")
    assert set(along_i.needs) == {("w", Spot("lane", 0)), ("v", Spot("lane", 0)), ("x", ROOT), ("z", EVERY)}


def test_what_never_changes_lies_in_every_lane() -> None:
    graph = graph_of(Linear(terms=(product(at("w", "i"), at("x", "j")),)), "ij", w=(4,), x=(4,))
    assert fits_of(graph, static=("x",))[0].bus == ""
    assert ("x", EVERY) in fits_of(graph, static=("x",))[0].needs


def test_a_word_that_is_taken_away_does_not_ride_the_bus() -> None:
    """An addend comes over the bus; a negative one has no port with a sign."""
    for sign, bus in ((1, "z"), (-1, "")):
        graph = graph_of(Linear(terms=(word(at("x", "i")), word(at("z"), sign))), x=(4,), z=())
        assert fits_of(graph)[0].bus == bus


def test_a_tensor_that_is_read_twice_does_not_ride_the_bus() -> None:
    graph = graph_of(Linear(terms=(product(at("w", "i"), at("z")), word(at("z")))), w=(4,), z=())
    assert fits_of(graph)[0].bus == ""


def test_the_lanes_get_their_own_words_of_a_tensor_that_the_root_reads_too() -> None:
    """The root adds x[0] to a tree's sum of w[j] x[k] over j, and broadcasts x[k]."""
    first = Read(tensor="x", subscripts=(Affine.of(),))
    terms = (word(first), product(at("w", "j"), at("x", "k"), "j"))
    graph = graph_of(Linear(terms=terms), "k", "j", w=(4,), x=(4,))
    (tree,) = (fit for fit in fits_of(graph) if fit.way == "tree")
    assert tree.bus == "x" and read_from_bus(graph.statements[0], tree) == at("x", "k")
    for _, fit, mapping in one_in_its_way(legal_of(graph, Q6_10), PES):
        schedule = schedule_mapping(graph, mapping, Q6_10)
        assert schedule is not None, fit.text()
        check(schedule)
        agree_on(schedule, samples=2, seed=1)


def test_functions_quotients_and_products_are_the_roots() -> None:
    x = at("x", "i")
    for operation in (Function(name="tanh", operand=x), Divide(left=x, right=x), Product(operand=x, reduce=())):
        assert [fit.way for fit in fits_of(graph_of(operation, x=(4,)))] == ["root"]


def test_several_sequencers_have_no_tree_that_compares() -> None:
    graph = graph_of(Extreme(op="max", operands=(at("x", "j"),), reduce=("j",)), "", "j", x=(4,))
    assert [fit.way for fit in fits_of(graph)] == ["tree", "root"]
    assert [fit.way for fit in fits_of(graph, sequencers=2)] == ["root"]


def test_a_shifted_word_beside_a_tree_stays_at_the_root() -> None:
    """The tree's sum is shifted as a whole, so a word beside it would need a shift of its own."""
    terms = (product(at("w", "j"), at("x", "j"), "j"), word(at("z")))
    for shift, expected in ((0, ["tree", "root"]), (2, ["root"])):
        graph = graph_of(Linear(terms=terms, shift=shift), "", "j", w=(4,), x=(4,), z=())
        assert [fit.way for fit in fits_of(graph)] == expected


def test_offsets_must_agree_modulo_the_lanes() -> None:
    def shifted(offset: int) -> Graph:
        read = Read(tensor="x", subscripts=(Affine.of(offset, i=1),))
        return graph_of(Linear(terms=(product(at("w", "i"), read),)), x=(9,), w=(4,))

    assert [fit.way for fit in fits_of(shifted(4))] == ["lane", "root"]
    assert [fit.way for fit in fits_of(shifted(3))] == ["root"]


@pytest.mark.parametrize(
    ("subscripts", "expected"),
    [
        ((Affine.of(2, i=1),), (0, 2)),
        ((Affine.of(0, j=1), Affine.of(-1, i=1)), (1, -1)),
        ((Affine.of(0, i=2),), None),
        ((Affine.of(3, i=-1),), None),
        ((Affine.of(0, i=1, j=1),), None),
        ((Affine.of(0, i=1), Affine.of(0, i=1)), None),
        ((Affine.of(0, j=1),), None),
    ],
)
def test_spread(subscripts: tuple[Affine, ...], expected: tuple[int, int] | None) -> None:
    assert spread(subscripts, "i") == expected


def test_a_sum_over_all_groups_needs_the_tree() -> None:
    graph = graph_of(Linear(terms=(product(at("w", "j"), at("x", "j"), "j"),)), "", "j", w=(4,), x=(4,))
    crossing = replace(graph.statements[0], crosses=True)
    assert [fit.way for fit in fits(crossing, graph, 4, frozenset())] == ["tree"]


def test_without_bus() -> None:
    fit = Fit(way="lane", index="i", needs=(("w", Spot("lane", 0)), ("x", ROOT)), bus="x", parts=2, early=1)
    local = without_bus(fit)
    assert (local.bus, local.early, local.parts) == ("", 0, 2)
    assert local.needs == (("w", Spot("lane", 0)), ("x", EVERY))


def test_the_root_keeps_what_it_reads_itself() -> None:
    """In x + sum[j](x * w[j]) the root adds x, whether the lanes take it from the bus or from copies."""
    own, summed = Term(factors=(at("x"),)), product(at("x"), at("w", "j"), "j")
    graph = graph_of(Linear(terms=(own, summed)), "", "j", w=(4,), x=())
    (tree,) = (fit for fit in fits(graph.statements[0], graph, 4, frozenset()) if fit.way == "tree")
    assert tree.bus == "x" and tree.shared
    assert {("x", ROOT), ("x", EVERY)} <= set(without_bus(tree).needs)
    alone = graph_of(Linear(terms=(summed,)), "", "j", w=(4,), x=())
    (tree,) = (fit for fit in fits(alone.statements[0], alone, 4, frozenset()) if fit.way == "tree")
    assert tree.bus == "x" and not tree.shared
    assert ("x", ROOT) not in without_bus(tree).needs


def test_text() -> None:
    assert AT_ROOT.text() == "root"
    assert Fit(way="tree", index="j", bus="x").text() == "tree j over lanes, x over the bus"
    spanned = Fit(way="lane", index="i", span=Span(first=4, lanes=4), bus="d", early=2, parts=3)
    assert spanned.text() == "lane i over lanes 4 to 7, d over the bus, 2 turns before, in 3 parts"
    assert Fit(way="lane", index="i", bus="d", as_made=True).text().endswith("d over the bus as it is made")
    assert Fit(way="root", through=True).text() == "root, passed on in the result register"
    assert ALL == Span()


def test_rows_of_running_sums_run_over_lanes() -> None:
    graph = scan_graph(Shape(rows=4))
    assert [(fit.way, fit.index) for fit in ways(graph.statements[0], graph, 2)] == [("lane", "b"), ("root", "")]
    product_of = scan_graph(Shape(kind="product", rows=4))
    assert [fit.way for fit in ways(product_of.statements[0], product_of, 2)] == ["root"]
