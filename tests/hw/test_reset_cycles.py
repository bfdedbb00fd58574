"""How long the reset is held: as long as the longest chain of registers without reset, and enough from any start."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from amaranth.hdl import Fragment, Value, _nir
from amaranth.hdl._ir import PortDirection, build_netlist
from amaranth.lib import wiring

import tabla
from tabla.build.files.output_folder import artifacts
from tabla.host.engines.cocotb_run import CocotbMachine, available
from tabla.hw.accelerator import Accelerator
from tabla.hw.board.link import HostLink
from tabla.hw.emit import verilog
from tabla.hw.reset import reset_cycles
from tabla.program.image import Image
from tabla.sim.compare import Stimulus, difference, play
from tabla.sim.model.cycle_model import CycleModel
from tests.hw.test_function_pipelines import tables
from tests.sim.hand_assembler import parameters
from tests.sim.hand_images import Case, function_program, linear
from tests.sim.random_images import random_case


def longest_chain(image: Image) -> int:
    """Count the registers of the longest chain without reset in the netlist of a machine.

    A register that may keep its value, because it is among what its next value depends on, breaks a chain. A memory is
    a register if it is read with a clock.
    """
    machine = Accelerator(image)
    ports = {
        "__".join(map(str, path)): (
            Value.cast(value),
            PortDirection.Input if member.flow == wiring.In else PortDirection.Output,
        )
        for path, member, value in machine.signature.flatten(machine)
    }
    netlist = build_netlist(Fragment.get(machine, None), ports=ports, name="machine")
    cells = netlist.cells
    without = {
        net.cell for signal, value in netlist.signals.items() if signal.reset_less for net in value if net.is_cell
    }
    clocked = (_nir.FlipFlop, _nir.SyncReadPort)

    def before(nets: Any) -> set[int]:
        """The clocked cells whose values the nets depend on in the same cycle."""
        found, seen, waiting = set(), set(), list(nets)
        while waiting:
            net = waiting.pop()
            if net in seen or not net.is_cell:
                continue
            seen.add(net)
            cell = cells[net.cell]
            if isinstance(cell, clocked):
                found.add(net.cell)
            elif not isinstance(cell, _nir.Top):
                waiting += cell.input_nets()
        return found

    graph: nx.DiGraph[int] = nx.DiGraph()
    kept = {
        n for n, c in enumerate(cells) if isinstance(c, clocked) and (n in without or not isinstance(c, _nir.FlipFlop))
    }
    for number in kept:
        cell = cells[number]
        nets = cell.data if isinstance(cell, _nir.FlipFlop) else (*cell.addr, cell.en)
        graph.add_edges_from((earlier, number) for earlier in before(nets) & kept)
    rings = [part for part in nx.strongly_connected_components(graph) if len(part) > 1]
    graph.remove_nodes_from({n for part in rings for n in part} | {n for n in graph if graph.has_edge(n, n)})
    return int(nx.dag_longest_path_length(graph)) + 1


def functions(width: int, fraction: int, *names: str) -> Image:
    build = parameters(1, width=width, fraction=fraction)
    return function_program(
        [t for t, _ in tables(build) if t.name in names], [1, 2], width=width, fraction=fraction
    ).image


@pytest.mark.parametrize(
    ("image", "cycles"),
    [
        (linear(2).image, 12),
        (linear(6, pes_per_pu=3).image, 12),
        (linear(17).image, 13),
        (functions(16, 10, "sigmoid"), 17),
        (functions(16, 10, "sqrt", "divide"), 45),
        # Longer than the 64 cycles that the manifest once asked of every machine.
        (functions(32, 30, "divide"), 81),
    ],
    ids=["linear", "groups", "tree", "sigmoid", "divide", "wide-divide"],
)
def test_the_longest_chain(image: Image, cycles: int) -> None:
    assert longest_chain(image) + 1 == reset_cycles(image) == cycles


@pytest.mark.parametrize("seed", range(2))
def test_no_chain_of_random_machines_is_longer(seed: int) -> None:
    image = random_case(seed).image
    assert longest_chain(image) + 1 <= reset_cycles(image)


def test_manifest_and_bench_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "m.t").write_text("model_input x; model_input y; z = x / (y + 2.0);")
    build = tabla.compile(tmp_path / "m.t", pes=1, results=["z"], effort=0)
    files, cycles = artifacts(build), reset_cycles(build.image)
    manifest = json.loads(files["m.json"])
    assert manifest["reset_cycles"] == json.loads(files["tb/golden.json"])["reset_cycles"] == cycles > 40
    [reset] = [port["meaning"] for port in manifest["ports"] if port["name"] == "rst"]
    assert reset == f"synchronous reset; hold it for {cycles} cycles"
    link = HostLink(image=build.image, divisor=4, clock=25_000_000)
    link._MustUse__silence = True
    assert link.reset_cycles == cycles
    assert 'ports.reset(GOLDEN["reset_cycles"])' in files["tb/test_golden.py"]


def shaken(text: str, seed: int) -> str:
    """Return Verilog whose registers start with random words.

    The microcode of a single word, `only`, stays. So do the registers that let a host write microcode: one that starts
    with 1 writes a random word into the microcode before any reset can stop it.
    """
    chance = random.Random(seed)

    def drawn(found: re.Match[str]) -> str:
        if "only" in found[1] or re.search("strand_write|operation_write|write_enable", found[1]):
            return found[0]
        return f"{found[1]} = {found[2]}'h{chance.getrandbits(int(found[2])):x};"

    shook, count = "", 0
    # Registers start in the initial blocks; the words of memories have an index behind their names.
    for part in re.split(r"(^  initial begin\n.*?^  end\n)", text, flags=re.M | re.S):
        if part.startswith("  initial"):
            part, found = re.subn(r"\b(\w+) = (\d+)'[bh][0-9a-f]+;", drawn, part)
            count += found
        shook += part
    assert count > 100
    return shook


def agrees(case: Case, text: str) -> str | None:
    """Return the first difference between the Verilog on Icarus and the cycle model.

    The program keeps no models, so nothing is dumped: a memory that no LOAD writes has any words after such a start.
    """
    assert not case.image.stream_load.beats
    stimulus = Stimulus(load=case.load, beats=case.beats, samples=case.samples, dump=0, chunk=case.samples)
    with CocotbMachine(case.image, text, "machine", "icarus") as machine:
        return difference(
            case.image, ("model", play(CycleModel(case.image), stimulus)), ("engine", play(machine, stimulus))
        )


@pytest.mark.skipif(not available("icarus"), reason="needs cocotb and Icarus Verilog")
def test_a_machine_runs_from_any_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Registers start with random words. Held for `reset_cycles`, the reset leaves nothing of them."""
    build = parameters(1, width=16, fraction=10)
    made = [t for t, _ in tables(build) if t.name in ("divide", "log")]
    case = function_program(made, [5, 700, -3, 1024], width=16, fraction=10)
    text = verilog(case.image, "machine")
    for seed in range(1, 5):
        assert agrees(case, shaken(text, seed)) is None
    # The four cycles of earlier benches were too few: what the pipelines held was counted after the reset.
    monkeypatch.setattr("tabla.host.engines.cocotb_run.reset_cycles", lambda image: 4)
    try:
        assert agrees(case, shaken(text, 1)) is not None
    except RuntimeError as fault:  # a word that was read from nowhere
        assert "non-0/1 values" in str(fault)
