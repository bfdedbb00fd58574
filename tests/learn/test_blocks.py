"""A run over many samples is cut into blocks, which have each sample once, in order, and more than one sample each."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tabla.learn.loop import _blocks


@given(samples=st.integers(1, 3000), slow=st.booleans())
def test_blocks(samples: int, slow: bool) -> None:
    now = iter(range(10**6))
    blocks = list(_blocks(samples, lambda: float(next(now)) if slow else 0.0))
    assert [at for block in blocks for at in range(block.start, block.stop)] == list(range(samples))
    # A block of one sample has no steady state in which cycles could be counted.
    assert samples == 1 or all(block.stop - block.start > 1 for block in blocks)
    if slow:
        assert all(block.stop - block.start <= 17 for block in blocks)
