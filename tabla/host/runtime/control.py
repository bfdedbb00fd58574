"""The registers of the wrapper, by the names in the manifest, and what they say in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tabla.host.runtime.access import Registers


class Control:
    """The registers of a wrapper. `entries` is the entry ``bus.registers`` of the manifest."""

    def __init__(self, registers: Registers, entries: Sequence[Mapping[str, Any]]) -> None:
        self._registers = registers
        self._entries = {entry["name"]: entry for entry in entries}

    def read(self, name: str) -> int:
        """Return the word of a register."""
        return self._registers.read(self._entries[name]["offset"])

    def write(self, name: str, word: int) -> None:
        """Write the word of a register."""
        self._registers.write(self._entries[name]["offset"], word)

    def expected(self, name: str) -> int:
        """Return the value of a register after reset, which is that of a constant register for ever."""
        return int(self._entries[name]["reset"])

    def mask(self, name: str, *fields: str) -> int:
        """Return the bits of these fields of a register; of all its fields if none is named."""
        found = [f for f in self._entries[name]["fields"] if not fields or f["name"] in fields]
        return sum(((1 << field["bits"]) - 1) << field["bit"] for field in found)

    def names(self, name: str, word: int) -> list[str]:
        """Return the names of the fields of a register that are not 0 in a word."""
        fields = self._entries[name]["fields"]
        return [field["name"] for field in fields if word >> field["bit"] & ((1 << field["bits"]) - 1)]

    def described(self, name: str, word: int) -> list[str]:
        """Return the fields of a register that are not 0 in a word, each with its meaning."""
        fields = {field["name"]: field["description"] for field in self._entries[name]["fields"]}
        return [f"{field} ({fields[field]})" for field in self.names(name, word)]

    def said(self) -> str:
        """Return the registers that tell how a command goes, in words."""
        status = self.read("STATUS")
        bits = ", ".join(self.names("STATUS", status)) or "nothing"
        numbers = ", ".join(f"{name} {self.read(name)}" for name in ("SAMPLES", "COUNT", "WAIT_IN", "WAIT_OUT"))
        return f"STATUS is 0x{status:08X} ({bits}), {numbers}"
