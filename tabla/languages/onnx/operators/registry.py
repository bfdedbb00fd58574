"""The table of operators. Each file of this folder has some of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tabla.languages.onnx.call import Function, Operator
from tabla.languages.onnx.model import DEFAULT

Table = dict[tuple[str, str], Operator]


def operator(table: Table, name: str, *, domain: str = DEFAULT, **attributes: Any) -> Callable[[Function], Function]:
    """Register a function as the translation of an operator with these attributes and their defaults."""

    def register(function: Function) -> Function:
        table[domain, name] = Operator(name=name, domain=domain, function=function, attributes=attributes)
        return function

    return register
