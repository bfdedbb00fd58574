"""A unit's program in an overlay: one that runs, and one that is written meanwhile."""

from typing import Any

from amaranth.hdl import Cat
from amaranth.lib.wiring import In

from tabla.hw.features import UnitFeatures
from tabla.hw.pipeline import bits_for
from tabla.hw.sequencer import Sequencer
from tabla.program.image import Parameters


class BankedSequencer(Sequencer):
    """A ``Sequencer`` whose memories have two banks. The program in one of them runs, and words are written to the
    other one.

    Members beside those of a ``Sequencer``
    -------
    bank : In(1), stable between restarts
        The bank that runs.
    strand_data : In(word)
        The word of a strand; `write_data` is that of an operation.
    """

    def __init__(self, *, unit: str, parameters: Parameters, features: UnitFeatures) -> None:
        super().__init__(unit=unit, parameters=parameters, features=features, strands=(), operations=())

    def _members(self) -> dict[str, Any]:
        return super()._members() | {
            "bank": In(1),
            "strand_data": In(self.strand_layout.width),
            "write_data": In(self.operation_layout.width),
        }

    def _words(self, depth: int) -> int:
        return 2 << bits_for(depth)

    def _running(self, address: Any) -> Any:
        return Cat(address, self.bank)

    def _written(self, depth: int) -> Any:
        return Cat(self.write_address[: bits_for(depth)], ~self.bank)

    def _strand_word(self) -> Any:
        return self.strand_data
