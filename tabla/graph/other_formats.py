"""Number formats as other tools write them, and the ``qI.F`` that holds all their values.

``ap_fixed<W,I>`` of Vivado and Vitis HLS, which hls4ml writes ``fixed<W,I>``, has W bits, of which I stand before the
point; a signed one counts the sign among the I, as ``qI.F`` does (Vitis HLS user guide UG1399, "Arbitrary precision
fixed-point data types"). ``ac_fixed<W,I,S>`` of Catapult counts alike. ``Qm.n`` counts the sign in the notation of ARM,
and does not in that of Texas Instruments.
"""

from __future__ import annotations

import re

from tabla.graph.format import LARGEST_WIDTH, LEAST_INTEGER, LEAST_WIDTH, MOST_FRACTION

_HLS = re.compile(r"(?:a[pc]_)?(u?)fixed\s*<\s*(\d{1,3})\s*,\s*(-?\d{1,3})\s*(?:,\s*(\w+)[^>]*)?>", re.IGNORECASE)
_HALF_AN_HLS = re.compile(r"(?:a[pc]_)?u?fixed\b", re.IGNORECASE)
_Q = re.compile(r"(u?)q(\d{0,3})[._](\d{1,3})", re.IGNORECASE)
_Q_ALONE = re.compile(r"q(\d{1,3})", re.IGNORECASE)
_WHOLE = re.compile(r"(?:ap_|ac_)?(u?)i(?:nt)?(?:<)?(\d{1,3})(?:_t|>)?", re.IGNORECASE)
_FLOAT = re.compile(r"(?:b?float|fp|double|half|single)\d{0,3}(?:_t)?", re.IGNORECASE)
_AUTO = "autoN, such as auto16, lets the data choose where the point stands"


def cure(text: str) -> str | None:
    """Return what to write for a format in the notation of another tool; None for a text that is none."""
    text = text.strip()
    if found := _HLS.fullmatch(text):
        unsigned = bool(found[1]) or (text.lower().startswith("ac_") and (found[4] or "").lower() in ("false", "0"))
        return _fixed(text, int(found[2]), int(found[3]), unsigned=unsigned)
    if _HALF_AN_HLS.match(text):
        return "ap_fixed<W,I> is qI.F with F = W - I: ap_fixed<16,6> is q6.10"
    if found := _Q.fullmatch(text):
        return _q(text, int(found[2] or 0), int(found[3]), unsigned=bool(found[1]))
    if found := _Q_ALONE.fullmatch(text):
        return _q(text, 0, int(found[1]), unsigned=False)
    if found := _WHOLE.fullmatch(text):
        width = int(found[2]) + bool(found[1])
        held = _holding(width, 0)
        return f"write {held} for whole numbers; {_AUTO}" if held else _too_wide(width)
    if _FLOAT.fullmatch(text):
        return f"words are fixed point, so write qI.F, such as q6.10; {_AUTO}"
    return None


def _fixed(text: str, width: int, integer: int, *, unsigned: bool) -> str:
    held = _holding(integer + unsigned, width - integer)
    if held is None:
        return _too_wide(width + unsigned)
    exact = held == f"q{integer + unsigned}.{width - integer}"
    if unsigned:
        more = "" if exact else f", and {_limits()}"
        return f"write {held}, which holds all values of {text}: words are signed, and I counts the sign{more}"
    return f"write {held}: I counts the sign in both" if exact else f"write {held}, which holds all values: {_limits()}"


def _q(text: str, integer: int, fraction: int, *, unsigned: bool) -> str:
    """Answer ``Qm.n``, whose m counts the sign or does not: who writes it has to say which."""
    if unsigned:
        held = _holding(integer + 1, fraction)
        return f"write {held}: words are signed, and I counts the sign" if held else _too_wide(integer + fraction + 1)
    with_sign, without = _holding(integer, fraction), _holding(integer + 1, fraction)
    if not integer:
        return f"write {without}, which holds all values: {_limits()}" if without else _too_wide(fraction + 1)
    if with_sign is None:
        return _too_wide(integer + fraction)
    if with_sign == without or without is None:
        return f"write {with_sign}: I counts the sign"
    return (
        f"write {with_sign} if the {integer} bits of {text} count the sign (ARM), {without} if not (Texas Instruments)"
    )


def _holding(integer: int, fraction: int) -> str | None:
    """Return the narrowest format with at least so many bits before and behind the point; None if there is none."""
    integer, fraction = max(integer, LEAST_INTEGER), max(fraction, 0)
    fraction = max(fraction, LEAST_WIDTH - integer)
    if fraction > MOST_FRACTION or integer + fraction > LARGEST_WIDTH:
        return None
    return f"q{integer}.{fraction}"


def _limits() -> str:
    return f"I is {LEAST_INTEGER} or more, and words have {LEAST_WIDTH} to {LARGEST_WIDTH} bits"


def _too_wide(width: int) -> str:
    return f"write a qI.F of at most {LARGEST_WIDTH} bits, such as q16.16, because no word has these {width}; {_AUTO}"
