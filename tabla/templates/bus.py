"""The Python view of ``bus.td``: the registers that a host reads and writes over its bus."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from tabla.templates.records import HERE, integer, records, records_of, string

BUS = HERE / "bus.td"
PREDICT = 5
"""The code of the command that predicts. Its lowest two bits are the code of RUN."""
PREDICTING = 0x0001_0001
"""The version of the interface of a wrapper that predicts."""
PROGRAMS = 0x400
"""The registers from this offset on are those for programs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterField:
    """Bits ``bit`` to ``bit + bits - 1`` of a register.

    `access` is ``ro``, ``rw``, ``w1c`` (writing 1 clears), ``wo`` or ``sc`` (the bit clears itself and reads as 0).
    """

    name: str
    bit: int
    bits: int
    access: str
    description: str

    @property
    def mask(self) -> int:
        """The bits of the field in the register's word."""
        return ((1 << self.bits) - 1) << self.bit


@dataclass(frozen=True, slots=True, kw_only=True)
class Register:
    """A register of 32 bits at `offset` bytes.

    `access` is ``ro``, ``rw``, ``w1c`` or ``wo``; any other access is refused. `reset` is the value after reset. A
    register without fields is one number.
    """

    name: str
    offset: int
    access: str
    reset: int
    description: str
    fields: tuple[RegisterField, ...]

    @property
    def readable(self) -> bool:
        """Whether a host may read the register."""
        return self.access != "wo"

    @property
    def writable(self) -> bool:
        """Whether a host may write the register."""
        return self.access != "ro"

    def field(self, name: str) -> RegisterField:
        """Return the field of this name."""
        return next(field for field in self.fields if field.name == name)


@cache
def registers(predicts: bool = False) -> tuple[Register, ...]:
    """Return the registers that every wrapper has, in the order of their offsets.

    Those of an array that `predicts` say that it takes PREDICT, too.
    """
    found = tuple(register for register in _all() if register.offset < PROGRAMS)
    return tuple(_predicting(register) for register in found) if predicts else found


def _predicting(register: Register) -> Register:
    """Return a register of every wrapper with what is different where the array predicts."""
    match register.name:
        case "VERSION":
            return replace(register, reset=PREDICTING)
        case "COMMAND":
            return described(register, "CODE", "0 LOAD, 1 RUN, 2 DUMP, 5 PREDICT; 3 and 4 are reserved")
        case "COUNT":
            return replace(register, description="the units of the next RUN or PREDICT")
        case "RESULT_UNITS":
            return replace(register, description="the units in an output packet; 0 for one packet a command")
        case "STATUS":
            count = described(register, "COUNT_ZERO", "RUN or PREDICT with COUNT = 0")
            return described(count, "NOT_LOADED", "RUN, PREDICT or DUMP before LOAD")
        case "SAMPLES":
            return replace(register, description="the units that are finished in this or the last RUN or PREDICT")
        case _:
            return register


def described(register: Register, name: str, description: str) -> Register:
    """Return a register, one of whose fields has another description."""
    changed = (replace(f, description=description) if f.name == name else f for f in register.fields)
    return replace(register, fields=tuple(changed))


@cache
def program_registers() -> tuple[Register, ...]:
    """Return the registers that only the wrapper of an overlay has, in the order of their offsets."""
    return tuple(register for register in _all() if register.offset >= PROGRAMS)


def _all() -> tuple[Register, ...]:
    found = [
        Register(
            name=string(record, "Name"),
            offset=integer(record, "Offset"),
            access=string(record, "Access"),
            reset=integer(record, "Reset"),
            description=string(record, "Description"),
            fields=tuple(
                RegisterField(
                    name=string(field, "Name"),
                    bit=integer(field, "Bit"),
                    bits=integer(field, "Bits"),
                    access=string(field, "Access"),
                    description=string(field, "Description"),
                )
                for field in records_of(record, "Fields")
            ),
        )
        for record in records(BUS).of_class("Register")
    ]
    return tuple(sorted(found, key=lambda register: register.offset))


def register(name: str) -> Register:
    """Return the register of this name."""
    return next(found for found in registers() if found.name == name)
