"""The page of operators: it has them all, and every figure on it is measured again."""

from __future__ import annotations

import re
from typing import get_args

import numpy as np
import pytest

from manual.operators import HEAD, NUMBER, PAGE, TEMPLATE, WORDS, Row, page, tensor_comprehensions, tile_operators
from tabla import tile
from tabla.languages.tc import grammar, lexer
from tabla.languages.tc.builtins import ARITY, OWN
from tabla.languages.tile.program import Operator
from tests.schedule.agreement import agree

ROWS = [*tensor_comprehensions(), *tile_operators()]
EVERY = 9
"""`make test` measures one row of so many, and `make test-all` measures all."""
STATED = {"0": 0.0, "0.5": 0.5}


def named(row: Row) -> str:
    return row.written


def test_the_page_has_the_rows_in_their_order() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.startswith(HEAD), "run python -m manual.operators"
    assert re.findall(r"^\| `(.*?)` \| yes", text, re.MULTILINE) == [row.written for row in ROWS]


def test_every_operator_of_tensor_comprehensions_has_a_row() -> None:
    written = " ".join(row.written.replace("\\|", "|") for row in tensor_comprehensions())
    rules = (grammar.p_expression_binary.__doc__ or "").split()
    kinds = [word for word in rules if word.isupper()]
    assert len(kinds) == 13
    for kind in kinds:
        sign = re.sub(r"\\(.)", r"\1", getattr(lexer, f"t_{kind}"))
        assert f" {sign} " in written, sign
    for name in ARITY | OWN:
        assert f" {name}(" in written, name
    for operator in ("+=!", "*=!", "min=!", "max=!"):
        assert f"y {operator} a" in written


def test_every_operator_of_tile_has_a_row() -> None:
    assert {operator for row in tile_operators() for operator in row.uses} == set(get_args(Operator))
    written = " ".join(row.written for row in tile_operators())
    # These make tensors, sizes and steps, and are no operators on elements.
    apart = {"cond", "descend", "gradient", "update"}
    for name in set(tile.__all__) - apart:
        if name.islower():
            assert re.search(rf"\b{name}\(", written), name
    for operator in ("+=", "*=", ">=", "<=", "="):
        assert f"] {operator} A[" in written


@pytest.mark.parametrize("row", ROWS[::EVERY], ids=named)
def test_a_row_is_what_is_measured(row: Row) -> None:
    assert f"\n{row.line}\n" in PAGE.read_text(encoding="utf-8"), "run python -m manual.operators"


@pytest.mark.slow
def test_the_whole_page_is_what_is_measured() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m manual.operators"


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for row in ROWS if row.on_machine and row.written[:2] != "b("], ids=named)
def test_the_machine_takes_the_cycles_that_the_page_counts(row: Row) -> None:
    assert agree(row.make(WORDS[0]), TEMPLATE, NUMBER, samples=2).cycles == row.scheduled(WORDS[0])


@pytest.mark.parametrize("row", [row for row in ROWS if row.error in STATED and row.on_machine], ids=named)
def test_a_stated_error_holds(row: Row) -> None:
    chance, count = np.random.default_rng(1), 2000
    if any(word in row.written for word in ("y ", "O[()]", "scatter", "gather", "index", "shape", "prng")):
        # Positions and coordinates of as many words fit the format.
        count = WORDS[0]
    words = {}
    for name in row.operands:
        if name in "pq":
            words[name] = chance.integers(0, 2, count) * NUMBER.one
        elif "J" in row.written and name == "B" and "(" in row.written:
            words[name] = chance.integers(0, 8, count) * NUMBER.one
        elif name in row.integers:
            words[name] = chance.integers(1, 90, count)
        else:
            small = chance.integers(-8 * NUMBER.one, 8 * NUMBER.one, count)
            words[name] = np.where(chance.random(count) < 0.5, small, chance.integers(-2000, 2000, count))
    assert row.error is not None and row.error_of(words) <= STATED[row.error]
