"""The order of factors: the same products, fewer sources."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tabla.program.encode import ordered_operands
from tabla.schedule.strands.strand import Operation, Strand

A = ("zero", "model", "data", "interim")
B = ("one", "model", "data", "interim", "bus")


def strands(pairs: list[tuple[str, str]]) -> list[Strand]:
    return [
        Strand(unit="lane_issue", start=n, body=(Operation(fields={"a": a, "b": b, "shift": n}),))
        for n, (a, b) in enumerate(pairs)
    ]


def pairs_of(found: list[Strand]) -> list[tuple[str, str]]:
    return [(str(o.field("a")), str(o.field("b"))) for s in found for o in s.body]


@given(st.lists(st.tuples(st.sampled_from(A), st.sampled_from(B)), max_size=12))
def test_products_stay_and_no_operand_gets_what_it_cannot_have(pairs: list[tuple[str, str]]) -> None:
    before = strands(pairs)
    after = ordered_operands({"lane_issue_0": before})["lane_issue_0"]
    found = pairs_of(after)
    assert [sorted(pair) for pair in found] == [sorted(pair) for pair in pairs]
    assert all(a in A and b in B for a, b in found)
    assert [s.body[0].field("shift") for s in after] == [s.body[0].field("shift") for s in before]
    # Zero makes any product nothing, whatever is beside it.
    count = [len({p[side] for p in ps if p[0] != "zero"} - {"one"}) for ps in (pairs, found) for side in (0, 1)]
    assert max(0, count[2] - 2) + max(0, count[3] - 2) <= max(0, count[0] - 2) + max(0, count[1] - 2)


def test_two_layers_need_two_sources_beside_the_models() -> None:
    pairs = [
        ("model", "data"),
        ("model", "interim"),
        ("model", "bus"),
        ("interim", "bus"),
        ("data", "bus"),
        ("model", "one"),
    ]
    found = pairs_of(ordered_operands({"lane_issue": strands(pairs)})["lane_issue"])
    assert {b for _, b in found} == {"model", "bus", "one"}
    assert {a for a, _ in found} == {"model", "data", "interim"}
