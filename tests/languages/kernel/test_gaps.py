"""Zeros that are written between other elements leave these as they are, or are refused."""

from __future__ import annotations

import pytest

from tabla.base.source import Source, TablaError
from tabla.graph.format import Format
from tabla.languages.kernel.lower import lower
from tabla.languages.kernel.parser import parse

HEAD = "input M[4, 4]: real; value N[4, 4]: real; N[i, j] = M[i, j] for i in 0:4, j in 0:4; "


@pytest.mark.parametrize("statement", ["N[k, k] = 0.0 for k in 0:4;", "N[2*k, 1] = 0.0 for k in 0:2;"])
def test_zeros_with_gaps_are_no_box(statement: str) -> None:
    """All elements of the box around a diagonal had been 0."""
    kernel = parse(Source.from_text(f"{HEAD}{statement} return N;", "x.kernel"), "x")
    with pytest.raises(TablaError, match="that a stride leaves out would keep their values"):
        lower(kernel, number_format=Format.parse("q6.10"))
