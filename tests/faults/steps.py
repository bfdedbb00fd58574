"""The steps by which a process changes files, and processes that are cut off, or refused by the disk, at one of them.

A *step* is a call of Python that makes, opens for writing, writes, renames or removes something below a folder, or
brings it onto the disk. Work is done in a process that is forked, in which these calls are counted. At one of them the
process ends as if its power was cut, or the call fails as on a full or a broken disk. A write that is cut off, or
fails, has written half. Audit events of Python tell whether a call went past the count.
"""

from __future__ import annotations

import builtins
import io
import json
import os
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from tabla.base import folder as folders

CUT = 43
"""The status of a process whose power was cut."""
TRACEBACK = 44
"""The status of a process that an exception has ended."""
_FORWARD = {"replace": "rename", "remove": "unlink"}
_MAKING = {"open", "write", "mkdir", "rename", "exchange", "fsync", "sendfile"}
"""The steps that need space on the disk."""
_AUDITED = {"os.mkdir": "mkdir", "os.rmdir": "rmdir", "os.remove": "unlink", "os.rename": "rename", "open": "open"}


@dataclass(frozen=True, slots=True)
class Step:
    """One step: what was called, and the path that it is about. `to` is the new name of what is renamed."""

    kind: str
    path: str
    to: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a process ended: its status, what it printed, and its steps. One that was cut off tells neither."""

    status: int
    said: str = ""
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Cut:
    """End the process at a step."""

    at: int

    def __call__(self, number: int, step: Step, half: Callable[[], object]) -> None:
        """Do what the process does at its step of this number."""
        if number == self.at:
            half()
            os._exit(CUT)


@dataclass(frozen=True, slots=True)
class Refuse:
    """Let a step fail with an error of the system; with `on`, all later ones too that need space."""

    at: int
    code: int
    on: bool = False

    def __call__(self, number: int, step: Step, half: Callable[[], object]) -> None:
        """Do what the disk does at the step of this number."""
        if number == self.at or (self.on and number > self.at and step.kind in _MAKING):
            half()
            raise OSError(self.code, os.strerror(self.code), step.path)


def nothing(number: int, step: Step, half: Callable[[], object]) -> None:
    """Let every step succeed."""


Act = Callable[[int, Step, Callable[[], object]], None]


@dataclass(slots=True)
class _Counter:
    home: str
    act: Act
    steps: list[Step] = field(default_factory=list)
    events: Counter[str] = field(default_factory=Counter)

    def has(self, path: str) -> bool:
        return path.startswith(self.home)

    def before(self, kind: str, path: str, to: str = "", half: Callable[[], object] = lambda: None) -> None:
        if self.has(path):
            step = Step(_FORWARD.get(kind, kind), path, to)
            number = len(self.steps)
            self.steps.append(step)
            self.act(number, step, half)

    def audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        kind = _AUDITED.get(event)
        if kind is None or isinstance(arguments[0], int):
            return
        if kind == "open" and not _writes(arguments[2] or 0):
            return
        number = arguments[-1] if kind in ("mkdir", "rmdir", "unlink") else -1
        if self.has(_path(arguments[0], None if number == -1 else number)):
            self.events[kind] += 1


def _writes(flags: int) -> bool:
    return bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC))


def _path(name: Any, folder: int | None = None) -> str:
    """Return the whole path of a name, which may be relative to an open folder; of a number, that of its file."""
    if isinstance(name, int):
        return os.readlink(f"/proc/self/fd/{name}")
    base = os.readlink(f"/proc/self/fd/{folder}") if folder is not None else os.getcwd()
    return os.path.join(base, os.fsdecode(name))


def _watch(counter: _Counter) -> None:
    """Put every call that is a step behind the counter, in this process and for ever."""

    def about_a_path(kind: str) -> None:
        real = getattr(os, kind)

        def call(path: Any, *rest: Any, **named: Any) -> Any:
            counter.before(kind, _path(path, named.get("dir_fd")))
            return real(path, *rest, **named)

        setattr(os, kind, call)

    def about_two(kind: str) -> None:
        real = getattr(os, kind)

        def call(one: Any, two: Any, **named: Any) -> Any:
            counter.before(kind, _path(one), _path(two))
            return real(one, two, **named)

        setattr(os, kind, call)

    for kind in ("mkdir", "rmdir", "unlink", "remove", "chmod", "truncate", "ftruncate"):
        about_a_path(kind)
    for kind in ("rename", "replace", "link"):
        about_two(kind)
    real_open, real_sendfile, real_exchange = os.open, os.sendfile, folders._exchanged

    def open_number(path: Any, flags: int, *rest: Any, **named: Any) -> int:
        if _writes(flags):
            counter.before("open", _path(path, named.get("dir_fd")))
        return real_open(path, flags, *rest, **named)

    def fsync(number: Any) -> None:
        # Nothing is waited for: what was written to this disk is all that there is to see.
        counter.before("fsync", _path(number if isinstance(number, int) else number.fileno()))

    def sendfile(to: int, *rest: Any, **named: Any) -> int:
        counter.before("sendfile", _path(to))
        return real_sendfile(to, *rest, **named)

    def exchanged(one: Path, other: Path) -> bool:
        counter.before("exchange", str(one), str(other))
        return real_exchange(one, other)

    os.open, os.fsync, os.sendfile, folders._exchanged = open_number, fsync, sendfile, exchanged
    builtins.open = io.open = _opener(counter, io.open)  # type: ignore[assignment]
    sys.addaudithook(counter.audit)


def _opener(counter: _Counter, real: Callable[..., Any]) -> Callable[..., Any]:
    class Raw(io.FileIO):
        def write(self, data: Any) -> int:
            content = bytes(data)
            write = super().write
            counter.before("write", _path(self.fileno()), half=lambda: write(content[: len(content) // 2]))
            return write(content)

    def open_file(file: Any, mode: str = "r", buffering: int = -1, encoding: Any = None, errors: Any = None,
                  newline: Any = None, closefd: bool = True, opener: Any = None) -> Any:  # fmt: skip
        rest = (buffering, encoding, errors, newline, closefd, opener)
        if isinstance(file, int) or not set(mode) & set("wax+") or not counter.has(_path(file)):
            return real(file, mode, *rest)
        counter.before("open", _path(file))
        raw = Raw(file, mode.replace("b", "").replace("t", ""), closefd, opener)
        if buffering == 0:
            return raw
        binary = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        if "b" in mode:
            return binary
        return io.TextIOWrapper(binary, encoding, errors, newline)

    return open_file


def run(work: Callable[[], int | None], home: Path, act: Act = nothing) -> Ended:
    """Do work in a process of its own, which counts the steps below `home`, and return how it ended."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _work(work, _Counter(str(home), act), writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        told = file.read()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if not told:
        assert code == CUT, f"the process ended with {code}"
        return Ended(status=code)
    answer = json.loads(told)
    assert code != TRACEBACK, answer["said"]
    assert answer["past"] == {}, "these went past the count"
    return Ended(status=code, said=answer["said"], steps=tuple(Step(*step) for step in answer["steps"]))


def _work(work: Callable[[], int | None], counter: _Counter, writer: int) -> NoReturn:
    """Do the work in the forked process, tell how it went, and end."""
    said = sys.stdout = sys.stderr = io.StringIO()
    try:
        _watch(counter)
        status = work() or 0
    except BaseException:
        traceback.print_exc()
        status = TRACEBACK
    counted = Counter(step.kind for step in counter.steps)
    past = {kind: count - counted[kind] for kind, count in counter.events.items() if count > counted[kind]}
    answer = {
        "said": said.getvalue(),
        "steps": [[step.kind, step.path, step.to] for step in counter.steps],
        "past": past,
    }
    data = json.dumps(answer).encode()
    while data:
        data = data[os.write(writer, data) :]
    os._exit(status)


def around(steps: Sequence[Step], chosen: Callable[[Step], bool]) -> set[int]:
    """Return the numbers of the steps that are chosen, and of those right before and after them."""
    found = [number for number, step in enumerate(steps) if chosen(step)]
    return {near for number in found for near in (number - 1, number, number + 1) if 0 <= near < len(steps)}
