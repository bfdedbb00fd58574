"""The reader of requests at the serial link: bytes of frames against their places in a request."""

from __future__ import annotations

from functools import partial
from typing import Any

from amaranth.hdl import Cat, Const, Mux, Signal

from tabla.hw.board.requests import RequestReader
from tabla.program.protocol import ARGUMENT_BYTES, CHECK_BYTES, LinkShape, PredictRequest, Request
from verify.prove.bench import Bench, Opened
from verify.prove.planted import mutants
from verify.prove.subject import Speed, Subject

HEADER = 1 + ARGUMENT_BYTES


class RequestProof:
    """A reader of requests beside a count of the bytes of the frame."""

    def __init__(self, *, beat_bytes: int, predicts: bool = False) -> None:
        self.each, self.predicts = beat_bytes, predicts
        self.b = b = Bench()
        shape = LinkShape(beats=16, beat_bytes=beat_bytes, word_bytes=2)
        self.part = part = RequestReader(shape=shape, beat_width=8 * beat_bytes - 2, predicts=predicts)
        self.opened = b.add(Opened(part), "reader")
        b.drive(part)
        b.assume("no_byte_with_the_end", ~(part.frame_valid & part.frame_ends))
        # A frame with all beats that an argument of 16 bits can name, its check, and one byte too many.
        self.most = HEADER + 0xFFFF * beat_bytes + CHECK_BYTES + 1
        self.count = count = Signal(range(self.most + 1), name="bytes_of_the_frame")
        with b.m.If(part.frame_ends):
            b.m.d.sync += count.eq(0)
        with b.m.Elif(part.frame_valid & (count != self.most)):
            b.m.d.sync += count.eq(count + 1)
        b.claim("count", count <= self.most)
        self._header()
        self._beats()

    def _header(self) -> None:
        """Keep the code and the argument, each byte in its place."""
        b, part = self.b, self.part
        self.code, self.argument = Signal(8, name="first_byte"), Signal(32, name="next_bytes")
        with b.m.If(part.frame_valid & (self.count == 0)):
            b.m.d.sync += self.code.eq(part.frame_data)
        for n in range(ARGUMENT_BYTES):
            with b.m.If(part.frame_valid & (self.count == 1 + n)):
                b.m.d.sync += self.argument.word_select(n, 8).eq(part.frame_data)
        b.claim("code", part.code == self.code, when=self.count > 0)
        # The bytes that have come lie above those that have not.
        for n in range(1, ARGUMENT_BYTES + 1):
            come = part.argument[8 * (ARGUMENT_BYTES - n) :] == self.argument[: 8 * n]
            b.claim(f"argument_{n}", come, when=(self.count == 1 + n) if n < ARGUMENT_BYTES else self.count >= HEADER)
        beats = Mux((self.code == Request.BEATS) & (self.count >= HEADER), self.argument[:16], 0)
        self.wanted = b.seen(beats, "beats_of_the_frame")

    def _beats(self) -> None:
        """Count the beats that have come whole, and keep the last bytes of the frame."""
        b, part, each, opened = self.b, self.part, self.each, self.opened
        done = self.done = Signal(16, name="whole_beats")
        behind = b.seen((self.count - HEADER)[: len(self.count)], "bytes_behind_the_header")
        taken = b.seen((done * each)[: len(self.count)], "bytes_of_whole_beats")
        inside = (self.count >= HEADER) & (done != self.wanted)
        whole = b.seen(part.frame_valid & inside & (behind + 1 == taken + each), "a_beat_is_whole")
        with b.m.If(part.frame_ends):
            b.m.d.sync += done.eq(0)
        with b.m.Elif(whole):
            b.m.d.sync += done.eq(done + 1)
        due = b.register(whole, "beat_due")
        recent = Signal(8 * each, name="last_bytes")
        with b.m.If(part.frame_valid):
            b.m.d.sync += recent.eq(Cat(recent, part.frame_data)[8:])
        b.claim("put", part.put == (due & part.room))
        b.claim("word", part.word == recent[: len(part.word)], when=part.put)
        place, tail, left, byte = (opened[name] for name in ("place", "tail", "left", "byte"))
        b.claim("no_beat_in_the_header", done == 0, when=self.count < HEADER)
        b.claim("no_beat_too_many", done <= self.wanted, when=self.count >= HEADER)
        b.claim("place", place == Mux(self.count < HEADER, self.count, HEADER))
        b.claim("left", left == Mux(self.count < HEADER, 0, self.wanted - done))
        b.claim("byte", byte == Mux(inside, behind - taken, 0))
        b.claim("part_of_a_beat", (behind >= taken) & (behind < taken + each), when=inside)
        over = b.seen(Mux((self.count >= HEADER) & ~inside, behind - taken, 0), "bytes_behind_the_beats")
        b.claim("tail", tail == Mux(over > CHECK_BYTES, CHECK_BYTES + 1, over))
        b.claim("behind_the_beats", behind >= taken, when=self.count >= HEADER)
        for n in range(1, each):
            held = opened["beat"][8 * (each - n) :] == recent[8 * (each - n) :]
            b.claim(f"bytes_of_a_beat_{n}", held, when=inside & (byte == n))
        b.claim("bytes_of_a_beat", opened["beat"] == recent, when=opened["complete"])
        b.claim("complete", opened["complete"] == due)
        self.right = (self.count >= HEADER) & ~inside & (over == CHECK_BYTES)

    def claim_requests(self) -> None:
        """Claim what the reader says at the end of a frame."""
        b, part = self.b, self.part
        refused = Signal(name="some_beat_refused")
        with b.m.If(part.frame_ends):
            b.m.d.sync += refused.eq(0)
        with b.m.Elif(self.opened["complete"] & ~part.room):
            b.m.d.sync += refused.eq(1)
        b.claim("refused", self.opened["refused"] == refused)
        b.claim("ends", part.ends == part.frame_ends)
        ends = part.frame_ends
        sound = part.frame_sound & self.right
        b.claim("sound", part.sound == sound, when=ends)
        there: Any = Const(0, 1)
        for request in (*Request, *(PredictRequest if self.predicts else ())):
            kept = request in (Request.REPLAY, PredictRequest.PREDICT_KEPT)
            allowed = part.replayable if kept else Const(1, 1)
            there = there | ((self.code == request) & allowed)
        b.claim("known", part.known == (sound & there & ~refused), when=ends)
        beats = sound & ~refused & (self.code == Request.BEATS)
        b.claim("commit", part.commit == (ends & beats))
        b.claim("rollback", part.rollback == (ends & ~beats))


