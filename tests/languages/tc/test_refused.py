"""Every refused program and the whole message that its writer sees."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tabla.base.source import Source, TablaError
from tabla.languages.tc import infer, parse

REFUSED = sorted((Path(__file__).parents[2] / "programs" / "tc" / "refused").glob("*.tc"))


@pytest.mark.parametrize("path", REFUSED, ids=lambda path: path.stem)
def test_refused(path: Path, golden: Callable[[str, str], None]) -> None:
    with pytest.raises(TablaError) as caught:
        parse(Source.from_text(path.read_text(encoding="utf-8"), path.name))
    golden(f"tc/refused/{path.stem}.txt", f"{caught.value}\n")
    for fault in (caught.value, *caught.value.more):
        assert fault.hint and fault.file == path.name and fault.line and fault.column


def test_there_are_many() -> None:
    assert len(REFUSED) >= 50


@pytest.mark.parametrize(
    ("body", "sizes", "message"),
    [
        ("B(i) = A(i+3)  where i in 0:2", {"N": 4}, "5 <= 4 does not hold"),
        ("B(i) +=! A(i+k) * W(k)", {"N": 2, "M": 4}, "the range of 'i' is empty: [0, -1)"),
        ("B(i) = A(i) where i in 0:N/M", {"N": 2, "M": 0}, "division by zero"),
    ],
)
def test_refused_once_sizes_are_known(body: str, sizes: dict[str, int], message: str) -> None:
    unit = parse(Source.from_text(f"def f(float(N) A, float(M) W) -> (B) {{ {body} }}"))
    with pytest.raises(TablaError) as caught:
        infer(unit.function(), sizes)
    assert message in str(caught.value) and caught.value.hint and caught.value.line == 1
