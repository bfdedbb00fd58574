"""The graph's meaning in reals is the kernel's, on the table of formulas.

The kernel says what a program means; the graph's evaluator in float64 says what its graph means, and serves the choice
of formats and the reference beside a training. A function that the lowering makes of others must be the same function.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from tabla.base.source import Source
from tabla.graph.composed_functions import COMPOSED_FUNCTIONS
from tabla.graph.format import Format
from tabla.languages.kernel.evaluate import evaluate
from tabla.languages.kernel.lower import lower
from tabla.languages.kernel.parser import parse as parse_kernel
from tabla.languages.kernel.signatures import SIGNATURES
from tabla.languages.kernel.tree import Kernel
from tabla.languages.tabla import parse
from tabla.languages.tabla.kernel import kernel_of
from tests.graph.runs import evaluate_float
from tests.languages.kernel.formulas import Formula
from tests.languages.kernel.test_table_of_formulas import TWICE, formulas

Reals = NDArray[np.float64]
WIDE = Format.parse("q12.20")
"""The format holds every constant of the table; the numbers below are no words of it."""
IN_TABLA = [formula for formula in [*formulas(), *TWICE] if "tabla" in formula.notations]


def numbers() -> dict[str, Reals]:
    """Pairs of numbers of every sign and magnitude, equal ones among them."""
    chance = np.random.default_rng(49)
    drawn = chance.normal(size=6) * 10.0 ** chance.integers(-3, 2, 6)
    some = np.array([0.0, 0.5, -0.5, 1.0, -1.0, 2.75, -7.5, *drawn])
    every = np.array(list(product(some, some)))
    return {"a": every[:, 0], "b": every[:, 1]}


def compare(kernel: Kernel, given: dict[str, Reals], result: str) -> None:
    """Assert that kernel and graph have the same reals, wherever the kernel's is a number."""
    graph = lower(kernel, number_format=WIDE, results=[result])
    read = {name: given[name] for name, tensor in graph.tensors.items() if tensor.role == "input"}
    found = evaluate_float(graph, read).values[graph.results[0][1]]
    wanted = evaluate(kernel, given)[result]
    # Where the kernel has no value, such as at a division by 0, the graph need not have one.
    here = np.isfinite(wanted)
    assert here.any()
    off = np.abs(found[here] - wanted[here]) / np.maximum(1, np.abs(wanted[here]))
    assert off.max() <= 1e-12


@pytest.mark.parametrize("formula", IN_TABLA, ids=str)
def test_a_formula_of_the_table(formula: Formula) -> None:
    given = numbers()
    count = given["a"].size
    heads = " ".join(f"model_input {name}[{count}];" for name in sorted(formula.names()))
    text = f"{heads} iterator i[0:{count}]; y[i] = {formula.text('tabla', '[i]')};"
    compare(kernel_of(parse(Source.from_text(text))), given, "y")


BY_SIGNATURE = [name for name, signature in SIGNATURES.items() if signature.rule == "reals"]
ROUNDING = {name for name, function in COMPOSED_FUNCTIONS.items() if function.rounds}
"""The functions whose operations give whole numbers only where words are rounded."""


@pytest.mark.parametrize("name", [name for name in BY_SIGNATURE if name not in ROUNDING])
def test_a_function_of_the_kernel(name: str) -> None:
    """The functions that TABLA does not name are among them. A power by a value is that of a number above 0."""
    given = numbers()
    if name == "power":
        given = {other: array[given["a"] > 0] for other, array in given.items()}
    count, arguments = given["a"].size, "a[i], b[i]" if SIGNATURES[name].arity == 2 else "a[i]"
    tensors = f"input a[{count}]: real; input b[{count}]: real; value y[{count}]: real;"
    text = f"{tensors} y[i] = {name}({arguments}) for i in 0:{count}; return y;"
    compare(parse_kernel(Source.from_text(text), "f"), given, "y")
