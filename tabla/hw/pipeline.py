"""The idioms of all datapaths here: registers in a row, registers for one user, and one-hot multiplexers without
priority.
"""

from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import Any

from amaranth.hdl import Cat, Const, Module, Signal


def delayed(m: Module, value: Any, cycles: int, *, name: str, clear: Any = None) -> Any:
    """Return `value` as it stood `cycles` ago.

    Without `clear` the registers have no reset, because only valid data is looked at. With `clear` they become 0 in the
    cycle after it is high.
    """
    for stage in range(1, cycles + 1):
        register = Signal(
            value.shape(), name=f"{name}_{stage}" if cycles > 1 else f"{name}_next", reset_less=clear is None
        )
        m.d.sync += register.eq(value)
        if clear is not None:
            with m.If(clear):
                m.d.sync += register.eq(0)
        value = register
    return value


def kept(m: Module, value: Any, *, name: str, reset: bool = False) -> Any:
    """Return `value` as it stood a cycle ago, in a register that synthesis merges with no other, so that it stays near
    its users.
    """
    register = Signal(value.shape(), name=name, reset_less=not reset, attrs={"keep": 1})
    m.d.sync += register.eq(value)
    return register


def selected(choices: Iterable[tuple[Any, Any]], width: int) -> Any:
    """Return the OR of the words whose one-hot select bit is high, or 0 when none is. It is narrower than a priority
    multiplexer.
    """
    masked = [word & select.replicate(width) for word, select in choices]
    return reduce(or_, masked) if masked else Const(0, width)


def bits_for(count: int) -> int:
    """Return the bits of an index into `count` places. There is at least one bit, so that every address has a port."""
    return max(1, (count - 1).bit_length())


def padded(value: Any, width: int) -> Any:
    """Return the low `width` bits of `value`, with zeros above."""
    return value[:width] if len(value) >= width else Cat(value, Const(0, width - len(value)))


def above(word: Any, zeros: int) -> Any:
    """Return a word with so many zeros below it."""
    return Cat(Const(0, zeros), word) if zeros else word


def reaches(bound: Any, lane: Any) -> Any:
    """Return ``bound <= lane`` for a signed bound and a lane number: a rank or two of logic once the lane number is
    known.

    It is written bit by bit, because synthesis makes a chain of carries of every comparison, even with a constant.
    Either operand may be the wider one: bounds reach as far as the elements of an axis.
    """
    below: Any = Const(1, 1)
    for place in range(len(bound) - 1):
        here, wanted = lane[place] if place < len(lane) else Const(0, 1), bound[place]
        below = (here & ~wanted) | (~(here ^ wanted) & below)
    return bound[-1] | lane[len(bound) - 1 :].any() | below
