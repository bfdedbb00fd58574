"""The output port: when the words of results leave the array.

A beat leaves in a cycle. If several roots have results of their own, one write sends out a word for each root. Then a
beat may have several of these words, and the beats of a write leave one after the other (decision 33).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabla.schedule.strands.strand import Strand
from tabla.templates.template import timing

CREDIT_RETURN = 2
"""Cycles from that in which the host takes a word to the first token that may use its room (decision 3, 3.10)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputPort:
    """The words that samples send out, `initiation_interval` cycles apart, to a host that takes every word at once.

    `puts` are the cycles, in order, of the root's writes to the output. Each write sends `each` words, in whole beats
    of `beat` words.
    """

    puts: NDArray[np.int64]
    each: int
    initiation_interval: int
    beat: int = 1

    @staticmethod
    def of(
        strands: Iterable[Strand], each: int, initiation_interval: int, *, widest: int = 1, beats_in: int = 0
    ) -> OutputPort:
        """Return the output port as the strands of a sample use it; the initiation interval is at least the beats of a
        sample.

        A beat has at most `widest` words. It has the fewest with which words leave within `initiation_interval` or
        `beats_in`, the beats that a sample takes in.
        """
        puts = puts_of(strands)
        beat = 1
        while (
            2 * beat <= widest
            and each % (2 * beat) == 0
            and each // beat * len(puts) > max(initiation_interval, beats_in)
        ):
            beat *= 2
        return OutputPort(
            puts=puts, each=each, initiation_interval=max(initiation_interval, each // beat * len(puts)), beat=beat
        )

    @property
    def words(self) -> int:
        """The number of words that a sample sends out."""
        return self.each * len(self.puts)

    @property
    def beats(self) -> int:
        """The number of beats in which these words leave."""
        return self.words // self.beat

    @property
    def latency(self) -> int:
        """The cycles from a root's write to its first beat on the port, if no earlier beat is in the way."""
        return port_latency(self.each, self.beat)

    @property
    def last(self) -> int:
        """The cycle in which the last beat of a sample stands on the port; 0 if no word leaves.

        The beats of the sample before have left by then: if the last beat waits at all, it waits for beats of its own
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
        return self.words + self.beat * int(np.maximum(-(-away // self.initiation_interval) - 1, 0).sum())

    def _taken(self, samples: int) -> NDArray[np.int64]:
        """Return the cycles in which the beats of the last of some samples leave, counted from its own cycle 0."""
        begins = self.initiation_interval * np.arange(1 - samples, 1, dtype=np.int64)
        shown = np.repeat(np.add.outer(begins, self.puts).reshape(-1), self.each // self.beat) + self.latency
        place = np.arange(len(shown), dtype=np.int64)
        return (np.maximum.accumulate(shown - place) + place)[-self.beats :]


def puts_of(strands: Iterable[Strand]) -> NDArray[np.int64]:
    """Return the cycles, in order, in which the strands of a sample write to the output."""
    cycles = [
        strand.cycles(slot)
        for strand in strands
        if strand.unit == "root_write"
        for slot, operation in enumerate(strand.body)
        if operation.field("to_output")
    ]
    return np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *cycles]))


def port_latency(each: int, beat: int) -> int:
    """Return the cycles from a root's write of `each` words to the first beat of `beat` words on the port.

    Words that leave in several beats wait in the queue of several roots, which takes longer than the buffer.
    """
    laws = timing()
    return laws.broadcast + (laws.queue if each > beat else 0)
