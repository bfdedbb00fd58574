"""What notebooks show of results: a well-formed page for each, with escaped names, and one short line elsewhere."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import tabla
from tabla.driver import Build

TEXT = """n = 3; mu = 0.25;
model_input x[n]; model_output y;
model w[n];
gradient g[n] -> w;
iterator i[0:n];
h = sigmoid(sum[i](w[i] * x[i]));
g[i] = (h - y) * x[i];
"""
NAMES = ("<b>no</b>", 'yes & "more"')
"""Names of classes that would be markup."""
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    chance = np.random.default_rng(0)
    x = chance.uniform(-1, 1, (60, 3))
    return {"x": x, "y": np.array(NAMES)[(x.sum(axis=1) > 0).astype(int)]}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("notebook") / "p.t"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def made(file: Path) -> Build:
    return tabla.compile(file, pes=4)


def page(thing: Any) -> ElementTree.Element:
    return ElementTree.fromstring(thing._repr_html_())


def words(root: ElementTree.Element) -> str:
    return " ".join(root.itertext())


def one_line(thing: object) -> str:
    text = repr(thing)
    assert "\n" not in text and len(text) <= 160
    return text


def test_training_testing_and_predicting(made: Build, data: dict[str, Any]) -> None:
    trained = made.train(data, split=(0.2, 0.2), epochs=3, classes=["y"])
    assert one_line(trained).startswith("<Training p: 36 samples, 3 epochs, q6.10, test accuracy")
    shown = page(trained)
    # Three parts of the data, each with the accelerator and float64, and four losses in each.
    curves = [line.attrib["points"].split() for line in shown.iter(f"{SVG}polyline")]
    assert [len(curve) for curve in curves] == [4] * 6
    assert all(name in words(shown) for name in (*NAMES, "validation", "float64", "test accuracy"))

    tested = made.test(data, weights=trained.stored(), classes=["y"])
    assert one_line(tested).startswith("<Tested p: 60 samples, q6.10, accuracy")
    assert all(name in words(page(tested)) for name in NAMES)

    found = made.predict({"x": data["x"]}, weights=trained.stored())
    assert set(found) == {"y", "h"} and NAMES[0] in words(page(found)) and "and 50 more" in words(page(found))
    assert type(pickle.loads(pickle.dumps(found))) is dict


def test_formats_and_explorations(file: Path, data: dict[str, Any]) -> None:
    compared = tabla.formats(file, data, split=(0.2, 0.2), epochs=1, widths=(8, 9), guards=(0, 4), classes=["y"])
    assert one_line(compared).startswith("<FormatTable p: 4 number formats")
    assert len(list(page(compared).iter(f"{SVG}polyline"))) == 3

    explored = tabla.explore(file, pes=[2, 4], format=["q6.10", "q4.12"])
    assert one_line(explored).startswith("<Exploration p: 4 points")
    shown = page(explored)
    assert len([mark for mark in shown.iter(f"{SVG}circle") if mark.find(f"{SVG}title") is not None]) == 4
    assert "samples/s" in words(shown)


def test_builds_and_bounds(made: Build) -> None:
    report = made.report()
    assert (
        one_line(report)
        == f"<BuildReport p: 4 PEs, q6.10, {report.cycles} cycles per sample, {report.ratio:.2f} times the bound>"
    )
    assert "h = sigmoid(sum[i](w[i] * x[i]))" in words(page(report))
    assert one_line(made.bound) == f"<Bound {made.bound.cycles} cycles, set by {made.bound.binding}>"
    assert all(term in words(page(made.bound)) for term in made.bound.terms)
