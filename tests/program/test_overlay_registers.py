"""The registers of an overlay's wrapper: those of every wrapper, and those of programs and limits, which all differ."""

from __future__ import annotations

from dataclasses import replace

import pytest

import tabla
from tabla.build.files.registers import register_entries, register_header, register_page, register_systemrdl
from tabla.program.bus import BusShape
from tabla.program.overlay import Overlay, OverlayBus, overlay_of
from tabla.program.overlay_file import overlay_from, overlay_record
from tabla.program.overlay_registers import overlay_registers
from tabla.program.overlay_words import about_overlay
from tabla.templates.bus import registers
from tabla.templates.overlays import default_room
from tabla.templates.template import presets


def overlay(bits: int = 32, step_words: int = 64) -> Overlay:
    return overlay_of(presets()["Pe4"], default_room(), OverlayBus(bits=bits, step_words=step_words))


def test_registers_of_programs_lie_in_the_reserved_half() -> None:
    table = overlay_registers(overlay())
    offsets = [register.offset for register in table]
    assert offsets == sorted(set(offsets)) and offsets[-1] < 1 << 12
    assert [r.name for r in table[: len(registers())]] == [r.name for r in registers()]
    assert all(register.offset >= 0x400 for register in table[len(registers()) :])
    resets = {register.name: register.reset for register in table}
    assert resets["VERSION"] == 0x0001_0001 and resets["OVERLAY_FINGERPRINT"] == overlay().fingerprint
    numbers = about_overlay(overlay())
    assert {n: resets[f"LIMIT_{n.upper()}"] for n in numbers if n not in ("magic", "fingerprint")} == {
        n: number for n, number in numbers.items() if n not in ("magic", "fingerprint")
    }
    assert resets["LIMIT_STEP_WORDS"] == 64


def test_every_text_has_every_register() -> None:
    table = overlay_registers(overlay())
    assert [entry["name"] for entry in register_entries({}, table)] == [register.name for register in table]
    for text in (f("overlay", {}, table) for f in (register_header, register_page, register_systemrdl)):
        assert all(register.name in text for register in table)
        assert "4 PROGRAM" in text


def test_the_steps_on_the_bus_tell_overlays_apart_and_its_width_does_not() -> None:
    assert overlay(32).fingerprint == overlay(512).fingerprint
    marks = {overlay().fingerprint, overlay(step_words=65).fingerprint, replace(overlay(), bus=None).fingerprint}
    assert len(marks) == 3
    assert overlay_from(overlay_record(overlay(512))) == overlay(512)


@pytest.mark.parametrize("words", [0, 65537])
def test_steps_that_no_buffer_holds_are_refused(words: int) -> None:
    bus = OverlayBus(bits=32, step_words=words)
    with pytest.raises(tabla.TablaError, match=f"--step-words {words} is out of range") as fault:
        BusShape.of_overlay(overlay(step_words=words), bus)
    assert fault.value.hint == "use 1 to 65536"
    assert BusShape.of_overlay(overlay(), OverlayBus(bits=32, step_words=65536)).buffer_beats == 65536


@pytest.mark.parametrize("bus", [{"width": 33, "step_words": 64}, {"width": 32, "step_words": "64"}, [], {"width": 32}])
def test_a_bus_of_another_kind_in_a_manifest_is_refused(bus: object) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        overlay_from({**overlay_record(overlay()), "bus": bus})
