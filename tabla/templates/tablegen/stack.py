"""What a run asks of Python: room for deep recursion, because a value that is nested a thousand levels deep is unusual,
but not wrong, and no search for garbage.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tabla.base.source import TablaError

# Enough for MAX_INSTANTIATION_DEPTH nested instantiations. The recursive parts of the evaluator call Python from
# Python only, so a frame takes memory but no machine stack.
STACK_FRAMES = 250_000


@contextmanager
def deep_stack() -> Iterator[None]:
    """Let Python recurse as deep as the evaluator may need inside the block. A deeper recursion is the user's fault."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, STACK_FRAMES))
    try:
        yield
    except RecursionError:
        raise TablaError(
            f"a value is nested too deeply: it takes more than {STACK_FRAMES} calls of Python",
            hint="does a class or a !foldl wrap its own result again and again?",
        ) from None
    finally:
        sys.setrecursionlimit(before)


@contextmanager
def no_collection() -> Iterator[None]:
    """Let Python look for no cycles of garbage inside the block.

    Nearly everything that a run makes lives until its end, and to look through it again and again took two fifths of
    the time.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
