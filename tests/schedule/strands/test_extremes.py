"""The largest and smallest words on the machine: every way to them, words as evaluated, cycles as predicted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tabla.graph.format import Format
from tabla.graph.graph import Extreme, ExtremeOp, Graph, Linear, Product
from tabla.templates.template import template_for
from tests.graph.examples import Builder, at, word
from tests.schedule.agreement import agree

Q6_10 = Format(integer=6, fraction=10)


def rows(op: ExtremeOp, *, initial: bool = False, extent: int = 37) -> Graph:
    """m[i] over the rows of a model of 5 x `extent` words."""
    b = Builder()
    b.tensor("w", "model", 5, extent)
    b.tensor("x", "input", 5)
    b.tensor("m", "value", 5)
    first = at("x", "i") if initial else None
    b.let("m", "i", Extreme(op=op, operands=(at("w", "i", "j"),), reduce=("j",), initial=first), "j", i=5, j=extent)
    return b.graph("rows", {}, (("m", "m"),))


def elementwise(op: ExtremeOp) -> Graph:
    """The extreme of three words, of a product that lanes make, and of a word for all."""
    b = Builder()
    b.tensor("w", "model", 21)
    b.tensor("v", "model", 21)
    b.tensor("x", "input")
    b.tensor("t", "value", 21)
    b.tensor("m", "value", 21)
    b.let("t", "i", Linear(terms=(word(at("w", "i")), word(at("v", "i")))), i=21)
    b.let("m", "i", Extreme(op=op, operands=(at("x"), at("t", "i"), at("w", "i"))), i=21)
    return b.graph("elementwise", {}, (("m", "m"),))


def columns(op: ExtremeOp) -> Graph:
    """m[j] over the columns: lanes take one column each."""
    b = Builder()
    b.tensor("w", "model", 6, 24)
    b.tensor("m", "value", 24)
    b.tensor("s", "value")
    b.let("m", "j", Extreme(op=op, operands=(at("w", "i", "j"),), reduce=("i",)), "i", i=6, j=24)
    b.let("s", "", Extreme(op=op, operands=(at("m", "j"),), reduce=("j",)), "j", j=24)
    return b.graph("columns", {}, (("s", "s"), ("m", "m")))


def product_from_a_word(op: ExtremeOp) -> Graph:
    """A running product that starts from an input, under an extreme."""
    b = Builder()
    b.tensor("w", "model", 3, 4)
    b.tensor("x", "input", 3)
    b.tensor("p", "value", 3)
    b.tensor("m", "value")
    b.let("p", "i", Product(operand=at("w", "i", "j"), reduce=("j",), initial=at("x", "i")), "j", i=3, j=4)
    b.let("m", "", Extreme(op=op, operands=(at("p", "i"),), reduce=("i",)), "i", i=3)
    return b.graph("product", {}, (("m", "m"), ("p", "p")))


@pytest.mark.parametrize("op", ["max", "min"])
@pytest.mark.parametrize("pes", [1, 4, 16])
@pytest.mark.parametrize(
    "made",
    [rows, lambda op: rows(op, initial=True), elementwise, columns, product_from_a_word],
    ids=["rows", "rows from a word", "elementwise", "columns", "product"],
)
def test_words_and_cycles(made: Callable[[ExtremeOp], Graph], pes: int, op: ExtremeOp) -> None:
    agree(made(op), template_for(pes), Q6_10)


@pytest.mark.parametrize("made", [rows, elementwise, columns])
def test_several_sequencers_have_no_tree_for_extremes(made: Callable[[ExtremeOp], Graph]) -> None:
    schedule = agree(made("min"), replace(template_for(8), sequencers=2), Q6_10)
    assert "tree" not in [fit.way for fit in schedule.mapping.fits]


def test_lanes_take_one_word_a_cycle_and_the_tree_joins_them() -> None:
    schedule = agree(rows("max", extent=640), template_for(16), Q6_10)
    assert [fit.way for fit in schedule.mapping.fits] == ["tree"]
    assert schedule.cycles <= 5 * 640 // 16 + 8


def test_without_extremes_the_microcode_is_as_wide_as_ever() -> None:
    from tabla.templates.instructions import operation_format

    assert [sum(f.width for f in operation_format(u).fields) for u in ("lane_issue", "root_issue")] == [21, 27]
