"""What every part of the evaluator of expressions needs of the whole: values of operands, types and faults."""

from __future__ import annotations

from abc import ABC, abstractmethod

from tabla.base.source import TablaError
from tabla.templates.tablegen import syntax
from tabla.templates.tablegen.record import Record
from tabla.templates.tablegen.scope import Scope
from tabla.templates.tablegen.types import BIT, DAG, INT, STRING, Type
from tabla.templates.tablegen.values import Value

_SIMPLE_TYPES = {"bit": BIT, "int": INT, "string": STRING, "code": STRING, "dag": DAG}

# A range longer than this is a slip of the pen, not a list of bits.
MAX_RANGE = 1 << 20


class Evaluator(ABC):
    """Evaluates the operands of bang operators, which are expressions of any kind. `Expressions` is the whole
    evaluator.
    """

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.pool = scope.pool
        self.keeper = scope.keeper

    @abstractmethod
    def evaluate(
        self, node: syntax.Expression, record: Record | None, wanted: Type | None = None, *, as_text: bool = False
    ) -> Value:
        """Return the value of an expression.

        The fields of `record` may be named. `wanted` is the type that the place asks for. `as_text` is set in names
        and on the right of a paste.
        """

    def type_of(self, node: syntax.TypeName) -> Type:
        """Return the type that was written."""
        match node.kind:
            case "bits":
                if not 0 <= node.width <= MAX_RANGE:
                    raise self.fault(
                        f"bits<{node.width}> is not a possible width", node.at, hint=f"the width is 0 to {MAX_RANGE}"
                    )
                return self.pool.bits_type(node.width)
            case "list":
                assert node.element is not None, "the grammar asks for one"
                return self.pool.list_type(self.type_of(node.element))
            case "class":
                if node.name in self.scope.type_names:
                    return self.scope.type_names[node.name]
                return self.class_named(node.name, node.at).instance_type()
            case _:
                return _SIMPLE_TYPES[node.kind]

    def class_named(self, name: str, at: int) -> Record:
        """Return the class of this name."""
        found = self.keeper.classes.get(name)
        if found is None:
            hint = None
            if name in self.scope.multiclasses:
                hint = f"'{name}' is a multiclass: use defm to instantiate it"
            raise self.fault(f"couldn't find class '{name}'", at, hint=hint)
        return found

    def fault(self, message: str, at: int, *, hint: str | None = None) -> TablaError:
        """Return the user's fault at a token."""
        return self.keeper.fault(message, at, hint=hint)
