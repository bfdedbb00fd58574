"""Conditions on indices: unions of disjoint cases, each of which is forms that are at least 0."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tabla.graph.graph import Affine

Case = tuple[Affine, ...]
Cases = tuple[Case, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """A truth value that indices decide: the cases in which it is true, and those in which it is false."""

    yes: Cases
    no: Cases

    @property
    def known(self) -> bool | None:
        """The value, if no index decides it; else None."""
        if () in self.yes and not self.no:
            return True
        return False if () in self.no and not self.yes else None

    def negated(self) -> Truth:
        """Return the opposite."""
        return Truth(yes=self.no, no=self.yes)

    def both(self, other: Truth) -> Truth:
        """Return whether both are true."""
        return Truth(yes=_product(self.yes, other.yes), no=(*self.no, *_product(self.yes, other.no)))

    def either(self, other: Truth) -> Truth:
        """Return whether one of both is true."""
        return self.negated().both(other.negated()).negated()


def constant(value: bool) -> Truth:
    """Return a truth value that is known."""
    return Truth(yes=((),), no=()) if value else Truth(yes=(), no=((),))


def compared(name: str, left: Affine, right: Affine) -> Truth:
    """Return the comparison of two integers."""
    below = right - left - 1
    above = left - right - 1
    match name:
        case "less_than":
            return _single(below)
        case "greater_than":
            return _single(above)
        case "less_than_equal":
            return _single(above).negated()
        case "greater_than_equal":
            return _single(below).negated()
        case "equal":
            return Truth(yes=_cases([(left - right, right - left)]), no=_cases([(below,), (above,)]))
        case _:
            return compared("equal", left, right).negated()


def _single(form: Affine) -> Truth:
    return Truth(yes=_cases([(form,)]), no=_cases([(form.fails,)]))


def _product(one: Cases, other: Cases) -> Cases:
    return _cases((*left, *right) for left in one for right in other)


def _cases(cases: Iterable[Case]) -> Cases:
    """Leave out forms that always hold, and cases in which one never does."""
    found = []
    for case in cases:
        if all(form.coefficients or form.constant >= 0 for form in case):
            found.append(tuple(dict.fromkeys(form for form in case if form.coefficients)))
    return tuple(found)
