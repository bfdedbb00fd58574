"""Memories that ask for LUTs, in a netlist of Yosys for an ECP5."""

from __future__ import annotations

from collections import Counter

import pytest

from tabla.build.cost.blocks import Memory
from tabla.build.synth.yosys import synthesise_flat
from tabla.hw.block_memories import asks_for_luts
from tabla.hw.memory import WordMemory
from tabla.templates.targets import target
from tests.hw.designs import verilog_of


@pytest.mark.parametrize(("bits", "words"), [(16, 64), (16, 128), (18, 83), (21, 100)])
@pytest.mark.parametrize("block", [False, True])
def test_memories_are_made_as_they_are_counted(bits: int, words: int, block: bool) -> None:
    memory = WordMemory(width=bits, depth=words, block=block, distributed=asks_for_luts(words, block=block))
    module = synthesise_flat(verilog_of(memory, "words"), "words", target("ecp5")).parsed()
    made = Counter(cell["type"] for cell in module["cells"].values())
    counted = Memory(bits=bits, words=memory.depth, block=block, in_luts=asks_for_luts(words, block=block))
    assert made["DP16KD"] == counted.block_rams
    assert made["TRELLIS_DPR16X4"] == sum(piece.ranks for piece in counted.distributed)
    assert (made["DP16KD"] > 0) == block


def test_without_asking_a_memory_of_many_words_is_a_block_ram() -> None:
    memory = WordMemory(width=16, depth=128)
    module = synthesise_flat(verilog_of(memory, "words"), "words", target("ecp5")).parsed()
    assert "DP16KD" in {cell["type"] for cell in module["cells"].values()}
