"""The banks of memories: they have what is needed, and take no more block RAMs than one memory would."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabla.hw.banks import SHAPES, Bank, banks_of, block_rams, widths
from tabla.hw.memory import WordMemory
from tabla.program.image import Ranges
from tabla.templates.memories import FEW_WORDS
from tests.hw.bench import played


def cost(bits: int, banks: tuple[Bank, ...], whole: int) -> int:
    """The block RAMs of banks; a bank of few words lies in LUTs, unless it is the whole memory."""
    large = [bank.words for bank in banks if bank.words > FEW_WORDS or bank.words == whole]
    return sum(block_rams(wide, words) for words in large for wide in widths(bits))


@pytest.mark.parametrize(
    ("bits", "depth", "needed", "banks"),
    [
        (16, 1, None, [(0, 2)]),
        (16, 64, ((3, 4),), [(0, 64)]),  # a small memory is never divided
        (16, 1000, None, [(0, 1024)]),
        (16, 1024, None, [(0, 1024)]),
        (16, 1025, None, [(0, 1024), (1024, 16)]),
        (16, 2352, None, [(0, 2048), (2048, 1024)]),
        (16, 5022, None, [(0, 4096), (4096, 1024)]),
        (16, 7168, None, [(0, 4096), (4096, 2048), (6144, 1024)]),
        (16, 15 * 1024, None, [(0, 16384)]),  # four banks would be too many, and three save nothing
        (16, 16384, None, [(0, 16384)]),
        (8, 1025, None, [(0, 2048)]),  # a block RAM has 2048 words of 9 bits
        (8, 2100, None, [(0, 2048), (2048, 64)]),
        (24, 1025, None, [(0, 1024), (1024, 16)]),
        (16, 1000, (), []),
        (16, 1000, ((997, 998),), [(992, 16)]),
        (16, 4000, ((0, 300),), [(0, 1024)]),
        (16, 8280, ((0, 10), (8000, 8256)), [(0, 16), (7168, 1024), (8192, 64)]),
        (16, 18432, ((100, 200), (9000, 9216)), [(0, 1024), (8192, 1024)]),
    ],
)
def test_what_banks_a_memory_has(bits: int, depth: int, needed: Ranges | None, banks: list[tuple[int, int]]) -> None:
    assert [(bank.begin, bank.words) for bank in banks_of(bits, depth, needed)] == banks


@given(
    bits=st.integers(1, 40),
    depth=st.integers(1, 20_000),
    ends=st.none() | st.lists(st.tuples(st.integers(0, 20_000), st.integers(1, 3_000)), max_size=4),
)
def test_banks_have_what_is_needed_in_no_more_block_rams(
    bits: int, depth: int, ends: list[tuple[int, int]] | None
) -> None:
    needed = None if ends is None else tuple(sorted((b % depth, min(depth, b % depth + n)) for b, n in ends))
    banks, whole = banks_of(bits, depth, needed), 1 << max(1, (depth - 1).bit_length())
    assert len(banks) <= 3
    for bank in banks:
        assert bank.words & (bank.words - 1) == 0 and bank.begin % bank.words == 0 and bank.end <= whole
    assert all(one.end <= other.begin for one, other in pairwise(banks))
    for begin, end in ((0, depth),) if needed is None else needed:
        held = sum(max(0, min(end, bank.end) - max(begin, bank.begin)) for bank in banks)
        assert held == end - begin
    assert cost(bits, banks, whole) <= cost(bits, (Bank(0, whole),), whole)
    if needed is None and depth in {words << k for _, words in SHAPES for k in range(5)}:
        assert banks == (Bank(0, whole),)


@pytest.mark.parametrize(
    ("width", "depth", "needed"),
    [
        (16, 1040, None),
        (18, 3000, None),
        (20, 1500, ((1200, 1300),)),
        (16, 7000, None),
        (9, 500, ((7, 9),)),
        (4, 99, ()),
    ],
)
def test_memory_with_banks_shows_what_was_written_and_0_elsewhere(
    width: int, depth: int, needed: Ranges | None
) -> None:
    chance = random.Random(depth)
    init = [chance.randrange(1 << width) for _ in range(depth // 2)]
    memory = WordMemory(width=width, depth=depth, init=init, needed=needed)
    held = [any(bank.begin <= address < bank.end for bank in memory.banks) for address in range(memory.depth)]
    words = [word if here else 0 for word, here in zip(init + [0] * memory.depth, held, strict=False)]
    edges = [e for bank in memory.banks for e in (bank.begin, bank.end - 1, bank.begin - 1, bank.end)]
    places = [place % memory.depth for place in edges] or [0]
    inputs, wanted = [], []
    for _ in range(600):
        read, write = (
            chance.choice(places) if chance.random() < 0.6 else chance.randrange(memory.depth) for _ in range(2)
        )
        enable = int(chance.random() < 0.6 and read != write)
        data = chance.randrange(1 << width)
        inputs.append({"read_address": read, "write_address": write, "write_enable": enable, "write_data": data})
        wanted.append(words[read])
        if enable and held[write]:
            words[write] = data
    seen = played(memory, inputs, more=WordMemory.LATENCY)
    assert [cycle["read_data"] for cycle in seen[WordMemory.LATENCY :]] == wanted
    assert any(wanted) or not needed
