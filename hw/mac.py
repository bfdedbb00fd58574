"""Multiply and accumulate: the middle of the lane's and of the root's pipeline."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from tabla.hw.multiplier import Multiplier


def start_word(addend: Any, shift: int, half: Any, invert: Any, accumulator: int) -> Any:
    """``((addend << shift) | half-unit) ^ invert``: wires and one exclusive or; `addend` is signed."""
    width = len(addend)
    low: list[Any] = [Const(0, shift - 1), half] if shift else []
    bits = Cat(*low, addend, addend[-1].replicate(accumulator - shift - width))
    return bits ^ invert.replicate(accumulator)


class Mac(wiring.Component):
    """``accumulator <- start ± a * b``, the accumulation alone in its cycle.

    To subtract without a second rank of logic, the accumulator holds the *complement* of the sum while the operation
    that wrote it subtracted: ``start - p == ~(~start + p)``. Whoever controls it (``MacControl``) tracks the sense;
    readers get it beside the accumulator. One operation a cycle; without an operation: a = 0, keep = 1, invert = 0.
    No reset.

    The operands of one operation, in cycle *t*, and when its other inputs are wanted:

    ==============================  =========================================================================
    *t*                             `a`, `b`, `addend` (0 unless the start value is an addend)
    *t* + 1                         `invert`, `half`, `shift`: the start value is
                                    ``((addend << shift) + half-unit) ^ invert``
    *t* + 2                         `keep`: the old accumulator instead, exclusive-or'd with `invert`;
                                    `tree_select`, `tree`, `tree_half`: the tree's word instead (root only)
    *t* + ``LATENCY``               `accumulator`
    ==============================  =========================================================================

    Members
    -------
    a, b, addend : In(signed(width))
    invert, half : In(1)
    shift : In(2), index into `shifts`
    keep : In(1)
    tree_select : In(1), tree : In(signed(accumulator)), tree_half : In(signed(accumulator))
        With `tree`. `tree_half` is added to the tree's word; it is a constant 0 in most builds.
    accumulator : Out(signed(accumulator))
    """

    LATENCY = 3

    def __init__(self, *, width: int, accumulator: int, shifts: tuple[int, ...], tree: bool = False) -> None:
        self.width = width
        self.accumulator_width = accumulator
        self.shifts = shifts
        self.has_tree = tree
        members: dict[str, Any] = {
            "a": In(signed(width)),
            "b": In(signed(width)),
            "addend": In(signed(width)),
            "invert": In(1),
            "half": In(1),
            "shift": In(2),
            "keep": In(1),
            "accumulator": Out(signed(accumulator)),
        }
        if tree:
            members |= {
                "tree_select": In(1),
                "tree": In(signed(accumulator)),
                "tree_half": In(signed(accumulator)),
            }
        super().__init__(members)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.submodules.multiplier = multiplier = Multiplier(left=self.width, right=self.width)
        width = self.accumulator_width
        m.d.comb += [multiplier.a.eq(self.a), multiplier.b.eq(self.b)]

        addend = Signal(signed(self.width), reset_less=True)
        start = Signal(width, reset_less=True)
        m.d.sync += addend.eq(self.addend)
        with m.Switch(self.shift):
            for index, shift in enumerate(self.shifts):
                word = start_word(addend, shift, self.half, self.invert, width)
                with m.Default() if index == len(self.shifts) - 1 else m.Case(index):
                    m.d.sync += start.eq(word)

        sum_ = Signal(signed(width), name="sum", reset_less=True)
        base = sum_.as_unsigned() & self.keep.replicate(width)
        if self.has_tree:
            base = base | (self.tree.as_unsigned() & self.tree_select.replicate(width))
        total = (base ^ start).as_signed() + multiplier.product
        if self.has_tree:
            total = total + self.tree_half
        m.d.sync += sum_.eq(total)
        m.d.comb += self.accumulator.eq(sum_)
        return m
