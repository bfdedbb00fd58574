"""Queues: every word once, in order, in time; none is lost and none overruns. Memories keep one word, any one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

from amaranth.hdl import Cat, Const, Mux, Signal
from amaranth.lib import memory

from tabla.hw.board.buffer import BlockQueue
from tabla.hw.border_queue import BeatQueue, BorderQueue
from tabla.hw.bus.unit_buffer import UnitBuffer
from tabla.hw.memory import WordMemory
from tabla.hw.output import OutputBuffer
from verify.prove.bench import Bench, Opened
from verify.prove.planted import exchanged, mutants
from verify.prove.products import WatchedMemory, WatchedRam
from verify.prove.subject import Speed, Subject


class Follower:
    """Follows one word through a queue: any that the solver chooses.

    `here` says that the word is inside, `ahead` how many words leave before it, `age` for how many cycles it has been
    inside, up to 7. `inside` counts all words.
    """

    def __init__(self, b: Bench, *, width: int, most: int) -> None:
        self.b = b
        self.here, self.word = Signal(name="here"), Signal(width, name="followed_word")
        self.inside, self.ahead = Signal(range(most + 1), name="inside"), Signal(range(most + 1), name="ahead")
        self.age = Signal(3, name="age")

    def step(self, *, put: Any, chosen: Any, before: Any, word: Any, words: int, taken: Any) -> None:
        """Step it: `put` brings so many `words`, of which the one with so many `before` it is followed if `chosen`."""
        m, leaves = self.b.m, self.here & taken & (self.ahead == 0)
        m.d.sync += self.inside.eq(self.inside + Mux(put, words, 0) - taken)
        with m.If(self.here):
            m.d.sync += [self.age.eq(Mux(self.age == 7, 7, self.age + 1)), self.ahead.eq(self.ahead - taken)]
        with m.If(leaves):
            m.d.sync += self.here.eq(0)
        with m.If(put & chosen & ~self.here):
            m.d.sync += [self.here.eq(1), self.word.eq(word), self.ahead.eq(self.inside - taken + before)]
            m.d.sync += self.age.eq(1)


def claim_port(b: Bench, queue: Any, follower: Follower, latency: int) -> None:
    """Claim what holds at the port of every queue."""
    head = follower.here & (follower.ahead == 0)
    b.claim("order", queue.out_data == follower.word, when=head & queue.out_valid)
    b.claim("in_time", queue.out_valid, when=head & (follower.age >= latency))
    stalled = b.register(queue.out_valid & ~queue.out_ready, "past_stalled")
    b.claim("stays", queue.out_valid, when=stalled)
    b.claim("same_word", queue.out_data == b.register(queue.out_data, "past_data"), when=stalled)
    b.claim("offers_what_there_is", follower.inside != 0, when=queue.out_valid)
    b.claim("ahead_is_inside", follower.ahead < follower.inside, when=follower.here)
    b.claim("ages", follower.age != 0, when=follower.here)


def output_buffer(*, width: int, depth: int) -> Bench:
    """The output buffer of one root."""
    b = Bench()
    queue = OutputBuffer(width=width, depth=depth)
    WatchedRam.made.clear()
    with exchanged({memory: SimpleNamespace(Memory=WatchedRam)}):
        opened = b.add(Opened(queue), "buffer")
    (ram,) = WatchedRam.made
    b.drive(queue)
    follower = Follower(b, width=width, most=depth)
    # Tokens wait for credit.
    b.assume("credit", follower.inside < depth, when=queue.put)
    chosen = b.free(1, "chosen") & (ram.write.addr == ram.watched)
    follower.step(put=queue.put, chosen=chosen, before=0, word=queue.word, words=1, taken=queue.taken)
    claim_port(b, queue, follower, OutputBuffer.LATENCY)
    b.claim("taken", queue.taken == (queue.out_valid & queue.out_ready))
    b.claim("waits", queue.waits == (follower.inside != 0))
    filled, offered = opened["filled"], queue.out_valid
    b.claim("filled", follower.inside == filled + offered)
    b.claim("no_overrun", follower.inside <= depth)
    place = ram.read.addr + follower.ahead - offered
    size = ram.depth
    distance = ram.write.addr - ram.read.addr
    b.claim("places", (distance == filled) | (distance == filled - size))
    for name, port in (("read", ram.read), ("write", ram.write)):
        if size != 1 << len(port.addr):
            b.claim(f"{name}_in_range", port.addr < size)
    in_ram = follower.here & (follower.ahead >= offered)
    b.claim("watched_in_range", ram.watched < size, when=in_ram)
    b.claim("place", (place == ram.watched) | (place == ram.watched + size), when=in_ram)
    b.claim("kept", ram.kept == follower.word, when=in_ram)
    return b


def border_queue(*, width: int, depth: int, roots: int, beat: int = 1) -> Bench:
    """The queue of several roots. What is followed is a beat, and what is said of roots holds for those of a beat."""
    b = Bench()
    queue = (BorderQueue if beat == 1 else BeatQueue)(width=width, depth=depth, roots=roots, beat=beat)
    with exchanged({WordMemory: WatchedMemory}):
        opened = b.add(Opened(queue), "queue")
    b.drive(queue)
    memories = [opened.component(f"words_{k}") for k in range(roots)]

    def beats(values: Sequence[Any]) -> list[Any]:
        return [Cat(values[k : k + beat]) for k in range(0, len(values), beat)]

    # All memories of a beat watch the same place.
    for k, part in enumerate(memories):
        b.assume(f"watched_{k}", part.watched == memories[k - k % beat].watched)
    depth, roots = depth // beat, roots // beat
    whose = b.fixed(range(roots), "whose")
    b.assume("a_root", whose < roots)
    follower = Follower(b, width=beat * width, most=queue.places * roots)
    b.assume("credit", follower.inside + roots <= depth, when=queue.put)

    def of_root(values: Sequence[Any]) -> Any:
        found: Any = values[-1]
        for k, value in enumerate(values[:-1]):
            found = Mux(whose == k, value, found)
        return found

    watched = of_root([part.watched for part in memories[::beat]])
    chosen = b.free(1, "chosen") & (opened["write"] == watched)
    words = of_root(beats(list(queue.words)))
    follower.step(put=queue.put, chosen=chosen, before=whose, word=words, words=roots, taken=queue.taken)
    claim_port(b, queue, follower, BorderQueue.LATENCY)
    b.claim("waits", queue.waits == (queue.put | (follower.inside != 0)))
    read, write, filled, left = opened["read"], opened["write"], opened["filled"], opened["left"]
    put_1, put_2 = b.register(queue.put, "past_put_1"), opened["arrived_2"]
    b.claim("under_way", (opened["under_way"] == put_1) & (opened["arrived_1"] == put_1))
    rows = filled + put_1 + put_2
    b.claim("rows", write == (read + rows)[: len(read)])
    b.claim("inside", follower.inside == rows * roots + Mux(queue.out_valid, left + 1, 0))
    b.claim("no_overrun", (follower.inside <= depth) & (rows <= queue.places))
    b.claim("left", left < roots, when=queue.out_valid)
    b.claim("ahead_of_read", opened["ahead"] == (read + 1)[: len(read)])
    # Where the word is: behind the memories, or in a row of them.
    out = Mux(queue.out_valid, left + 1, 0)
    row = [queue.out_data, *(opened[f"held_{k}"] for k in range(1, roots))]
    for k, place in enumerate(row):
        b.claim(f"held_{k}", place == follower.word, when=follower.here & (follower.ahead == k) & (out > k))
    in_rows = follower.here & (follower.ahead >= out)
    number = Signal(range(depth + 1), name="rows_before")
    b.m.d.comb += number.eq(sum((follower.ahead >= out + roots * n for n in range(1, queue.places)), start=Const(0, 1)))
    b.claim("is_its_roots_word", follower.ahead == out + number * roots + whose, when=in_rows)
    b.claim("is_in_a_row", (number < rows), when=in_rows)
    address = (read + number)[: len(read)]
    b.claim("row", address == watched, when=in_rows)
    b.claim("kept", of_root(beats([part.kept for part in memories])) == follower.word, when=in_rows)
    next_row = in_rows & (number == 0)
    loaded = b.register(opened["load"], "past_load")
    first, shown = (of_root(beats(found)) for found in ([p.first for p in memories], [p.word for p in memories]))
    b.claim("first", first == follower.word, when=next_row & (follower.age >= 2))
    b.claim("shown", shown == follower.word, when=next_row & (follower.age >= 3) & ~loaded)
    b.claim("after_a_load", queue.out_valid & (left == roots - 1), when=loaded)
    # Of rows behind it at least as many have arrived as are younger than two cycles.
    b.claim("arrived", number < filled, when=in_rows & (follower.age >= 3))
    b.claim("age_1", put_1, when=follower.here & (follower.age == 1))
    b.claim("age_2", put_2, when=follower.here & (follower.age == 2))
    b.claim("youngest", number == rows - 1, when=in_rows & (follower.age == 1))
    b.claim("second", number == rows - 1 - put_1, when=in_rows & (follower.age == 2))
    b.claim("not_yet_out", in_rows, when=follower.here & (follower.age <= 2))
    return b


class Replay:
    """What the queue of the serial link keeps: how many words were put since the last `keep`, and whether the followed
    word is one of them.
    """

    def __init__(self, b: Bench, queue: Any, follower: Follower, *, depth: int, lost: Any, hidden: Any,
                 is_new: Any) -> None:  # fmt: skip
        self.b, self.follower, self.depth = b, follower, depth
        self.whole = Signal(name="all_are_kept")
        self.since, self.index = Signal(range(2 * depth), name="words_kept"), Signal(range(2 * depth), name="index")
        self.marked = Signal(name="followed_word_is_kept")
        b.assume("keeps_what_is_committed", hidden == 0, when=queue.keep)
        b.assume("replays_what_is_kept", queue.kept & ~queue.put & ~queue.keep, when=queue.replay)
        b.claim("is_kept", queue.kept == (self.whole & (follower.inside == hidden)))
        since, m = Mux(queue.keep, 0, self.since), b.m
        after = b.seen((since + queue.put - lost)[: len(self.since)], "words_kept_then")
        overruns = queue.put & (self.since == depth) & ~queue.keep
        m.d.sync += self.since.eq(after)
        with m.If(overruns):
            m.d.sync += self.whole.eq(0)
        with m.If(queue.keep):
            m.d.sync += self.whole.eq(1)
        # The followed word is kept if it comes behind the mark, until a rollback or a word in the place of the mark.
        index = Mux(is_new, since, self.index)
        m.d.sync += [self.index.eq(index), self.marked.eq((is_new | (self.marked & ~queue.keep)) & (index < after))]
        with m.If(overruns):
            m.d.sync += self.marked.eq(0)
        with m.If(queue.replay):
            m.d.sync += [follower.inside.eq(after), follower.here.eq(self.marked & (self.index < after))]
            m.d.sync += follower.ahead.eq(self.index)
        self.hidden = hidden

    def claim_places(self, opened: Opened, *, ram: Any, kept: Any) -> None:
        """Claim where the kept words are."""
        b, follower, marked = self.b, self.follower, self.marked & self.whole
        written, read_at, fetched, mark = (opened[name] for name in ("written", "read_at", "fetched", "mark"))
        bits = len(written)
        b.claim("whole", opened["whole"] == self.whole)
        b.claim("words_kept", (written - mark)[:bits] == self.since, when=self.whole)
        b.claim("as_many_as_fit", (self.since <= self.depth) & (self.hidden <= self.since), when=self.whole)
        b.claim("index", self.index < self.since, when=marked)
        b.claim("place_of_a_kept_word", (mark + self.index)[: len(ram.watched)] == ram.watched, when=marked)
        b.claim("kept_word", kept == follower.word, when=marked)
        ahead = (read_at + follower.ahead - fetched - opened["out_valid"])[:bits]
        b.claim("one_place", ahead == (mark + self.index)[:bits], when=marked & follower.here)


def hidden_words(*, width: int, depth: int, units: bool) -> Bench:
    """The queue of beats of the serial link, or with `units` that of the bus: words are hidden until they are
    committed.
    """
    b = Bench()
    queue = (UnitBuffer if units else BlockQueue)(width=width, depth=depth)
    WatchedRam.made.clear()
    with exchanged({memory: SimpleNamespace(Memory=WatchedRam)}):
        opened = b.add(Opened(queue), "queue")
    # Each block RAM has some bits of every word, and all of them watch the same place.
    rams = list(WatchedRam.made)
    ram, kept, fetched_word = rams[0], Cat(r.kept for r in rams), Cat(r.read.data for r in rams)
    for n, other in enumerate(rams[1:]):
        b.assume(f"same_place_{n}", other.watched == ram.watched)
        same = (other.write.addr == ram.write.addr) & (other.read.addr == ram.read.addr)
        b.claim(f"same_port_{n}", same & (other.write.en == ram.write.en) & (other.read.en == ram.read.en))
    if units:
        b.drive(queue)
    else:
        b.drive(queue)
        b.assume("one_verdict", ~(queue.commit & queue.rollback))
    b.assume("room", queue.room, when=queue.put)
    taken = queue.out_valid & queue.out_ready
    follower = Follower(b, width=width, most=depth + 2)
    # Words inside that are still hidden, and of those the ones of a unit that has not ended.
    hidden, open_ = Signal(range(depth + 3), name="hidden"), Signal(range(depth + 3), name="open_unit")
    shown_age = Signal(2, name="shown_age")
    after = hidden + queue.put
    if units:
        open_now = Mux(queue.put & queue.ends, 0, open_ + queue.put)
        stay = Mux(queue.commit, open_ + queue.put, after)
        lost = Mux(queue.rollback, stay, 0)
        b.m.d.sync += open_.eq(Mux(queue.rollback, 0, open_now))
    else:
        stay = Mux(queue.commit, queue.put, after)
        lost = Mux(queue.rollback, after, 0)
    b.m.d.sync += hidden.eq(stay - lost)
    chosen = b.free(1, "chosen") & (ram.write.addr == ram.watched)
    follower.step(put=queue.put, chosen=chosen, before=0, word=queue.word, words=1, taken=taken)
    b.m.d.sync += follower.inside.eq(follower.inside + queue.put - taken - lost)
    # The followed word is hidden as long as it is among the last `hidden` words inside.
    is_new = queue.put & chosen & ~follower.here
    ahead_then = Mux(is_new, follower.inside - taken, follower.ahead - taken)
    left = follower.inside + queue.put - taken - lost
    with b.m.If((follower.here | is_new) & (ahead_then >= left)):
        b.m.d.sync += follower.here.eq(0)
    clear = queue.clear if units else Const(0, 1)
    with b.m.If(clear):
        b.m.d.sync += [count.eq(0) for count in (follower.here, follower.inside, hidden, open_)]
    if not units:
        replay = Replay(b, queue, follower, depth=depth, lost=lost, hidden=hidden, is_new=is_new)
        replay.claim_places(opened, ram=ram, kept=kept)
    is_shown = follower.here & (follower.ahead + hidden < follower.inside)
    b.m.d.sync += shown_age.eq(Mux(~is_shown | clear, 0, Mux(shown_age == 3, 3, shown_age + 1)))
    age = Mux(is_shown, shown_age + 1, 0)

    written, visible, read_at, fetched = (opened[name] for name in ("written", "visible", "read_at", "fetched"))
    head = follower.here & (follower.ahead == 0)
    b.claim("order", queue.out_data == follower.word, when=head & queue.out_valid)
    b.claim("hidden_words_stay", is_shown, when=head & queue.out_valid)
    b.claim("in_time", queue.out_valid, when=head & (age >= type(queue).LATENCY))
    b.claim("next_is_fetched", fetched | (head & queue.out_valid), when=follower.here & (age >= 2))
    stalled = b.register(queue.out_valid & ~queue.out_ready & ~clear, "past_stalled")
    b.claim("stays", queue.out_valid, when=stalled)
    b.claim("same_word", queue.out_data == b.register(queue.out_data, "past_data"), when=stalled)
    bits = len(written)
    b.claim("hidden", (written - visible)[:bits] == hidden)
    b.claim("inside", follower.inside == (written - read_at)[:bits] + fetched + queue.out_valid)
    in_queue = (written - read_at)[:bits]
    b.claim("no_overrun", in_queue <= depth)
    # The queue of units knows only a cycle later that a place is free, and counts on a beat in that cycle.
    free = b.register(in_queue < depth - 1, "past_free") if units else in_queue < depth
    b.claim("room_for_one", in_queue < depth, when=queue.room)
    b.claim("room_when_free", queue.room == free)
    b.claim("shown_words", hidden + fetched + queue.out_valid <= follower.inside)
    if units:
        b.claim("open_unit", ((written - opened["ended"])[:bits] == open_) & (open_ <= hidden))
        b.claim("empty", queue.empty == (follower.inside == hidden))
    b.claim("ahead_is_inside", follower.ahead < follower.inside, when=follower.here)
    b.claim("fetched_word", fetched_word == follower.word,
            when=follower.here & fetched & (follower.ahead == queue.out_valid))  # fmt: skip
    in_ram = follower.here & (follower.ahead >= fetched + queue.out_valid)
    place = (read_at + follower.ahead - fetched - queue.out_valid)[: len(ram.watched)]
    b.claim("place", place == ram.watched, when=in_ram)
    b.claim("kept", kept == follower.word, when=in_ram)
    return b


OUTPUT = mutants(
    "output.py",
    ("(filled != 0) & (~self.out_valid | self.out_ready)", "(filled != 0) & self.out_ready"),
    ("filled + self.put - refill", "filled + (self.put & ~refill) - refill"),
    ("(filled != 0) | self.out_valid),", "(filled != 0)),"),
    ("with m.If(self.taken):", "with m.If(self.out_ready | (filled == 3)):"),
    ("self.out_data.eq(read.data), self.out_valid.eq(1)]", "self.out_data.eq(read.data + 1), self.out_valid.eq(1)]"),
)
DEEP = mutants("output.py", ("Mux(place == depth - 1, 0, place + 1)", "place + 1"))
BORDER = mutants(
    "border_queue.py",
    ("(self.out_ready & (left == 0))", "(self.out_ready & (left <= 1))"),
    ("load.eq((filled != 0) &", "load.eq(((filled != 0) | arrived) &"),
    ("filled + arrived - load", "filled + (arrived & ~load) - load"),
    ("Mux(load, ahead, read)", "ahead"),
    ("left.eq(left - 1), self.out_valid.eq(left != 0)", "left.eq(left - 1), self.out_valid.eq(left > 1)"),
    ("zip(row, held, strict=False)", "zip(row[1:], held, strict=False)"),
    ("self.put | under_way | arrived |", "self.put | arrived |"),
)
BEATS = mutants(
    "border_queue.py",
    ("bits_for(self.places), self.roots // self.beat", "bits_for(self.places), self.roots"),
    ("row[k // self.beat].eq(Cat(together)", "row[k // self.beat].eq(Cat(together[::-1])"),
)
HIDDEN = mutants(
    "block_queue.py",
    ("second.eq(~queue.out_valid | queue.out_ready)", "second.eq(queue.out_ready)"),
    ("first.eq(~fetched | second)", "first.eq(1)"),
    ("fetched.eq(visible != read_at)", "fetched.eq(written != read_at)"),
    ("reader.en.eq(read)", "reader.en.eq(1)"),
) + mutants(
    "board/buffer.py",
    ("(written ^ read_at) != self.depth", "(written ^ read_at) != 2 * self.depth - 1"),
    ("m.d.sync += visible.eq(written)", "m.d.sync += visible.eq(written + self.put)"),
    ("m.d.sync += written.eq(visible)", "m.d.sync += written.eq(read_at)"),
)
REPLAYS = mutants(
    "board/buffer.py",
    ("m.d.sync += read_at.eq(mark)", "m.d.sync += read_at.eq(mark + 1)"),
    ("[mark.eq(visible), whole.eq(1)]", "[mark.eq(visible)]"),
    ("[mark.eq(visible), whole.eq(1)]", "[mark.eq(written + self.put), whole.eq(1)]"),
    ("(written ^ mark) == self.depth", "(written ^ read_at) == self.depth"),
    ("m.d.sync += whole.eq(0)", "m.d.sync += whole.eq(whole)"),
    ("self.kept.eq(whole &", "self.kept.eq(1 &"),
    ("(visible == read_at) & ~fetched & ~self.out_valid", "(visible == read_at) & ~self.out_valid"),
)
UNITS = mutants(
    "bus/unit_buffer.py",
    ("with m.If(self.put & self.ends):", "with m.If(self.put):"),
    ("m.d.sync += visible.eq(ended)", "m.d.sync += visible.eq(written)"),
    ("place.eq(Mux(self.commit, ended, visible)) for", "place.eq(visible) for"),
    ("for place in (written, ended)]", "for place in (written,)]"),
    ("visible, read_at, fetched, self.out_valid)", "visible, read_at, self.out_valid)"),
    ("(visible == read_at) & ~fetched & ~self.out_valid", "(visible == read_at) & ~fetched"),
    ("held[-1] | held[:-1].all()", "held[-1]"),
) + mutants("block_queue.py", ("queue.word[low:high]", "queue.word[: high - low]"))

ORDER = (
    "Every word leaves once, in the order in which it came, and stays until it is taken. It is offered within the "
    "latency. None is lost, and none overruns."
)
SUBJECTS = (
    *(
        Subject(
            group="queues",
            name=f"output buffer of {depth} words",
            property=ORDER,
            bounds="16 bits; words are put while there is credit",
            build=partial(output_buffer, width=16, depth=depth),
            depth=1,
            speed=Speed.TEST if depth == 4 else Speed.QUICK,
            mutants=planted,
            search=8,
        )
        for depth, planted in ((4, OUTPUT), (1100, DEEP))
    ),
    *(
        Subject(
            group="queues",
            name=f"border queue of {roots} roots, {depth} words",
            property=ORDER,
            bounds="16 bits; words are put while there is credit",
            build=partial(border_queue, width=16, depth=depth, roots=roots),
            depth=1,
            speed=Speed.QUICK,
            mutants=planted,
            search=14,
        )
        for roots, depth, planted in ((2, 8, BORDER), (3, 12, ()), (4, 100, ()))
    ),
    *(
        Subject(
            group="queues",
            name=f"queue of {roots} roots, {depth} words, beats of {beat}",
            property=ORDER,
            bounds="16 bits; words are put while there is credit",
            build=partial(border_queue, width=16, depth=depth, roots=roots, beat=beat),
            depth=1,
            speed=Speed.QUICK,
            mutants=planted,
            search=14,
        )
        for roots, depth, beat, planted in ((4, 16, 2, BEATS), (8, 96, 4, ()))
    ),
    Subject(
        group="queues",
        name="queue of the serial link",
        property=f"{ORDER} A word is hidden until it is committed, and forgotten by a rollback. A replay gives all "
        "words since the mark once more, and `kept` says that none of them is lost.",
        bounds="16 bits, 16 words",
        build=partial(hidden_words, width=16, depth=16, units=False),
        depth=1,
        speed=Speed.QUICK,
        mutants=HIDDEN + REPLAYS,
        search=12,
    ),
    Subject(
        group="queues",
        name="queue of the bus",
        property=f"{ORDER} A word is hidden until its unit has ended and is committed, and forgotten by a rollback.",
        bounds="24 bits in two block RAMs, 16 places",
        build=partial(hidden_words, width=24, depth=16, units=True),
        depth=1,
        speed=Speed.QUICK,
        mutants=UNITS,
        search=12,
    ),
)
