"""The frames of the serial line as bytes.

A frame is a flag byte, a body, the CRC-32 of the body and another flag byte. A flag or escape byte within the frame is
escaped as in RFC 1662. The CRC-32 is that of ``zlib``. The board computes the same one with ``amaranth.lib.crc``, and a
test compares them.
"""

from __future__ import annotations

import zlib

from tabla.program.protocol import ARGUMENT_BYTES, CHECK_BYTES, ESCAPE, FLAG, FLIP, ProgramRequest, Request

_FLAG, _ESCAPE = bytes([FLAG]), bytes([ESCAPE])
_ESCAPED = {byte: bytes([ESCAPE, byte ^ FLIP]) for byte in (ESCAPE, FLAG)}


def frame(body: bytes) -> bytes:
    """Return the frame of a body, ready to be sent."""
    whole = body + zlib.crc32(body).to_bytes(CHECK_BYTES, "little")
    # ESCAPE is replaced first, because the replacement of FLAG contains an ESCAPE.
    for byte, escaped in _ESCAPED.items():
        whole = whole.replace(bytes([byte]), escaped)
    return _FLAG + whole + _FLAG


def request(code: Request | ProgramRequest, argument: int = 0, payload: bytes = b"") -> bytes:
    """Return the frame of a request, ready to be sent."""
    return frame(bytes([code]) + argument.to_bytes(ARGUMENT_BYTES, "little") + payload)


def body(text: bytes) -> bytes | None:
    """Return the body of a frame, given the bytes between its flags; None if the frame is damaged."""
    head, *parts = text.split(_ESCAPE)
    if any(not part for part in parts):
        return None
    whole = head + b"".join(bytes([part[0] ^ FLIP]) + part[1:] for part in parts)
    found, check = whole[:-CHECK_BYTES], whole[-CHECK_BYTES:]
    return found if found and zlib.crc32(found).to_bytes(CHECK_BYTES, "little") == check else None


class Frames:
    """A buffer that cuts the received bytes into frames."""

    def __init__(self) -> None:
        self._rest = b""
        self._found: list[bytes] = []

    def feed(self, text: bytes) -> None:
        """Add received bytes to the buffer."""
        *frames, self._rest = (self._rest + text).split(_FLAG)
        self._found += [frame for frame in frames if frame]

    @property
    def pending(self) -> int:
        """The received bytes that belong to no complete frame."""
        return len(self._rest)

    def next(self) -> bytes | None:
        """Remove and return the next frame: the bytes between its flags, not checked. None if no frame is complete."""
        return self._found.pop(0) if self._found else None
