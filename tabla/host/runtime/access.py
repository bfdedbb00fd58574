"""What a host needs of its memory map: registers, and memory that a DMA can reach."""

from __future__ import annotations

import mmap
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from tabla.base.source import TablaError

_PAGE = mmap.PAGESIZE


class Registers(Protocol):
    """Registers of 32 bits at offsets in bytes, each a multiple of 4."""

    def read(self, offset: int) -> int:
        """Return the register's word, 0 or more."""

    def write(self, offset: int, word: int) -> None:
        """Write a word of 0 to 2^32 - 1."""


class MappedRegisters:
    """Registers in ``/dev/mem`` at a physical address, or the first map of a UIO device.

    `place` is ``/dev/mem@0x43C00000`` or ``/dev/uio0``. `size` is the number of bytes that are used. Each access is one
    of 32 bits. Raises `TablaError` if the place cannot be opened or is too small.
    """

    def __init__(self, place: str, size: int, *, system: Path = Path("/sys")) -> None:
        path, at, address = place.partition("@")
        base = _number(address, place) if at else 0
        within, most = (base % _PAGE, size) if at else _uio_map(system, Path(path).name)
        if most < size:
            raise TablaError(f"'{place}' maps {most} bytes, but its registers take {size}", hint="map the whole device")
        with _opened(path, os.O_RDWR | os.O_SYNC, place) as file:
            length = -(-(within + size) // _PAGE) * _PAGE
            try:
                self._map = mmap.mmap(file.number, length, offset=base - base % _PAGE)
            except (OSError, ValueError, OverflowError) as fault:
                raise TablaError(f"cannot map '{place}': {fault}", hint="check the address, and your rights") from None
        # numpy reads and writes an element of 32 bits in one access, where slices of an mmap would copy bytes.
        self._words = np.frombuffer(self._map, dtype="<u4", count=size // 4, offset=within)

    def read(self, offset: int) -> int:
        """Return the register's word."""
        return int(self._words[offset >> 2])

    def write(self, offset: int, word: int) -> None:
        """Write a word."""
        self._words[offset >> 2] = word


def _uio_map(system: Path, name: str) -> tuple[int, int]:
    """Return where the registers of a UIO device begin in its first map, and how many bytes it has."""
    folder = system / "class" / "uio" / name / "maps" / "map0"
    try:
        texts = [(folder / part).read_text(encoding="ascii") for part in ("offset", "size")]
    except OSError as fault:
        raise TablaError(
            f"'{name}' is no UIO device: {fault.strerror or fault}",
            hint="name one such as /dev/uio0, or an address such as /dev/mem@0x43C00000",
        ) from None
    offset, size = (int(text, 0) for text in texts)
    return offset, size - offset if size > offset else size


def _number(text: str, place: str) -> int:
    if not re.fullmatch(r"0x[0-9a-fA-F]{1,16}|[0-9]{1,20}", text) or int(text, 0) % 4:
        raise TablaError(f"'{place}' has no address of a register", hint="write /dev/mem@0x43C00000, a multiple of 4")
    return int(text, 0)


class _opened:
    """A file that is open for the length of a ``with`` block. A map of it stays valid afterwards."""

    def __init__(self, path: str, flags: int, place: str) -> None:
        try:
            self.number = os.open(path, flags)
        except OSError as fault:
            hint = "check the name; the device tree has to name it" if isinstance(fault, FileNotFoundError) else None
            rights = "run as root, or as a member of the group that owns it"
            raise TablaError(f"cannot open '{place}': {fault.strerror}", hint=hint or rights) from None

    def __enter__(self) -> _opened:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.number)


class Buffer(Protocol):
    """Memory that a DMA can reach, at `address` in its address space, of `size` bytes.

    The caches of the processor are kept coherent: `fill` writes them back before the device reads, and `expect` and
    `fetch` drop what they hold of memory that the device writes. `fill` and `fetch` may be of any size; the areas of
    the two directions share no cache line.
    """

    address: int
    size: int

    def fill(self, at: int, data: bytes) -> None:
        """Write bytes from position `at` on, for the device to read."""

    def expect(self, at: int, size: int) -> None:
        """Get ready for `size` bytes that the device will write from position `at` on."""

    def fetch(self, at: int, size: int) -> bytes:
        """Return `size` bytes that the device has written from position `at` on."""


class UDmaBuf:
    """A buffer of the kernel module u-dma-buf, such as ``udmabuf0``, with the processor's cache enabled.

    Its attributes in ``/sys/class/u-dma-buf`` (or ``udmabuf``, as older releases call it) have the address and the
    size, and take the requests to write caches back (``sync_for_device``) and to drop them (``sync_for_cpu``). They are
    left out where ``dma_coherent`` is 1. Source: the README of github.com/ikwzm/udmabuf.
    """

    _TO_DEVICE, _FROM_DEVICE = 1, 2

    def __init__(self, name: str, *, system: Path = Path("/sys"), devices: Path = Path("/dev")) -> None:
        homes = [system / "class" / kind / name for kind in ("u-dma-buf", "udmabuf")]
        self._attributes = next((home for home in homes if home.is_dir()), homes[0])
        self.address = self._attribute("phys_addr", name)
        self.size = self._attribute("size", name)
        self._coherent = bool((self._attributes / "dma_coherent").exists() and self._attribute("dma_coherent", name))
        place = devices / name
        with _opened(str(place), os.O_RDWR, str(place)) as file:
            try:
                self._map = mmap.mmap(file.number, self.size)
            except (OSError, ValueError) as fault:
                raise TablaError(f"cannot map '{place}': {fault}", hint="load the module u-dma-buf again") from None

    def _attribute(self, attribute: str, name: str) -> int:
        try:
            return int((self._attributes / attribute).read_text(encoding="ascii").strip(), 0)
        except (OSError, ValueError):
            raise TablaError(
                f"there is no DMA buffer '{name}': '{self._attributes / attribute}' has no number",
                hint="load the kernel module, as in: insmod u-dma-buf.ko udmabuf0=1048576",
            ) from None

    def _sync(self, request: str, direction: int, at: int, size: int) -> None:
        if self._coherent or not size:
            return
        for attribute, value in (("sync_offset", at), ("sync_size", size), ("sync_direction", direction), (request, 1)):
            # u-dma-buf takes a number as its text. A cached file object would delay it.
            (self._attributes / attribute).write_text(str(value), encoding="ascii")

    def fill(self, at: int, data: bytes) -> None:
        """Write bytes, and write the cache back."""
        self._sync("sync_for_cpu", self._TO_DEVICE, at, len(data))
        self._map[at : at + len(data)] = data
        self._sync("sync_for_device", self._TO_DEVICE, at, len(data))

    def expect(self, at: int, size: int) -> None:
        """Give the memory to the device."""
        self._sync("sync_for_device", self._FROM_DEVICE, at, size)

    def fetch(self, at: int, size: int) -> bytes:
        """Drop the cache, and return what the device has written."""
        self._sync("sync_for_cpu", self._FROM_DEVICE, at, size)
        return self._map[at : at + size]


class PynqBuffer:
    """A buffer of ``pynq.allocate``, which is an array of bytes: ``pynq.allocate(shape=(1 << 20,), dtype="u1")``."""

    def __init__(self, array: Any) -> None:
        self._array = array
        address = getattr(array, "device_address", None)
        self.address = int(array.physical_address if address is None else address)
        self.size = int(array.nbytes)
        if array.dtype != np.uint8 or array.ndim != 1:
            raise TablaError(
                f"a buffer of {array.dtype} and shape {array.shape} is not one of bytes",
                hint='make it with pynq.allocate(shape=(1 << 20,), dtype="u1")',
            )

    def fill(self, at: int, data: bytes) -> None:
        """Write bytes, and write the cache back."""
        self._array[at : at + len(data)] = np.frombuffer(data, dtype=np.uint8)
        self._array.flush()

    def expect(self, at: int, size: int) -> None:
        """Drop the cache, so that it is never written back over what the device writes."""
        self._array.invalidate()

    def fetch(self, at: int, size: int) -> bytes:
        """Drop the cache, and return what the device has written."""
        self._array.invalidate()
        return bytes(self._array[at : at + size])


class CalledRegisters:
    """Registers behind two functions, such as those of PYNQ's ``DefaultIP`` and ``MMIO``: `read` takes an offset, and
    `write` an offset and a word.
    """

    def __init__(self, read: Callable[[int], int], write: Callable[[int, int], object]) -> None:
        self._read, self._write = read, write

    def read(self, offset: int) -> int:
        """Return the register's word."""
        return int(self._read(offset)) & 0xFFFFFFFF

    def write(self, offset: int, word: int) -> None:
        """Write a word."""
        self._write(offset, word)
