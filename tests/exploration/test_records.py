"""The file of records: what is kept, in which order, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tabla.exploration.records import NAME, Records
from tabla.source import TablaError


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


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ('{"schema": "tabla-explore-records-1", "question": "other"}\n', "another program"),
        ('{"schema": "x"}\n', "holds no records"),
        ("no JSON\n", "holds no records"),
        ('{"schema": "tabla-explore-records-1", "question": "q"}\nrubbish\n', "is damaged: 'rubbish'"),
        ('{"schema": "tabla-explore-records-1", "question": "q"}\n[1]\n', "is damaged: '.1.'"),
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
