"""Small programs of all constructs, accepted and refused, against the reference tool.

Files that begin with ``refused_`` must be refused, by both tools at the same line.
"""

from pathlib import Path

import pytest

PROGRAMS = sorted((Path(__file__).parents[2] / "programs" / "tablegen").glob("*.td"))


def test_there_are_enough_programs() -> None:
    assert len(PROGRAMS) >= 300
    assert sum(path.name.startswith("refused_") for path in PROGRAMS) >= 150


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_verdict(path: Path, ours) -> None:
    outcome = ours(path)
    assert outcome.accepted != path.name.startswith("refused_"), outcome.message


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_same_as_reference(path: Path, ours, reference) -> None:
    assert ours(path).differs(reference(path)) == ""
