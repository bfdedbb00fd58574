"""The subjects of the sweep over texts: for each notation the texts to begin with, and what reads a changed one."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from tabla.base.source import Source
from tabla.build.options import Options
from tabla.driver import build
from tabla.languages.preprocess import preprocess
from tabla.languages.tc import parse
from tabla.templates.tablegen import run as run_tablegen
from verify.fuzz import files, imported, overlay_files
from verify.fuzz.mutations import mutated_text

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests" / "programs"
_WORD = re.compile(r"\w+|[-+*/%<>=!&|:]+|[^\w\s]")
_DEFINED = re.compile(r"^def (\w+)\(", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Something that reads what users give it.

    `draw` makes an input of a seeded generator of random numbers. `read` gives it to the tool, and returns or raises as
    the tool does.
    """

    name: str
    draw: Callable[[Random], bytes]
    read: Callable[[bytes], object]


def _texts(*patterns: str) -> list[str]:
    found = [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]
    return [path.read_text(encoding="utf-8") for path in found]


@cache
def _vocabulary(texts: tuple[str, ...]) -> list[str]:
    """Return all words of the texts, once each, so that rare ones are drawn as often as names."""
    return sorted({word for text in texts for word in _WORD.findall(text)})


def _mutating(texts: Sequence[str]) -> Callable[[Random], bytes]:
    vocabulary = _vocabulary(tuple(texts))

    def draw(chance: Random) -> bytes:
        text = mutated_text(chance.choice(texts), chance, vocabulary)
        return text.encode("utf-8", "surrogatepass")

    return draw


def _checked(data: bytes, suffix: str, options: Options, member: str = "") -> None:
    """Do what ``tabla check`` does with a file of these bytes."""
    with tempfile.TemporaryDirectory(prefix="tabla-fuzz-") as folder:
        path = Path(folder) / f"p{suffix}"
        path.write_bytes(data)
        build(f"{path}{member}", options).check()


def _tabla(data: bytes) -> None:
    _checked(data, ".t", Options(pes=4, effort=0))


def _tensor_comprehensions(data: bytes) -> None:
    """The last function of the file, for small sizes that differ."""
    expanded = preprocess(Source.from_bytes(data, "p.tc"), {})
    with expanded.pointing_back():
        needed = parse(expanded.source).function(None).sizes
    sizes = {name: 2 + at for at, name in enumerate(needed)}
    _checked(data, ".tc", Options(pes=4, effort=0, sizes=sizes))


def _preprocessor(data: bytes) -> None:
    preprocess(Source.from_bytes(data, "p.t"), {"n": "3", "k": "2.5"})


def _tablegen(data: bytes) -> None:
    with tempfile.TemporaryDirectory(prefix="tabla-fuzz-") as folder:
        path = Path(folder) / "p.td"
        path.write_bytes(data)
        run_tablegen(path, [ROOT / "templates", folder], action="dump-json")
        run_tablegen(path, [ROOT / "templates", folder])


def _tile(data: bytes) -> None:
    """The last function of the file, for tensors of three axes."""
    found = _DEFINED.findall(data.decode("utf-8", "replace"))
    member = f":{found[-1]}" if found else ":f"
    parameters = re.findall(rf"def {found[-1]}\(([^)]*)\)", data.decode("utf-8", "replace")) if found else []
    names = re.findall(r"\b[A-Z]\w*", parameters[-1]) if parameters else []
    options = Options(pes=4, effort=0, shapes={name: (3, 3) for name in names})
    _checked(data, ".py", options, member)


def _functions(texts: Sequence[str]) -> list[str]:
    """Return each function of Tile files as a file of its own."""
    found = []
    for text in texts:
        for part in re.split(r"^(?=def )", text, flags=re.MULTILINE)[1:]:
            found.append(f"from tabla.tile import *\n\n\n{part}")
    return found


def _pair(name: str, both: tuple[Callable[[Random], bytes], Callable[[bytes], None]]) -> Subject:
    return Subject(name=name, draw=both[0], read=both[1])


def _stored(name: str, file: str) -> Subject:
    return _pair(name, files.stored(file))


_PREPROCESSED = (
    "$element_ty = f32\n$chunk_size = 64\n%x = subview %X[0:$chunk_size] : memref<$element_ty x $chunk_size>\n",
    '$n ?= 3\n$k = !calc($n 2 * 1 +)\n$a = [1, true, "s", [$k]]\n{ $d = {k = 1, m = {n = $a}} $d }\nm = $k;\n',
    "$s = strided<1, $n> $m = memref<f32 x $n x ?, $s> $g = group<$m x 4>\n$g $h = 0x1.8p3 $i = -inf $h $i",
    "$c = coopmatrix<f32 x 8 x 8, matrix_a>\n$c // $x\n/* { */ $v = -9223372036854775808\n$v;",
)
_LOWERED = ("examples/*.t", "tests/programs/tabla/lowered/*.t", "tests/programs/tabla/unfit/*.t")
# Names that begin with "refused" are left out: a change of a wrong program tells little.
_RECORDS = ("tests/programs/tablegen/[!r]*.td", "tests/programs/tablegen/re[!f]*.td", "templates/*.td")

# A front end that comes later needs a line here.
SUBJECTS: dict[str, Callable[[], Subject]] = {
    "tabla": lambda: Subject(name="tabla", draw=_mutating(_texts(*_LOWERED)), read=_tabla),
    "tc": lambda: Subject(name="tc", draw=_mutating(_texts("tests/programs/tc/*.tc")), read=_tensor_comprehensions),
    "tile": lambda: Subject(name="tile", draw=_mutating(_functions(_texts("tests/programs/tile/*.py"))), read=_tile),
    "onnx": lambda: Subject(name="onnx", draw=imported.draw, read=imported.read),
    "tablegen": lambda: Subject(name="tablegen", draw=_mutating(_texts(*_RECORDS)), read=_tablegen),
    "preprocessor": lambda: Subject(name="preprocessor", draw=_mutating(_PREPROCESSED), read=_preprocessor),
    "csv": lambda: Subject(name="csv", draw=files.table, read=files.read_csv),
    "npz": lambda: Subject(name="npz", draw=files.archive, read=files.read_npz),
    "manifest": lambda: _stored("manifest", "line.json"),
    "image": lambda: _stored("image", "program/image.json"),
    "layout": lambda: _stored("layout", "line.layout.npz"),
    "record": lambda: Subject(name="record", draw=files.record, read=files.read_record),
    "overlay": lambda: _pair("overlay", overlay_files.overlay()),
    "overlay image": lambda: _pair("overlay image", overlay_files.image()),
    "exploration": lambda: _pair("exploration", overlay_files.exploration()),
    "board": lambda: Subject(name="board", draw=files.answers, read=files.read_answers),
}
"""A function that makes each subject, by its name."""
