"""Takes an image, checks it whole, and only then lets it run."""

from typing import Any

from amaranth.hdl import Array, Cat, Const, Module, Signal
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.overlay.crc import Crc32
from tabla.program.overlay import CONTAINER, Overlay
from tabla.program.overlay_words import MAGIC, Status


class State(enum.Enum):
    """What the next word is. Words that come in `REST` are swallowed."""

    REST = 0
    MAGIC = 1
    FINGERPRINT = 2
    RECORD = 3
    WORD = 4
    CRC = 5
    SWITCH = 6


class Loader(wiring.Component):
    """Takes the words of an image, and writes them to the bank that does not run.

    `start` begins an image, whatever came before. A word is taken in a cycle with `valid` and `ready`; the next one 5
    cycles later. An image is the words of ``program_words``. Its last word is the CRC of all others. Only if that is
    right, and if no command was under way at any time since `start`, `switch` is high for a cycle. In any other case
    `status` says why not, and all words until the next `start` are swallowed.

    A word of a memory is collected in `word`, which is full after as many words of the port as the memory's words are
    wide: its bits end at the upper end. The word of timing comes last, and is still there when `switch` is high.

    Members
    -------
    start : In(1), valid : In(1), ready : Out(1), data : In(32)
    busy : In(1)
        A command is under way.
    write : Out(1), memory : Out(8), address : Out(12)
        In the cycle after a word is complete.
    word : Out(widest word, in whole words of the port)
    holds : Out(1)
        No command may begin in this cycle.
    switch : Out(1)
    status : Out(3)
        A ``Status``.
    """

    def __init__(self, overlay: Overlay) -> None:
        self.overlay = overlay
        self.containers = [overlay.containers(*memory) for memory in overlay.memories]
        super().__init__(
            {
                "start": In(1),
                "valid": In(1),
                "ready": Out(1),
                "data": In(CONTAINER),
                "busy": In(1),
                "write": Out(1),
                "memory": Out(8),
                "address": Out(12),
                "word": Out(CONTAINER * max(self.containers)),
                "holds": Out(1),
                "switch": Out(1),
                "status": Out(3),
            }
        )

    def part(self, number: int, width: int) -> Any:
        """Return the bits of `word` that are a word of a memory."""
        begin = CONTAINER * (max(self.containers) - self.containers[number])
        return self.word[begin : begin + width]

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.submodules.check = check = Crc32()
        state = Signal(State)
        takes = Signal()
        most = max(self.containers)
        left = Signal(range(most))
        words = Signal(12, reset_less=True)
        last_word = Signal()
        m.d.comb += [
            self.ready.eq(check.idle & (state != State.SWITCH)),
            takes.eq(self.valid & self.ready & ~self.start),
            check.restart.eq(self.start),
            check.word.eq(self.data),
            check.take.eq(takes & (state != State.CRC)),
            self.holds.eq(state == State.SWITCH),
            self.switch.eq((state == State.SWITCH) & ~self.busy & ~self.start),
            last_word.eq(self.memory == len(self.containers) - 1),
        ]
        m.d.sync += self.write.eq(0)
        with m.If(self.write):
            m.d.sync += self.address.eq(self.address + 1)
        with m.If(takes):
            self._take(m, state, check, left, words, last_word)
        with m.If(self.switch):
            m.d.sync += [state.eq(State.REST), self.status.eq(Status.RUNS)]
        with m.If((state != State.REST) & self.busy):
            m.d.sync += [state.eq(State.REST), self.status.eq(Status.BUSY)]
        with m.If(self.start):
            m.d.sync += [state.eq(State.MAGIC), self.status.eq(Status.TAKES)]
        return m

    def _take(self, m: Module, state: Any, check: Crc32, left: Any, words: Any, last_word: Any) -> None:
        """Take a word of the port."""

        def refuse(status: Status) -> None:
            m.d.sync += [state.eq(State.REST), self.status.eq(status)]

        lengths = Array(Const(count - 1, len(left)) for count in self.containers)
        number = self.data[24:32]
        with m.Switch(state):
            with m.Case(State.MAGIC):
                m.d.sync += state.eq(State.FINGERPRINT)
                with m.If(self.data != MAGIC):
                    refuse(Status.FORM)
            with m.Case(State.FINGERPRINT):
                m.d.sync += state.eq(State.RECORD)
                with m.If(self.data != self.overlay.fingerprint):
                    refuse(Status.FOREIGN)
            with m.Case(State.RECORD):
                m.d.sync += [
                    state.eq(State.WORD),
                    self.memory.eq(number),
                    self.address.eq(self.data[12:24]),
                    words.eq(self.data[:12]),
                    left.eq(lengths[number]),
                ]
                with m.If(number >= len(self.containers)):
                    refuse(Status.FORM)
            with m.Case(State.WORD):
                m.d.sync += [self.word.eq(Cat(self.word[CONTAINER:], self.data)), left.eq(left - 1)]
                with m.If(left == 0):
                    m.d.sync += [self.write.eq(1), words.eq(words - 1), left.eq(lengths[self.memory])]
                    with m.If(last_word):
                        m.d.sync += state.eq(State.CRC)
                    with m.Elif(words == 1):
                        m.d.sync += state.eq(State.RECORD)
            with m.Case(State.CRC):
                m.d.sync += state.eq(State.SWITCH)
                with m.If(self.data != check.crc):
                    refuse(Status.DAMAGED)
