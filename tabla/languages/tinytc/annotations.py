"""The types that a text writes beside its values. A value has one, and an instruction that takes another is refused.

The translation computes with real numbers of one kind, and with integers of any size, so it does not ask.
"""

from __future__ import annotations

from collections.abc import Sequence

from tabla.base.faults import Faults
from tabla.languages.tinytc.parser import ARITHMETIC, COMPARISONS, MATH, UNARY
from tabla.languages.tinytc.syntax import (
    INTEGERS,
    REALS,
    Function,
    Group,
    Instruction,
    Literal,
    Local,
    Memref,
    Operand,
    Scalar,
    Type,
)


def check_types(function: Function, faults: Faults) -> None:
    """Note each type of a function that is not the one of its values."""
    types = {parameter.name: parameter.type for parameter in function.parameters}
    _Check(types, faults).region(function.body, ())


class _Check:
    """The types of the names of a function. A name that is unknown here has been reported before."""

    def __init__(self, types: dict[str, Type], faults: Faults) -> None:
        self._types, self._faults = types, faults

    def region(self, body: Sequence[Instruction], yields: Sequence[Type]) -> None:
        """Check the instructions of a region, and that it yields values of types."""
        for instruction in body:
            self._operands(instruction, yields)
            inner = instruction.types if instruction.name in ("for", "if") else ()
            for local in instruction.bound:
                self._types[local.name] = Scalar(name="index", span=local.span)
            self._types |= {local.name: type for local, type in zip(instruction.bound[1:], inner, strict=False)}
            for part in instruction.regions:
                self.region(part, inner)
            compared = instruction.name in COMPARISONS
            given = [Scalar(name="bool", span=type.span) if compared else type for type in instruction.types]
            self._types |= {local.name: type for local, type in zip(instruction.results, given, strict=False)}

    def _operands(self, instruction: Instruction, yields: Sequence[Type]) -> None:
        """Check what an instruction takes against what it says, or against what its memref holds."""
        name, operands = instruction.name, instruction.operands
        if name == "yield":
            self._each(operands, yields)
        elif name == "for":
            self._each(instruction.begin, instruction.types)
        elif name == "store" and isinstance(held := self._type(operands[1]), Memref | Group):
            memref = held.memref if isinstance(held, Group) else held
            self._one(operands[0], Scalar(name=memref.element, span=memref.span))
        elif name == "size" and (type := instruction.types[0]) and _kind(type) != "integer":
            self._faults.add("a size is an integer", type.span, hint="write : index")
        elif name in COMPARISONS and _kind(instruction.types[0]) == "bool":
            self._one(operands[1], self._type(operands[0]))
        elif name in ARITHMETIC or name in COMPARISONS or (name in UNARY and name != "cast") or name in MATH:
            self._each(operands, [instruction.types[0]] * len(operands))

    def _each(self, operands: Sequence[Operand], types: Sequence[Type]) -> None:
        for operand, type in zip(operands, types, strict=False):
            self._one(operand, type)

    def _one(self, operand: Operand, wanted: Type | None) -> None:
        found = self._type(operand)
        if found is None or wanted is None or _kind(found) == _kind(wanted):
            return
        name = f"%{operand.name}" if isinstance(operand, Local) else "this"
        hint = f"write {_name(found)}, or a value of the type {_name(wanted)}"
        if _kind(found) != "bool" and _kind(wanted) in REALS:
            hint = f"write {_name(found)}, or convert it first: cast {name} : {_name(wanted)}"
        self._faults.add(f"'{name}' has the type {_name(found)}, and not {_name(wanted)}", operand.span, hint=hint)

    def _type(self, operand: Operand) -> Type | None:
        match operand:
            case Local(name=name):
                return self._types.get(name)
            case Literal(value=bool()):
                return Scalar(name="bool", span=operand.span)
            case Literal(value=int()):
                return Scalar(name="index", span=operand.span)
            case _:
                return None  # a real number has no type of its own


def _kind(type: Type) -> str:
    """Return what a type is called where integers are one type."""
    return "integer" if _name(type) in INTEGERS else _name(type)


def _name(type: Type) -> str:
    if isinstance(type, Scalar):
        return type.name
    return "memref" if isinstance(type, Memref) else "group"
