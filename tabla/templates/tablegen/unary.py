"""Bang operators of one operand (reference, section 1.11, "Bang operators")."""

from __future__ import annotations

from tabla.templates.tablegen.literals import DagValue, IntValue, ListValue, StringValue
from tabla.templates.tablegen.record import RecordReference, RecordType
from tabla.templates.tablegen.types import INT, STRING, Type
from tabla.templates.tablegen.values import Owner, PendingValue, Pool, Resolver, Value
from tabla.templates.tablegen.variables import AnonymousName


class UnaryOperation(PendingValue):
    """``!operator(operand)``. A cast carries its target as its type."""

    __slots__ = ("operand", "operator")

    def __init__(self, operator: str, operand: Value, type: Type) -> None:
        # A cast to a record is looked up again at the last step, even when its operand did not change.
        super().__init__(type, operand.ground and operator != "cast")
        self.operator = operator
        self.operand = operand

    def text(self) -> str:
        target = f"<{self.type}>" if self.operator == "cast" else ""
        return f"!{self.operator}{target}({self.operand.text()})"

    def resolve(self, resolver: Resolver) -> Value:
        operand = self.operand.resolve(resolver)
        if operand is self.operand and not (resolver.is_final and self.operator == "cast"):
            return self
        operation = resolver.pool.unique(UnaryOperation, self.operator, operand, self.type)
        return operation.fold(resolver.record, resolver.pool, final=resolver.is_final)

    def fold(self, record: Owner | None, pool: Pool, *, final: bool = False) -> Value:
        """Return the result, or the operation itself if the operand is not known yet."""
        operand = self.operand
        match self.operator:
            case "cast":
                return self._cast(record, pool, final)
            case "not":
                number = operand.convert(INT, pool)
                return pool.integer(int(number.value == 0)) if isinstance(number, IntValue) else self
            case "head" | "tail":
                if not isinstance(operand, ListValue):
                    return self
                if not operand.items:
                    raise pool.fault(f"!{self.operator} of an empty list", record)
                if self.operator == "head":
                    return operand.items[0]
                return pool.list(operand.items[1:], operand.element_type)
            case "size" | "empty":
                size = _size(operand)
                if size is None:
                    return self
                return pool.integer(size if self.operator == "size" else int(size == 0))
            case _:
                return self._dag_operator(record, pool)

    def _dag_operator(self, record: Owner | None, pool: Pool) -> Value:
        if not isinstance(self.operand, DagValue):
            return self
        found = self.operand.operator
        if not isinstance(found, RecordReference):
            raise pool.fault("expected record as operator", record)
        if not found.type.is_a(self.type):
            raise pool.fault(f"expected type '{self.type}', got '{found.type}' in: {self.text()}", record)
        return found

    def _cast(self, record: Owner | None, pool: Pool, final: bool) -> Value:
        operand, target = self.operand, self.type
        if target is STRING:
            if isinstance(operand, StringValue):
                return operand
            if isinstance(operand, RecordReference):
                return pool.string(operand.text())
            number = operand.convert(INT, pool)
            if isinstance(number, IntValue):
                return pool.string(number.text())
        elif isinstance(target, RecordType) and isinstance(operand, StringValue):
            return self._record_named(operand, record, pool, final)
        converted = operand.convert(target, pool)
        return self if converted is None else converted

    def _record_named(self, name: StringValue, record: Owner | None, pool: Pool, final: bool) -> Value:
        if record is None:
            return self
        # A record may refer to itself, but its type is known only at the end.
        own_name = record.name
        if name is own_name or (isinstance(own_name, AnonymousName) and name.value == own_name.text()):
            if not final:
                return self
            found = record
        else:
            known = pool.definition(name.value)
            if known is None:
                if final:
                    raise pool.fault(f"undefined reference to record: '{name.value}'", record)
                return self
            found = known
        reference = found.reference()
        if not reference.type.is_a(self.type):
            raise pool.fault(f"expected type '{self.type}', got '{reference.type}' in: {self.text()}", record)
        return reference


def _size(operand: Value) -> int | None:
    match operand:
        case ListValue(items=items):
            return len(items)
        case DagValue(arguments=arguments):
            return len(arguments)
        case StringValue(value=value):
            # The reference tool counts bytes.
            return len(value) if value.isascii() else len(value.encode())
        case _:
            return None
