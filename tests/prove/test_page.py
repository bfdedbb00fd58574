"""docs/proofs.md is what `make prove` writes, of the subjects that there are."""

from __future__ import annotations

import json

from tests.prove.page import MEASURED, PAGE, page
from tests.prove.registry import SUBJECTS


def test_every_subject_was_measured() -> None:
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    assert list(measured) == [subject.name for subject in SUBJECTS]
    for subject in SUBJECTS:
        assert measured[subject.name]["seconds"] > 0
        assert measured[subject.name]["assertions"] > 0
        if subject.mutants:
            assert measured[subject.name]["mutants"] == len(subject.mutants)


def test_the_page_is_that_of_the_measurements() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(json.loads(MEASURED.read_text(encoding="utf-8")))
