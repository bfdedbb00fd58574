"""The block RAMs of a design against a part, and what ``tabla gen --part`` refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import tabla.examples
from tabla.build.cost import capacity
from tabla.build.cost.blocks import block_rams, memories
from tabla.build.cost.capacity import named_part, room
from tabla.build.files.occupancy import USUAL, Occupancy, occupancy
from tabla.build.options import Options
from tabla.driver import Build, build
from tabla.hw.features import features_of
from tabla.schedule.mapping.capacity import known_parts
from tabla.templates.targets import target

EXAMPLES = Path(tabla.examples.__file__).parent
TEXT = """n = 4096; model_input x[n]; model w[n], v[n]; iterator i[0:n];
h = sum[i](w[i] * x[i]); g = sum[i](v[i] * x[i]);
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Build:
    path = tmp_path_factory.mktemp("large") / "large.t"
    path.write_text(TEXT)
    return build(path, Options(pes=2, effort=0))


def test_the_kinds_of_memories_add_up(large: Build) -> None:
    taken = room(large.image, named_part(USUAL))
    assert taken is not None and sum(taken.blocks_of.values()) == taken.blocks
    named = {memory.name for memory in memories(large.image, features_of(large.image))}
    assert named <= {"model", "data", "interim", "root data", "root memory", "microcode", "functions", "output"}


def test_tensors_take_the_block_rams_of_their_words(large: Build) -> None:
    """A lane has 2,048 words of each model. Three samples of 2,048 words take six block RAMs."""
    found = occupancy(large)
    assert found is not None
    assert large.schedule.ring_slots == 3
    assert (found.part, found.title, found.has) == ("LFE5U-85F", "DP16KD", 208)
    assert found.tensors == (("x", 12), ("v", 4), ("w", 4))
    # Where no memory of words is small enough for LUTs, every block RAM of the count is one of the part.
    assert 20 <= found.takes <= block_rams(large.image, features_of(large.image))


def test_the_line() -> None:
    about = {"part": "P1", "title": "RAM", "has": 1000}
    tensors = (("a", 700), ("b", 400), ("c", 90), ("d", 2))
    fits = Occupancy(takes=2, tensors=(), **about)  # type: ignore[arg-type]
    beyond = Occupancy(takes=1200, tensors=tensors, **about)  # type: ignore[arg-type]
    assert fits.line() == "block RAMs   2 of the 1,000 (RAM) of P1"
    assert beyond.line() == (
        "block RAMs   1,200 of the 1,000 (RAM) of P1, more than there are; most are for a 700, b 400, c 90"
    )


@pytest.mark.parametrize("name", ["LFE5U-45F", "lfe5u-45f", "45k", "LFE5U-45F:6", "LFE5U-45F:8"])
def test_names_of_a_part(name: str) -> None:
    family, device = named_part(name)
    assert (family.name, device.part) == ("ecp5", "LFE5U-45F")


def test_every_known_part_has_a_name() -> None:
    assert all(named_part(device.part)[1].part == device.part for _, device in known_parts())


def test_gen_prints_and_refuses_by_the_part(
    tmp_path: Path, command: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("large.t").write_text(TEXT)
    options = ("large.t", "--pes", "2", "--effort", "0")
    said = command("gen", *options, "--json", "figures.json")
    (line,) = (line for line in said.splitlines() if line.startswith("block RAMs"))
    assert line.endswith(" of the 208 (DP16KD) of LFE5U-85F; most are for x 12, v 4, w 4")
    told = json.loads(Path("figures.json").read_text())["block_rams"]
    assert told["available"] == 208 and told["tensors"] == {"x": 12, "v": 4, "w": 4}
    assert "of the 108 (DP16KD) of LFE5U-45F" in command("gen", *options, "--part", "LFE5U-45F")
    small = target("ecp5").device("25k")
    monkeypatch.setattr(type(small), "capacity", lambda self, kind: 7 if kind == "RAM" else 24000)
    said = command("gen", *options, "--part", "LFE5U-25F", "-o", "small", status=1)
    assert "block RAMs (DP16KD)" in said and "the LFE5U-25F has 7" in said and "--force goes on" in said
    assert not Path("small").exists()
    assert "more than there are" in command("gen", *options, "--part", "LFE5U-25F", "--force")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--part", "LFE5U-12F"), "part: there is no part 'LFE5U-12F' here"),
        (("--part", "LFE5U-25F:fast"), "part: 'fast' is not a speed grade"),
        (("--part", "LFE5U-25F:99"), "99"),
        (("--part", "LFE5U-25F", "--emit", "graph"), "--part has no meaning with --emit"),
    ],
)
def test_what_is_no_part(words: tuple[str, ...], told: str, tmp_path: Path, command: Callable[..., str]) -> None:
    said = command("gen", str(EXAMPLES / "linear.t"), *words, "-o", str(tmp_path / "built"), status=1)
    assert said.startswith("error: ") and told in said and "\nhint: " in said
    assert not (tmp_path / "built").exists()


def test_nothing_is_scheduled_for_an_unknown_part(
    tmp_path: Path, command: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capacity, "memories", None)
    monkeypatch.setattr("tabla.schedule.compile.compiled", None, raising=False)
    said = command("gen", str(EXAMPLES / "linear.t"), "--part", "P9", "-o", str(tmp_path / "built"), status=1)
    assert "there is no part 'P9'" in said


@pytest.mark.parametrize(
    ("part", "blocks"), [("LFE5U-85F", 208), ("LFE5U-25F", 56), ("XC7A200T", 730), ("up5k", 0), ("hx8k", 0)]
)
def test_arrays_are_made_for_parts_with_block_rams_of_18_kbit_and_memory_in_luts(part: str, blocks: int) -> None:
    """Block RAMs of an iCE40 have 4 kbit, and none of its LUTs can be memory: Yosys refuses one that asks for it."""
    assert build(EXAMPLES / "linear.t", Options(pes=4, part=part)).template.block_rams == blocks


def test_a_part_of_own_records_is_named(tmp_path: Path, command: Callable[..., str]) -> None:
    own = tmp_path / "own.td"
    own.write_text(
        'def F : Target<"own", "Own", "synth"> { let RamBits = 18432; let LutBits = 64; let LutEvery = 1; }\n'
        'def D : Device<F, "d", "MINE-1"> { let Rams = 99; let Luts = 9999; }\n'
    )
    said = command(
        "gen", str(EXAMPLES / "linear.t"), "--templates", str(own), "--part", "MINE-1", "-o", str(tmp_path / "o")
    )
    assert "of the 99 " in said and "MINE-1" in said
