"""Where the elements of each name are: single assignment for names that are assigned piece by piece.

A name's value is a list of pieces. Each piece is a box of elements, with the tensor or the read of another name that
holds them. An assignment to fresh elements goes into the same tensor as the assignments before it, as long as nobody
has read the tensor; otherwise it starts a new one (``a``, ``a.2``, ...). When a read needs elements of several pieces,
statements of one word bring the pieces together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from tabla.base.source import Span
from tabla.graph.boxes import Box, around, axes, difference, intersection, whole, without
from tabla.graph.constraints import applying, failures, possible
from tabla.graph.graph import Affine, Constant, Index, Linear, Operand, Operation, Read, Term
from tabla.languages.kernel.faults import refused
from tabla.languages.kernel.lower.builder import GraphBuilder
from tabla.languages.kernel.lower.gaps import Write, unwritten
from tabla.languages.kernel.regions import Region
from tabla.languages.kernel.tree import Statement, Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """Elements that lie in a tensor, at their own subscripts."""

    tensor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """``name[write] = operand`` over `indices`. There is no statement for it, because readers read the operand."""

    write: tuple[Affine, ...]
    indices: tuple[Index, ...]
    operand: Read | Constant


@dataclass(slots=True, kw_only=True)
class Multiplied:
    """``name[write] = term`` over `indices`: a gradient that is one product. It is computed only if it is read.

    `tensor` is where it lies once it has been read.
    """

    write: tuple[Affine, ...]
    indices: tuple[Index, ...]
    term: Term
    span: Span | None
    tensor: str | None = None


Source = Stored | Copied | Multiplied


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Some elements of a name, and where they are."""

    box: Box
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Where a statement under conditions writes."""

    write: tuple[Affine, ...]
    indices: tuple[Index, ...]
    conditions: tuple[Affine, ...]

    def meets(self, other: _Part) -> bool:
        """Return whether both may write one element. True says nothing."""
        if self.write != other.write:
            return True
        around = {index.name: index for index in self.indices}
        for index in other.indices:
            known = around.get(index.name)
            if known is None:
                return True
            around[index.name] = Index(name=index.name, low=min(index.low, known.low), high=max(index.high, known.high))
        ends = [form for index in (*self.indices, *other.indices) for form in _ends(index)]
        return possible((*self.conditions, *other.conditions, *ends), list(around.values()))


def _ends(index: Index) -> tuple[Affine, Affine]:
    """Return the range of an index as forms that are at least 0 in it."""
    place = Affine.of(**{index.name: 1})
    return place - index.low, -place + (index.high - 1)


class Elements:
    """The current value of every name."""

    def __init__(self, builder: GraphBuilder, tensors: Mapping[str, Tensor]) -> None:
        self._builder, self._tensors = builder, tensors
        self._pieces: dict[str, list[Piece]] = {}
        self._versions: dict[str, int] = {}
        # The newest tensor of each name while nobody has read it, and the elements written to it.
        self._open: dict[str, tuple[str, Region]] = {}
        # The same for one that is filled with zeros, and the statements under conditions that write to it.
        self._parted: dict[str, tuple[str, list[_Part]]] = {}

    def given(self, name: str) -> None:
        """Enter a name whose elements all come from outside, in a tensor of the same name."""
        self._pieces[name] = [Piece(box=self._whole(name), source=Stored(tensor=name))]
        self._versions[name] = 1

    def pieces(self, name: str) -> tuple[Piece, ...]:
        """Return the pieces of a name. A name that was never assigned has none."""
        return tuple(self._pieces.get(name, ()))

    def takes(self, name: str, box: Box) -> bool:
        """Return whether a tensor of `name` has elements already, and takes those of `box`, too."""
        return name in self._open and not self._open[name][1].meets(box)

    def read(self, name: str, subscripts: tuple[Affine, ...], span: Span | None) -> Operand:
        """Return an element of `name` as one operand. The subscripts run over the builder's ranges."""
        hull = around(subscripts, self._builder.ranges)
        reached = [piece for piece in self._pieces[name] if intersection(piece.box, hull) is not None]
        if len(reached) == 1 and isinstance(copied := reached[0].source, Copied):
            return _through(copied, subscripts, span)
        tensors = {self._tensor(name, piece) for piece in reached}
        tensor = tensors.pop() if len(tensors) == 1 else None
        tensor = tensor if tensor is not None else self._gather(name)
        self._close(tensor)
        return Read(tensor=tensor, subscripts=subscripts, span=span)

    def whole(self, name: str) -> str:
        """Return a tensor that holds all of `name`, to gather from. Elements that were never assigned are 0 in it."""
        missing = without([self._whole(name)], (piece.box for piece in self._pieces[name]))
        held = {self._tensor(name, piece) for piece in self._pieces[name]}
        tensor = held.pop() if len(held) == 1 else None
        if tensor is None:
            tensor = self._gather(name)
        if missing:
            self._builder.fill(tensor)
        self._close(tensor)
        return tensor

    def fetch(self, name: str, piece: Piece, subscripts: tuple[Affine, ...]) -> Operand:
        """Return an element of one piece of `name` as one operand."""
        tensor = self._tensor(name, piece)
        if tensor is None:
            assert isinstance(piece.source, Copied)
            return _through(piece.source, subscripts, piece.source.operand.span)
        self._close(tensor)
        return Read(tensor=tensor, subscripts=subscripts)

    def store(self, name: str, box: Box, write: tuple[Affine, ...], indices: tuple[Index, ...],
              operation: Operation, span: Span | None) -> None:  # fmt: skip
        """Assign ``name[write] = operation`` over `indices`, which reach the elements of `box`."""
        tensor = self._room(name, box)
        self._builder.emit(tensor, write, indices, operation, span)
        self.place(name, box, Stored(tensor=tensor))

    def store_where(self, statement: Statement, operation: Operation, *, only: bool = False) -> None:
        """Assign ``name[write] = operation`` where conditions hold. The other elements of `box` keep their values.

        If nothing was assigned to `name` before, its other elements are 0. The statement may be the `only` one of the
        name.
        """
        name, write, indices, span = statement.target, statement.write, statement.indices, statement.span
        conditions, box = statement.conditions, statement.box
        if not conditions and self._pieces.get(name):
            message = f"elements of '{name}' that a stride leaves out would keep their values"
            raise refused(message, span, "write them into a tensor of their own, and add it")
        part = _Part(write=write, indices=indices, conditions=conditions)
        if name in self._parted and not any(part.meets(other) for other in self._parted[name][1]):
            tensor, parts = self._parted[name]
            self._builder.emit(tensor, write, indices, operation, span, conditions)
            parts.append(part)
            return
        gaps = unwritten(write, indices, self._tensors[name].shape) if only and not conditions else None
        if gaps is not None:
            tensor = self._new(name)
            self._builder.emit(tensor, write, indices, operation, span)
            self._write_zeros(name, tensor, gaps, span)
            return
        old = self.read(name, write, span) if self._pieces.get(name) else None
        tensor = self._new(name, filled=old is None)
        self._parted.pop(name, None)
        if old is None:
            self._parted[name] = tensor, [part]
        self._builder.emit(tensor, write, indices, operation, span, conditions)
        if old is not None:
            for rest in failures(conditions, indices):
                self._builder.emit(tensor, write, indices, Linear(terms=(Term(factors=(old,)),)), span, rest)
        self.place(name, self._whole(name) if old is None else box, Stored(tensor=tensor))

    def store_under(
        self,
        statement: Statement,
        operation: Operation,
        conditions: tuple[Affine, ...],
        *,
        filled: bool,
        only: bool = False,
    ) -> None:
        """Assign a reduction under conditions to a name that has no elements yet. With `filled` the rest of it is 0.

        The statement may be the `only` one of the name.
        """
        name, write, indices = statement.target, statement.write, statement.indices
        strides = filled and only and not applying(conditions, indices)
        gaps = unwritten(write, indices, self._tensors[name].shape) if strides else None
        tensor = self._new(name, filled=filled and gaps is None)
        self._builder.emit(tensor, write, indices, operation, statement.span, conditions)
        if gaps is not None:
            self._write_zeros(name, tensor, gaps, statement.span)
            return
        self.place(name, self._whole(name) if filled else statement.box, Stored(tensor=tensor))
        if not filled:
            self._open[name] = tensor, Region(boxes=(statement.box,))

    def _write_zeros(self, name: str, tensor: str, gaps: tuple[Write, ...], span: Span | None) -> None:
        """Write 0 to what the only statement of a name leaves."""
        zero = Linear(terms=(Term(factors=(Constant(value=Fraction(0)),)),))
        for write, indices in gaps:
            self._builder.emit(tensor, write, indices, zero, span)
        self.place(name, self._whole(name), Stored(tensor=tensor))

    def place(self, name: str, box: Box, source: Source) -> None:
        """Let the elements of `box` be those of `source`."""
        kept = [replace(p, box=rest) for p in self._pieces.get(name, ()) for rest in difference(p.box, box)]
        if isinstance(source, Stored):
            together = Region(boxes=tuple(p.box for p in kept if p.source == source)).with_box(box)
            kept = [piece for piece in kept if piece.source != source]
            self._pieces[name] = [*kept, *(Piece(box=each, source=source) for each in together.boxes)]
        else:
            self._pieces[name] = [*kept, Piece(box=box, source=source)]

    def result(self, name: str) -> str:
        """Return a tensor that holds all of `name`. Elements that were never assigned are 0 in it."""
        missing = without([self._whole(name)], (piece.box for piece in self._pieces[name]))
        held = {self._tensor(name, piece) for piece in self._pieces[name]}
        tensor = held.pop() if len(held) == 1 else None
        if tensor is None or self._builder.role(tensor) != "value":
            tensor = self._gather(name)
        if missing:
            self._builder.fill(tensor)
        return tensor

    def _tensor(self, name: str, piece: Piece) -> str | None:
        """Return the tensor in which a piece lies. A product is computed into one, and a copy has none."""
        match piece.source:
            case Stored(tensor=tensor):
                return tensor
            case Multiplied(tensor=str(known)):
                return known
            case Multiplied(write=write, indices=indices) as product:
                reach = around(write, _by_name(indices))
                product.tensor = self._room(name, reach)
                self._builder.emit(product.tensor, write, indices, Linear(terms=(product.term,)), product.span)
                return product.tensor
            case Copied():
                return None

    def _whole(self, name: str) -> Box:
        return whole(self._tensors[name].shape)

    def _close(self, tensor: str) -> None:
        for name, (newest, _) in list(self._open.items()):
            if newest == tensor:
                del self._open[name]
        self._parted = {name: own for name, own in self._parted.items() if own[0] != tensor}

    def _room(self, name: str, box: Box) -> str:
        """Return a tensor of `name` that can take `box`: the open one if its elements are fresh, else a new one."""
        if self.takes(name, box):
            tensor, region = self._open[name]
        else:
            tensor, region = self._new(name), Region()
        self._open[name] = tensor, region.with_box(box)
        return tensor

    def _new(self, name: str, *, filled: bool = False) -> str:
        self._versions[name] = version = self._versions.get(name, 0) + 1
        tensor = name if version == 1 else f"{name}.{version}"
        while version > 1 and tensor in self._tensors:  # a name of the program
            self._versions[name] = version = version + 1
            tensor = f"{name}.{version}"
        declared = self._tensors[name]
        self._builder.tensor(
            tensor, declared.shape, "value", origin=name, span=declared.span, filled=filled, base=declared.base
        )
        return tensor

    def _gather(self, name: str) -> str:
        """Bring all pieces of `name` into one tensor."""
        pieces = self._pieces[name]
        held = [self._tensor(name, piece) for piece in pieces]
        target, region = self._open.get(name, (None, Region()))
        strangers = [piece.box for piece, tensor in zip(pieces, held, strict=True) if tensor != target]
        if target is None or any(region.meets(box) for box in strangers):
            target, region = self._new(name), Region()
        products: list[Piece] = []
        stored = Region()
        for piece, tensor in zip(pieces, held, strict=True):
            if tensor != target:
                if _zeros(piece) and not all(map(_zeros, pieces)):
                    self._builder.fill(target)
                else:
                    self._copy(name, target, piece)
                region = region.with_box(piece.box)
            if isinstance(piece.source, Multiplied):
                # It stays known as a product: the update of its model wants the factors.
                products.append(replace(piece, source=replace(piece.source, tensor=target)))
            else:
                stored = stored.with_box(piece.box)
        self._pieces[name] = [*products, *(Piece(box=box, source=Stored(tensor=target)) for box in stored.boxes)]
        self._open[name] = target, region
        return target

    def _copy(self, name: str, target: str, piece: Piece) -> None:
        indices, subscripts = axes(piece.box)
        operand = self.fetch(name, piece, subscripts)
        self._builder.emit(target, subscripts, indices, Linear(terms=(Term(factors=(operand,)),)), operand.span)


def _by_name(indices: tuple[Index, ...]) -> dict[str, Index]:
    return {index.name: index for index in indices}


def _zeros(piece: Piece) -> bool:
    match piece.source:
        case Copied(operand=Constant(value=value)):
            return not value
        case _:
            return False


def solvable(write: tuple[Affine, ...]) -> bool:
    """Return whether each subscript is an index or its negative, plus a number, so that readers can be led through."""
    return all(abs(factor) == 1 and len(form.coefficients) == 1 for form in write for _, factor in form.coefficients)


def _through(copied: Copied, subscripts: tuple[Affine, ...], span: Span | None) -> Operand:
    """Return what a reader of ``copied[subscripts]`` reads in its place."""
    match copied.operand:
        case Constant(value=value):
            return Constant(value=value, span=span)
        case Read(tensor=tensor, subscripts=inner):
            solved: dict[str, Affine] = {}
            for write, subscript in zip(copied.write, subscripts, strict=True):
                for name, sign in write.coefficients:
                    # write = sign * name + constant, so name = sign * (subscript - constant)
                    solved[name] = (subscript - write.constant) * sign
            return Read(tensor=tensor, subscripts=tuple(a.substituted(solved) for a in inner), span=span)
