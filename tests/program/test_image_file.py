"""The image in an output folder: read back, it is the same image with the same fingerprint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tabla
from tabla.program.image_file import image_of, image_record
from tabla.program.protocol import fingerprint

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("program", "options"),
    [
        ("linear", {}),
        ("logistic", {"format": "q7.11", "sequencers": 2}),
        ("backprop", {"model_guard": 6, "minibatch": 2}),
    ],
)
def test_an_image_comes_back_from_its_file(program: str, options: dict[str, Any]) -> None:
    image = tabla.compile(ROOT / f"examples/{program}.t", pes=4, effort=0, **options).image
    found = image_of(json.loads(json.dumps(image_record(image))))
    assert found == image
    assert fingerprint(found) == fingerprint(image)
    if program == "logistic":
        assert found.parameters.functions and isinstance(found.parameters.functions[0].base, tuple)


def test_another_record_is_refused() -> None:
    record = image_record(tabla.compile(ROOT / "examples/linear.t", pes=2, effort=0).image)
    for wrong in ({}, {**record, "more": 1}, {name: part for name, part in record.items() if name != "dump"}):
        with pytest.raises((KeyError, TypeError, ValueError)):
            image_of(wrong)
