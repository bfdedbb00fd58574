"""The serial link: the check of a frame, escapes, and frames that arrive as they were sent."""

from __future__ import annotations

from functools import partial
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.board.frames import Crc32, FrameReceiver, FrameSender
from tabla.hw.board.uart import UartReceiver, UartTransmitter
from tabla.program.protocol import CHECK_BYTES, ESCAPE, FLAG, FLIP
from verify.prove.bench import Bench, Opened
from verify.prove.planted import exchanged, mutants
from verify.prove.subject import Speed, Subject

POLYNOMIAL = 0xEDB88320
"""That of CRC-32, lowest bit first, as RFC 1662 has it in its appendix."""
ONES = (1 << 32) - 1
GOOD = 0xDEBB20E3
"""What a register that began with ones holds behind a frame with its check (RFC 1662, C.3)."""


def advanced(register: Any, bits: Any) -> Any:
    """Return the register of a CRC-32 after some more bits, lowest first."""
    for place in range(len(bits)):
        mixed = register[0] ^ bits[place]
        register = Cat(register[1:], Const(0, 1)) ^ Mux(mixed, POLYNOMIAL, 0)
    return register


class CrcModel(wiring.Component):
    """Does what ``Crc32`` was proved to do: its outputs are right ``LATENCY`` cycles after a byte. `register` is right
    at once.
    """

    LATENCY = Crc32.LATENCY

    def __init__(self) -> None:
        self.register, self.age = Signal(32, name="register", init=ONES), Signal(4, name="age", init=Crc32.LATENCY - 1)
        members = {"clear": In(1), "valid": In(1), "data": In(8), "value": Out(32), "sound": Out(1)}
        super().__init__(members)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        settled = self.age >= self.LATENCY - 1
        m.d.sync += self.age.eq(Mux(self.valid, 0, Mux(settled, self.age, self.age + 1)))
        with m.If(self.valid):
            m.d.sync += self.register.eq(advanced(self.register, self.data))
        with m.If(self.clear):
            m.d.sync += [self.register.eq(ONES), self.age.eq(self.LATENCY - 1)]
        m.d.comb += [
            self.value.eq(Mux(settled, ~self.register, 0)),
            self.sound.eq(settled & (self.register == GOOD)),
        ]
        return m


def check() -> Bench:
    """The check, a byte after the other."""
    b = Bench()
    part = Crc32()
    opened = b.add(Opened(part), "crc")
    b.drive(part)
    register, age = Signal(32, name="register", init=ONES), Signal(4, name="age", init=Crc32.LATENCY)
    b.m.d.sync += age.eq(Mux(age >= Crc32.LATENCY, Crc32.LATENCY, age + 1))
    with b.m.If(part.valid):
        b.m.d.sync += [register.eq(advanced(register, part.data)), age.eq(1)]
    with b.m.If(part.clear):
        b.m.d.sync += [register.eq(ONES), age.eq(Crc32.LATENCY)]
    b.assume("bytes_are_apart", age >= Crc32.LATENCY, when=part.valid)
    b.claim("value", part.value == (register ^ ONES), when=age >= Crc32.LATENCY)
    b.claim("sound", part.sound == (register == GOOD), when=age >= Crc32.LATENCY)
    # While a byte is under way: the bits that are left bring the processor to the same place.
    left, byte = opened["left"], opened["byte"]
    b.claim("left", left == Crc32.LATENCY - age)
    now = part.value ^ ONES
    for bits in range(1, 9):
        b.claim(f"under_way_{bits}", advanced(now, byte[:bits]) == register, when=left == bits)
    return b


