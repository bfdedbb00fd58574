"""Running a schedule on an engine: arrays of words in, arrays of words and counted cycles out.

An *engine* is what plays the accelerator: the cycle model, a simulator of the Verilog, or a board.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tabla.base.source import TablaError, TablaTypeError, TablaValueError
from tabla.host.engines.port_machine import PortMachine
from tabla.host.link.machine import PREFIX, SerialMachine, place_of
from tabla.program.host import Host
from tabla.program.image import Image
from tabla.program.overlay import Overlay
from tabla.schedule.placing.schedule import Schedule
from tabla.sim.machine import Counters, Machine, RunResult

Words = NDArray[np.int64]
Opener = Callable[[Image, str], Machine]
"""Makes the machine of an image; the second argument is the name of the Verilog module."""


def _model(image: Image, _: str) -> Machine:
    from tabla.sim.model.cycle_model import CycleModel

    return CycleModel(image)


def _cxxrtl(image: Image, module: str) -> Machine:
    from tabla.host.engines.cxxrtl_run import CxxrtlMachine
    from tabla.hw.emit import verilog

    return CxxrtlMachine(image, verilog(image, module), module)


def _under_cocotb(simulator: str) -> Opener:
    def opener(image: Image, module: str) -> Machine:
        from tabla.host.engines.cocotb_run import CocotbMachine, require
        from tabla.hw.emit import verilog

        require(simulator)  # before the work of writing Verilog
        return CocotbMachine(image, verilog(image, module), module, simulator)

    return opener


def _amaranth(image: Image, _: str) -> Machine:
    from tabla.host.engines.amaranth_run import AmaranthMachine

    return AmaranthMachine(image)


ENGINES: dict[str, Opener] = {
    "model": _model,
    "cxxrtl": _cxxrtl,
    "verilator": _under_cocotb("verilator"),
    "icarus": _under_cocotb("icarus"),
    "amaranth": _amaranth,
}
"""The engines that need no board, by name. ``serial:PATH`` is a board, and not in the table."""
OVERLAY_ENGINES = ("model", "cxxrtl", "verilator", "icarus", "amaranth")
"""The engines that an image for an overlay runs on. The cycle model runs it as it runs every image."""
MOST_WORDS = 100_000
"""Words of models up to which the simulator of the Verilog is built within half a minute."""
EVALUATION = "evaluation"
"""The engine of ``tabla train`` that learns in the fixed-point evaluation, and repeats a part on `default_engine`."""


def register_engine(name: str, opener: Opener) -> None:
    """Add an engine to the table, so that `engine=` and ``--engine`` take its name.

    Raises `TablaError` for a name that an engine has already, and for one with a colon, which would be a board's.
    """
    if name in ENGINES or name == EVALUATION or ":" in name or not name:
        raise TablaError(f"an engine cannot be called '{name}'", hint="use a new name without a colon")
    ENGINES[name] = opener


def checked_engine(text: str, *, trains: bool = False) -> str:
    """Return the name of an engine as it is. Raises `TablaError` for a name that is not in the table, and no board.

    With `trains` the name may also be `EVALUATION`.
    """
    hint = f"use one of {', '.join([EVALUATION] * trains + [*ENGINES])}, {PREFIX}PATH"
    if not isinstance(text, str):
        raise TablaTypeError(f"engine: {text!r} is not a name", hint=hint)
    if text.startswith(PREFIX):
        place_of(text)
    elif text not in ENGINES and not (trains and text == EVALUATION):
        raise TablaValueError(f"unknown engine '{text}'", hint=hint)
    return text


def check_installed(engine: str) -> None:
    """Raise `TablaError`, with its cure, if a tool of an engine is missing, before any work is done."""
    if engine == "cxxrtl":
        from tabla.host.engines.cxxrtl_run import require as require_cxxrtl

        require_cxxrtl()
    elif engine in ("icarus", "verilator"):
        from tabla.host.engines.cocotb_run import require

        require(engine)


def default_engine() -> str:
    """Return ``cxxrtl``, the hardware compiled to C++, where its tools are installed; otherwise ``model``."""
    from tabla.host.engines.cxxrtl_run import available

    return "cxxrtl" if available() else "model"


def checking_engine(schedule: Schedule) -> tuple[str, str]:
    """Return the engine that repeats a part of a training run, and why it is not the simulated Verilog, if it is not.

    Yosys reads a memory word by word, so the simulator of an array with many words would take minutes to build.
    """
    if default_engine() != "cxxrtl":
        return "model", "engine cxxrtl is not installed"
    graph = schedule.graph
    words = sum(tensor.size for tensor in graph.tensors.values() if tensor.role == "model")
    if words > MOST_WORDS:
        return "model", f"the Verilog of {words:,} words takes minutes to build; --engine cxxrtl simulates it"
    return "cxxrtl", ""


def open_machine(image: Image, engine: str, module: str, overlay: Overlay | None = None) -> Machine:
    """Return the machine of an image on an engine: hardware of its own, or an overlay with the image loaded.

    Raises `TablaError`, with its cure, for a tool that is missing.
    """
    opener = ENGINES.get(checked_engine(engine))
    if overlay is not None and engine != "model":
        machine = overlay_machine(image, engine, module, overlay)
        try:
            machine.program(image)
        except BaseException:
            machine.close()
            raise
        return machine
    return SerialMachine(image, engine) if opener is None else opener(image, module)


def overlay_machine(image: Image, engine: str, module: str, overlay: Overlay) -> PortMachine:
    """Return an overlay on an engine, without a program. `image` is the first that it will get.

    Raises `TablaError` for an engine that has no overlays, and for a tool that is missing.
    """
    match checked_engine(engine):
        case "amaranth":
            from tabla.host.engines.amaranth_run import AmaranthMachine

            return AmaranthMachine(image, overlay)
        case "cxxrtl":
            from tabla.host.engines.cxxrtl_run import CxxrtlMachine
            from tabla.hw.emit import verilog

            return CxxrtlMachine(image, verilog(overlay, module), module, overlay)
        case "icarus" | "verilator":
            from tabla.host.engines.cocotb_run import CocotbMachine, require
            from tabla.hw.emit import verilog

            require(engine)
            return CocotbMachine(image, verilog(overlay, module), module, engine, overlay)
        case _:
            raise TablaError(f"engine '{engine}' has no overlays", hint=f"use {', '.join(OVERLAY_ENGINES)}")


@dataclass(slots=True, kw_only=True, eq=False)
class Session:
    """A running machine, with the host that translates arrays into beats and back.

    `first` is the result of the first call of `run`, and `last` is that of the last call. `updates_predicted` says
    whether all calls have written the models in the cycles of the schedule, and in no others. A board does not tell.
    """

    machine: Machine
    host: Host
    first: RunResult | None = field(default=None, init=False)
    last: RunResult | None = field(default=None, init=False)
    updates_predicted: bool = field(default=True, init=False)

    def load(self, models: Mapping[str, Words]) -> None:
        """Load the models and the constants into the machine."""
        self.machine.load(self.host.load_beats(models))

    @property
    def remark(self) -> str:
        """What the machine says of its runs, for the report; empty if there is nothing to say."""
        return self.machine.remark

    def keeps(self, samples: Mapping[str, Words]) -> bool:
        """Return whether the machine holds exactly these samples from runs before."""
        kept, each = self.machine.kept_beats, self.machine.image.stream_run.beats
        # Most machines keep nothing, and then the beats of a large data set are not made in vain.
        if not kept or not samples or kept != each * len(next(iter(samples.values()))):
            return False
        return self.machine.keeps(self.host.sample_beats(samples))

    def learn(self, samples: Mapping[str, Words]) -> None:
        """Run the samples in order, one step each, and drop the results."""
        self.run(samples)

    def run(self, samples: Mapping[str, Words], count: int | None = None) -> dict[str, Words]:
        """Run the samples in order and return the results, each with a leading axis of samples.

        `count` is the number of samples of a program without inputs; it is not used otherwise.
        """
        number = len(next(iter(samples.values()))) if samples else count or 0
        result = self.machine.run(self.host.sample_beats(samples), number)
        self.first, self.last = self.first or result, result
        if result.starts:
            self.updates_predicted &= result.updates_after(self.host.schedule.update_cycles)
        return self.host.results(result.outputs) if self.host.schedule.outputs else {}

    def models(self) -> dict[str, Words]:
        """Read the current models back from the machine."""
        count = self.host.dump_count
        return self.host.models(self.machine.dump(count)) if count else {}

    @property
    def cycles(self) -> int:
        """Cycles per sample in the steady state of the last call; 0 if that call had only one sample."""
        return self.last.cycles if self.last else 0

    @property
    def latency(self) -> int:
        """Cycles of the first sample of the first call, from its first word to its last update or output."""
        return self.first.latencies[0] if self.first and self.first.latencies else 0

    @property
    def counters(self) -> Counters:
        """The event counters of the machine after the last call."""
        return self.last.counters if self.last else Counters()


@contextmanager
def session(
    schedule: Schedule, image: Image, engine: str, module: str, overlay: Overlay | None = None
) -> Iterator[Session]:
    """Open a machine for the length of a ``with`` block. `module` is the name of the Verilog module.

    With an `overlay` the machine is that overlay, with the image loaded.
    """
    with open_machine(image, engine, module, overlay) as machine:
        yield Session(machine=machine, host=Host(schedule))
