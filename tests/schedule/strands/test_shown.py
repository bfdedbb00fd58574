"""Which words a root register shows, and when: what a port may take from it."""

from __future__ import annotations

from tabla.schedule.strands.tasks import Shown

VECTOR = Shown(tensor="h", register="result", show=20, words=(4, 5, 6, 7), interval=3)


def test_a_vector_word_by_word() -> None:
    assert VECTOR.wait((4, 5, 6, 7), 3) == 0
    assert VECTOR.wait((5, 6), 3) == 3
    # One word, whatever the interval of a single one is called.
    assert [VECTOR.wait((word,), 1) for word in (4, 5, 6, 7)] == [0, 3, 6, 9]


def test_other_words_and_other_paces() -> None:
    assert VECTOR.wait((4, 5, 6, 7), 1) is None
    assert VECTOR.wait((4, 6), 3) is None
    assert VECTOR.wait((7, 8), 3) is None
    assert VECTOR.wait((3,), 1) is None
    # A scalar has no addresses, and is no word of a vector.
    assert VECTOR.wait((), 1) is None
    assert Shown(tensor="e", register="result", show=20).wait((), 1) == 0
    assert Shown(tensor="e", register="result", show=20).wait((4,), 1) is None
