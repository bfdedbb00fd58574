"""The subjects of the sweep over files: tables, arrays, what is kept on disk, and what a board says."""

from __future__ import annotations

import io
import json
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import tabla
from tabla.base.arrays import npz_bytes, read_arrays
from tabla.base.record_text import text_of, value_of
from tabla.base.source import Source, TablaError
from tabla.build.arrays import stack_samples
from tabla.driver import Build
from tabla.host.link.requests import Requests, Status, frame
from tabla.host.runtime.folder import BuildFolder
from tabla.learn.data.dataset import Data, Tensors
from tabla.program.protocol import DONE, MAGIC, STATUS, Refusal, Request
from tests.linear_program import linear_text
from verify.fuzz.mutations import CHARACTERS, NUMBERS, mutated_bytes, mutated_text

SHAPES: dict[str, tuple[int, ...]] = {"x": (4,), "y": ()}
"""The input and the label of the program that tables and arrays are for."""
_CELLS = (*("", "NA", "nan", "inf", "-inf", "1,5", "1.000,5", "0x10", "1e400"), *('"', '""', "x[0]", "y", "=1+1", " "))
_DTYPES = ("f8", "f4", "f2", ">f8", "i8", "u8", "b1", "c16", "S3", "U4", "i1", "M8[s]", "f16")


def table(chance: Random) -> bytes:
    """Draw a table: right, or with other cells, names, delimiters and bytes."""
    header = [f"x[{k}]" for k in range(4)] + ["y"] if chance.random() < 0.7 else [*"abcd", "y"]
    rows = [[f"{chance.uniform(-1, 1):.3f}" for _ in header] for _ in range(chance.choice((0, 1, 5, 40)))]
    for _ in range(chance.choice((0, 1, 1, 3))):
        row = chance.choice([header, *rows])
        row[chance.randrange(len(row))] = chance.choice((*_CELLS, *NUMBERS))
    text = chance.choice(("\n", "\r\n", "\n\n")).join(chance.choice(",,;\t").join(row) for row in [header, *rows])
    if chance.random() < 0.5:
        text = mutated_text(text, chance, (*_CELLS, *CHARACTERS))
    data = text.encode(chance.choice(("utf-8", "utf-8", "utf-8-sig", "utf-16")), "surrogatepass")
    return mutated_bytes(data, chance) if chance.random() < 0.3 else data


def read_csv(data: bytes) -> None:
    """Read a table as samples, by its header, and with columns and classes that are named."""
    with tempfile.TemporaryDirectory(prefix="tabla-fuzz-") as folder:
        path = Path(folder) / "data.csv"
        path.write_bytes(data)
        faults = []
        named = {"columns": {"x": ("a", "b", "c", "d"), "y": "y"}, "classes": "y"}
        ways: tuple[dict[str, Any], ...] = ({}, named, {"columns": {"x": "*", "y": "y"}})
        for options in ways:
            try:
                data = Data(str(path), **options)
                arrays = data.arrays(Tensors(inputs={"x": SHAPES["x"]}, labels={"y": SHAPES["y"]})).arrays
                if not data.classes:
                    stack_samples(arrays, SHAPES)
            except TablaError as fault:
                faults.append(fault)
        if len(faults) == len(ways):
            raise faults[0]


def archive(chance: Random) -> bytes:
    """Draw an archive of arrays. Its members are damaged before they are packed, so that their sums are right."""
    if chance.random() < 0.2:
        return mutated_bytes(npz_bytes({"x": np.ones((3, 4)), "y": np.ones(3)}), chance)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", chance.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as packed:
        for name in chance.choice((("x", "y"), ("x", "x"), ("y",), ("x", "y", "../z"), ("x", "y", "w.classes"))):
            suffix = chance.choice((".npy", ".npy", ".npy", "", ".NPY", "/"))
            packed.writestr(f"{name}{suffix}", _member(chance, (3, 4) if name == "x" else (3,)))
    return content.getvalue()


def _member(chance: Random, shape: tuple[int, ...]) -> bytes:
    stored = io.BytesIO()
    array = np.ones(chance.choice((shape, shape, (), (0,), (1,) * 30)))
    try:
        np.save(stored, array.astype(chance.choice(_DTYPES)), allow_pickle=False)
    except (TypeError, ValueError):
        np.save(stored, array, allow_pickle=False)
    data = stored.getvalue()
    match chance.randrange(4):
        case 0:
            return mutated_bytes(data, chance)
        case 1:  # a header of the same length that says something else
            head, body = data[:128], data[128:]
            said = head[10:].decode("latin-1")
            changed = mutated_text(said, chance, (*NUMBERS, "(", ")", "True", "'|O'", "'<f8'", "None", ","))
            return head[:10] + changed.encode("utf-8", "replace")[:118].ljust(117) + b"\n" + body
        case _:
            return data


