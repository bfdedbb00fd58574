"""Pictures and pages are well-formed, their boxes do not overlap, and every statement is on them."""

from __future__ import annotations

import xml.etree.ElementTree as Xml
from html.parser import HTMLParser
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.build.files.graph_picture import boxes_and_edges, dot, svg
from tabla.build.files.layered import GAP, Picture, arrange
from tabla.build.files.schedule_page import schedule_json, schedule_page
from tabla.driver import Build
from tests.build.files.examples import NAMES, built

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module", params=NAMES)
def made(request: pytest.FixtureRequest) -> Build:
    return built(request.param)


def test_every_statement_and_tensor_has_a_box(made: Build) -> None:
    boxes, edges = boxes_and_edges(made.graph)
    names = {box.name for box in boxes}
    assert {f"s{s.id}" for s in made.graph.statements} <= names
    read = {r.tensor for s in made.graph.statements for r in s.reads}
    outside = {t.name for t in made.graph.tensors.values() if t.role in ("input", "label", "model")}
    assert {f"t {name}" for name in read & outside} <= names
    assert {end for edge in edges for end in edge} <= names


def test_svg_is_well_formed_and_boxes_do_not_overlap(made: Build) -> None:
    root = Xml.fromstring(svg(made.graph))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    boxes = [
        tuple(float(r.attrib[k]) for k in ("x", "y", "width", "height"))
        for r in root.iter(f"{SVG}rect")
        if r.attrib.get("rx") == "5"
    ]
    assert len(boxes) == len(boxes_and_edges(made.graph)[0])
    for x, y, w, h in boxes:
        assert 0 <= x and x + w <= width and 0 <= y and y + h <= height
    for (x, y, w, h), (u, v, a, b) in combinations(boxes, 2):
        assert x + w <= u or u + a <= x or y + h <= v or v + b <= y


def test_dot_names_every_box_once(made: Build) -> None:
    text = dot(made.graph)
    boxes, edges = boxes_and_edges(made.graph)
    assert text.count(" [label=") == len(boxes)
    assert text.count(" -> ") == len(edges)
    assert text.startswith(f'digraph "{made.name}" {{')


class Tags(HTMLParser):
    """A parser that counts tags and checks that they nest."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.external: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.external += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "br", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_page_stands_alone_and_its_tags_nest(made: Build) -> None:
    tags = Tags()
    page = schedule_page(made.schedule, made.bound)
    tags.feed(page.replace("<!doctype html>", ""))
    assert tags.external == [] and tags.open == []
    # The table of costs has a row for each statement or move, and a row of heads.
    assert tags.seen.count("tr") == len({p.task.name for p in made.schedule.placed}) + 1


def test_schedule_json(made: Build) -> None:
    record = schedule_json(made.schedule)
    assert record["schema"] == "tabla-schedule-1"
    for strands in record["units"].values():
        for first, second in pairwise(strands):
            assert first["end"] <= second["start"]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[dict[str, float], list[tuple[str, str]]]:
    count = draw(st.integers(0, 14))
    widths = {f"n{k}": float(draw(st.integers(20, 300))) for k in range(count)}
    pairs = [(f"n{a}", f"n{b}") for a in range(count) for b in range(a + 1, count)]
    return widths, draw(st.lists(st.sampled_from(pairs), unique=True, max_size=30)) if pairs else []


def test_layout_of_nothing() -> None:
    assert arrange({}, []) == Picture(places={}, bends={}, width=0.0, layers=0)


@settings(deadline=None, max_examples=60)
@given(graphs())
def test_layout(graph: tuple[dict[str, float], list[tuple[str, str]]]) -> None:
    widths, edges = graph
    picture = arrange(widths, edges)
    for a, b in edges:
        assert picture.places[a].layer < picture.places[b].layer
        between = range(picture.places[a].layer + 1, picture.places[b].layer)
        assert [p.layer for p in picture.bends[a, b]] == list(between)
    for a, b in combinations(widths, 2):
        first, second = picture.places[a], picture.places[b]
        if first.layer == second.layer:
            assert abs(first.x - second.x) >= (widths[a] + widths[b]) / 2 + GAP - 1e-6
    for name, width in widths.items():
        assert -1e-6 <= picture.places[name].x - width / 2
        assert picture.places[name].x + width / 2 <= picture.width + 1e-6
    assert picture == arrange(widths, edges)


def test_a_picture_of_a_thousand_statements_takes_seconds() -> None:
    """All statements read the same box, so the number of bends grows with the square of the number of statements."""
    names = [f"s{k}" for k in range(1000)]
    edges = [("x", n) for n in names] + list(pairwise(names))
    picture = arrange(dict.fromkeys(["x", *names], 50.0), edges)
    assert picture.layers == 1001
    assert sum(map(len, picture.bends.values())) < 20 and picture.bends["x", "s2"]
