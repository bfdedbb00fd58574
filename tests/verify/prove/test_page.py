"""docs/proofs.md is what `make prove` writes, of the subjects that there are."""

from __future__ import annotations

import json

from verify.prove.page import MEASURED, PAGE, page
from verify.prove.registry import SUBJECTS


def test_what_was_measured_are_subjects_that_there_are() -> None:
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    assert list(measured) == [subject.name for subject in SUBJECTS if subject.name in measured]
    assert all(figures["seconds"] > 0 and figures["assertions"] > 0 for figures in measured.values())


def test_the_page_is_that_of_the_measurements() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(json.loads(MEASURED.read_text(encoding="utf-8")))
