"""The scalar types of Tensor Comprehensions and how they combine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Class = Literal["bool", "unsigned", "signed", "float"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """The type of one element: its class and its number of bits."""

    kind: Class
    bits: int

    @property
    def integral(self) -> bool:
        """Whether its values are integers. A boolean is none."""
        return self.kind in ("signed", "unsigned")

    @property
    def least(self) -> int:
        """The smallest integer that the type holds. It exists for integers only."""
        return -(1 << (self.bits - 1)) if self.kind == "signed" else 0

    @property
    def greatest(self) -> int:
        """The largest integer that the type holds. It exists for integers only."""
        return (1 << (self.bits - (self.kind == "signed"))) - 1

    def __str__(self) -> str:
        match self.kind:
            case "bool":
                return "bool"
            case "unsigned":
                return f"uint{self.bits}"
            case "signed":
                return f"int{self.bits}"
            case "float":
                return f"float{self.bits}"


BOOL = Scalar(kind="bool", bits=1)
INT32 = Scalar(kind="signed", bits=32)
FLOAT32 = Scalar(kind="float", bits=32)
_BYTE = Scalar(kind="unsigned", bits=8)

SCALARS: dict[str, Scalar] = {
    "bool": BOOL,
    **{f"uint{bits}": Scalar(kind="unsigned", bits=bits) for bits in (8, 16, 32, 64)},
    **{f"int{bits}": Scalar(kind="signed", bits=bits) for bits in (8, 16, 32, 64)},
    **{f"float{bits}": Scalar(kind="float", bits=bits) for bits in (16, 32, 64)},
    "float": FLOAT32,
    "double": Scalar(kind="float", bits=64),
    "half": Scalar(kind="float", bits=16),
    "byte": _BYTE,
}


def promote(one: Scalar, other: Scalar) -> Scalar:
    """Return the type that holds both: a float before an integer, else the wider one, signed when one of them is."""
    if one.kind == "bool" or other.kind == "bool":
        return other if one.kind == "bool" else one
    if "float" in (one.kind, other.kind) and one.kind != other.kind:
        return one if one.kind == "float" else other
    kind: Class = one.kind if one.kind == other.kind else "signed"
    return Scalar(kind=kind, bits=max(one.bits, other.bits))


def arithmetic(one: Scalar, other: Scalar) -> Scalar:
    """Return the type of a sum: that of `promote`, except that two booleans make an int32."""
    both = promote(one, other)
    return INT32 if both == BOOL else both
