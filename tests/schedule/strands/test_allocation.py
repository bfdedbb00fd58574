"""Allocation: no two places share a word, depths are what is used, banks are doubled only where words clash."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.schedule.mapping.mapping import Mapping, static_tensors
from tabla.schedule.mapping.places import ROOT, Place, Spot
from tabla.schedule.strands import allocation
from tabla.schedule.strands.bodies import Clash
from tabla.schedule.strands.layout import Layout, is_scratch
from tests.languages.tabla.random_programs import programs
from tests.schedule.agreement import Q6_10, shaped_graph
from tests.schedule.mapping.single import legal_of, one_in_its_way
from tests.schedule.strands.layouts import layout_of, mappings, words_of

both_kinds = st.booleans().flatmap(lambda learns: programs(learns=learns))


def memories(place: Place) -> list[str]:
    """The memories that hold a place."""
    return [f"root {bank}" if place.spot.kind == "root" else bank for bank in place.banks]


def every_place(layout: Layout) -> list[Place]:
    return [*layout.places.values(), *layout.twins.values()]


@settings(max_examples=120)
@given(both_kinds, st.sampled_from([1, 2, 3, 4, 16]))
def test_places_never_overlap(text: str, pes: int) -> None:
    """Word by word: no address of a memory belongs to two places, and the depths end behind the last."""
    for mapping in mappings(shaped_graph(text), pes):
        layout = layout_of(mapping)
        assert layout is not None
        taken: dict[str, dict[int, Place]] = {}
        for place in every_place(layout):
            addresses = {address for _, address in words_of(place).values()}
            for memory in memories(place):
                for address in addresses:
                    other = taken.setdefault(memory, {}).setdefault(address, place)
                    assert other is place, f"{memory}[{address}]: {place.tensor} and {other.tensor}"
        ends = {memory: max(addresses) + 1 for memory, addresses in taken.items()}
        depths = layout.depths
        lanes = (depths.model, depths.data, depths.interim)
        assert lanes == tuple(ends.get(memory, 0) for memory in ("model", "data", "interim"))
        assert (depths.root_data, depths.root_memory) == (ends.get("root data", 0), ends.get("root memory", 0))


@settings(max_examples=120)
@given(both_kinds, st.sampled_from([1, 2, 3, 4, 16]))
def test_banks_say_what_is_in_them(text: str, pes: int) -> None:
    """Streamed words in `data`, loaded ones in `model`, the root's own in `memory`; shapes and lanes as mapped."""
    for mapping in mappings(shaped_graph(text), pes):
        layout = layout_of(mapping)
        assert layout is not None
        graph, static = mapping.graph, static_tensors(mapping.graph)
        wanted = {(layout.owner(tensor), spot) for tensor, spot in (*mapping.homes.items(), *mapping.copies)}
        for (tensor, spot), place in layout.places.items():
            assert (place.tensor, place.spot) == (tensor, spot)
            if is_scratch(spot):
                continue
            assert (tensor, spot) in wanted and place.shape == graph.tensors[tensor].shape
            if graph.tensors[tensor].role in ("input", "label"):
                assert place.banks == ("data",)
            elif spot == ROOT:
                assert place.banks == ("memory",)
            else:
                loaded = tensor in static or (tensor in graph.updates and mapping.homes[tensor] == spot)
                assert place.banks[0] == ("model" if loaded else "interim")
        # What is not at the root is missed by nobody: every other place is there.
        assert {key for key in wanted - layout.places.keys()} <= {(tensor, ROOT) for tensor, _ in wanted}
        assert all(twin.banks == ("interim",) for twin in layout.twins.values())
        assert all(layout.places[key].banks == ("data",) for key in layout.twins)


def in_lanes(text: str, pes: int = 4) -> Mapping:
    """The last statement of a text over the lanes, all others at the root."""
    graph = shaped_graph(text)
    found = [m for statement, fit, m in one_in_its_way(legal_of(graph, Q6_10), pes) if fit.way == "lane"]
    return found[-1]


