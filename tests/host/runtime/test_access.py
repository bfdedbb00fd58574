"""Registers and buffers of this computer, on files that stand in for devices, and the AXI DMA alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabla.base.source import TablaError
from tabla.host.runtime.access import CalledRegisters, MappedRegisters, PynqBuffer, UDmaBuf
from tabla.host.runtime.dma import AxiDma, DmaShape
from tabla.host.runtime.mmio import parts_of
from tabla.host.runtime.transport import DeviceFault
from tests.host.runtime.dma_model import MM2S, DmaModel, Memory


def test_registers_of_physical_memory(tmp_path: Path) -> None:
    memory = tmp_path / "mem"
    memory.write_bytes(bytes(1 << 14))
    registers = MappedRegisters(f"{memory}@0x2010", 0x40)
    registers.write(0x1C, 0x80000102)
    assert registers.read(0x1C) == 0x80000102
    assert memory.read_bytes()[0x202C:0x2030] == b"\x02\x01\x00\x80"


def test_registers_of_uio(tmp_path: Path) -> None:
    device = tmp_path / "uio3"
    device.write_bytes(bytes(8192))
    maps = tmp_path / "class/uio/uio3/maps/map0"
    maps.mkdir(parents=True)
    (maps / "offset").write_text("0x10\n")
    (maps / "size").write_text("0x00001000\n")
    registers = MappedRegisters(str(device), 0x40, system=tmp_path)
    registers.write(4, 7)
    assert device.read_bytes()[0x14] == 7
    (maps / "size").write_text("0x20\n")
    with pytest.raises(TablaError, match="maps 16 bytes, but its registers take 64"):
        MappedRegisters(str(device), 0x40, system=tmp_path)


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("{}/none@0x1000", "cannot open .*: No such file"),
        ("{}/mem@1001", "has no address of a register"),
        ("{}/mem@here", "has no address of a register"),
        ("{}/mem@0xFFFFFFFFFFFFF000", "cannot map"),
        ("{}/mem", "is no UIO device"),
    ],
)
def test_places_that_are_none(place: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "mem").write_bytes(bytes(4096))
    with pytest.raises(TablaError, match=said):
        MappedRegisters(place.format(tmp_path), 64, system=tmp_path)


def udmabuf(home: Path, *, kind: str = "u-dma-buf", size: int = 8192, **attributes: str) -> Path:
    folder = home / "class" / kind / "udmabuf0"
    folder.mkdir(parents=True)
    for name, text in {"phys_addr": "0x1f000000", "size": str(size), **attributes}.items():
        (folder / name).write_text(text + "\n")
    (home / "udmabuf0").write_bytes(bytes(size))
    return folder


@pytest.mark.parametrize("kind", ["u-dma-buf", "udmabuf"])
def test_a_udmabuf_synchronises_the_cache(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = udmabuf(tmp_path, kind=kind, dma_coherent="0")
    written: list[tuple[str, str]] = []
    plain = Path.write_text

    def noted(path: Path, text: str, **options: Any) -> int:
        if path.parent == folder:
            written.append((path.name, text))
        return plain(path, text, **options)

    monkeypatch.setattr(Path, "write_text", noted)
    buffer = UDmaBuf("udmabuf0", system=tmp_path, devices=tmp_path)
    assert (buffer.address, buffer.size) == (0x1F000000, 8192)
    buffer.fill(64, b"words")
    assert (tmp_path / "udmabuf0").read_bytes()[64:69] == b"words"
    # The cache is written back after the bytes, as one that the device will read (direction 1).
    part = [("sync_offset", "64"), ("sync_size", "5"), ("sync_direction", "1")]
    assert written == [*part, ("sync_for_cpu", "1"), *part, ("sync_for_device", "1")]
    written.clear()
    buffer.expect(4096, 128)
    assert buffer.fetch(4096, 3) == bytes(3)
    assert written[:4] == [
        ("sync_offset", "4096"),
        ("sync_size", "128"),
        ("sync_direction", "2"),
        ("sync_for_device", "1"),
    ]
    assert written[4:] == [
        ("sync_offset", "4096"),
        ("sync_size", "3"),
        ("sync_direction", "2"),
        ("sync_for_cpu", "1"),
    ]


def test_a_coherent_udmabuf_needs_no_synchronising(tmp_path: Path) -> None:
    folder = udmabuf(tmp_path, dma_coherent="1")
    UDmaBuf("udmabuf0", system=tmp_path, devices=tmp_path).fill(0, b"words")
    assert not (folder / "sync_for_device").exists()


def test_a_udmabuf_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(TablaError, match="there is no DMA buffer 'udmabuf0'") as fault:
        UDmaBuf("udmabuf0", system=tmp_path, devices=tmp_path)
    assert "insmod u-dma-buf.ko udmabuf0=" in (fault.value.hint or "")


class Cached(np.ndarray):  # type: ignore[type-arg]
    """An array of pynq.allocate: the processor sees the array, the device sees `ram`."""

    ram: Any
    device_address = 0x1600_0000

    def flush(self) -> None:
        self.ram[:] = self

    def invalidate(self) -> None:
        self[:] = self.ram


def test_a_buffer_of_pynq_synchronises_the_cache() -> None:
    array = np.zeros(4096, dtype=np.uint8).view(Cached)
    array.ram = np.full(4096, 9, dtype=np.uint8)
    buffer = PynqBuffer(array)
    assert (buffer.address, buffer.size) == (0x1600_0000, 4096)
    array.ram[2048:] = 5
    buffer.expect(2048, 4)
    buffer.fill(0, b"\1\2")
    assert array.ram[:2].tolist() == [1, 2] and array.ram[2048] == 5
    array.ram[2048] = 77
    assert buffer.fetch(2048, 2) == b"\x4d\x05"
    with pytest.raises(TablaError, match="is not one of bytes"):
        PynqBuffer(np.zeros(16, dtype=np.int16).view(Cached))


def test_registers_behind_functions() -> None:
    words = {4: -1}
    registers = CalledRegisters(words.__getitem__, words.__setitem__)
    assert registers.read(4) == 0xFFFFFFFF
    registers.write(8, 3)
    assert words[8] == 3


class Loop:
    """A device that sends back what it gets."""

    def __init__(self) -> None:
        self.data: list[bytes] = []
        self.moment = lambda: None

    def offer(self, data: bytes) -> None:
        self.data.append(data)

    def taken(self) -> bool:
        return True

    def cancel(self) -> None:
        self.data.clear()

    def packet(self, room: int) -> bytes | None:
        return self.data.pop(0) if self.data else None


def looped(memory: Memory | None = None, **shape: int) -> tuple[AxiDma, DmaModel, Memory]:
    memory = memory or Memory(1 << 13)
    found = DmaShape(**shape)
    model = DmaModel(Loop(), memory, beat=found.beat, length_bits=found.length_bits, address_bits=found.address_bits)
    return AxiDma(model, memory, found, most=(64, 64)), model, memory


def through(dma: AxiDma, data: bytes, room: int) -> bytes | None:
    dma.arm(room)
    dma.fill(data)
    dma.send()
    for _ in range(5):
        if dma.sent() and (found := dma.received()) is not None:
            return found
    return None


@pytest.mark.parametrize("beat", [4, 8, 64])
@pytest.mark.parametrize("length_bits", [8, 14, 26])
def test_packets_of_every_length_pass(beat: int, length_bits: int) -> None:
    dma, _, _ = looped(beat=beat, length_bits=length_bits)
    assert dma.most_sent == min((1 << length_bits) - 1, 4096)
    assert dma.most_received % beat == 0 and dma.most_received <= dma.most_sent
    for size in (1, 2, beat, beat + 1, dma.most_received):
        data = bytes(n % 251 for n in range(size))
        assert through(dma, data, size) == data
    assert "MM2S 0x00001002 (Idle, IOC_Irq)" in dma.state()


def test_addresses_beyond_the_reach_are_refused() -> None:
    with pytest.raises(TablaError, match="ends at 0x100000FC0, above the reach of a DMA with 32 address bits"):
        looped(Memory(1 << 12, 0xFFFFFFC0), address_bits=32)
    looped(Memory(1 << 12, 0xFFFFFFC0), address_bits=33)
    looped(Memory(1 << 12, 0xFFFFF000), address_bits=32)


def test_a_buffer_that_is_not_aligned_is_refused() -> None:
    with pytest.raises(TablaError, match="begins at 0x10000020, which is no multiple of 64 bytes"):
        looped(Memory(1 << 12, 0x10000020), beat=64)


def test_a_dma_with_scatter_and_gather_is_refused() -> None:
    with pytest.raises(TablaError, match="works with scatter and gather"):
        AxiDma(DmaModel(Loop(), Memory(), scatter_gather=True), Memory(), DmaShape(), most=(64, 64))


@pytest.mark.parametrize(("most", "second"), [((64, 64), 4096), ((6000, 64), 6016), ((64, 6000), 2176)])
def test_the_buffer_has_room_for_both(most: tuple[int, int], second: int) -> None:
    memory = Memory(1 << 13)
    dma = AxiDma(DmaModel(Loop(), memory), memory, DmaShape(), most=most)
    assert (dma.most_sent, dma.most_received) == (second, 8192 - second)


def test_the_rest_of_a_stopped_transfer_is_forgotten() -> None:
    dma, model, _ = looped()
    model.inject[MM2S] = 1 << 6
    with pytest.raises(DeviceFault, match="DMADecErr"):
        through(dma, b"words", 8)
    dma.reset()
    assert through(dma, b"words", 8) == b"words"
    dma.close()
    assert model.read(4) & 1 and model.read(0x34) & 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mmio:", "does not say where"),
        ("mmio:registers=/dev/uio0", "lacks dma and buffer"),
        ("mmio:registers=a,dma=b,buffer=c,buffer=d", "'buffer=d' does not say"),
        ("mmio:registers=a,dma=b,buffer=c,speed=3", "'speed=3' does not say"),
        ("mmio:registers=a,dma=b,buffer=c,length-bits=x", "length-bits: 'x' is no number"),
    ],
)
def test_texts_that_name_no_board(text: str, said: str) -> None:
    with pytest.raises(TablaError, match=said):
        parts_of(text)


def test_sizes_that_no_dma_has() -> None:
    for wrong in ({"length_bits": 27}, {"length_bits": 7}, {"address_bits": 31}, {"address_bits": 65}):
        with pytest.raises(TablaError, match=r"(is|are) not supported"):
            DmaShape(**wrong)
