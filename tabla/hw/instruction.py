"""The fields of an operation word, as slices of the wires that carry it."""

from typing import Any

from amaranth.hdl import Cat

from tabla.templates.instructions import operation_format


def instruction_width(unit: str, far_shift_bits: int = 0) -> int:
    """Return the bits of the fields of a unit's operation, generators not counted.

    A unit that sums has `far_shift_bits` more, the upper bits of the number of a shift.
    """
    form = operation_format(unit)
    return sum(field.width for field in form.fields) + far_shift_bits * len(form.far)


def instruction_fields(unit: str, instruction: Any) -> dict[str, Any]:
    """Return the slice of each field by name.

    `instruction` is ``instruction_width(unit)`` bits wide, or more: the bits above are the upper ones of `shift`.
    """
    fields = {
        field.name: instruction[field.offset : field.offset + field.width] for field in operation_format(unit).fields
    }
    near = instruction_width(unit)
    if len(instruction) > near:
        fields["shift"] = Cat(fields["shift"], instruction[near:])
    return fields
