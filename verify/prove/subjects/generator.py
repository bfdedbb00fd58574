"""Address generators: against their data sheet for any deltas, and against nested loops for deltas of strides."""

from __future__ import annotations

from functools import partial, reduce
from operator import and_
from typing import Any

from amaranth.hdl import Const, Mux, Signal

from tabla.hw.generator import Generator
from tabla.hw.window import Window
from verify.prove.bench import Bench, Opened
from verify.prove.planted import mutants
from verify.prove.subject import Speed, Subject
from verify.prove.subjects.loops import Nest

LEVELS = 3


def chosen(values: list[Any], index: Any, name: str, b: Bench) -> Any:
    """Return ``values[index]``."""
    signal = Signal.like(values[0], name=name)
    with b.m.Switch(index):
        for place, value in enumerate(values):
            with b.m.Case(place):
                b.m.d.comb += signal.eq(value)
    return signal


def slots_of(*, width: int, slots: int, windowed: bool, early: bool, moves: tuple[int, ...]) -> Bench:
    """A generator beside a witness that keeps the last value of each slot of the body."""
    b = Bench()
    generator = Generator(width=width, levels=LEVELS, slots=slots, windowed=windowed, early=early, moves=moves)
    opened = b.add(Opened(generator), "generator")
    valid, step, change = b.free(1, "valid"), b.free(LEVELS, "step"), b.free(2, "change")
    behind = Signal(2, name="behind_now")
    held_behind, slot, fresh_body = Signal(2, name="body_behind"), Signal(2, name="slot"), Signal(name="fresh_body")
    begins = slot == 0
    # A strand begins with the first operation of its body: then the length of the body may change.
    started = Signal(name="started")
    fresh = b.seen(Mux(begins, b.free(1, "begins_strand") | ~started, fresh_body), "fresh_now")
    b.m.d.comb += behind.eq(Mux(begins & fresh, change, held_behind))
    b.assume("body_fits", change < slots)
    b.assume("one_level_steps", (step & (step - 1)[: len(step)]) == 0)
    b.assume("no_step_while_fresh", (step == 0) | ~fresh)
    with b.m.If(valid):
        b.m.d.sync += [held_behind.eq(behind), fresh_body.eq(fresh), started.eq(1)]
        b.m.d.sync += slot.eq(Mux(slot == behind, 0, slot + 1))
    base, window = b.free(width, "base"), b.free(1, "window")
    deltas = [b.free(width, f"delta_{level}") for level in range(LEVELS)]
    driven = {f"deltas_{level}": delta for level, delta in enumerate(deltas)}
    b.drive(
        generator, valid=valid, fresh=fresh, step=step, behind=behind[: len(generator.behind)], base=base,
        window=window, **driven,
    )  # fmt: skip

    # The witness works a cycle later, so that its values are those of the generator's registers.
    def late(value: Any, name: str) -> Any:
        return b.register(value, f"past_{name}")

    delta: Any = Const(0, width)
    for level in moves:
        delta = delta + Mux(step[level], deltas[level], 0)
    delta = late(delta[:width], "delta")
    valid_1, fresh_1, slot_1, base_1 = (
        late(v, n) for v, n in ((valid, "valid"), (fresh, "fresh"), (slot, "slot"), (base, "base"))
    )
    behind_1 = late(behind, "behind")
    lasts = [Signal(width, name=f"last_{place}") for place in range(slots)]
    value = Mux(fresh_1, base_1, chosen(lasts, slot_1, "last", b) + delta)[:width]
    with b.m.If(valid_1):
        for place, last in enumerate(lasts):
            with b.m.If(slot_1 == place):
                b.m.d.sync += last.eq(value)
    _shown(b, generator, value, valid_1, late(window, "window_1"))
    done = _claim_registers(b, opened, lasts=lasts, valid=valid_1, fresh=fresh_1, slot=slot_1, behind=behind_1)
    b.claim("started", started == (done["some"] | valid_1))
    follows_done = Mux(done["slot"] == done["behind"], 0, done["slot"] + 1)
    same = (held_behind == done["behind"]) & (fresh_body == done["fresh"])
    b.claim("rests", (slot == follows_done[: len(slot)]) & same, when=done["some"] & ~valid_1)
    b.claim("begins_at_0", slot == 0, when=~started)
    b.claim("slot", slot <= held_behind)
    b.claim("body", held_behind < slots)
    # The operation of a cycle ago and the slot that is next now.
    follows = Mux(slot_1 == behind_1, 0, slot_1 + 1)
    b.claim("slot_follows", slot == follows[: len(slot)], when=valid_1)
    b.claim("behind_follows", (held_behind == behind_1) & (fresh_body == fresh_1), when=valid_1)
    b.claim("slot_1", (slot_1 <= behind_1) & (behind_1 < slots), when=valid_1)
    return b


