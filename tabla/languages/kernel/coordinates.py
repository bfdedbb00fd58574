"""Coordinates for a sum that several index values may bring to one element.

An output index of the graph must lead to one element each. Where several values of the user's index variables lead to
the same element (``O[i + j] += ...``), an integer change of variables makes coordinates of which some name the element
and the others are summed over. Exact quotients are changes of variables too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd

from tabla.base.source import Span
from tabla.graph.graph import Affine, Index
from tabla.languages.kernel.intervals import Rational, Row, intervals_of
from tabla.languages.kernel.lattice import column_hermite, divisible


@dataclass(frozen=True, slots=True, kw_only=True)
class Coordinates:
    """The points of a sum: `indices` name an element each, and `reduced` are summed over.

    `change` says what the old variables are in them. `constraints` are forms that are at least 0 at the valid points of
    the box of all indices.
    """

    indices: tuple[Index, ...]
    reduced: tuple[Index, ...]
    change: Change
    constraints: tuple[Affine, ...]


def coordinates_of(
    names: tuple[str, ...],
    rows: Sequence[Row],
    write: Sequence[Rational],
    shape: Sequence[int],
    *,
    whole: Sequence[Rational] = (),
    stated: Mapping[str, Span] | None = None,
) -> Coordinates | None:
    """Return coordinates for the values of `names` that keep all `rows` and make every `whole` form an integer.

    `write` are the subscripts of the element in a tensor of this `shape`, each bounded by a row. `stated` are variables
    whose ends the text mentions, with the place. Return None if no values are valid.
    """
    change: Change | None = Change.identity(names)
    for each in whole:
        change = change.divided(each) if change is not None else None
    if change is None:
        return None
    outputs = _outputs(write, shape, change, rows)
    if outputs is None:
        change = change.split(write)
        outputs = change.names[: change.rank]
    change = _straightened(change, outputs, rows)
    changed = [change.row(row) for row in rows]
    box = intervals_of(change.names, changed)
    if box is None:
        return None
    places = {name: span for old, span in (stated or {}).items() for name in change.old[old].names}
    ranges = {name: Index(name=name, low=low, high=high, span=places.get(name)) for name, (low, high) in box.items()}
    return Coordinates(
        indices=tuple(ranges[name] for name in outputs),
        reduced=tuple(ranges[name] for name in change.names if name not in outputs),
        change=change,
        constraints=_constraints(changed, ranges),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Old index variables as integer affine forms of new ones. The first `rank` new variables may stand for outputs."""

    names: tuple[str, ...]
    old: Mapping[str, Rational]
    rank: int = 0

    @staticmethod
    def identity(names: tuple[str, ...]) -> Change:
        """Return the change that changes nothing."""
        return Change(names=names, old={name: Rational.make(0, {name: 1}) for name in names})

    def rational(self, value: Rational) -> Rational:
        """Return a form of the old variables in the new ones."""
        constant, factors = value.constant, dict.fromkeys(self.names, Fraction(0))
        for name, factor in value.factors:
            constant += factor * self.old[name].constant
            for other, inner in self.old[name].factors:
                factors[other] += factor * inner
        return Rational.make(constant, factors)

    def affine(self, value: Rational) -> Affine:
        """Return a form of the old variables in the new ones, where all coefficients are integers."""
        changed = self.rational(value)
        assert changed.constant.denominator == 1, "a subscript that is not an integer"
        return Affine.make(int(changed.constant), {name: int(factor) for name, factor in changed.factors})

    def form(self, form: Affine) -> Affine:
        """Return an affine form in the new variables. Other indices in it, those of sums inside, stay as they are."""
        inside = {name: factor for name, factor in form.coefficients if name not in self.old}
        outside = {name: factor for name, factor in form.coefficients if name in self.old}
        return self.affine(Rational.make(form.constant, outside)) + Affine.make(0, inside)

    def row(self, row: Row) -> Row:
        """Return an inequality of the old variables in the new ones."""
        return Row(value=self.rational(row.value), bound=row.bound)

    def then(self, new: Mapping[str, Rational], names: tuple[str, ...], rank: int = 0) -> Change:
        """Return this change followed by another change of its new variables."""
        inner = Change(names=names, old=new)
        old = {name: inner.rational(value) for name, value in self.old.items()}
        return Change(names=names, old=old, rank=rank)

    def divided(self, value: Rational) -> Change | None:
        """Return the change restricted to the values for which a form of the old variables is an integer."""
        changed = self.rational(value)
        names = [name for name in self.names if changed.factor(name)]
        scale = changed.constant.denominator
        for name in names:
            scale = scale * changed.factor(name).denominator // gcd(scale, changed.factor(name).denominator)
        solved = divisible([int(changed.factor(n) * scale) for n in names], int(changed.constant * scale), scale)
        if solved is None:
            return None
        particular, basis = solved
        new = {name: Rational.make(0, {name: 1}) for name in self.names}
        for place, name in enumerate(names):
            factors = {free: column[place] for free, column in zip(names, basis, strict=True)}
            new[name] = Rational.make(particular[place], factors)
        return self.then(new, self.names)

    def split(self, write: Sequence[Rational]) -> Change:
        """Choose coordinates of which the first ones name the element that is written, and the others are
        summed over.
        """
        forms = [self.rational(form) for form in write]
        mentioned = [name for name in self.names if any(form.factor(name) for form in forms)]
        matrix = [[int(form.factor(name)) for name in mentioned] for form in forms]
        reduced = column_hermite(matrix, len(mentioned))
        new = {name: Rational.make(0, {name: 1}) for name in self.names}
        for place, name in enumerate(mentioned):
            factors = {free: column[place] for free, column in zip(mentioned, reduced.transform, strict=True)}
            new[name] = Rational.make(0, factors)
        others = tuple(name for name in self.names if name not in mentioned)
        return self.then(new, (*mentioned, *others), reduced.rank)


