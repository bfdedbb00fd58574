"""Multiply and accumulate: the middle of the lane's and of the root's pipeline."""

from collections.abc import Collection
from functools import reduce
from operator import or_
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.barrel import MULTIPLEXED, distance, moved_up
from tabla.hw.multiplier import Multiplier


def placed(addend: Any, shift: int, fill: Any, accumulator: int) -> Any:
    """Return ``addend << shift`` with `fill` in the empty bits. It is nothing but wires. `addend` is signed.

    Where the shift is negative, the bits that are dropped are `fill` themselves. So are bits above the accumulator,
    which is as wide as the largest sum.
    """
    if shift < 0:
        addend, shift = addend[-shift:], 0
    addend = addend[: accumulator - shift]
    return Cat(fill.replicate(shift), addend, addend[-1].replicate(accumulator - shift - len(addend)))


class Mac(wiring.Component):
    """Computes ``accumulator <- start + a * b`` or ``start - a * b``. The accumulation has a cycle to itself.

    To subtract without a second rank of logic, the accumulator holds the *complement* of the sum while the operation
    that wrote it subtracted: ``start - p == ~(~start + p)``. Whoever controls it (``MacControl``) tracks the sense, and
    readers get the sense beside the accumulator. It takes one operation a cycle. In a cycle without an operation a = 0,
    keep = 1 and invert = 0. There is no reset.

    With `extremes` an operation may keep the larger of start value and product instead of adding them. While the sum is
    kept as its complement it keeps the smaller, as complements.

    The operands of an operation are wanted in cycle *t*, and its other inputs as follows:

    ==============================  =========================================================================
    *t*                             `a`, `b`, `addend` (0 unless the start value is an addend)
    *t* + 1                         `invert` (in *t* if ``early``), `half`, `shift`: the start value is
                                    ``((addend << shift) + half-unit) ^ invert``; `late_addend` (with ``late``) in
                                    place of `addend`, one of the two being 0
    *t* + 2                         `keep`: the old accumulator instead, exclusive-or'd with `invert`;
                                    `tree_select`, `tree`, `tree_half`: the tree's word instead (root only);
                                    `extreme`: keep the larger, `take`: the product counts, `complement`: the sum is
                                    kept as its complement (with `extremes`)
    *t* + ``LATENCY``               `accumulator`
    ==============================  =========================================================================

    `addend_shifts` are the indices of the shifts that operations with an addend use. Where there is only one, the
    start value is the addend's register and wires, and `invert` is applied before that register: such a pipeline is
    ``early``. One that takes the tree's word is not, because the sense of that word is learned too late. Neither is
    one that takes a late addend.

    Members
    -------
    a, b : In(signed(width)), addend : In(signed(width + guard))
        A word without guard bits is in the upper bits of the addend.
    invert, half : In(1)
    shift : In(2), index into `shifts`
    keep : In(1)
    tree_select : In(1), tree : In(signed(accumulator)), tree_half : In(signed(accumulator))
        With `tree`. `tree_half` is added to the tree's word; it is a constant 0 in most builds.
    extreme, take, complement : In(1)
        With `extremes`.
    late_addend : In(signed(width + guard))
        With `late`, which is for roots: a lane's start value may be formed too early for it.
    accumulator : Out(signed(accumulator))
    """

    LATENCY = 3

    def __init__(
        self,
        *,
        width: int,
        accumulator: int,
        shifts: tuple[int, ...],
        addend_shifts: Collection[int],
        tree: bool = False,
        late: bool = False,
        extremes: bool = False,
        guard: int = 0,
        places: tuple[int, ...] = (),
    ) -> None:
        self.width = width
        self.addend_width = width + guard
        self.accumulator_width = accumulator
        self.shifts = shifts
        # By the place of an addend's lowest bit, the indices of the shifts that put it there.
        self.addend_places: dict[int, list[int]] = {}
        self.places = places or shifts
        for index in sorted(addend_shifts) or [0]:
            self.addend_places.setdefault(self.places[index], []).append(index)
        self.has_tree = tree
        self.early = len(self.addend_places) == 1 and not tree and not late
        self.late = late
        self.has_extremes = extremes
        members: dict[str, Any] = {
            "a": In(signed(width)),
            "b": In(signed(width)),
            "addend": In(signed(self.addend_width)),
            "invert": In(1),
            "half": In(1),
            "shift": In(max(2, (len(shifts) - 1).bit_length())),
            "keep": In(1),
            "accumulator": Out(signed(accumulator)),
        }
        if tree:
            members |= {
                "tree_select": In(1),
                "tree": In(signed(accumulator)),
                "tree_half": In(signed(accumulator)),
            }
        if late:
            members["late_addend"] = In(signed(self.addend_width))
        if extremes:
            members |= {"extreme": In(1), "take": In(1), "complement": In(1)}
        super().__init__(members)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.submodules.multiplier = multiplier = Multiplier(left=self.width, right=self.width)
        width = self.accumulator_width
        m.d.comb += [multiplier.a.eq(self.a), multiplier.b.eq(self.b)]

        addend = Signal(signed(self.addend_width), reset_less=True)
        inverts = Signal()
        start = Signal(width, reset_less=True)
        # An operation without an addend has 0 there, so its place does not matter.
        *others, last = self.addend_places
        moves = len(others) >= MULTIPLEXED
        # Half a unit is the bit below an addend without guard bits, and moves with it.
        together = moves and self.places == self.shifts
        if self.early:
            m.d.sync += [addend.eq(self.addend ^ self.invert.replicate(self.addend_width)), inverts.eq(self.invert)]
            word = placed(addend, last, inverts, width)
        else:
            m.d.sync += addend.eq(self.addend)
            m.d.comb += inverts.eq(self.invert)
            # At most one of the two is not 0.
            joined = (addend | self.late_addend).as_signed() if self.late else addend
            if moves:
                moved = Cat(self.half, joined) if together else joined
                joined = moved_up(moved, distance(self.shift, self.places)).as_signed()
                others, last = [], min(self.places) - together
            word = placed(joined, last, Const(0, 1), width)
            for place in others:
                word = Mux(self._is_one(self.addend_places[place]), placed(joined, place, Const(0, 1), width), word)
            word = word ^ inverts.replicate(width)
        m.d.sync += start.eq(word if together else word ^ self._half_unit())

        sum_ = Signal(signed(width), name="sum", reset_less=True)
        other: Any = start
        if self.has_tree:
            # Never with `keep`, so that an exclusive or serves as well as an or: one LUT in front of the adder's own.
            other = start ^ (self.tree.as_unsigned() & self.tree_select.replicate(width))
        held = self._larger(m, sum_) if self.has_extremes else sum_
        before = ((held.as_unsigned() & self.keep.replicate(width)) ^ other).as_signed()
        added: Any = multiplier.product
        half: Any = self.tree_half if self.has_tree else Const(0, 1)
        if self.has_extremes:
            compared = added ^ self.complement.replicate(len(added)).as_signed()
            m.d.sync += [
                self._product.eq(added),
                self._complement.eq(self.complement),
                self._takes.eq(self.extreme & self.take & (before - compared)[-1]),
            ]
            adds = ~self.extreme.replicate(width)
            added, half = (added & adds).as_signed(), (half & adds).as_signed()
        total = before + added
        if self.has_tree:
            total = total + half
        m.d.sync += sum_.eq(total)
        m.d.comb += self.accumulator.eq(held)
        return m

    def _larger(self, m: Module, passed: Any) -> Any:
        """Return the larger of two words, or the sum.

        Which one is the larger is known at the end of a cycle, so the choice is made in the next one: the start value
        passes the adder alone, and the product stands beside it.
        """
        self._product = Signal(signed(2 * self.width), name="product_beside", reset_less=True)
        self._complement = Signal(name="complement_beside", reset_less=True)
        self._takes = Signal(name="takes", reset_less=True)
        chosen = Signal(signed(self.accumulator_width), name="held")
        beside = self._product ^ self._complement.replicate(2 * self.width).as_signed()
        m.d.comb += chosen.eq(Mux(self._takes, beside, passed))
        return chosen

    def _half_unit(self) -> Any:
        """Return half a unit of the result, at its place."""
        halves: dict[int, list[int]] = {}
        for index, shift in enumerate(self.shifts):
            halves.setdefault(shift - 1, []).append(index)
        bits = range(self.accumulator_width)
        return Cat(*(self.half & self._is_one(halves[bit]) if bit in halves else Const(0, 1) for bit in bits))

    def _is_one(self, indices: list[int]) -> Any:
        """Return whether the shift is one of those with the given indices."""
        return reduce(or_, (self.shift == index for index in indices))
