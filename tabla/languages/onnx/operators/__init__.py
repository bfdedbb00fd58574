"""The operators that are there, by domain and name."""

from tabla.languages.onnx.operators import (
    distributions,
    elementwise,
    layers,
    machine_learning,
    moves,
    parts,
    reductions,
    windows,
)
from tabla.languages.onnx.operators.registry import Table

OPERATORS: Table = {
    **elementwise.TABLE,
    **layers.TABLE,
    **windows.TABLE,
    **reductions.TABLE,
    **distributions.TABLE,
    **moves.TABLE,
    **parts.TABLE,
    **machine_learning.TABLE,
}
