"""Random kernels with guarded reads: padding, checked lookups and choices of both, nested and negated.

Every part of a kernel is written twice, in the language and in Python. `points` is the independent witness: it runs the
Python at every point, and a read that is made outside its tensor is an `IndexError` there. It shares nothing with the
product.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

HEAD = "def f(float(N) A, float(N,M) T, float(M) W, int32(N) I) -> (B)"
Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Part:
    """A part of a kernel in the language and in Python. `data` says that tensors decide which reads are made."""

    text: str
    python: str
    data: bool = False


def part(text: str, *inner: Part, python: str = "", data: bool = False) -> Part:
    """Text with a place {} for each inner part; `python` where Python writes it in another way."""
    found = (python or text).format(*(each.python for each in inner))
    return Part(text.format(*(each.text for each in inner)), found, data or any(each.data for each in inner))


def choice(condition: Part, one: Part, other: Part) -> Part:
    return part("({0} ? {1} : {2})", condition, one, other, python="({1} if {0} else {2})")


def both(one: Part, other: Part) -> Part:
    return part("({} && {})", one, other, python="({} and {})")


def either(one: Part, other: Part) -> Part:
    return part("({} || {})", one, other, python="({} or {})")


def negation(one: Part) -> Part:
    return part("!({})", one, python="(not ({}))")


SHIFTS = st.integers(-2, 2).map(str)
POSITIONS = st.one_of(
    *(
        st.builds(lambda shift, form=form: part(f"({form} + {shift})"), SHIFTS)
        for form in ("i", "i", "i + j", "i - j", "2 * i", "N - i")
    ),
    st.builds(lambda shift: part(f"(i / 2 + {shift})", python=f"(toward_zero(i / 2) + {shift})"), SHIFTS),
    st.sampled_from([part(text, data=True) for text in ("I(i)", "(I(i) - 1)", "(I(j) + 1)", "(I(i) + j)")]),
)
HALF = part("(i % 2 == 0)")
ABOVE = part("(W(j) > 0.25)", data=True)


def read(tensor: str, position: Part) -> Part:
    return part("T({}, j)" if tensor == "T" else f"{tensor}({{}})", position)


def guarded(tensor: str, at: Part, other: Part, way: int) -> Part:
    """A read that is made only inside its tensor, or `other`."""
    one, low, high = read(tensor, at), part("({} >= 0)", at), part("({} < N)", at)
    match way:
        case 0:
            return choice(both(low, high), one, other)
        case 1:
            return choice(either(negation(low), negation(high)), other, one)
        case 2:
            return choice(negation(low), other, choice(part("({} <= N - 1)", at), one, other))
        case 3:
            return choice(low, choice(part("({} >= N)", at), other, one), other)
        case 4:
            return choice(both(ABOVE, both(part("({} > -1)", at), high)), one, other)
        case 5:
            return choice(both(both(low, high), part("({} > 0.0)", one, data=True)), one, other)
        case 6:
            return choice(both(low, high), part("{} * W(j)", one), other)
        case 7:
            return choice(both(HALF, both(high, low)), one, other)
        case _:
            return choice(either(part("({} == N - 1)", at), both(low, part("({} != N)", at))), other, other)


def careless(at: Part, other: Part, way: int) -> Part:
    """A read under a condition that may leave out too little."""
    conditions = [part("({} > 0)", at), part("({} < N)", at), HALF, part("({} != N)", at)]
    return choice(conditions[way % len(conditions)], read("A", at), other)


@dataclass(frozen=True)
class Kernel:
    """A statement: the indices and the operator of its left side, its right side, and the range of i."""

    own: str
    operator: str
    value: Part
    low: str
    high: str

    @property
    def text(self) -> str:
        left = f"B({', '.join(self.own)})" if self.own else "B"
        return f"{HEAD} {{ {left} {self.operator} {self.value.text} where i in {self.low}:{self.high}, j in 0:M }}"


@st.composite
def kernels(draw: Any) -> Kernel:
    value = draw(st.sampled_from((part("W(j)"), part("1.5"))))
    for _ in range(draw(st.integers(1, 3))):
        at, way = draw(POSITIONS), draw(st.integers(0, 8))
        nothing = part("0.0")
        other = draw(st.sampled_from((nothing, nothing, nothing, part("2.5"), part("W(j)"), value)))
        found = careless(at, other, way) if draw(st.integers(0, 9)) == 9 else guarded(draw(TENSORS), at, other, way)
        joined = part(f"({{}} {draw(st.sampled_from('+-*'))} {{}})", value, found)
        value = draw(st.sampled_from((found, joined)))
    own, operator = draw(st.sampled_from(LEFTS))
    low, high = draw(st.sampled_from(("0", "-1", "1"))), draw(st.sampled_from(("N", "N + 2", "M + 1", "2 * N")))
    return Kernel(own, operator, value, low, high)


TENSORS = st.sampled_from("AAT")
LEFTS = (("ij", "="), ("ji", "="), ("i", "+=!"), ("i", "+=!"), ("j", "max=!"), ("", "+=!"), ("i", "min=!"))
STARTS = {"=": 0.0, "+=!": 0.0, "max=!": -math.inf, "min=!": math.inf}


def drawn(n: int, m: int, seed: int) -> dict[str, Array]:
    """Inputs of a kernel. Positions are inside and outside the tensors."""
    random = np.random.default_rng(seed)
    shapes = {"A": (n,), "T": (n, m), "W": (m,)}
    reals: dict[str, Array] = {name: random.uniform(-1, 1, shape) for name, shape in shapes.items()}
    return reals | {"I": random.integers(-2, n + 3, n)}


class _Table:
    """A tensor whose elements are read as calls, and never outside it."""

    def __init__(self, array: Array) -> None:
        self.array = array

    def __call__(self, *at: int) -> Any:
        if not all(0 <= index < extent for index, extent in zip(at, self.array.shape, strict=True)):
            raise IndexError
        return self.array[at].item()


def points(kernel: Kernel, inputs: dict[str, Array]) -> Array:
    """The result, point by point. An `IndexError` is a read outside its tensor."""
    n, m = inputs["T"].shape
    names: dict[str, Any] = {name: _Table(array) for name, array in inputs.items()}
    names |= {"N": n, "M": m, "toward_zero": math.trunc}
    value = compile(kernel.value.python, "kernel", "eval")
    ranges = {"i": range(eval(kernel.low, names), eval(kernel.high, names)), "j": range(m)}
    result = np.full([len(ranges[name]) for name in kernel.own], STARTS[kernel.operator])
    for i, j in itertools.product(*ranges.values()):
        found = eval(value, names, {"i": i, "j": j})
        at = tuple({"i": i, "j": j}[name] - ranges[name].start for name in kernel.own)
        match kernel.operator:
            case "=":
                result[at] = found
            case "+=!":
                result[at] += found
            case "max=!":
                result[at] = max(result[at], found)
            case _:
                result[at] = min(result[at], found)
    return result
