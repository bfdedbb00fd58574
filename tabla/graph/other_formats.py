"""Number formats as other tools write them, and the ``qI.F`` that holds all their values.

``ap_fixed<W,I>`` of Vivado and Vitis HLS, which hls4ml writes ``fixed<W,I>``, has W bits, of which I stand before the
point; a signed one counts the sign among the I, as ``qI.F`` does (Vitis HLS user guide UG1399, "Arbitrary precision
fixed-point data types"). ``ac_fixed<W,I,S>`` of Catapult counts alike. ``Qm.n`` counts the sign in the notation of ARM,
and does not in that of Texas Instruments.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_HLS = re.compile(r"(?:a[pc]_)?(u?)fixed\s*<\s*(\d{1,3})\s*,\s*(-?\d{1,3})\s*(?:,\s*(\w+)[^>]*)?>", re.IGNORECASE)
_HALF_AN_HLS = re.compile(r"(?:a[pc]_)?u?fixed\b", re.IGNORECASE)
_Q = re.compile(r"(u?)q(\d{0,3})[._](\d{1,3})", re.IGNORECASE)
_Q_ALONE = re.compile(r"q(\d{1,3})", re.IGNORECASE)
_WHOLE = re.compile(r"(?:ap_|ac_)?(u?)i(?:nt)?(?:<)?(\d{1,3})(?:_t|>)?", re.IGNORECASE)
_FLOAT = re.compile(r"(?:b?float|fp|double|half|single)\d{0,3}(?:_t)?", re.IGNORECASE)
_AUTO = "autoN, such as auto16, lets the data choose where the point stands"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The formats that there are: the fewest bits before the point and the most behind it, and the bits of words."""

    integer: int
    fraction: int
    narrowest: int
    widest: int

    def holding(self, integer: int, fraction: int) -> str | None:
        """Return the narrowest format with at least so many bits before and behind the point; None if there is none."""
        integer, fraction = max(integer, self.integer), max(fraction, 0)
        fraction = max(fraction, self.narrowest - integer)
        if fraction > self.fraction or integer + fraction > self.widest:
            return None
        return f"q{integer}.{fraction}"

    def __str__(self) -> str:
        return f"I is {self.integer} or more, and words have {self.narrowest} to {self.widest} bits"

    def too_wide(self, width: int) -> str:
        """Return the cure of a format of more bits than words have."""
        return f"write a qI.F of at most {self.widest} bits, such as q16.16, because no word has these {width}; {_AUTO}"


def cure(text: str, limits: Limits) -> str | None:
    """Return what to write for a format in the notation of another tool; None for a text that is none."""
    text = text.strip()
    if found := _HLS.fullmatch(text):
        unsigned = bool(found[1]) or (text.lower().startswith("ac_") and (found[4] or "").lower() in ("false", "0"))
        return _fixed(text, int(found[2]), int(found[3]), limits, unsigned=unsigned)
    if _HALF_AN_HLS.match(text):
        return "ap_fixed<W,I> is qI.F with F = W - I: ap_fixed<16,6> is q6.10"
    if found := _Q.fullmatch(text):
        return _q(text, int(found[2] or 0), int(found[3]), limits, unsigned=bool(found[1]))
    if found := _Q_ALONE.fullmatch(text):
        return _q(text, 0, int(found[1]), limits, unsigned=False)
    if found := _WHOLE.fullmatch(text):
        width = int(found[2]) + bool(found[1])
        held = limits.holding(width, 0)
        return f"write {held} for whole numbers; {_AUTO}" if held else limits.too_wide(width)
    if _FLOAT.fullmatch(text):
        return f"words are fixed point, so write qI.F, such as q6.10; {_AUTO}"
    return None


def _fixed(text: str, width: int, integer: int, limits: Limits, *, unsigned: bool) -> str:
    held = limits.holding(integer + unsigned, width - integer)
    if held is None:
        return limits.too_wide(width + unsigned)
    exact = held == f"q{integer + unsigned}.{width - integer}"
    if unsigned:
        more = "" if exact else f", and {limits}"
        return f"write {held}, which holds all values of {text}: words are signed, and I counts the sign{more}"
    return f"write {held}: I counts the sign in both" if exact else f"write {held}, which holds all values: {limits}"


def _q(text: str, integer: int, fraction: int, limits: Limits, *, unsigned: bool) -> str:
    """Answer ``Qm.n``, whose m counts the sign or does not: who writes it has to say which."""
    if unsigned:
        held = limits.holding(integer + 1, fraction)
        return (
            f"write {held}: words are signed, and I counts the sign"
            if held
            else limits.too_wide(integer + fraction + 1)
        )
    with_sign, without = limits.holding(integer, fraction), limits.holding(integer + 1, fraction)
    if not integer:
        return f"write {without}, which holds all values: {limits}" if without else limits.too_wide(fraction + 1)
    if with_sign is None:
        return limits.too_wide(integer + fraction)
    if with_sign == without or without is None:
        return f"write {with_sign}: I counts the sign"
    return (
        f"write {with_sign} if the {integer} bits of {text} count the sign (ARM), {without} if not (Texas Instruments)"
    )
