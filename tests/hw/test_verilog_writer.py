"""The Verilog writer against Yosys: every module does with random inputs what Yosys's Verilog of it does."""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from amaranth._toolchain.yosys import find_yosys
from amaranth.back import rtlil
from amaranth.hdl import Array, Cat, Const, Instance, Module, Mux, Signal, signed
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.emit import component_verilog
from tabla.hw.module_text import ModuleText
from tabla.hw.netlist import Bits, modules_of
from tabla.hw.netlist import Module as Modules
from tabla.hw.operators import Operation, merged

CYCLES = 300
SCRIPT = (
    "read_rtlil <<end_of_rtlil\n{}\nend_of_rtlil\nproc -nomux -norom\nopt_clean\nmemory_collect\nwrite_verilog -sv\n"
)


class Everything(wiring.Component):
    """Each operator, each kind of choice, and each kind of memory that hardware can be described with.

    Members
    -------
    a : In(7), b : In(signed(5)), c : In(3)
    """

    def __init__(self) -> None:
        super().__init__(
            {"a": In(7), "b": In(signed(5)), "c": In(3)}
            | {f"o{number}": Out(signed(14)) for number in range(32)}
            | {f"r{number}": Out(9) for number in range(8)}
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        a, b, c = self.a, self.b, self.c
        values = [a + b, a - b, b - a, a * b, b * b, a * a, -b, ~a, a & b, a | b, a ^ b, (a & b) ^ (c | b) ^ ~c]
        values += [a == b, a != c, b < c, b > a, b <= 3, a >= c, b < -2, Mux(c[0], a, b), Mux(c, b, c), a << c, b << c]
        values += [a >> c, b >> c, (b >> c) + a, a.bit_select(c, 3), b.word_select(c[:1], 2), a.any(), (a ^ b).all()]
        values += [Cat(a[5], b, c[:2]) - (a.xor() + 1), Cat(a[:0]).all() & ~(b + c)[5]]
        for number, value in enumerate(values):
            m.d.comb += getattr(self, f"o{number}").eq(value)
        # One word of many pieces, each of which depends on the one before.
        chain = Signal(9)
        m.d.comb += chain[0].eq(a[0] & b[0])
        for bit in range(1, 9):
            m.d.comb += chain[bit].eq(chain[bit - 1] ^ a[bit % 7])
        case, loose = Signal(9, init=5), Signal(9)
        with m.Switch(c):
            with m.Case(0, 3):
                m.d.comb += case.eq(a)
            with m.Case("1-1"):
                m.d.comb += [case[2:5].eq(b), case[0].eq(a[2])]
            with m.Case(2):
                with m.If(a[0]):
                    m.d.comb += case.eq(chain)
        with m.If(a[0]):
            # Alone inside: the `Elif` must not become its own.
            with m.If(a[4]):
                m.d.sync += loose[:4].eq(a)
        with m.Elif(b[1]):
            m.d.sync += loose[4:].eq(c)
            with m.Switch(Cat(a[3], c)):
                with m.Case("--11", "1000"):
                    m.d.sync += loose[8].eq(1)
                with m.Default():
                    m.d.sync += loose[:2].eq(b)
        with m.Elif(~c[2]):
            pass
        with m.Else():
            m.d.sync += loose.eq(loose + 1)
        m.submodules.words = words = memory.Memory(shape=8, depth=8, init=[1, 0, 200, 3])
        write, asynchronous = words.write_port(granularity=4), words.read_port(domain="comb")
        synchronous = words.read_port()
        m.d.comb += [
            *(write.addr.eq(c), write.data.eq(Cat(a, b)), write.en.eq(a[1:3])),
            *(asynchronous.addr.eq(b), synchronous.addr.eq(a), synchronous.en.eq(c[0] | a[1])),
        ]
        table = Array([a, b, c, 9])[c[1:]]
        held = Signal(9, reset_less=True)
        m.d.sync += [held.eq(Mux(a == 3, self.r0, chain)), self.r5.eq(table), self.r6.eq(held + b)]
        m.d.comb += [self.r0.eq(chain), self.r1.eq(case), self.r2.eq(loose), self.r3.eq(asynchronous.data)]
        m.d.comb += [self.r4.eq(synchronous.data), self.r7.eq(Mux(self.r6[0], self.r5, ~self.r5))]
        return m


def instance(module: Modules, kind: str, name: str, ports: dict[str, str], places: dict[str, str]) -> str:
    """Return an instance of a module as Verilog: port `ports[p]` at wire `places[p]`."""
    return f"{kind} {name}({', '.join(f'.{ports[p]} ({places[p]})' for p in places)});"


def bench(text: str) -> str:
    """Return a test bench with each module twice, as our writer and as Yosys writes it, and the two texts."""
    yosys: Any = find_yosys(lambda version: version >= (0, 40))
    modules = modules_of(text)
    written = {module.name: ModuleText(module) for module in modules}
    ports = {name: made.port_names for name, made in written.items()}
    kinds = {name: "ours_" + re.sub(r"\W", "_", name) for name in written}
    lines = [made.text(kinds[name], ports, kinds) for name, made in written.items()]
    lines.append(yosys.run(["-q", "-"], SCRIPT.format(text), ignore_warnings=True))
    lines.append("module bench; reg clk = 0; reg rst = 0; always #5 clk = ~clk;")
    lines.append(f'initial begin #22 rst = 1; #90 rst = 0; #{10 * CYCLES} $display("DONE"); $finish(0); end')
    for number, module in enumerate(modules):
        wires = [wire for wire in module.wires.values() if wire.direction]
        ours = {wire.name: f"p{number}_{place}" for place, wire in enumerate(wires)}
        theirs = {wire.name: f"q{number}_{place}" for place, wire in enumerate(wires)}
        for wire in wires:
            if wire.name in ("clk", "rst"):
                ours[wire.name] = theirs[wire.name] = wire.name
            elif wire.direction == "input":
                theirs[wire.name] = ours[wire.name]
                lines.append(f"reg [{wire.width - 1}:0] {ours[wire.name]} = 0;")
                word = f"{{{', '.join(['$random'] * -(-wire.width // 32))}}}"
                lines.append(f"always @(negedge clk) {ours[wire.name]} <= $random % 3 ? {word} : 0;")
            else:
                one, two = ours[wire.name], theirs[wire.name]
                lines.append(f"wire [{wire.width - 1}:0] {one}, {two};")
                said = f'$display("%t {module.name} {wire.name} %b %b", $time, {one}, {two})'
                lines.append(f"always @(negedge clk) if (^{two} !== 1'bx && {one} !== {two}) {said};")
                lines.append(f'always @(negedge clk) if (^{two} === 1\'bx && $time > 400) $display("UNKNOWN");')
        lines.append(instance(module, kinds[module.name], f"ours_{number}", ports[module.name], ours))
        lines.append(instance(module, f"\\{module.name}", f"theirs_{number}", {p: f"\\{p}" for p in ours}, theirs))
    return "\n".join([*lines, "endmodule"])


def run(text: str, folder: Path) -> list[str]:
    (folder / "bench.v").write_text(bench(text))
    build = ["iverilog", "-g2012", "-s", "bench", "-o", "bench.vvp", "bench.v"]
    subprocess.run(build, cwd=folder, check=True, capture_output=True)
    done = subprocess.run(["vvp", "-n", "bench.vvp"], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="needs Icarus Verilog (apt-get install iverilog)")
def test_every_operator_is_that_of_yosys(tmp_path: Path) -> None:
    said = run(rtlil.convert(Everything(), name="everything"), tmp_path)
    assert said[-1] == "DONE" and said[:-1] == []


def test_operations_of_different_widths_are_not_merged() -> None:
    """A product of 8 bits is not that of 4 bits, although both have the same text; two of 8 bits are one."""
    product = Operation("*", ((Bits("a", 0, 4),), (Bits("b", 0, 4),)), "product", alone=True)
    logic = {"$whole": product, "$low": product, "$again": product, "named": product}
    kept, same = merged(logic, {"$whole": 8, "$low": 4, "$again": 8, "named": 8})
    assert list(kept) == ["$whole", "$low", "named"] and same == {"$again": "$whole"}


class Placed(wiring.Component):
    """A module that is placed by name, with a parameter of each kind.

    Members
    -------
    a : In(4), o : Out(4)
    """

    def __init__(self) -> None:
        super().__init__({"a": In(4), "o": Out(4)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        given = {"p_NUMBER": 12, "p_WORD": Const(5, 4), "p_TEXT": "high", "a_keep": 1, "a_place": Const(2, 3)}
        m.submodules.block = Instance("block", **given, i_a=self.a, o_o=self.o)
        return m


def test_the_text_is_the_one_that_was_read(golden: Callable[[str, str], None]) -> None:
    """The Verilog is there to be read: where brackets, `begin` and names of wires stand is a matter of taste, and the
    golden file shows it for each operator, each kind of choice and each kind of parameter.
    """
    golden("hw/everything.v", component_verilog(Everything(), "everything") + component_verilog(Placed(), "placed"))
