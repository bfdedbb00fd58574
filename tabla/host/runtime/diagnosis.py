"""Why a command does not end, or ended with an error, as far as registers can tell."""

from __future__ import annotations

from collections.abc import Sequence


def late(busy: bool, done: bool, sent: bool, received: bool) -> tuple[str, str]:
    """Return the cause of a command that makes no progress, and a cure.

    `busy` and `done` are bits of STATUS. `sent` and `received` say whether the packet to the device and the one from it
    have passed; a packet that the command does not have has passed.
    """
    match (busy, done, sent, received):
        case (False, False, _, _):
            return "the accelerator has not taken the command", "was it reset, or does another program use it?"
        case (True, _, False, _):
            return (
                "the accelerator has not taken all words that the DMA is to send",
                "connect MM2S to s_axis, with its clock and reset, and let the DMA read the buffer's memory",
            )
        case (True, _, True, False):
            return (
                "the DMA has sent all words, and the accelerator gives no results",
                "connect m_axis to S2MM; give both streams the width of the bus",
            )
        case (True, _, True, _):
            return "the DMA has sent all words, and the accelerator waits", "give the stream the width of the bus"
        case (False, True, False, _):
            return "the command has ended, and the DMA still has words to send", "give the stream the width of the bus"
    return (
        "the command has ended, and the DMA waits for the end of a packet",
        "connect TLAST of m_axis to S2MM",
    )


def cure_of_errors(names: Sequence[str], width: int) -> str:
    """Return the cure of a command that ended with these bits of STATUS, on streams of `width` bits."""
    if "NOT_LOADED" in names:
        return "load the models again: the accelerator was reset"
    if "COUNT_ZERO" in names:
        return "check that writes to the registers arrive whole"
    if "RANGE" in names:
        return f"give the DMA's stream {width} bits, and keep the order of bytes"
    return f"give the DMA's stream {width} bits, and connect its TLAST and TKEEP"
