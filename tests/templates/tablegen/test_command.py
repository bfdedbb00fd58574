"""``tabla tblgen`` on the command line: the options of ``llvm-tblgen``."""

import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tabla.commands.cli import main

FILES = {
    "main.td": 'include "b.td"\ninclude "a.td"\nclass C<int n>;\ndef X { int v = 1; }\n',
    "inc/a.td": "#ifndef A\n#define A\ndef A;\n#endif\n",
    "inc/b.td": 'include "a.td"\ndef B;\n',
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a file that includes two others."""
    (tmp_path / "inc").mkdir()
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("include", ["inc", "./inc", "inc/"])
@pytest.mark.parametrize("action", ["-print-records", "--print-records", "-dump-json", "--dump-json", "-null-backend"])
def test_outputs_of_both_tools(folder: Path, action: str, include: str) -> None:
    tool = shutil.which("llvm-tblgen-14")
    if tool is None:
        pytest.skip("llvm-tblgen-14 is not installed (Debian: apt-get install llvm-14)")
    words = [action, "-I", include, "-d", "out.d", "-o", "out.txt", "main.td"]
    assert main(["tblgen", *words]) == 0
    ours = [Path(name).read_bytes() for name in ("out.d", "out.txt")]
    subprocess.run([tool, *words], check=True, capture_output=True)
    assert ours == [Path(name).read_bytes() for name in ("out.d", "out.txt")]


def test_the_rule_of_make_names_each_file_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tblgen", "-Iinc", "-d", "-", "-o", "out.txt", "main.td"]) == 0
    assert capsys.readouterr().out == "out.txt: inc/a.td inc/b.td\n"


def test_the_rule_of_make_escapes_names(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a b#c$d:e%.td").write_text("def A;\n")
    Path("main.td").write_text('include "a b#c$d:e%.td"\n')
    assert main(["tblgen", "-d", "-", "-o", "o #$:%.txt", "main.td"]) == 0
    assert capsys.readouterr().out == "o\\ \\#$$\\:\\%.txt: a\\ b\\#c$$d\\:e%.td\n"


STEMS = ("a b#c$d", "plain", "back\\slash", "b\\ space", "two\\\\#", "$(x) ${y}", "a:b", "50%", "b\\:", "b\\%", "%:%")


@pytest.mark.parametrize("stem", STEMS)
def test_make_reads_the_rule(folder: Path, stem: str) -> None:
    """Make takes the target for old if and only if the included file is newer, so it found both under their names."""
    # The tests may run under make themselves, which passes its own options on.
    outside = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not installed (Debian: apt-get install make)")
    included, output = f"{stem}.td", f"out {stem}.txt"
    Path(included).write_text("def A;\n")
    # A file is included under a text of TableGen, where a backslash is written twice.
    Path("main.td").write_text('include "{}"\n'.format(included.replace("\\", "\\\\")))
    assert main(["tblgen", "-d", "out.d", "-o", output, "main.td"]) == 0
    Path("Makefile").write_text("include out.d\n%.txt: ; @echo again\n")
    said = []
    for age in (-9, 9):
        os.utime(included, (stamp := Path(output).stat().st_mtime + age, stamp))
        # A target with a percent sign is not the one that make takes without being asked.
        command = [make, "-r", "--no-print-directory", output]
        said.append(subprocess.run(command, check=True, capture_output=True, text=True, env=outside).stdout)
    assert "up to date" in said[0] and said[1] == "again\n"


def test_a_rule_of_make_needs_an_output(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tblgen", "-Iinc", "-d", "out.d", "main.td"]) == 1
    assert "-d needs -o" in capsys.readouterr().err and not Path("out.d").exists()


def test_nothing_is_written_after_a_fault(folder: Path) -> None:
    assert main(["tblgen", "-d", "out.d", "-o", "out.txt", "main.td"]) == 1
    assert not Path("out.d").exists() and not Path("out.txt").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-o", "out.txt", "-d", "main.td"), "-d main.td: the command reads this file"),
        (("-o", "out.txt", "-d", "./inc/../main.td"), "-d ./inc/../main.td: the command reads this file"),
        (("-o", "out.txt", "-d", "inc/a.td"), "-d inc/a.td: the command reads this file"),
        (("-o", "inc/a.td"), "-o inc/a.td: the command reads this file"),
        (("-o", "same.txt", "-d", "same.txt"), "-d and -o both name 'same.txt'"),
        (("-o", "same.txt", "-d", "inc/../same.txt"), "-d and -o both name 'inc/../same.txt'"),
        (("-o", "old.txt", "-d", "link.txt"), "-d and -o both name 'link.txt'"),
    ],
)
def test_no_output_replaces_a_file_of_the_run(
    folder: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    Path("old.txt").write_text("old")
    Path("link.txt").symlink_to("old.txt")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert main(["tblgen", "-Iinc", *words, "main.td"]) == 1
    said = capsys.readouterr().err
    assert f"error: {message}" in said and "hint: name another file" in said
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_device_may_take_both_outputs(folder: Path) -> None:
    assert main(["tblgen", "-Iinc", "-o", "/dev/null", "-d", "/dev/null", "main.td"]) == 0


def stdin(text: bytes) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(text))


def test_standard_input(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", stdin(b'include "a.td"\ndef X { code c = [{\xc3\xa9}]; }\n'))
    assert main(["tblgen", "-Iinc", "-o", "-", "-"]) == 0
    assert "def A {" in (out := capsys.readouterr().out) and "[{é}]" in out


@pytest.mark.parametrize(
    ("text", "message"), [(b"def X {\n int a = nope; }", " --> <stdin>:2:10"), (b"\xff", "'<stdin>' is not UTF-8")]
)
def test_faults_of_standard_input(
    text: bytes, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", stdin(text))
    assert main(["tblgen", "-"]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("dashes", ["-", "--"])
def test_warnings_and_dumps_go_to_standard_error(folder: Path, capsys: pytest.CaptureFixture[str], dashes: str) -> None:
    Path("w.td").write_text('class A<int a>;\ndump "hello";\n')
    assert main(["tblgen", "--null-backend", "w.td"]) == 0
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith("warning: unused template argument 'A:a'\n --> w.td:1:13\n")
    assert said.err.endswith("\nhello\n")
    assert main(["tblgen", f"{dashes}no-warn-on-unused-template-args", f"{dashes}null-backend", "w.td"]) == 0
    assert capsys.readouterr() == ("", "hello\n")