def _shown(b: Bench, generator: Any, value: Any, valid: Any, window: Any) -> None:
    """Claim what the generator shows of each operation."""
    value_2, valid_2 = b.register(value, "past_value_2"), b.register(valid, "past_valid_2")
    if generator.early:
        b.claim("value", generator.value == value_2, when=valid_2, after=2)
        return
    offset = generator.offset if generator.windowed else Const(0, 1)
    shown = (value_2 + Mux(b.register(window, "past_window_2"), offset, 0))[: len(generator.value)]
    shown_3, valid_3 = b.register(shown, "past_value_3"), b.register(valid_2, "past_valid_3")
    b.claim("value", generator.value == shown_3, when=valid_3, after=3)


def _claim_registers(
    b: Bench, opened: Opened, *, lasts: list[Any], valid: Any, fresh: Any, slot: Any, behind: Any
) -> dict[str, Any]:
    """Claim that the latest values are those of the latest slots, and which of them the next operation adds to."""
    # Of the latest operation that the witness has done: its slot, the last slot of its body, and whether its iteration
    # was the strand's first.
    done_slot, done_behind, done_fresh = Signal(2), Signal(2), Signal()
    some = Signal(name="some_operation")
    with b.m.If(valid):
        b.m.d.sync += [done_slot.eq(slot), done_behind.eq(behind), done_fresh.eq(fresh), some.eq(1)]
    slots = len(lasts)
    for age in range(slots):
        whose = Mux(done_slot >= age, done_slot - age, done_slot + done_behind + 1 - age)
        known = some & (age <= done_behind) & (~done_fresh | (done_slot >= age))
        b.claim(f"past_{age}", opened[f"past_{age}"] == chosen(lasts, whose[:3], f"last_of_age_{age}", b), when=known)
    if slots > 1:
        following = Mux(done_slot == done_behind, 0, done_slot + 1)
        known = some & (~done_fresh | (following == 0))
        b.claim("held", opened["held"] == chosen(lasts, following[:3], "last_of_next", b), when=known)
    b.claim("done_slot", (done_slot <= done_behind) & (done_behind < slots), when=some)
    # What comes next follows the latest operation, unless a strand begins.
    begins = fresh & (slot == 0)
    b.claim(
        "goes_on",
        (slot == Mux(done_slot == done_behind, 0, done_slot + 1)) & (begins | (behind == done_behind)),
        when=valid & some,
    )
    b.claim("fresh_goes_on", fresh == done_fresh, when=valid & some & (slot != 0))
    b.claim("first_is_fresh", fresh & (slot == 0), when=valid & ~some)
    return {"some": some, "slot": done_slot, "behind": done_behind, "fresh": done_fresh}