def _outputs(
    write: Sequence[Rational], shape: Sequence[int], change: Change, rows: Sequence[Row]
) -> tuple[str, ...] | None:
    """Return the variables that the output's subscripts mention, if no two of their values lead to the same element."""
    forms = [change.affine(form) for form in write]
    outputs = tuple(dict.fromkeys(name for form in forms for name in form.names))
    box = intervals_of(change.names, [change.row(row) for row in rows])
    if box is None:
        return outputs
    return outputs if apart(forms, shape, outputs, box) else None


def apart(
    forms: Sequence[Affine], shape: Sequence[int], names: Sequence[str], box: Mapping[str, tuple[int, int]]
) -> bool:
    """Return whether different values of `names` lead to different elements, judged by addresses in row-major order.

    `forms` are the subscripts in a tensor of this `shape`, and `box` has the ends [low, high) of the variables. False
    says nothing.
    """
    address: dict[str, int] = {}
    step = 1
    for form, extent in zip(reversed(forms), reversed(shape), strict=True):
        for name, factor in form.coefficients:
            address[name] = address.get(name, 0) + step * factor
        step *= extent
    reach = 0
    several = [name for name in names if box[name][1] - box[name][0] > 1]
    for length, name in sorted((abs(address.get(name, 0)), name) for name in several):
        if length <= reach:
            return False
        reach += length * (box[name][1] - box[name][0] - 1)
    return True


def _straightened(change: Change, outputs: tuple[str, ...], rows: Sequence[Row]) -> Change:
    """Let a summed variable that stands in only one linear form, up to sign, become that form, so that its range is a
    box.
    """
    for name in change.names:
        if name in outputs:
            continue
        forms = {_unsigned(change.rational(row.value), name) for row in rows} - {None}
        if len(forms) != 1:
            continue
        form = forms.pop()
        assert form is not None
        rest = {other: -factor for other, factor in form.factors if other != name}
        if not rest or form.factor(name) != 1:
            continue
        new = {other: Rational.make(0, {other: 1}) for other in change.names}
        new[name] = Rational.make(0, {name: 1, **rest})
        change = change.then(new, change.names, change.rank)
    return change


def _unsigned(value: Rational, name: str) -> Rational | None:
    """Return the linear part with a positive factor of `name`, or None where `name` is absent."""
    factor = value.factor(name)
    if not factor:
        return None
    return Rational.make(0, {other: f if factor > 0 else -f for other, f in value.factors})


def _constraints(rows: Sequence[Row], ranges: Mapping[str, Index]) -> tuple[Affine, ...]:
    """Return the halves of rows that do not hold on the whole box. Of parallel ones only the tightest stays."""
    tightest: dict[tuple[tuple[str, int], ...], int] = {}
    for row in rows:
        whole = Affine.make(int(row.value.constant), {name: int(factor) for name, factor in row.value.factors})
        negated = {name: -factor for name, factor in whole.coefficients}
        for half in (whole, Affine.make(row.bound - 1 - whole.constant, negated)):
            if half.bounds(ranges)[0] >= 0:
                continue
            common = gcd(*(factor for _, factor in half.coefficients))
            key = tuple((name, factor // common) for name, factor in half.coefficients)
            constant = half.constant // common
            tightest[key] = min(tightest.get(key, constant), constant)
    return tuple(Affine(constant=constant, coefficients=key) for key, constant in tightest.items())
