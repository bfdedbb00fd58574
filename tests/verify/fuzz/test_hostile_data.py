"""Names of folders, columns and arrays that are attacks: the bench of `gen` runs, and no error sends a command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tabla
from tabla.base.source import Label, Source, Span, TablaError
from tabla.build.arrays import stack_samples
from tabla.host.engines.cocotb_run import available
from tests.verify.fuzz.test_names import HOSTILE, PROGRAM
from verify.fuzz.files import SHAPES

ARRIVED = ("\x1b[2J\x1b[31mred", "\x9b31m", "\u202ey", "\x07", *HOSTILE[1:])
"""Names of columns and arrays. Their escapes would clear a terminal."""
ORDERS = set(map(chr, (*range(9), *range(11, 32), *range(127, 160), *range(0x202A, 0x202F))))


def test_the_bench_in_a_folder_whose_name_is_an_attack(tmp_path: Path) -> None:
    if not available("icarus"):
        pytest.skip("needs cocotb and Icarus Verilog")
    folder = tmp_path / "a'b\"c:d\n$(touch evil) {0}%s;'"
    folder.mkdir()
    (folder / "line.t").write_text(PROGRAM, encoding="utf-8")
    tabla.compile(folder / "line.t", pes=1).write(folder / "out")
    run = [sys.executable, str(folder / "out" / "tb" / "run.py")]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.endswith("1 test, 0 failed\n"), done.stdout + done.stderr
    assert not list(tmp_path.rglob("evil"))


@pytest.mark.parametrize("name", ARRIVED)
def test_names_in_files_of_data_send_no_command_to_a_terminal(name: str, tmp_path: Path) -> None:
    arrays = {name: np.ones((1, 2))}
    with pytest.raises(TablaError) as fault:
        stack_samples(arrays, SHAPES)
    assert not ORDERS & set(str(fault.value))
    table = tmp_path / "data.csv"
    quoted = name.replace('"', '""')
    table.write_text(f'"{quoted}"\n1\n', encoding="utf-8", newline="")
    (tmp_path / "p.t").write_text(PROGRAM, encoding="utf-8")
    with pytest.raises(TablaError) as fault:
        tabla.compile(tmp_path / "p.t", pes=1).train(table, epochs=1)
    assert not ORDERS & set(str(fault.value))


def test_a_caret_stands_below_its_character() -> None:
    source = Source.from_text("a\x1b\x1b = b", "p\x1b.t")
    shown = str(TablaError("no '\x1b'", Label(Span(source=source, start=6, end=7)), hint="\u202e"))
    assert "no '\\x1b'" in shown and "hint: \\u202e" in shown and not ORDERS & set(shown)
    lines = shown.splitlines()
    at = next(n for n, line in enumerate(lines) if "^" in line)
    assert lines[at - 1][lines[at].index("^")] == "b"
