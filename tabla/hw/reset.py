"""How long `rst` must be high: until nothing of what was under way is left in registers that have no reset."""

from tabla.hw.features import features_of
from tabla.program.image import Image
from tabla.program.overlay import Overlay

_OPERATION = 11
"""Registers without reset in a row from the microcode of an operation, through addresses and memories, to a product."""
_EXTREME = 12
"""The same, and one more beside the product, where lanes keep the largest or smallest word. The levels of the tree
follow, or the sign of the word in the lane's rounder."""
_SENSE = 7
"""Registers without reset in a row before the tree, which says whether the words that come next are inverted."""
_CODE = 9
"""Registers without reset in a row from the microcode to the function unit, which learns there which function ends."""
_DIVISOR = 14
"""Registers without reset in a row from the microcode, through addresses and memories, to the divisor of a quotient."""


def reset_cycles(image: Image | Overlay) -> int:
    """Return the cycles for which `rst` must be high.

    In the first cycle all registers with a reset get their values. From there on these values flow through the
    registers without a reset, one register a cycle, so one more cycle is needed for each register of the longest
    chain. A register that keeps its value until the next one comes ends a chain: nobody reads it before it is written.
    A test counts the chains in whole netlists.
    """
    levels = (image.parameters.pes - 1).bit_length()
    chains = [_OPERATION, _SENSE + levels]
    if isinstance(image, Overlay) or features_of(image)["lane_issue"].uses("post", "extreme"):
        chains.append(_EXTREME + max(1, levels))
    for function in image.parameters.functions:
        chains.append(function.latency + (_DIVISOR if function.name in ("divide", "quotient") else _CODE))
    return 1 + max(chains)
