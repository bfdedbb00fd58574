"""The rules that make names legal in Verilog."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabla.build.files.names import legal, legal_names


@pytest.mark.parametrize(
    ("name", "verilog"),
    [
        ("w", "w"),
        ("y'", "y_prime"),
        ("h.t1", "h_t1"),
        ("2layer", "n2layer"),
        ("reg", "reg_"),
        ("logic", "logic_"),
        ("my-net", "my_net"),
        ("", "n"),
        ("größe", "gr__e"),
    ],
)
def test_names_follow_the_rules(name: str, verilog: str) -> None:
    assert legal(name) == verilog


def test_collisions() -> None:
    table = legal_names(["y'", "y_prime", "Y_PRIME", "reg", "reg_", "w"], taken=["w"])
    assert table == {
        "y'": "y_prime",
        "y_prime": "y_prime_2",
        "Y_PRIME": "Y_PRIME_3",
        "reg": "reg_",
        "reg_": "reg__2",
        "w": "w_2",
    }


@given(st.lists(st.text(max_size=6), unique=True, max_size=12))
def test_always_legal_and_unique(names: list[str]) -> None:
    table = legal_names(names)
    assert list(table) == names
    assert all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text) for text in table.values())
    assert len({text.lower() for text in table.values()}) == len(names)
