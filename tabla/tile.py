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

from tabla.languages.tile.edsl import *  # noqa: F403  every name of `__all__`, which stands in one place
from tabla.languages.tile.edsl import __all__ as __all__
