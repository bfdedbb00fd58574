"""The wrapper and its DMA in the memory map of this computer: what ``mmio:`` names, and how it is opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tabla.base.source import TablaError, TablaValueError
from tabla.host.runtime.access import Buffer, MappedRegisters, Registers, UDmaBuf
from tabla.host.runtime.axi import AxiTransport
from tabla.host.runtime.control import Control
from tabla.host.runtime.dma import SIZE, AxiDma, DmaShape
from tabla.host.runtime.folder import BuildFolder
from tabla.host.runtime.interrupt import Interrupt, UioInterrupt

MMIO = "mmio:"
SECONDS = 1.0
"""Seconds without progress after which a command has failed. With what follows, the user hears of it within two."""
_NEEDED = ("registers", "dma", "buffer")
_NUMBERS = ("length-bits", "address-bits")
_FORM = "mmio:registers=/dev/uio0,dma=/dev/mem@0x40400000,buffer=udmabuf0[,length-bits=14][,address-bits=32]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """An accelerator and an AXI DMA that are in reach of this computer.

    `registers` are those of the wrapper, `dma` those of the AXI DMA, and `buffer` is memory that both processor and DMA
    can reach. `length_bits` and `address_bits` are the widths of the DMA's length and address registers. Without an
    `interrupt` of the wrapper its registers are read again and again.
    """

    registers: Registers = field(repr=False)
    dma: Registers = field(repr=False)
    buffer: Buffer = field(repr=False)
    length_bits: int = 14
    address_bits: int = 32
    interrupt: Interrupt | None = field(default=None, repr=False)


def parts_of(text: str) -> dict[str, str]:
    """Return the parts of ``mmio:NAME=VALUE,...``. Raises `TablaError` for any other text."""
    found: dict[str, str] = {}
    for part in text.removeprefix(MMIO).split(","):
        name, equals, value = part.partition("=")
        if not equals or not value or name not in (*_NEEDED, *_NUMBERS) or name in found:
            raise TablaValueError(f"'{part}' does not say where an accelerator is", hint=f"write {_FORM}")
        if name in _NUMBERS and not (value.isascii() and value.isdigit()):
            raise TablaValueError(f"{name}: '{value}' is no number of bits", hint=f"write {_FORM}")
        found[name] = value
    if missing := [name for name in _NEEDED if name not in found]:
        raise TablaValueError(f"'{text}' lacks {' and '.join(missing)}", hint=f"write {_FORM}")
    return found


def board_of(text: str, registers: Sequence[Mapping[str, Any]]) -> Board:
    """Open the registers and the buffer that ``mmio:`` names.

    * ``registers``: those of the wrapper, as ``/dev/uio0`` or as ``/dev/mem@0x43C00000``. The interrupt of a UIO device
      that has one is used.
    * ``dma``: those of the AXI DMA, in the same way.
    * ``buffer``: the name of a buffer of u-dma-buf, such as ``udmabuf0``.
    * ``length-bits``, ``address-bits``: the widths of the DMA's registers; 14 and 32 unless they are given.

    The table of the wrapper's `registers` says how many there are. Raises `TablaError` for a text of another form, and
    for what cannot be opened.
    """
    parts = parts_of(text)
    if parts["buffer"].startswith("/dev/mem"):
        raise TablaError(
            "memory of /dev/mem is no buffer: the kernel may use it, and caches are not kept coherent",
            hint="load u-dma-buf and name its buffer, as in buffer=udmabuf0",
        )
    bits = {name.replace("-", "_"): int(parts[name]) for name in _NUMBERS if name in parts}
    return Board(
        registers=MappedRegisters(parts["registers"], _size(registers)),
        dma=MappedRegisters(parts["dma"], SIZE),
        buffer=UDmaBuf(parts["buffer"].removeprefix("/dev/")),
        interrupt=None if "@" in parts["registers"] else UioInterrupt.of(parts["registers"]),
        **bits,
    )


def _size(registers: Sequence[Mapping[str, Any]]) -> int:
    return max(int(entry["offset"]) for entry in registers) + 4


def open_board(folder: BuildFolder, board: Board, seconds: float | None) -> AxiTransport:
    """Return the transport to a board. The errors are those of `AxiDma` and `AxiTransport`."""
    limit, bus = SECONDS if seconds is None else seconds, folder.bus
    shape = DmaShape(length_bits=board.length_bits, address_bits=board.address_bits, beat=bus["width"] // 8)
    sizes = bus["bytes"]
    most = (max(sizes["load"], sizes["sample"]), max(sizes["result"], sizes["dump"], shape.beat))
    try:
        dma = AxiDma(board.dma, board.buffer, shape, most=most, seconds=limit / 4)
        return AxiTransport(folder, Control(board.registers, bus["registers"]), dma, limit, board.interrupt)
    except BaseException:
        if board.interrupt is not None:
            board.interrupt.close()
        raise
