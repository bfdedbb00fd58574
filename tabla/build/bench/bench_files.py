"""The cocotb test bench that ``tabla gen`` writes beside an accelerator.

The files of the test bench run from their folder, without this package. They need cocotb and a simulator.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from tabla.build.bench.golden_file import golden_files

_TEST = '''"""A test of {module} with golden vectors, at its ports: words, cycles, stalls, commands, reset, program."""

import cocotb
from golden_file import GOLDEN
from host_loop import Request, request_fields
from ports import Ports

LOAD, RUN, DUMP, PREDICT = 0, 1, 2, 5
QUIET = ("busy", "out_valid", "sample_start", "update")
INPUT_PAUSES, OUTPUT_PAUSES = GOLDEN["input_pauses"], GOLDEN["output_pauses"]


def signed(word):
    """Return the word of a port as a signed number."""
    return word - (1 << GOLDEN["width"]) if word >> (GOLDEN["width"] - 1) else word


class Accelerator:
    """The accelerator at its ports. Every command checks what it gives against a series of golden vectors."""

    def __init__(self, dut):
        self.dut, self.ports, self.series = dut, Ports(dut), GOLDEN

    async def play(self, code, count, beats=(), each=0, outputs=0, pauses=(), holds=()):
        request = Request(
            code=code,
            count=count,
            sample_beats=each,
            outputs=outputs,
            input_pauses=list(pauses),
            output_pauses=list(holds),
            patience=GOLDEN["patience"],
            port_words=GOLDEN["port_words"],
            width=GOLDEN["width"],
        )
        begin = self.ports.cycle
        seen = await self.ports.play({{**request_fields(request), "beats": list(beats)}}, most=GOLDEN["most"])
        first, last = (seen[name] or seen["starts"] for name in ("first_words", "last_words"))
        assert first[0] == begin + GOLDEN["first_event"], "the cycle of the first beat or token of a command"
        if not holds:
            last = max(seen["starts"], default=last[-1])
            # Results that leave more slowly than they are made still leave when all units are at rest. For the host, a
            # command ends in the third cycle after the last of them.
            drain = GOLDEN["drains"][RUN if code == PREDICT else code]
            end = max([last + drain, *(cycle + 3 for cycle in seen["leaves"][-1:])])
            assert self.ports.cycle == end, f"the end of command {{code}}"
        await self.ports.rest(GOLDEN["rest"])
        return seen

    async def load(self, pauses=()):
        beats = self.series["load"]
        if beats:
            seen = await self.play(LOAD, 1, beats, len(beats), pauses=pauses)
            assert not seen["outputs"] and not seen["updates"]

    async def run(self, first, count, pauses=(), holds=()):
        series, each = self.series, GOLDEN["sample_beats"]
        words = len(series["outputs"]) // series["samples"]
        beats = series["run"][first * each : (first + count) * each]
        seen = await self.play(RUN, count, beats, each, count * words, pauses, holds)
        expected = series["outputs"][first * words : (first + count) * words]
        assert [signed(word) for word in seen["outputs"]] == expected, f"results of samples {{first}} and on"
        assert len(seen["starts"]) == count
        written = {{start + cycle for start in seen["starts"] for cycle in GOLDEN["updates"]}}
        assert seen["updates"] == sorted(written), "the cycles in which models are written"
        return seen

    async def predict(self, case):
        series, before = self.series, self.ports.counters()
        seen = await self.play(PREDICT, series["samples"], case["run"], GOLDEN["sample_beats"], len(case["outputs"]))
        assert [signed(word) for word in seen["outputs"]] == case["outputs"], "results of a prediction"
        assert not seen["updates"], "a prediction writes models"
        assert [start - seen["starts"][0] for start in seen["starts"]] == GOLDEN["starts"], seen["starts"]
        counted = [new - old for new, old in zip(seen["counters"], before)]
        assert counted == case["counters"], f"a prediction counts {{counted}} instead of {{case['counters']}}"

    async def dump(self, holds=()):
        if GOLDEN["dump_count"]:
            seen = await self.play(DUMP, GOLDEN["dump_count"], outputs=GOLDEN["dump_words"], holds=holds)
            assert len(seen["outputs"]) == GOLDEN["dump_words"] and not seen["updates"]
            starts = seen["starts"]
            assert len(starts) == GOLDEN["dump_count"], "addresses of a dump"
            gaps = [late - early for early, late in zip(starts, starts[1:])]
            assert min(gaps, default=GOLDEN["dump_period"]) >= GOLDEN["dump_period"], "a dump is too quick"
            for position, word in self.series["dump"].items():
                assert signed(seen["outputs"][position]) == word, f"word {{position}} of the dump"

    async def reset(self):
        await self.ports.reset(GOLDEN["reset_cycles"])
        assert not any(map(self.ports.word, QUIET)), "the reset does not quiet the machine"
        await self.ports.rest(GOLDEN["rest"])
        assert self.ports.counters() == [0, 0, 0], "counters after a reset"

    async def predicted(self, case):
        """Every word, every counter and the cycle of every event must be as the cycle model predicts."""
        await self.reset()
        self.series = GOLDEN["extremes"] if case["extremes"] else GOLDEN
        await self.load()
        count, each, own = case["samples"], GOLDEN["sample_beats"], self.series["samples"]
        beats = (self.series["run"] * -(-count // own))[: count * each]
        words = count * len(self.series["outputs"]) // own
        compare(await self.play(RUN, count, beats, each, words, case["pauses"], case["holds"]), case)
        self.series = GOLDEN

    async def trial(self, case):
        """The program with some words changed works on the models that it finds, as the cycle model predicts."""
        words = program_words()
        for memory, address, word in case["changed"]:
            words[memory][address] = int(word, 16)
        await self.ports.write_program(words)
        count, each = GOLDEN["samples"], GOLDEN["sample_beats"]
        compare(await self.play(RUN, count, GOLDEN["run"], each, len(GOLDEN["outputs"]), case["pauses"]), case)
        if GOLDEN["dump_count"]:
            seen = await self.play(DUMP, GOLDEN["dump_count"], outputs=GOLDEN["dump_words"])
            for position, word in case["check"]:
                assert signed(seen["outputs"][position]) == word, f"word {{position}} of the dump"

    async def whole(self):
        """Load, run all samples at once, and dump; return what was seen of the run."""
        await self.load()
        seen = await self.run(0, self.series["samples"])
        await self.dump()
        return seen


def program_words():
    """Return the words of each microcode memory."""
    return [[int(word, 16) for word in memory] for memory in GOLDEN["program"]]


def compare(seen, case):
    """Compare words, events and counters of a run with what the cycle model predicts."""
    seen["outputs"] = [signed(word) for word in seen["outputs"]]
    origin = (seen["first_words"] or seen["starts"])[0]
    for name, events in case["seen"].items():
        found = seen[name] if name == "outputs" else [cycle - origin for cycle in seen[name]]
        assert found == events, f"{{name}}: {{found}} instead of {{events}}"
    assert seen["counters"] == case["counters"], f"counters: {{seen['counters']}} instead of {{case['counters']}}"


def latency(seen):
    """Return the cycles from the first beat of the first sample to its last update, or its last word out."""
    starts, leaves = seen["starts"], seen["leaves"]
    # Samples overlap, but the last write of each follows its token after the same number of cycles.
    if seen["updates"]:
        end = starts[0] + seen["updates"][-1] - starts[-1]
    else:
        end = leaves[len(leaves) // len(starts) - 1]
    return end - (seen["first_words"] or starts)[0] + 1


@cocotb.test()
async def golden(dut):
    """Every result, every model word and every cycle is as predicted."""
    device = Accelerator(dut)
    await device.reset()
{preloaded}    seen = await device.whole()
    assert seen["starts"][-1] - seen["starts"][-2] == GOLDEN["period"], seen["starts"]
    assert [start - seen["starts"][0] for start in seen["starts"]] == GOLDEN["starts"], seen["starts"]
    assert latency(seen) == GOLDEN["latency"], "the latency"
    counted = seen["counters"]
    if not GOLDEN["thorough"]:  # each further part takes as long as the first
        return
    await extremes(device)
    await stalls(device, counted)
    await commands(device, counted)
    if GOLDEN["predictions"]:
        await predictions(device, *GOLDEN["predictions"])
    await program(device)
    for case in GOLDEN["predicted"]:
        await device.predicted(case)
    await trials(device)
    await device.reset()
    assert (await device.whole())["counters"] == counted, "counters after a reset"


async def extremes(device):
    """Words from the whole range of the format, which saturate. The counters count on, and a reset clears them."""
    before = device.ports.counters()
    device.series = GOLDEN["extremes"]
    first = [new - old for new, old in zip((await device.whole())["counters"], before)]
    again = [new - old for new, old in zip((await device.whole())["counters"], before)]
    assert again == [2 * count for count in first], f"counters {{first}}, and then {{again}}"
    device.series = GOLDEN
    await device.reset()


async def stalls(device, counted):
    """The host has no beat for some cycles, and takes no word for some, also for so long that all buffers fill."""
    await device.load(pauses=INPUT_PAUSES)
    await device.run(0, GOLDEN["samples"], INPUT_PAUSES, OUTPUT_PAUSES)
    await device.dump(holds=OUTPUT_PAUSES)
    long = [0, GOLDEN["patience"] // 2] + [0] * len(GOLDEN["outputs"])
    await device.load()
    seen = await device.run(0, GOLDEN["samples"], holds=long)
    assert seen["counters"] == [2 * count for count in counted], "counters of a run with stalls"
    await device.dump()


async def commands(device, counted):
    """Samples come one by one and in twos, with gaps between the commands."""
    await device.load()
    assert latency(await device.run(0, 1)) == GOLDEN["latency"], "the latency of a sample alone"
    await device.ports.rest(7)
    await device.run(1, 2, pauses=[3])
    seen = await device.run(3, GOLDEN["samples"] - 3)
    assert seen["counters"] == [3 * count for count in counted], "counters of three runs"
    await device.dump()
    await device.dump()


async def predictions(device, after, between):
    """All samples are predicted with other labels, after a run and between two: models stay, and only results count."""
    await device.whole()
    await device.predict(after)
    await device.dump()
    device.series = GOLDEN["extremes"]
    await device.load()
    await device.run(0, between["first"])
    await device.predict(between)
    await device.run(between["first"], GOLDEN["samples"] - between["first"])
    await device.dump()
    device.series = GOLDEN


async def trials(device):
    """The program with other guards, signs, halves and gates, time after time on what the one before has left."""
    await device.reset()
    await device.load()
    await device.run(0, GOLDEN["samples"])
    for case in GOLDEN["trials"]:
        await device.trial(case)
    await device.ports.write_program(program_words())


async def program(device):
    """Other microcode computes something else. A reset in the middle of it, and the right microcode, mend that."""
    mask = (1 << len(device.dut.program_data)) - 1
    words = program_words()
    await device.ports.write_program([[word ^ mask for word in memory] for memory in words])
    try:
        await device.whole()
    except (AssertionError, RuntimeError, ValueError):
        pass
    else:
        raise AssertionError("the program port changes nothing")
    await device.reset()
    await device.ports.write_program(words)
    await device.whole()
    # The reset ends a command that has begun.
    await device.ports.begin(RUN, 2, GOLDEN["run"][: GOLDEN["sample_beats"]], GOLDEN["latency"])
    await device.reset()
    await device.ports.rest(GOLDEN["rest"])
'''

_GOLDEN = '''"""The golden vectors: golden.json, and the arrays of golden.bin, whose places golden.json says."""

import json
import sys
from array import array
from pathlib import Path

HERE = Path(__file__).parent
CODES = {1: "b", 2: "h", 4: "i", 8: "q"}


def words(data, offset, count, size):
    """Return signed words from their containers of `size` bytes, in which the lowest byte comes first."""
    held = array(CODES[size])
    held.frombytes(data[offset : offset + count * size])
    if sys.byteorder == "big":
        held.byteswap()
    return held


def beats(data, width, offset, rows, row, size):
    """Return each beat as a hexadecimal number with word 0 in the lowest `width` bits."""
    held, mask = words(data, offset, rows * row, size), (1 << width) - 1
    starts = range(0, len(held), row)
    return [f"{sum((held[at + n] & mask) << (width * n) for n in range(row)):x}" for at in starts]


def marks(data, offset, count):
    """Return the places that are marked."""
    return [place for place in range(count) if data[offset + (place >> 3)] >> (place & 7) & 1]


def whole(value, data, width):
    """Return a value of golden.json with arrays in the places of the objects that say where they lie."""
    if isinstance(value, list):
        return [whole(entry, data, width) for entry in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"words"}:
        return words(data, *value["words"]).tolist()
    if value.keys() == {"beats"}:
        return beats(data, width, *value["beats"])
    if value.keys() == {"marks"}:
        return marks(data, *value["marks"])
    return {key: whole(entry, data, width) for key, entry in value.items()}


def read():
    """Return the golden vectors. A series has the words of its dump that have a meaning, by their positions."""
    content = json.loads((HERE / "golden.json").read_text())
    golden = whole(content, (HERE / "golden.bin").read_bytes(), content["width"])
    for series in (golden, golden.get("extremes")):
        if series:
            series["dump"] = {position: series["dump"][position] for position in golden["shown"]}
    return golden


GOLDEN = read()
'''

_PRELOADED = """\
    # The memories start with the models, so the first run needs no load.
    await device.run(0, GOLDEN["samples"])
    await device.dump()
    await device.reset()
