"""Several commands at once on one output and one cache: each succeeds, and what is there is one's whole output."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tabla.base import folder
from tabla.base.caches import Cache
from tabla.base.folder import replaced_file
from tabla.base.source import TablaError
from tabla.learn.explore.records import Records
from tests.faults.homes import Home, unfinished
from tests.faults.writers import WRITERS, call, inputs, prepare

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
_PROCESSES = 4
ROUNDS = pytest.mark.parametrize("rounds", [3, pytest.param(100, marks=pytest.mark.slow)])


def at_once(works: list[Callable[[], bool]], meanwhile: Callable[[], None] = lambda: None) -> None:
    """Do works at once, each in a process of its own, and call `meanwhile` until all have ended. All must be true."""
    children = []
    for work in works:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                status = 0 if work() else 2
            finally:
                os._exit(status)
        children.append(child)
    ended: dict[int, int] = {}
    while len(ended) < len(children):
        meanwhile()
        for child in children:
            if child not in ended:
                found, status = os.waitpid(child, os.WNOHANG)
                if found:
                    ended[child] = os.waitstatus_to_exitcode(status)
    assert set(ended.values()) == {0}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the inputs, and commands that remember what takes long."""
    place = tmp_path_factory.mktemp("at-once")
    inputs(place / "in")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        prepare(patch)
        yield place


@ROUNDS
@pytest.mark.parametrize("name", ["gen", "build", "overlay", "train", "tblgen"])
def test_commands_on_one_output(name: str, rounds: int, base: Path) -> None:
    """Half of the processes write the old output again and again, and half the new one."""
    writer = next(each for each in WRITERS if each.name == name)
    home = Home.made(writer, base)
    home.restore()

    def works(text: str) -> Callable[[], bool]:
        return lambda: all(call(writer.words(text, home.place)) == 0 for _ in range(rounds))

    files = all((home.place / output).is_file() for output in writer.outputs)
    # The files of a folder cannot be read at one time, so a folder is looked at in the end.
    at_once([works(writer.old), works(writer.new)] * (_PROCESSES // 2), (lambda: seen(home)) if files else lambda: None)
    seen(home)
    assert unfinished(home.place) == []


def seen(home: Home) -> None:
    assert set(home.states()) <= {"old", "new"}


@ROUNDS
def test_explorations_in_one_folder(rounds: int, tmp_path: Path) -> None:
    """No figure of any of them is lost, and none is written into the midst of another's."""

    def work(number: int) -> bool:
        records = Records.of(tmp_path / "report", "q")
        for step in range(3 * rounds):
            records.add(f"{number} {step}", {"cycles": step, "long": "x" * 5000})
        records.finish([])
        return True

    Records.of(tmp_path / "report", "q").add("first", {"cycles": 0})
    at_once([lambda number=number: work(number) for number in range(_PROCESSES)])  # type: ignore[misc]
    found = Records.of(tmp_path / "report", "q").found
    assert set(found) == {"first", *(f"{n} {step}" for n in range(_PROCESSES) for step in range(3 * rounds))}
    assert unfinished(tmp_path) == []


@ROUNDS
def test_processes_on_one_cache(rounds: int, tmp_path: Path) -> None:
    """The cache is so small that each process removes what others have just made."""
    cache = Cache(where=tmp_path, largest=3000)

    def work() -> bool:
        for step in range(10 * rounds):
            text = f"{step % 5}" * 500
            found = cache.read(str(step % 5), lambda entry: (entry / "file").read_text())
            if found is None:
                found = cache.add(str(step % 5), lambda entry, text=text: (entry / "file").write_text(text) and text)
            if found != text:
                return False
        return True

    at_once([work] * _PROCESSES)
    assert all(len(path.name) == 1 for path in tmp_path.iterdir())


def test_what_a_living_process_writes_stays(tmp_path: Path) -> None:
    with replaced_file(tmp_path / "one") as first:
        first.write_text("one")
        with replaced_file(tmp_path / "two") as second:
            second.write_text("two")
        assert (tmp_path / "two").read_text() == "two"
    assert (tmp_path / "one").read_text() == "one"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]


def test_a_folder_that_another_process_exchanges_while_it_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its files are gone when they are read, and it is still no folder of somebody else."""
    for name in ("out", "next"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "line.json").write_text('{"schema": "tabla-manifest-1"}')
    real = folder._made_by

    def gone(maker: str, path: Path) -> bool:
        if (tmp_path / "next").exists():
            path.rename(tmp_path / "before")
            (tmp_path / "next").rename(path)
            return False
        return real(maker, path)

    monkeypatch.setattr(folder, "_made_by", gone)
    folder.check_replaceable(tmp_path / "out")
    (tmp_path / "out" / "line.json").unlink()
    (tmp_path / "out" / "thesis.tex").touch()
    with pytest.raises(TablaError, match="is not empty"):
        folder.check_replaceable(tmp_path / "out")
