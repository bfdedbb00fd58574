"""What the tensors of a function hold, while its statements are lowered one after the other.

An element of the graph is written once. A statement that writes elements again therefore writes another tensor of the
graph, and the elements that it leaves alone stay where they are. Only a statement that reads elements of both, a call
and a result want them in one tensor, and copy them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from tabla.base.source import Span
from tabla.graph.graph import Affine, Constant, Linear, Operand, Read, Term
from tabla.languages.kernel.boxes import Box, axes, covers, hull, meets, without
from tabla.languages.kernel.lower.builder import GraphBuilder
from tabla.languages.tc.lower.words import Held


@dataclass(slots=True, kw_only=True)
class Part:
    """A tensor of the graph that holds elements of a tensor of the program, which are those of `boxes`.

    `room` are the elements that the graph's tensor has. Where it is `filled`, those that no statement writes are 0. An
    `open` one may be written further, where nothing has been `written` yet.
    """

    held: Held
    room: Box
    boxes: list[Box]
    written: list[Box] = field(default_factory=list)
    filled: bool = False
    open: bool = False
    read: bool = False

    def takes(self, box: Box, partial: bool) -> bool:
        """Return whether further elements may be written into a box. A `partial` statement leaves out some of them,
        which are 0.
        """
        # The elements that a filled tensor lacks count as written once it is read.
        late = self.filled and self.read
        room = self.open and not late and covers(self.room, box) and (self.filled or not partial)
        return room and not any(meets(box, other) for other in self.written)

    def write(self, box: Box) -> None:
        """Note that a box is written."""
        self.boxes.append(box)
        self.written.append(box)


class Versions:
    """Where the graph holds the elements of each tensor of a function. `prefix` names the call that is inlined.

    `bounds` are the ranges that each tensor has in the end. Elements inside the ranges that it has by now, and that no
    statement has written, are 0.
    """

    def __init__(self, builder: GraphBuilder, bounds: Mapping[str, Box], prefix: str) -> None:
        self._builder, self._bounds, self._prefix = builder, bounds, prefix
        self._parts: dict[str, list[Part]] = {}
        self._hulls: dict[str, Box] = {}
        self._numbers: dict[str, int] = {}

    def __contains__(self, name: object) -> bool:
        return name in self._parts

    def give(self, name: str, held: Held, box: Box) -> None:
        """Let a tensor of the program be one that the graph has already."""
        self._parts[name], self._hulls[name] = [Part(held=held, room=box, boxes=[box])], box
        self._numbers[name] = self._numbers.get(name, 0) + 1

    def box(self, name: str) -> Box:
        """Return the ranges that a tensor has by now."""
        return self._hulls[name]

    def widen(self, name: str, box: Box) -> None:
        """Let the ranges of a tensor hold a box, too."""
        self._hulls[name] = hull(self._hulls.get(name, box), box)

    def meets(self, name: str, box: Box) -> bool:
        """Return whether a box has elements that were written."""
        return any(meets(box, other) for part in self._parts.get(name, []) for other in part.boxes)

    def covered(self, name: str, box: Box) -> bool:
        """Return whether a box has all elements that were written."""
        return all(covers(box, other) for part in self._parts.get(name, []) for other in part.boxes)

    def anew(self, name: str, box: Box, span: Span, *, filled: bool) -> Held:
        """Return where to write a box of a tensor of which nothing stays but the ranges."""
        self._parts[name] = []
        return self._new(name, self._bounds[name], box, span, filled=filled)

    def over(self, name: str, box: Box, span: Span, *, partial: bool) -> Held:
        """Return where to write a box of a tensor of which the rest stays."""
        latest = self._parts[name][-1]
        for part in self._parts[name]:
            part.boxes = without(part.boxes, [box])
        if latest.takes(box, partial):
            latest.write(box)
            return latest.held
        self._parts[name] = [part for part in self._parts[name] if part.boxes]
        return self._new(name, self._bounds[name], box, span, filled=partial)

    def reach(self, name: str, box: Box, span: Span) -> Held:
        """Return a tensor of the graph that holds a box of elements."""
        near = [part for part in self._parts[name] if any(meets(box, other) for other in part.boxes)]
        if len(near) == 1 and covers(near[0].room, box) and (near[0].filled or not without([box], near[0].boxes)):
            near[0].read = True
            return near[0].held
        return self.whole(name, span)

    def whole(self, name: str, span: Span) -> Held:
        """Return a tensor of the graph with just the elements that a tensor has by now, all of which have a value."""
        parts, ranges = self._parts[name], self._hulls[name]
        latest = parts[-1] if parts else None
        if latest is None or latest.room != ranges or not self._completes(latest, parts[:-1]):
            self._new(name, ranges, None, span, filled=False)
            latest = self._parts[name][-1]
        for part in self._parts[name][:-1]:
            for box in part.boxes:
                part.read = True
                self._copy(part.held, latest, box, span)
        for box in without([ranges], latest.boxes) if not latest.filled else ():
            self._emit(latest, box, Constant(value=Fraction(0), span=span), span)
        self._parts[name], latest.read = [latest], True
        return latest.held

    def restart(self, name: str, value: Fraction, span: Span) -> None:
        """Let all elements that a tensor has by now be a number."""
        self._parts[name] = []
        self._new(name, self._hulls[name], None, span, filled=False)
        self.fill(name, self._hulls[name], value, span)

    def fill(self, name: str, box: Box, value: Fraction, span: Span) -> None:
        """Write a number into a box of the newest part of a tensor."""
        self._emit(self._parts[name][-1], box, Constant(value=value, span=span), span)

    @staticmethod
    def _completes(latest: Part, others: list[Part]) -> bool:
        """Return whether a part holds all elements as it is, or can take those that others hold, and zeros."""
        boxes = [box for part in others for box in part.boxes]
        missing = without([latest.room], latest.boxes)
        if not boxes and (latest.filled or not missing):
            return True
        free = latest.open and not (latest.filled and latest.read)
        return free and not any(meets(box, other) for box in missing for other in latest.written)

    def _new(self, name: str, room: Box, box: Box | None, span: Span, *, filled: bool) -> Held:
        self._numbers[name] = number = self._numbers.get(name, 0) + 1
        unique = f"{self._prefix}{name}" if number == 1 else f"{self._prefix}{name}.{number}"
        shape, base = tuple(high - low for low, high in room), tuple(low for low, _ in room)
        self._builder.tensor(unique, shape, "value", origin=name, span=span, filled=filled, base=base)
        part = Part(held=Held(tensor=unique, base=base), room=room, boxes=[], filled=filled, open=True)
        self._parts[name].append(part)
        if box is not None:
            part.write(box)
        return part.held

    def _copy(self, source: Held, target: Part, box: Box, span: Span) -> None:
        self._emit(target, box, Read(tensor=source.tensor, subscripts=_at(box, source), span=span), span)

    def _emit(self, target: Part, box: Box, word: Operand, span: Span) -> None:
        indices, _ = axes(box)
        operation = Linear(terms=(Term(factors=(word,)),))
        self._builder.emit(target.held.tensor, _at(box, target.held), indices, operation, span)
        target.write(box)


def _at(box: Box, held: Held) -> tuple[Affine, ...]:
    """Return the subscripts of a box's elements in a tensor of the graph."""
    return tuple(form - low for form, low in zip(axes(box)[1], held.base, strict=True))