def read_npz(data: bytes) -> None:
    """Read an archive as samples."""
    with tempfile.TemporaryDirectory(prefix="tabla-fuzz-") as folder:
        path = Path(folder) / "data.npz"
        path.write_bytes(data)
        stack_samples(read_arrays(path), SHAPES)


@cache
def _build() -> Build:
    source = Source.from_text(linear_text(3), "line.t")
    return tabla.driver.build(source, tabla.build.options.Options(pes=2, effort=0, bus="axi"))


@cache
def _folder() -> Path:
    """Return an output folder of `gen`, written once for this process and those that it forks."""
    home = Path(tempfile.mkdtemp(prefix="tabla-fuzz-"))
    _build().write(home / "out")
    return home / "out"


def changed_json(value: Any, chance: Random) -> Any:
    """Return JSON with one part changed: taken out, doubled, or another value in its place."""
    strange: tuple[Any, ...] = (
        *(None, True, 0, -1, 1, 2**31, 2**64, 10**40, 1e308, 0.5, float("nan"), float("inf"), "", "x", "../../x", []),
        *({}, [[[]]], {"": 0}, "\0", "\ud800", [1] * 1000, "9" * 5000),
    )
    if chance.random() < 0.15 or not isinstance(value, dict | list) or not value:
        return chance.choice(strange)
    if isinstance(value, dict):
        key = chance.choice(list(value))
        match chance.randrange(8):
            case 0:
                return {name: part for name, part in value.items() if name != key}
            case 1:
                return {**value, chance.choice(list(value)): value[key]}
            case _:
                return {**value, key: changed_json(value[key], chance)}
    at = chance.randrange(len(value))
    match chance.randrange(8):
        case 0:
            return value[:at] + value[at + 1 :]
        case 1:
            return [*value[:at], value[at], *value[at:]]
        case _:
            return [*value[:at], changed_json(value[at], chance), *value[at + 1 :]]


def jsons(text: str) -> Callable[[Random], bytes]:
    whole = json.loads(text)

    def draw(chance: Random) -> bytes:
        if chance.random() < 0.2:
            return mutated_bytes(text.encode(), chance)
        made = whole
        for _ in range(chance.choice((1, 1, 2, 4))):
            made = changed_json(made, chance)
        return json.dumps(made).encode()

    return draw


def stored(name: str) -> tuple[Callable[[Random], bytes], Callable[[bytes], None]]:
    """Return what draws another content for a file of an output folder, and what reads the folder with it."""
    original = (_folder() / name).read_bytes()
    draw = jsons(original.decode()) if name.endswith(".json") else (lambda chance: mutated_bytes(original, chance))

    def read(data: bytes) -> None:
        with tempfile.TemporaryDirectory(prefix="tabla-fuzz-") as home:
            copy = Path(shutil.copytree(_folder(), Path(home) / "out"))
            (copy / name).write_bytes(data)
            opened = BuildFolder.open(copy)
            opened.image()
            opened.verilog()

    return draw, read


@cache
def _record() -> str:
    return text_of(_build().schedule)


def record(chance: Random) -> bytes:
    """Draw the text of a kept schedule with parts changed."""
    return jsons(_record())(chance)


def read_record(data: bytes) -> None:
    """Read a kept record. The cache takes ValueError and OSError for an entry that is broken."""
    try:
        value_of(data.decode("utf-8", "replace"))
    except (ValueError, OSError):
        raise TablaError("a broken entry", hint="the cache makes it anew") from None


@dataclass(kw_only=True)
class Line:
    """A serial line at whose end something speaks that is no board. It stands in for `SerialPort`."""

    answers: bytes
    path: str = "line"
    parts: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.parts = [self.answers[at : at + 64] for at in range(0, len(self.answers), 64)]

    def write(self, text: bytes, seconds: float) -> None:
        """Take what the host sends."""

    def read(self, seconds: float) -> bytes:
        """Return the next part of the answers, and nothing after the last."""
        return self.parts.pop(0) if self.parts else b""

    def close(self) -> None:
        """Close the line."""


def answers(chance: Random) -> bytes:
    """Draw what a board may say: frames that are right, with other words, or damaged."""
    said = b""
    for _ in range(chance.choice((1, 3, 8))):
        code = chance.choice((*Request, *Refusal, 0, 255))
        words = b"".join(chance.choice((0, 1, MAGIC, 2**32 - 1)).to_bytes(4, "little") for _ in STATUS)
        payload = chance.choice((b"", words, words, words[:-1], chance.randbytes(chance.choice((1, 40, 300)))))
        said += frame(bytes([(int(code) | chance.choice((0, DONE, DONE))) & 255]) + payload)
    return mutated_bytes(said, chance) if chance.random() < 0.5 else said


def read_answers(data: bytes) -> None:
    """Speak with what answers so: reset it, ask for its status, and read words."""
    requests = Requests(Line(answers=data), 0.001)  # type: ignore[arg-type]
    status: Status = requests.reset()
    assert 0 <= status.buffer < 1 << 32
    requests.ask(Request.READ, 3)
    requests.status()
