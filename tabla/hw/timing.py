"""The numbers of a program that the hardware compares with: constants, or the registers of an overlay."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Mux

from tabla.hw.tokens import HeldDelays, TokenDelay
from tabla.program.image import Image
from tabla.program.timing import timing_numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """The numbers of ``timing_numbers`` by name.

    `numbers` are integers where the hardware is built for one program, and signals in an overlay. `most` is the
    greatest value of each that the hardware has to hold. `tokens` is how many tokens may be on their way to a unit of
    an overlay; it is 0 where the delays are constants. Samples are `overlapping` if units work on several in turns.
    """

    numbers: Mapping[str, Any]
    most: Mapping[str, int]
    tokens: int = 0
    overlapping: bool = False

    @staticmethod
    def of(image: Image) -> "Timing":
        """Return the constants of a program."""
        numbers = timing_numbers(image)
        if image.release < TokenDelay.LATENCY:
            raise ValueError(f"a slot is released {image.release} cycles after its token: too early to be real")
        return Timing(numbers=numbers, most=numbers, overlapping=image.parameters.stages > 1)

    def __getitem__(self, name: str) -> Any:
        return self.numbers[name]

    def greatest(self, *names: str) -> int:
        """Return the greatest value that any of some numbers may have."""
        return max(self.most[name] for name in names)

    def token_delay(self, run: str, dump: str = "") -> TokenDelay:
        """Return the delay of tokens that waits as two numbers say. Without `dump` there are only tokens of runs."""
        names = (run, dump or run)
        if self.tokens:
            longest = self.greatest(*names) - 2
            waits = (self[names[0]], self[names[1]])
            return TokenDelay(held=HeldDelays(waits=waits, longest=longest, tokens=self.tokens))
        pauses = ("run.pause", "dump.pause" if dump else "run.pause")
        return TokenDelay(
            delays=(self[names[0]] - 2, self[names[1]] - 2),
            periods=(self[pauses[0]] + 2, self[pauses[1]] + 2),
            overlapping=self.overlapping and bool(dump),
        )


def chosen(condition: Any, yes: Any, no: Any) -> Any:
    """Return one of two values; where the condition is a constant, no hardware chooses."""
    if isinstance(condition, int):
        return yes if condition else no
    return Mux(condition, yes, no)
