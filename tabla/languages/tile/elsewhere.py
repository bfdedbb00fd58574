"""Names that Tile programs written for PlaidML use: types of elements, and two that have no meaning here."""

from __future__ import annotations

from typing import NoReturn

from tabla.languages.tile.places import refuse


class DType:
    """The types of elements as PlaidML calls them, for `cast`: ``cast(A, DType.INT8)``."""

    BOOLEAN = "boolean"
    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    UINT8 = "uint8"
    UINT16 = "uint16"
    UINT32 = "uint32"
    UINT64 = "uint64"
    FLOAT16 = "float16"
    FLOAT32 = "float32"
    FLOAT64 = "float64"


def Placeholder(*arguments: object, **options: object) -> NoReturn:
    """Raise `TablaError`: tensors without values are the parameters of the function."""
    refuse(
        "Placeholder makes no tensor here: the tensors of a program are the parameters of its function",
        "write def layer(I): ..., and give the shape by --shape I=2,3",
    )


def TensorLens(*arguments: object, **options: object) -> NoReturn:
    """Raise `TablaError`: subscripts say the order of axes."""
    refuse(
        "TensorLens gives no other order of axes here: subscripts say it",
        "write the subscripts in the order that the tensor has: I[c, y, x]",
    )