def receiver() -> Bench:
    """The receiver, byte by byte."""
    b = Bench(resets=True)
    with exchanged({Crc32: CrcModel}):
        part = FrameReceiver()
        opened = b.add(Opened(part), "receiver")
    b.drive(part)
    crc = opened.component("crc")
    most = Crc32.LATENCY + 1
    age = Signal(4, name="age", init=most)
    b.m.d.sync += age.eq(Mux(part.line_valid, 1, Mux(age >= most, age, age + 1)))
    b.assume("bytes_are_apart", age >= most, when=part.line_valid)
    escaped, some = Signal(name="escaped"), Signal(name="some")
    check = Signal(32, name="check", init=ONES)
    flag, escape = part.line_data == FLAG, part.line_data == ESCAPE
    plain = part.line_valid & ~flag & ~escape
    byte = b.seen(Mux(escaped, part.line_data ^ FLIP, part.line_data)[:8], "byte")
    with b.m.If(plain):
        b.m.d.sync += [escaped.eq(0), some.eq(1), check.eq(advanced(check, byte))]
    with b.m.Elif(part.line_valid & escape):
        b.m.d.sync += [escaped.eq(1), some.eq(1)]
    with b.m.Elif(part.line_valid):
        # An empty frame is no frame: the register goes on from where it was.
        b.m.d.sync += [escaped.eq(0), some.eq(0), check.eq(Mux(some, ONES, check))]
    ended = part.line_valid & flag & some
    b.claim("valid", part.valid == b.register(plain, "past_plain", reset_less=False))
    b.claim("data", part.data == b.register(byte, "past_byte"), when=part.valid)
    b.claim("ends", part.ends == b.register(ended, "past_ended", reset_less=False))
    sound = (check == GOOD) & ~escaped
    b.claim("sound", part.sound == b.register(sound, "past_sound"), when=part.ends)
    b.claim("escaped", (opened["escaped"] == escaped) & (opened["some"] == some))
    pending = Mux(part.valid, advanced(crc.register, part.data), crc.register)
    b.claim("register", Mux(part.ends, ONES, pending) == check)
    b.claim("settled", crc.age >= Crc32.LATENCY - 1, when=(age >= most) & ~part.valid)
    b.claim("age", ((crc.age + 2 == age) | (crc.age == Crc32.LATENCY - 1)) & (crc.age < Crc32.LATENCY),
            when=(age >= 2) & ~part.valid)  # fmt: skip
    b.claim("valid_early", (age == 1), when=part.valid | part.ends)
    b.claim("line_age", (age >= 1) & (age <= most))
    b.claim("settled_before", crc.age == Crc32.LATENCY - 1, when=age == 1)
    return b


