"""Frames of the serial line as bytes: RFC 1662's flags and escapes around a body and its CRC-32.

The check is ``zlib``'s, the same CRC-32 that the board has from ``amaranth.lib.crc``; a test holds them together.
"""

from __future__ import annotations

import zlib

from tabla.program.link import ARGUMENT_BYTES, CHECK_BYTES, ESCAPE, FLAG, FLIP, Request

_FLAG, _ESCAPE = bytes([FLAG]), bytes([ESCAPE])
_ESCAPED = {byte: bytes([ESCAPE, byte ^ FLIP]) for byte in (ESCAPE, FLAG)}


def frame(body: bytes) -> bytes:
    """A body as it goes over the line."""
    whole = body + zlib.crc32(body).to_bytes(CHECK_BYTES, "little")
    for byte, escaped in _ESCAPED.items():  # ESCAPE first: it comes into being with the other
        whole = whole.replace(bytes([byte]), escaped)
    return _FLAG + whole + _FLAG


def request(code: Request, argument: int = 0, payload: bytes = b"") -> bytes:
    """A request as it goes over the line."""
    return frame(bytes([code]) + argument.to_bytes(ARGUMENT_BYTES, "little") + payload)


def body(text: bytes) -> bytes | None:
    """The body of what stood between two flags; None if it is damaged."""
    head, *parts = text.split(_ESCAPE)
    if any(not part for part in parts):
        return None
    whole = head + b"".join(bytes([part[0] ^ FLIP]) + part[1:] for part in parts)
    found, check = whole[:-CHECK_BYTES], whole[-CHECK_BYTES:]
    return found if found and zlib.crc32(found).to_bytes(CHECK_BYTES, "little") == check else None


class Frames:
    """What has come over the line, cut into frames."""

    def __init__(self) -> None:
        self._rest = b""
        self._found: list[bytes] = []

    def feed(self, text: bytes) -> None:
        """More bytes."""
        *frames, self._rest = (self._rest + text).split(_FLAG)
        self._found += [frame for frame in frames if frame]

    def next(self) -> bytes | None:
        """The next frame between its flags, checked by nobody; None if there is none yet."""
        return self._found.pop(0) if self._found else None
