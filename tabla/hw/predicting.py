"""What an array has more if it takes PREDICT: a run that writes no model, and counts only what the results need.

``docs/decisions/0038-predict-command.md`` has the reasons. Where nothing predicts, none of this is built.
"""

import inspect
from typing import Any

from amaranth.hdl import Cat
from amaranth.lib import wiring

from tabla.hw.instruction import instruction_fields

_WRITES = ("to_model", "to_interim", "to_memory", "model")
"""The fields of an operation that write a memory, or say that a word of a model is written."""


def without_updates(unit: str, instruction: Any, predict: Any) -> Any:
    """Return an operation of a unit that writes: an update is one no more, and touches no memory, while `predict` is 1.

    Such an operation still puts its word on the bus. The bits keep their places.
    """
    fields = instruction_fields(unit, instruction)
    held = predict & fields["model"]
    return Cat(field & ~held if name in _WRITES else field for name, field in fields.items())


def described(component: wiring.Component, members: str) -> str:
    """Return the data sheet of a component that has more members than its docstring lists."""
    return f"{inspect.cleandoc(type(component).__doc__ or '')}\n{inspect.cleandoc(members)}"