def nested(*, width: int, count_bits: int) -> Bench:
    """Loops and a generator of one slot: base + sum of stride * counter."""
    proof = Nest(paced=False, slots=1, count_bits=count_bits)
    b, loops = proof.b, proof.loops
    generator = Generator(width=width, levels=LEVELS, slots=1, windowed=False)
    opened = b.add(Opened(generator), "generator")
    base, strides = Signal(width, name="nest_base"), [Signal(width, name=f"nest_stride_{n}") for n in range(LEVELS)]
    # What each level adds to the address now, and what it adds in its last iteration.
    parts = [Signal(width, name=f"nest_part_{n}") for n in range(LEVELS)]
    whole = [Signal(width, name=f"nest_whole_{n}") for n in range(LEVELS)]
    advances = proof.goes & (proof.slot + 1 == proof.length)
    for level, part in enumerate(parts):
        with b.m.If(advances & proof.at_end[level]):
            b.m.d.sync += part.eq(Mux(proof.counters[level] == proof.counts[level], 0, part + strides[level]))
    with b.m.If(loops.load):
        b.m.d.sync += base.eq(b.free(width, "loaded_base"))
        for level, (stride, most) in enumerate(zip(strides, whole, strict=True)):
            loaded = b.free(width, f"loaded_stride_{level}")
            b.m.d.sync += [stride.eq(loaded), most.eq(loaded * loops.strand.counts[level]), parts[level].eq(0)]
    # As the assembler computes deltas: what the inner levels have added is taken back.
    deltas, back = {}, Const(0, 1)
    for level in range(LEVELS):
        deltas[f"deltas_{level}"] = b.seen((strides[level] - back)[:width], f"delta_{level}")
        back = (back + whole[level])[:width]
        b.claim(f"whole_{level}", whole[level] == (strides[level] * proof.counts[level])[:width], when=proof.active)
        b.claim(f"part_{level}", parts[level] == (strides[level] * proof.counters[level])[:width], when=proof.active)
    b.drive(generator, valid=loops.issue, fresh=loops.fresh, step=loops.step, behind=Const(0, 1), base=base, **deltas)
    address = Signal(width, name="address")
    b.m.d.comb += address.eq(sum(parts, start=base))
    proof.claim_outputs()
    proof.claim_registers()
    # Of the latest operation: its address is in the generator's register, or becomes it in the next cycle.
    latest, some = Signal(width, name="latest"), Signal(name="some_latest")
    with b.m.If(proof.goes):
        b.m.d.sync += [latest.eq(address), some.eq(1)]
    # The address of an operation of cycle t is the sum in t + 1, the register in t + 2, and the value in t + 3.
    went = b.register(proof.goes, "past_goes")
    b.claim("sum", opened["sum"] == latest, when=went)
    latest_1, some_1 = b.register(latest, "past_latest_1"), b.register(some, "past_some_1")
    b.claim("works", opened["valid_next"] == went)
    b.claim("some_before", some == (some_1 | went))
    b.claim("latest_before", latest == latest_1, when=~went)
    b.claim("register", opened["past_0"] == latest_1, when=some_1)
    b.claim("value", generator.value == b.register(latest_1, "past_latest_2"), when=b.register(some_1, "past_some_2"))
    # The latest address, seen from the counters of the next operation: the level that stepped went back by one, and the
    # levels inside it were at their ends.
    before: Any = base
    for level in range(LEVELS):
        inside = reduce(and_, (~proof.step[n] for n in range(level + 1)), Const(1, 1))
        outer = proof.step[:level].any() if level else Const(0, 1)
        stepped = Mux(proof.step[level], parts[level] - strides[level], parts[level])
        before = before + Mux(outer, parts[level], Mux(inside, whole[level], stepped))[:width]
    goes_on = proof.active & ~proof.at_start[LEVELS]
    b.claim("latest", latest == before[:width], when=goes_on)
    b.claim("some", some, when=goes_on)
    for level in range(LEVELS):
        only = proof.step == 1 << level
        zeros = reduce(and_, (proof.counters[n] == 0 for n in range(level)), Const(1, 1))
        b.claim(f"stepped_{level}", zeros & (proof.counters[level] != 0), when=goes_on & only)
    b.claim("no_step_at_the_start", proof.step == 0, when=proof.active & proof.at_start[LEVELS])
    one_hot = reduce(lambda x, y: x | y, (proof.step == 1 << level for level in range(LEVELS)))
    b.claim("one_step", one_hot, when=goes_on)
    return b


