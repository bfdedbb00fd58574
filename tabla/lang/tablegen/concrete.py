"""Whether every field of a finished record is computed, and the fault if one is not."""

from __future__ import annotations

from tabla.lang.tablegen.keeper import RecordKeeper
from tabla.lang.tablegen.literals import BitsValue, IntValue
from tabla.lang.tablegen.record import Field, Record
from tabla.lang.tablegen.references import field_of_unset
from tabla.lang.tablegen.unary import UnaryOperation
from tabla.lang.tablegen.values import Value
from tabla.lang.tablegen.variables import Variable, VariableBit
from tabla.source import Label, TablaError


def check_concrete(keeper: RecordKeeper, record: Record) -> None:
    """Collect a fault for each field that is not computed by now. Fields that were declared with ``field`` may wait."""
    for field in record.fields.values():
        value = field.value
        if field.may_wait or (value.ground and not isinstance(value, BitsValue) and value.is_concrete()):
            continue
        if isinstance(value, BitsValue):
            concrete = all(_bit_is_settled(bit, record) for bit in value.bits)
        else:
            concrete = value.is_concrete()
        if not concrete:
            keeper.collect(_unresolved(keeper, record, field))


def _unresolved(keeper: RecordKeeper, record: Record, field: Field) -> TablaError:
    """Why a field is not finished: most often a number that its type cannot hold."""
    value, hint = field.value, None
    first = value
    if isinstance(value, BitsValue):
        first = next(bit for bit in value.bits if not _bit_is_settled(bit, record))
    pending = first.base if isinstance(first, VariableBit) else first
    if isinstance(pending, UnaryOperation) and pending.operator == "cast" and isinstance(pending.operand, IntValue):
        # A part of the field may have a type of its own, as the template argument `n` in `{0, 0, n}`.
        owner = "its type" if pending.type is field.type else "the type of one of its parts,"
        message = (
            f"value {pending.operand.text()} of '{field.name}' in '{record.name_text()}' does not fit {owner} "
            f"'{pending.type}'"
        )
    else:
        message = f"initializer of '{field.name}' in '{record.name_text()}' could not be fully resolved: {value.text()}"
        if (missing := field_of_unset(value)) is not None:
            hint = f"a value that is not set ('?') has no field '{missing}'"
    fault = keeper.fault_in(message, record)
    place = Label(keeper.positions.span(field.at), "the field got its value here")
    return TablaError(fault.message, *fault.labels, place, hint=hint or fault.hint, notes=fault.notes)


def _bit_is_settled(bit: Value, record: Record) -> bool:
    # A bit may stay a reference to a field that is unset: encoders fill such fields in from operands.
    if isinstance(bit, VariableBit):
        if isinstance(bit.base, Variable) and bit.base.name in record.fields:
            return True
    elif isinstance(bit, Variable):
        return True
    return bit.is_concrete()
