"""The file of records: what is kept, in which order, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tabla.base.source import TablaError
from tabla.learn.explore.records import NAME, Records


def test_figures_are_there_as_soon_as_they_are_added(tmp_path: Path) -> None:
    first = Records.of(tmp_path / "r", "q")
    first.add("b", {"cycles": 2})
    first.add("a", {"cycles": 1})
    assert Records.of(tmp_path / "r", "q").found == {"b": {"cycles": 2}, "a": {"cycles": 1}}


def test_a_line_that_was_cut_off_is_dropped(tmp_path: Path) -> None:
    Records.of(tmp_path / "r", "q").add("a", {"cycles": 1})
    path = tmp_path / "r" / NAME
    path.write_text(path.read_text() + '{"task": "b", "cyc')
    again = Records.of(tmp_path / "r", "q")
    assert list(again.found) == ["a"]
    again.add("b", {"cycles": 3})
    assert list(Records.of(tmp_path / "r", "q").found) == ["a", "b"]


def test_the_end_does_not_depend_on_who_was_first(tmp_path: Path) -> None:
    texts = []
    for name, keys in (("x", "abc"), ("y", "cab")):
        records = Records.of(tmp_path / name, "q")
        for key in keys:
            records.add(key, {"n": key})
        records.finish(["b", "c", "missing"])
        texts.append((tmp_path / name / NAME).read_text())
    assert texts[0] == texts[1]
    assert [json.loads(line).get("task") for line in texts[0].splitlines()] == [None, "b", "c", "a"]


_HEAD = '{"schema": "tabla-explore-records-1", "question": "q"}\n'
_BUILT = {
    "task": "build 1 q6.10 0 1 0",
    "cycles": 3,
    "latency": 4,
    "ratio": 1.5,
    "resources": {"LUT": 1, "FF": 2, "DSP": 0, "RAM": 1},
    "megahertz": {"6": 80.5, "5G": None},
}
DAMAGED = [
    json.dumps(_BUILT | change)
    for change in (
        {"cycles": None},
        {"cycles": "3"},
        {"ratio": None},
        {"latency": float("nan")},
        {"resources": {"LUT": 10**30}},
        {"resources": {"other": 1}},
        {"megahertz": [80.5]},
        {"megahertz": {"6": "fast"}},
        {"refused": "no"},
        {"metric_name": 5},
        {"task": "learn 1 q6.10 0 1 0", "metric_name": "accuracy"},
        {"task": "learn 1 q6.10 0 1 0", "metric": 0.5},
        {"task": "synth 1 q6.10 0 1 2 LFE5U-85F:6"},
        {"task": ["build"]},
    )
]


def test_figures_that_are_whole_are_taken(tmp_path: Path) -> None:
    learnt = {"task": "learn 1 q6.10 0 1 0", "metric": None, "metric_name": "r2", "overflows": 1}
    (tmp_path / NAME).write_text(_HEAD + json.dumps(_BUILT) + "\n" + json.dumps(learnt) + "\n")
    assert set(Records.of(tmp_path, "q").found) == {_BUILT["task"], learnt["task"]}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ('{"schema": "tabla-explore-records-1", "question": "other"}\n', "another program"),
        ('{"schema": "x"}\n', "holds no records"),
        ("no JSON\n", "holds no records"),
        ('{"schema": "tabla-explore-records-1", "question": "q"}\nrubbish\n', "is damaged: 'rubbish'"),
        ('{"schema": "tabla-explore-records-1", "question": "q"}\n[1]\n', "is damaged: '.1.'"),
        ("[" * 100_000 + "\n", "holds no records"),
        (_HEAD + "[" * 100_000 + "\n", "is damaged"),
        *((_HEAD + line + "\n", "is damaged") for line in DAMAGED),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: str, complaint: str) -> None:
    (tmp_path / NAME).write_text(content)
    with pytest.raises(TablaError, match=complaint):
        Records.of(tmp_path, "q")
    assert (tmp_path / NAME).read_text() == content


def test_a_folder_of_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(TablaError, match="is not empty"):
        Records.of(tmp_path, "q")


def test_nothing_is_left_of_an_exploration_without_a_point(tmp_path: Path) -> None:
    records = Records.of(tmp_path / "r", "q")
    records.add("a", {"refused": "no", "cure": ""})
    records.discard()
    assert list(tmp_path.iterdir()) == []
