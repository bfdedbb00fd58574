"""The counters beside the controller: what is left, events, and tokens that come out later."""

from __future__ import annotations

from functools import partial
from typing import Any

from amaranth.hdl import Array, Mux, Signal

from tabla.hw.countdown import Countdown
from tabla.hw.counters import EventCounter
from tabla.hw.tokens import HeldDelays, TokenDelay, tokens_on_the_way
from verify.prove.bench import Bench, Opened
from verify.prove.planted import mutants
from verify.prove.subject import Speed, Subject


def countdown(*, width: int) -> Bench:
    """A counter towards zero."""
    b = Bench(resets=True)
    part = Countdown(width=width)
    opened = b.add(Opened(part), "countdown")
    b.drive(part)
    left, age = Signal(width, name="left"), Signal(range(5), name="age", init=4)
    with b.m.If(age != 4):
        b.m.d.sync += age.eq(age + 1)
    with b.m.If(part.load):
        b.m.d.sync += [left.eq(Mux(part.short, part.one, part.count)), age.eq(1)]
    with b.m.Elif(part.step):
        b.m.d.sync += left.eq(left - 1)
    b.assume("steps_when_something_is_left", left != 0, when=part.step)
    b.assume("first_step", age == 4, when=part.step)
    b.claim("any", part.any == (left != 0), when=age == 4)
    b.claim("several", part.several == (left > 1), when=age >= 3)
    b.claim("nothing_at_first", ~part.any & ~part.several, when=age < 3)
    stepped = opened["stepped"]
    b.claim("count", opened.inner("count") == (left + stepped)[:width])
    b.claim("stepped_from_something", ~left.all(), when=stepped)
    before = b.register(opened.inner("count")[Countdown.NEAR :].any(), "past_many", reset_less=False)
    b.claim("many", opened["many"] == before)
    b.claim("not_yet_stepped", ~stepped, when=age < 4)
    loaded = opened["loaded"]
    b.claim("age", (age >= 1) & (age <= 4))
    b.claim("loaded", loaded == Mux(age == 1, 1, Mux(age == 2, 2, Mux(age == 3, 4, 0))))
    b.claim("any_from_3_on", part.any == (left != 0), when=age == 3)
    # `many` is a cycle old: one step at most lies between.
    high = left + stepped + b.register(stepped, "past_stepped", reset_less=False)
    b.claim("many_is_of_a_step_ago", opened["many"] == (high >> Countdown.NEAR).any(), when=age >= 3)
    return b


def event_counter(*, width: int, sources: int) -> Bench:
    """A counter of events that stays at its greatest value."""
    b = Bench(resets=True)
    part = EventCounter(sources=sources, width=width)
    opened = b.add(Opened(part), "counter")
    b.drive(part)
    most = (1 << width) - 1
    exact = Signal(width, name="exact")
    total = exact + sum(part.events[n] for n in range(sources))
    b.m.d.sync += exact.eq(Mux(total > most, most, total))
    quiet = ~b.register(part.events.any(), "past_events", reset_less=False)
    quiet = quiet & b.register(quiet, "past_quiet_1", reset_less=False)
    quiet = quiet & b.register(quiet, "past_quiet_2", reset_less=False)
    b.claim("count", part.count == exact, when=quiet)
    # What is on the way: the events of the last cycle, and the carry of the low bits.
    size = len(opened["low"])
    now = part.count + (opened["carry"] << size)
    coming = now + opened["happened"]
    b.claim("on_the_way", exact == Mux(coming > most, most, coming))
    b.claim("in_range", now <= most)
    b.claim("happened", opened["happened"] <= sources)
    b.claim("carry_leaves_room", opened["low"] <= 2 * sources, when=opened["carry"])
    last = (2 * sources).bit_length()
    close = b.register(part.count[last:].all(), "past_close", reset_less=False)
    b.claim("near_end", opened["near_end"] == close)
    b.claim("close_since", opened["near_end"] | (now < most + 1 - (1 << last) + sources))
    return b


