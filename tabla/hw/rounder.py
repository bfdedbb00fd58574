"""Round once: shift, saturate or compare, in two cycles."""

from collections.abc import Collection
from functools import reduce
from operator import or_
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.barrel import MULTIPLEXED, distance, moved_down

POSTS = ("none", "<", "<=", "==", "!=", ">=", ">", "extreme")
"""What the post field's codes mean; a test compares them with the records. `extreme` rounds as `none`."""


def unlike(m: Module, bits: Any, *, name: str) -> Any:
    """Return whether some bits differ. They are compared in groups of four that share one bit with the next, a LUT
    each.

    Left to itself, synthesis asks whether all are 1 or all are 0, in twice as many LUTs.
    """
    found = []
    for begin in range(0, len(bits) - 1, 3):
        group = bits[begin : begin + 4]
        differ = Signal(name=f"{name}_{begin}", attrs={"keep": 1})
        m.d.comb += differ.eq((group[1:] ^ group[:-1]).any())
        found.append(differ)
    return reduce(or_, found, Const(0, 1))


def _from(bits: Any, place: int, width: int) -> Any:
    """Return `width` bits from a place on, which may be negative: there are zeros below bit 0."""
    return Cat(Const(0, -place), bits[: width + place]) if place < 0 else bits[place : place + width]


