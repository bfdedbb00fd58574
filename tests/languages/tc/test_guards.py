"""Reads under conditions: ranges, proofs, messages, and evaluation against Python at every point."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.base.source import Source, TablaError
from tabla.languages.tc import infer, parse, ranges_text
from tabla.languages.tc.evaluate import evaluate
from tests.languages.tc.guarded_kernels import Kernel, drawn, kernels, points

HEAD = "def f(float(N) A, float(M) W, float(N,M) T, int32(N) I) -> (B)"


def ranges(body: str, sizes: dict[str, int] | None = None) -> list[str]:
    """The lines of ``tabla ranges`` below the statement."""
    unit = parse(Source.from_text(f"{HEAD} {{ {body} }}"))
    return [line.strip() for line in ranges_text(unit, None, sizes or {}).splitlines()[2:]]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("B(i) = i >= 1 ? A(i-1) : 0.0 where i in 0:N", ["i in [0, N)"]),
        ("B(i) = i >= 1 && i <= N ? A(i-1) : 7.0 where i in 0:N+2", ["i in [0, N+2)"]),
        ("B(i) = i < 1 || i > N ? 0.0 : A(i-1) where i in 0:N+2", ["i in [0, N+2)"]),
        ("B(i) = !(i < 1 || i > N) ? A(i-1) : 0.0 where i in 0:N+3", ["i in [0, N+3)"]),
        ("B(i) = i >= 1 ? (i <= N ? A(i-1) : 2.0) : 3.0 where i in 0:N+3", ["i in [0, N+3)"]),
        ("B(i) = i != 0 ? A(i-1) : 0.0 where i in 0:N", ["i in [0, N)"]),
        ("B(i) = i == 0 ? 0.0 : A(i-1) where i in 0:N", ["i in [0, N)"]),
        ("B(i) = i == 0 ? A(i+2) : A(i-1) where i in 0:N", ["i in [0, N)", "requires 3 <= N"]),
        ("B(i) = 2*i < N ? A(2*i) : 0.0 where i in 0:N", ["i in [0, N)"]),
        ("B(i) = i > N ? A(i-1) : 0.0 where i in 0:N", ["i in [0, N)"]),
        ("B(i) = N > 7 ? A(7) : 0.0 where i in 0:N", ["i in [0, N)"]),
        ("B(i) = i >= 2 && A(i-2) > 0 ? A(i-1) : 0.0 where i in 0:N", ["i in [0, N)"]),
        ("B(i) = I(i) >= 1 && i >= 1 ? A(i-1) : 0.0 where i in 0:N", ["i in [0, N)"]),
        ("B(i) = i < 1 || A(i-1) > 0 ? 1.0 : 0.0 where i in 0:N", ["i in [0, N)"]),
        ("B(i) = x where x = i >= 1 ? A(i-1) : 0.0, i in 0:N", ["i in [0, N)"]),
        ("B(i,j) = i+j < N ? A(i+j) : 0.0 where i in 0:N, j in 0:N", ["i in [0, N)", "j in [0, N)"]),
        ("B(i,j) = i >= 1 && j >= 1 ? A(i+j-2) : 0.0 where i in 0:N/2, j in 0:N/2", ["i in [0, N/2)", "j in [0, N/2)"]),
        # What conditions ensure limits no other index: k has the range of W.
        ("B(i) +=! i+k >= 1 && i+k <= N ? A(i+k-1) * W(k) : 0.0 where i in 0:N", ["i in [0, N)", "k in [0, M)"]),
        ("B(i) = A(i) + (i >= 2 ? A(i-2) : 0.0)", ["i in [0, N)"]),
        # The condition ensures the low end only.
        ("B(i) +=! i+k >= 1 ? A(i+k-1) * W(k) : 0.0 where i in 0:N", ["i in [0, N)", "k in [0, min(2, M))"]),
        # The condition mentions an index that is solved later than those of the read.
        ("B(i) +=! i + j < N ? A(i) : 0.0 where i in 0:N+1, j in 1:i+1",
         ["i in [0, N+1)", "j in [1, i+1), inside [1, N+1)"]),
        # Where nothing else gives a range, the guarded reads do.
        ("B(i) = i >= 1 ? A(i-1) : 0.0", ["i in [1, N+1)"]),
        # Data exclude no point, so this condition changes no range.
        ("B(i) = W(i) > 0 ? A(i-1) : 0.0", ["i in [1, min(M, N+1))"]),
    ],
)  # fmt: skip
def test_ranges(body: str, found: list[str]) -> None:
    assert ranges(body) == found


@pytest.mark.parametrize(
    ("body", "sizes", "message", "cure"),
    [
        ("B(i) = i >= 0 ? A(i-1) : 0.0 where i in 0:N", {}, "'A' is read at -1 in dimension 0, which runs over [0, N)",
         "read it only where i >= 1"),
        ("B(i) = i >= 1 ? A(i) : A(i-1) where i in 0:N", {}, "read at -1 in", "read it only where i >= 1"),
        ("B(i) = i >= 1 ? A(i+1) : 0.0 where i in 0:N", {"N": 4, "M": 1}, "read at 4 in", "only where i < 3"),
        ("B(i) = i < N ? A(i+1) : 0.0 where i in 0:N", {}, "read at N in", "read it only where i < N-1"),
        ("B(i) = I(i) >= 1 ? A(i-1) : 0.0 where i in 0:N", {}, "read at -1 in", "read it only where i >= 1"),
        ("B(i) = I(i) >= 1 || i >= 1 ? A(i-1) : 0.0 where i in 0:N", {}, "read at -1 in", "only where i >= 1"),
        ("B(i,j) = i+j <= N ? A(i+j) : 0.0 where i in 0:N, j in 0:N", {"N": 4, "M": 1},
         "read at 4 in dimension 0, which runs over [0, 4), where i = 1 and j = 3", "read it only where i+j < 4"),
        ("B(i) = i % 2 == 1 ? A(i-2) : 0.0 where i in 0:N", {"N": 4, "M": 1}, "where i = 1", "only where i >= 2"),
        ("B(i) = i >= 1 ? A(10-i) : 0.0 where i in 0:9", {"N": 9, "M": 1}, "read at 9", "read it only where i >= 2"),
        ("B(i) max=! i + j + 3 < N ? T(i + j + 2, i + 2) : 0.0 where i in -1:N, j in 0:i+1", {"N": 7, "M": 3},
         "'T' is read at 3 in dimension 1", "read it only where i < 1"),
        ("B(i) = N > 7 ? A(8) : 0.0 where i in 0:N", {"N": 8, "M": 1}, "read at 8 in", "change the sizes"),
        ("B(i) = i >= 1 ? x : 0.0 where x = A(i-1), i in 0:N", {}, "0 <= -1 does not hold", "change the sizes"),
    ],
)  # fmt: skip
def test_conditions_that_leave_out_too_little(body: str, sizes: dict[str, int], message: str, cure: str) -> None:
    with pytest.raises(TablaError) as caught:
        infer(parse(Source.from_text(f"{HEAD} {{ {body} }}", "k.tc")).function(), sizes)
    assert message in caught.value.message and cure in (caught.value.hint or "") and caught.value.column


@pytest.mark.parametrize(
    "body",
    [
        "B(i) = i % 2 == 1 ? A(i-1) : 0.0 where i in 0:N",
        "B(i) = i % 2 == 0 ? 0.0 : A(i-1) where i in 0:N",
        "B(i) = i * i > N ? A(i-2) : 0.0 where i in 0:N",
        "B(i) = N > 7 ? A(8) : 0.0 where i in 0:N",
        "B(i) = (i / 2 >= 1 ? i % 3 == 2 || i > 2 : i == 9) ? A(i-2) : 0.0 where i in 0:N",
        "B(i,j) = 2*i + 3*j >= 8 && i < 3 && j < 2 ? A(i*4 + j*2 - 7) : 0.0 where i in 0:N, j in 0:N",
        " ".join(["B(i) =", *(f"i == {k} ? A({k}) : " for k in range(5)), "i >= 1 ? A(i-1) : 0.0 where i in 0:N"]),
    ],
)
def test_what_only_numbers_decide(body: str) -> None:
    """Conditions that are not affine, or need more than one step, are decided point by point when sizes are known."""
    function = parse(Source.from_text(f"{HEAD} {{ {body} }}")).function()
    infer(function)
    infer(function, {"N": 6, "M": 1})


def verdict(kernel: Kernel, inputs: dict[str, Any]) -> Any:
    try:
        return points(kernel, inputs)
    except IndexError:
        return None


@settings(max_examples=150, deadline=None)
@given(kernels(), st.integers(2, 4), st.integers(2, 3), st.integers(0, 2**20))
def test_random_kernels(kernel: Kernel, n: int, m: int, seed: int) -> None:
    inputs = drawn(n, m, seed)
    expected = verdict(kernel, inputs)
    try:
        function = parse(Source.from_text(kernel.text)).function()
        found = evaluate(function, inputs)["B"]
    except TablaError as fault:
        if "is read at" in fault.message or "does not hold" in fault.message:
            # Data may keep a read from being made; ranges do not count on that.
            assert expected is None or kernel.value.data, fault
            return
        assert "empty" in fault.message, fault
        return
    assert expected is not None
    np.testing.assert_allclose(found, np.clip(expected, -3.5e38, 3.5e38), rtol=1e-6, atol=1e-9)
