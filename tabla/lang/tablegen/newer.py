"""Bang operators and slices that came after version 14 of the reference tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabla.lang.tablegen import syntax
from tabla.lang.tablegen.record import Record
from tabla.lang.tablegen.types import Type
from tabla.lang.tablegen.values import Value

if TYPE_CHECKING:
    from tabla.lang.tablegen.expressions import Expressions


def evaluate(expressions: Expressions, node: syntax.Bang, record: Record | None, wanted: Type | None) -> Value:
    """The value of a call of an operator of the newer language."""
    raise expressions.fault(f"!{node.operator} is not supported yet", node.at)


def element_at(
    expressions: Expressions, node: syntax.ElementSelection, base: Value, index: Value, record: Record | None
) -> Value:
    """``base[index]`` with an index that is computed."""
    raise expressions.fault("expected integer or bitrange", node.pieces[0].first.end + 1)
