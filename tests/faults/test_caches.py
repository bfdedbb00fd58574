"""The caches, with a power cut or a disk that refuses at any step: a command never gets half an entry, and never fails.

An entry of a cache has a sum, and what does not agree with its sum is made anew.
"""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from tabla.base.caches import ABANDONED
from tabla.base.processes import Outcome
from tabla.graph.compiled import machine
from tabla.host.engines import cxxrtl_run
from tabla.host.engines.cxxrtl_source import Source
from tabla.schedule.cache import cached
from tests.faults.steps import CUT, Cut, Refuse, run
from tests.faults.test_every_step import ALL

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="reads /proc, and forks")


def never_half(work: Callable[[], int], cache: Path, steps: Sequence[int], every: bool) -> None:
    """Cut the power at steps, and let the disk refuse them. `work` returns 0 for the right result."""
    codes = (errno.ENOSPC, errno.EIO, errno.EACCES) if every else (errno.ENOSPC,)
    for at in steps:
        shutil.rmtree(cache, ignore_errors=True)
        assert run(work, cache, Cut(at)).status == CUT
        assert run(work, cache).status == 0
        for code in codes:
            for on in (False, True):
                shutil.rmtree(cache, ignore_errors=True)
                assert run(work, cache, Refuse(at, code, on)).status == 0
                assert run(work, cache).status == 0


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TABLA_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("TABLA_CACHE_KINDS")
    return tmp_path / "cache"


@ALL
def test_a_kept_schedule_is_never_half(cache: Path, every: bool) -> None:
    made = tuple(range(5000))
    work = lambda: int(cached(("any", 1), lambda: made) != made)  # noqa: E731
    steps = run(work, cache).steps
    assert [step.kind for step in steps].count("write") == 2
    never_half(work, cache, range(len(steps)), every)
    # What the entry holds is what is read back.
    assert cached(("any", 1), lambda: ()) == made


@ALL
def test_machine_code_is_never_half(cache: Path, every: bool) -> None:
    pytest.importorskip("numba")
    array = np.arange(3.0)

    def work() -> int:
        machine.READY.clear()
        text = "def steps(a):\n    return a.sum() + 1.0\n"
        return int(machine.machine_code(text, {}, (array,), reorder=False)(array) != 4.0)

    assert work() == 0  # numba is ready
    shutil.rmtree(cache)
    steps = run(work, cache).steps
    renames = [number for number, step in enumerate(steps) if step.kind == "rename"]
    never_half(work, cache, range(len(steps)) if every else renames[-1:], every)


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler that writes a program at once."""

    def done(command: Sequence[str], folder: Path) -> Outcome:
        (folder / "simulator").write_bytes(b"program" * 10_000)
        return Outcome(status=0, said="")

    monkeypatch.setattr(cxxrtl_run, "_compiler", lambda: "c++")
    monkeypatch.setattr(cxxrtl_run, "_runtime", lambda: Path("/none"))
    monkeypatch.setattr(cxxrtl_run.metadata, "version", lambda name: "1")
    source = Source(header="", parts=("",), feedback=False)
    monkeypatch.setattr(cxxrtl_run, "translated", lambda *given: source)
    monkeypatch.setattr(cxxrtl_run, "run", done)
    monkeypatch.setattr(cxxrtl_run, "run_side_by_side", lambda commands, folder: [])


@ALL
@pytest.mark.usefixtures("compiler")
def test_a_built_simulator_is_never_half(cache: Path, every: bool) -> None:
    def work() -> int:
        return int(cxxrtl_run.build("module top; endmodule", "top").read_bytes() != b"program" * 10_000)

    steps = run(work, cache).steps
    (rename,) = [step for step in steps if step.kind == "rename"]
    never_half(work, cache, range(len(steps)), every)
    kept_there = [path.name for path in (cache / "simulators").iterdir() if not path.name.startswith(".")]
    assert kept_there == [Path(rename.to).name]


@pytest.mark.usefixtures("compiler")
def test_what_a_killed_build_left_goes_after_an_hour(cache: Path) -> None:
    for name, age in ((".new-old", 2 * ABANDONED), (".new-new", 0.0)):
        (cache / "simulators" / name).mkdir(parents=True)
        os.utime(cache / "simulators" / name, (time.time() - age,) * 2)
    cxxrtl_run.build("module top; endmodule", "top")
    first, made = sorted(path.name for path in (cache / "simulators").iterdir())
    assert first == ".new-new" and not made.startswith(".")


@pytest.mark.usefixtures("compiler")
def test_a_cache_without_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user without a home has no cache: simulators are built for one process, and schedules are not kept."""

    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("TABLA_CACHE", "TABLA_CACHE_KINDS", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    assert cxxrtl_run.build("module top; endmodule", "top").read_bytes() == b"program" * 10_000
    assert cached(("any", 1), lambda: 5) == 5
