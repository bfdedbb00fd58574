"""Warnings about parts of tensors that nothing reads or that never learn, in every notation that has ranges."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tabla.base.source import Source, TablaError
from tabla.build.options import Options
from tabla.driver import build
from tabla.tile import TensorDims, TensorIndexes, TensorOutput, descend, tanh
from tests.logistic_program import LOGISTIC

UNDERSCORE = "assign it to a name that begins with '_' if that is meant"
ZERO = "give it a gradient of 0 if that is meant"
PARTS = re.compile(r"(\w+)((?:\[[^\]]+\])+)")


WHERE = "write 'where {}' if that is meant"
CONSTRAINT = "write add_constraint({}) if that is meant"
NO_LABEL = "compare it with the label, or leave it out of the tensors that learn"


def parts_told(warnings: tuple[str, ...]) -> list[str]:
    """Return the warnings about parts, with their places and without the file."""
    found = [text for text in warnings if " never " in text]
    return [re.sub(r"^[^:]*:(\d+:\d+): ", r"\1 ", text) for text in found]


def tabla_warnings(text: str, **options: Any) -> list[str]:
    return parts_told(build(Source.from_text(text, "model.t"), Options(**options)).warnings)


TRANSPOSED = """mu = 0.5; model_input x[4]; model_output y[3]; model w[3][4]; gradient g[3][4] -> w;
iterator i[0:3]; iterator j[0:3];
h[i] = sum[j](w[j][i] * x[j]);
g[i][j] = (h[i] - y[i]) * x[j];
"""


def late(more: str = "", change: tuple[str, str] = ("[0:m]", "[1:m]")) -> str:
    """Return the logistic regression with an iterator that begins late."""
    assert LOGISTIC.count(change[0]) == 1
    return LOGISTIC.replace(*change) + more


TABLA = {
    "late": (late(), [f"7:10 x[0] and w[0] are never read: 'i' begins at 1; {UNDERSCORE}"]),
    "early": (late(change=("[0:m]", "[0:3]")), [f"7:10 x[3] and w[3] are never read: 'i' ends before 3; {UNDERSCORE}"]),
    "both ends": (
        late(change=("[0:m]", "[1:3]")),
        [
            f"7:10 x[0] and w[0] are never read: 'i' begins at 1; {UNDERSCORE}",
            f"7:10 x[3] and w[3] are never read: 'i' ends before 3; {UNDERSCORE}",
        ],
    ),
    "transposed": (
        TRANSPOSED,
        [
            f"2:10 w[0..2][3] are never read: 'i' ends before 3; {UNDERSCORE}",
            f"2:27 x[3] is never read: 'j' ends before 3; {UNDERSCORE}",
        ],
    ),
    "from the other end": (
        "model_input x[5]; iterator i[0:3]; a[i] = x[4 - i] * 2;",
        [f"1:28 x[0..1] are never read: '-i+4' begins at 2; {UNDERSCORE}"],
    ),
    "one by one": ("model_input x[4]; a = x[0] * x[1] + x[3];", [f"1:13 x[2] is never read; {UNDERSCORE}"]),
    "a value": (
        (
            "mu = 1; model_input x[4]; model w; gradient g -> w; iterator i[0:4]; iterator j[0:3];\n"
            "h[i] = x[i] * x[i];\ng = w * sum[j](h[j]);"
        ),
        [f"1:79 h[3] is never read: 'j' ends before 3; {UNDERSCORE}"],
    ),
    "a step that leaves one over": ("model_input x[8]; iterator i[0:4]; a[i] = x[2 * i] * 2;", []),
    "a step that leaves more over": (
        "model_input x[8]; iterator i[0:3]; a[i] = x[2 * i] * 2;",
        [f"1:28 x[5..7] are never read: '2*i' ends before 5; {UNDERSCORE}"],
    ),
    "a gap inside": (
        "model_input x[6]; iterator i[0:2]; iterator j[4:6]; a[i] = x[i] * 2; b[j] = x[j] * 2;",
        [f"1:28 x[2..3] are never read: 'i' ends before 2; {UNDERSCORE}"],
    ),
    "meant": (late("iterator rest[0:1];\n_x[rest] = x[rest];\n_w[rest] = w[rest] * 2;\n"), []),
    "nothing is read": (
        "model_input x[4], z[4]; iterator i[0:4]; a[i] = x[i] * 2;",
        ["1:19 input 'z' is never read; leave it out"],
    ),
    "never learns": (
        late("", ("g[i] = (h - y) * x[i];", "iterator k[1:m];\ng[k] = (h - y) * x[k];")),
        [f"9:10 w[0] never learns: 'k' begins at 1; {ZERO}"],
    ),
    "never learns, by a word": (
        late("", ("g[i] = (h - y) * x[i];", "iterator k[1:m];\ng[k] = (h - y) * x[k] + w[k];")),
        [f"9:10 w[0] never learns: 'k' begins at 1; {ZERO}"],
    ),
    "two rows never learn": (
        (
            "mu = 1; model_input x[3]; model w[4][3]; gradient g[4][3] -> w; iterator i[0:4]; iterator j[0:3];\n"
            "iterator k[0:2]; h[i] = sum[j](w[i][j] * x[j]); g[k][j] = h[k] * x[j] + sum[i](h[i]);"
        ),
        [f"2:10 w[2..3][0..2] never learn: 'k' ends before 2; {ZERO}"],
    ),
    "a gradient of 0": (
        late("", ("g[i] = (h - y) * x[i];", "iterator k[1:m];\ng[0] = 0; g[k] = (h - y) * x[k];")),
        [],
    ),
}


@pytest.mark.parametrize("name", TABLA)
def test_parts_of_a_tabla_program(name: str) -> None:
    text, expected = TABLA[name]
    assert tabla_warnings(text) == expected


def test_a_result_is_read() -> None:
    text, _ = TABLA["a value"]
    assert tabla_warnings(text, results=("h",)) == []


def test_the_places_are_those_of_the_file() -> None:
    """Lines that the preprocessor makes have the place of what they are made of."""
    text = f"// the preprocessor counts its lines, too\n$n = 4\n{late()}".replace("m = 4", "m = $n")
    found = build(Source.from_text(text, "model.t"), Options()).warnings
    assert [each for each in found if "never" in each] == [
        f"model.t:9:10: x[0] and w[0] are never read: 'i' begins at 1; {UNDERSCORE}"
    ]


def test_samples_and_guards_change_nothing() -> None:
    expected = TABLA["late"][1]
    assert tabla_warnings(late(), minibatch=4) == expected
    assert tabla_warnings(late(), model_guard=2) == expected
    assert tabla_warnings(late(), runtime_rate=True) == expected


def test_an_inference_build_tells_what_the_program_does() -> None:
    """The part that predicts reads less, and what only learning reads is no fault of the text."""
    whole = build(Source.from_text(late(), "model.t"), Options())
    assert parts_told(whole.inference().warnings) == TABLA["late"][1]
    text = LOGISTIC.replace("model_output y;", "model_output y, z[3];").replace(
        "g[i] = (h - y) * x[i];", "iterator j[0:3];\ng[i] = (h - y - sum[j](z[j])) * x[i];"
    )
    assert parts_told(build(Source.from_text(text, "model.t"), Options()).inference(predict="h").warnings) == []


TC = {
    "unequal sizes": (
        "def f(float(I,J) A, float(M,K) B) -> (C) {\n  C(i,k) +=! A(i,j) * B(j,k)\n}",
        {"I": 3, "J": 4, "M": 6, "K": 2},
        [(f"2:23 B[4..5][0..1] are never read: "
         f"'j' ends before 4 because of the second axis of 'A'; {WHERE.format('j in 0:4')}")],
    ),
    "the other one": (
        "def f(float(I,J) A, float(M,K) B) -> (C) {\n  C(i,k) +=! A(i,j) * B(j,k)\n}",
        {"I": 3, "J": 5, "M": 2, "K": 2},
        [(f"2:14 A[0..2][2..4] are never read: "
         f"'j' ends before 2 because of the first axis of 'B'; {WHERE.format('j in 0:2')}")],
    ),
    "inside a function": (
        "def f(float(I,J) A, float(M) x) -> (C) {\n  C(i) +=! A(i,j) * tanh(x(j))\n}",
        {"I": 3, "J": 4, "M": 6},
        [(f"2:26 x[4..5] are never read: "
         f"'j' ends before 4 because of the second axis of 'A'; {WHERE.format('j in 0:4')}")],
    ),
    "a temporary that begins late": (
        "def f(float(N) x, float(M) z) -> (y) {\n  t(i) = x(i) where i in 2:8\n  y(i) = t(i) + z(i)\n}",
        {"N": 8, "M": 6},
        [f"3:10 t[6..7] are never read: 'i' ends before 6 because of the size of 'z'; {WHERE.format('i in 2:6')}",
         f"3:17 z[0..1] are never read: 'i' begins at 2 because of the size of 't'; {WHERE.format('i in 2:6')}"],
    ),
    "meant": (
        "def f(float(I,J) A, float(M,K) B) -> (C) {\n  C(i,k) +=! A(i,j) * B(j,k) where j in 0:J\n}",
        {"I": 3, "J": 4, "M": 6, "K": 2},
        [],
    ),
    "a condition": ("def f(float(N) A) -> (C) {\n  C(i) = i >= 2 ? A(i) : 0.0\n}", {"N": 5}, []),
    "a condition that keeps a read inside": (
        "def f(float(N) A, float(M) B) -> (C) {\n  C(i) = i < 3 ? A(i) * B(i) : 0.0\n}",
        {"N": 5, "M": 3},
        [],
    ),
    "another condition": (
        "def f(float(N) A, float(M) W) -> (B) {\n  B(i,j) = i >= j ? A(i-j) : W(j) where i in 0:N\n}",
        {"N": 4, "M": 4},
        [],
    ),
    "a window": ("def f(float(N) A, float(K) W) -> (C) {\n  C(i) +=! A(i+k) * W(k)\n}", {"N": 7, "K": 3}, []),
    "a stride": ("def f(float(N) A, float(K) W) -> (C) {\n  C(i) +=! A(2*i+k) * W(k)\n}", {"N": 8, "K": 3}, []),
    "a diagonal": ("def f(float(N,N) A) -> (C) {\n  C(i) = A(i,i)\n}", {"N": 4}, []),
    "a lookup": ("def f(float(N) A, int32(M) at) -> (C) {\n  C(i) = A(at(i))\n}", {"N": 7, "M": 2}, []),
    "a size alone": ("def f(float(N) A, float(M) x) -> (C) {\n  C(i) = x(i) where i in 0:A.0\n}", {"N": 4, "M": 4}, []),
}  # fmt: skip


def tc_warnings(text: str, sizes: dict[str, int], folder: Path) -> list[str]:
    path = folder / "kernel.tc"
    path.write_text(text, encoding="utf-8")
    return parts_told(build(str(path), Options(sizes=sizes)).text_warnings)


@pytest.mark.parametrize("name", TC)
def test_parts_of_a_kernel(name: str, tmp_path: Path) -> None:
    text, sizes, expected = TC[name]
    assert tc_warnings(text, sizes, tmp_path) == expected


LEARNING = """input x[4]: real;
label y[3]: real;
model W[3, 4]: real;
value h[3]: real;
value d[3]: real;
value g[3, 4]: real;
h[i] = sum[k in 0:3](W[i, k] * x[k]) for i in 0:3;
{}d[i] = h[i] - y[i] for i in 0:3;
g[i, k] = d[i] * x[k] for i in 0:3, k in 0:4;
update W -= 0.25 * g;
"""
REST = "value _rest[3]: real;\n_rest[i] = W[i, 3] * x[3] for i in 0:3;\n"
TEXTS = {
    "right": (LEARNING.format("").replace("0:3](W", "0:4](W"), []),
    "too short": (
        LEARNING.format(""),
        [f"3:7 W[0..2][3] are never read; {UNDERSCORE}"],
    ),
    "meant": (LEARNING.format(REST), []),
}


@pytest.mark.parametrize("name", TEXTS)
def test_parts_of_a_text_of_a_kernel(name: str, tmp_path: Path) -> None:
    text, expected = TEXTS[name]
    path = tmp_path / "layer.kernel"
    path.write_text(text, encoding="utf-8")
    assert parts_told(build(str(path), Options()).text_warnings) == expected


def layer(X, Y, W):
    inputs, outputs = TensorDims(2)
    i, j = TensorIndexes(2)
    X.bind_dims(inputs)
    Y.bind_dims(outputs)
    P, L = TensorOutput(outputs), TensorOutput()
    P[j] += X[i] * W[i, j]
    E = P - Y
    L[()] += E[j] * E[j]
    descend(L / 2, [W], 0.5)


def hidden(X, Y, W, V):
    i, j, k = TensorIndexes(3)
    H, P, L = TensorOutput(5), TensorOutput(3), TensorOutput()
    H[k] += X[i] * W[k, i]
    T = tanh(H)
    P[j] += T[k] * V[k, j]
    E = P - Y
    L[()] += E[j] * E[j]
    descend(L / 2, [W, V], 0.5)


def shown_and_not_learnt(X, Y, W):
    i, j = TensorIndexes(2)
    P, L = TensorOutput(3), TensorOutput()
    P[j] += X[i] * W[i, j]
    L[()] += P[j] * Y[j]
    descend(L / 2, [W], 0.5)
    return P


def shown_and_meant(X, Y, W):
    i, j = TensorIndexes(2)
    P, L = TensorOutput(3), TensorOutput()
    P[j] += X[i] * W[i, j]
    L[()] += P[j] * Y[j]
    L.add_constraint(j < 2)
    descend(L / 2, [W], 0.5)
    return P


def meant(X, W):
    i, j = TensorIndexes(2)
    P = TensorOutput(3)
    P[j] += X[i] * W[j, i]
    P.add_constraint(i < 3)
    return P


def idle_constraint(X, W):
    i, j = TensorIndexes(2)
    P = TensorOutput(3)
    P[j] += X[i] * W[j, i]
    P.add_constraint(j < 3)
    return P


def shifted(X, W):
    i, j = TensorIndexes(2)
    P = TensorOutput(3)
    P[j] += X[i] * W[j, i - 2]
    return P


def slices(X, W):
    i, j = TensorIndexes(2)
    S, P = TensorOutput(3), TensorOutput(3)
    S[i] = X[i]
    P[j] += S[i] * W[j, i]
    return P


def strided(X, W):
    i, k = TensorIndexes(2)
    P = TensorOutput(3)
    P[i] += X[2 * i + k] * W[k]
    return P


def cropped(X, W):
    i, k = TensorIndexes(2)
    P = TensorOutput(3)
    P[i] += X[i + k] * W[k]
    return P


def pooled(X):
    i, k = TensorIndexes(2)
    P = TensorOutput(3)
    P[i] >= X[2 * i + k]  # noqa: B015
    P.add_constraint(k < 2)
    return P


TILE: dict[str, tuple[Callable[..., Any], dict[str, tuple[int, ...]], list[str]]] = {
    "transposed": (
        layer,
        {"X": (4,), "Y": (3,), "W": (3, 4)},
        [
            f"X[3] is never read: 'i' ends before 3 because of the first axis of 'W'; {CONSTRAINT.format('i < 3')}",
            f"W[0..2][3] are never read: 'j' ends before 3 because of the size of 'P'; {CONSTRAINT.format('j < 3')}",
        ],
    ),
    "as it should be": (layer, {"X": (4,), "Y": (3,), "W": (4, 3)}, []),
    "a hidden layer": (
        hidden,
        {"X": (4,), "Y": (3,), "W": (5, 4), "V": (3, 5)},
        [
            f"T[3..4] are never read: 'k' ends before 3 because of the first axis of 'V'; {CONSTRAINT.format('k < 3')}",
            f"V[0..2][3..4] are never read: 'j' ends before 3 because of the size of 'P'; {CONSTRAINT.format('j < 3')}",
            f"W[3..4][0..3] never learn: 'k' ends before 3 because of the first axis of 'V'; {NO_LABEL}",
        ],
    ),
    "a hidden layer as it should be": (hidden, {"X": (4,), "Y": (3,), "W": (5, 4), "V": (5, 3)}, []),
    "shown and not learnt": (
        shown_and_not_learnt,
        {"X": (4,), "Y": (2,), "W": (4, 3)},
        [f"W[0..3][2] never learn: 'j' ends before 2 because of the size of 'Y'; {NO_LABEL}"],
    ),
    "shown and meant": (shown_and_meant, {"X": (4,), "Y": (2,), "W": (4, 3)}, []),
    "meant": (meant, {"X": (4,), "W": (3, 3)}, []),
    "a constraint on another index": (
        idle_constraint,
        {"X": (4,), "W": (3, 3)},
        [f"X[3] is never read: 'i' ends before 3 because of the second axis of 'W'; {CONSTRAINT.format('i < 3')}"],
    ),
    "shifted": (
        shifted,
        {"X": (4,), "W": (3, 2)},
        [
            (
                f"X[0..1] are never read: "
                f"'i' begins at 2 because of the second axis of 'W'; {CONSTRAINT.format('i - 2 < 2')}"
            )
        ],
    ),
    "a slice": (slices, {"X": (5,), "W": (3, 3)}, []),
    "a stride leaves one over": (strided, {"X": (8,), "W": (3,)}, []),
    "a stride leaves more over": (
        strided,
        {"X": (10,), "W": (3,)},
        [
            (
                f"X[7..9] are never read: "
                f"'2*i+k' ends before 7 because of the size of 'P' and the size of 'W'; {CONSTRAINT.format('i < 3')}"
            )
        ],
    ),
    "a window that is cropped": (
        cropped,
        {"X": (6,), "W": (3,)},
        [
            (
                f"X[5] is never read: "
                f"'i+k' ends before 5 because of the size of 'P' and the size of 'W'; {CONSTRAINT.format('i < 3')}"
            )
        ],
    ),
    "a pool": (pooled, {"X": (7,)}, []),
}


@pytest.mark.parametrize("name", TILE)
def test_parts_of_a_tile_function(name: str) -> None:
    function, shapes, expected = TILE[name]
    found = parts_told(build(function, Options(shapes=shapes)).warnings)
    assert [re.sub(r"^\d+:\d+ ", "", text) for text in found] == expected


def test_the_place_in_a_tile_function_is_the_element() -> None:
    (first, _) = parts_told(build(layer, Options(shapes={"X": (4,), "Y": (3,), "W": (3, 4)})).warnings)
    line = Path(__file__).read_text(encoding="utf-8").split("\n")[int(first.split(":")[0]) - 1]
    assert line[int(first.split(":")[1].split(" ")[0]) - 1 :].startswith("X[i] * W[i, j]")


class Drawn:
    """A kernel of reads with one index and an offset in each subscript, and its sizes."""

    def __init__(self, reads: list[list[tuple[str, int, int]]]) -> None:
        self.reads = reads
        arguments = ", ".join(
            f"float({','.join(f'S{t}{a}' for a in range(len(read)))}) T{t}" for t, read in enumerate(reads)
        )
        values = " * ".join(f"T{t}({','.join(f'{i}+{o}' for i, o, _ in read)})" for t, read in enumerate(reads))
        names = sorted({index for read in reads for index, _, _ in read})
        self.text = f"def f({arguments}) -> (C) {{\n  C({names[0]}) +=! {values}\n}}"
        self.sizes = {f"S{t}{a}": size for t, read in enumerate(reads) for a, (_, _, size) in enumerate(read)}

    def left_out(self) -> set[tuple[str, tuple[int, ...]]]:
        """Return the elements that no value of the indices reads."""
        ranges: dict[str, set[int]] = {}
        for read in self.reads:
            for index, offset, size in read:
                positions = set(range(-offset, size - offset))
                ranges[index] = ranges.get(index, positions) & positions
        found = set()
        for t, read in enumerate(self.reads):
            for element in product(*(range(size) for _, _, size in read)):
                if any(at - offset not in ranges[index] for at, (index, offset, _) in zip(element, read, strict=True)):
                    found.add((f"T{t}", element))
        return found


@st.composite
def kernels(draw: st.DrawFn) -> Drawn:
    reads = []
    for _ in range(draw(st.integers(1, 3))):
        names = draw(st.lists(st.sampled_from("ijk"), min_size=1, max_size=3, unique=True))
        reads.append([(name, draw(st.integers(0, 2)), draw(st.integers(1, 5))) for name in names])
    return Drawn(reads)


def elements_told(warnings: list[str]) -> list[tuple[str, tuple[int, ...]]]:
    """Return the elements that warnings name, in their order."""
    found = []
    for warning in warnings:
        for name, subscripts in PARTS.findall(warning.partition(" never ")[0]):
            ends = [text.split("..") for text in re.findall(r"\[([^\]]+)\]", subscripts)]
            for element in product(*(range(int(low[0]), int(low[-1]) + 1) for low in ends)):
                found.append((name, element))
    return found


@given(drawn=kernels())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_all_that_is_left_out_is_told_once(drawn: Drawn, tmp_path: Path) -> None:
    try:
        warnings = tc_warnings(drawn.text, drawn.sizes, tmp_path)
    except TablaError as fault:
        assert "is empty" in fault.message
        return
    told = elements_told(warnings)
    assert len(told) == len(set(told))
    assert set(told) == drawn.left_out()


def test_what_is_told_decides_nothing() -> None:
    """A control: other values in the parts that are told change no word, and others do."""
    shapes = {"X": (4,), "Y": (3,), "W": (3, 4)}
    made = build(layer, Options(shapes=shapes))
    random = np.random.default_rng(3)
    arrays = {name: random.uniform(-1, 1, shape) for name, shape in shapes.items()}
    before = made.evaluate(arrays)
    changed = {name: array.copy() for name, array in arrays.items()}
    changed["X"][3], changed["W"][:, 3] = 0.75, arrays["W"][:, 3]
    after = made.evaluate(changed)
    np.testing.assert_array_equal(before["W"], after["W"])
    changed["X"][2] = -0.75
    assert (made.evaluate(changed)["W"] != before["W"]).any()
