"""The types that C++ functions of tensors name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Scalar = Literal["Tensor", "TensorDim", "TensorIndex", "auto", "whole", "real", "truth", "text", "nothing"]
"""What values of a type are."""

TYPES: Mapping[str, Scalar] = {
    "Tensor": "Tensor",
    "TensorDim": "TensorDim",
    "TensorIndex": "TensorIndex",
    "auto": "auto",
    **dict.fromkeys(
        ("int", "size_t", "unsigned", "long", "int8_t", "int16_t", "int32_t", "int64_t", "ssize_t", "ptrdiff_t"),
        "whole",
    ),
    **dict.fromkeys(("uint8_t", "uint16_t", "uint32_t", "uint64_t"), "whole"),
    "float": "real",
    "double": "real",
    "bool": "truth",
    "string": "text",
    "void": "nothing",
}
"""The names of types, without ``std::`` and ``plaidml::edsl::``."""

BITS: Mapping[str, tuple[int, int]] = {
    "int": (-(1 << 31), 1 << 31),
    "long": (-(1 << 63), 1 << 63),
    "ssize_t": (-(1 << 63), 1 << 63),
    "ptrdiff_t": (-(1 << 63), 1 << 63),
    "unsigned": (0, 1 << 32),
    "size_t": (0, 1 << 64),
    **{f"int{bits}_t": (-(1 << (bits - 1)), 1 << (bits - 1)) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}_t": (0, 1 << bits) for bits in (8, 16, 32, 64)},
}
"""The range of each type of whole numbers: its least one, and the first one above it."""
