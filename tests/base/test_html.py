"""Pictures and tables for notebooks: well-formed, escaped, within their frame, and seen on dark and light pages."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabla.base.html import COLOURS, Series, block, paragraph, picture, table

TEXT = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=20)
NUMBERS = st.lists(st.floats(-1e6, 1e6) | st.sampled_from([float("nan"), float("inf")]), max_size=12)
PAGES = ("#ffffff", "#111111", "#1e1e1e")
"""The backgrounds of a light notebook, and of dark ones: JupyterLab's and that of Visual Studio Code."""
SVG = "{http://www.w3.org/2000/svg}"


def brightness(colour: str) -> float:
    """The relative luminance of WCAG 2.2."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("colour", COLOURS)
def test_colours_are_seen_on_dark_and_light_pages(colour: str, page: str) -> None:
    light, dark = sorted((brightness(colour), brightness(page)), reverse=True)
    # WCAG asks for 3 to 1 of graphics.
    assert (light + 0.05) / (dark + 0.05) >= 3


@given(st.lists(st.tuples(TEXT, NUMBERS, st.booleans()), min_size=1, max_size=4), TEXT)
def test_a_picture_is_well_formed_and_in_its_frame(curves: list[tuple[str, list[float], bool]], title: str) -> None:
    series = [
        Series(name=name, x=range(len(y)), y=y, colour=COLOURS[n], joined=joined, names=[name] * len(y))
        for n, (name, y, joined) in enumerate(curves)
    ]
    root = ElementTree.fromstring(picture(series, across=title, up=title, title=title))
    width, height = (float(size) for size in root.attrib["viewBox"].split()[2:])
    for line in root.iter(f"{SVG}polyline"):
        for point in line.attrib["points"].split():
            x, y = map(float, point.split(","))
            assert 64 <= x <= width and 0 <= y <= height - 38
    for mark in (mark for mark in root.iter(f"{SVG}circle") if mark.find(f"{SVG}title") is not None):
        assert 64 <= float(mark.attrib["cx"]) <= width and 0 <= float(mark.attrib["cy"]) <= height - 38
    assert root.attrib["aria-label"] == title
    assert all(0 < float(text.attrib.get("y", 1)) < height for text in root.iter(f"{SVG}text"))
    # Texts and axes take the colour of the page.
    assert {text.attrib["fill"] for text in root.iter(f"{SVG}text")} == {"currentColor"}


def test_larger_values_stand_higher() -> None:
    found = picture([Series(name="a", x=(0, 1, 2), y=(1.0, 3.0, 2.0), colour=COLOURS[0])], across="", up="", title="")
    (points,) = re.findall(r"polyline points='([^']*)'", found)
    heights = [float(point.split(",")[1]) for point in points.split()]
    assert heights[1] < heights[2] < heights[0]


def test_ticks_are_round_numbers_in_order() -> None:
    found = picture([Series(name="a", x=(0, 40), y=(0.02, 0.26), colour=COLOURS[0])], across="", up="", title="")
    shown = re.findall(r"text-anchor='end'[^>]*>([^<]*)<", found)
    assert shown == ["0.05", "0.1", "0.15", "0.2", "0.25"]


@given(st.lists(st.lists(TEXT, min_size=2, max_size=2), max_size=4), TEXT)
def test_tables_escape_every_text(rows: list[list[str]], caption: str) -> None:
    root = ElementTree.fromstring(block(table(rows, head=("a<b", "&"), caption=caption), paragraph(caption)))
    cells = ["".join(cell.itertext()) for cell in root.iter("td")]
    assert cells == [cell for row in rows for cell in row]
    assert ["".join(cell.itertext()) for cell in root.iter("th")] == ["a<b", "&"]


def test_a_long_legend_goes_on_in_another_row() -> None:
    series = [Series(name="a rather long name " + c, x=(0, 1), y=(0.0, 1e7), colour=COLOURS[0]) for c in "abcd"]
    root = ElementTree.fromstring(picture(series, across="x", up="y", title=""))
    named = [text for text in root.iter(f"{SVG}text") if "long name" in (text.text or "")]
    assert len({text.attrib["y"] for text in named}) == 2
    assert float(root.attrib["height"]) > max(float(text.attrib["y"]) for text in named)
    assert {"0", "10 M"} <= {text.text for text in root.iter(f"{SVG}text")}
