"""The replies of the serial link: requests against the bytes that answer them."""

from __future__ import annotations

from functools import partial, reduce
from operator import or_
from typing import Any

from amaranth.hdl import Array, Mux, Signal

from tabla.hw.board.replies import Replier
from tabla.hw.overlay.board import ProgramReplier
from tabla.program.protocol import DONE, LinkShape, PredictRequest, ProgramRequest, Refusal, Request
from verify.prove.bench import Bench, Opened
from verify.prove.planted import mutants
from verify.prove.subject import Speed, Subject

STATES = ("LISTEN", "REPLY", "COMMAND", "WAIT", "STATUS", "WORDS")
OVERLAY_STATES = ("LISTEN", "REPLY", "COMMAND", "WAIT", "WORD", "STATUS", "WORDS")
"""The states in the order of their numbers. Claims tell whether it is the right one."""


class ReplyProof:
    """The replier beside a record of the request that it answers."""

    def __init__(self, *, width: int, word_bytes: int, overlay: bool, predicts: bool = False) -> None:
        self.b = b = Bench(resets=True)
        self.overlay, self.predicts, self.word_bytes = overlay, predicts, word_bytes
        shape = LinkShape(beats=16, beat_bytes=2, word_bytes=word_bytes)
        self.part = part = (ProgramReplier if overlay else Replier)(shape=shape, width=width, predicts=predicts)
        self.opened = b.add(Opened(part), "replier")
        b.drive(part)
        self.asked, self.held = Signal(name="a_request_is_answered"), Signal(name="the_answer_waits")
        self.code, self.argument = Signal(8, name="request"), Signal(32, name="request_argument")
        self.first, self.refused = Signal(8, name="first_byte"), Signal(name="is_refused")
        self.waited = Signal(32, name="cycles_waited")
        self._requests()
        self._bytes()
        self._states()

    def _among(self, code: Any, *codes: int) -> Any:
        return reduce(or_, (code == each for each in codes))

    def _requests(self) -> None:
        """Record the request, and claim what the machine is told of it."""
        b, part = self.b, self.part
        predictions = tuple(PredictRequest) if self.predicts else ()
        runs, replays = (Request.REPLAY, *predictions), (Request.REPLAY, *predictions[1:])
        commands = (Request.LOAD, Request.RUN, Request.DUMP, *runs)
        waits = (*commands, Request.STATUS) + ((ProgramRequest.WORD,) if self.overlay else ())
        begins = b.seen(~self.asked & (part.greet | part.ends), "begins")
        accepted = b.seen(begins & ~part.greet & part.known, "accepted")
        self.first_sent = Signal(name="first_byte_sent")
        self.words, self.byte = Signal(32, name="words_sent"), Signal(2, name="byte_of_the_word")
        with b.m.If(self.held):
            b.m.d.sync += self.waited.eq(self.waited + 1)
        commanded = self._among(self.code, *commands)
        b.claim("command", part.command_valid == (self.held & commanded))
        b.claim("command_code", part.command_code == Mux(self._among(self.code, *runs), Request.RUN, self.code)[:2],
                when=part.command_valid)  # fmt: skip
        if self.predicts:
            predicts = self._among(self.code, *predictions)
            b.claim("command_predict", part.command_predict == predicts, when=part.command_valid)
        b.claim("command_count", part.command_count == self.argument, when=part.command_valid)
        b.claim("keep", part.keep == (accepted & (part.code == Request.KEEP)))
        b.claim("replay", part.replay == (accepted & self._among(part.code, *replays)))
        answered = commanded & part.command_ready
        answered |= (self.code == Request.STATUS) & ((part.busy == 0) | (self.waited == self.argument))
        if self.overlay:
            b.claim("program", part.program_start == (accepted & (part.code == ProgramRequest.PROGRAM)))
            b.claim("word", part.word_valid == (self.held & (self.code == ProgramRequest.WORD)))
            b.claim("word_of_the_program", part.word == self.argument, when=part.word_valid)
            answered |= (self.code == ProgramRequest.WORD) & part.word_ready
        with b.m.If(self.held & answered):
            b.m.d.sync += self.held.eq(0)
        with b.m.If(begins):
            done = Mux(part.greet, Request.RESET, part.code) | DONE
            refusal = Mux(part.sound, Refusal.REFUSED, Refusal.DAMAGED)
            b.m.d.sync += [
                self.asked.eq(1), self.held.eq(accepted & self._among(part.code, *waits)),
                self.code.eq(Mux(part.greet, Request.RESET, part.code)), self.argument.eq(part.argument),
                self.refused.eq(~part.greet & ~part.known), self.waited.eq(0),
                self.first.eq(Mux(part.greet | part.known, done, refusal)),
                self.first_sent.eq(0), self.words.eq(0), self.byte.eq(0),
            ]  # fmt: skip
        self.begins = begins

    def _bytes(self) -> None:
        """Record the bytes of the reply, and claim that they leave, each once and in order."""
        b, part = self.b, self.part
        told = Array(getattr(part, name) for name in part.TOLD)
        tells = self.tells = b.seen(self._among(self.code, Request.STATUS, Request.RESET) & ~self.refused, "tells")
        reads = self.reads = b.seen((self.code == Request.READ) & ~self.refused & (self.argument != 0), "reads")
        of_word = Mux(reads, self.word_bytes, 4)
        word = b.seen(Mux(reads, part.out_data, told[self.words[:4]]), "word_of_the_reply")
        there = ~self.first_sent | tells | part.out_valid
        moves = self.moves = b.seen(self.asked & ~self.held & there & ~part.valid, "a_byte_moves")
        word_ends = self.byte == of_word - 1
        all_words = Mux(reads, self.argument, len(part.TOLD))
        final = Mux(self.first_sent, word_ends & (self.words + 1 == all_words), ~tells & ~reads)
        shown = {name: Signal.like(getattr(part, name), name=f"shown_{name}") for name in ("data", "last")}
        full = Signal(name="shown_valid")
        with b.m.If(part.ready):
            b.m.d.sync += full.eq(0)
        with b.m.If(moves):
            b.m.d.sync += [
                full.eq(1), self.first_sent.eq(1), self.asked.eq(~final),
                shown["data"].eq(Mux(self.first_sent, word.word_select(self.byte, 8), self.first)),
                shown["last"].eq(final),
            ]  # fmt: skip
            with b.m.If(self.first_sent):
                b.m.d.sync += [self.byte.eq(Mux(word_ends, 0, self.byte + 1)), self.words.eq(self.words + word_ends)]
        b.claim("valid", part.valid == full)
        for name, signal in shown.items():
            b.claim(name, getattr(part, name) == signal, when=part.valid)
        b.claim("takes_a_word", part.out_ready == (moves & self.first_sent & reads & word_ends))
        b.claim("words_are_there", part.out_valid, when=part.out_ready)
        waits = b.register(part.valid & ~part.ready, "past_waits", reset_less=False)
        b.claim("byte_stays", part.valid, when=waits)
        for name in shown:
            now = getattr(part, name)
            b.claim(f"{name}_stays", now == b.register(now, f"past_{name}"), when=waits)

    def _states(self) -> None:
        """Claim which states belong to the record, and what the registers keep."""
        b, opened = self.b, self.opened
        state = opened["fsm_state"]
        names = OVERLAY_STATES if self.overlay else STATES
        inside = {name: state == number for number, name in enumerate(names)}
        code, left, index, byte = opened.inner("code"), opened["left"], opened["index"], opened["byte"]
        b.claim("state", state < len(names))
        b.claim("a_first_byte_alone", ~self.first_sent | self.tells | self.reads, when=self.asked)
        b.claim("listens", inside["LISTEN"] == ~self.asked)
        b.claim("waits_for_rest", inside["WAIT"] == (self.asked & self.held & (self.code == Request.STATUS)))
        b.claim("first_byte", inside["REPLY"] == (self.asked & ~self.held & ~self.first_sent))
        sends = self.asked & ~self.held & self.first_sent
        b.claim("tells_the_status", inside["STATUS"] == (sends & self.tells))
        b.claim("reads_words", inside["WORDS"] == (sends & self.reads))
        b.claim("holds_nothing_else", self.asked & ~self.first_sent & ~self.refused, when=self.held)
        others = (Request.STATUS, *((ProgramRequest.WORD,) if self.overlay else ()))
        b.claim("commands", inside["COMMAND"] == (self.held & ~self._among(self.code, *others)))
        if self.overlay:
            b.claim("takes_a_word_of_the_program", inside["WORD"] == (self.held & (self.code == ProgramRequest.WORD)))
        b.claim("code", code == Mux(self.refused, 0xFF, self.code), when=self.asked)
        b.claim("no_such_request", self.first == opened["reply"], when=self.asked)
        # A request that is known has a code that there is.
        b.claim("left_of_the_wait", left == (self.argument - self.waited)[:32], when=inside["WAIT"])
        b.claim("left_of_the_words", left == (self.argument - self.words)[:32], when=self.asked & ~inside["WAIT"]
                & ~(self.tells & ~self.held))  # fmt: skip
        b.claim("nothing_sent", (self.words == 0) & (self.byte == 0), when=self.asked & ~self.first_sent)
        b.claim("index", index == self.words, when=self.asked & self.tells)
        b.claim("byte", byte == self.byte, when=self.asked)
        b.claim("inside_the_status", self.words < len(self.part.TOLD), when=self.asked & self.tells)
        b.claim("inside_a_word", self.byte < self.word_bytes, when=self.asked & self.reads)
        b.claim("inside_the_words", self.words < self.argument, when=self.asked & self.reads)


