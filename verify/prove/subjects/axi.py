"""The borders on a host's bus: the rules of AXI4-Lite and AXI4-Stream, the registers, and the order of words."""

from __future__ import annotations

from functools import partial, reduce
from operator import and_, or_
from typing import Any

from amaranth.hdl import Cat, Const, Mux, Signal

from tabla.hw.bus.registers import COMMANDS, ERRORS, LEVELS, STICKY, RegisterFile
from tabla.hw.bus.slice import InputSlice
from tabla.hw.bus.stream_out import StreamOutput
from tabla.program.bus import BusShape
from tabla.templates.bus import register, registers
from verify.prove.bench import Bench, Opened
from verify.prove.planted import mutants
from verify.prove.promises import BEATS_QUIET, Beats, claim
from verify.prove.subject import Speed, Subject

WRITTEN_SOON, READ_SOON = 4, 5
"""An answer is given within so many cycles of its request, if the answer before was taken. The interface allows 8."""


def stays(b: Bench, name: str, *, valid: Any, ready: Any, payload: dict[str, Any], alive: Any) -> None:
    """Claim the rule of every channel: what is valid stays valid, and the same, until it is taken."""
    waits = b.register(valid & ~ready & alive, f"past_{name}_waits", reset_less=False)
    b.claim(f"{name}_stays", valid, when=waits)
    for part, value in payload.items():
        b.claim(f"{name}_{part}_stays", value == b.register(value, f"past_{name}_{part}"), when=waits)


def host(b: Bench, name: str, *, valid: Any, ready: Any, payload: dict[str, Any]) -> None:
    """Assume the same rule of the host."""
    waits = b.register(valid & ~ready, f"past_{name}_offered", reset_less=False)
    b.assume(f"{name}_stays", valid, when=waits)
    for part, value in payload.items():
        b.assume(f"{name}_{part}_stays", value == b.register(value, f"past_{name}_{part}"), when=waits)


def soon(b: Bench, name: str, *, asked: Any, answered: Any, alive: Any, most: int) -> None:
    """Claim that what is asked is answered within so many cycles."""
    waited = Signal(range(most + 2), name=f"{name}_waited")
    b.m.d.sync += waited.eq(Mux(asked & ~answered & alive, Mux(waited == most + 1, waited, waited + 1), 0))
    b.claim(f"{name}_soon", waited <= most)


