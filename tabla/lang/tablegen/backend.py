"""Records to text, byte for byte as the reference tool prints them."""

from __future__ import annotations

import json
import re
from typing import Any

from tabla.lang.tablegen.keeper import RecordKeeper
from tabla.lang.tablegen.literals import BitsValue, BitValue, DagValue, IntValue, ListValue, StringValue
from tabla.lang.tablegen.record import RecordReference, record_text
from tabla.lang.tablegen.values import UnsetValue, Value
from tabla.lang.tablegen.variables import Variable, VariableBit

# Python abbreviates these two; the reference tool does not.
_SHORT_ESCAPES = {r"\b": r"\u0008", r"\f": r"\u000c"}
_ESCAPE = re.compile(r"\\(?:[bf]|.)")


def print_records(keeper: RecordKeeper) -> str:
    """``--print-records``: classes, then defs, each sorted by name."""
    lines = ["------------- Classes -----------------\n"]
    lines += [f"class {record_text(record)}" for _, record in sorted(keeper.classes.items())]
    lines.append("------------- Defs -----------------\n")
    lines += [f"def {record_text(record)}" for _, record in sorted(keeper.defs.items())]
    return "".join(lines)


def dump_json(keeper: RecordKeeper) -> str:
    """``--dump-json``: one object, keys sorted."""
    instances: dict[str, list[str]] = {name: [] for name in keeper.classes}
    root: dict[str, Any] = {"!tablegen_json_version": 1, "!instanceof": instances}
    for name, record in sorted(keeper.defs.items()):
        fields = record.fields.values()
        parents = [parent.name_text() for parent in record.parents]
        root[name] = {field.name: _json_value(field.value) for field in fields} | {
            "!name": name,
            "!anonymous": record.anonymous,
            "!superclasses": parents,
            "!fields": [field.name for field in fields if field.may_wait],
        }
        for parent in parents:
            instances[parent].append(name)
    text = json.dumps(root, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    if any(short in text for short in _SHORT_ESCAPES):
        text = _ESCAPE.sub(lambda match: _SHORT_ESCAPES.get(match.group(), match.group()), text)
    return text + "\n"


def _json_value(value: Value) -> Any:
    match value:
        case UnsetValue():
            return None
        case BitValue(value=number) | IntValue(value=number):
            return number
        case BitsValue(bits=bits):
            return [_json_value(bit) for bit in bits]
        case StringValue(value=text):
            return text
        case ListValue(items=items):
            return [_json_value(item) for item in items]
    result: dict[str, Any] = {"printable": value.text(), "kind": "complex"}
    match value:
        case RecordReference(record=record):
            result |= {"kind": "def", "def": record.name_text()}
        case Variable(name=name):
            result |= {"kind": "var", "var": name}
        case VariableBit(base=Variable(name=name), index=index):
            result |= {"kind": "varbit", "var": name, "index": index}
        case DagValue():
            result["kind"] = "dag"
            result["operator"] = _json_value(value.operator)
            if value.name is not None:
                result["name"] = value.name
            result["args"] = [
                [_json_value(argument), name] for argument, name in zip(value.arguments, value.names, strict=True)
            ]
    return result