def window(*, width: int, words: int, slots: int) -> Bench:
    """The offset of a sample in the ring, or its number in a dump."""
    b = Bench(resets=True)
    part = Window(width=width, words=words, slots=slots)
    opened = b.add(Opened(part), "window")
    dump = Signal(name="dump_now")
    restart = b.free(1, "restart")
    b.m.d.sync += dump.eq(Mux(restart, b.free(1, "dump_next"), dump))
    b.drive(part, dump=dump, restart=restart)
    sample, some = Signal(width, name="sample"), Signal(name="some")
    slot = Signal(range(slots), name="slot_now")
    with b.m.If(part.turn):
        b.m.d.sync += [some.eq(1), sample.eq(Mux(some, sample + 1, 0))]
        b.m.d.sync += slot.eq(Mux(some, Mux(slot == slots - 1, 0, slot + 1), 0))
    with b.m.If(restart):
        b.m.d.sync += [some.eq(0), sample.eq(0), slot.eq(0)]
    expected = Mux(dump, sample, slot * words)[:width]
    b.claim("offset", part.offset == expected)
    following = Mux(dump, Mux(some, sample + 1, 0), Mux(some, Mux(slot == slots - 1, 0, (slot + 1) * words), 0))
    b.claim("following", opened["following"] == following[:width])
    b.claim("slot", opened["slot"] == Mux(some & (slot != slots - 1), slot + 1, 0), when=~dump)
    b.claim("slot_range", slot < slots)
    return b


SHEET = mutants(
    "generator.py",
    ("held & ~fresh.replicate(self.width)", "held"),
    ("held.eq(sum_ if distance == 0 else past[distance - 1])", "held.eq(past[distance])"),
    ('behind = delayed(m, self.behind, 1, name="behind")', "behind = self.behind"),
    ('window = delayed(m, self.window, 2, name="window")', 'window = delayed(m, self.window, 1, name="window")'),
    ("past[0] + Mux(window, self.offset, 0)", "past[0] + self.offset"),
    ("with m.If(valid):", "with m.If(self.valid | valid):"),
    ("for level in self.moves]", "for level in list(self.moves)[1:]]"),
)
WINDOW = mutants(
    "window.py",
    ("wraps = slot == self.last", "wraps = slot == self.last - 1"),
    ("with m.If(wraps & ~self.dump):", "with m.If(wraps):"),
    ("step = Mux(self.dump, 1, self.words)", "step = self.words"),
    ("m.d.sync += [following.eq(0), slot.eq(0)]", "m.d.sync += [following.eq(0)]"),
    ("m.d.sync += [offset.eq(0), following.eq(0), slot.eq(0)]", "m.d.sync += [offset.eq(0), slot.eq(0)]"),
)

SUBJECTS = (
    *(
        Subject(
            group="address generators",
            name=f"generator, {name}",
            property="An operation's address is its base in the first iteration, and then the previous one of its slot "
            "plus the delta of the level that stepped. With a window the sample's offset is added.",
            bounds=f"{width} bits, 3 levels, any bases and deltas, bodies of up to {slots} operations",
            build=partial(slots_of, width=width, slots=slots, windowed=windowed, early=early, moves=moves),
            depth=5,
            speed=speed,
            mutants=planted,
            search=8,
        )
        for name, width, slots, windowed, early, moves, speed, planted in (
            ("with a window", 16, 4, True, False, (0, 1, 2), Speed.QUICK, SHEET),
            ("early", 16, 3, False, True, (0, 2), Speed.QUICK, ()),
            ("of one operation", 16, 1, False, False, (0, 1, 2), Speed.TEST, ()),
        )
    ),
    Subject(
        group="address generators",
        name="generator in nested loops",
        property="The addresses of a strand are base + sum(stride * counter) of nested loops, if the deltas are those "
        "of the assembler.",
        bounds="4 bits that wrap, any base and strides, 3 levels of 1 to 4 iterations",
        build=partial(nested, width=4, count_bits=2),
        depth=1,
        speed=Speed.QUICK,
        search=10,
    ),
    Subject(
        group="address generators",
        name="window",
        property="The offset goes round the slots of the ring, and in a dump counts the samples.",
        bounds="12 bits, 3 slots of 5 words",
        build=partial(window, width=12, words=5, slots=3),
        depth=2,
        speed=Speed.TEST,
        mutants=WINDOW,
        search=12,
    ),
)