class Rounder(wiring.Component):
    """Gives ``saturate(accumulator >> shift)``, or ONE or 0 by comparing the accumulator with zero.

    The rounding half has been added when the sum was started. It takes one accumulator a cycle. The result register
    keeps its word while `valid` is low. There is no reset. With `loads` a word from elsewhere can pass instead. A
    ``plain`` rounder, of a single shift and without comparisons, has no logic before the word: it turns and saturates
    behind it.

    ===============  ===================================================================================
    *t*              `accumulator`, `inverted` (it holds the complement of the sum), `shift`
    *t* + 1          `valid`, `post`; to load: `load` in *t* and now, `loaded`, `valid`, and `post` 0 (none)
    *t* + ``LATENCY``  `result`; `saturated`: the word did not fit
    ===============  ===================================================================================

    Members
    -------
    accumulator : In(signed(accumulator))
    inverted : In(1)
    shift : In(2), index into `shifts`
    valid : In(1)
    post : In(3)
    load : In(1), loaded : In(width)
        With `loads`. `loaded` is 0 unless `load`.
    joined : In(signed(accumulator)), joined_outside : In(1)
        With `joins`, beside `accumulator`: a word that is 0 unless the accumulator is, and whether it does not fit.
    result : Out(signed(width))
    saturated : Out(1)
    """

    LATENCY = 2

    def __init__(
        self,
        *,
        width: int,
        fraction: int,
        accumulator: int,
        shifts: tuple[int, ...],
        posts: Collection[str] = POSTS,
        loads: bool = False,
        plain: bool = False,
        joins: bool = False,
    ) -> None:
        self.width = width
        self.fraction = fraction
        self.accumulator_width = accumulator
        self.shifts = shifts
        self.posts = frozenset(posts)
        self.loads = loads
        self.plain = plain
        self.joins = joins
        super().__init__(
            {
                "accumulator": In(signed(accumulator)),
                "inverted": In(1),
                "shift": In(max(2, (len(shifts) - 1).bit_length())),
                "valid": In(1),
                "post": In(3),
                **({"load": In(1), "loaded": In(width)} if loads else {}),
                **({"joined": In(signed(accumulator)), "joined_outside": In(1)} if joins else {}),
                "result": Out(signed(width)),
                "saturated": Out(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        if self.plain:
            self._plain(m)
            return m
        sum_ = Signal(signed(self._reach), name="sum")
        moves = len(self.shifts) > MULTIPLEXED
        kept, beyond = (self._reaching(), Const(0, 1)) if moves else self._kept(m)
        m.d.comb += sum_.eq((kept ^ self.inverted.replicate(self._reach)).as_signed())

        word = Signal(self.width, reset_less=True)
        outside = Signal(reset_less=True)
        negative = Signal(reset_less=True)
        zero = Signal(reset_less=True)
        m.d.sync += [negative.eq(sum_[-1]), zero.eq(sum_ == 0)]
        if moves:
            moved, beyond = moved_down(sum_[min(self.shifts) :], distance(self.shift, self.shifts), self.width)
            m.d.sync += word.eq(moved)
        else:
            with m.Switch(self.shift):
                for index, shift in enumerate(self.shifts):
                    with m.Default() if index == len(self.shifts) - 1 else m.Case(index):
                        m.d.sync += word.eq(_from(sum_, shift, self.width))
        m.d.sync += outside.eq(beyond)

        if self.loads:
            # Nothing stands there then, so that a loaded word needs no multiplexer.
            with m.If(self.load):
                m.d.sync += [word.eq(0), outside.eq(0)]

        result = Signal(signed(self.width), reset_less=True)
        saturated = Signal(reset_less=True)
        most_positive = (1 << (self.width - 1)) - 1
        limit = Mux(negative, Const(~most_positive, signed(self.width)), Const(most_positive, signed(self.width)))
        rounded = Mux(outside, limit, word.as_signed())
        if self.loads:
            rounded = rounded.as_unsigned() | self.loaded
        holds = {
            "<": negative,
            "<=": negative | zero,
            "==": zero,
            "!=": ~zero,
            ">=": ~negative,
            ">": ~(negative | zero),
        }
        with m.If(self.valid):
            if self.posts - {"none", "extreme"}:
                with m.Switch(self.post):
                    for code, post in enumerate(POSTS):
                        if post in holds and post in self.posts:
                            with m.Case(code):
                                m.d.sync += [
                                    result.eq(Mux(holds[post], 1 << self.fraction, 0)),
                                    saturated.eq(0),
                                ]
                    with m.Default():
                        m.d.sync += [result.eq(rounded), saturated.eq(outside)]
            else:
                m.d.sync += [result.eq(rounded), saturated.eq(outside)]
        m.d.comb += [self.result.eq(result), self.saturated.eq(saturated)]
        return m

    def _plain(self, m: Module) -> None:
        """Return the sum's bits as they are kept, and two flags: saturated, and what to exclusive-or all bits with."""
        shift, (total, beyond) = self.shifts[0], self._kept(m)
        word = Signal(self.width, reset_less=True)
        outside = Signal(reset_less=True)
        flip = Signal(reset_less=True)
        late = Signal(reset_less=True)
        kept = _from(total, shift, self.width)
        flips = self.inverted ^ (beyond & ~total[-1])
        # No `If`: Icarus evaluates a block of Verilog only when an input changes, which may be long after the start.
        load = self.load if self.loads else Const(0, 1)
        m.d.sync += [
            word.eq(Mux(load, 0, kept)),
            outside.eq(Mux(load, 0, beyond)),
            flip.eq(Mux(load, 0, flips)),
            late.eq(beyond),
        ]
        limited = Cat(word[:-1] & ~outside.replicate(self.width - 1), word[-1] | outside)
        rounded = limited ^ flip.replicate(self.width)
        if self.loads:
            rounded = rounded | self.loaded
        result = Signal(signed(self.width), reset_less=True)
        saturated = Signal(reset_less=True)
        m.d.sync += [result.eq(Mux(self.valid, rounded, result)), saturated.eq(Mux(self.valid, late, saturated))]
        m.d.comb += [self.result.eq(result), self.saturated.eq(saturated)]

    def _kept(self, m: Module) -> tuple[Any, Any]:
        """Return the sum as it is kept, and whether it does not fit."""
        beyond = self._does_not_fit(m)
        if self.joins:
            return self._reaching() | self.joined, beyond | self.joined_outside
        return self._reaching(), beyond

    @property
    def _reach(self) -> int:
        """The bits from the lowest one of a sum to the highest one of a result, or of the accumulator."""
        return max(self.accumulator_width, max(self.shifts) + self.width)

    def _reaching(self) -> Any:
        """Return the accumulator, with its sign up to the highest bit of a result."""
        more = self._reach - self.accumulator_width
        return Cat(self.accumulator, self.accumulator[-1].replicate(more)).as_signed() if more else self.accumulator

    def _does_not_fit(self, m: Module) -> Any:
        """Return whether bits above the word differ from the sign. Those of a complement do so too."""
        accumulator = self._reaching()
        if self.plain:
            return unlike(m, accumulator[self.shifts[0] + self.width - 1 :], name="above")
        above = max(self.shifts) + self.width - 1

        def differ(begin: int, end: int) -> Any:
            return (accumulator[begin:end] ^ accumulator[-1].replicate(end - begin)).any()

        more = [
            (self.shift == index) & differ(shift + self.width - 1, above)
            for index, shift in enumerate(self.shifts)
            if shift + self.width - 1 < above
        ]
        return reduce(or_, more, differ(above, self._reach - 1))
