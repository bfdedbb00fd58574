"""The registers of the bus wrapper as a manifest entry, a C header, a page and SystemRDL, all from ``bus.td``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tabla.templates.bus import Register, RegisterField, registers

Table = Sequence[Register] | None

_RDL_ACCESS = {
    "ro": ("sw = r;", "hw = w;"),
    "rw": ("sw = rw;", "hw = r;"),
    "w1c": ("sw = rw;", "onwrite = woclr;", "hw = w;"),
    "wo": ("sw = w;", "hw = r;"),
    "sc": ("sw = w;", "singlepulse;", "hw = r;"),
}

_RATE_REMARK = (
    "The learning rate has no register. Its word is in the load, at the place `load/mu` of the layout, and a new one",
    "takes effect with the next LOAD.",
    "",
)


def register_entries(resets: Mapping[str, int], table: Table = None) -> list[dict[str, Any]]:
    """Return the entry ``bus.registers`` of the manifest.

    `resets` has the reset values that depend on the build, by the name of the register; the others are those of the
    records. `table` has the registers of an overlay's wrapper; without it, they are those of every wrapper.
    """
    return [
        {
            "name": register.name,
            "offset": register.offset,
            "access": register.access,
            "reset": resets.get(register.name, register.reset),
            "description": register.description,
            "fields": [
                {"name": field.name, "bit": field.bit, "bits": field.bits, "description": field.description}
                for field in register.fields
            ],
        }
        for register in table or registers()
    ]


def register_header(module: str, resets: Mapping[str, int], table: Table = None) -> str:
    """Return the C header: the offset of each register, and place and mask of each field.

    `module` is the name of the Verilog module, with which every macro begins. `resets` and `table` are as for
    `register_entries`.
    """
    prefix = module.upper()
    lines = [
        f"/* The registers of {module}_axi, in bytes from its base address. Made by tabla. */",
        f"#ifndef {prefix}_REGISTERS_H",
        f"#define {prefix}_REGISTERS_H",
        *register_macros(prefix, resets, table),
        "",
        f"#endif /* {prefix}_REGISTERS_H */",
    ]
    return "\n".join(lines) + "\n"


def register_macros(prefix: str, resets: Mapping[str, int], table: Table = None) -> list[str]:
    """Return the lines of C that define each register and field, in macros that begin with `prefix`."""
    lines = []
    for register in table or registers():
        name = f"{prefix}_{register.name}"
        lines += [
            "",
            f"/* {register.name} ({register.access}): {register.description} */",
            f"#define {name}_OFFSET 0x{register.offset:03X}u",
            f"#define {name}_RESET 0x{resets.get(register.name, register.reset):08X}u",
        ]
        for field in register.fields:
            lines += [
                f"/* {field.name}: {field.description} */",
                f"#define {name}_{field.name}_BIT {field.bit}u",
                f"#define {name}_{field.name}_MASK 0x{field.mask:08X}u",
            ]
    return lines


def register_page(module: str, resets: Mapping[str, int], table: Table = None, *, loads_rate: bool = False) -> str:
    """Return the page that lists the registers, as Markdown. The arguments are those of `register_header`.

    `loads_rate` says that the learning rate is a word of the load.
    """
    lines = [
        f"# Registers of `{module}_axi`",
        "",
        "Every register has 32 bits. Offsets are in bytes. `ro` is read only, `rw` is read and written, `w1c` is read,",
        "and a written 1 clears its bit, `wo` is written only, and an `sc` bit is written, clears itself and reads as",
        "0. Any other access, and any other address, is answered with SLVERR.",
        "",
        *(_RATE_REMARK if loads_rate else ()),
        "| offset | name | access | reset | meaning |",
        "|---|---|---|---|---|",
    ]
    for register in table or registers():
        reset = resets.get(register.name, register.reset)
        cells = (f"0x{register.offset:03X}", register.name, register.access, f"0x{reset:08X}", register.description)
        lines.append(f"| {' | '.join(cells)} |")
    for register in table or registers():
        if register.fields:
            lines += ["", f"## {register.name}", "", "| bits | name | access | meaning |", "|---|---|---|---|"]
            lines += [_field_row(field) for field in register.fields]
    return "\n".join(lines) + "\n"


def _field_row(field: RegisterField) -> str:
    bits = str(field.bit) if field.bits == 1 else f"{field.bit + field.bits - 1}-{field.bit}"
    return f"| {bits} | {field.name} | {field.access} | {field.description} |"


def register_systemrdl(module: str, resets: Mapping[str, int], table: Table = None) -> str:
    """Return the registers as SystemRDL 2.0. The arguments are those of `register_header`."""
    lines = [f"// The registers of {module}_axi. Made by tabla.", f"addrmap {module}_registers {{"]
    lines += ["  default regwidth = 32;", "  default accesswidth = 32;"]
    for register in table or registers():
        reset = resets.get(register.name, register.reset)
        lines += ["  reg {", f'    desc = "{register.description}";']
        for field in register.fields or (_whole(register),):
            lines += _rdl_field(field, reset)
        lines.append(f"  }} {register.name} @ 0x{register.offset:03X};")
    return "\n".join([*lines, "};"]) + "\n"


def _whole(register: Register) -> RegisterField:
    """Return the one field of a register that is one number."""
    return RegisterField(name="VALUE", bit=0, bits=32, access=register.access, description=register.description)


def _rdl_field(field: RegisterField, reset: int) -> list[str]:
    value = (reset & field.mask) >> field.bit
    return [
        "    field {",
        f'      desc = "{field.description}";',
        *(f"      {line}" for line in _RDL_ACCESS[field.access]),
        f"    }} {field.name}[{field.bit + field.bits - 1}:{field.bit}] = 0x{value:X};",
    ]
