"""Runs tests on sources with faults: in a copy of the checkout, one fault after the other, each in a forked process.

The process that forks has the libraries and the tests' tools imported, but none of the sources that get faults.
"""

from __future__ import annotations

import compileall
import importlib
import os
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import Any

from verify.fuzz.source_mutants import SourceMutant

ROOT = Path(__file__).resolve().parents[2]
_COPIED = (
    "benchmarks",
    "examples",
    "hw",
    "sim",
    "tabla",
    "templates",
    "tests",
    "verify",
    "docs",
    "setup.cfg",
    "pyproject.toml",
)
_MOST_SECONDS = 500
"""The processor time of the tests of a fault, without the simulators that they start. A simulation that never ends is
a fault that is found.
"""
_LIBRARIES = ("amaranth.hdl", "amaranth.sim", "networkx", "numpy", "ply.yacc", "pytest", "_pytest.main")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Whether the tests passed, in how many seconds of processor time, and the test that failed first."""

    passed: bool
    seconds: float
    failed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """A copy of the checkout, in which tests run."""

    root: Path

    @staticmethod
    def made(folder: Path) -> Copy:
        """Copy the checkout into a new folder."""
        for name in _COPIED:
            source, target = ROOT / name, folder / name
            if source.is_symlink():  # a link into the copy of tabla/, not a second copy
                target.symlink_to(source.readlink())
            elif source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "results"))
            else:
                shutil.copy2(source, target)
        # Compiled files that hold the digest of their source: one that has got a fault is compiled anew.
        compileall.compile_dir(folder, quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
        return Copy(root=folder)

    @contextmanager
    def planted(self, mutant: SourceMutant) -> Iterator[None]:
        """Put a fault into the copy for a while."""
        path = self.root / mutant.file
        sound = path.read_text(encoding="utf-8")
        path.write_text(mutant.text, encoding="utf-8")
        try:
            yield
        finally:
            path.write_text(sound, encoding="utf-8")

    def judged(self, tests: Sequence[str], limit: float) -> Outcome:
        """Run tests up to the first that fails. Tests that take longer than `limit` seconds have failed."""
        for name in _LIBRARIES:
            importlib.import_module(name)
        said = self.root / "said.txt"
        said.unlink(missing_ok=True)
        before = os.times()
        child = os.fork()
        if child == 0:
            _run(self.root, tests, said)
        status = _waited(child, limit)
        after = os.times()
        seconds = sum(after[2:4]) - sum(before[2:4])
        if status is None or status == -signal.SIGXCPU:
            return Outcome(passed=False, seconds=seconds, failed="out of time")
        return Outcome(passed=status == 0, seconds=seconds, failed=_first_failure(said) if status else "")


class _Quick:
    """Leaves out slow tests. Proofs are chosen one by one, so all of them run."""

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = [i for i in items if not i.get_closest_marker("slow") or i.nodeid.startswith("tests/verify/prove/")]


def _run(root: Path, tests: Sequence[str], said: Path) -> None:
    """Run pytest in this process, which ends with it."""
    try:
        os.setpgid(0, 0)
        output = os.open(said, os.O_CREAT | os.O_WRONLY)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.chdir(root)
        # A file that gets a fault may keep its size and the second of its time, which other compiled files go by.
        sys.dont_write_bytecode = True
        os.environ |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(root)}
        resource.setrlimit(resource.RLIMIT_CPU, (_MOST_SECONDS, _MOST_SECONDS + 30))
        own = str(ROOT)
        sys.path[:] = [str(root), *(entry for entry in sys.path if entry not in (own, ""))]
        for name in [name for name in sys.modules if name.partition(".")[0] in ("tabla", "tests", "benchmarks")]:
            del sys.modules[name]
        import pytest

        words = ["-q", "-x", "-p", "no:cacheprovider", f"--basetemp={root / 'made'}", "--tb=line"]
        status = int(pytest.main([*words, *tests], plugins=[_Quick()]))
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        status = 99
    os._exit(status)


def _waited(child: int, limit: float) -> int | None:
    """Return the exit status of a process, or None if it has to be ended because its time is over."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    # The child leads a group of its own, with the simulators that its tests have started.
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _first_failure(said: Path) -> str:
    lines = said.read_text(encoding="utf-8", errors="replace").splitlines()
    failed = [line for line in lines if line.startswith(("FAILED ", "ERROR "))]
    return failed[0].split(" ", 1)[1][:200] if failed else (lines[-1] if lines else "")[:200]