class RegisterProof:
    """The register file beside a model of its table."""

    def __init__(self) -> None:
        self.b = b = Bench(resets=True)
        self.part = part = RegisterFile(fingerprint=0x12345678)
        self.opened = b.add(Opened(part), "registers")
        alive = Signal(name="alive_now")
        b.m.d.sync += alive.eq(1)
        b.drive(part, alive=alive)
        self.alive = alive
        host(b, "aw", valid=part.awvalid, ready=part.awready, payload={"address": part.awaddr})
        host(b, "w", valid=part.wvalid, ready=part.wready, payload={"data": part.wdata, "strobe": part.wstrb})
        host(b, "ar", valid=part.arvalid, ready=part.arready, payload={"address": part.araddr})
        self.act, self.read = self.opened["writes.act"], self.opened["reads.act"]
        self.answers = self.opened["reads.answers"]
        self._claim_ports()

    def _claim_ports(self) -> None:
        """Claim what the two ports promise to the registers."""
        b, opened = self.b, self.opened
        for name, ready, held in (
            ("aw", self.part.awready, opened["writes.holds_0"]),
            ("w", self.part.wready, opened["writes.holds_1"]),
            ("ar", self.part.arready, opened["reads.holds"]),
        ):
            b.claim(f"{name}_one_at_a_time", ~ready, when=held)
        write = Cat(opened["writes.address"], opened["writes.data"], opened["writes.strobe"])
        settled = opened["writes.settled"]
        b.claim("acts_on_both", opened["writes.holds_0"] & opened["writes.holds_1"], when=settled | self.act)
        b.claim("write_was_there_before", write == b.register(write, "past_write"), when=settled | self.act)
        # A read goes through three states, and the address stays meanwhile.
        states = (opened["reads.taken"], self.read, opened["reads.found"])
        b.claim("read_states", sum(states, start=Const(0, 1)) == opened["reads.holds"])
        address = opened["reads.address"]
        held = b.register(opened["reads.holds"] & ~self.answers, "past_read_held", reset_less=False)
        b.claim("address_stays", address == b.register(address, "past_address"), when=held)
        done = Signal(name="done_for_this_address")
        b.m.d.sync += done.eq((done | self.read) & ~self.answers)
        b.claim("reads_once", ~self.read, when=done)
        b.claim("answers_what_was_read", done, when=self.answers)
        b.claim("done", done == opened["reads.found"])
        refused = opened["reads.found"] & opened["reads.refused"]
        b.claim("refused_is_0", opened["reads.data"] == 0, when=refused)
        # The registers see the address a cycle later, and it has stayed since.
        for place in range(len({r.offset >> 4 for r in registers() if r.readable})):
            b.claim(f"here_{place}", opened[f"here_{place}"] == (address[2:] == place), when=self.read)
        known = reduce(or_, (address == r.offset >> 2 for r in registers() if r.readable))
        b.claim("known", opened["known"] == known, when=self.read | opened["reads.found"])

    def claim_channels(self) -> None:
        """Claim the rules of AXI4-Lite: one answer for each request, within a few cycles, and none without one."""
        b, part, opened = self.b, self.part, self.opened
        yes = Const(1, 1)
        stays(b, "b", valid=part.bvalid, ready=part.bready, payload={"code": part.bresp}, alive=yes)
        stays(b, "r", valid=part.rvalid, ready=part.rready, payload={"code": part.rresp, "data": part.rdata}, alive=yes)
        b.claim("write_answers", (part.bresp == 0) | (part.bresp == 2))
        b.claim("read_answers", (part.rresp == 0) | (part.rresp == 2))
        b.claim("refused_reads_are_0", part.rdata == 0, when=part.rvalid & (part.rresp == 2))
        owed = {}
        for name, valid, ready, answered, held in (
            ("aw", part.awvalid, part.awready, part.bvalid & part.bready, opened["writes.holds_0"]),
            ("w", part.wvalid, part.wready, part.bvalid & part.bready, opened["writes.holds_1"]),
            ("ar", part.arvalid, part.arready, part.rvalid & part.rready, opened["reads.holds"]),
        ):
            answer = part.rvalid if name == "ar" else part.bvalid
            owed[name] = Signal(3, name=f"{name}_owed")
            b.m.d.sync += owed[name].eq(owed[name] + (valid & ready) - answered)
            # Never an answer that is not owed: one is owed for what is held, and one for the answer that is offered.
            b.claim(f"{name}_answers", owed[name] == held + answer)
        going = self.alive & part.bready
        asked = (part.awvalid | opened["writes.holds_0"]) & (part.wvalid | opened["writes.holds_1"])
        soon(b, "write", asked=asked | part.bvalid, answered=part.bvalid, alive=going, most=WRITTEN_SOON)
        asked = part.arvalid | opened["reads.holds"]
        soon(b, "read", asked=asked, answered=part.rvalid, alive=self.alive & part.rready, most=READ_SOON)
        for name, ready, held in (
            ("aw", part.awready, opened["writes.holds_0"]),
            ("w", part.wready, opened["writes.holds_1"]),
            ("ar", part.arready, opened["reads.holds"]),
        ):
            b.claim(f"{name}_ready_when_free", ready | held, when=b.register(self.alive, f"past_alive_{name}",
                    reset_less=False))  # fmt: skip

    def claim_registers(self) -> None:
        """Claim what writes change, what reads show, and the sticky bits."""
        b, part = self.b, self.part
        address, data, strobe = (self.opened[f"writes.{name}"] for name in ("address", "data", "strobe"))
        written = {r.name: self.act & (address == r.offset >> 2) for r in registers() if r.writable}
        settled = self.opened["writes.settled"]
        for each in registers():
            if each.writable:
                chosen = self.opened[f"writes_{each.name.lower()}"] == (address == each.offset >> 2)
                b.claim(f"chosen_{each.name.lower()}", chosen, when=settled)
        mask = reduce(lambda low, byte: low | byte, (Mux(strobe[n], 0xFF << 8 * n, 0) for n in range(4)))
        word = b.seen((data & mask)[:32], "written_word")
        model = {}
        for name, shown in (("COUNT", part.count), ("RESULT_UNITS", part.result_units)):
            model[name] = Signal(32, name=f"model_{name.lower()}")
            with b.m.If(written[name]):
                b.m.d.sync += model[name].eq(((model[name] & ~mask) | word)[:32])
            b.claim(f"{name.lower()}", shown == model[name])
        status, control = Signal(32, name="model_status"), Signal(32, name="model_control")
        seen = {}
        for name in STICKY:
            place = register("STATUS").field(name.upper()).bit
            seen[name] = Signal(name=f"model_{name}")
            with b.m.If(written["STATUS"] & word[place]):
                b.m.d.sync += seen[name].eq(0)
            with b.m.If(getattr(part, name)):
                b.m.d.sync += seen[name].eq(1)
            b.m.d.comb += status[place].eq(seen[name])
            b.claim(f"{name}_sticks", self.opened[f"{name}_seen"] == seen[name])
        b.m.d.comb += [status[register("STATUS").field(n.upper()).bit].eq(getattr(part, n)) for n in LEVELS]
        enables = {}
        for name in ("irq_done", "irq_error"):
            place = register("CONTROL").field(name.upper()).bit
            enables[name] = Signal(name=f"model_{name}")
            with b.m.If(written["CONTROL"] & mask[place]):
                b.m.d.sync += enables[name].eq(data[place])
            b.m.d.comb += control[place].eq(enables[name])
            b.claim(name, self.opened[f"{name}_enabled"] == enables[name])
        raised = (seen["done"] & enables["irq_done"]) | (Const(0, 1) if not ERRORS else
                  reduce(lambda x, y: x | y, (seen[n] for n in ERRORS)) & enables["irq_error"])  # fmt: skip
        b.claim("interrupt", part.interrupt == b.register(raised, "past_raised", reset_less=False))
        for name in ("abort", "reset"):
            asked = written["CONTROL"] & word[register("CONTROL").field(name.upper()).bit]
            b.claim(name, getattr(part, name) == b.register(asked, f"past_{name}", reset_less=False))
        self._claim_commands(written, word, strobe)
        self._claim_reads(model | {"STATUS": status, "CONTROL": control})

    def _claim_commands(self, written: dict[str, Any], word: Any, strobe: Any) -> None:
        """Claim which commands are given, and which writes are refused."""
        b, part = self.b, self.part
        fine = (word < COMMANDS) & ~part.busy
        known = self.opened["unknown"] == (word >= COMMANDS)
        b.claim("unknown", known, when=self.opened["writes.settled"] & strobe[0])
        given = written["COMMAND"] & strobe[0] & fine
        b.claim("command", part.command == b.register(given, "past_given", reset_less=False))
        code = b.register(word[:2], "past_code")
        b.claim("code", part.code == code, when=part.command)
        known = reduce(lambda x, y: x | y, written.values())
        refused = ~known | (written["COMMAND"] & strobe[0] & ~fine)
        acted = b.register(self.act, "past_act", reset_less=False)
        b.claim("refused_write", (part.bresp == 2) == b.register(refused, "past_refused"), when=acted)
        b.claim("answers_when_it_acts", part.bvalid, when=acted)

    def _claim_reads(self, values: dict[str, Any]) -> None:
        """Claim what a read shows: the registers as they were in the cycle of the read."""
        b, part = self.b, self.part
        address = self.opened["reads.address"]
        high = Signal(32, name="model_high")
        here = {r.name: address == r.offset >> 2 for r in registers() if r.readable}
        with b.m.If(self.read & here["CYCLES_LO"]):
            b.m.d.sync += high.eq(part.cycles[32:])
        b.claim("high", self.opened["high"] == high)
        values = values | {"CYCLES_LO": part.cycles[:32], "CYCLES_HI": high, "FINGERPRINT": Const(0x12345678, 32)}
        counters = ("samples", "wait_in", "wait_out", "lane_overflows", "root_overflows", "domain_errors")
        values |= {name.upper(): getattr(part, name) for name in counters}
        # What the registers held in the cycle of the read, until the answer.
        then, asked = Signal(32, name="then"), {}
        for name, each in here.items():
            asked[name] = Signal(name=f"asked_{name.lower()}")
            with b.m.If(self.read):
                b.m.d.sync += asked[name].eq(each)
            with b.m.If(self.read & each):
                b.m.d.sync += then.eq(values.get(name, Const(register(name).reset, 32)))
        nothing = ~reduce(or_, asked.values())
        with b.m.If(self.read & ~reduce(or_, here.values())):
            b.m.d.sync += then.eq(0)
        found = self.opened["reads.found"]
        b.claim("nothing_is_0", then == 0, when=found & nothing)
        b.claim("found", (self.opened["reads.data"] == then) & (self.opened["reads.refused"] == nothing), when=found)
        for name, each in here.items():
            b.claim(f"asked_{name.lower()}", asked[name] == each, when=found)
        answered = b.register(self.answers, "past_answers", reset_less=False)
        b.claim("answers", part.rvalid, when=answered)
        b.claim("finds", found, when=b.register(self.read, "past_read", reset_less=False))
        shown = (part.rdata == b.register(then, "past_then")) & (part.rresp == 0)
        for name, each in asked.items():
            this = b.register(self.answers & each, f"past_answers_{name.lower()}", reset_less=False)
            b.claim(f"reads_{name.lower()}", shown, when=this)
        none = b.register(self.answers & nothing, "past_answers_nothing", reset_less=False)
        b.claim("reads_nothing", (part.rresp == 2) & (part.rdata == 0), when=none)


