"""What is no kernel is refused at its place."""

from __future__ import annotations

import pytest

from tabla.base.source import Source, TablaError
from tabla.languages.kernel.parser import parse
from tests.languages.marked import marked_by

HEAD = "input x[3]: real; model w[3]: real; value y[3]: real; value t: truth; value n: integer; value s: real;\n"
FAULTS = {
    "no such tensor": ("s = z;", "there is no index and no tensor 'z'", "z"),
    "no such index": ("s = x[i];", "there is no index and no tensor 'i'", "i"),
    "outside at the end": ("y[i] = x[i + 1] for i in 0:3;", r"the subscript i\+1 of 'x' is 3 somewhere", "x[i + 1]"),
    "outside at the start": ("y[i] = x[i - 1] for i in 0:3;", "the subscript i-1 of 'x' is -1 somewhere", "x[i - 1]"),
    "written outside": ("y[i] = 1.0 for i in 0:4;", "the subscript i of 'y' is 3 somewhere", "y[i] = 1.0"),
    "too few subscripts": ("s = x;", "'x' has 1 axes, and this has 0 subscripts", "x"),
    "read before it is written": ("s = y[1];", r"'y\[1\]' is read, and no statement before writes it", "y[1]"),
    "read beside what is written": ("y[i] = 1.0 for i in 0:2; s = y[2];", r"'y\[2\]' is read", "y[2]"),
    "a model written": ("w[i] = 1.0 for i in 0:3;", "'w' is a model, and is written", "w[i] = 1.0"),
    "a type": ("n = 1.0;", "'n' holds integers, and this value is a real", "1.0"),
    "two types": ("s = x[0] + 1;", r"'\+' is given real and integer", "x[0] + 1"),
    "a truth as a number": ("s = x[0] < 1.0;", "'s' holds reals, and this value is a truth", "x[0] < 1.0"),
    "an unknown function": ("s = sigmod(x[0]);", "there is no function 'sigmod'", "sigmod(x[0])"),
    "arguments": ("s = max(x[0]);", "'max' takes 2 arguments, not 1", "max(x[0])"),
    "no affine subscript": ("y[i * i] = x[i] for i in 0:2;", "no sum of indices", "i * i"),
    "a subscript that is a choice": ("s = x[x[0] < 1.0];", "no sum of indices", "x[0] < 1.0"),
    "a gather of what is not written": ("s = y[integer(x[0])];", r"'y\[0\]' is read", "y[integer(x[0])]"),
    "a gather with too few subscripts": (
        "value m[2, 2]: real; s = m[integer(x[0])];",
        "'m' has 2 axes, and this has 1 subscripts",
        "m[integer(x[0])]",
    ),
    "a gather outside": (
        "value m[2, 2]: real; m[i, j] = 0.5 for i in 0:2, j in 0:2; s = sum[i in 0:3](m[i, integer(x[0])]);",
        "the subscript i of 'm' is 2 somewhere",
        "m[i, integer(x[0])]",
    ),
    "a number without a type": ("s = lowest(x);", "'lowest' is given the type of the number", "lowest(x)"),
    "a norm of integers": ("n = integer(norm[i in 0:3](i));", "a norm of integers", "norm[i in 0:3](i)"),
    "a sum of truth values": ("s = real(sum[i in 0:3](i < 2));", "a sum of truths", "sum[i in 0:3](i < 2)"),
    "an update of integers": (
        "model k[3]: integer; y[i] = x[i] for i in 0:3; update k -= 0.5 * y;",
        "'k' is a model of integers, which learns nothing",
        "update k -= 0.5 * y",
    ),
    "a real subscript": ("s = x[1.0];", "no sum of indices", "1.0"),
    "an index twice": ("y[i] = x[0] for i in 0:2, i in 0:2;", "'i' means something else here", "y[i] = x[0]"),
    "an index of both": ("y[i] = sum[i in 0:2](x[i]) for i in 0:2;", "'i' means something else", "sum[i in 0:2](x[i])"),
    "an index that is not written": ("s = x[i] for i in 0:3;", "'i' is not in a subscript", "s = x[i]"),
    "an element written twice": (
        "y[i + j] = 1.0 for i in 0:2, j in 0:2;",
        "two points of i, j may write one element",
        "y[i + j] = 1.0",
    ),
    "an empty range": ("s = sum[i in 2:2](x[i]);", "'i' has no value in 2:2", "i in 2:2"),
    "an index with the name of a tensor": ("y[x] = 1.0 for x in 0:3;", "'x' is a tensor", "x"),
    "no reduction": ("s = mean[i in 0:3](x[i]);", "'mean' is not a reduction", "mean"),
    "a sum of integers": ("s = sum[i in 0:3](i);", "'s' holds reals, and this value is an integer", "sum[i in 0:3](i)"),
    "a fraction": ("s = fraction(1, 0);", "a fraction is one of two whole numbers", "fraction(1, 0)"),
    "a step": ("y[i] = x[i] for i in 0:3; update w -= y;", "a step is a number times a gradient", "y"),
    "an update of an input": (
        "y[i] = x[i] for i in 0:3; update x -= 0.5 * y;",
        "'x' is no model",
        "update x -= 0.5 * y",
    ),
    "a gradient of another shape": (
        "s = 1.0; update w -= 0.5 * s;",
        "'s' is no gradient of 'w'",
        "update w -= 0.5 * s",
    ),
    "two updates": (
        "y[i] = x[i] for i in 0:3; update w -= 0.5 * y; update w -= 1.0 * y;",
        "'w' has two updates",
        "update w -= 1.0 * y",
    ),
    "no gradient": ("update w -= 0.5 * y;", "no statement writes the gradient 'y'", "update w -= 0.5 * y"),
    "declared twice": ("value x: real;", "'x' is declared twice", "x"),
    "no role": ("output z: real;", "'output' is not what a tensor is", "output"),
    "no type": ("value z: float;", "'float' is not a type", "float"),
    "no elements": ("value z[0]: real;", "'z' has no elements", "z"),
    "a label of integers": ("label z: integer;", "'z' is a label of integers", "z"),
    "no semicolon": ("s = 1.0", "expected 'for' or ';', not 'return'", "return"),
    "a word": ("y[i] = x[i] while i in 0:3;", "expected 'for' or ';', not 'while'", "while"),
    "an unknown index": ("y[i] = x[j] for i in 0:3;", "there is no index and no tensor 'j' here", "j"),
    "no end of ranges": ("y[i] = x[i] for i in 0:3", "expected 'where', ',' or ';', not 'return'", "return"),
    "a sum without ranges": ("s = sum(x[0]);", "'sum' has no ranges", "sum(x[0])"),
    "a choice by a number": ("s = select(x[0], 1.0, 0.0);", "'select' is given real", "select(x[0], 1.0, 0.0)"),
    "a sign": ("s = x[0] ?;", "stray character", "?"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults(name: str) -> None:
    text, message, place = FAULTS[name]
    source = Source.from_text(f"{HEAD}{text} return s;", "x.kernel")
    with pytest.raises(TablaError, match=message) as caught:
        parse(source, "x")
    assert marked_by(caught.value) == place
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the kernel returns nothing and learns nothing"),
        ("value y: real; return y;", "'y' is returned, and no statement writes it"),
        ("input x: real; return x;", "'x' is returned, and no statement writes it"),
    ],
)
def test_kernels_that_give_nothing(text: str, message: str) -> None:
    with pytest.raises(TablaError, match=message):
        parse(Source.from_text(text), "x")


