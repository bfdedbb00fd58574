"""Workers of a real Dask cluster: the same table as on one core, also when one of them is killed in the middle."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabla.base.cluster import identity
from tabla.base.processes import running
from tabla.base.source import TablaError
from tabla.build.options import Options
from tabla.languages.onnx import external_files
from tabla.learn.explore.candidate import Part
from tabla.learn.explore.cluster import Cluster, answered
from tabla.learn.explore.local import Local
from tabla.learn.explore.question import Question, Record
from tabla.learn.explore.records import NAME
from tabla.learn.explore.run import explore_space
from tabla.learn.explore.space import Point, Space, Task
from tabla.templates.targets import target
from tests.logistic_program import LOGISTIC

pytest.importorskip("distributed")
PART = Part(device=target("ecp5").device("85k"), grade=6)
SPACE = Space(pes=(1, 2, 4, 8), formats=(("q6.10", -1), ("q3.5", -1)), minibatches=(1, 2))


@pytest.fixture
def question(tmp_path: Path) -> Question:
    """A program in a folder that only this process knows."""
    (tmp_path / "model.t").write_text(LOGISTIC)
    return Question(source=str(tmp_path / "model.t"), options=Options())


@contextmanager
def dask(*words: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program of Dask in a folder of its own."""
    folder.mkdir()
    log = (folder / "log").open("wb")
    command = [sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:]]
    with log, running(command, cwd=folder, stdout=log, stderr=log) as process:
        yield process


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Give the address of a scheduler, and the processes of its workers."""
    with ExitStack() as stack:
        file = folder / "scheduler.json"
        words = ("scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(file), "--host", "127.0.0.1")
        scheduler = stack.enter_context(dask(*words, folder=folder / "scheduler"))
        while not file.is_file() and scheduler.poll() is None:
            time.sleep(0.05)
        words = ("worker", "--scheduler-file", str(file), "--no-nanny", "--nthreads", "1", "--no-dashboard")
        found = [stack.enter_context(dask(*words, folder=folder / f"worker_{n}")) for n in range(workers)]
        yield json.loads(file.read_text())["address"], found


class Killing:
    """A cluster of which a process is killed after some answers."""

    def __init__(self, within: Cluster, victim: subprocess.Popen[bytes], after: int) -> None:
        self.within, self.victim, self.left = within, victim, after

    def run(self, question: Question, tasks: Sequence[Task]) -> Iterator[tuple[Task, Record]]:
        """Yield what the cluster yields."""
        for pair in self.within.run(question, tasks):
            self.left -= 1
            if self.left == 0:
                os.kill(self.victim.pid, signal.SIGKILL)
            yield pair


@pytest.mark.slow
def test_a_worker_that_is_killed_changes_nothing(tmp_path: Path, question: Question) -> None:
    expected = explore_space(question, SPACE, [PART], Local(count=1), folder=tmp_path / "local")
    with cluster(tmp_path, 2) as (address, workers):
        killing = Killing(Cluster(address=address), workers[0], after=5)
        found = explore_space(question, SPACE, [PART], killing, folder=tmp_path / "cluster")
        assert workers[0].poll() == -signal.SIGKILL and workers[1].poll() is None
    assert found == expected
    assert (tmp_path / "cluster" / NAME).read_text() == (tmp_path / "local" / NAME).read_text()


@pytest.mark.slow
def test_what_a_cluster_lacks_is_named(tmp_path: Path, question: Question, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = [Task(kind="build", point=Point(pes=2, format="q6.10"))]
    monkeypatch.setattr("tabla.learn.explore.cluster._CONNECT", 3.0)
    with pytest.raises(TablaError, match=r"there is no Dask scheduler at .tcp://127\.0\.0\.1:1"):
        list(Cluster(address="tcp://127.0.0.1:1").run(question, tasks))
    with cluster(tmp_path, 0) as (address, _), pytest.raises(TablaError, match="has no worker"):
        list(Cluster(address=address).run(question, tasks))


@pytest.mark.slow
def test_workers_that_are_late_or_strangers_are_named(
    tmp_path: Path, question: Question, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The search at this effort takes a minute.
    slow = Question(source=str(Path(__file__).parents[3] / "examples" / "backprop2.t"), options=Options())
    tasks, remarks = [Task(kind="build", point=Point(pes=64, format="q6.9"), effort=3)], list[str]()
    with cluster(tmp_path, 2) as (address, _):
        with pytest.raises(TablaError, match=r"64 PEs, q6.9 takes more than 0.1 s at 'tcp://.*' and 'tcp://"):
            list(Cluster(address=address, patience=0.1, remark=remarks.append).run(slow, tasks))
        assert len(remarks) == 1 and "another worker tries 64 PEs" in remarks[0]
        monkeypatch.setattr("tabla.base.cluster.VERSION", "9.9")
        with pytest.raises(TablaError, match=r"the worker at 'tcp://.*' has tabla .*, and this is tabla 9.9"):
            list(Cluster(address=address).run(question, tasks))


def test_a_worker_of_another_version_computes_nothing(question: Question) -> None:
    task = Task(kind="build", point=Point(pes=2, format="q6.10"))
    assert answered(question, task, "tabla 9.9 on Python 3.1") == {"stranger": identity()}


def test_files_that_files_name_travel_and_count(tmp_path: Path) -> None:
    """The numbers of a model of ONNX lie in a file beside it, and records of the user include others."""
    onnx = pytest.importorskip("onnx")
    weights = onnx.numpy_helper.from_array(np.full((3, 2), 0.5, dtype=np.float32), "W")
    inputs = [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 3])]
    outputs = [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1, 2])]
    node = onnx.helper.make_node("Gemm", ["x", "W"], ["y"])
    model = onnx.helper.make_model(onnx.helper.make_graph([node], "g", inputs, outputs, [weights]))
    home = tmp_path / "home"
    (home / "far").mkdir(parents=True)
    place: dict[str, Any] = {"location": "far/weights.bin", "size_threshold": 0, "save_as_external_data": True}
    onnx.save_model(model, str(home / "net.onnx"), **place)
    (home / "own.td").write_text('include "more.td"\n')
    (home / "more.td").write_text("def Here : NumberFormat<4, 4>;\n")
    question = Question(source=str(home / "net.onnx"), options=Options(templates=str(home / "own.td")))
    before, packed = question.sum, question.packed()
    assert {Path(name).name for name in packed.files} == {"net.onnx", "weights.bin", "own.td", "more.td"}
    for name in ("far/weights.bin", "more.td"):
        (home / name).write_bytes((home / name).read_bytes() + b"\n")
        assert question.sum != before
        before = question.sum
    shutil.rmtree(home)
    with packed.unpacked() as here:
        folder = Path(here.source).parent
        assert (folder / "far" / "weights.bin").is_file() and (folder / "more.td").is_file()
        assert external_files(Path(here.source)) == [folder / "far" / "weights.bin"]
    task = Task(kind="build", point=Point(pes=2, format="q6.10"))
    assert answered(replace(packed, options=Options()), task, identity())["cycles"] > 0


def test_files_travel_with_the_question(tmp_path: Path, question: Question) -> None:
    task = Task(kind="build", point=Point(pes=2, format="q6.10"))
    packed = question.packed()
    (tmp_path / "model.t").unlink()
    assert answered(packed, task, identity())["cycles"] > 0
    assert "cannot read" in answered(question, task, identity())["refused"]


class Deserted:
    """A client whose scheduler went away after the tasks were sent."""

    def scatter(self, *_: Any, **__: Any) -> None:
        """Take the question."""

    def submit(self, *_: Any, **__: Any) -> str:
        """Take a task."""
        return "future"

    def as_current(self) -> ExitStack:
        """Return a block in which nothing is special."""
        return ExitStack()

    def processing(self) -> None:
        """Fail as a client does."""
        raise OSError("Timed out trying to connect")


def test_a_scheduler_that_goes_away_is_named(question: Question, monkeypatch: pytest.MonkeyPatch) -> None:
    import distributed

    def nobody(*_: Any, **__: Any) -> None:
        raise TimeoutError

    monkeypatch.setattr(distributed, "wait", nobody)
    tasks = [Task(kind="build", point=Point(pes=2, format="q6.10"))]
    with pytest.raises(TablaError, match="the Dask scheduler at 'tcp://far:1' has gone"):
        list(Cluster(address="tcp://far:1")._answers(Deserted(), question, tasks))
