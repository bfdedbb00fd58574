"""The two files of golden vectors: what the reader of the test bench makes of them, and their size."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tabla
from tabla.build.bench.bench_files import bench_files
from tabla.build.bench.golden_file import container, golden_files, signed
from tabla.build.bench.vectors import golden

NET = """
model_input  x[{inputs}];
model_output y;
model        w[{inputs}];
gradient     g[{inputs}] -> w;
iterator     i[0:{inputs}];
mu = 0.25;
h = sum[i](w[i] * x[i]);
g[i] = (h - y) * x[i];
"""
READ = "import json, sys; sys.path.insert(0, '.'); from golden_file import GOLDEN; json.dump(GOLDEN, sys.stdout)"


def vectors(folder: Path, inputs: int, **options: Any) -> dict[str, Any]:
    (folder / "net.t").write_text(NET.format(inputs=inputs), encoding="utf-8")
    held = golden(tabla.compile(folder / "net.t", pes=4, effort=0, **options))
    assert held is not None
    return held


def read(golden_vectors: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What the test bench reads, without this package and without numpy."""
    for name, data in bench_files("net", "net", golden_vectors).items():
        (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    words = [sys.executable, "-I", "-S", "-c", READ]
    content: dict[str, Any] = json.loads(
        subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, check=True, text=True).stdout
    )
    return content


def packed(beats: Any, width: int) -> list[str]:
    """Each beat as a hexadecimal number, made of its bits as text."""
    mask = (1 << width) - 1
    rows = ["".join(f"{word & mask:0{width}b}" for word in reversed(row)) for row in beats.tolist()]
    return [f"{int(row, 2):x}" for row in rows]


@pytest.mark.parametrize(
    "options",
    [{}, {"format": "q4.4", "stream_words": 4}, {"format": "q5.7"}, {"format": "q8.24"}, {"model_guard": 6}],
)
def test_the_bench_reads_the_words_that_are_written(options: dict[str, Any], tmp_path: Path) -> None:
    held = vectors(tmp_path, 7, results=("h",), **options)
    seen, width = read(held, tmp_path), held["width"]
    assert held["thorough"]
    series: list[tuple[dict[str, Any], dict[str, Any]]] = [(held, seen), (held["extremes"], seen["extremes"])]
    for expected, found in series:
        assert found["load"] == packed(expected["load"], width) and found["load"]
        assert found["run"] == packed(expected["run"], width)
        assert found["outputs"] == expected["outputs"].tolist() and found["outputs"]
        places = np.flatnonzero(held["shown"]).tolist()
        assert found["dump"] == {str(place): int(expected["dump"][place]) for place in places}
    # Every model word is in the dump once, and a wide one in two words.
    assert len(seen["dump"]) == 7 * (2 if "model_guard" in options else 1)
    for expected, found in zip(held["predictions"], seen["predictions"], strict=True):
        assert found["run"] == packed(expected["run"], width) and found["first"] == expected["first"]
        assert found["outputs"] == expected["outputs"].tolist()
    if "model_guard" not in options:
        assert min(int(word) for word in held["extremes"]["load"].reshape(-1)) == -(1 << (width - 1))


@pytest.mark.parametrize(("text", "size"), [("q4.4", 1), ("q6.10", 2), ("q8.16", 4)])
def test_a_model_word_takes_a_container_in_the_load_and_one_in_the_dump(text: str, size: int, tmp_path: Path) -> None:
    """A large program has one series: a second one, of other words, would double the file."""
    small, large = (len(golden_files(vectors(tmp_path, n, format=text))["golden.bin"]) for n in (6000, 8000))
    lanes_and_root, marks, samples = 5 / 4, 1 / 8, 8
    # Each element is loaded once and dumped once, beside the root's words of the dump. Four samples have an element
    # each, and are predicted anew.
    assert (large - small) / 2000 <= size * (1 + lanes_and_root + samples) + lanes_and_root * marks + 0.01
    assert not vectors(tmp_path, 6000)["thorough"] and "extremes" not in vectors(tmp_path, 6000)


@given(st.integers(4, 32), st.data())
@settings(max_examples=60)
def test_words_are_shown_as_ports_show_them(width: int, data: st.DataObject) -> None:
    words = data.draw(st.lists(st.integers(-(1 << 40), 1 << 40), min_size=1))
    shown = signed(np.array(words), width)
    assert shown.dtype == container(width) and 8 * shown.itemsize in (8, 16, 32) and 8 * shown.itemsize >= width
    assert shown.itemsize == 1 or 4 * shown.itemsize < width
    for word, port in zip(words, shown.tolist(), strict=True):
        assert (word - port) % (1 << width) == 0 and -(1 << width) <= 2 * port < 1 << width
