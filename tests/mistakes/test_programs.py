"""Mistakes in programs: TABLA texts, Tensor Comprehensions and Tile functions, as the commands read them."""

from __future__ import annotations

import pytest

from tests.logistic_program import LOGISTIC
from tests.mistakes.conftest import KERNEL, Refused
from tests.mistakes.mistake import Mistake, mistake


def text(old: str, new: str, *says: str, options: str = "") -> Mistake:
    """Return the mistake of a logistic regression with another text in one place."""
    assert LOGISTIC.count(old) == 1
    return mistake(f"check p.t --pes 4 {options}", " --> p.t:", *says, p_t=LOGISTIC.replace(old, new))


def kernel(*says: str, options: str = "--size N=4", tc: str) -> Mistake:
    """Return the mistake of a kernel."""
    return mistake(f"check k.tc --pes 4 {options}", *says, k_tc=tc)


def function(body: str, *says: str, options: str = "--shape I=4") -> Mistake:
    """Return the mistake of the Tile function ``f``."""
    source = f"from tabla.tile import *\n\n\n{body}"
    return mistake(f"check f.py:f --pes 4 {options}", *says, f_py=source)


TABLA = {
    "no text": mistake("check p.t", "the program computes nothing", p_t=""),
    "not a text": mistake("check p.t", "'p.t' is not UTF-8 text", "hint: save it as UTF-8", p_t=b"\xff\xfe\0m"),
    "no semicolon": text("m = 4;", "m = 4", "missing ';'", "every statement ends with a semicolon"),
    "no bracket": text("x[m];", "x[m;", "close it with ']'"),
    "an unclosed comment": text("m = 4;", "m = 4; /* the size", "this comment is never closed"),
    "a name with a slip": text("w[i] * x[i])", "w[i] * z[i])", "'z' is not declared and has no value"),
    "a function of another language": text("sigmoid(", "softmax(", "e[i] = exp(z[i] - max[j](z[j]))"),
    "a function with a slip": text("sigmoid(", "sigmod(", "did you mean 'sigmoid'?"),
    "no iterator": text("sum[i](", "sum(", "say over which one: sum[i](...)"),
    "one element too far": text(
        "i[0:m]", "i[0:m + 1]", "'w' has the elements 0 to 3", "an iterator's end is exclusive"
    ),
    "a negative size": text("m = 4;", "m = -4;", "a size must be at least 1, not -4"),
    "half an element": text("m = 4;", "m = 4.5;", "a size must be a whole number"),
    "a gradient of nothing": text(
        "g[m] -> w", "g[m]", "gradient 'g' is not linked to a model", "write gradient g -> w;"
    ),
    "a gradient of an input": text("g[m] -> w", "g[m] -> x", "'x' is not a model"),
    "an assigned input": text("h = sigmoid", "y = sigmoid", "'y' is a model_output and cannot be assigned"),
    "a comparison with one =": text("(h - y)", "(h = y)", "a comparison is written '=='"),
    "a power": text("(h - y)", "(h - y)**2", "write a power as a product: x * x"),
    "a division by zero": text("mu = 0.5;", "mu = 1 / (m - 4);", "division by zero"),
    "a rate that is computed": text("mu = 0.5;", "model_input r; mu = r;", "must be known from the text"),
    "a constant that does not fit": text("(h - y)", "(h - 100)", "does not fit q6.10", "--format"),
    "a value too late": text(
        "h = sigmoid", "k = e;\ne = 1;\nh = sigmoid", "it gets one on line 9; statements run in order"
    ),
    "too deep": text("(h - y)", "-" * 9000 + "h", "nested"),
}
TENSOR_COMPREHENSIONS = {
    "no text": kernel("there is no function", "a program is a list of functions", tc=""),
    "not a text": kernel("'k.tc' is not UTF-8 text", tc="\u0130".encode("utf-16")),  # type: ignore[arg-type]
    "no size": kernel("the size 'N' has no value", "--size N=", options="", tc=KERNEL),
    "another size": kernel("'dot' has no size 'M'", "the sizes of 'dot' are N", options="--size M=3", tc=KERNEL),
    "no bracket": kernel(" --> k.tc:", tc=KERNEL.replace(") A,", " A,")),
    "no brace": kernel(" --> k.tc:", tc=KERNEL.replace("}", "")),
    "an unknown tensor": kernel("'D'", " --> k.tc:", tc=KERNEL.replace("B(i)", "D(i)")),
    "an index without a range": kernel("'k'", " --> k.tc:", tc=KERNEL.replace("C +=! A(i) * B(i)", "C(i) = A(k)")),
    "an index too many": kernel("'A' has 1 dimension", tc=KERNEL.replace("A(i)", "A(i, j)")),
    "no reduction": kernel("does not reduce", "+=!", tc=KERNEL.replace("C +=! A(i) * B(i)", "C = A(i)")),
    "an assigned input": kernel("'A' is an input", tc=KERNEL.replace("C +=!", "A(i) = B(i); C +=!")),
    "no result": kernel("'C'", tc=KERNEL.replace("C +=!", "D +=!")),
    "a call of itself": kernel("'dot'", tc=KERNEL.replace("C +=! A(i) * B(i)", "C = dot(A, B)")),
    "a function of another language": kernel("'softmax'", tc=KERNEL.replace("A(i) * B(i)", "softmax(A(i))")),
    "an unknown type": kernel(" --> k.tc:", tc=KERNEL.replace("float(N) A", "number(N) A")),
    "kept and unknown": kernel("--keep D: 'dot' has no such input", options="--size N=4 --keep D", tc=KERNEL),
    "a rate": kernel("does not learn", options="--size N=4 --learning-rate 0.1", tc=KERNEL),
}
TILE = {
    "no function": function("g = 3\n", "'f.py' has no function 'f'"),
    "no shape": function("def f(I):\n    return I\n", "'I' of 'f' has neither a shape nor a value", options=""),
    "another shape": function(
        "def f(I):\n    return I\n", "'f' has no parameter 'J'", options="--shape I=4 --shape J=4"
    ),
    "a size of letters": mistake("check layer.py:double --shape I=a", "'a' is not a whole number", status=2),
    "an empty tensor": mistake("check layer.py:double --shape I=0", "0 is less than 1", status=2),
    "a slip of Python": function("def f(I:\n    return I\n", "SyntaxError", " --> f.py:4"),
    "an unknown name": function("def f(I):\n    return I + J\n", "NameError: name 'J' is not defined", " --> f.py:5"),
    "a missing module": function("import nothing_here\n", "ModuleNotFoundError", " --> f.py:4"),
    "an end of the program": function("raise SystemExit(3)\n", "SystemExit: 3", " --> f.py:4"),
    "a call of itself": function("def f(I):\n    return f(I)\n", "RecursionError", " --> f.py:5"),
    "a choice by a value": function("def f(I):\n    return I if I > 0 else -I\n", "use select(condition, a, b)"),
    "a number as result": function("def f(I):\n    return 5\n", "return a tensor"),
    "shapes that do not fit": function(
        "def f(I, J):\n    return I + J\n", " --> f.py:5", options="--shape I=4 --shape J=3"
    ),
    "a parameter without a name": function("def f(*I):\n    return I\n", "not a parameter with a name of its own"),
    "a definition": mistake("check layer.py:double --shape I=4 -D a=3", "a Tile function has parameters", "--arg a="),
    "a size": mistake("check layer.py:double --shape I=4 --size N=3", "a Tile function takes shapes", "--shape"),
    "kept and unknown": mistake("check layer.py:double --shape I=4 --keep J", "'double' has no such tensor"),
}


@pytest.mark.parametrize("name", TABLA)
def test_tabla(refused: Refused, name: str) -> None:
    assert "hint: " in refused(TABLA[name])


@pytest.mark.parametrize("name", TENSOR_COMPREHENSIONS)
def test_tensor_comprehensions(refused: Refused, name: str) -> None:
    assert "hint: " in refused(TENSOR_COMPREHENSIONS[name])


@pytest.mark.parametrize("name", TILE)
def test_tile(refused: Refused, name: str) -> None:
    refused(TILE[name])


@pytest.mark.parametrize("name", ["a comparison with one =", "a power"])
def test_a_broken_statement_is_told_once(refused: Refused, name: str) -> None:
    """A gradient whose assignment is broken is not said to be unassigned as well."""
    said = refused(TABLA[name])
    assert said.startswith("error: expected ") and said.count("error: ") == 1
