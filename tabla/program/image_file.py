"""The image as plain numbers and lists, which ``program/image.json`` of an output folder holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from tabla.program.image import Entry, FirstWords, FunctionTable, Image, Parameters, StreamEntry

_SCHEMA = "tabla-image-1"


def image_record(image: Image) -> dict[str, Any]:
    """Return an image as a record of numbers, texts, lists and records, with the name of its schema."""
    plain = _plain(image)
    if image.first is None:  # most images have none
        del plain["first"]
    return {"schema": _SCHEMA, **plain}


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, tuple) else value


def image_of(record: Mapping[str, Any]) -> Image:
    """Return the image of a record that `image_record` made, with the same fingerprint.

    Raises a KeyError, TypeError or ValueError for any other record.
    """
    parameters = _frozen(record["parameters"])
    functions = tuple(FunctionTable(**function) for function in parameters["functions"])
    return image_on(record, Parameters(**{**parameters, "functions": functions}))


def image_on(record: Mapping[str, Any], parameters: Parameters) -> Image:
    """Return the image of a record that `image_record` made, with other parameters. Raises as `image_of` does."""
    if record["schema"] != _SCHEMA:
        raise ValueError(f"an image with the schema {record['schema']!r}")
    parts = {key: _frozen(part) for key, part in record.items() if key != "schema"}
    whole = {
        **parts,
        "parameters": parameters,
        "run": Entry(**parts["run"]),
        "dump": Entry(**parts["dump"]),
        "stream_run": StreamEntry(**parts["stream_run"]),
        "stream_load": StreamEntry(**parts["stream_load"]),
    }
    if "first" in parts:
        whole["first"] = FirstWords(**parts["first"])
    return Image(**whole)


def _frozen(value: Any) -> Any:
    """Return what JSON gave back as the image has it: lists as tuples."""
    if isinstance(value, dict):
        return {key: _frozen(part) for key, part in value.items()}
    return tuple(_frozen(part) for part in value) if isinstance(value, list) else value
