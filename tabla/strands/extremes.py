"""Bodies of the largest and the smallest word: each operation compares one word with the accumulator and keeps one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tabla.ir.graph import Extreme, Operand, Read
from tabla.strands.bodies import LaneContext, Product, RootContext
from tabla.strands.strand import Operation


def _kept(operation: Extreme) -> Extreme:
    """Of words of which none is reduced, one is the start value: it costs no slot of its own."""
    if operation.initial is None and not operation.reduce and len(operation.operands) > 1:
        return replace(operation, initial=operation.operands[0], operands=operation.operands[1:])
    return operation


def _read(operand: Operand) -> Read:
    assert isinstance(operand, Read)
    return operand


def lane_extreme(operation: Extreme, context: LaneContext) -> list[Operation]:
    """Operations of a lane strand. Raises `Clash`."""
    tree = context.fit.way == "tree"
    if tree:
        operation = replace(operation, initial=None)
    elif operation.initial is None and not operation.reduce:
        # What comes over the bus can only be the start value.
        local = [operand for operand in operation.operands if context.spot(_read(operand)) is not None]
        operation = replace(operation, operands=(*(o for o in operation.operands if o not in local), *local))
    operation = _kept(operation)
    first = None if operation.initial is None else _read(operation.initial)
    slots = _lane_slots([_read(operand) for operand in operation.operands], first, context)
    out = _compared(operation, slots, "addend" if "c" in slots[0].fields else "zero")
    return [*out[:-1], out[-1].with_fields(up=int(tree))]


def _lane_slots(reads: Sequence[Read], first: Read | None, context: LaneContext) -> list[Operation]:
    """A slot for each word, the start value `first` in the first of them if it can be; at least one slot."""
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
    """Operations of a root strand; with `tree` only what joins the word that the tree has combined."""
    if tree:
        words = () if operation.initial is None else (operation.initial,)
        slots = [context.operation({"a": _read(word)}) for word in words] or [context.operation({})]
        return tuple(_compared(operation, slots, "tree"))
    operation = _kept(operation)
    ports = [{"a": _read(operand)} for operand in operation.operands]
    if operation.initial is not None:
        ports[0]["c"] = _read(operation.initial)
    slots = [context.operation(port) for port in ports]
    return tuple(_compared(operation, slots, "zero" if operation.initial is None else "addend"))


def scan_extreme(
    operation: Extreme, words: Sequence[Operand], context: LaneContext | RootContext, *, fresh: bool
) -> tuple[Operation, ...]:
    """Operations that compare the words with what the accumulator holds, or, `fresh`, with the initial word.

    Of no words, one operation that compares nothing. Raises `Clash`.
    """
    first = None if operation.initial is None or not fresh else _read(operation.initial)
    reads = [_read(word) for word in words]
    if isinstance(context, RootContext):
        ports = [{"a": read} for read in reads] or [{}]
        if first is not None:
            ports[0]["c"] = first
        slots = [context.operation(port) for port in ports]
    else:
        slots = _lane_slots(reads, first, context)
    return tuple(_compared(operation, slots, "accumulator" if not fresh else "zero" if first is None else "addend"))


def _compared(operation: Extreme, slots: list[Operation], base: str) -> list[Operation]:
    """The slots as comparisons, the first from `base` on."""
    fields: dict[str, str | int] = {"post": "extreme", "negate": int(operation.op == "min")}
    return [slot.with_fields(**fields, base="accumulator" if n else base) for n, slot in enumerate(slots)]
