"""How an operator of a netlist is written in Verilog.

The widths and signs of Verilog's expressions depend on what stands around them. So that a text means the same wherever
it stands, every operand here is first made as wide as its operator, and is unsigned; signs are only looked at inside
one operator that stands alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tabla.hw.netlist import Cell, Spec, constant, part_of, replaced, width_of

_BINARY = {
    **{"$and": "&", "$or": "|", "$xor": "^", "$add": "+", "$sub": "-", "$mul": "*"},
    **{"$eq": "==", "$ne": "!=", "$lt": "<", "$gt": ">", "$le": "<=", "$ge": ">="},
    **{"$shl": "<<", "$shr": ">>", "$sshr": ">>>", "$shift": ">>"},
}
_UNARY = {"$not": "~", "$neg": "-", "$reduce_or": "|", "$reduce_bool": "|", "$reduce_and": "&", "$reduce_xor": "^"}
_COMPARES = ("$eq", "$ne", "$lt", "$gt", "$le", "$ge")
_MEANINGS = {
    **{"$and": "and", "$or": "or", "$xor": "xor", "$add": "sum", "$sub": "difference", "$mul": "product"},
    **{"$eq": "equal", "$ne": "unequal", "$lt": "below", "$gt": "above", "$le": "not_above", "$ge": "not_below"},
    **{
        "$shl": "shifted",
        "$shr": "shifted",
        "$sshr": "shifted",
        "$shift": "shifted",
        "$not": "inverse",
        "$neg": "negative",
    },
    **{"$reduce_or": "any", "$reduce_bool": "any", "$reduce_and": "all", "$reduce_xor": "parity", "$mux": "choice"},
}
OPERATORS = frozenset(_MEANINGS)


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator and its operands, each as wide as it is written.

    `symbol` is the operator, ``?`` for a choice between two words, or empty for bits that are only put together. With
    `alone` the text depends on the signs of the operands, so it must not become part of a longer one. `meaning` ends
    the name of a wire that has no name of its own.
    """

    symbol: str
    operands: tuple[Spec, ...]
    meaning: str
    alone: bool = False
    signed: bool = False

    def text(self, operands: list[str]) -> str:
        """Return the operation in Verilog with its operands in Verilog."""
        if self.signed:
            # The distance of a shift has no sign.
            signs = 1 if self.symbol == ">>>" else 2
            operands = [f"$signed({text})" if place < signs else text for place, text in enumerate(operands)]
        match operands:
            case [only]:
                return self.symbol + only
            case [left, right]:
                return f"{left} {self.symbol} {right}"
            case [condition, then, otherwise]:
                return f"{condition} ? {then} : {otherwise}"
        raise ValueError(f"{len(operands)} operands of {self.symbol!r}")


def extended(spec: Spec, width: int, signed: bool) -> Spec:
    """Return the low `width` bits of `spec`, with zeros above, or with its sign."""
    missing = width - width_of(spec)
    if missing <= 0:
        return part_of(spec, 0, width)
    if signed and spec:
        return part_of(spec, width_of(spec) - 1, 1) * missing + spec
    return replaced((*constant("0" * missing), *spec), {})


def wired(spec: Spec) -> Operation:
    """Return bits that are only put together."""
    return Operation("", (spec,), "bits")


def choice(condition: Spec, then: Spec, otherwise: Spec) -> Operation:
    """Return `then` where the one bit `condition` is 1, else `otherwise`."""
    if then == otherwise:
        return wired(then)
    if then == constant("1") and otherwise == constant("0"):
        return wired(condition)
    if then == constant("0") and otherwise == constant("1"):
        return Operation("~", (condition,), "inverse")
    return Operation("?", (condition, then, otherwise), "choice")


def equal(value: Spec, pattern: str) -> Operation:
    """Return whether `value` is the constant `pattern`."""
    return Operation("==", (value, constant(pattern)), "is_" + str(int(pattern, 2)))


