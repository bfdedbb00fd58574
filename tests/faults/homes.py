"""The folders into which commands of the tests write: what they hold, and whether that is whole."""

from __future__ import annotations

import gc
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tabla.base.unfinished import PREFIX
from tests.faults.steps import Act, Ended, Step, nothing, run
from tests.faults.writers import RECORDS, Writer, call

Content = dict[str, bytes] | bytes | None


def content(path: Path) -> Content:
    """Return a file, or the files of a folder by their names; None for nothing."""
    if path.is_dir():
        return {p.relative_to(path).as_posix(): p.read_bytes() for p in sorted(path.rglob("*")) if p.is_file()}
    return path.read_bytes() if path.exists() else None


def unfinished(folder: Path) -> list[str]:
    """Return what processes that are gone have left in a folder and below it."""
    return sorted(path.name for path in folder.rglob(f"{PREFIX}*"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """The folder of a command, with the state that its old call has left, and the outputs of its new call."""

    writer: Writer
    place: Path
    before: Path
    old: dict[str, Content]
    new: dict[str, Content]
    steps: tuple[Step, ...]

    @staticmethod
    def made(writer: Writer, base: Path) -> Home:
        """Run both calls of a command in this process, where they remember what they have worked out."""
        place, before = base / "out", base / f"before-{writer.name}"
        for folder in (place, before):  # of the same command with other parameters
            shutil.rmtree(folder, ignore_errors=True)
        place.mkdir()
        if writer.old:
            assert call(writer.words(writer.old, place)) == 0
        shutil.copytree(place, before)
        old = {name: content(place / name) for name in writer.outputs}
        assert call(writer.words(writer.new, place)) == 0
        new = {name: content(place / name) for name in writer.outputs}
        assert all(new[name] is not None and new[name] != old[name] for name in writer.outputs)
        home = Home(writer=writer, place=place, before=before, old=old, new=new, steps=())
        gc.collect()
        gc.freeze()  # so that the collector of a forked process does not copy all that is there
        home.restore()
        ended = home.run()
        home.expect_new(ended)
        return Home(writer=writer, place=place, before=before, old=old, new=new, steps=ended.steps)

    def restore(self) -> None:
        """Bring back the state before the new call."""
        shutil.rmtree(self.place)
        shutil.copytree(self.before, self.place)

    def run(self, act: Act = nothing) -> Ended:
        """Run the new call in a process of its own."""
        return run(lambda: call(self.writer.words(self.writer.new, self.place)), self.place, act)

    def states(self) -> Iterator[str]:
        """Yield for each output whether it is the old or the new one. Any other content is a failure.

        The records of an exploration, of which there are more and more, are neither.
        """
        for name in self.writer.outputs:
            found = content(self.place / name)
            if name == RECORDS and found is not None:
                # What is behind the last line end was cut off.
                assert isinstance(found, bytes) and set(found.splitlines(True)[: found.count(b"\n")]) <= self._records()
            else:
                assert found in (self.old[name], self.new[name]), f"half of '{name}'"
                yield "new" if found == self.new[name] else "old"
        names = {Path(name).parts[0] for name in self.writer.outputs}
        others = {path.name for path in self.place.iterdir()} - names
        assert all(other.startswith(PREFIX) for other in others), f"these were left: {others}"

    def _records(self) -> set[bytes]:
        found = self.new[RECORDS]
        assert isinstance(found, bytes)
        return set(found.splitlines(True))

    def expect_new(self, ended: Ended) -> None:
        """Check that the new call has succeeded, and has left nothing but its outputs."""
        assert ended.status == 0, ended.said
        assert set(self.states()) == {"new"}
        assert all(content(self.place / name) == self.new[name] for name in self.writer.outputs)
        assert unfinished(self.place) == []

    def finals(self) -> Sequence[str]:
        """Return the whole paths of the outputs."""
        return [str(self.place / name) for name in self.writer.outputs]
