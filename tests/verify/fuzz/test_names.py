"""Names that are attacks stay names in all texts that `gen` writes: HTML, SVG, DOT, Verilog, C, Python, Tcl and XML."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import tabla
from tabla.base.source import TablaError
from tabla.build.files.output_folder import artifacts

ONNX = pytest.importorskip("onnx", reason="needs the package onnx")
HOSTILE = (
    "plain",
    'a"; exec("1"); "',
    "a'''b\"\"\"c",
    "</script><script>alert(1)</script>",
    "]]><x/>*/ int evil; /*",
    "$(touch evil) `touch evil` [exec x] {y",
    "endmodule\nmodule evil;",
    "{0}{name}%s@name@??/",
    "back\\slash\x01",
)
"""Names of files lack only the slash and the zero."""
PROGRAM = """m = 2; model_input x[m]; model_output y; model w[m]; gradient g[m] -> w; iterator i[0:m]; iterator j[0:m];
g[i] = (sum[j](w[j] * x[j]) - y) * x[i];
"""


class Tags(HTMLParser):
    """The tags of a page, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)


def texts(program: Path, **options: object) -> dict[str, str]:
    """Return the texts of a build by what follows the program's name in their names."""
    build = tabla.compile(program, pes=2, **options)
    found = {path.removeprefix(build.name): content for path, content in artifacts(build).items()}
    return {path: content for path, content in found.items() if isinstance(content, str)}


def tags(page: str) -> list[str]:
    parser = Tags()
    parser.feed(page)
    return parser.found


def shape_of(source: str) -> str:
    """Return a Python text as a tree in which all constants are equal: texts, and the fingerprint of the program."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            node.value = ""
    return ast.dump(tree)


def unquoted(text: str) -> str:
    """Return a DOT text without its quoted parts."""
    return re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)


def elements(picture: str) -> list[str]:
    """Return the elements of an XML text without those that break a long line."""
    return [element.tag for element in ElementTree.fromstring(picture).iter()]


def hold(plain: dict[str, str], hostile: dict[str, str]) -> None:
    """Hold two builds that differ in names against each other."""
    assert plain.keys() == hostile.keys()
    for file in plain:
        one, other = plain[file], hostile[file]
        if file.endswith(".html"):
            assert tags(one) == tags(other), file
        elif file.endswith((".svg", ".xml")):
            assert set(elements(one)) == set(elements(other)), file
        elif file.endswith(".dot"):
            assert unquoted(one) == unquoted(other), file
        elif file.endswith(".py"):
            assert shape_of(one) == shape_of(other), file


def linear(folder: Path, name: str) -> Path:
    folder.mkdir(exist_ok=True)
    program = folder / f"{name.replace('/', '')}.t"
    program.write_text(PROGRAM, encoding="utf-8")
    return program


def hostile(*quick: int) -> list[object]:
    """Return the names as parameters. All but some are for the slow tests."""
    names = enumerate(HOSTILE[1:], 1)
    return [pytest.param(n, marks=() if k in quick else pytest.mark.slow, id=str(k)) for k, n in names]


@pytest.mark.parametrize("name", hostile(1, 3))
def test_the_name_of_a_file(name: str, tmp_path: Path) -> None:
    plain, attacked = (texts(linear(tmp_path, each)) for each in ("plain", name))
    hold(plain, attacked)
    module = tabla.compile(linear(tmp_path, name), pes=2).module
    assert re.fullmatch(r"\w+", module, re.ASCII)
    assert attacked[".v"].replace(module, "plain") == plain[".v"]


@pytest.mark.parametrize("name", hostile(1, 5))
def test_the_name_of_a_file_behind_a_bus(name: str, tmp_path: Path) -> None:
    """What C cannot include is refused. The rest is checked by a compiler of C and by Tcl."""
    program = linear(tmp_path, name)
    if re.search(r'["\\\n\x01]', name):
        with pytest.raises(TablaError, match="C cannot include a file"):
            texts(program, bus="axi")
        return
    plain, attacked = texts(linear(tmp_path, "plain"), bus="axi"), texts(program, bus="axi")
    hold(plain, attacked)
    if shutil.which("tclsh"):
        told = "proc read_verilog {file} { puts [file tail $file] }\n"
        script = told + attacked["_vivado.tcl"].partition("synth_")[0]
        done = subprocess.run(["tclsh"], input=script, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout == f"{program.stem}.v\n{program.stem}_axi.v\n"


def onnx_model(folder: Path, name: str) -> Path:
    """Write a model of one layer whose names begin with `name`."""
    names = {part: f"{name}{part}" for part in "xwbyt"}
    value, helper = ONNX.TensorProto.FLOAT, ONNX.helper
    nodes = [
        helper.make_node("MatMul", [names["x"], names["w"]], [names["t"]], name=name),
        helper.make_node("Add", [names["t"], names["b"]], [names["y"]]),
    ]
    held = [
        # Equal numbers would be one constant of the program, whose address depends on where its name is sorted.
        ONNX.numpy_helper.from_array(np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape) / 8, names[part])
        for part, shape in (("w", (3, 2)), ("b", (2,)))
    ]
    ends = [helper.make_tensor_value_info(names[part], value, [1, n]) for part, n in (("x", 3), ("y", 2))]
    made = helper.make_model(
        helper.make_graph(nodes, name, ends[:1], ends[1:], held), opset_imports=[helper.make_opsetid("", 17)]
    )
    made.ir_version = 8
    folder.mkdir(exist_ok=True)
    path = folder / "model.onnx"
    path.write_bytes(made.SerializeToString())
    return path


@pytest.mark.parametrize("name", hostile(4))
def test_the_names_of_a_model_of_onnx(name: str, tmp_path: Path) -> None:
    """Any text is a name in ONNX."""
    plain, attacked = (texts(onnx_model(tmp_path / str(n), each), bus="axi") for n, each in enumerate(("plain", name)))
    hold(plain, attacked)
    assert plain[".v"] == attacked[".v"]
    for file, text in attacked.items():
        (tmp_path / f"model{file}").parent.mkdir(exist_ok=True)
        (tmp_path / f"model{file}" if file[0] in "._" else tmp_path / file.replace("/", "_")).write_text(text)
    if shutil.which("gcc"):
        source = '#include "model.h"\nint evil; int main(void) { return 0; }\n'
        command = ["gcc", "-x", "c", "-std=c99", "-Wall", "-Wno-unused", "-Werror", "-fsyntax-only", "-I.", "-"]
        done = subprocess.run(command, input=source, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert not done.returncode, done.stderr
