"""Copy forwarding, common subexpressions and dead code, one case each."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from tabla.graph.format import Format
from tabla.graph.graph import Affine, Constant, Function, Graph, Index, Linear, Ordinal, Product, Read, Statement, Term
from tabla.graph.passes.common_subexpressions import common_subexpressions
from tabla.graph.passes.drop_dead import drop_dead
from tabla.graph.passes.forward_copies import forward_copies
from tabla.graph.passes.pipeline import run_passes
from tabla.graph.text import statement_text
from tests.graph.examples import Builder, at, product, word

Q6_10 = Format.parse("q6.10")


def lines(graph: Graph) -> list[str]:
    return [statement_text(statement).split("   for")[0] for statement in graph.statements]


def copy(operand: Read | Constant | Ordinal) -> Linear:
    return Linear(terms=(Term(factors=(operand,)),))


def read(tensor: str, *subscripts: Affine) -> Read:
    return Read(tensor=tensor, subscripts=subscripts)


@pytest.fixture
def b() -> Builder:
    made = Builder()
    made.tensor("x", "input", 8, 8)
    for name in ("c", "d", "r", "s"):
        made.tensor(name, "value", 8, 8)
    return made


def store(b: Builder, target: str, write: tuple[Affine, ...], operation: object, **ranges: tuple[int, int]) -> None:
    """A statement with any write."""
    b.statements.append(
        Statement(
            id=len(b.statements),
            target=target,
            write=write,
            indices=tuple(Index(name=name, low=low, high=high) for name, (low, high) in ranges.items()),
            operation=operation,  # type: ignore[arg-type]
        )
    )


def test_a_transposed_and_shifted_copy_is_read_in_place(b: Builder) -> None:
    store(b, "c", (Affine.of(1, j=1), Affine.of(7, i=-1)), copy(at("x", "i", "j")), i=(0, 8), j=(0, 7))
    store(
        b, "r", (Affine.of(m=1), Affine.of(n=1)), copy(read("c", Affine.of(1, m=1), Affine.of(n=2))), m=(0, 7), n=(0, 4)
    )
    assert lines(forward_copies(b.graph("g", {}), Q6_10))[1] == "r[m][n] = x[-2*n+7][m]"


def test_constants_and_index_values_travel(b: Builder) -> None:
    store(b, "c", (Affine.of(i=1), Affine()), copy(Constant(value=Fraction(1, 3))), i=(0, 8))
    store(b, "d", (Affine.of(i=1), Affine()), copy(Ordinal(value=Affine.of(2, i=1))), i=(0, 8))
    total = Linear(terms=(product(read("c", Affine.of(k=1), Affine()), read("d", Affine.of(3, k=1), Affine())),))
    store(b, "r", (Affine.of(k=1), Affine()), total, k=(0, 5))
    assert lines(forward_copies(b.graph("g", {}), Q6_10))[2] == "r[k][0] = (1/3)*<k+5>"


def test_strided_copies_are_solved_where_they_divide(b: Builder) -> None:
    store(b, "c", (Affine.of(i=2), Affine()), copy(read("x", Affine.of(i=1), Affine())), i=(0, 4))
    store(b, "r", (Affine.of(k=1), Affine()), copy(read("c", Affine.of(2, k=2), Affine())), k=(0, 3))
    assert lines(forward_copies(b.graph("g", {}), Q6_10))[1] == "r[k][0] = x[k+1][0]"


def test_an_index_of_one_value_need_not_be_written(b: Builder) -> None:
    store(b, "c", (Affine(), Affine()), copy(read("x", Affine.of(i=1), Affine())), i=(3, 4))
    store(b, "r", (Affine.of(k=1), Affine()), copy(read("c", Affine(), Affine())), k=(0, 3))
    assert lines(forward_copies(b.graph("g", {}), Q6_10))[1] == "r[k][0] = x[3][0]"


def test_strides_that_do_not_divide_stay(b: Builder) -> None:
    store(b, "c", (Affine.of(i=2), Affine()), copy(read("x", Affine.of(i=1), Affine())), i=(0, 4))
    store(b, "r", (Affine.of(k=1), Affine()), copy(read("c", Affine.of(1, k=1), Affine())), k=(1, 2))
    graph = b.graph("g", {})
    assert forward_copies(graph, Q6_10) == graph


def test_copies_of_parts_and_negated_copies_stay(b: Builder) -> None:
    store(b, "c", (Affine.of(i=1), Affine()), copy(read("x", Affine.of(i=1), Affine())), i=(0, 4))
    store(b, "c", (Affine.of(i=1), Affine()), copy(read("x", Affine(), Affine.of(i=1))), i=(4, 8))
    minus = Linear(terms=(Term(factors=(at("x", "i", "j"),), sign=-1),))
    store(b, "d", (Affine.of(i=1), Affine.of(j=1)), minus, i=(0, 8), j=(0, 8))
    store(b, "r", (Affine.of(k=1), Affine.of(l=1)), copy(at("d", "k", "l")), k=(0, 8), l=(0, 8))
    store(b, "s", (Affine.of(k=1), Affine()), copy(read("c", Affine.of(k=1), Affine())), k=(0, 8))
    graph = b.graph("g", {})
    assert forward_copies(graph, Q6_10) == graph


def test_repeats_are_found_under_other_names_ranges_and_orders(b: Builder) -> None:
    first = Linear(terms=(product(at("x", "i", "j"), at("x", "j", "i")), word(at("x", "i", "i"))))
    store(b, "c", (Affine.of(i=1), Affine.of(j=1)), first, i=(0, 4), j=(0, 4))
    low = {name: Affine.of(-2, **{name: 1}) for name in "mn"}
    second = Linear(
        terms=(
            product(read("x", low["n"], low["m"]), read("x", low["m"], low["n"])),
            word(read("x", low["m"], low["m"])),
        )
    )
    store(b, "d", (Affine.of(n=1), Affine.of(m=1)), second, n=(2, 6), m=(2, 6))
    after = common_subexpressions(b.graph("g", {}), Q6_10)
    # Factors stand in another order, so the appearance of indices differs: not found, which is safe.
    assert lines(after)[1].startswith("d[n][m] = x[n-2]")
    swapped = replace(
        second, terms=(product(read("x", low["m"], low["n"]), read("x", low["n"], low["m"])), second.terms[1])
    )
    b.statements[1] = replace(b.statements[1], operation=swapped)
    assert lines(common_subexpressions(b.graph("g", {}), Q6_10))[1] == "d[n][m] = c[m-2][n-2]"


def test_terms_in_another_order_are_the_same(b: Builder) -> None:
    terms = (word(at("x", "i", "j")), word(at("x", "j", "j"), -1))
    store(b, "c", (Affine.of(i=1), Affine.of(j=1)), Linear(terms=terms), i=(0, 4), j=(0, 4))
    terms = (word(at("x", "i", "j")), word(at("x", "j", "j"), -1))
    store(b, "d", (Affine.of(i=1), Affine.of(j=1)), Linear(terms=terms, shift=3), i=(0, 4), j=(0, 4))
    assert lines(common_subexpressions(b.graph("g", {}), Q6_10))[1] == "d[i][j] = c[i][j]"


@pytest.mark.parametrize(
    "other",
    [
        Function(name="tanh", operand=at("x", "i", "j")),
        Function(name="sigmoid", operand=at("x", "j", "i")),
        Function(name="sigmoid", operand=read("x", Affine.of(1, i=1), Affine.of(j=1))),
        Function(name="sigmoid", operand=at("c", "i", "j")),
    ],
    ids=str,
)
def test_what_differs_is_kept(b: Builder, other: Function) -> None:
    store(
        b,
        "c",
        (Affine.of(i=1), Affine.of(j=1)),
        Function(name="sigmoid", operand=at("x", "i", "j")),
        i=(0, 4),
        j=(0, 3),
    )
    store(b, "d", (Affine.of(i=1), Affine.of(j=1)), other, i=(0, 4), j=(0, 3))
    graph = b.graph("g", {})
    assert common_subexpressions(graph, Q6_10) == graph


@pytest.mark.parametrize(("sign", "shift"), [(-1, 0), (1, 2)])
def test_sums_that_differ_in_sign_or_shift_are_kept(b: Builder, sign: int, shift: int) -> None:
    square = product(at("x", "i", "j"), at("x", "i", "j"))
    for target, made in (
        ("c", Linear(terms=(square,))),
        ("d", Linear(terms=(replace(square, sign=sign),), shift=shift)),
    ):
        store(b, target, (Affine.of(i=1), Affine.of(j=1)), made, i=(0, 4), j=(0, 3))
    graph = b.graph("g", {})
    assert common_subexpressions(graph, Q6_10) == graph


def test_next_values_compute_for_themselves() -> None:
    b = Builder()
    b.tensor("w", "model", 3)
    b.tensor("c", "value", 3)
    b.tensor("w.next", "next", 3)
    step = Linear(terms=(word(at("w", "i")), product(at("w", "i"), at("w", "i"))))
    b.let("c", "i", step, i=3)
    b.let("w.next", "i", step, i=3)
    graph = b.graph("g", {"w": "w.next"}, (("c", "c"),))
    assert common_subexpressions(graph, Q6_10) == graph


def test_products_in_another_order_are_not_the_same(b: Builder) -> None:
    for target, reduce in (("c", ("p", "q")), ("d", ("q", "p"))):
        b.statements.append(
            Statement(
                id=len(b.statements),
                target=target,
                write=(Affine(), Affine()),
                indices=(),
                operation=Product(operand=at("x", "p", "q"), reduce=reduce),
                reduced=tuple(Index(name=name, low=0, high=3) for name in "pq"),
            )
        )
    graph = b.graph("g", {})
    assert common_subexpressions(graph, Q6_10) == graph


def test_the_dead_go_and_the_interface_stays(b: Builder) -> None:
    store(
        b, "c", (Affine.of(i=1), Affine()), Function(name="tanh", operand=read("x", Affine.of(i=1), Affine())), i=(0, 8)
    )
    store(
        b, "d", (Affine.of(i=1), Affine()), Function(name="tanh", operand=read("c", Affine.of(i=1), Affine())), i=(0, 8)
    )
    store(
        b, "r", (Affine.of(i=1), Affine()), Function(name="log", operand=read("c", Affine.of(i=1), Affine())), i=(0, 8)
    )
    b.tensor("y", "label")
    after = drop_dead(b.graph("g", {}, (("r", "r"),)), Q6_10)
    assert lines(after) == ["c[i][0] = tanh(x[i][0])", "r[i][0] = log(c[i][0])"]
    assert [s.id for s in after.statements] == [0, 1]
    assert list(after.tensors) == ["x", "c", "r", "y"]


def test_together_they_leave_one_computation(b: Builder) -> None:
    """c and d hold the same under other subscripts; r = c + 0*d, s = c - d."""
    for name in ("r", "s"):
        b.tensor(name, "value", 8)
    store(
        b, "c", (Affine.of(i=1), Affine()), Function(name="tanh", operand=read("x", Affine.of(i=1), Affine())), i=(0, 8)
    )
    late = Function(name="tanh", operand=read("x", Affine.of(-1, k=1), Affine()))
    store(b, "d", (Affine(), Affine.of(-1, k=1)), late, k=(1, 9))
    both = read("c", Affine.of(i=1), Affine()), read("d", Affine(), Affine.of(i=1))
    nought = Term(factors=(Constant(value=Fraction(0)), both[1]))
    store(b, "r", (Affine.of(i=1),), Linear(terms=(word(both[0]), nought)), i=(0, 8))
    store(b, "s", (Affine.of(i=1),), Linear(terms=(word(both[0]), word(both[1], -1))), i=(0, 8))
    after = run_passes(b.graph("g", {}, (("r", "r"), ("s", "s"))), Q6_10)
    assert lines(after) == ["c[i][0] = tanh(x[i][0])", "r[i] = c[i][0]", "s[i] = 0"]