def requests(*, beat_bytes: int, predicts: bool = False) -> Bench:
    """The reader of requests."""
    proof = RequestProof(beat_bytes=beat_bytes, predicts=predicts)
    proof.claim_requests()
    return proof.b


MUTANTS = mutants(
    "board/requests.py",
    ("left.eq(self.argument[8:24])", "left.eq(self.argument[16:])"),
    ("with m.If(byte == each - 1):", "with m.If(byte == each - 2):"),
    ("with m.If(complete & ~self.room):", "with m.If(complete & ~self.room & (left == 0)):"),
    ("self.put.eq(complete & self.room)", "self.put.eq(complete)"),
    ("(tail == CHECK_BYTES) & (left == 0)", "(tail >= CHECK_BYTES) & (left == 0)"),
    ("self.code <= self._last_code()", "self.code < self._last_code()"),
    ("self.rollback.eq(self.ends & ~self.commit)", "self.rollback.eq(self.ends & ~self.known)"),
    ("tail.eq(0), byte.eq(0), left.eq(0), refused.eq(0)", "tail.eq(0), left.eq(0), refused.eq(0)"),
    ("left.eq(0), refused.eq(0)", "left.eq(0)"),
    ("Cat(beat, self.frame_data)[8:]", "Cat(self.frame_data, beat)[:-8]"),
)

PREDICTIONS = mutants(
    "board/requests.py",
    ("(~(replays | kept) | self.replayable)", "(~replays | self.replayable)"),
    ("(known | (self.code == PredictRequest.PREDICT) | kept)", "(known | kept)"),
)

SUBJECTS = tuple(
    Subject(
        group="serial link",
        name=f"requests, beats of {beat_bytes} bytes{', with predictions' * predicts}",
        property="A frame is a code, an argument, the beats that a request of beats names, and the check. Each beat "
        "that came whole is put once, in order, if there is room. The end of a frame tells whether the check and the "
        "length are right, whether the request is one that there is, and whether all beats had room; they are then "
        "committed, and otherwise rolled back.",
        bounds="any lengths; what the frames' receiver says is free",
        build=partial(requests, beat_bytes=beat_bytes, predicts=predicts),
        depth=2,
        speed=Speed.QUICK,
        mutants=planted,
        search=16,
    )
    for beat_bytes, predicts, planted in ((2, False, ()), (3, False, MUTANTS), (2, True, PREDICTIONS))
)
