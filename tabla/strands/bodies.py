"""Bodies of strands: which operand enters by which port of a lane or of the root.

A lane memory gives one word a cycle, so the words of one operation come from different banks, or are the same
word, or come over the bus (DESIGN section 3). When no assignment exists, :class:`Clash` names the tensors of
which one needs a second bank.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from tabla.ir.graph import FLIPPED, Affine, Compare, CompareOp, Constant, Linear, Read, Statement, Term
from tabla.mapping.fit import Fit, spread
from tabla.mapping.places import EVERY, ROOT, Place, Spot
from tabla.strands.layout import Key, Layout
from tabla.strands.loops import Lanes, Loop, address
from tabla.strands.strand import Address, Operation


class Clash(Exception):
    """Words of one operation lie in one bank; `keys` are the places of which one must be doubled."""

    def __init__(self, keys: Sequence[Key]) -> None:
        super().__init__(", ".join(f"{t} at {s}" for t, s in keys))
        self.keys = tuple(keys)


@dataclass(frozen=True, slots=True)
class Product:
    """``sign * left * right``; `right` None stands for 1; `gated` products join only the first iteration."""

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
    """All that decides how a lane reads an operand."""

    layout: Layout
    fit: Fit
    lanes: Lanes
    loops: tuple[Loop, ...]
    bus: bool = True

    def spot(self, read: Read) -> Spot | None:
        """Where the lanes find it; None: on the bus."""
        if any(self.lanes.index.name in s.names for s in read.subscripts):
            found = spread(read.subscripts, self.lanes.index.name)
            assert found is not None
            return Spot("lane", found[0], self.fit.span)
        return None if read.tensor == self.fit.bus else EVERY

    def options(self, read: Read) -> list[tuple[str, Place | None]]:
        """Banks and places from which it can be read."""
        spot = self.spot(read)
        return [("bus", None)] if spot is None else list(self.layout.sources(read.tensor, spot))

    def assign(self, ports: dict[str, Read]) -> tuple[dict[str, str], dict[str, Address]] | None:
        """A bank for every port such that no bank gives two words; None if there is none."""
        names = list(ports)
        for choice in itertools.product(*(self.options(ports[n]) for n in names)):
            if any(n == "a" and bank == "bus" for n, (bank, _) in zip(names, choice, strict=True)):
                continue
            used: dict[str, tuple[str, tuple[Affine, ...], int]] = {}
            addresses: dict[str, Address] = {}
            fine = True
            for name, (bank, place) in zip(names, choice, strict=True):
                read = ports[name]
                word = (read.tensor, read.subscripts, id(place))
                fine &= used.setdefault(bank, word) == word
                if place is not None:
                    addresses[bank] = address(place, read.subscripts, self.loops, self.lanes, window=bank == "data")
            if fine:
                return {n: bank for n, (bank, _) in zip(names, choice, strict=True)}, addresses
        return None

    def slot(self, product: Product | None, addend: Read | None) -> Operation | None:
        """One operation, or None if its words clash."""
        orders: list[dict[str, Read]] = [{}]
        if product is not None:
            orders = [{"a": product.left}]
            if product.right is not None:
                orders = [{"a": product.left, "b": product.right}, {"a": product.right, "b": product.left}]
        for order in orders:
            ports = {**order, **({"c": addend} if addend is not None else {})}
            if (found := self.assign(ports)) is None:
                continue
            fields: dict[str, str | int] = dict(found[0])
            fields.setdefault("a", "zero")
            if product is not None:
                fields["negate"] = int(product.sign < 0)
            return Operation(fields=fields, addresses={**found[1], **self.lanes.bounds(self.loops)})
        return None

    def clash(self, *reads: Read | None) -> Clash:
        """The fault for operands that do not fit together."""
        keys = [(self.layout.owner(r.tensor), spot) for r in reads if r is not None and (spot := self.spot(r))]
        return Clash(keys)


def lane_body(statement: Statement, context: LaneContext, *, shift: int, levels: int) -> tuple[Operation, ...]:
    """Operations of a lane strand: a whole statement (`lane`), or the summed terms of one (`tree`).

    `levels` innermost loops accumulate; `shift` is the index of the shift. Raises `Clash`.
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
    shifted = tuple(o.with_fields(shift=shift) for o in out)
    return shifted if tree else tested(statement, shifted)


