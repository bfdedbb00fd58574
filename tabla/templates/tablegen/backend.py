"""Records to text, byte for byte as the reference tool prints them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from json.encoder import encode_basestring

from tabla.templates.tablegen.keeper import RecordKeeper
from tabla.templates.tablegen.literals import BitsValue, BitValue, DagValue, IntValue, ListValue, StringValue, name_text
from tabla.templates.tablegen.record import Record, RecordReference, record_text
from tabla.templates.tablegen.stack import deep_stack
from tabla.templates.tablegen.values import UnsetValue, Value
from tabla.templates.tablegen.variables import Variable, VariableBit

# From this version on the JSON says where a record is written.
_LOCATIONS_SINCE = 19

# Python abbreviates these two; the reference tool does not.
_SHORT_ESCAPES = {r"\b": r"\u0008", r"\f": r"\u000c"}
_ESCAPE = re.compile(r"\\(?:[bf]|.)")


def print_records(keeper: RecordKeeper) -> str:
    """``--print-records``: classes, then defs, each sorted by name."""
    lines = ["------------- Classes -----------------\n"]
    with deep_stack():
        lines += [f"class {record_text(record)}" for _, record in sorted(keeper.classes.items())]
        lines.append("------------- Defs -----------------\n")
        lines += [f"def {record_text(record)}" for _, record in sorted(keeper.defs.items())]
    return "".join(lines)


def dump_json(keeper: RecordKeeper) -> str:
    """``--dump-json``: one object, keys sorted."""
    instances: dict[str, list[str]] = {name: [] for name in keeper.classes}
    root = {"!tablegen_json_version": "1"}
    with deep_stack():
        for name, record in sorted(keeper.defs.items()):
            root[name] = _record_json(name, record, keeper)
            for parent in record.parents:
                instances[parent.name_text()].append(name)
    root["!instanceof"] = _object({name: _texts(members) for name, members in instances.items()})
    text = _object(root)
    if any(short in text for short in _SHORT_ESCAPES):
        text = _ESCAPE.sub(lambda match: _SHORT_ESCAPES.get(match.group(), match.group()), text)
    return text + "\n"


# The texts below are put together here and not by `json`, whose encoder takes machine stack for every nested value.
_text = encode_basestring


def _texts(items: Iterable[str]) -> str:
    return f"[{','.join([_text(item) for item in items])}]"


def _object(members: dict[str, str]) -> str:
    return "{" + ",".join([f"{_text(key)}:{members[key]}" for key in sorted(members)]) + "}"


def _record_json(name: str, record: Record, keeper: RecordKeeper) -> str:
    fields = record.fields.values()
    members: dict[str, str] = {}
    for field in fields:
        pieces: list[str] = []
        _write_json(field.value, pieces)
        members[field.name] = "".join(pieces)
    members["!name"] = _text(name)
    members["!anonymous"] = "true" if record.anonymous else "false"
    if keeper.pool.llvm >= _LOCATIONS_SINCE:
        places = [keeper.positions.span(at) for at in record.locations]
        members["!locs"] = _texts([f"{os.path.basename(place.source.name)}:{place.line}" for place in places])
    members["!superclasses"] = _texts([parent.name_text() for parent in record.parents])
    members["!fields"] = _texts([field.name for field in fields if field.may_wait])
    return _object(members)


def _write_json(value: Value, pieces: list[str]) -> None:
    """Append the pieces of the JSON text of a value; keys are written in their sorted order."""
    match value:
        case UnsetValue():
            pieces.append("null")
        case BitValue() | IntValue():
            pieces.append(value.text())
        case StringValue(value=text):
            pieces.append(_text(text))
        case BitsValue(bits=items) | ListValue(items=items):
            separator = "["
            for item in items:
                pieces.append(separator)
                _write_json(item, pieces)
                separator = ","
            pieces.append("]" if items else "[]")
        case DagValue():
            _write_dag(value, pieces)
        case RecordReference(record=record):
            pieces.append(f'{{"def":{_text(record.name_text())},"kind":"def","printable":{_text(value.text())}}}')
        case Variable(name=name):
            pieces.append(f'{{"kind":"var","printable":{_text(value.text())},"var":{_text(name)}}}')
        case VariableBit(base=Variable(name=name), index=index):
            printable = _text(value.text())
            pieces.append(f'{{"index":{index},"kind":"varbit","printable":{printable},"var":{_text(name)}}}')
        case _:
            pieces.append(f'{{"kind":"complex","printable":{_text(value.text())}}}')


def _write_dag(value: DagValue, pieces: list[str]) -> None:
    separator = '{"args":['
    for argument, name in zip(value.arguments, map(name_text, value.names), strict=True):
        pieces.append(separator + "[")
        _write_json(argument, pieces)
        pieces.append(",null]" if name is None else f",{_text(name)}]")
        separator = ","
    pieces.append('],"kind":"dag"' if value.arguments else '{"args":[],"kind":"dag"')
    name = name_text(value.name)
    pieces.append(',"operator":' if name is None else f',"name":{_text(name)},"operator":')
    _write_json(value.operator, pieces)
    pieces.append(f',"printable":{_text(value.text())}}}')
