"""How many memories of a lane are block RAMs."""

from __future__ import annotations

import pytest
from tabla.hw.block_memories import blocks_per_lane, microcode_has_blocks, roots_have_blocks

MICROCODE, ROOT, TABLE, PART = 34, 4, 2, 208


@pytest.mark.parametrize(
    ("pes", "roots", "blocks"), [(1, 1, 3), (16, 2, 3), (32, 1, 3), (64, 1, 2), (64, 16, 1), (128, 1, 1), (128, 32, 0)]
)
def test_the_array_fits_the_part_and_uses_it(pes: int, roots: int, blocks: int) -> None:
    assert blocks_per_lane(pes, roots) == blocks
    taken = pes * blocks + roots * (TABLE + ROOT * roots_have_blocks(roots)) + MICROCODE
    assert taken <= PART
    assert blocks == 3 or taken + pes > PART


def test_few_words_beside_several_sequencers_take_no_block() -> None:
    assert microcode_has_blocks("root_issue", 1, 2)
    assert not microcode_has_blocks("root_issue", 2, 16) and not microcode_has_blocks("stream", 4, 8)
    assert microcode_has_blocks("root_issue", 2, 17)
    assert microcode_has_blocks("lane_issue_1", 2, 5)