"""

_RUN = '''"""Build and run the test bench, with cocotb and a simulator:  python run.py [icarus|verilator]"""

import os
import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from cocotb_tools.runner import get_results, get_runner

HERE = Path(__file__).resolve().parent

if __name__ == "__main__":
    simulator = sys.argv[1] if len(sys.argv) > 1 else "icarus"
    package = find_spec(simulator)
    if package and package.origin:  # the Python package of Verilator has its programs in a folder that is not in PATH
        os.environ["PATH"] = os.pathsep.join([str(Path(package.origin).parent / "bin"), os.environ["PATH"]])
    # The makefile of that package lacks the option with which g++ takes a precompiled header. It also calls
    # `python`, a name that some systems do not have.
    python = sys.executable.replace(" ", "\\\\ ")
    os.environ.setdefault("MAKEFLAGS", f"CFG_CXXFLAGS_PCH_I=-include PYTHON3={{python}}")
    runner = get_runner(simulator)
    with tempfile.TemporaryDirectory() as folder:
        # Copies with plain names: Icarus reads no path with a quote or a new line, and PYTHONPATH none with a colon.
        source = shutil.copy(HERE.parent / {file!r}, Path(folder, "design.v"))
        bench = shutil.copytree(HERE, Path(folder, "bench"))
        sys.path.insert(0, str(bench))
        runner.build(
            sources=[source],
            hdl_toplevel="{module}",
            build_dir=folder,
            build_args=["-Wno-fatal", "-Wno-lint"] if simulator == "verilator" else [],
            timescale=("1ns", "1ps"),
        )
        results = runner.test(
            hdl_toplevel="{module}",
            test_module="test_golden",
            build_dir=folder,
            test_dir=folder,
            extra_env={{"PYTHONPATH": str(bench)}},
            timescale=("1ns", "1ps"),
        )
        tests, failures = get_results(results)
    print(f"{{tests}} test{{'s' * (tests != 1)}}, {{failures}} failed")
    sys.exit(1 if failures or not tests else 0)
'''


def bench_files(name: str, module: str, golden: Mapping[str, Any]) -> dict[str, str | bytes]:
    """Return the content of every file of the folder ``tb/``, by file name.

    `name` is the stem of the Verilog file, `module` the name of its top module, and `golden` the vectors that
    :func:`tabla.build.bench.vectors.golden` makes.
    """
    # The texts of files of a room above, which are read and not imported.
    engines = files("tabla.host.engines")
    ports = engines.joinpath("cocotb_bench.py").read_text(encoding="utf-8")
    return {
        **golden_files(golden),
        "golden_file.py": _GOLDEN,
        "host_loop.py": engines.joinpath("host_loop.py").read_text(encoding="utf-8"),
        "ports.py": ports.replace("tabla.host.engines.host_loop", "host_loop"),
        "test_golden.py": _TEST.format(module=module, preloaded=_PRELOADED if golden.get("preloaded") else ""),
        "run.py": _RUN.format(file=f"{name}.v", module=module),
    }
