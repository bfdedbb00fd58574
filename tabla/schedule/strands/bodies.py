"""Bodies of strands: which word each operand of a lane or of the root is, and where it is read.

An operation multiplies operands `a` and `b`, and may begin with an addend, operand `c`. Each memory of a lane gives one
word a cycle, so the words of one operation must come from different memories, be the same word, or come over the bus.
If no assignment of operands to memories exists, :class:`Clash` names the tensors of which one needs a second bank.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tabla.graph.accesses import spread
from tabla.graph.graph import FLIPPED, Affine, Compare, CompareOp, Constant, Linear, Read, Statement, Term, is_stored
from tabla.schedule.mapping.fit import Fit
from tabla.schedule.mapping.mapping import static_tensors
from tabla.schedule.mapping.places import EVERY, ROOT, Place, Spot
from tabla.schedule.strands.layout import Key, Layout
from tabla.schedule.strands.loops import Lanes, Loop, address
from tabla.schedule.strands.strand import Address, Operation


class Clash(Exception):
    """Raised when words of one operation lie in one bank; `keys` are the places of which one needs a second bank."""

    def __init__(self, keys: Sequence[Key]) -> None:
        super().__init__(", ".join(f"{t} at {s}" for t, s in keys))
        self.keys = tuple(keys)


@dataclass(frozen=True, slots=True)
class Product:
    """The product ``sign * left * right``; a `right` of None stands for 1.

    A `gated` product joins a sum only once, in the first turn of the loops that accumulate.
    """

    sign: int
    left: Read
    right: Read | None
    gated: bool


def _product(term: Term, gated: bool) -> Product:
    reads = [f for f in term.factors if isinstance(f, Read)]
    assert reads and all(isinstance(f, Read | Constant) for f in term.factors)
    return Product(term.sign, reads[0], reads[1] if len(reads) == 2 else None, gated)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneContext:
    """All that decides how a lane reads an operand.

    `fit` and `lanes` say which index runs over lanes, `loops` are the loops of the strand, and `layout` has the place
    of each tensor.
    """

    layout: Layout
    fit: Fit
    lanes: Lanes
    loops: tuple[Loop, ...]
    bus: bool = True

    def spot(self, read: Read) -> Spot | None:
        """Return the spot where the lanes find a word; None if it comes over the bus."""
        if any(self.lanes.index.name in s.names for s in read.subscripts):
            found = spread(read.subscripts, self.lanes.index.name)
            assert found is not None
            return Spot("lane", found[0], self.fit.span)
        return None if read.tensor == self.fit.bus else EVERY

    def options(self, read: Read) -> list[tuple[str, Place | None]]:
        """Return the banks and places from which a word can be read; the bus counts as a bank."""
        spot = self.spot(read)
        return [("bus", None)] if spot is None else list(self.layout.sources(read.tensor, spot))

    def assign(self, operands: dict[str, Read]) -> tuple[dict[str, str], dict[str, Address]] | None:
        """Assign a bank to each operand such that no bank gives two words; None if there is no such assignment.

        `operands` has the word of each operand (`a`, `b`, `c`). The result has the bank of each operand and the address
        generator of each bank. Operand `a` cannot come over the bus.
        """
        names = list(operands)
        for choice in itertools.product(*(self.options(operands[n]) for n in names)):
            banks = {name: bank for name, (bank, _) in zip(names, choice, strict=True)}
            if banks.get("a") == "bus":
                continue
            # A bank gives one word, so two operands share it only if they are the same word.
            words: dict[str, tuple[str, tuple[Affine, ...], int]] = {}
            reads = [(operands[name], *chosen) for name, chosen in zip(names, choice, strict=True)]
            given = ((bank, (read.tensor, read.subscripts, id(place))) for read, bank, place in reads)
            if all(words.setdefault(bank, word) == word for bank, word in given):
                return banks, {
                    bank: address(place, read.subscripts, self.loops, self.lanes, window=bank == "data")
                    for read, bank, place in reads
                    if place is not None
                }
        return None

    def slot(self, product: Product | None, addend: Read | None) -> Operation | None:
        """Return the operation of a product and an addend, either of which may be missing; None if its words clash."""
        orders: list[dict[str, Read]] = [{}]
        if product is not None:
            orders = [{"a": product.left}]
            if product.right is not None:
                orders = [{"a": product.left, "b": product.right}, {"a": product.right, "b": product.left}]
        for order in orders:
            operands = {**order, **({"c": addend} if addend is not None else {})}
            if (found := self.assign(operands)) is None:
                continue
            fields: dict[str, str | int] = dict(found[0])
            fields.setdefault("a", "zero")
            if product is not None:
                fields["negate"] = int(product.sign < 0)
            return Operation(fields=fields, addresses={**found[1], **self.lanes.bounds(self.loops)})
        return None

    def joins_from_a_second_bank(self, product: Product, addend: Read) -> bool:
        """Say whether an addend that never changes could join a product if it lay in a second bank, too.

        It is loaded to both banks. What changes would have to be written to both, which costs more.
        """
        spot = self.spot(addend)
        if spot is None or addend.tensor not in static_tensors(self.layout.graph):
            return False
        wider = self.layout.widened(addend.tensor, spot)
        return wider is not None and replace(self, layout=wider).slot(product, addend) is not None

    def clash(self, *reads: Read | None) -> Clash:
        """Return the fault for words that one operation cannot read."""
        keys = [(self.layout.owner(r.tensor), spot) for r in reads if r is not None and (spot := self.spot(r))]
        return Clash(keys)


def lane_body(statement: Statement, context: LaneContext, *, shift: int, levels: int) -> tuple[Operation, ...]:
    """Return the body of a strand of the lanes: a whole statement, or, on its way up the tree, its summed terms.

    The `levels` innermost loops accumulate. `shift` is the position of the statement's shift in the table of shifts.
    Raises `Clash` if words of one operation lie in one bank.
    """
    tree = context.fit.way == "tree"
    match statement.operation:
        case Compare(op=op, left=Read() as left, right=Read() as right):
            return _comparison(context, op, left, right)
        case Linear(terms=terms):
            chosen = [t for t in terms if not tree or t.reduce]
            slots = _sum(context, chosen, levels)
        case _:
            raise AssertionError(f"statement {statement.id} cannot run in a lane")
    first = slots[0]
    base = "addend" if "c" in first.fields else "zero"
    slots[0] = first.with_fields(base=base, half=("array0" if statement.crosses else "lane0") if tree else "all")
    out = [slots[0], *(s.with_fields(base="accumulator") for s in slots[1:])]
    out[-1] = out[-1].with_fields(emit=int(not tree), up=int(tree))
    wide = {"wide": 1} if statement.operation.guard else {}
    shifted = tuple(o.with_fields(shift=shift, **wide) for o in out)
    return shifted if tree else tested(statement, shifted)


def tested(statement: Statement, slots: tuple[Operation, ...]) -> tuple[Operation, ...]:
    """Return the operations of a sum with the test of the statement, if it has one.

    The accumulator already holds the half unit for rounding, so its sign is that of the rounded sum.
    """
    assert isinstance(statement.operation, Linear)
    test = statement.operation.test
    return slots if test is None else (*slots[:-1], slots[-1].with_fields(post=test))


def lane_sum(
    context: LaneContext, terms: Sequence[Term], *, start: str, shift: int, levels: int
) -> tuple[Operation, ...]:
    """Return operations that sum terms in a lane; for no terms, one operation that adds nothing.

    With a `start` of ``fresh`` the sum begins with zero or with an addend; with ``accumulator`` it goes on with what
    the accumulator holds. Raises `Clash` if words of one operation lie in one bank.
    """
    slots = _sum(context, terms, levels)
    if not slots:
        idle = context.slot(None, None)
        assert idle is not None
        slots = [idle]
    base = "accumulator" if start != "fresh" else "addend" if "c" in slots[0].fields else "zero"
    first = slots[0].with_fields(base=base, half="all" if start == "fresh" else "none")
    out = [first, *(s.with_fields(base="accumulator") for s in slots[1:])]
    out[-1] = out[-1].with_fields(emit=1)
    return tuple(o.with_fields(shift=shift) for o in out)


def _sum(context: LaneContext, terms: Sequence[Term], levels: int) -> list[Operation]:
    addends = [t for t in terms if len(t.factors) == 1 and t.sign > 0 and not t.reduce]
    addends.sort(key=lambda t: isinstance(t.factors[0], Read) and context.spot(t.factors[0]) is not None)
    # Only an addend has the bits of a stored word.
    addend = next((t for t in addends if is_stored(t)), addends[0] if addends else None)
    word = addend.factors[0] if addend else None
    assert word is None or isinstance(word, Read)
    products = [_product(t, gated=bool(levels) and not t.reduce) for t in terms if t is not addend]
    # A product that joins every turn goes first, so that it shares an operation with the start value.
    products.sort(key=lambda p: p.gated)
    slots: list[Operation] = []
    if word is not None and products and not products[0].gated:
        joined = context.slot(products[0], word)
        if joined is not None:
            slots, products, word = [joined], products[1:], None
        elif levels and context.joins_from_a_second_bank(products[0], word):
            raise context.clash(word)
    if word is not None:
        alone = context.slot(None, word)
        assert alone is not None
        slots.append(alone)
    for product in products:
        slot = context.slot(product, None)
        if slot is None:
            raise context.clash(product.left, product.right)
        slots.append(slot.with_fields(gate=levels) if product.gated else slot)
    return slots


def _comparison(context: LaneContext, op: CompareOp, left: Read, right: Read) -> tuple[Operation, ...]:
    one: dict[str, str | int] = {"b": "one", "negate": 1, "base": "addend", "emit": 1}
    for symbol, c, a in ((op, left, right), (FLIPPED[op], right, left)):
        slot = context.slot(Product(-1, a, None, False), c)
        if slot is not None:
            return (slot.with_fields(**one, post=symbol),)
    for symbol, c, a in ((op, left, right), (FLIPPED[op], right, left)):
        start, minus = context.slot(None, c), context.slot(Product(-1, a, None, False), None)
        if start is not None and minus is not None:
            return (
                start.with_fields(base="addend"),
                minus.with_fields(base="accumulator", post=symbol, emit=1),
            )
    raise context.clash(left, right)


@dataclass(frozen=True, slots=True, kw_only=True)
class RootContext:
    """All that decides how the root reads an operand. Its memories have three read ports, so no words clash.

    `shown` is the tensor whose words the root's result register shows just in time, if there is one.
    """

    layout: Layout
    loops: tuple[Loop, ...]
    shown: str = ""

    def source(self, read: Read) -> tuple[str, Address]:
        """Return the root memory that holds a word, and the address generator that reads it."""
        place = self.layout.place(read.tensor, ROOT)
        bank = place.banks[0]
        return bank, address(place, read.subscripts, self.loops, window=bank == "data")

    def operation(self, operands: dict[str, Read], **fields: str | int) -> Operation:
        """Return the operation with these words as operands `a`, `b`, `c`; without them, `a` is 0 and `b` is 1."""
        chosen: dict[str, str | int] = {"a": "zero"}
        addresses = {}
        for name, read in operands.items():
            if read.tensor == self.shown:
                chosen[name] = "result"
            else:
                chosen[name], addresses[name] = self.source(read)
        return Operation(fields={**chosen, **fields}, addresses=addresses)


def root_sum(
    context: RootContext,
    terms: Sequence[Term],
    *,
    start: str,
    shift: int,
    levels: int,
    emit: bool = True,
    wide: bool = False,
) -> tuple[Operation, ...]:
    """Return operations that sum terms at the root, in the order given.

    With a `start` of ``fresh`` the sum begins with zero or with an addend. With ``tree`` it begins with the sum of the
    group's lanes, with ``array`` with that of all lanes, and with ``accumulator`` it goes on with what the accumulator
    holds. The `levels` innermost loops accumulate. `shift` is the position of the shift in the table of shifts. Without
    `emit`, the sum is not complete: other strands go on with it. A sum that is `wide` has guard bits.
    """
    addend = None
    if start == "fresh":
        plain = [t for t in terms if len(t.factors) == 1 and t.sign > 0 and not t.reduce]
        # The addend joins the first operation. If there is no other operation, this one waits for the latest word, and
        # an addend may come later than a factor: so the latest word becomes the addend. But only an addend has the bits
        # of a stored word.
        latest = plain[0 if len(terms) > 2 else -1] if plain else None
        addend = next((t for t in plain if is_stored(t)), latest)
    products = [_product(t, gated=bool(levels) and not t.reduce) for t in terms if t is not addend]
    products.sort(key=lambda p: p.gated)
    operands: list[dict[str, Read]] = []
    fields: list[dict[str, str | int]] = []
    for product in products:
        operands.append({"a": product.left, **({"b": product.right} if product.right is not None else {})})
        fields.append({"negate": int(product.sign < 0), "gate": levels if product.gated else 0})
    if not operands or fields[0]["gate"]:
        # No product joins the first operation in every turn, so the start value has an operation of its own.
        operands.insert(0, {})
        fields.insert(0, {})
    if addend is not None:
        assert isinstance(addend.factors[0], Read)
        operands[0]["c"] = addend.factors[0]
    base = start if start != "fresh" else "addend" if addend is not None else "zero"
    half = "all" if start == "fresh" else "none"
    more = {"wide": 1} if wide else {}
    slots = [
        context.operation(each, **f, shift=shift, base="accumulator", **more)
        for each, f in zip(operands, fields, strict=True)
    ]
    slots[0] = slots[0].with_fields(base=base, half=half)
    slots[-1] = slots[-1].with_fields(emit=int(emit))
    return tuple(slots)
