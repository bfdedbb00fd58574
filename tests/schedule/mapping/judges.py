"""Judges that schedule nothing: they remember what they are asked, and say what a test wants."""

from __future__ import annotations

from collections.abc import Callable

from tabla.schedule.mapping.judge import Figures
from tabla.schedule.mapping.mapping import Mapping


def figures(
    cycles: int,
    latency: int = 0,
    words: int = 0,
    *,
    too_large: bool = False,
    blocks: int = 0,
    waits: tuple[int, ...] = (),
) -> Figures:
    """Figures that are written in one line."""
    return Figures(
        cycles=cycles, latency=latency, microcode_words=words, too_large=too_large, further_blocks=blocks, waits=waits
    )


class Remembering:
    """A judge that gives each mapping the cycles that `cycles` says, or refuses it for None."""

    def __init__(self, cycles: Callable[[Mapping], int | None]) -> None:
        self.cycles = cycles
        self.seen: list[Mapping] = []

    def __call__(self, mapping: Mapping, most: float) -> Figures | None:
        self.seen.append(mapping)
        cycles = self.cycles(mapping)
        return None if cycles is None else figures(cycles)


def estimated(mapping: Mapping) -> int:
    """The search's own estimate as a judgement."""
    return round(100 * min(mapping.estimate, 1e6))
