"""Hashes of what a build writes and prints. They leave out what may differ between two states of the tree.

What is left out is in this file, with the reason. Everything else counts byte for byte. Two runs on one state gave the
same bytes in every file and in every text, so no time and no path needs an exception.
"""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from pathlib import PurePath

_VERILOG = re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
"""A string, which stays, or a comment. The comments are the docstrings of the classes that describe the hardware."""

_IMPORT = re.compile(r"^(?:import [\w.]|from [\w.]+ import ).*\n?", re.MULTILINE)
"""A line that imports. Some files of Python are copies of modules of ours, whose neighbours may get other names."""

_SUM = re.compile(rb'(\.(?:v|npz)": )"[0-9a-f]{64}"')
"""A sum in a manifest, which is that of all bytes of a file of which not all bytes count here."""


def hash_of(content: bytes) -> str:
    """Return the hash of some bytes. A quarter of SHA-256 is enough to tell a few thousand files apart."""
    return hashlib.sha256(content).hexdigest()[:16]


def hash_of_file(path: PurePath, content: bytes) -> str:
    """Return the hash of a file, whose path says what is left out."""
    if path.suffix == ".npz":
        return hash_of(_members(content))
    if path.suffix == ".v":
        content = _VERILOG.sub(lambda found: found[1] or "", content.decode()).encode()
    if path.suffix == ".py" or "tb" in path.parts:
        content = _IMPORT.sub("", content.decode()).encode()
    if path.suffix == ".json":
        content = _SUM.sub(rb'\1""', content)
    return hash_of(content)


def _members(content: bytes) -> bytes:
    """Return the names and the bytes of all members of an archive, whose own bytes have dates and levels, too."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = [(name, archive.read(name)) for name in archive.namelist()]
    return b"".join(f"{name} {len(data)}\0".encode() + data for name, data in parts)
