"""Workers of this machine: the same figures from several processes, one that dies, and an exploration that is
interrupted.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tabla.base.source import TablaError
from tabla.build.options import Options
from tabla.learn.explore.local import Local
from tabla.learn.explore.question import Question, Record
from tabla.learn.explore.records import NAME
from tabla.learn.explore.space import Point, Task

EXAMPLE = Path(__file__).parents[3] / "examples" / "linear.t"
TASKS = [Task(kind="build", point=Point(pes=pes, format="q6.10")) for pes in (1, 2, 4)]
QUESTION = Question(source=str(EXAMPLE), options=Options())


def deadly(question: Question, task: Task) -> Record:
    """Answer a task, except that 2 PEs kill the worker."""
    if task.point.pes == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"cycles": task.point.pes}


def deadly_once(question: Question, task: Task) -> Record:
    """Kill the worker the first time that a task with 2 PEs comes."""
    mark = Path(question.source).parent / "died"
    if task.point.pes == 2 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"cycles": task.point.pes}


def ended(group: int) -> bool:
    """Return whether all processes of a group end within some seconds: Python's own helpers need a moment."""
    for _ in range(200):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.slow
def test_processes_answer_as_this_one_does() -> None:
    assert dict(Local(count=2).run(QUESTION, TASKS)) == dict(Local(count=1).run(QUESTION, TASKS))


@pytest.mark.slow
def test_a_task_that_kills_its_worker_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tabla.learn.explore.local.answer", deadly)
    found = []
    with pytest.raises(TablaError, match=r"a worker process died over 2 PEs, q6\.10"):
        for task, _ in Local(count=2).run(QUESTION, TASKS):
            found.append(task)
    assert TASKS[1] not in found


@pytest.mark.slow
def test_a_worker_that_dies_once_changes_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tabla.learn.explore.local.answer", deadly_once)
    question = Question(source=str(tmp_path / "model.t"), options=Options())
    assert dict(Local(count=2).run(question, TASKS)) == {task: {"cycles": task.point.pes} for task in TASKS}


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all_processes_and_keeps_the_figures(tmp_path: Path, number: signal.Signals) -> None:
    words = ["explore", str(EXAMPLE), "--pes", "1-8", "--format", "q6.10,q5.11,q4.12", "--workers", "2"]
    words += ["-o", str(tmp_path / "report")]
    command = [sys.executable, "-m", "tabla", *words]
    records = tmp_path / "report" / NAME
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    while process.poll() is None and not (records.is_file() and len(records.read_text().splitlines()) > 3):
        time.sleep(0.02)
    os.kill(process.pid, number)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 128 + number and said.splitlines()[-1].startswith("error: "), said
    assert ended(process.pid)
    before = len(records.read_text().splitlines())
    subprocess.run([*command, "-q"], check=True, stdout=subprocess.PIPE)
    lines = [json.loads(line) for line in records.read_text().splitlines()]
    assert len(lines) > before and len({line.get("task") for line in lines}) == len(lines)
    assert (tmp_path / "report" / "index.html").is_file()
