"""The fields of an operation word, as slices of the wires that carry it."""

from typing import Any

from tabla.templates.instructions import operation_format


def instruction_width(unit: str) -> int:
    """Return the bits of the fields of a unit's operation, generators not counted."""
    return sum(field.width for field in operation_format(unit).fields)


def instruction_fields(unit: str, instruction: Any) -> dict[str, Any]:
    """Return the slice of each field by name. `instruction` is ``instruction_width(unit)`` bits wide."""
    return {
        field.name: instruction[field.offset : field.offset + field.width] for field in operation_format(unit).fields
    }
