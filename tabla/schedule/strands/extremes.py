"""Bodies of extremes: each operation compares one word with the accumulator, and the accumulator keeps one of the two.

Depending on the statement, the larger or the smaller word is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tabla.graph.graph import Extreme, Operand, Read
from tabla.schedule.strands.bodies import LaneContext, Product, RootContext
from tabla.schedule.strands.strand import Operation


def _with_start(operation: Extreme) -> Extreme:
    """Return an extreme with a start value, if one of its words can be it: the start value needs no operation.

    If the extreme runs over indices, every word is compared in every turn, so none can be the start value.
    """
    if operation.initial is None and not operation.reduce and len(operation.operands) > 1:
        return replace(operation, initial=operation.operands[0], operands=operation.operands[1:])
    return operation


def _read(operand: Operand) -> Read:
    assert isinstance(operand, Read)
    return operand


def lane_extreme(operation: Extreme, context: LaneContext) -> list[Operation]:
    """Return the body of a strand of the lanes. Raises `Clash` if words of one operation lie in one bank."""
    tree = context.fit.way == "tree"
    if tree:
        operation = replace(operation, initial=None)
    elif operation.initial is None and not operation.reduce:
        # A word that comes over the bus can only be the start value, so it goes first.
        local = [operand for operand in operation.operands if context.spot(_read(operand)) is not None]
        operation = replace(operation, operands=(*(o for o in operation.operands if o not in local), *local))
    operation = _with_start(operation)
    first = None if operation.initial is None else _read(operation.initial)
    slots = _lane_slots([_read(operand) for operand in operation.operands], first, context)
    out = _compared(operation, slots, "addend" if "c" in slots[0].fields else "zero")
    return [*out[:-1], out[-1].with_fields(up=int(tree))]


def _lane_slots(reads: Sequence[Read], first: Read | None, context: LaneContext) -> list[Operation]:
    """Return an operation for each word, and at least one; the start value `first` joins the first one if it can."""
    words = [Product(1, read, None, False) for read in reads]
    slots: list[Operation] = []
    if first is not None and words and (joined := context.slot(words[0], first)) is not None:
        slots, words, first = [joined], words[1:], None
    if first is not None or not (slots or words):
        alone = context.slot(None, first)
        assert alone is not None
        slots.append(alone)
    for word in words:
        slot = context.slot(word, None)
        if slot is None:
            raise context.clash(word.left)
        slots.append(slot)
    return slots


def root_extreme(operation: Extreme, context: RootContext, *, tree: bool = False) -> tuple[Operation, ...]:
    """Return the body of a strand of the root; with `tree`, the start value joins the word that the tree gives."""
    if tree:
        words = () if operation.initial is None else (operation.initial,)
        slots = [context.operation({"a": _read(word)}) for word in words] or [context.operation({})]
        return tuple(_compared(operation, slots, "tree"))
    operation = _with_start(operation)
    operands = [{"a": _read(operand)} for operand in operation.operands]
    if operation.initial is not None:
        operands[0]["c"] = _read(operation.initial)
    slots = [context.operation(each) for each in operands]
    return tuple(_compared(operation, slots, "zero" if operation.initial is None else "addend"))


def scan_extreme(
    operation: Extreme, words: Sequence[Operand], context: LaneContext | RootContext, *, fresh: bool
) -> tuple[Operation, ...]:
    """Return operations of a scan that compare words with what the accumulator holds.

    With `fresh` the first of them begins with the statement's initial word instead. For no words there is one operation
    that compares nothing. Raises `Clash` if words of one operation lie in one bank.
    """
    first = None if operation.initial is None or not fresh else _read(operation.initial)
    reads = [_read(word) for word in words]
    if isinstance(context, RootContext):
        operands = [{"a": read} for read in reads] or [{}]
        if first is not None:
            operands[0]["c"] = first
        slots = [context.operation(each) for each in operands]
    else:
        slots = _lane_slots(reads, first, context)
    return tuple(_compared(operation, slots, "accumulator" if not fresh else "zero" if first is None else "addend"))


def _compared(operation: Extreme, slots: list[Operation], base: str) -> list[Operation]:
    """Return operations as comparisons; the first begins with `base`, the others with the accumulator."""
    fields: dict[str, str | int] = {"post": "extreme", "negate": int(operation.op == "min")}
    return [slot.with_fields(**fields, base="accumulator" if n else base) for n, slot in enumerate(slots)]
