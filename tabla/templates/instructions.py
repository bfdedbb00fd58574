"""The Python view of the instruction set in ``machine.td``: the units, and the fields of their operations and
strands.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from tabla.base.source import TablaError
from tabla.templates import tablegen
from tabla.templates.records import MACHINE, records, strings


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionField:
    """A named run of bits of an operation word. `choices` are the symbols of its codes, if it has any."""

    name: str
    offset: int
    width: int
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationFormat:
    """The fields and the generators of one unit's operations, and the bits that follow them.

    `several` names those bits. It is empty where the array has one sequencer. `wide_models` names the bits behind them,
    which only arrays with wide models have. `predicting` names the bits behind those, which only arrays have that take
    the command PREDICT. `scattering` names the bits behind those, which only arrays have that write where a position
    says. `far` names the last field, which has the bits of the number of a shift above those of `shift`. Only arrays
    with more than four shifts have it.
    """

    unit: str
    fields: tuple[InstructionField, ...]
    generators: tuple[str, ...]
    several: tuple[str, ...] = ()
    wide_models: tuple[str, ...] = ()
    predicting: tuple[str, ...] = ()
    scattering: tuple[str, ...] = ()
    far: tuple[str, ...] = ()

    def code(self, field: str, symbol: str) -> int:
        """Return the code of a symbol of a field. A symbol that the field does not have is a `ValueError`."""
        found = next(f for f in self.fields if f.name == field)
        return found.choices.index(symbol)


@cache
def _symbolic() -> dict[str, Any]:
    """Return the records as JSON, the form in which a bit that refers to a field still says so."""
    text: dict[str, Any] = json.loads(tablegen.run(MACHINE, action="dump-json"))
    return text


LANE_KINDS = ("lane_issue", "lane_write")
ROOT_KINDS = ("root_issue", "root_write")


def units_of(sequencers: int) -> tuple[str, ...]:
    """Return the units whose programs start with a token.

    Each of several sequencers has two units of its own, such as ``lane_issue_3`` and ``lane_write_3``.
    """
    if sequencers == 1:
        return (*LANE_KINDS, *ROOT_KINDS)
    return (*(f"{kind}_{number}" for kind in LANE_KINDS for number in range(sequencers)), *ROOT_KINDS)


def kind_of(unit: str) -> str:
    """Return what a unit does: ``lane_issue_3`` does for the lanes of sequencer 3 what `lane_issue` does for all."""
    return unit.rstrip("0123456789").rstrip("_")


@cache
def operation_format(unit: str) -> OperationFormat:
    """Return the operation format of a unit. A field lies where its bits stand in ``Inst``."""
    kind = kind_of(unit)
    record = next(r for r in records(MACHINE).of_class("OperationFormat") if r["Unit"] == kind)
    found: dict[str, list[int]] = {}
    for position, place in enumerate(_symbolic()[record.name]["Inst"]):
        found.setdefault(place["var"], []).append(position)
    fields = []
    for name, positions in found.items():
        if positions != list(range(positions[0], positions[0] + len(positions))):
            raise TablaError(
                f"the bits of field '{name}' of record '{record.name}' are not in order",
                hint=f"give {name} one stretch of bits, from the lowest to the highest",
            )
        symbols = strings(record, f"{name}Choices") if f"{name}Choices" in record else ()
        fields.append(InstructionField(name=name, offset=positions[0], width=len(positions), choices=symbols))
    return OperationFormat(
        unit=unit,
        fields=tuple(fields),
        generators=strings(record, "Generators"),
        several=strings(record, "Several") if unit != kind else (),
        wide_models=strings(record, "WideModels"),
        predicting=strings(record, "Predicting"),
        scattering=strings(record, "Scattering"),
        far=strings(record, "Far"),
    )


OPERANDS = ("a", "b", "c")
"""The operands of an operation. A root has memories of its own for each of them."""


@cache
def strand_fields() -> tuple[str, ...]:
    """Return the fixed fields of a strand word, least significant first."""
    return strings(records(MACHINE)["StrandWord"], "Fields")


@cache
def overlapping_strand_fields() -> tuple[str, ...]:
    """Return the fields that strand words have behind the counts in arrays on which samples overlap."""
    return strings(records(MACHINE)["StrandWord"], "Overlapping")
