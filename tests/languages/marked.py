"""What the first label of a fault marks."""

from __future__ import annotations

from tabla.base.source import TablaError


def marked_by(fault: TablaError) -> str:
    """Return the characters of the text that the first label of a fault points at."""
    span = fault.labels[0].span
    return span.source.text[span.start : span.end]
