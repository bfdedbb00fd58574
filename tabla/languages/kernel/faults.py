"""The error of a place in a kernel. A kernel that no text says has no places."""

from __future__ import annotations

from tabla.base.source import Label, Span, TablaError


def refused(message: str, span: Span | None, hint: str, label: str = "") -> TablaError:
    """Return the error of a place, with a text beside the place if `label` is one."""
    return TablaError(message, *([] if span is None else [Label(span, label)]), hint=hint)
