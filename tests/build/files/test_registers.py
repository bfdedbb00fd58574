"""The registers' texts: the manifest, the C header, the page and SystemRDL say the same."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from systemrdl import RDLCompiler
from systemrdl.node import RegNode

from tabla.build.files.registers import register_entries, register_header, register_page, register_systemrdl
from tabla.templates.bus import registers

RESETS = {"FINGERPRINT": 0xFEDCBA98}
ENTRIES = register_entries(RESETS)


def test_the_names_and_the_access_are_those_of_the_interface() -> None:
    assert {entry["name"]: entry["access"] for entry in ENTRIES} == {
        **dict.fromkeys(("ID", "VERSION", "FINGERPRINT", "SAMPLES", "CYCLES_LO", "CYCLES_HI"), "ro"),
        **dict.fromkeys(("WAIT_IN", "WAIT_OUT", "LANE_OVERFLOWS", "ROOT_OVERFLOWS", "DOMAIN_ERRORS"), "ro"),
        **dict.fromkeys(("COUNT", "RESULT_UNITS", "CONTROL"), "rw"),
        "COMMAND": "wo",
        "STATUS": "w1c",
    }
    fields = {entry["name"]: {field["name"] for field in entry["fields"]} for entry in ENTRIES}
    assert fields["CONTROL"] == {"ABORT", "RESET", "IRQ_DONE", "IRQ_ERROR"}
    errors = {"SHORT", "LONG", "KEEP", "RANGE", "COUNT_ZERO", "NOT_LOADED", "OVERFLOW", "DOMAIN"}
    assert fields["STATUS"] == {"BUSY", "LOADED", "DONE", *errors}
    resets = {entry["name"]: entry["reset"] for entry in ENTRIES}
    assert (resets["ID"], resets["VERSION"], resets["FINGERPRINT"]) == (0x4C424154, 0x00010000, 0xFEDCBA98)


def test_registers_lie_below_the_reserved_half_and_no_two_overlap() -> None:
    offsets = [entry["offset"] for entry in ENTRIES]
    assert len(set(offsets)) == len(offsets)
    assert all(offset % 4 == 0 and 0 <= offset < 0x400 for offset in offsets)
    for register in registers():
        used = 0
        for field in register.fields:
            assert field.mask < 1 << 32 and not used & field.mask, (register.name, field.name)
            used |= field.mask


def test_systemrdl_compiles_and_says_what_the_manifest_says(tmp_path: Path) -> None:
    path = tmp_path / "model_registers.rdl"
    path.write_text(register_systemrdl("model", RESETS), encoding="utf-8")
    compiler = RDLCompiler()
    compiler.compile_file(str(path))
    top = compiler.elaborate().top
    found = [child for child in top.children() if isinstance(child, RegNode)]
    assert [(node.inst_name, node.address_offset) for node in found] == [(e["name"], e["offset"]) for e in ENTRIES]
    for node, entry in zip(found, ENTRIES, strict=True):
        assert node.has_sw_readable == (entry["access"] != "wo"), entry["name"]
        assert node.has_sw_writable == (entry["access"] != "ro"), entry["name"]
        assert node.get_property("desc") == entry["description"]
        fields = {field.inst_name: field for field in node.fields()}
        reset = sum(field.get_property("reset") << field.lsb for field in fields.values())
        assert reset == entry["reset"], entry["name"]
        if not entry["fields"]:
            assert [(field.lsb, field.width) for field in fields.values()] == [(0, 32)]
            continue
        assert [(n, f.lsb, f.width, f.get_property("desc")) for n, f in fields.items()] == [
            (field["name"], field["bit"], field["bits"], field["description"]) for field in entry["fields"]
        ]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")
def test_the_header_compiles_and_its_numbers_are_those_of_the_manifest(tmp_path: Path) -> None:
    (tmp_path / "model_registers.h").write_text(register_header("model", RESETS), encoding="utf-8")
    wanted = {}
    for entry in ENTRIES:
        name = f"MODEL_{entry['name']}"
        wanted |= {f"{name}_OFFSET": entry["offset"], f"{name}_RESET": entry["reset"]}
        for field in entry["fields"]:
            wanted[f"{name}_{field['name']}_BIT"] = field["bit"]
            wanted[f"{name}_{field['name']}_MASK"] = ((1 << field["bits"]) - 1) << field["bit"]
    prints = "\n".join(f'  printf("{name} %u\\n", {name});' for name in wanted)
    includes = '#include <stdio.h>\n#include "model_registers.h"\n#include "model_registers.h"\n'
    (tmp_path / "main.c").write_text(f"{includes}int main(void) {{\n{prints}\n  return 0;\n}}\n", encoding="utf-8")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run(["gcc", *flags, "main.c", "-o", "main"], cwd=tmp_path, check=True)
    said = subprocess.run([tmp_path / "main"], check=True, capture_output=True, text=True).stdout
    assert {name: int(value) for name, value in (line.split() for line in said.splitlines())} == wanted
    defined = [line for line in register_header("model", RESETS).splitlines() if line.startswith("#define")]
    assert len(defined) == len(wanted) + 1


def test_the_page_has_a_row_for_each_register_and_each_field() -> None:
    rows = [line for line in register_page("model", RESETS).splitlines() if line.startswith("|")]
    for entry in ENTRIES:
        row = f"| 0x{entry['offset']:03X} | {entry['name']} | {entry['access']} | 0x{entry['reset']:08X} |"
        assert any(line.startswith(row) for line in rows)
        for field in entry["fields"]:
            high = field["bit"] + field["bits"] - 1
            bits = str(high) if field["bits"] == 1 else f"{high}-{field['bit']}"
            assert any(line.startswith(f"| {bits} | {field['name']} |") for line in rows)


def test_the_registers_of_an_array_that_predicts_say_so() -> None:
    """The same registers at the same offsets, with another version and another command."""
    table = registers(True)
    plain = {register.name: register for register in registers()}
    assert [(r.name, r.offset, r.access) for r in table] == [(r.name, r.offset, r.access) for r in registers()]
    changed = {register.name for register in table if register.reset != plain[register.name].reset}
    assert changed == {"VERSION"}
    entries = {entry["name"]: entry for entry in register_entries(RESETS, table)}
    assert entries["VERSION"]["reset"] == 0x00010001
    assert "5 PREDICT" in entries["COMMAND"]["fields"][0]["description"]
    for name in ("COUNT", "SAMPLES"):
        assert "PREDICT" in entries[name]["description"]
    for text in (register_header("model", RESETS, table), register_page("model", RESETS, table)):
        assert "0x00010001" in text and "5 PREDICT" in text
    assert "5 PREDICT" in register_systemrdl("model", RESETS, table)
    assert "PREDICT" not in register_systemrdl("model", RESETS)