def token_delay(*, kind: str, delays: tuple[int, int], period: int) -> Bench:
    """A token comes out after its delay, and nothing else does.

    With registers the solver chooses both delays, which are at most the greater of `delays`.
    """
    b = Bench()
    late: tuple[Any, Any] = delays
    match kind:
        case "registers":
            late = (b.fixed(range(max(delays) + 1), "run_delay"), b.fixed(range(max(delays) + 1), "dump_delay"))
            for name, delay in zip(("run", "dump"), late, strict=True):
                b.assume(f"{name}_delay", delay <= max(delays))
            waits = (late[0] + 2, late[1] + 2)
            on_the_way = tokens_on_the_way(delays, (period, period))
            part = TokenDelay(held=HeldDelays(waits=waits, longest=max(delays), tokens=on_the_way))
        case "queue":
            # It keeps due times however short the delay is.
            queued = type("Queued", (TokenDelay,), {"CHAIN": 0})
            part = queued(delays=delays, periods=(period, period))
        case _:
            part = TokenDelay(delays=delays, periods=(period, period))
    assert part.chains == (kind == "chain")
    b.add(part)
    dump, age = Signal(name="dump_now"), Signal(range(period + 1), name="token_age", init=period)
    restart = b.free(1, "restart")
    b.m.d.sync += dump.eq(Mux(restart, b.free(1, "dump_next"), dump))
    b.drive(part, dump=dump, restart=restart)
    with b.m.If(age != period):
        b.m.d.sync += age.eq(age + 1)
    # After a restart there are no tokens for a while: a command's first one comes later.
    quiet = restart | b.past(restart, 1, "restart")
    b.assume("no_token_at_a_restart", ~quiet, when=part.token)
    with b.m.If(part.token):
        b.m.d.sync += age.eq(1)
    b.assume("period", age >= period, when=part.token)
    token: Any = part.token
    stages = [token]
    for cycle in range(max(delays) + TokenDelay.LATENCY):
        stages.append(b.register(stages[-1] & ~restart, f"past_token_{cycle + 1}"))
    due = Array(stages[TokenDelay.LATENCY :])
    expected = Mux(dump, due[late[1]], due[late[0]])
    b.claim("delayed", part.delayed == expected, when=~b.past(restart, 1, "restart_2"))
    return b


COUNTDOWN = mutants(
    "countdown.py",
    ("(stepped & ~self.load)", "stepped"),
    ("many.eq(count[self.NEAR :].any())", "many.eq(count[self.NEAR + 1 :].any())"),
    ("following.eq(near - stepped)", "following.eq(near)"),
    ("many | (following > 1)", "many | (following > 2)"),
    ("many | (following > 2)", "many | (following > 1)"),
    ("self.any.eq(self.several)", "self.any.eq(many | (following != 0))"),
    ("stepped.eq(0), loaded.eq(1)", "loaded.eq(1)"),
)
EVENTS = mutants(
    "counters.py",
    ("stepped = Mux(ends, (1 << size) - 1, stepped)", "stepped = stepped"),
    ("(low[:last] + happened)[last]", "(low[:last] + happened)[last - 1]"),
    ("last = (2 * self.sources).bit_length()", "last = self.sources.bit_length() - 1"),
)
CARRIES = mutants("counters.py", ("high.eq(high + carry)", "high.eq(high + 1)"))
DELAYS = mutants(
    "tokens.py",
    ("Mux(self.dump, self.waits[1], self.waits[0])", "Mux(self.dump, self.waits[1], self.waits[0] + 1)"),
    ("filled.eq(moves | passes | (filled & ~leaves))", "filled.eq(moves | passes | filled)"),
    ("passes.eq(arrived & (waiting == 0) & (leaves | ~filled))", "passes.eq(arrived & (leaves | ~filled))"),
    ("write.en.eq(arrived & ~passes)", "write.en.eq(arrived)"),
    ("leaves.eq(filled & (head == now))", "leaves.eq(filled & (head[:2] == now[:2]))"),
)

SUBJECTS = (
    Subject(
        group="controller",
        name="countdown",
        property="`any` and `several` say whether at least one and two are left, in the very cycle after a step.",
        bounds="32 bits; the first step comes 4 cycles after `load`",
        build=partial(countdown, width=32),
        depth=2,
        speed=Speed.TEST,
        mutants=COUNTDOWN,
        search=8,
    ),
    *(
        Subject(
            group="controller",
            name=f"counter of events, {width} bits",
            property="It counts the events of all cycles, and stays at its greatest value.",
            bounds="3 sources",
            build=partial(event_counter, width=width, sources=3),
            depth=5,
            mutants=planted,
            search=search,
        )
        for width, search, planted in ((6, 28, EVENTS), (14, 5, CARRIES))
    ),
    *(
        Subject(
            group="controller",
            name=f"delay of tokens, {name}",
            property="Each token comes out after the delay of its program, and nothing else does.",
            bounds=f"{'any delays up to' if kind == 'registers' else f'delays {delays[1]} and'} {delays[0]},"
            f" period {period}",
            build=partial(token_delay, kind=kind, delays=delays, period=period),
            depth=depth,
            unbounded=unbounded,
            mutants=planted,
            search=16,
        )
        for name, kind, delays, period, depth, unbounded, planted in (
            ("as a chain", "chain", (7, 4), 1, 12, True, ()),
            ("as due times", "queue", (4, 2), 2, 20, False, DELAYS),
            ("held in registers", "registers", (5, 5), 2, 20, False, DELAYS),
        )
    ),
)
