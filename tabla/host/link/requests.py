"""Requests to a board, one at a time, over a line that may lose or change bytes.

Requests and replies travel in frames. A frame is a flag byte, a body, the CRC-32 of the body and another flag byte. A
flag or escape byte within the frame is escaped as in RFC 1662. The CRC-32 is that of ``zlib``. The board computes the
same one with ``amaranth.lib.crc``, and a test compares them.
"""

from __future__ import annotations

import math
import struct
import time
import zlib
from dataclasses import dataclass

from tabla.base.source import TablaError
from tabla.host.link.port import SerialPort
from tabla.program.protocol import (
    ARGUMENT_BYTES,
    CHECK_BYTES,
    DONE,
    ESCAPE,
    FLAG,
    FLIP,
    OVERLAY_STATUS,
    STATUS,
    PredictRequest,
    ProgramRequest,
    Refusal,
    Request,
)

_FLAG, _ESCAPE = bytes([FLAG]), bytes([ESCAPE])
_ESCAPED = {byte: bytes([ESCAPE, byte ^ FLIP]) for byte in (ESCAPE, FLAG)}


def frame(body: bytes) -> bytes:
    """Return the frame of a body, ready to be sent."""
    whole = body + zlib.crc32(body).to_bytes(CHECK_BYTES, "little")
    # ESCAPE is replaced first, because the replacement of FLAG contains an ESCAPE.
    for byte, escaped in _ESCAPED.items():
        whole = whole.replace(bytes([byte]), escaped)
    return _FLAG + whole + _FLAG


def request(code: Request | ProgramRequest | PredictRequest, argument: int = 0, payload: bytes = b"") -> bytes:
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


SILENCE = 10.0
"""Seconds without a byte after which a board counts as gone."""

_TRIES = 4
_LONGEST = 1 << 16
"""Bytes that no frame of a board has: what is longer and has no end is not sent by one."""
_GREETING = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The status of a board. The fields are the words of `tabla.program.protocol.STATUS`, 32 bits each.

    A board with an overlay also tells the fingerprint of its `overlay`, and the `outcome` of the last image.
    """

    magic: int
    program: int
    clock: int
    buffer: int
    busy: int
    lane_overflows: int
    root_overflows: int
    domain_errors: int
    tokens: int
    interval: int
    last_update: int
    last_output: int
    overlay: int | None = None
    outcome: int | None = None

    @staticmethod
    def of(payload: bytes) -> Status:
        """Read the status from a reply. A reply of the wrong length is a ValueError."""
        for names in (STATUS, OVERLAY_STATUS):
            if len(payload) == 4 * len(names):
                return Status(**dict(zip(names, struct.unpack(f"<{len(names)}I", payload), strict=True)))
        raise ValueError(f"{len(payload)} bytes of status")


class Requests:
    """Requests to the board at the end of a line. A fault of the line or of the board is a `TablaError`.

    A request that arrived damaged had no effect, so it is sent again. A damaged reply is a fault, because it does not
    say whether the board carried out the request.

    A board counts as gone after so many seconds of `silence`; None stands for `SILENCE`.
    """

    def __init__(self, port: SerialPort, silence: float | None = None) -> None:
        self._port = port
        self._silence = SILENCE if silence is None else silence
        self._greeting = _GREETING if silence is None else min(silence / _TRIES, _GREETING)
        self._frames = Frames()
        self.traffic = 0
        """The bytes that have gone over the line, both ways."""

    def reset(self) -> Status:
        """Reset the board, whatever it was doing, and return its status."""
        for _ in range(_TRIES):
            self._write(request(Request.RESET))
            end = time.monotonic() + self._greeting
            while (left := end - time.monotonic()) > 0:
                # Frames that the board sent before the reset are dropped, even if they are not damaged.
                reply = body(self._next(left, end) or b"")
                if reply and reply[0] == Request.RESET | DONE:
                    try:
                        return Status.of(reply[1:])
                    except ValueError:
                        break
        raise TablaError(
            f"no board answers at '{self._port.path}'",
            hint="load the bitstream of tabla build; give the same --baud to both",
        )

    def status(self, cycles: int = 0) -> Status:
        """Ask for the status of the board, which answers when it rests, or after so many cycles of its clock."""
        try:
            return Status.of(self.ask(Request.STATUS, cycles) or b"")
        except ValueError:
            raise self._unsound() from None

    def ask(
        self, code: Request | ProgramRequest | PredictRequest, argument: int = 0, payload: bytes = b""
    ) -> bytes | None:
        """Send a request and return the content of the reply; None if the board refuses the request."""
        for _ in range(_TRIES):
            self._write(request(code, argument, payload))
            found = self._next(self._silence)
            if found is None:
                raise TablaError(
                    f"the board at '{self._port.path}' does not answer", hint="load its bitstream again and start anew"
                )
            match body(found):
                case bytes() as reply if reply[0] == code | DONE:
                    return reply[1:]
                case bytes() as reply if reply == bytes([Refusal.REFUSED]):
                    return None
                case bytes() as reply if reply == bytes([Refusal.DAMAGED]):
                    continue
                case _:
                    raise self._unsound()
        raise self._unsound()

    def _write(self, text: bytes) -> None:
        self._port.write(text, self._silence)
        self.traffic += len(text)

    def _unsound(self) -> TablaError:
        return TablaError(
            f"the line '{self._port.path}' changes bytes", hint="build for a lower --baud, or use a better cable"
        )

    def _next(self, seconds: float, end: float = math.inf) -> bytes | None:
        """Return the next frame; None if no byte arrives for so many `seconds`, or if none is complete at time `end`.

        Bytes without an end are a `TablaError`: whatever sends them is no board.
        """
        while (found := self._frames.next()) is None:
            text = self._port.read(seconds)
            if not text or time.monotonic() > end:
                return None
            self.traffic += len(text)
            self._frames.feed(text)
            if self._frames.pending > _LONGEST:
                raise self._unsound()
        return found

    def close(self) -> None:
        """Close the serial line that the requests go through."""
        self._port.close()