def test_words_of_one_product_lie_in_two_banks() -> None:
    """Two models of the lanes: `model` gives one word a cycle, so the first of them lies in `interim` too."""
    layout = layout_of(in_lanes("model w[8]; model v[8]; iterator i[0:8]; y[i] = w[i] * v[i];"))
    assert layout is not None
    banks = {tensor: layout.places[(tensor, Spot("lane", 0))].banks for tensor in "wv"}
    assert sorted(banks.values()) == [("model",), ("model", "interim")]
    doubled = next(place for place in layout.places.values() if len(place.banks) == 2)
    assert doubled.base == 0, "shared addresses come first, so that no gap opens"


def test_streamed_words_of_one_product_get_a_twin() -> None:
    layout = layout_of(in_lanes("model_input x[8]; model_input z[8]; iterator i[0:8]; y[i] = x[i] * z[i];"))
    assert layout is not None and len(layout.twins) == 1


def test_a_square_needs_no_second_bank() -> None:
    layout = layout_of(in_lanes("model_input x[8]; iterator i[0:8]; y[i] = x[i] * x[i];"))
    assert layout is not None and not layout.twins


def test_words_of_different_banks_stay_where_they_are() -> None:
    layout = layout_of(in_lanes("model_input x[8]; model w[8]; iterator i[0:8]; y[i] = x[i] * w[i];"))
    assert layout is not None and not layout.twins
    assert all(len(place.banks) == 1 for place in layout.places.values())


def test_when_two_banks_are_not_enough_there_is_no_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clash that no widening resolves ends the search, however often tensors are widened."""
    mapping = in_lanes("model w[8]; model v[8]; iterator i[0:8]; y[i] = w[i] * v[i];")
    seen = []

    def hopeless(_: object, layout: Layout, *rest: object) -> None:
        seen.append(sum(len(place.banks) for place in layout.places.values()))
        raise Clash([("w", Spot("lane", 0)), ("v", Spot("lane", 0))])

    monkeypatch.setattr(allocation, "_generate", hopeless)
    assert layout_of(mapping) is None
    # Both tensors were given a second bank, one after the other.
    assert [after - before for before, after in itertools.pairwise(seen)] == [1, 1]


def test_what_leaves_as_it_is_made_has_no_place_at_the_root() -> None:
    text = "model_input x[8]; model w[4][8]; iterator i[0:8]; iterator k[0:4]; y[k] = sum[i](w[k][i] * x[i]);"
    graph = shaped_graph(text)
    for statement, fit, mapping in one_in_its_way(legal_of(graph, Q6_10), 4):
        layout = layout_of(mapping)
        assert layout is not None
        if fit.way in ("root", "tree"):
            assert not layout.holds(statement.target, ROOT), fit.text()


def test_what_somebody_reads_at_the_root_has_its_place() -> None:
    text = """
    model_input x[8]; model w[4][8]; iterator i[0:8]; iterator k[0:4];
    y[k] = sum[i](w[k][i] * x[i]); z = y[0] * y[1];
    """
    graph = shaped_graph(text)
    for _, fit, mapping in one_in_its_way(legal_of(graph, Q6_10), 4):
        layout = layout_of(mapping)
        assert layout is not None and layout.holds("y", ROOT), fit.text()


def test_words_on_their_way_up_the_tree_to_a_function_have_no_place() -> None:
    """A function takes them as they come, so nobody reads them in the root's memory."""
    text = "model_input x; model w[8]; iterator i[0:8]; a[i] = w[i] * x; h[i] = sigmoid(a[i]);"
    graph = shaped_graph(text)
    lanes = [m for s, fit, m in one_in_its_way(legal_of(graph, Q6_10), 4) if s.target == "a" and fit.way == "lane"]
    (mapping,) = lanes
    assert ("a", ROOT) in mapping.copies
    layout = layout_of(mapping)
    assert layout is not None and not layout.holds("a", ROOT) and layout.holds("a", Spot("lane", 0))


def test_the_order_of_places_does_not_depend_on_addresses() -> None:
    """The stream follows the order in which places were found, whichever places share two banks."""
    text = "model v[8]; model w[8]; model_input a[8]; iterator i[0:8]; y[i] = w[i] * v[i] + a[i];"
    layout = layout_of(in_lanes(text))
    assert layout is not None
    assert list(layout.places) == sorted(layout.places)
    bases = [place.base for place in layout.places.values() if "model" in place.banks]
    assert bases != sorted(bases) or len(bases) < 2
