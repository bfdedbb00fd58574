"""The subjects of the sweep for overlays and explorations: the manifest of an overlay, an image for it, and records."""

from __future__ import annotations

import json
import struct
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from random import Random

from tabla.build.options import Options
from tabla.host.runtime.overlay_board import _folder_of
from tabla.learn.explore.candidate import Part
from tabla.learn.explore.question import Question, Record, answer
from tabla.learn.explore.records import NAME
from tabla.learn.explore.run import explore_space
from tabla.learn.explore.space import Space, Task
from tabla.program.overlay_file import read_overlay
from tabla.program.overlay_image import read_image
from tabla.templates.targets import target
from tests.linear_program import linear_text
from tests.small_overlay import write_images
from verify.fuzz.files import changed_json, jsons
from verify.fuzz.mutations import mutated_bytes

_HEADER, _SECTION, _CHECK = struct.Struct("<8sIIII"), struct.Struct("<4sIII"), struct.Struct("<I")
"""The layout of an image, as the page on overlays has it: its header, the head of a section, and the last word."""
_PART = Part(device=target("ecp5").device("85k"), grade=6)
_SPACE = Space(pes=(1, 2), formats=(("q6.10", -1),))


@cache
def _folder() -> Path:
    """Return a folder with an overlay and an image for it, written once for this process and those that it forks."""
    home = Path(tempfile.mkdtemp(prefix="tabla-fuzz-"))
    write_images(home)
    (home / "line.t").write_text(linear_text(2))
    return home


def overlay() -> tuple[Callable[[Random], bytes], Callable[[bytes], None]]:
    """Return what draws another manifest of an overlay, and what reads it."""
    text = (_folder() / "overlay" / "overlay.json").read_text()

    def read(data: bytes) -> None:
        with tempfile.TemporaryDirectory(prefix="tabla-fuzz-") as home:
            (Path(home) / "overlay.json").write_bytes(data)
            read_overlay(home)

    return jsons(text), read


def image() -> tuple[Callable[[Random], bytes], Callable[[bytes], None]]:
    """Return what draws another image, and what reads it as a host does.

    Most images have other content and the sums of that content, because a wrong sum is the first that is seen.
    """
    content = (_folder() / "linear.image").read_bytes()
    there = read_overlay(_folder() / "overlay")

    def draw(chance: Random) -> bytes:
        if chance.random() < 0.2:
            return mutated_bytes(content, chance)
        fields, whole = _unpacked(content)
        held = dict(whole)
        for _ in range(chance.choice((1, 1, 2))):
            name = chance.choice(tuple(held))
            if name == b"INFO" and chance.random() < 0.8:
                held[name] = json.dumps(changed_json(json.loads(whole[name]), chance)).encode()
            else:
                held[name] = mutated_bytes(held[name], chance)
        if chance.random() < 0.1:
            del held[chance.choice(tuple(held))]
        return _packed(fields, held)

    def read(data: bytes) -> None:
        found = read_image(data, "p.image")
        _folder_of(found, Path("p.image"))
        found.image(there)

    return draw, read


def _unpacked(content: bytes) -> tuple[tuple[int, int], dict[bytes, bytes]]:
    """Return the form and the fingerprint of an image, and its sections by name."""
    _, form, fingerprint, count, _ = _HEADER.unpack_from(content)
    held = {}
    for number in range(count):
        name, place, length, _ = _SECTION.unpack_from(content, _HEADER.size + number * _SECTION.size)
        held[name] = content[place : place + length]
    return (form, fingerprint), held


def _packed(fields: tuple[int, int], held: dict[bytes, bytes]) -> bytes:
    """Return an image with the sums of its sections."""
    place = _HEADER.size + len(held) * _SECTION.size
    heads = b""
    for name, data in held.items():
        heads += _SECTION.pack(name, place, len(data), zlib.crc32(data))
        place += len(data)
    whole = _HEADER.pack(b"tablaimg", *fields, len(held), place + _CHECK.size) + heads + b"".join(held.values())
    return whole + _CHECK.pack(zlib.crc32(whole))


class _Remembered:
    """Workers that have each answer already."""

    def __init__(self) -> None:
        self.known: dict[str, Record] = {}

    def run(self, question: Question, tasks: Sequence[Task]) -> Iterator[tuple[Task, Record]]:
        """Yield the tasks with their figures."""
        for task in tasks:
            if task.key not in self.known:
                self.known[task.key] = answer(question, task)
            yield task, dict(self.known[task.key])


def exploration() -> tuple[Callable[[Random], bytes], Callable[[bytes], None]]:
    """Return what draws other records of an exploration, and what goes on with the exploration from them."""
    question, workers = Question(source=str(_folder() / "line.t"), options=Options(effort=0)), _Remembered()
    with tempfile.TemporaryDirectory(prefix="tabla-fuzz-") as home:
        explore_space(question, _SPACE, [_PART], workers, folder=Path(home) / "report")
        content = (Path(home) / "report" / NAME).read_bytes()

    def draw(chance: Random) -> bytes:
        if chance.random() < 0.3:
            return mutated_bytes(content, chance)
        lines = content.splitlines()
        for _ in range(chance.choice((1, 1, 2))):
            at = chance.randrange(len(lines))
            lines[at] = json.dumps(changed_json(json.loads(content.splitlines()[at]), chance)).encode()
        return b"\n".join(lines) + b"\n" * (chance.random() < 0.9)

    def read(data: bytes) -> None:
        with tempfile.TemporaryDirectory(prefix="tabla-fuzz-") as home:
            (Path(home) / NAME).write_bytes(data)
            found = explore_space(question, _SPACE, [_PART], workers, folder=Path(home))
            found.text()
            found.write(home)

    return draw, read
