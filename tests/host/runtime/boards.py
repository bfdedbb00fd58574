"""Accelerators behind a DMA, made of models."""

from __future__ import annotations

from typing import Any

from tabla.host.runtime import Board
from tabla.host.runtime.folder import BuildFolder
from tests.host.runtime.dma_model import DmaModel, Memory
from tests.host.runtime.made import Made
from tests.host.runtime.wrapper_model import WrapperModel


def board_of(case: Made, *, size: int = 1 << 16, address: int = 0x1000_0000, **options: Any) -> tuple[Board, DmaModel]:
    """An accelerator behind a DMA, both models, and the model of the DMA."""
    manifest = dict(BuildFolder.open(case.folder).manifest)
    memory, beat = Memory(size, address), manifest["bus"]["width"] // 8
    wrapper = WrapperModel(case.build.image, manifest)
    dma = DmaModel(wrapper, memory, beat=beat, **options)
    widths = {name: options[name] for name in ("length_bits", "address_bits") if name in options}
    return Board(registers=wrapper, dma=dma, buffer=memory, **widths), dma
