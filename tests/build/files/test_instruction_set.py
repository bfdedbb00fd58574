"""The instruction-set reference in docs/ agrees with the records of machine.td."""

from __future__ import annotations

from pathlib import Path

from tabla.build.files.instruction_set import instruction_set, stage_summary

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGE = DOCS / "instruction-set.md"


def test_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == instruction_set(), "run python -m tabla.build.files.instruction_set"


def test_every_field_is_shown() -> None:
    page = instruction_set()
    for words in ("`gate`", "4 `bus`", "3 `tree`", "`to_output`", "`sigmoid`", "`Pe64`", "window"):
        assert words in page


def test_the_decision_has_the_stages_of_the_records() -> None:
    decision = (DOCS / "decisions" / "0003-machine.md").read_text(encoding="utf-8")
    assert stage_summary("issue") in decision
    assert stage_summary("write") in decision
