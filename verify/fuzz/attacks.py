"""Inputs that are made to take all time or all memory, each with the words by which the error names the limit."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from tabla.program.overlay_image import FORM

MEGABYTES = 10_000_000
_HEAD = "m = 4; model_input x[m]; model_output y; model w[m]; gradient g[m] -> w; iterator i[0:m];\n"
_LONG = "the program is too long: it has more than 100,000 words, numbers and signs"
_CHARACTERS = "characters; the limit is 2,000,000"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """An input of a subject of the sweep. `says` stands in the error; without it a result is expected."""

    subject: str
    make: Callable[[], bytes]
    says: str


def _tabla(expression: str) -> bytes:
    return f"{_HEAD}g[i] = {expression};\n".encode()


def _kernel(expression: str) -> bytes:
    return f"def f(float(N) A) -> (B) {{ B(i) = {expression} }}".encode()


def _tile(expression: str) -> bytes:
    return f"from tabla.tile import *\ndef f(I):\n    return {expression}\n".encode()


def _far(factor: int) -> bytes:
    """Return a kernel of Tile that reads at a multiple of its index."""
    lines = (
        "from tabla.tile import *",
        "def f(I):",
        "    x, i = TensorIndexes(2)",
        "    O = TensorOutput(3)",
        f"    O[2 * x + i] = I[{factor} * x + i, 0]",
        "    O.add_constraint(i < 2)",
        "    return O",
    )
    return "\n".join(lines).encode()


def _onnx(location: str = "", extent: int = 2) -> bytes:
    """Return a model of one product, whose weights lie in a file, or claim an extent."""
    from onnx import TensorProto, helper

    weights = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[extent, 1])
    if location:
        weights.data_location = TensorProto.EXTERNAL
        weights.external_data.add(key="location", value=location)
    else:
        weights.raw_data = bytes(8)
    ends = [helper.make_tensor_value_info(each, TensorProto.FLOAT, [1, n]) for each, n in (("x", 2), ("y", 1))]
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    graph = helper.make_graph([node], "g", ends[:1], ends[1:], [weights])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    made.ir_version = 8
    data: bytes = made.SerializeToString()
    return data


def _graphs(depth: int) -> bytes:
    """Return a model whose graph has a node with an attribute that is a graph, and so on."""

    def field(number: int, held: bytes) -> bytes:
        size, length = len(held), b""
        while size > 127:
            size, length = size >> 7, length + bytes([size & 127 | 128])
        return bytes([number << 3 | 2]) + length + bytes([size]) + held

    graph = b""
    for _ in range(depth):
        graph = field(1, field(5, field(6, graph)))
    return field(7, graph)


def _image(extent: int) -> bytes:
    """Return the head of an image that claims so many sections."""
    head = struct.pack("<8sIIII", b"tablaimg", FORM, 0, extent, 28)
    return head + struct.pack("<I", zlib.crc32(head))


def _doubled(first: str, step: str, last: str) -> bytes:
    """Return forty lines, each of which has its predecessor twice."""
    return (first + "".join(step.replace("#", str(k)).replace("@", str(k - 1)) for k in range(1, 40)) + last).encode()


def _zip(members: list[tuple[str, bytes]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return content.getvalue()


def _npy(shape: str, body: bytes, kind: str = "'<f8'") -> bytes:
    head = f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + body


def _archive(shape: str, body: bytes, kind: str = "'<f8'", method: int = zipfile.ZIP_DEFLATED) -> bytes:
    return _zip([("x.npy", _npy(shape, body, kind))], method)


def _wide_table() -> bytes:
    """Return a table of 17,000 columns, each with a name of its own, in a header that the module `csv` reads."""
    return b",".join(b"x%d" % k for k in range(17_000)) + b"\n" + b",".join([b"1"] * 17_000)


def _attack(subject: str, make: Callable[[], bytes], says: str) -> Attack:
    return Attack(subject=subject, make=make, says=says)


_DIGITS = "9" * 1_000_000
_OUTSIDE = "outside the folders that are searched"
_OBJECT = b"\x80\x04cos\nsystem\n"
ATTACKS: dict[str, Attack] = {
    "tabla parentheses": _attack("tabla", lambda: _tabla("(" * MEGABYTES + "1"), _CHARACTERS),
    "tabla calls": _attack("tabla", lambda: _tabla("abs(" * 5_000 + "1" + ")" * 5_000), "the limit is 150"),
    "tabla minus": _attack("tabla", lambda: _tabla("-" * 9_000 + "1"), "the limit is 150"),
    "tabla digits": _attack("tabla", lambda: _tabla(_DIGITS), "is too long"),
    "tabla fraction": _attack("tabla", lambda: _tabla(f"0.{_DIGITS}"), "is too long"),
    "tabla exponent": _attack("tabla", lambda: _tabla("1e999999999"), "is too long"),
    "tabla size": _attack("tabla", lambda: _tabla("x[i]").replace(b"4", _DIGITS.encode()), "is too long"),
    "tabla extent": _attack("tabla", lambda: _tabla("x[i]").replace(b"4", b"9" * 30), "the largest array holds"),
    "tabla part": _attack("tabla", lambda: _tabla("x[i];\nc[9999999999] = 0.1"), "the limit is 33,554,432"),
    "tabla squares": _attack("tabla", lambda: _doubled("a0 = 9;\n", "a# = a@ * a@;\n", ""), "too many digits"),
    "tabla strays": _attack("tabla", lambda: _tabla("@ " * 10_000), "more than 1,000 runs of stray characters"),
    "tabla primes": _attack("tabla", lambda: _tabla("w" + "'" * 100_000), "more than 1,000 runs of stray"),
    "tabla subscript": _attack("tabla", lambda: _tabla(f"x[i];\nc[{'9' * 40}] = 0.1"), "the limit is 1,099,511,"),
    "tc parentheses": _attack("tc", lambda: _kernel("(" * MEGABYTES + "1"), _CHARACTERS),
    "tc digits": _attack("tc", lambda: _kernel(_DIGITS), "is too long"),
    "tc calls": _attack("tc", lambda: _kernel("exp(" * 5_000 + "1" + ")" * 5_000), "the limit is"),
    "tile parentheses": _attack("tile", lambda: _tile("(" * MEGABYTES + "I"), "too many nested parentheses"),
    "tile minus": _attack("tile", lambda: _tile("-" * MEGABYTES + "I"), "is something nested too deeply?"),
    "tile digits": _attack("tile", lambda: _tile(f"I + {_DIGITS}"), "Exceeds the limit (4300 digits)"),
    "tile indices": _attack("tile", lambda: _tile("TensorIndexes(10**18)"), "makes at most 1024 at once"),
    "tile subscript": _attack("tile", lambda: _far(10**40), "the limit is 1,099,511,627,776"),
    "tile wrapping": _attack("tile", lambda: _far(2**62), "the limit is 1,099,511,627,776"),
    "tile null": _attack("tile", lambda: _tile("I\0"), "holds no null characters"),
    "tablegen cycle": _attack("tablegen", lambda: b'include "p.td"\n', "nested more than 200 deep"),
    "tablegen tree": _attack(
        "tablegen",
        lambda: b'#ifndef A\n#define A\ninclude "p.td"\ninclude "p.td"\n#endif\ninclude "p.td"\n' * 9,
        "nested more than 200 deep",
    ),
    "tablegen outside": _attack("tablegen", lambda: b'include "/etc/passwd"\n', _OUTSIDE),
    "tablegen above": _attack("tablegen", lambda: b'include "' + b"../" * 20 + b'etc/passwd"\n', _OUTSIDE),
    "tablegen strings": _attack(
        "tablegen", lambda: _doubled('defvar a0 = "x";\n', "defvar a# = !strconcat(a@, a@);\n", ""), "1048576 char"
    ),
    "tablegen lists": _attack(
        "tablegen", lambda: _doubled("defvar a0 = [1];\n", "defvar a# = !listconcat(a@, a@);\n", ""), "1048576 items"
    ),
    "tablegen range": _attack("tablegen", lambda: b"def X { list<int> l = !range(0, 4000000000000); }", "1048576"),
    "preprocessor brackets": _attack("preprocessor", lambda: b"$a = " + b"[" * MEGABYTES, _CHARACTERS),
    "preprocessor nested": _attack("preprocessor", lambda: b"$a = " + b"[" * 1000, "more than 100 deep"),
    "preprocessor digits": _attack("preprocessor", lambda: f"$a = {_DIGITS}\n$a".encode(), "outside 64 bits"),
    "preprocessor power": _attack("preprocessor", lambda: b"$a = !calc(2 1000000 ^)\n$a", "outside 64 bits"),
    "preprocessor doubling": _attack(
        "preprocessor", lambda: _doubled("$a0 = [1]\n", "$a# = [$a@, $a@]\n", "$a39"), "more than 2,000,000 characters"
    ),
    "csv quotes": _attack("csv", lambda: b'"' * MEGABYTES, "field larger than field limit (131072)"),
    "csv digits": _attack("csv", lambda: f"x[0],y\n{_DIGITS},1\n".encode(), "field limit (131072)"),
    "csv subscript": _attack("csv", lambda: b"x[99999999999999],y\n1,2\n", "column 'x[0]' is missing"),
    "csv names": _attack("csv", _wide_table, "'x[4]' is missing"),
    "npz bomb": _attack("npz", lambda: _archive("(9999999,)", b"\0" * 80_000_000), "100 times its own size"),
    "npz shape": _attack("npz", lambda: _archive("(100000000000,)", b"\0" * 8), "cannot be read"),
    "npz digits": _attack("npz", lambda: _archive(f"({'9' * 60},)", b"\0" * 8), "cannot be read"),
    "npz open": _attack("npz", lambda: _archive("(" * 40, b""), "cannot be read"),
    "npz axes": _attack("npz", lambda: _archive(f"({'1,' * 65})"[:80], b"\0" * 8), "cannot be read"),
    "npz object": _attack("npz", lambda: _archive("(1,)", _OBJECT, "'|O'"), "holds Python objects, not numbers"),
    "npz pickle": _attack("npz", lambda: _zip([("x.npy", _OBJECT)]), "cannot be read"),
    "npz method": _attack("npz", lambda: _archive("(4,)", bytes(32), method=zipfile.ZIP_BZIP2), "packed in a way"),
    "npz above": _attack("npz", lambda: _zip([("../x.npy", _npy("(4,)", bytes(32)))]), "'x[4]' is missing"),
    "npz no array": _attack("npz", lambda: _zip([("x", b"hello")]), "'x' is no array"),
    "manifest depth": _attack("manifest", lambda: b"[" * 1_000_000, "has no manifests of tabla gen"),
    "manifest digits": _attack("manifest", lambda: _DIGITS.encode(), "has no manifests of tabla gen"),
    "image depth": _attack("image", lambda: b"[" * 1_000_000, "image.json' is damaged"),
    "onnx above": _attack("onnx", lambda: _onnx("../../../etc/passwd"), "cannot read the external data"),
    "onnx absolute": _attack("onnx", lambda: _onnx("/etc/passwd"), "cannot read the external data"),
    "onnx device": _attack("onnx", lambda: _onnx("/dev/zero"), "cannot read the external data"),
    "onnx extent": _attack("onnx", lambda: _onnx(extent=10**12), "is not a valid ONNX model"),
    "onnx depth": _attack("onnx", lambda: _graphs(10_000), "is not a valid ONNX model"),
    "onnx zeros": _attack("onnx", lambda: bytes(MEGABYTES), "is not a valid ONNX model"),
    "overlay depth": _attack("overlay", lambda: b"[" * 1_000_000, "is damaged"),
    "overlay digits": _attack("overlay", lambda: _DIGITS.encode(), "is damaged"),
    "overlay image sections": _attack("overlay image", lambda: _image(2**32 - 1), "is not an image"),
    "exploration depth": _attack("exploration", lambda: b"[" * 1_000_000 + b"\n", "holds no records"),
    "exploration digits": _attack("exploration", lambda: _DIGITS.encode() + b"\n", "holds no records"),
    "record depth": _attack("record", lambda: b"[" * 1_000_000, "a broken entry"),
    "record class": _attack(
        "record",
        lambda: json.dumps({"classes": [["os", "system", []]], "nodes": [["record", 0]]}).encode(),
        "a broken entry",
    ),
}
SLOW: dict[str, Attack] = {
    "tabla million": _attack("tabla", lambda: _HEAD.encode() + b";" * 1_000_000, _LONG),
    "tc million": _attack("tc", lambda: _kernel("+".join(["A(i)"] * 200_000)), _LONG),
    "tablegen parentheses": _attack("tablegen", lambda: b"def X { dag d = " + b"(" * MEGABYTES, "1,500,000 words"),
    "tablegen operators": _attack("tablegen", lambda: b"def X { int d = " + b"!add(1," * 1_000_000, "1,500,000 words"),
    "tablegen text": _attack("tablegen", lambda: b'def X { string s = "' + b"x" * MEGABYTES, "end of file in string"),
    "tablegen records": _attack("tablegen", lambda: b"foreach i = 0-1000003 in def R#i;", "more than 250000 records"),
    "tablegen conditions": _attack("tablegen", lambda: b"#ifdef A\n" * 1_000_000, "without a matching #endif"),
    "npz large bomb": _attack("npz", lambda: _archive("(99999999,)", b"\0" * 800_000_000), "100 times its own size"),
    "npz many": _attack(
        "npz", lambda: _zip([(f"x{k}.npy", _npy("(1,)", bytes(8))) for k in range(20_000)]), "the limit is 10,000"
    ),
}
"""Attacks that take a second or more."""
