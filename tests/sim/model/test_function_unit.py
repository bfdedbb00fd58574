"""The cycle model's functions by the letter of decision 4, on the tables of the graph's own room."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from tabla.graph.format import Format
from tabla.graph.functions import apply_to_words as apply
from tabla.graph.functions import table
from tabla.program.image import FunctionTable
from tabla.sim.model.cycle_model import CycleModel
from tabla.sim.model.root_units import function_of
from tests.graph.error_bounds import error_bound
from tests.sim.hand_assembler import parameters
from tests.sim.hand_assembler import table as function
from tests.sim.hand_images import function_program

NAMES = ("sigmoid", "tanh", "gaussian", "erf", "atan", "arc", "exp", "log", "sqrt", "divide", "quotient")
REAL = {
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "tanh": math.tanh,
    "gaussian": lambda x: math.exp(-x * x),
    "erf": math.erf,
    "atan": lambda x: math.atan(max(-1.0, min(1.0, x))),
    "arc": lambda x: 2 * math.asin(max(-1.0, min(1.0, x)) / 2),
    "exp": math.exp,
    "log": math.log,
    "sqrt": math.sqrt,
}


def _table(name: str, width: int, fraction: int) -> FunctionTable:
    fmt = Format(integer=width - fraction, fraction=fraction)
    numbers = table(name, fmt)  # type: ignore[arg-type]
    names = ("shift", "guard", "reach", "index_bits", "fraction_bits", "constant", "base", "slope", "curve", "exponent")
    return function(name, parameters(width=width, fraction=fraction), **{n: getattr(numbers, n) for n in names})


@pytest.mark.parametrize("name", NAMES[:-2])
@pytest.mark.parametrize(("width", "fraction"), [(16, 10), (8, 6), (18, 12), (32, 16), (32, 24)])
def test_values_are_near_the_real_function(name: str, width: int, fraction: int) -> None:
    entry = _table(name, width, fraction)
    evaluate = function_of(entry, width, fraction)
    top = 1 << (width - 1)
    words = np.unique(np.linspace(-top, top - 1, 4001).astype(np.int64))
    bound = error_bound(name, Format(integer=width - fraction, fraction=fraction))  # type: ignore[arg-type]
    for word in [int(w) for w in words]:
        value = evaluate(word, 0)
        if name in ("log", "sqrt") and (word < 0 or (name == "log" and word == 0)):
            assert value.domain_error and value.word == (-top if name == "log" else 0)
            continue
        # Beyond 700 the exponential is out of range for doubles, and of every format long before.
        argument = (
            word / (1 << fraction) if name in ("log", "sqrt") else max(-700.0, min(word / (1 << fraction), 700.0))
        )
        exact = REAL[name](argument) * (1 << fraction)
        if not -top - 0.5 <= exact <= top - 0.5:
            assert value.overflow and value.word == (top - 1 if exact > 0 else -top)
        else:
            assert abs(value.word - exact) <= bound + 0.5, (word, value, exact)


@pytest.mark.parametrize("name", NAMES[:-2])
@pytest.mark.parametrize(("width", "fraction"), [(12, 7), (16, 10), (32, 16), (19, 17), (32, 24)])
def test_words_are_those_of_the_graph(name: str, width: int, fraction: int) -> None:
    # Two independent readings of decision 4: this one in plain integers, that of `tabla.graph` on arrays.
    fmt = Format(integer=width - fraction, fraction=fraction)
    evaluate = function_of(_table(name, width, fraction), width, fraction)
    top = 1 << (width - 1)
    words = np.unique(np.linspace(-top, top - 1, 4096).astype(np.int64))
    theirs = apply(name, words, fmt)  # type: ignore[arg-type]
    ours = [evaluate(int(word), 0) for word in words]
    assert [value.word for value in ours] == theirs.words.tolist()
    assert sum(value.overflow for value in ours) == theirs.overflows
    assert sum(value.domain_error for value in ours) == theirs.domain_errors


def test_quotients_are_exact() -> None:
    evaluate = function_of(_table("divide", 8, 4), 8, 4)
    for left in range(-128, 128, 3):
        for right in range(-128, 128):
            value = evaluate(left, right)
            if right == 0:
                assert value.domain_error and value.word == (127 if left >= 0 else -128)
                continue
            exact = math.floor(Fraction(left * 16, right) + Fraction(1, 2))
            assert value.word == max(-128, min(127, exact)) and value.overflow == (value.word != exact)


def test_quotients_of_integers_lose_their_rest() -> None:
    evaluate = function_of(_table("quotient", 8, 4), 8, 4)
    for left in range(-128, 128):
        for right in range(-128, 128):
            value = evaluate(left, right)
            if right == 0:
                assert value.domain_error and value.word == (127 if left >= 0 else -128)
                continue
            exact = math.trunc(Fraction(left, right))
            assert value.word == min(127, exact) and value.overflow == ((left, right) == (-128, -1))


def test_square_roots_are_rounded() -> None:
    evaluate = function_of(_table("sqrt", 16, 10), 16, 10)
    for word in range(0, 1 << 15, 7):
        root = evaluate(word, 0).word
        # Nearest: (2 root - 1)^2 <= 4 x < (2 root + 1)^2 in units of the word.
        assert (2 * root - 1) ** 2 <= 4 * (word << 10) < (2 * root + 1) ** 2 or root == 0 == word


def test_a_program_of_all_functions() -> None:
    width, fraction = 16, 10
    tables = [_table(name, width, fraction) for name in NAMES]
    words = [0, 0, 1024, -2048, -3000, 77, 32767, 5, 700, 1]
    case = function_program(tables, words)
    machine = CycleModel(case.image)
    result = machine.run(case.beats, case.samples)
    functions = [function_of(entry, width, fraction) for entry in tables]
    values = [evaluate(x, y) for x, y in zip(words[::2], words[1::2], strict=True) for evaluate in functions]
    assert result.outputs == [value.word for value in values]
    assert result.counters.root_overflows == sum(value.overflow for value in values) > 0
    assert result.counters.domain_errors == sum(value.domain_error for value in values) > 0
