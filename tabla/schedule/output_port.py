"""The output port: when the words of results leave the array.

One word leaves in a cycle. If several roots have results of their own, one write sends out a word for each root, and
these words leave one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabla.strands.strand import Strand
from tabla.templates.template import timing

CREDIT_RETURN = 2
"""Cycles from that in which the host takes a word to the first token that may use its room (decision 3, 3.10)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputPort:
    """The words that samples send out, `period` cycles apart, to a host that takes every word at once.

    `puts` are the cycles, in order, of the root's writes to the output, and each write sends `each` words.
    """

    puts: NDArray[np.int64]
    each: int
    period: int

    @staticmethod
    def of(strands: Iterable[Strand], each: int, period: int) -> OutputPort:
        """Return the output port as the strands of a sample use it; the period is at least the words of a sample."""
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
        """The number of words that a sample sends out."""
        return self.each * len(self.puts)

    @property
    def last(self) -> int:
        """The cycle in which the last word of a sample stands on the port; 0 if no word leaves.

        The words of the sample before have left by then: if the last word waits at all, it waits for words of its own
        sample.
        """
        return int(self._taken(1)[-1]) if self.words else 0

    @property
    def depth(self) -> int:
        """The least depth, in words, of the output buffer with which no token waits for room.

        The buffer needs room for a sample's own words and for those of earlier samples that may still be there.
        """
        if not self.words:
            return 0
        away = timing().front + self._taken(2) + CREDIT_RETURN
        return self.words + int(np.maximum(-(-away // self.period) - 1, 0).sum())

    def _taken(self, samples: int) -> NDArray[np.int64]:
        """Return the cycles in which the words of the last of some samples leave, counted from its own cycle 0."""
        laws = timing()
        begins = self.period * np.arange(1 - samples, 1, dtype=np.int64)
        shown = np.repeat(np.add.outer(begins, self.puts).reshape(-1), self.each)
        shown = shown + laws.broadcast + (laws.queue if self.each > 1 else 0)
        place = np.arange(len(shown), dtype=np.int64)
        return (np.maximum.accumulate(shown - place) + place)[-self.words :]
