"""Range inference: the examples of the language's notes, and brute force over concrete sizes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from tabla.base.source import Source, TablaError
from tabla.languages.tc import infer, parse, ranges_text
from tabla.languages.tc.statement_ranges import Domain

HEAD = "def f(float(N) A, float(M) W, float(P,Q) T, int32(N) I, float s)"


def ranges(body: str, result: str = "B") -> str:
    return ranges_text(parse(Source.from_text(f"{HEAD} -> ({result}) {{ {body} }}", "k.tc")))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("B(i) = A(i)", "i in [0, N)"),
        ("B(i) = A(i-1)", "i in [1, N+1)"),
        ("B(i) = A(10-i)", "i in [11-N, 11)"),
        ("B(i) = A(2*i) + A(2*i+1)", "i in [0, N/2)"),
        ("B(i) = A(3*i+1)", "i in [0, (N-2)/3+1)"),
        ("B(i) = A(i/2)", "i in [0, 2*N)"),
        ("B(i) +=! A(i-k) * W(k)", "i in [M-1, N)"),
        ("B(i) = A(i) + W(i)", "i in [0, min(N, M))"),
        ("B(i) +=! A(i+k) * W(k)", "i in [0, N-M+1)"),
        ("B(i) = A(i-1) + A(i+1)", "i in [1, N-1)"),
        ("B(i) = A(N-1-i)", "i in [0, N)"),
        ("B(i) +=! A(2*i+k) * W(k)", "i in [0, (N-M)/2+1)"),
        ("B(i) +=! A(i+2*k) * W(k)", "i in [0, N-2*M+2)"),
        ("B(i) +=! A(4*i+k) where k in 0:4", "i in [0, N/4)"),
        ("B(i) = A((i+1)/3)", "i in [-1, 3*N-1)"),
        ("B(i) = A(i) where i in 1:N-1", "i in [1, N-1)"),
        ("B(i) = 1.0 where i in 0:T.0*T.1", "i in [0, P*Q)"),
        ("B(i) = 1.0 where i in 0:(N+1)/2", "i in [0, (N+1)/2)"),
        ("B(i) = 1.0 where i in 0:min(N, 3)", "i in [0, min(N, 3))"),
        ("B(i) = 1.0 where i in 0:(N%2)+1", "i in [0, N%2+1)"),
        ("B(i) = 1.0 where i in 0:(N > 4 ? N : 4)", "i in [0, ((4 < N) ? N : 4))"),
        ("B(i) = s where exists A(i)", "i in [0, N)"),
        ("B(i) = s * x where x = A(i+1)", "i in [-1, N-1)"),
        ("B(i) = W(I(i))", "i in [0, N)"),
        ("B(i, j) = T(I(i), j)", "j in [0, Q)"),
        ("B(i) = T(i, i)", "i in [0, min(P, Q))"),
        ("B(i) = A(i*P)", "i in [0, (N-1)/P+1)"),
        ("B(i) +=! A(j) where i in 0:4, j in 0:i+1", "j in [0, i+1), inside [0, 4)"),
    ],
)
def test_examples(body: str, expected: str) -> None:
    lines = ranges(body).splitlines()
    assert f"    {expected}" in lines


def test_shifted_bounds_reach_later_reads() -> None:
    text = ranges("C(i) = A(i-1) B(i) = C(i+1) D = C.0 * 1.0", "B, D")
    assert text.splitlines()[1:] == ["  C(i) =", "    i in [1, N+1)", "  B(i) =", "    i in [0, N)", "  D ="]


def test_several_statements_into_one_tensor() -> None:
    text = ranges("B(i) = A(i) B(i) = W(i-N) C(i) = B(i)", "C")
    assert text.splitlines()[-1] == "    i in [0, M+N)"


def test_a_reduction_reads_its_left_side() -> None:
    text = ranges("B(i) = A(i+1) B(i) += 1.0", "B")
    assert text.splitlines()[-1] == "    i in [-1, N-1)"


def test_preconditions() -> None:
    assert ranges("B(i,j) = A(i+j) * W(i) * W(j)").splitlines()[-1] == "  requires 2*M-1 <= N"
    unit = parse(Source.from_text(f"{HEAD} -> (B) {{ B(i,j) = A(i+j) * W(i) * W(j) }}"))
    assert infer(unit.function(), {"N": 5, "M": 3}).preconditions == ()
    with pytest.raises(TablaError, match="7 <= 5 does not hold") as caught:
        infer(unit.function(), {"N": 5, "M": 4})
    assert caught.value.hint


def test_calls() -> None:
    text = (
        "def dot(float(K) x, float(K) y) -> (z) { z +=! x(i) * y(i) }\n"
        "def f(float(N) A, float(M) W) -> (B) { t(i) = A(i-1) B = dot(t, W) }"
    )
    lines = ranges_text(parse(Source.from_text(text)), "f").splitlines()
    assert lines == [
        "def f", "  t(i) =", "    i in [1, N+1)", "  B = dot(t, W)", "    z +=!", "      i in [0, N)",
        "  requires M = N",
    ]  # fmt: skip


def test_order_of_indices_does_not_matter() -> None:
    one, other = ranges("B(i,j) +=! T(i,k) * T(k,j)"), ranges("B(i,j) +=! T(k,j) * T(i,k)")
    assert sorted(one.splitlines()[2:4]) == sorted(other.splitlines()[2:4])


SIZES = {"N": st.integers(1, 9), "M": st.integers(1, 5)}
REACH = range(-70, 71)
INDICES = ("i", "j", "k")


@st.composite
def subscripts(draw: Any) -> str:
    terms = [f"{draw(st.sampled_from((1, 1, 1, 2, 3, -1, -2)))}*{draw(st.sampled_from(INDICES))}"]
    if draw(st.booleans()):
        terms.append(f"{draw(st.sampled_from((1, 1, 2, -1)))}*{draw(st.sampled_from(INDICES))}")
    terms.append(draw(st.sampled_from(("0", "1", "-2", "N", "M-1", "3"))))
    return "+".join(f"({term})" for term in terms)


def rounds(reads: list[tuple[str, int]], names: list[str], sizes: dict[str, int]) -> dict[str, tuple[int, int]] | None:
    """The ranges by trying every value, None where one is empty, not found, or a read is outside."""
    checks: list[tuple[Callable[[dict[str, int]], int], int, set[str]]] = []
    for text, extent in reads:
        code = compile(text, "subscript", "eval")
        # A factor may cancel: an index that changes nothing is none.
        zero = {name: 0 for name in names}
        free = {n for n in names if eval(code, {}, sizes | zero) != eval(code, {}, sizes | zero | {n: 1})}
        checks.append((lambda at, code=code: eval(code, {}, sizes | at), extent, free))
    solved: dict[str, tuple[int, int]] = {}
    used: set[int] = set()
    while len(solved) < len(names):
        found: dict[str, tuple[int, int]] = {}
        for name in names:
            own = [c for c, (_, _, free) in enumerate(checks) if free - solved.keys() == {name}]
            if name in solved or not own:
                continue
            others = sorted(set().union(*(checks[c][2] for c in own)) - {name})
            points = [dict(zip(others, p, strict=True)) for p in product(*(range(*solved[o]) for o in others))]
            zero = {n: 0 for n in names}
            good = [
                v
                for v in REACH
                if all(0 <= checks[c][0](zero | point | {name: v}) < checks[c][1] for c in own for point in points)
            ]
            if not good:
                return None
            assert good == list(range(good[0], good[-1] + 1)) and -70 < good[0] and good[-1] < 70
            found[name] = (good[0], good[-1] + 1)
            used.update(own)
        if not found:
            return None
        solved |= found
    for c, (value, extent, _) in enumerate(checks):
        if c not in used:
            for point in product(*(range(*solved[n]) for n in names)):
                if not 0 <= value(dict(zip(names, point, strict=True))) < extent:
                    return None
    return solved


@settings(max_examples=250, deadline=None)
@given(st.lists(st.tuples(subscripts(), st.sampled_from("AW")), min_size=1, max_size=4), st.fixed_dictionaries(SIZES))
@example([("(1*i)+(1*j)+(0)", "A"), ("(1*j)+(0)", "W")], {"N": 4, "M": 2})
def test_against_brute_force(reads: list[tuple[str, str]], sizes: dict[str, int]) -> None:
    names = [name for name in INDICES if any(name in text for text, _ in reads)]
    value = " + ".join(f"{tensor}({text})" for text, tensor in reads)
    source = Source.from_text(f"def f(float(N) A, float(M) W) -> (B) {{ B({', '.join(names)}) = {value} }}")
    extents = {"A": sizes["N"], "W": sizes["M"]}
    expected = rounds([(text, extents[tensor]) for text, tensor in reads], names, sizes)
    try:
        step = infer(parse(source).function(), sizes).steps[0]
    except TablaError:
        assert expected is None
        return
    assert isinstance(step, Domain)
    found = {name: (interval.low.value, interval.high.value) for name, interval in step.intervals.items()}
    assert found == expected


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(subscripts(), st.sampled_from("AW")), min_size=1, max_size=4), st.fixed_dictionaries(SIZES))
def test_symbolic_ranges_are_the_concrete_ones(reads: list[tuple[str, str]], sizes: dict[str, int]) -> None:
    names = [name for name in INDICES if any(name in text for text, _ in reads)]
    value = " + ".join(f"{tensor}({text})" for text, tensor in reads)
    source = Source.from_text(f"def f(float(N) A, float(M) W) -> (B) {{ B({', '.join(names)}) = {value} }}")
    try:
        function = parse(source).function()
        symbolic = infer(function)
    except TablaError:
        assume(False)
        raise
    step = symbolic.steps[0]
    assert isinstance(step, Domain)
    ranges = {name: (interval.low.at(sizes), interval.high.at(sizes)) for name, interval in step.intervals.items()}
    holds = all(p.smaller.at(sizes) <= p.larger.at(sizes) for p in symbolic.preconditions)
    try:
        concrete = infer(function, sizes).steps[0]
    except TablaError:
        assert not holds or any(low >= high for low, high in ranges.values())
        return
    assert holds and isinstance(concrete, Domain)
    assert ranges == {name: (interval.low.value, interval.high.value) for name, interval in concrete.intervals.items()}


def test_a_tensor_that_is_too_short_to_go_on() -> None:
    text = f"{HEAD} -> (B) {{ B(i) = A(i)  B(i) += W(i) where i in 2:8 }}"
    with pytest.raises(TablaError, match="8 <= 4 does not hold") as caught:
        infer(parse(Source.from_text(text)).function(), {"N": 4, "M": 10})
    assert "the statements before write 'B' over [0, 4) there, and '+=' goes on from that" in (caught.value.hint or "")
