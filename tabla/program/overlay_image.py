"""The image of a program for an overlay, as a file.

All numbers are little endian. A file begins with the header of `_HEADER`: the eight bytes ``tablaimg``, the form, the
fingerprint of the overlay, the number of sections and the length of the file in bytes. For each section there follow
its name of four letters, the place of its first byte, its length and its CRC-32. The sections come next, and the last
four bytes are the CRC-32 of all others.

* ``WORD``: the words of 32 bits for the port of the overlay (:mod:`tabla.program.overlay_words`).
* ``INFO``: JSON with the name of the program, what hosts need of its manifest, and the numbers of its image.
* ``LAYO``: where every element lies in the streams, as ``<name>.layout.npz``.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tabla.base.source import TablaError
from tabla.program.image import Image
from tabla.program.image_file import image_on, image_record
from tabla.program.overlay import FORM, Overlay
from tabla.program.overlay_words import program_words

_MAGIC = b"tablaimg"
_HEADER = struct.Struct("<8sIIII")
_SECTION = struct.Struct("<4sIII")
_CHECK = struct.Struct("<I")
_OWN = ("name", "shifts", "ring_slots")
"""The parameters that an image has of its own; all others are those of the overlay."""
_CURE = "write it again with tabla load"
_OTHER = (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError, struct.error)
"""What a file raises whose sums are right, but that another program has written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFile:
    """The content of an image: the `name` of the program, its microcode and numbers, and its layout.

    `manifest` is what hosts need of the program's manifest. `fingerprint` is that of the overlay, `words` are those for
    its port, `content` are the numbers of the image, and `layout` is the content of ``<name>.layout.npz``.
    """

    name: str
    fingerprint: int
    manifest: Mapping[str, Any] = field(repr=False)
    words: tuple[int, ...] = field(repr=False)
    content: Mapping[str, Any] = field(repr=False)
    layout: bytes = field(repr=False)

    def image(self, overlay: Overlay) -> Image:
        """Return the image for the overlay that it was made for.

        Raises `TablaError` for another overlay, and for numbers that are not those of an image.
        """
        if self.fingerprint != overlay.fingerprint:
            raise TablaError(
                f"the image '{self.name}' is for the overlay {self.fingerprint:08x}, and this one is"
                f" {overlay.fingerprint:08x}",
                hint="compile it for this overlay: tabla load FILE --onto FOLDER",
            )
        try:
            own = {name: self.content["parameters"][name] for name in _OWN}
            return image_on(self.content, replace(overlay.parameters, **{**own, "shifts": tuple(own["shifts"])}))
        except _OTHER:
            raise TablaError(f"the numbers of the image '{self.name}' are not those of an image", hint=_CURE) from None


def image_file(image: Image, overlay: Overlay, manifest: Mapping[str, Any], layout: bytes) -> bytes:
    """Return the bytes of an image for an overlay. `manifest` is what hosts need of the program's manifest."""
    content = image_record(image)
    content["parameters"] = {name: content["parameters"][name] for name in _OWN}
    info = {"name": image.parameters.name, "manifest": dict(manifest), "image": content}
    words = program_words(image, overlay)
    sections = {
        b"WORD": struct.pack(f"<{len(words)}I", *words),
        b"INFO": json.dumps(info, separators=(",", ":"), sort_keys=True).encode(),
        b"LAYO": layout,
    }
    place = _HEADER.size + len(sections) * _SECTION.size
    total = place + sum(map(len, sections.values())) + _CHECK.size
    head = _HEADER.pack(_MAGIC, FORM, overlay.fingerprint, len(sections), total)
    for name, held in sections.items():
        head += _SECTION.pack(name, place, len(held), zlib.crc32(held))
        place += len(held)
    whole = head + b"".join(sections.values())
    return whole + _CHECK.pack(zlib.crc32(whole))


def read_image(content: bytes, where: str) -> ImageFile:
    """Return the content of an image. `where` names the file in errors.

    Raises `TablaError` for bytes that are no image, that are cut short, or of which any bit has changed.
    """
    if len(content) < _HEADER.size or content[: len(_MAGIC)] != _MAGIC:
        raise TablaError(f"'{where}' is no image", hint="name a file that tabla load wrote")
    _, form, fingerprint, count, total = _HEADER.unpack_from(content)
    if len(content) < total:
        raise TablaError(f"'{where}' is cut short: {len(content):,} of {total:,} bytes", hint=_CURE)
    if len(content) > total or zlib.crc32(content[: -_CHECK.size]) != _CHECK.unpack(content[-_CHECK.size :])[0]:
        raise TablaError(f"'{where}' is damaged: its CRC is wrong", hint=_CURE)
    if form != FORM:
        raise TablaError(f"'{where}' has form {form}, and this version of tabla reads form {FORM}", hint=_CURE)
    try:
        return _parsed(content, where, fingerprint, count)
    except _OTHER:
        raise TablaError(f"'{where}' is not an image that tabla load wrote", hint=_CURE) from None


def _parsed(content: bytes, where: str, fingerprint: int, count: int) -> ImageFile:
    """Return the content of an image with `count` sections. Raises one of `_OTHER` for sections of another kind."""
    sections = {}
    for number in range(count):
        name, place, length, check = _SECTION.unpack_from(content, _HEADER.size + number * _SECTION.size)
        held = content[place : place + length]
        if zlib.crc32(held) != check:
            raise TablaError(f"'{where}' is damaged in its section {name.decode('latin-1')}", hint=_CURE)
        sections[name] = held
    info = json.loads(sections[b"INFO"])
    return ImageFile(
        name=info["name"],
        fingerprint=fingerprint,
        manifest=info["manifest"],
        words=struct.unpack(f"<{len(sections[b'WORD']) // 4}I", sections[b"WORD"]),
        content=info["image"],
        layout=sections[b"LAYO"],
    )
