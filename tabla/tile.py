"""The Tile language: ``from tabla.tile import *``.

def matmul(A, B):
    I, J, K = TensorDims(3)
    i, j, k = TensorIndexes(3)
    A.bind_dims(I, K)
    B.bind_dims(K, J)
    C = TensorOutput(I, J)
    C[i, j] += A[i, k] * B[k, j]
    return C

``tabla gen file.py:matmul --shape A=4,8 --shape B=8,3`` or ``tabla.compile(matmul, shapes=dict(A=(4, 8), B=(8, 3)))``
makes an accelerator of it; ``docs/tile.md`` is the language.
"""

from tabla.languages.tile.builder import Contraction
from tabla.languages.tile.dimensions import TensorDim, TensorDims
from tabla.languages.tile.functions import (
    abs,
    acos,
    asin,
    atan,
    cast,
    ceil,
    cond,
    cos,
    cosh,
    erf,
    erfc,
    exp,
    floor,
    ident,
    index,
    log,
    max,
    min,
    pow,
    reshape,
    round,
    select,
    shape,
    sigmoid,
    sin,
    sinh,
    softplus,
    sqrt,
    tan,
    tanh,
)
from tabla.languages.tile.gradient import descend, gradient
from tabla.languages.tile.indices import TensorIndex, TensorIndexes
from tabla.languages.tile.moves import argsort, gather, scatter, topk
from tabla.languages.tile.prng import prng
from tabla.languages.tile.steps import update
from tabla.languages.tile.tensors import Tensor, TensorOutput

__all__ = [
    "Contraction",
    "Tensor",
    "TensorDim",
    "TensorDims",
    "TensorIndex",
    "TensorIndexes",
    "TensorOutput",
    "abs",
    "acos",
    "argsort",
    "asin",
    "atan",
    "cast",
    "ceil",
    "cond",
    "cos",
    "cosh",
    "descend",
    "erf",
    "erfc",
    "exp",
    "floor",
    "gather",
    "gradient",
    "ident",
    "index",
    "log",
    "max",
    "min",
    "pow",
    "prng",
    "reshape",
    "round",
    "scatter",
    "select",
    "shape",
    "sigmoid",
    "sin",
    "sinh",
    "softplus",
    "sqrt",
    "tan",
    "tanh",
    "topk",
    "update",
]