def tested(statement: Statement, slots: tuple[Operation, ...]) -> tuple[Operation, ...]:
    """The slots of a sum with its test, if it has one: half a unit is in the accumulator, so its sign is right."""
    assert isinstance(statement.operation, Linear)
    test = statement.operation.test
    return slots if test is None else (*slots[:-1], slots[-1].with_fields(post=test))


def lane_sum(
    context: LaneContext, terms: Sequence[Term], *, start: str, shift: int, levels: int
) -> tuple[Operation, ...]:
    """Operations that sum terms in a lane. `start`: `fresh` (zero or an addend), or `accumulator` (goes on); of no
    terms, one operation that adds nothing. Raises `Clash`."""
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
    addend = addends[0] if addends else None
    word = addend.factors[0] if addend else None
    assert word is None or isinstance(word, Read)
    products = [_product(t, gated=bool(levels) and not t.reduce) for t in terms if t is not addend]
    # A product that joins every iteration goes first: the start value and it share a slot.
    products.sort(key=lambda p: p.gated)
    slots: list[Operation] = []
    if word is not None and products and not products[0].gated:
        joined = context.slot(products[0], word)
        if joined is not None:
            slots, products, word = [joined], products[1:], None
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
    """All that decides how the root reads an operand: three ports, any word each.

    `shown`: the tensor whose words its result register shows just in time.
    """

    layout: Layout
    loops: tuple[Loop, ...]
    shown: str = ""

    def source(self, read: Read) -> tuple[str, Address]:
        """Memory and address of a read."""
        place = self.layout.place(read.tensor, ROOT)
        bank = place.banks[0]
        return bank, address(place, read.subscripts, self.loops, window=bank == "data")

    def operation(self, ports: dict[str, Read], **fields: str | int) -> Operation:
        """One operation; ports not named: a = zero, b = one."""
        chosen: dict[str, str | int] = {"a": "zero"}
        addresses = {}
        for name, read in ports.items():
            if read.tensor == self.shown:
                chosen[name] = "result"
            else:
                chosen[name], addresses[name] = self.source(read)
        return Operation(fields={**chosen, **fields}, addresses=addresses)


def root_sum(
    context: RootContext, terms: Sequence[Term], *, start: str, shift: int, levels: int, emit: bool = True
) -> tuple[Operation, ...]:
    """Operations that sum terms, the early ones first, at the root.

    `start`: `fresh` (zero or an addend), `tree`, `array`, or `accumulator` (goes on).
    """
    addend = None
    if start == "fresh":
        plain = [t for t in terms if len(t.factors) == 1 and t.sign > 0 and not t.reduce]
        # The first slot begins with it: alone, that slot waits for the latest word, an addend less than a factor.
        addend = plain[0 if len(terms) > 2 else -1] if plain else None
    products = [_product(t, gated=bool(levels) and not t.reduce) for t in terms if t is not addend]
    products.sort(key=lambda p: p.gated)
    ports: list[dict[str, Read]] = []
    fields: list[dict[str, str | int]] = []
    for product in products:
        ports.append({"a": product.left, **({"b": product.right} if product.right is not None else {})})
        fields.append({"negate": int(product.sign < 0), "gate": levels if product.gated else 0})
    if not ports or fields[0]["gate"]:
        # Nothing joins the first slot in every iteration: the start value has a slot of its own.
        ports.insert(0, {})
        fields.insert(0, {})
    if addend is not None:
        assert isinstance(addend.factors[0], Read)
        ports[0]["c"] = addend.factors[0]
    base = start if start != "fresh" else "addend" if addend is not None else "zero"
    half = "all" if start == "fresh" else "none"
    slots = [context.operation(p, **f, shift=shift, base="accumulator") for p, f in zip(ports, fields, strict=True)]
    slots[0] = slots[0].with_fields(base=base, half=half)
    slots[-1] = slots[-1].with_fields(emit=int(emit))
    return tuple(slots)
