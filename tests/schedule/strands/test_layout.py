"""Layouts and places: which word lies where, and what a second bank changes."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabla.graph.graph import Linear
from tabla.schedule.mapping.places import EVERY, ROOT, Bank, Place, Spot
from tabla.schedule.strands.layout import Depths, Layout, hollow, is_scratch, preloaded, scratch
from tests.graph.examples import Builder, at, logistic, word
from tests.schedule.strands.layouts import words_of

LANE = Spot("lane", 0)
GRAPH = logistic(6)


def place(tensor: str, spot: Spot, *banks: Bank, shape: tuple[int, ...] = (6,), base: int = 0) -> Place:
    return Place(tensor=tensor, spot=spot, shape=shape, pes=4, banks=banks, base=base)


def layout(*places: Place) -> Layout:
    return Layout(graph=GRAPH, places={(each.tensor, each.spot): each for each in places})


@given(
    st.lists(st.integers(1, 7), min_size=1, max_size=3),
    st.integers(0, 2),
    st.integers(1, 5),
    st.sampled_from(["root", "lane", "every"]),
)
def test_a_place_gives_every_element_a_word_of_its_own(shape: list[int], axis: int, pes: int, kind: str) -> None:
    spot = Spot("lane", axis % len(shape)) if kind == "lane" else ROOT if kind == "root" else EVERY
    found = Place(tensor="x", spot=spot, shape=tuple(shape), pes=pes, banks=("model",), base=3)
    words = words_of(found)
    assert len(set(words.values())) == len(words)
    addresses = [address for _, address in words.values()]
    # From the base on without a gap; the place is as large as the fullest lane needs it.
    assert set(addresses) == set(range(3, 3 + found.words))


def test_a_row_of_the_spread_axis_lies_in_all_lanes_at_one_address() -> None:
    found = Place(tensor="w", spot=Spot("lane", 1), shape=(2, 6), pes=4, banks=("model",))
    assert (found.rows, found.strides, found.words) == (2, (2, 1), 4)
    assert words_of(found)[(1, 4)] == (0, 3) and words_of(found)[(1, 3)] == (3, 2)


def test_rows_of_the_spread_axis_lie_side_by_side() -> None:
    """Whichever axis is spread, its rows are innermost, so that a lane goes through a vector in steps of one."""
    found = Place(tensor="w", spot=Spot("lane", 0), shape=(6, 2), pes=4, banks=("model",))
    assert found.strides == (1, 2)
    assert words_of(found)[(4, 1)] == (0, 3) and words_of(found)[(4, 0)] == (0, 1)


def test_the_next_value_lies_where_the_model_lies() -> None:
    """An update overwrites its model, so both have one place."""
    made = layout(place("w", LANE, "model"))
    assert made.place("w.next", LANE) is made.place("w", LANE)
    assert made.holds("w.next", LANE) and not made.holds("w.next", ROOT)
    assert made.owner("w.next") == "w" and made.owner("p") == "p"
    with pytest.raises(KeyError):
        made.place("w", ROOT)


def test_a_second_bank_follows_the_first() -> None:
    """The first bank tells what is loaded from what each sample copies, so it stays the first."""
    made = layout(place("w", LANE, "model"), place("p", EVERY, "interim", shape=()))
    model, computed = made.widened("w.next", LANE), made.widened("p", EVERY)
    assert model is not None and computed is not None
    assert model.place("w", LANE).banks == ("model", "interim")
    assert computed.place("p", EVERY).banks == ("interim", "model")
    assert [bank for bank, _ in model.sources("w", LANE)] == ["model", "interim"]


def test_streamed_words_get_a_twin() -> None:
    """`data` is a ring of samples; a second copy of the words of one sample lies outside of it."""
    made = layout(place("x", LANE, "data"))
    twin = made.widened("x", LANE)
    assert twin is not None
    assert twin.place("x", LANE).banks == ("data",)
    assert [bank for bank, _ in twin.sources("x", LANE)] == ["data", "interim"]
    assert "x twin at lane[0]: interim[0] 2 words" in twin.text()


def test_after_two_banks_there_is_no_third() -> None:
    made = layout(place("w", LANE, "model"), place("x", LANE, "data"))
    for tensor in "wx":
        wide = made.widened(tensor, LANE)
        assert wide is not None and wide.widened(tensor, LANE) is None


def test_widening_makes_a_new_layout() -> None:
    made = layout(place("w", LANE, "model"))
    before = made.text()
    assert made.widened("w", LANE) is not made and made.text() == before
    with pytest.raises(FrozenInstanceError):
        made.places = {}  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        made.place("w", LANE).base = 1  # type: ignore[misc]


def test_partial_words_have_a_spot_of_their_own() -> None:
    assert is_scratch(scratch(0)) and is_scratch(scratch(7)) and scratch(0) != scratch(7)
    assert not is_scratch(ROOT) and not is_scratch(LANE)


def test_text() -> None:
    made = layout(place("w", LANE, "model", "interim", base=2), place("y", ROOT, "data", shape=()))
    assert made.text() == "w 6 at lane[0]: model+interim[2] 2 words\ny scalar at root: data[0] 1 words\n"
    assert made.depths == Depths()


def test_elements_that_nobody_writes_and_somebody_reads_are_zeros() -> None:
    """The last word of a is not written, and the result shows it; b is written whole, and nobody looks at c."""
    builder = Builder()
    builder.tensor("x", "input", 4)
    for name, size in (("a", 4), ("b", 3), ("c", 4)):
        builder.tensor(name, "value", size)
        builder.let(name, "i", Linear(terms=(word(at("x", "i")),)), i=3)
    assert hollow(builder.graph("holes", {}, (("a", "a"), ("b", "b")))) == {"a"}


def test_what_is_loaded_with_the_models() -> None:
    made = layout(
        place("x", LANE, "data"),
        place("w", LANE, "model"),
        place("w", ROOT, "memory"),
        place("p", EVERY, "interim", shape=()),
    )
    assert list(preloaded(made, frozenset())) == [("w", LANE), ("w", ROOT)]
    assert list(preloaded(made, frozenset({"p"}))) == [("p", EVERY), ("w", LANE), ("w", ROOT)]