def _shorter(symbol: str, left: Spec, right: Spec) -> Operation | None:
    """Return what is left of an operator if one operand is a constant that needs no operator."""
    for word, other in ((left, right), (right, left)):
        bits = {bit for part in word for bit in part.constant or "-"}
        if (symbol == "&" and bits == {"1"}) or (symbol in "|^+" and bits == {"0"}):
            return wired(other)
        if (symbol == "&" and bits == {"0"}) or (symbol == "|" and bits == {"1"}):
            return wired(word)
    return None


def widest(cell: Cell) -> int:
    """Return the bits in which an operator has to be computed: a shift to the right takes those of its operand."""
    if cell.kind == "$mux":
        return width_of(cell.ports["A"])
    width = cell.number("Y_WIDTH")
    return max(width, width_of(cell.ports["A"])) if cell.kind in ("$shift", "$shr", "$sshr") else width


def operation(cell: Cell) -> Operation:
    """Return what a cell of ``OPERATORS`` computes, in ``widest`` bits. An unknown operator is a `ValueError`."""
    kind, ports = cell.kind, cell.ports
    meaning = _MEANINGS.get(kind, "")
    if kind == "$mux":
        return choice(ports["S"], ports["B"], ports["A"])
    width = widest(cell)
    signed = bool(cell.number("A_SIGNED"))
    if kind in ("$not", "$neg"):
        return Operation(_UNARY[kind], (extended(ports["A"], width, signed),), meaning)
    if kind in _UNARY and width == 1:
        if not ports["A"]:
            return wired(constant("1" if kind == "$reduce_and" else "0"))
        return wired(ports["A"]) if width_of(ports["A"]) == 1 else Operation(_UNARY[kind], (ports["A"],), meaning)
    if kind in _COMPARES and width == 1:
        common = max(1, width_of(ports["A"]), width_of(ports["B"]))
        operands = tuple(extended(ports[port], common, signed) for port in "AB")
        return Operation(_BINARY[kind], operands, meaning, signed=signed and kind not in ("$eq", "$ne"))
    if kind == "$mul":
        operands = (ports["A"] or constant("0"), ports["B"] or constant("0"))
        return Operation("*", operands, meaning, alone=True, signed=signed)
    if kind in ("$shl", "$shr", "$sshr", "$shift"):
        operands = (extended(ports["A"], width, signed), ports["B"] or constant("0"))
        return Operation(_BINARY[kind], operands, meaning, alone=True, signed=kind == "$sshr")
    if kind in ("$and", "$or", "$xor", "$add", "$sub"):
        left, right = (extended(ports[port], width, signed) for port in "AB")
        return _shorter(_BINARY[kind], left, right) or Operation(_BINARY[kind], (left, right), meaning)
    raise ValueError(f"the Verilog writer does not know {kind} of {width} bits")


def merged(logic: Mapping[str, Operation], widths: Mapping[str, int]) -> tuple[dict[str, Operation], dict[str, str]]:
    """Return operations without those that nobody named and that compute what another one does; and which does.

    `widths` are the bits of each wire. They belong to what is computed: the operands of a product are not made as wide
    as its wire, so one text may stand for a product and for the low bits of it.
    """
    same: dict[str, str] = {}
    found: dict[str, Operation] = {}
    first: dict[tuple[Operation, int], str] = {}
    for wire, one in logic.items():
        made = replace(one, operands=tuple(replaced(spec, same) for spec in one.operands)) if same else one
        if wire.startswith("$") and made.symbol:
            other = first.setdefault((replace(made, meaning=""), widths[wire]), wire)
            if other != wire:
                same[wire] = other
                continue
        found[wire] = made
    if same:
        # An operation may stand before another one that it needs.
        found = {
            wire: replace(one, operands=tuple(replaced(spec, same) for spec in one.operands))
            for wire, one in found.items()
        }
    return found, same
