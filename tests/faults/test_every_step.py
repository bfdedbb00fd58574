"""Every command that writes, with its power cut at any step, or a disk that refuses any step.

The output is the old one or the new one, and the same command again gives the new one and leaves nothing else. The
quick tests try the steps around each rename and some others; the slow ones try every step.
"""

from __future__ import annotations

import errno
import os
import random
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tabla.base import folder as folders
from tests.faults.homes import Home, unfinished
from tests.faults.law import broken
from tests.faults.steps import CUT, Cut, Refuse, Step, around
from tests.faults.writers import WRITERS, Writer, inputs, prepare

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="reads /proc, and forks")
_OTHERS = 3
"""The steps beside those around a rename that the quick tests try."""
_REMOVING = ("rmdir", "unlink")
_CODES = (errno.ENOSPC, errno.EIO, errno.EACCES)
ALL = pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["some", "every"])


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the inputs, and commands that remember what takes long."""
    folder = tmp_path_factory.mktemp("faults")
    inputs(folder / "in")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        # A process whose power is cut leaves its temporary folder.
        patch.setenv("TMPDIR", str(tmp_path_factory.mktemp("temporary")))
        patch.setattr(tempfile, "tempdir", None)
        prepare(patch)
        yield folder


@pytest.fixture(scope="module", params=WRITERS, ids=lambda writer: writer.name)
def home(request: pytest.FixtureRequest, base: Path) -> Iterator[Home]:
    """The home of each command."""
    writer: Writer = request.param
    made = Home.made(writer, base)
    yield made


def renames(step: Step) -> bool:
    return step.kind in ("rename", "exchange")


def chosen(home: Home, every: bool) -> Sequence[int]:
    """Return the steps to try: all, or those around each rename and some others."""
    return range(len(home.steps)) if every else sorted(around(home.steps, renames) | set(others(home)))


def others(home: Home) -> Sequence[int]:
    """Return a few steps, which are drawn."""
    return random.Random(home.writer.name).sample(range(len(home.steps)), min(_OTHERS, len(home.steps)))


@ALL
def test_a_power_cut(home: Home, every: bool) -> None:
    seen = set[str]()
    for at in chosen(home, every):
        home.restore()
        ended = home.run(Cut(at))
        assert ended.status == CUT, f"step {at} of {len(home.steps)}: {ended.said}"
        seen |= set(home.states())
        home.expect_new(home.run())
    assert seen == {"old", "new"}


@ALL
@pytest.mark.parametrize("on", [False, True], ids=["once", "on"])
def test_a_disk_that_refuses(home: Home, every: bool, on: bool) -> None:
    """With `on` the disk is full from that step on. Once renamed, an output is the new one."""
    first = next(number for number, step in enumerate(home.steps) if renames(step))
    for at in chosen(home, every) if every or not on else others(home):
        for code in (_CODES if every else (_CODES[at % 3],)) if not on else (errno.ENOSPC,):
            home.restore()
            ended, where = home.run(Refuse(at, code, on)), f"step {at}, {home.steps[at]}"
            states = set(home.states())
            if ended.status == 0:
                # Only what is removed at the end may stay: the next command removes it.
                assert states == {"new"} and home.steps[at].kind in _REMOVING, where
            else:
                told(ended.said, home, code)
                assert states == {"old"} if at <= first else states <= {"old", "new"}, where
                assert home.steps[at].kind in _REMOVING or unfinished(home.place) == [], where
            home.expect_new(home.run())


def told(said: str, home: Home, code: int) -> None:
    """Check the error of a disk: what was refused, where, and what the user can do."""
    lines = said.splitlines()
    assert lines[0].startswith("error: ") and os.strerror(code) in lines[0], said
    names = {str(part) for name in home.finals() for part in (Path(name), *Path(name).parents)}
    assert any(f"'{name}'" in lines[0] for name in names), said
    assert lines[1].startswith("hint: ") and "Traceback" not in said, said
    assert code != errno.ENOSPC or "free some space" in lines[1], said


def test_what_gets_its_name_is_on_the_disk(home: Home) -> None:
    assert list(broken(home.steps, home.finals())) == []


def test_the_law_finds_what_is_not_brought_onto_the_disk(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "settle", lambda path: None)
    home.restore()
    ended = home.run()
    assert any("gets its name before" in fault for fault in broken(ended.steps, home.finals()))
    monkeypatch.undo()
    monkeypatch.setattr(folders, "settle_names", lambda path: None)
    home.restore()
    ended = home.run()
    assert any("at the end" in fault for fault in broken(ended.steps, home.finals()))


def test_without_an_exchange_an_old_folder_comes_back(
    base: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where two folders cannot be exchanged, there is none between two renames; the next command brings it back."""
    monkeypatch.setattr(folders, "_exchanged", lambda one, other: False)
    monkeypatch.chdir(tmp_path)
    inputs(tmp_path / "in")
    home = Home.made(next(writer for writer in WRITERS if writer.name == "overlay"), tmp_path)
    without = 0
    for at in chosen(home, every=False):
        home.restore()
        assert home.run(Cut(at)).status == CUT
        if not (home.place / "overlay").exists():
            without += 1
            folders.check_replaceable(home.place / "overlay", folders.OVERLAY)
            assert set(home.states()) == {"old"} and unfinished(home.place) == []
        else:
            assert set(home.states()) <= {"old", "new"}
        home.expect_new(home.run())
    assert without == 1