def frames() -> Bench:
    """A sender, its line, and a receiver."""
    b = Bench()
    with exchanged({Crc32: CrcModel}):
        sender, taker = FrameSender(), FrameReceiver()
        out, into = b.add(Opened(sender), "sender"), b.add(Opened(taker), "receiver")
    b.drive(sender)
    moves = b.seen(sender.line_valid & sender.line_ready, "moves")
    b.drive(taker, line_valid=moves, line_data=sender.line_data)
    # The line takes a byte every LATENCY + 1 cycles at most.
    age = Signal(4, name="age", init=Crc32.LATENCY + 1)
    most = Crc32.LATENCY + 1
    b.m.d.sync += age.eq(Mux(moves, 1, Mux(age >= most, most, age + 1)))
    b.assume("line_is_slow", age >= most, when=sender.line_ready)
    waits = b.register(sender.valid & ~sender.ready, "past_waits", reset_less=False)
    b.assume("byte_stays", sender.valid, when=waits)
    b.assume("same_byte", sender.data == b.register(sender.data, "past_data"), when=waits)
    b.assume("same_last", sender.last == b.register(sender.last, "past_last"), when=waits)
    state, left, check = out["fsm_state"], out["left"], out["check"]
    rest, body, summed, checks, closes = (state == n for n in range(5))
    taken = sender.valid & sender.ready
    from_check = b.register(checks & moves & out["goes"], "past_from_check", reset_less=False)
    b.claim("every_byte_arrives", taker.valid & (taker.data == b.register(sender.data, "past_sent")),
            when=b.register(taken, "past_taken", reset_less=False))  # fmt: skip
    b.claim("nothing_else_arrives", b.register(taken, "past_taken_2", reset_less=False) | from_check, when=taker.valid)
    closed = b.register(closes & moves, "past_closed", reset_less=False)
    b.claim("frame_ends", taker.ends == closed)
    # What arrives behind the bytes is their check, lowest byte first.
    mine = out.component("crc")
    sum_ = ~mine.register
    sent_check = Signal(8, name="sent_check")
    with b.m.Switch(left):
        for n in range(1, CHECK_BYTES + 1):
            with b.m.Case(n):
                b.m.d.comb += sent_check.eq(sum_[8 * (CHECK_BYTES - n) :][:8])
    b.claim("check_arrives", taker.data == b.register(sent_check, "past_sent_check"), when=from_check)
    for n in range(1, CHECK_BYTES + 1):
        b.claim(f"check_{n}", check[: 8 * n] == sum_[8 * (CHECK_BYTES - n) :], when=checks & (left == n))
    b.claim("state", state <= 4)
    b.claim("at_rest", ~into["some"] & ~into["escaped"], when=rest)
    starts = b.register(rest & moves, "past_starts", reset_less=False)
    b.claim("check_of_this_frame", mine.register == ONES, when=starts)
    b.claim("escaped", into["escaped"] == out["escaped"], when=body | checks)
    reserved = (out["byte"] == FLAG) | (out["byte"] == ESCAPE)
    b.claim("escapes_what_is_reserved", reserved, when=out["escaped"] & (body | checks))
    b.claim("offers_what_it_escaped", sender.valid, when=out["escaped"] & body)
    b.claim("line_age", (age >= 1) & (age <= most))
    b.claim("not_escaped", ~into["escaped"] & ~out["escaped"], when=summed | closes)
    b.claim("some", into["some"], when=summed | checks | closes)
    b.claim("left", (left >= 1) & (left <= CHECK_BYTES), when=checks)
    count = b.register(taken, "past_counted", reset_less=False)
    before = b.register(mine.register, "past_register")
    b.claim("check_of_the_bytes", mine.register == advanced(before, b.register(sender.data, "past_byte")), when=count)
    same = mine.register == before
    b.claim("of_nothing_else", same, when=~count & ~b.register(rest, "past_rest", reset_less=False), after=1)
    b.claim("settles", mine.age >= Crc32.LATENCY - 1, when=age >= most)
    b.claim("age", (mine.age + 1 >= age) | (mine.age == Crc32.LATENCY - 1))
    b.claim("age_is_small", (mine.age < Crc32.LATENCY) & (age >= 1))
    return b


def line(*, divisor: int, cycles: int) -> Bench:
    """A transmitter, a line, and a receiver."""
    b = Bench()
    sends, takes = b.add(UartTransmitter(divisor=divisor)), b.add(UartReceiver(divisor=divisor))
    b.drive(sends)
    b.drive(takes, pin=sends.pin)
    taken = sends.valid & sends.ready
    # The bytes that are on the line: the second one begins when the first one ends, so the receiver lags by one.
    first, second, waiting = Signal(8, name="first_byte"), Signal(8, name="second_byte"), Signal(2, name="waiting")
    age = Signal(range(11 * divisor + 8), name="age")
    b.m.d.sync += waiting.eq(waiting + taken - takes.valid)
    with b.m.If(takes.valid):
        b.m.d.sync += [first.eq(second)]
    with b.m.If(taken):
        with b.m.If(waiting - takes.valid == 0):
            b.m.d.sync += first.eq(sends.data)
        with b.m.Else():
            b.m.d.sync += second.eq(sends.data)
    b.m.d.sync += age.eq(Mux(waiting == 0, 0, Mux(takes.valid, 0, age + 1)))
    b.claim("byte", takes.data == first, when=takes.valid)
    b.claim("none_of_its_own", waiting != 0, when=takes.valid)
    b.claim("not_more_than_two", waiting <= 2)
    b.claim("none_is_lost", age <= 10 * divisor + 4)
    return b


