"""Variables, their bits and elements, and the names of anonymous records: what a `Resolver` replaces."""

from __future__ import annotations

from tabla.templates.tablegen.types import BIT, STRING, ListType, Type
from tabla.templates.tablegen.values import PendingValue, Pool, Resolver, TypedValue, Value


class Variable(PendingValue):
    """A field, a template argument (``Class:argument``) or a loop variable, by name."""

    __slots__ = ("name",)

    def __init__(self, name: str, type: Type) -> None:
        super().__init__(type, False)
        self.name = name

    def text(self) -> str:
        return self.name

    def resolve(self, resolver: Resolver) -> Value:
        found = resolver.lookup(self.name)
        return self if found is None else found


class VariableBit(TypedValue):
    """``base{index}`` of a value that is not known yet."""

    __slots__ = ("base", "index")

    def __init__(self, base: TypedValue, index: int) -> None:
        super().__init__(BIT, base.ground)
        self.base = base
        self.index = index

    def text(self) -> str:
        return f"{self.base.text()}{{{self.index}}}"

    def resolve(self, resolver: Resolver) -> Value:
        base = self.base.resolve(resolver)
        return self if base is self.base else base.bit(self.index, resolver.pool)

    def bit(self, index: int, pool: Pool) -> Value:
        return self


class VariableElement(PendingValue):
    """``base[index]`` of a list that is not known yet."""

    __slots__ = ("base", "index")

    def __init__(self, base: TypedValue, index: int) -> None:
        assert isinstance(base.type, ListType)
        super().__init__(base.type.element, False)
        self.base = base
        self.index = index

    def text(self) -> str:
        return f"{self.base.text()}[{self.index}]"

    def resolve(self, resolver: Resolver) -> Value:
        base = self.base.resolve(resolver)
        if base is self.base or not isinstance(base, TypedValue):
            return self
        selected = base.select_elements([self.index], resolver.pool)
        # Out of range is no fault yet: this may stand in the branch of an !if that is not taken.
        return resolver.pool.element_of(base, self.index) if selected is None else selected


class AnonymousName(TypedValue):
    """``anonymous_N``: a name that a record gets when it is finished, unless it is renamed before."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        super().__init__(STRING, False)
        self.number = number

    def text(self) -> str:
        return f"anonymous_{self.number}"

    def resolve(self, resolver: Resolver) -> Value:
        new = resolver.lookup_anonymous(self)
        if resolver.is_final and isinstance(new, AnonymousName):
            return resolver.pool.string(new.text())
        return new