def lite(*, inside: bool) -> Bench:
    """The register file: its channels, or with `inside` its registers."""
    proof = RegisterProof()
    if inside:
        proof.claim_registers()
    else:
        proof.claim_channels()
    return proof.b


def input_slice(*, bits: int) -> Bench:
    """The two places for beats at the input."""
    b = Bench(resets=True)
    part = InputSlice(bits=bits)
    opened = b.add(Opened(part), "slice")
    b.drive(part)
    beat = {"data": part.tdata, "keep": part.tkeep, "last": part.tlast}
    host(b, "t", valid=part.tvalid, ready=part.tready, payload=beat)
    taken, leaves = b.seen(part.tvalid & part.tready, "taken"), b.seen(part.valid & part.take, "leaves")
    beats = Beats.of(b, valid=part.valid, take=part.take, last=part.last, resume=part.resume, flush=part.flush)
    b.assume("resumes_after_a_packet", beats.paused, when=part.resume)
    claim(b, beats.promises)
    # A follower of one beat; `flush` forgets all of them.
    inside, ahead, here = Signal(2, name="inside"), Signal(2, name="ahead"), Signal(name="here")
    followed = {name: Signal.like(value, name=f"followed_{name}") for name, value in beat.items()}
    b.m.d.sync += inside.eq(Mux(part.flush, 0, inside + taken - leaves))
    with b.m.If(here & leaves):
        b.m.d.sync += [ahead.eq(ahead - 1), here.eq(ahead != 0)]
    with b.m.If(taken & b.free(1, "chosen") & ~here):
        b.m.d.sync += [here.eq(1), ahead.eq(inside - leaves)]
        b.m.d.sync += [followed[name].eq(value) for name, value in beat.items()]
    with b.m.If(part.flush):
        b.m.d.sync += here.eq(0)
    head = here & (ahead == 0)
    for name, value in followed.items():
        b.claim(f"order_of_{name}", getattr(part, name) == value, when=head)
    b.claim("valid", part.valid == (inside != 0))
    b.claim("two_at_most", inside <= 2)
    b.claim("ready_with_room", inside <= 1, when=part.tready)
    b.claim("spare", opened["spare_filled"] == (inside == 2))
    spare = dict(zip(beat, (slice(0, bits), slice(bits, bits + bits // 8), slice(bits + bits // 8, None)), strict=True))
    for name, place in spare.items():
        b.claim(f"spare_{name}", opened["spare"][place] == followed[name], when=here & (ahead == 1))
    b.claim("ahead", ahead < inside, when=here)
    # No beat after TLAST until the packet may be followed by another one.
    closed = Signal(name="closed")
    ended = taken & part.tlast
    b.m.d.sync += closed.eq(Mux(part.flush, 0, (closed | ended) & ~part.resume))
    b.claim("none_after_the_last", ~part.tready, when=closed)
    b.claim("closed_while_paused", closed & (inside == 0), when=beats.paused)
    b.claim("the_last_is_the_last", inside == 1, when=part.valid & part.last)
    newest_is_last = Mux(inside == 2, opened["spare"][-1], part.last)
    b.claim("closed_behind_the_last", closed, when=(inside != 0) & newest_is_last)
    b.claim("quiet", (inside == 0) & ((beats.quiet != BEATS_QUIET) | ~part.tready), when=beats.quiet != 0)
    b.claim("wanted_only", b.register(part.want, "past_want", reset_less=False), when=part.tready)
    inside_packet = Signal(name="inside_packet")
    b.m.d.sync += inside_packet.eq(Mux(part.forget, 0, part.open))
    b.claim("paused", (opened["paused"] == closed) & (opened["opened"] == inside_packet))
    b.claim("open", part.open == Mux(taken, ~part.tlast, inside_packet))
    return b


def output_stream(*, shape: BusShape) -> Bench:
    """The output stream."""
    b = Bench(resets=True)
    part = StreamOutput(shape=shape)
    opened = b.add(Opened(part), "stream")
    b.drive(part)
    stays(
        b,
        "t",
        valid=part.tvalid,
        ready=part.tready,
        payload={"data": part.tdata, "keep": part.tkeep, "last": part.tlast},
        alive=Const(1, 1),
    )
    # What the array's word becomes: followed from the cycle in which it is taken until its beat is.
    b.assume("starts_at_rest", part.idle, when=part.start)
    b.assume("one_order_at_a_time", ~(part.start & part.finish) & ~(part.start & part.reset))
    b.assume("no_words_while_it_starts", ~part.word_valid, when=part.start | part.finish)
    count, container = shape.containers, shape.container
    taken = part.word_valid & part.word_ready
    place, word = Signal(range(count), name="place"), Signal(shape.width, name="followed_word")
    here, sent = Signal(name="here"), Signal(name="sent")
    filled = opened["filled"]
    moves, leaves = opened["moves"], part.tvalid & part.tready
    with b.m.If(sent & leaves):
        b.m.d.sync += sent.eq(0)
    with b.m.If(here & moves):
        b.m.d.sync += [here.eq(0), sent.eq(1)]
    with b.m.If(taken & b.free(1, "chosen") & ~here & ~sent):
        b.m.d.sync += [here.eq(1), word.eq(part.word), place.eq(Mux(filled == count, 0, filled))]
    with b.m.If(part.reset):
        b.m.d.sync += [here.eq(0)]
    extended = b.seen(word.as_signed() + Const(0, container), "extended")[:container]
    b.claim("filled", filled <= count)
    for n in range(count):
        b.claim(f"place_{n}", opened[f"place_{n}"] == extended, when=here & (place == n))
        mine = part.tdata[n * container : (n + 1) * container]
        kept = part.tkeep[n * container // 8 : (n + 1) * container // 8]
        b.claim(f"sent_{n}", (mine == extended) & kept.all(), when=sent & (place == n))
    b.claim("waits_in_its_place", place < filled, when=here)
    b.claim("sent_is_offered", part.tvalid, when=sent)
    b.claim("here_or_sent", ~(here & sent))
    b.claim("none_while_full", ~moves | ~part.tvalid | part.tready)
    b.claim("lasts_only", part.tlast <= part.tvalid)
    # TKEEP: whole containers from the lowest on, and all of them unless the packet ends.
    kept = [part.tkeep[n * container // 8 : (n + 1) * container // 8] for n in range(count)]
    whole = reduce(and_, (k.all() | ~k.any() for k in kept))
    dense = reduce(and_, (kept[n].any() | ~kept[n + 1].any() for n in range(count - 1)), Const(1, 1))
    b.claim("keep_is_dense", whole & dense & kept[0].all(), when=part.tvalid)
    b.claim("keep_is_full", part.tkeep.all(), when=part.tvalid & ~part.tlast)
    # As many containers as the beat has words; a beat without any is a whole beat of zeros.
    words = Signal(range(count + 1), name="words_of_beat")
    with b.m.If(moves):
        b.m.d.sync += words.eq(filled)
    for n in range(count):
        b.claim(f"keep_{n}", kept[n].any() == ((words > n) | (words == 0)), when=part.tvalid)
        mine = part.tdata[n * container : (n + 1) * container]
        b.claim(f"rest_{n}_is_0", mine == 0, when=part.tvalid & (words <= n))
    # A full beat waits for another word of its packet, so that the last beat of a packet always has words.
    follows = b.register(part.word_valid & part.word_ready, "past_follows", reset_less=False)
    b.claim("waits_for_a_word", follows, when=b.register(moves & ~opened["closing"], "past_goes_on", reset_less=False))
    # A reset ends the packet that the host has seen begin.
    begun, resets = Signal(name="begun"), Signal(name="was_reset")
    with b.m.If(leaves):
        b.m.d.sync += begun.eq(~part.tlast)
    b.m.d.sync += resets.eq(part.reset | (resets & ~part.start))
    b.assume("nothing_after_a_reset", ~part.word_valid & ~part.finish, when=resets)
    b.claim("begun", opened["opened"] == Mux(part.tvalid, ~part.tlast, begun))
    b.claim("reset_ends_the_packet", opened["closing"] | ~opened["opened"], when=resets)
    b.claim("last_of_beat", opened["closing"] | (filled == count) | ~moves)
    b.claim("word_ready", part.word_ready == (~opened["closing"] & ((filled != count) | ~part.tvalid | part.tready)))
    return b


CHANNELS = mutants(
    "bus/axi_lite.py",
    ("self.act.eq(settled & (~self.bvalid | self.bready))", "self.act.eq(settled)"),
    ("settled.eq(held[0] & held[1] & ~self.act)", "settled.eq(held[0] & ~self.act)"),
    ("settled.eq(held[0] & held[1] & ~self.act)", "settled.eq(held[0] & held[1])"),
    ("with m.Elif(self.bvalid & self.bready):", "with m.Elif(self.bvalid):"),
    ("ready.eq(self.alive & (self.act | ~(holds | takes)))]", "ready.eq(self.alive & (self.act | ~holds))]"),
    ("self.arready.eq(self.alive & (answers | ~(holds | takes)))", "self.arready.eq(self.alive & ~holds & ~takes)"),
    ("with m.Elif(self.rvalid & self.rready):", "with m.Elif(self.rready & holds):"),
    ("holds.eq((holds | takes) & ~answers)", "holds.eq(takes & ~answers)"),
    ("found.eq((found | self.act) & ~answers)", "found.eq(self.act & ~answers)"),
    ("self.act.eq(taken),", "self.act.eq(taken | takes),"),
    ("answers.eq(found & (~self.rvalid | self.rready))", "answers.eq(found)"),
)
REGISTERS = mutants(
    "bus/registers.py",
    ("seen.eq((seen & ~clear) | getattr(self, name))", "seen.eq((seen | getattr(self, name)) & ~clear)"),
    ('clear = here["STATUS"] & strobe[place // 8] & word[place]', 'clear = here["STATUS"] & word[place]'),
    ("if self.predicts else code >= COMMANDS", "if self.predicts else code > COMMANDS"),
    ("unknown.eq(above | ", "unknown.eq("),
    ("strobe[0] & (self.busy | unknown)", "strobe[0] & unknown"),
    ("m.d.sync += high.eq(self.cycles[32:])", "m.d.sync += high.eq(self.cycles[31:])"),
    ("reduce(or_, (sticky[n] for n in ERRORS)) & error", "error"),
    ("with m.If(here[name] & strobe[byte]):", "with m.If(here[name]):"),
    ("writes.refused.eq(~reduce(or_, chosen.values()) |", "writes.refused.eq("),
    ("part.eq(Mux(here, near, 0))", "part.eq(near)"),
    ("with m.If(reads.act):", "with m.If(reads.act | 1):"),
    ("reads.address[2:] == first >> 2", "reads.address[2:4] == first >> 2"),
)
SLICE = mutants(
    "bus/slice.py",
    ("fills.eq(stays & (spare_filled | taken))", "fills.eq(stays & taken)"),
    ("with m.If(~stays & spare_filled):", "with m.If(~stays & spare_filled & ~taken & self.want):"),
    ("paused.eq((paused | ends) & ~self.resume)", "paused.eq(ends & ~self.resume)"),
    ("self.want & ~fills &", "self.want &"),
    ("self.valid.eq(stays | spare_filled | taken)", "self.valid.eq(stays | taken)"),
    ("opened.eq(self.open & ~self.forget)", "opened.eq(self.open)"),
)
STREAM = mutants(
    "bus/stream_out.py",
    ("room.eq(~closing & (~full | free))", "room.eq(~closing)"),
    ("free.eq(~self.tvalid | self.tready)", "free.eq(~self.tvalid | self.tready | closing)"),
    ("self.tkeep.eq(self._keep(filled))", "self.tkeep.eq(self._keep(filled + 1))"),
    ("[word, word[-1].replicate(shape.container - shape.width)]", "[word, Const(0, shape.container - shape.width)]"),
    ("place = Mux(full, 0, filled)", "place = filled"),
    ("moves.eq(free & (closing | (full & self.word_valid)))", "moves.eq(free & (closing | full))"),
    ("Mux(filled > k, each, 0)", "each"),
    ("Mux(filled > k, each, 0)", "Mux(filled > k + 1, each, 0)"),
    ("opened.eq(~closing)", "opened.eq(0)"),
)
SHAPE = BusShape(
    bus_bits=64, width=18, stream_words=2, load_beats=3, run_beats=2, run_words=3, dump_count=4, output_words=1
)
NARROW = BusShape(
    bus_bits=64, width=12, stream_words=2, load_beats=3, run_beats=2, run_words=5, dump_count=4, output_words=1
)

SUBJECTS = (
    Subject(
        group="borders on a bus",
        name="AXI4-Lite channels",
        property="Every request has one answer, and there is none without a request. What is valid stays, and the "
        "same, until it is taken. A host that waits for an answer has it within 5 cycles of its address, or within 4 "
        "of the address and the word that it writes.",
        bounds="resets at any time",
        build=partial(lite, inside=False),
        depth=8,
        speed=Speed.TEST,
        mutants=CHANNELS,
        search=10,
    ),
    Subject(
        group="borders on a bus",
        name="registers",
        property="Writes change the bytes that WSTRB names, and what the table allows; others are refused. Reads show "
        "the registers of the cycle of the read. Sticky bits stay until a 1 is written, and an event wins over that.",
        bounds="resets at any time",
        build=partial(lite, inside=True),
        depth=3,
        mutants=REGISTERS,
        search=9,
    ),
    Subject(
        group="borders on a bus",
        name="input stream",
        property="Every beat that is taken is offered once, in order, until it is flushed. There is room for a beat "
        "whenever `tready` is high. No beat is taken after TLAST before the packet may be followed by another.",
        bounds="32 bits; resets at any time",
        build=partial(input_slice, bits=32),
        depth=2,
        speed=Speed.TEST,
        mutants=SLICE,
        search=8,
    ),
    *(
        Subject(
            group="borders on a bus",
            name=f"output stream, {shape.width} bits",
            property="What is valid stays, and the same, until it is taken. Every word leaves once, in its place, with "
            "its sign, and all other containers are 0; TKEEP has whole containers without a hole, all of them in a "
            "beat without TLAST. A reset ends the packet that has begun.",
            bounds=f"{shape.containers} containers of {shape.container} bits; resets at any time",
            build=partial(output_stream, shape=shape),
            depth=2,
            mutants=planted,
            search=10,
        )
        for shape, planted in ((SHAPE, ()), (NARROW, STREAM))
    ),
)
