"""Types and the two relations between them (reference, section 1.3, "Types").

``a.is_a(b)`` means that every value of `a` is a value of `b` as it stands. ``a.converts_to(b)`` means that a value
of `a` may be given where `b` is wanted, perhaps after a conversion that can still fail for a particular value.
Types are compared by identity: the pool hands out one object for each type. The types of records are in `record`.
"""

from __future__ import annotations


class Type:
    """A simple type. Its subclasses carry a parameter."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<type {self}>"

    def is_a(self, other: Type) -> bool:
        """Return whether every value of this type is one of `other` as it stands."""
        return self is other

    def converts_to(self, other: Type) -> bool:
        """Return whether a value of this type may stand where `other` is wanted."""
        if self is other:
            return True
        if self is BIT:
            return other is INT or (isinstance(other, BitsType) and other.width == 1)
        if self is INT:
            return other is BIT or isinstance(other, BitsType)
        return False


BIT = Type("bit")
INT = Type("int")
STRING = Type("string")
DAG = Type("dag")


class BitsType(Type):
    """``bits<width>``"""

    __slots__ = ("width",)

    def __init__(self, width: int) -> None:
        super().__init__(f"bits<{width}>")
        self.width = width

    def converts_to(self, other: Type) -> bool:
        return self is other or other is INT or (other is BIT and self.width == 1)


class ListType(Type):
    """``list<element>``"""

    __slots__ = ("element",)

    def __init__(self, element: Type) -> None:
        super().__init__(f"list<{element.name}>")
        self.element = element

    def is_a(self, other: Type) -> bool:
        return self is other or (isinstance(other, ListType) and self.element.is_a(other.element))

    def converts_to(self, other: Type) -> bool:
        return self is other or (isinstance(other, ListType) and self.element.converts_to(other.element))