def replies(*, width: int, word_bytes: int, overlay: bool, predicts: bool = False) -> Bench:
    """The replier."""
    return ReplyProof(width=width, word_bytes=word_bytes, overlay=overlay, predicts=predicts).b


REPLIES = mutants(
    "board/replies.py",
    ("Mux(self._runs(code), Request.RUN, code)", "code"),
    ("taken.eq(offered & ~self.valid)", "taken.eq(offered)"),
    ("with m.If(self.ready):\n", "with m.If(self.ready & ~self.last):\n"),
    ("Mux(self.sound, Refusal.REFUSED, Refusal.DAMAGED)", "Refusal.REFUSED"),
    ("code.eq(-1), reply", "reply"),
    ("~self.busy.any() | (left == 0)", "~self.busy.any()"),
    ("~self.busy.any() | (left == 0)", "~self.busy[0] | (left == 0)"),
    ("(code == Request.READ) & (left != 0)", "(code == Request.READ)"),
    ("offered.eq(self.out_valid)", "offered.eq(1)"),
    ("ends & (left == 1)", "(left == 1)"),
    ("left.eq(left - ends)", "left.eq(left - 1)"),
    ("self.out_ready.eq(taken & ends)", "self.out_ready.eq(ends)"),
    ("(byte == 3) & (index == len(self.TOLD) - 1)", "(index == len(self.TOLD) - 1)"),
    ("index.eq(index + (byte == 3))", "index.eq(index + (byte == 2))"),
    ("[byte.eq(0), index.eq(0), left", "[byte.eq(0), left"),
    ("with m.If(self.greet):", "with m.If(self.greet & ~self.ends):"),
    ("m.d.comb += self.keep.eq(1)", "m.d.comb += self.keep.eq(self.argument == 0)"),
    ("final.eq(~tells & ~reads)", "final.eq(~tells)"),
)
PREDICTIONS = mutants(
    "board/replies.py",
    ("replays | (code == PredictRequest.PREDICT_KEPT)", "replays | (code == PredictRequest.PREDICT)"),
    ("self._replays(code) | self._predicts(code) if", "self._replays(code) if"),
    ("self.command_predict.eq(self._predicts(code))", "self.command_predict.eq(code == PredictRequest.PREDICT)"),
)
PROGRAMS = mutants(
    "overlay/board.py",
    ("m.d.comb += self.program_start.eq(1)", "m.d.comb += self.program_start.eq(self.argument == 0)"),
    ("with m.If(self.word_ready):", "with m.If(1):"),
    ("m.d.sync += self.word.eq(self.argument)", "m.d.sync += self.word.eq(self.argument >> 8)"),
)

SUBJECTS = tuple(
    Subject(
        group="serial link",
        name=name,
        property="A request that ends while nothing is answered gets one reply: its code and what it asks for, or why "
        "it is refused. A command is offered until the machine takes it, and its reply comes afterwards. STATUS waits "
        "for the machine's rest, or for as many cycles as it says. READ gives as many words as it says, each once, "
        "lowest byte first. A byte stays until the sender takes it.",
        bounds=f"words of {width} bits in {word_bytes} bytes; any requests, at any time; resets at any time",
        build=partial(replies, width=width, word_bytes=word_bytes, overlay=overlay, predicts=planted is PREDICTIONS),
        depth=2,
        speed=Speed.QUICK,
        mutants=planted,
        search=12,
    )
    for name, width, word_bytes, overlay, planted in (
        ("replies, words of 2 bytes", 16, 2, False, REPLIES),
        ("replies, words of 1 byte", 7, 1, False, ()),
        ("replies, words of 4 bytes", 32, 4, False, ()),
        ("replies of an overlay, words of 3 bytes", 18, 3, True, PROGRAMS),
        ("replies of an array that predicts", 16, 2, False, PREDICTIONS),
    )
)