CHECK = mutants(
    "board/frames.py",
    ("left.eq(left - 1), byte.eq(byte >> 1)", "left.eq(left - 1), byte.eq(byte << 1)"),
    ("processor.valid.eq((left != 0) & ~self.clear)", "processor.valid.eq(left > 1)"),
    ("processor.start.eq(self.clear)", "processor.start.eq(self.clear & (left == 0))"),
    ("byte.eq(self.data), left.eq(8)", "byte.eq(self.data), left.eq(7)"),
)
RECEIVER = mutants(
    "board/frames.py",
    ("self.sound.eq(crc.sound & ~escaped)", "self.sound.eq(crc.sound)"),
    ("self.ends.eq(some)", "self.ends.eq(1)"),
    ("m.d.sync += [escaped.eq(1), some.eq(1)]", "m.d.sync += [escaped.eq(1)]"),
    ("self.line_data ^ Mux(escaped, FLIP, 0)", "self.line_data ^ Mux(escaped, 0x30, 0)"),
    ("crc.clear.eq(self.ends)", "crc.clear.eq(self.ends & self.sound)"),
)
FRAMES = mutants(
    "board/frames.py",
    ("reserved = (byte == FLAG) | (byte == ESCAPE)", "reserved = byte == FLAG"),
    ("escaped.eq(reserved & ~escaped)", "escaped.eq(reserved)"),
    ("with m.If(left == 1):", "with m.If(left == 2):"),
    ("self.line_data.eq(FLAG), crc.clear.eq(1)]", "self.line_data.eq(FLAG)]"),
    ("Cat(check[8:], Const(0, 8))", "Cat(check[4:], Const(0, 4))"),
    ("with m.If(goes & self.last):", "with m.If(self.line_ready & self.last):"),
)
LINE = mutants(
    "board/uart.py",
    ("timer.eq(self.divisor // 2 - 1)", "timer.eq(self.divisor - 1)"),
    ("self.data.eq(Cat(self.data[1:], line))", "self.data.eq(Cat(line, self.data[:-1]))"),
    ("shift.eq(Cat(shift[1:], Const(1, 1)))", "shift.eq(Cat(shift[1:], Const(0, 1)))"),
    (
        "shift.eq(Cat(Const(0, 1), self.data)), left.eq(BITS)",
        "shift.eq(Cat(Const(0, 1), self.data)), left.eq(BITS - 1)",
    ),
    ("m.d.sync += self.valid.eq(line)", "m.d.sync += self.valid.eq(self.data[0])"),
)

SUBJECTS = (
    Subject(
        group="serial link",
        name="check of a frame",
        property="9 cycles after a byte `value` is the CRC-32 of all bytes since `clear`, and `sound` says whether the "
        "register is the good one.",
        bounds="bytes come 9 cycles apart",
        build=check,
        depth=2,
        mutants=CHECK,
        search=12,
    ),
    Subject(
        group="serial link",
        name="receiver of frames",
        property="The bytes of a frame come out without flags and escapes. The end of a frame is told, and whether its "
        "check holds and nobody gave it up.",
        bounds="bytes come 10 cycles apart; the check is cut out; resets at any time",
        build=receiver,
        depth=2,
        mutants=RECEIVER,
        search=13,
    ),
    Subject(
        group="serial link",
        name="frames from sender to receiver",
        property="Every byte that the sender takes arrives, in order, and behind the last one their check, lowest byte "
        "first, and nothing else. Every frame ends once.",
        bounds="the line takes a byte every 10 cycles; the check is cut out",
        build=frames,
        depth=2,
        mutants=FRAMES,
        search=40,
    ),
    *(
        Subject(
            group="serial link",
            name=f"bytes over a line of {divisor} cycles a bit",
            property="Every byte arrives, in order, and nothing else does.",
            bounds="both ends have the same clock",
            build=partial(line, divisor=divisor, cycles=cycles),
            depth=cycles,
            unbounded=False,
            speed=Speed.LONG,
            mutants=planted,
            search=cycles,
        )
        for divisor, cycles, planted in ((2, 50, LINE),)
    ),
)
