"""Which words of a beat the lanes and the root of a tap group take, in arrays of several roots."""

from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Mux

from tabla.hw.stream import Stream


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """Selects words behind ``Stream`` by its outputs `all` and `same`. It is combinational.

    Word n of an address is word n mod S of the beat whose block is n div S. Lane k of group g takes word g * lanes + k.
    With `same` it takes word k, with `all` word g, and with both word 0. The root of group g takes word g, and word 0
    with `same`.
    """

    stream: Stream
    words: tuple[Any, ...]
    lanes: int

    def word(self, group: int, lane: int) -> Any:
        """Return the word of a lane."""
        return self._chosen(group, lane, lambda number: self.words[number % len(self.words)])

    def enable(self, group: int, lane: int) -> Any:
        """Return whether a lane's word is in this beat."""
        return self._chosen(group, lane, self._in_block)

    def root_word(self, group: int) -> Any:
        """Return the word of a group's root."""
        return Mux(self.stream.same, self.words[0], self.words[group % len(self.words)])

    def root_enable(self, group: int) -> Any:
        """Return whether a root's word is in this beat."""
        return Mux(self.stream.same, self._in_block(0), self._in_block(group))

    def _in_block(self, number: int) -> Any:
        return self.stream.block[number // len(self.words)]

    def _chosen(self, group: int, lane: int, pick: Any) -> Any:
        every = Mux(self.stream.same, pick(0), pick(group))
        own = Mux(self.stream.same, pick(lane), pick(group * self.lanes + lane))
        return Mux(self.stream.all, every, own)
