"""How results leave: one word a cycle, those that one operation of several roots sends out one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabla.strands.strand import Strand
from tabla.templates.template import timing

CREDIT_RETURN = 2
"""From the cycle in which a word is taken to the first token that may use its place (decision 3, 3.10)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputPort:
    """The words of a sample, samples `period` cycles apart, a host that takes every word at once.

    `puts` are the cycles, in order, of the root's writes to the output; each sends `each` words.
    """

    puts: NDArray[np.int64]
    each: int
    period: int

    @staticmethod
    def of(strands: Iterable[Strand], each: int, period: int) -> OutputPort:
        """The port of a sample's strands; no period is shorter than it takes for all words to leave."""
        cycles = [
            strand.cycles(slot)
            for strand in strands
            if strand.unit == "root_write"
            for slot, operation in enumerate(strand.body)
            if operation.field("to_output")
        ]
        puts = np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *cycles]))
        return OutputPort(puts=puts, each=each, period=max(period, each * len(puts)))

    @property
    def words(self) -> int:
        """Words that a sample sends out."""
        return self.each * len(self.puts)

    @property
    def last(self) -> int:
        """The cycle in which a sample's last word stands on the port; 0 without words.

        Waiting words of the sample before are gone by then: the last word of a sample that waits for any waits for its
        own.
        """
        return int(self._taken(1)[-1]) if self.words else 0

    @property
    def depth(self) -> int:
        """The fewest words of buffer with which no token waits for room: a sample's own, and those of samples before
        that may still be there.
        """
        if not self.words:
            return 0
        away = timing().front + self._taken(2) + CREDIT_RETURN
        return self.words + int(np.maximum(-(-away // self.period) - 1, 0).sum())

    def _taken(self, samples: int) -> NDArray[np.int64]:
        """When each word of the last of some samples leaves, counted from that one's own cycle 0."""
        laws = timing()
        begins = self.period * np.arange(1 - samples, 1, dtype=np.int64)
        shown = np.repeat(np.add.outer(begins, self.puts).reshape(-1), self.each)
        shown = shown + laws.broadcast + (laws.queue if self.each > 1 else 0)
        place = np.arange(len(shown), dtype=np.int64)
        return (np.maximum.accumulate(shown - place) + place)[-self.words :]
