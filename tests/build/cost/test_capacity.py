"""What the memories of a design take of a part, and which designs are refused for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import tabla
from tabla.base.source import TablaError
from tabla.build.cost import capacity, estimate
from tabla.build.cost.blocks import Memory
from tabla.build.cost.capacity import room
from tabla.build.options import Options
from tabla.driver import Build, build
from tabla.schedule.mapping.capacity import known_parts
from tabla.templates.targets import target, targets

TEXT = """mu = 0.5; model_input x[n]; model_output y; model w[n]; gradient g[n] -> w; iterator i[0:n];
e = sum[i](w[i] * x[i]) - y; g[i] = e * x[i];
"""
ROWS = """mu = 0.125; model_input u, x[8]; model_output y; model U[2400][8]; gradient g[2400][8] -> U; iterator k[0:8];
e = sum[k](U[u][k] * x[k]) - y; g[u][k] = e * x[k];
"""
"""A table whose rows the root learns."""
OWN_BOARD = """def Own : Board<"own", "Own", Lfe5u25, "CABGA381", 6> {
  let ClockPin = "G2"; let ClockHertz = 25000000; let HostTransmit = "L4"; let HostReceive = "M1";
}
"""
ECP5, ICE40, XILINX = target("ecp5"), target("ice40"), target("xilinx")


def made(folder: Path, n: int, **options: object) -> Build:
    path = folder / "line.t"
    path.write_text(f"n = {n}; {TEXT}")
    return build(path, Options(effort=0, **options))  # type: ignore[arg-type]


def with_memories(monkeypatch: pytest.MonkeyPatch, *found: Memory) -> None:
    monkeypatch.setattr(capacity, "features_of", lambda image: None)
    monkeypatch.setattr(capacity, "memories", lambda image, features: iter(found))


@pytest.mark.parametrize(
    ("family", "memory", "blocks"),
    [
        (ICE40, Memory(bits=16, words=20, block=False), 1),
        (ICE40, Memory(bits=16, words=256, block=False), 1),
        (ICE40, Memory(bits=16, words=257, block=False), 2),
        (ICE40, Memory(bits=17, words=20, block=False, copies=3), 6),
        (ECP5, Memory(bits=18, words=20, block=True), 1),
        (ECP5, Memory(bits=18, words=1024, block=True, copies=4), 4),
        (ECP5, Memory(bits=18, words=1025, block=True), 1),  # the last word lies in LUTs
        (ECP5, Memory(bits=18, words=1100, block=True), 2),
        (ECP5, Memory(bits=18, words=2352, block=True), 3),
        (ECP5, Memory(bits=18, words=2352, block=True, whole=True), 3),
        (ECP5, Memory(bits=18, words=2352, block=True, needed=((1500, 2000),), copies=5), 5),
        (ECP5, Memory(bits=18, words=2352, block=True, needed=()), 0),
        (ECP5, Memory(bits=16, words=20, block=False), 0),
        (ECP5, Memory(bits=18, words=2400, block=False), 3),  # the hardware does not ask, and synthesis takes them
        (ECP5, Memory(bits=18, words=128, block=False), 1),
        (ECP5, Memory(bits=18, words=128, block=False, in_luts=True), 0),
        (XILINX, Memory(bits=9, words=2048, block=True), 1),
    ],
)
def test_a_memory_takes_whole_blocks(
    family: tabla.templates.targets.Target, memory: Memory, blocks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_memories(monkeypatch, memory)
    found = room(None, (family, family.device()))  # type: ignore[arg-type]
    assert found is not None and found.blocks == blocks and found.fits


def test_luts_hold_a_share_and_blocks_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    device = XILINX.device()
    luts = device.capacity("LUT") // 3 * 64
    assert XILINX.lut_memory_bits(device) == luts and ICE40.lut_memory_bits(ICE40.device()) == 0
    # A memory of 16 words of 16 bits takes 256 bits of LUTs; one more than all LUTs hold takes a block.
    fill = luts // 256
    with_memories(monkeypatch, Memory(bits=16, words=16, block=False, copies=fill + 1))
    found = room(None, (XILINX, device))  # type: ignore[arg-type]
    assert found is not None and (found.blocks, found.lut_bits) == (1, fill * 256)
    with_memories(monkeypatch, Memory(bits=16, words=16, block=False, copies=fill + device.capacity("RAM") + 1))
    found = room(None, (XILINX, device))  # type: ignore[arg-type]
    assert found is not None and not found.fits


@pytest.mark.parametrize("pes", [8, 24])
def test_what_gen_counts_is_what_exploration_counts(tmp_path: Path, pes: int) -> None:
    """Exploration counts as the cost model does, and other tests hold the cost model against Yosys."""
    image = made(tmp_path, 2000, pes=pes, part="LFE5U-25F").image
    found = room(image, (ECP5, ECP5.device("25k")))
    assert found is not None and found.blocks == estimate(image).block_rams > 0
    table = tmp_path / "rows.t"
    table.write_text(ROWS)
    image = build(table, Options(effort=0, pes=pes, part="LFE5U-25F", format="q11.7")).image
    found = room(image, (ECP5, ECP5.device("25k")))
    assert found is not None and found.blocks == estimate(image).block_rams > 20


def test_memory_bits_are_those_of_rams_and_of_a_share_of_the_luts() -> None:
    for family in targets(None).values():
        for device in family.devices:
            luts = device.capacity("LUT") // family.lut_every * family.lut_bits if family.lut_every else 0
            assert family.memory_bits(device) == device.capacity("RAM") * family.ram_bits + luts


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    """A file of records with a family whose part has two block RAMs and no memory in LUTs."""
    path = tmp_path / "tiny.td"
    path.write_text(
        'def Tiny : Target<"tiny", "Tiny", "synth_ecp5"> { let RamBits = 4096; let LutBits = 16; }\n'
        'def TinyOne : Device<Tiny, "one", "T1"> { let Luts = 9000; let Ffs = 9000; let Dsps = 9; let Rams = 2; }\n'
    )
    return str(path)


def test_a_named_part_decides(tmp_path: Path, tiny: str) -> None:
    small = made(tmp_path, 30, pes=4, templates=tiny)
    with pytest.raises(TablaError, match=r"the memories of 'line' take \d+ block RAMs \(RAM\); the T1 has 2") as fault:
        small.synthesise("tiny", templates=tiny)
    assert "--pes" in (fault.value.hint or "") and "--force" in (fault.value.hint or "")
    small.write(tmp_path / "built")  # the largest known part holds it
    assert (tmp_path / "built" / "line.v").exists()


def test_a_design_that_a_part_does_not_hold_is_made_for_it(tmp_path: Path) -> None:
    part = (ECP5, ECP5.device("25k"))
    usual = made(tmp_path, 40, pes=24)
    before = room(usual.image, part)
    assert before is not None and not before.fits
    said: list[str] = []
    fitted = usual.fitted(part, progress=said.append)
    assert said == ["note: line is compiled again, for the 56 block RAMs of LFE5U-25F"]
    after = room(fitted.image, part)
    assert after is not None and after.fits
    assert fitted.options.part == "LFE5U-25F" and fitted.verilog != usual.verilog
    assert fitted.fitted(part) is fitted
    # What fits as it is, and what the user forces or has made for a part already, stays.
    assert usual.fitted((ECP5, ECP5.device("85k"))) is usual
    forced = made(tmp_path, 40, pes=24, force=True)
    assert forced.fitted(part) is forced
    with pytest.raises(TablaError, match="the LFE5U-25F has 56"):
        made(tmp_path, 40, pes=24, part="LFE5U-85F").fitted(part)


def test_synthesis_and_bitstreams_take_the_design_for_their_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Callable[..., str]
) -> None:
    monkeypatch.chdir(tmp_path)
    usual = made(tmp_path, 40, pes=24)
    fitted = usual.fitted((ECP5, ECP5.device("25k")))
    taken: list[str] = []

    def refused(verilog: str, *_: object, **__: object) -> None:
        taken.append(verilog)
        raise TablaError("not today")

    monkeypatch.setattr("tabla.commands.synthesise.synthesise", refused)
    monkeypatch.setattr("tabla.build.synth.synthesise", refused)
    monkeypatch.setattr("tabla.build.synth.board.build_bitstream", lambda image, module, text, *_, **__: refused(text))
    with pytest.raises(TablaError, match="not today"):
        usual.synthesise("ecp5", device="25k")
    (tmp_path / "own.td").write_text(OWN_BOARD)
    with pytest.raises(TablaError, match="not today"):
        usual.bitstream("own", templates=tmp_path / "own.td")
    array = ("--pes", "24", "--effort", "0")
    for words in (
        ("build", "line.t", "--board", "own", "--templates", "own.td"),
        ("synth", "line.t", "--target", "ecp5", "--device", "25k"),
    ):
        said = command(*words, *array, status=1)
        assert "note: line is compiled again, for the 56 block RAMs of LFE5U-25F\n" in said
    assert taken == [fitted.verilog] * 4


def test_what_no_known_part_holds_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = made(tmp_path, 30, pes=4)
    with_memories(monkeypatch, Memory(bits=16, words=1 << 14, block=True, copies=300))
    told = r"the memories of 'line' take 4,800 block RAMs \(RAMB18\); the largest known part, XC7A200T, has 730"
    with pytest.raises(TablaError, match=told):
        small.write(tmp_path / "built")
    assert not (tmp_path / "built").exists()
    made(tmp_path, 30, pes=4, force=True).write(tmp_path / "built")


def test_gen_refuses_and_running_does_not(
    tmp_path: Path, command: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program whose models and sample no part holds: gen says so at once, and the evaluation runs."""
    import numpy as np

    monkeypatch.chdir(tmp_path)
    n = 600_000
    Path("infer.t").write_text(f"n = {n}; model_input x[n]; model w[n]; iterator i[0:n]; h = sum[i](w[i] * x[i]);")
    said = command("gen", "infer.t", "-q", status=1)
    assert said.startswith("error: the models and one sample of 'infer' are 19,200,000 bits; the largest known part")
    said = command("synth", "infer.t", "--target", "ecp5", "-q", status=1)
    assert "are 19,200,000 bits; the LFE5U-85F holds" in said and "--force" in said
    said = command("explore", "infer.t", "--pes", "4", "-q", status=1)
    assert "are 19,200,000 bits; the LFE5U-85F holds" in said
    np.savez("in.npz", x=np.full((1, n), 0.5), w=np.full(n, 2.0**-10))
    assert "overflows" in command("eval", "infer.t", "--inputs", "in.npz", "-o", "out.npz", "-q")


def test_all_known_parts_have_a_size() -> None:
    assert all(family.ram_bits for family, _ in known_parts())
