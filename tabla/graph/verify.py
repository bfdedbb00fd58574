"""The rules that every graph keeps, checked after lowering and after every pass.

A broken rule is a fault of ours, never of the user: :class:`GraphFault` names the statement. The work grows with the
number of statements and, for tensors written in parts, with their elements; never with the size of a contraction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from tabla.base.source import Label
from tabla.graph.constraints import TooManyPoints, applying, coordinates, ends, refuse_many, values
from tabla.graph.functions import FUNCTIONS
from tabla.graph.graph import (
    Affine,
    Compare,
    Divide,
    Extreme,
    Function,
    Gather,
    Gathered,
    Graph,
    Index,
    Linear,
    Operand,
    Ordinal,
    Product,
    Read,
    Scatter,
    Statement,
    Tensor,
    Term,
    is_stored,
    landing_names,
    offsets_of,
    tables_of,
)
from tabla.graph.windows import ramp, window

_GIVEN = ("input", "label", "model", "constant")


class GraphFault(AssertionError):
    """A graph that breaks a rule."""


def verify(graph: Graph) -> None:
    """Raise `GraphFault` for the first rule that a graph breaks, and `TooManyPoints` where telling it would take too
    much memory. The rules are:

    - Statements are numbered by position. They write tensors of the role value or next, each element at most once,
      inside the shape.
    - Statements read elements that were given or written before.
    - A term mentions only output indices and the indices that it sums over. Every summed index is summed over by some
      term.
    - Constraints mention the statement's indices. Each term sums over all or none of the indices that a constraint
      ties.
    - Models and their next values have one shape. Results are written whole.
    - The elements that a filled tensor lacks count as written. Such a tensor is not written after it was read.
    - A sum has the guard bits of the tensor that it writes. With guard bits, one term is the stored element that the
      sum replaces.
    - Constants, and no other tensors, have words, and in their shapes.
    """
    _check_tensors(graph)
    written = {name: _Written(tensor) for name, tensor in graph.tensors.items()}
    for position, statement in enumerate(graph.statements):
        try:
            if statement.id != position:
                raise GraphFault(f"its id is not its position {position}")
            _check_indices(statement)
            _check_constraints(statement)
            _check_guard(statement, graph)
            for operand, box in operands_with_indices(statement):
                _check_operand(operand, box, statement.constraints, written)
            if isinstance(statement.operation, Gather):
                _check_gather(statement, statement.operation, written, flat=graph.flat_gathers)
            if isinstance(statement.operation, Scatter):
                _check_scatter(statement, statement.operation, graph)
            _check_write(statement, graph, written)
        except GraphFault as fault:
            raise GraphFault(f"statement {statement.id} ({statement.target}): {fault}") from None
        except TooManyPoints as fault:
            places = () if statement.span is None else (Label(statement.span),)
            raise TooManyPoints(fault.message, *places, hint=fault.hint) from None
    for shown, name in graph.results:
        if not written[name].whole and not graph.tensors[name].filled:
            raise GraphFault(f"result {shown} ({name}) has elements that nothing writes")


def _check_tensors(graph: Graph) -> None:
    for name, tensor in graph.tensors.items():
        if tensor.name != name:
            raise GraphFault(f"tensor {tensor.name} is kept as {name}")
        if any(extent < 1 for extent in tensor.shape):
            raise GraphFault(f"tensor {name} is empty: {tensor.shape}")
        if tensor.guard and tensor.role not in ("model", "next"):
            raise GraphFault(f"tensor {name} of role {tensor.role} has guard bits")
        if tensor.filled and tensor.role != "value":
            raise GraphFault(f"tensor {name} of role {tensor.role} is filled")
    for model, following in graph.updates.items():
        pair = [graph.tensors.get(name) for name in (model, following)]
        roles = [tensor.role if tensor else None for tensor in pair]
        if roles != ["model", "next"]:
            raise GraphFault(f"update {model} <- {following} joins {roles[0]} and {roles[1]}")
        shapes = {tensor.shape for tensor in pair if tensor}
        if len(shapes) != 1:
            raise GraphFault(f"update {model} <- {following} joins the shapes {sorted(shapes)}")
        if len({tensor.guard for tensor in pair if tensor}) != 1:
            raise GraphFault(f"update {model} <- {following} joins different numbers of guard bits")
    constants = {name for name, tensor in graph.tensors.items() if tensor.role == "constant"}
    if constants != graph.words.keys():
        raise GraphFault(f"its constants are {sorted(constants)}, and it has words of {sorted(graph.words)}")
    for name, words in graph.words.items():
        tensor = graph.tensors[name]
        # Groups that share a constant have the words of all of them.
        own = tuple(n if axis != tensor.split else 0 for axis, n in enumerate(tensor.shape))
        held = tuple(n if axis != tensor.split else n % tensor.shape[axis] for axis, n in enumerate(words.shape))
        if own != held:
            raise GraphFault(f"the words of {name} have the shape {words.shape}, and it has {tensor.shape}")
    nexts = {name for name, tensor in graph.tensors.items() if tensor.role == "next"}
    if len(set(graph.updates.values())) != len(graph.updates) or nexts != set(graph.updates.values()):
        raise GraphFault("next values and updates are not one to one")
    for shown, name in graph.results:
        if name not in graph.tensors:
            raise GraphFault(f"result {shown} is the unknown tensor {name}")


def _check_indices(statement: Statement) -> None:
    names = [index.name for index in (*statement.indices, *statement.reduced)]
    if len(set(names)) != len(names):
        raise GraphFault(f"indices {names} are not distinct")
    outputs = {index.name for index in statement.indices}
    strangers = {name for subscript in statement.write for name in subscript.names} - outputs
    if strangers:
        raise GraphFault(f"it writes at {sorted(strangers)}, which are not output indices")
    match statement.operation:
        case Linear(terms=terms):
            if not terms:
                raise GraphFault("a sum of no terms")
            summed = {name for term in terms for name in _distinct(term.reduce)}
        case Product(reduce=reduce) | Extreme(reduce=reduce) | Scatter(reduce=reduce):
            summed = set(_distinct(reduce))
        case Function(name=name):
            if name not in FUNCTIONS or FUNCTIONS[name].operands != 1:
                raise GraphFault(f"there is no function '{name}' of one operand")
            summed = set()
        case Compare() | Divide() | Gather():
            summed = set()
    if summed != {index.name for index in statement.reduced}:
        raise GraphFault(f"it sums over {sorted(summed)} and declares {[i.name for i in statement.reduced]}")


def _check_guard(statement: Statement, graph: Graph) -> None:
    operation, target = statement.operation, graph.tensors.get(statement.target)
    guard = operation.guard if isinstance(operation, Linear) else 0
    if target is not None and guard != target.guard:
        raise GraphFault(f"it has {guard} guard bits and writes a tensor of another number")
    if not isinstance(operation, Linear) or not guard:
        return
    stored = [term for term in operation.terms if is_stored(term)]
    own = graph.owner(statement.target)
    plain = [Term(factors=(Read(tensor=own, subscripts=statement.write, stored=True),))]
    if stored != plain or operation.test is not None:
        raise GraphFault(f"it updates {own}, but not by adding to the stored word")


def _check_constraints(statement: Statement) -> None:
    strangers = {name for constraint in statement.constraints for name in constraint.names} - set(statement.box)
    if strangers:
        raise GraphFault(f"a constraint mentions {sorted(strangers)}, which do not run there")
    summed = {index.name for index in statement.reduced}
    terms = statement.operation.terms if isinstance(statement.operation, Linear) else ()
    for constraint in statement.constraints:
        tied = summed.intersection(constraint.names)
        if any(tied & set(term.reduce) not in (set(), tied) for term in terms):
            raise GraphFault(f"a term sums over a part of what {constraint} >= 0 ties")


def _distinct(names: Sequence[str]) -> Sequence[str]:
    if len(set(names)) != len(names):
        raise GraphFault(f"{names} are summed over twice")
    return names


def operands_with_indices(statement: Statement) -> Iterable[tuple[Operand, tuple[Index, ...]]]:
    """Return the operands, each with the indices that it may mention."""
    reduced = {index.name: index for index in statement.reduced}
    match statement.operation:
        case Linear(terms=terms):
            for term in terms:
                box = (*statement.indices, *(reduced[name] for name in term.reduce))
                yield from ((factor, box) for factor in term.factors)
        case Product(operand=operand, initial=initial):
            yield operand, (*statement.indices, *statement.reduced)
            if initial is not None:
                yield initial, statement.indices
        case Extreme(operands=operands, initial=initial):
            yield from ((operand, (*statement.indices, *statement.reduced)) for operand in operands)
            if initial is not None:
                yield initial, statement.indices
        case Scatter(kept=kept, landings=landings):
            yield kept, statement.indices
            landed = (read for each in landings for read in (*tables_of(each.subscripts), each.value))
            yield from ((read, (*statement.indices, *statement.reduced)) for read in landed)
        case _:
            yield from ((operand, statement.indices) for operand in statement.operands)


def _check_operand(
    operand: Operand, indices: tuple[Index, ...], constraints: tuple[Affine, ...], written: dict[str, _Written]
) -> None:
    box = {index.name: index for index in indices}
    subscripts = operand.subscripts if isinstance(operand, Read) else ()
    mentioned = (operand.value,) if isinstance(operand, Ordinal) else subscripts
    strangers = {name for affine in mentioned for name in affine.names} - set(box)
    if strangers:
        raise GraphFault(f"an operand mentions {sorted(strangers)}, which do not run there")
    if isinstance(operand, Read):
        if operand.tensor not in written:
            raise GraphFault(f"it reads the unknown tensor {operand.tensor}")
        written[operand.tensor].check_read(subscripts, indices, applying(constraints, indices))


def _check_gather(statement: Statement, operation: Gather, written: dict[str, _Written], *, flat: bool) -> None:
    """All elements of a tensor that is gathered from have a value; affine subscripts stay inside."""
    if operation.tensor not in written:
        raise GraphFault(f"it gathers from the unknown tensor {operation.tensor}")
    mentioned = {name for offset in offsets_of(operation.subscripts) for name in offset.names}
    strangers = mentioned - {i.name for i in statement.indices}
    if strangers:
        raise GraphFault(f"a subscript mentions {sorted(strangers)}, which do not run there")
    fixed = [s if isinstance(s, Affine) and not flat else None for s in operation.subscripts]
    written[operation.tensor].check_gather(fixed, statement)


def _check_scatter(statement: Statement, operation: Scatter, graph: Graph) -> None:
    """It writes all of the next value of a model that it keeps. What lands mentions no index of a gathered axis."""
    kept, shape = operation.kept, graph.tensors[statement.target].shape
    whole = tuple(Affine.index(index.name) for index in statement.indices)
    if graph.updates.get(kept.tensor) != statement.target or not statement.write == kept.subscripts == whole:
        raise GraphFault(f"it does not update {kept.tensor} element by element")
    if statement.constraints or tuple((i.low, i.high) for i in statement.indices) != tuple((0, n) for n in shape):
        raise GraphFault("it does not write the whole of a model")
    for landing in operation.landings:
        if len(landing.subscripts) != len(shape) or not tables_of(landing.subscripts):
            raise GraphFault(f"what lands in {kept.tensor} has other axes, or no gathered subscript")
        pairs = tuple(zip(landing.subscripts, whole, strict=True))
        outputs = set() if graph.flat_gathers else {at.names[0] for given, at in pairs if isinstance(given, Gathered)}
        strangers = outputs & landing_names(landing)
        moved = not graph.flat_gathers and any(isinstance(given, Affine) and given != at for given, at in pairs)
        if strangers or moved:
            raise GraphFault(f"what lands in {kept.tensor} depends on where it lands")


def _check_write(statement: Statement, graph: Graph, written: dict[str, _Written]) -> None:
    tensor = graph.tensors.get(statement.target)
    if tensor is None:
        raise GraphFault("it writes an unknown tensor")
    if tensor.role in _GIVEN:
        raise GraphFault(f"it writes a tensor of role {tensor.role}")
    outer = applying(statement.constraints, statement.indices)
    if not outer and not _injective(statement.write, statement.indices, tensor):
        raise GraphFault("it writes an element twice")
    written[statement.target].check_write(statement.write, statement.indices, outer)


class _Written:
    """Which elements of a tensor have a value. `whole` says that all have. A tensor that is written in parts has a mask
    too.
    """

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor
        self.whole = tensor.role in _GIVEN
        self._read = False
        self._mask: NDArray[np.bool_] | None = None

    def check_read(
        self, subscripts: tuple[Affine, ...], indices: Sequence[Index], constraints: tuple[Affine, ...]
    ) -> None:
        """Check that all elements over a box, where the constraints hold, have a value."""
        self._read = True
        if constraints:
            self._check_some_read(subscripts, indices, constraints)
            return
        self._check_bounds(subscripts, indices)
        if self.whole or self._tensor.filled:
            return
        if self._mask is None:
            raise GraphFault(f"it reads {self._tensor.name} before anything is written there")
        box = {index.name: index for index in indices}
        corners = [subscript.bounds(box) for subscript in subscripts]
        # The bounding box holds all elements that are read, and is never larger than the tensor.
        if self._mask[tuple(slice(low, high + 1) for low, high in corners)].all():
            return
        read = window(self._mask, subscripts, indices)
        if not read.all():
            where = dict(zip((i.name for i in indices), np.argwhere(~read)[0].tolist(), strict=True))
            point = {index.name: index.low + where[index.name] for index in indices}
            element = "".join(f"[{subscript.at(point)}]" for subscript in subscripts)
            raise GraphFault(f"it reads {self._tensor.name}{element}, which nothing has written")

    def check_gather(self, subscripts: Sequence[Affine | None], statement: Statement) -> None:
        """It has a value everywhere, and subscripts that are not gathered (None) stay inside."""
        self._read = True
        if not self.whole and not self._tensor.filled:
            raise GraphFault(f"it gathers from {self._tensor.name}, of which not all is written")
        if len(subscripts) != len(self._tensor.shape):
            raise GraphFault(f"{self._tensor.name} has {len(self._tensor.shape)} axes and {len(subscripts)} subscripts")
        outer = applying(statement.constraints, statement.indices)
        for subscript, extent in zip(subscripts, self._tensor.shape, strict=True):
            taken = ends(subscript, outer, statement.indices) if subscript is not None else None
            if taken is not None and (taken[0] < 0 or taken[1] >= extent):
                where = f"{taken[0]}..{taken[1]}"
                raise GraphFault(f"subscript {subscript} of {self._tensor.name} takes {where} of {extent}")

    def check_write(
        self, subscripts: tuple[Affine, ...], indices: Sequence[Index], constraints: tuple[Affine, ...]
    ) -> None:
        """No element over a box, where the constraints hold, has a value yet; all have one afterwards."""
        if self._tensor.filled and self._read:
            raise GraphFault(f"{self._tensor.name} is filled with 0, and written after it was read")
        if constraints:
            if self._ends(subscripts, indices, constraints) is not None:
                self._check_some_written(subscripts, indices, constraints)
            return
        self._check_bounds(subscripts, indices)
        points = 1
        for index in indices:
            points *= index.extent
        if self.whole:
            raise GraphFault(f"{self._tensor.name} is written already")
        if self._mask is None and points == self._tensor.size:
            self.whole = True
            return
        if self._mask is None:
            refuse_many(self._tensor.shape, f"'{self._tensor.name}', which is written in parts,")
            self._mask = np.zeros(self._tensor.shape, dtype=bool)
        target = window(self._mask, subscripts, indices)
        if target.any():
            raise GraphFault(f"elements of {self._tensor.name} are written already")
        target[...] = True
        self.whole = bool(self._mask.all())

    def _check_some_read(
        self, subscripts: tuple[Affine, ...], indices: Sequence[Index], constraints: tuple[Affine, ...]
    ) -> None:
        corners = self._ends(subscripts, indices, constraints)
        if corners is None or self.whole or self._tensor.filled:
            return
        # As without constraints: the bounding box first, the elements themselves only if that is not enough.
        if self._mask is None or not self._mask[tuple(slice(low, high + 1) for low, high in corners)].all():
            elements = _elements(subscripts, indices, constraints)
            if self._mask is None or not self._mask[elements].all():
                raise GraphFault(f"it reads elements of {self._tensor.name} which nothing has written")

    def _check_some_written(
        self, subscripts: tuple[Affine, ...], indices: Sequence[Index], constraints: tuple[Affine, ...]
    ) -> None:
        elements = _elements(subscripts, indices, constraints)
        if self._mask is None:
            refuse_many(self._tensor.shape, f"'{self._tensor.name}', which is written in parts,")
            self._mask = np.full(self._tensor.shape, self.whole, dtype=bool)
        if self._mask[elements].any():
            raise GraphFault(f"elements of {self._tensor.name} are written already")
        places = np.ravel_multi_index(elements, self._tensor.shape) if elements else np.zeros(1, dtype=np.int64)
        if np.unique(places).size != places.size:
            raise GraphFault("it writes an element twice")
        self._mask[elements] = True
        self.whole = bool(self._mask.all())

    def _ends(
        self, subscripts: tuple[Affine, ...], indices: Sequence[Index], constraints: tuple[Affine, ...]
    ) -> list[tuple[int, int]] | None:
        """Return the first and the last position on each axis where the constraints hold, or None where they hold
        nowhere.
        """
        name, shape = self._tensor.name, self._tensor.shape
        if len(subscripts) != len(shape):
            raise GraphFault(f"{name} has {len(shape)} axes and {len(subscripts)} subscripts")
        found = []
        for subscript, extent in zip(subscripts, shape, strict=True):
            taken = ends(subscript, constraints, indices)
            if taken is None:
                return None
            low, high = taken
            if low < 0 or high >= extent:
                raise GraphFault(f"subscript {subscript} of {name} takes {low}..{high} of {extent}")
            found.append(taken)
        return found

    def _check_bounds(self, subscripts: tuple[Affine, ...], indices: Sequence[Index]) -> None:
        name, shape = self._tensor.name, self._tensor.shape
        if len(subscripts) != len(shape):
            raise GraphFault(f"{name} has {len(shape)} axes and {len(subscripts)} subscripts")
        box = {index.name: index for index in indices}
        for subscript, extent in zip(subscripts, shape, strict=True):
            low, high = subscript.bounds(box)
            if low < 0 or high >= extent:
                raise GraphFault(f"subscript {subscript} of {name} takes {low}..{high} of {extent}")


def _elements(
    subscripts: tuple[Affine, ...], indices: Sequence[Index], constraints: tuple[Affine, ...]
) -> tuple[NDArray[np.int64], ...]:
    """Return the subscripts, axis by axis, of all elements that are touched where the constraints hold."""
    at = coordinates(constraints, indices, {n for subscript in subscripts for n in subscript.names})
    return tuple(values(subscript, at or {}) for subscript in subscripts)


def _injective(write: Sequence[Affine], indices: Sequence[Index], tensor: Tensor) -> bool:
    """Return whether no element is written at two points of the box."""
    if len(write) != len(tensor.shape):
        raise GraphFault(f"{tensor.name} has {len(tensor.shape)} axes and {len(write)} subscripts")
    address, step = Affine(), 1
    for subscript, extent in zip(reversed(write), reversed(tensor.shape), strict=True):
        scaled = {name: step * c + address.coefficient(name) for name, c in subscript.coefficients}
        address = Affine.make(0, {**dict(address.coefficients), **scaled})
        step *= extent
    # Addresses are distinct if every step is longer than all that the smaller ones add up to.
    reach = 0
    for length, extent in sorted((abs(address.coefficient(i.name)), i.extent) for i in indices if i.extent > 1):
        if length <= reach:
            refuse_many((index.extent for index in indices), "a statement whose subscripts may meet")
            values = ramp(address, indices)
            points = int(np.prod([index.extent for index in indices]))
            return bool(np.unique(np.broadcast_to(values, [i.extent for i in indices])).size == points)
        reach += length * (extent - 1)
    return True