def test_elements_by_a_stride_are_read_where_all_are_written() -> None:
    text = "input x[6]: real; value y[6]: real; value z[3]: real;"
    halves = " y[i] = x[i] for i in 0:2; y[i] = x[i] for i in 2:5; z[i] = y[2 * i] for i in 0:3; return z;"
    assert parse(Source.from_text(text + halves), "x").results == ("z",)


CURES = {
    "y[i] = x[i] if x[i] > 0.0 for i in 0:3;": "choose between values with select(condition, a, b)",
    "y[i] += x[i] for i in 0:3;": "write the sum: y[i] = y[i] + x[i]",
    "y(i) = x[i] for i in 0:3;": "an element has brackets",
    "s = 0.5e3;": "a number has no exponent",
    "s = .5;": "a number has a digit before its point: 0.5",
    "s = x[0] ^ 2.0;": "write power(a, b)",
    "s = relu(x[0]);": "write max(x, 0.0)",
    "s = select(x[0], 1.0, 0.0);": "a truth value first",
    "y[i] = x[i] for i in 0:3 where i != 1;": "two statements",
    "y[i] = x[i] for i in 0:3 where 0 < i < 2;": "one by one: where 0 < i, i < 3",
    "y[i] = x[i] for i in 0:3 where x[i] > 0.0;": "select(x[i] > 0.0",
    "y[i] = x[j] for i in 0:3;": "give it a range: for j in 0:3",
}


@pytest.mark.parametrize("text", CURES)
def test_cures(text: str) -> None:
    with pytest.raises(TablaError) as caught:
        parse(Source.from_text(f"{HEAD}{text} return s;", "x.kernel"), "x")
    assert CURES[text] in (caught.value.hint or "")
