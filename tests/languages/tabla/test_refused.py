"""Every refused program and the whole message that its writer sees."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tabla.base.source import Source, TablaError
from tabla.languages.tabla import parse

REFUSED = sorted((Path(__file__).parents[2] / "programs" / "tabla" / "refused").glob("*.t"))


@pytest.mark.parametrize("path", REFUSED, ids=lambda path: path.stem)
def test_refused(path: Path, golden: Callable[[str, str], None]) -> None:
    with pytest.raises(TablaError) as caught:
        parse(Source.from_text(path.read_text(encoding="utf-8"), path.name))
    golden(f"tabla/refused/{path.stem}.txt", f"{caught.value}\n")


def test_there_are_many() -> None:
    assert len(REFUSED) >= 40


@pytest.mark.parametrize("path", REFUSED, ids=lambda path: path.stem)
def test_every_fault_has_a_place_and_a_cure(path: Path) -> None:
    with pytest.raises(TablaError) as caught:
        parse(Source.from_text(path.read_text(encoding="utf-8"), path.name))
    for fault in (caught.value, *caught.value.more):
        assert fault.hint and fault.file == path.name and fault.line and fault.column
