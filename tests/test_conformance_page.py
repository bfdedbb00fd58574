"""The page of conformance: every rule is shown by its program, and the page says what the rules say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from manual.conformance import DOCUMENTS, PAGE, ROOT, Row, demonstrate, document, page

ROWS = [(name, number, row) for name in DOCUMENTS for number, row in enumerate(document(name).rows, 1)]
COMPARED = [(name, number, both.row) for name in DOCUMENTS for number, both in enumerate(document(name).compared, 1)]
AT_LEAST = {"tabla": 40, "tensor-comprehensions": 50, "tile": 90, "preprocessor": 45, "tablegen": 120}


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m manual.conformance"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_has_its_rules_once(name: str) -> None:
    rules = [(row.section, row.rule) for row in document(name).rows]
    assert len(set(rules)) == len(rules) >= AT_LEAST[name]


def test_every_file_of_rules_is_on_the_page() -> None:
    assert {path.stem for path in (ROOT / "rules").iterdir()} == set(DOCUMENTS)


@pytest.mark.parametrize(("name", "number", "row"), ROWS, ids=[f"{name}-{number}" for name, number, _ in ROWS])
def test_the_program_shows_the_rule(name: str, number: int, row: Row, tmp_path: Path) -> None:
    demonstrate(row, tmp_path)


@pytest.mark.parametrize(("name", "number", "row"), COMPARED, ids=[f"{name}-{number}" for name, number, _ in COMPARED])
def test_the_program_shows_what_differs_from_the_reference(name: str, number: int, row: Row, tmp_path: Path) -> None:
    demonstrate(row, tmp_path)


def test_the_compiler_of_tablas_authors_is_compared() -> None:
    compared = document("tabla").compared
    assert len(compared) >= 14
    assert all(both.source for both in compared)


def test_a_wrong_claim_is_noticed(tmp_path: Path) -> None:
    """Each kind of claim can fail: a number, a text, what the preprocessor makes, an error, and the lack of one."""
    rows = {name: document(name).rows for name in DOCUMENTS}
    number = next(row for row in rows["tabla"] if row.gives is not None)
    text = next(row for row in rows["tablegen"] if row.gives is not None)
    made = next(row for row in rows["preprocessor"] if row.expands is not None)
    error = next(row for row in rows["tablegen"] if row.error is not None)
    wrong = (
        replace(number, gives={next(iter(number.gives or {})): [123456]}),
        replace(text, gives={next(iter(text.gives or {})): "123456"}),
        replace(made, expands="another text"),
        replace(error, error="another message"),
        replace(number, gives=None, error="an error"),
        replace(error, error=None, gives={"X.a": "1"}),
    )
    for row in wrong:
        with pytest.raises(AssertionError):
            demonstrate(row, tmp_path)


@pytest.mark.parametrize(
    "changes", [{"verdict": "perhaps"}, {"why": "no reason"}, {"verdict": "refused", "why": "a"}, {"error": "b"}]
)
def test_a_row_without_sense_is_refused(changes: dict[str, str]) -> None:
    row = next(row for row in document("tabla").rows if row.gives is not None and row.verdict == "holds")
    with pytest.raises(AssertionError):
        replace(row, **changes)  # type: ignore[arg-type]
