"""Instructions of memrefs: what they make, what they select of them, and what they read and write."""

from __future__ import annotations

from collections.abc import Sequence

from tabla.base.source import Span
from tabla.graph.graph import Affine
from tabla.languages.kernel.tree import Read
from tabla.languages.tinytc.blocks import Block
from tabla.languages.tinytc.environment import Environment
from tabla.languages.tinytc.parser import BLOCKS
from tabla.languages.tinytc.syntax import (
    REALS,
    Instruction,
    Literal,
    Memref,
    Operand,
    Scalar,
    Slice,
    Type,
)
from tabla.languages.tinytc.values import Batch, GroupId, Value, refuse
from tabla.languages.tinytc.views import View


class Memory(Environment):
    """The translation of the instructions of memrefs: allocations, views, loads, stores and block instructions."""

    def _alloca(self, instruction: Instruction) -> View:
        (type,) = instruction.types
        if not isinstance(type, Memref) or None in type.shape:
            refuse("alloca makes a memref of known sizes", instruction.span, "write alloca : memref<f32x4x8,local>")
        name = instruction.results[0].name if instruction.results else "memref"
        name = name if name.isidentifier() and name not in self._found.shapes else f"memref.{next(self._numbers)}"
        shape = tuple(size for size in type.shape if size is not None)
        self._allocate(name, shape)
        self._elements[name] = type.element
        return self._views.whole(name, shape)

    def _subscripts(self, view: View, operands: Sequence[Operand], span: Span) -> tuple[Affine, ...]:
        if len(operands) != len(view.modes):
            hint = "write one index for each mode"
            refuse(f"the memref has {len(view.modes)} modes, and this has {len(operands)} indices", span, hint)
        return view.at([self._whole(operand) for operand in operands])

    def _selected(self, batch: Batch, operands: Sequence[Operand], span: Span) -> Sequence[Operand]:
        """Return the operands without the group id, which comes last."""
        last = operands[-1] if operands else None
        last = last.offset if isinstance(last, Slice) and last.size is None else last
        if last is None or isinstance(last, Slice) or not isinstance(self._value(last), GroupId):
            hint = "the last mode of what has a size of '?' is selected by the group id: [.., %gid]"
            refuse("a sample is what the group id selects", span, hint)
        return operands[:-1]

    def _load(self, instruction: Instruction) -> Value:
        source, *operands = instruction.operands
        value, (type,) = self._value(source), instruction.types
        if isinstance(value, Batch):
            operands = list(self._selected(value, operands, instruction.span))
            if value.group:
                held = self._type_of(value.view)
                if operands or self._differs(type, value.view):
                    refuse("this is not what the group holds", instruction.span, f"write load %A[%gid] : {held}")
                return value.view
            view = value.view
        else:
            view = self._view(source)
        if not isinstance(type, Scalar) or type.name not in REALS:
            refuse("an element is a real number", type.span, "write load %A[%i] : f32")
        if type.name != (element := self._elements[view.base]):
            refuse(f"the memref holds {element}, and not {type.name}", type.span, f"write load %A[%i] : {element}")
        return Read(
            tensor=view.base, subscripts=self._subscripts(view, operands, instruction.span), span=instruction.span
        )

    def _store(self, instruction: Instruction) -> None:
        operand, target, *operands = instruction.operands
        value = self._value(target)
        if isinstance(value, Batch) and not value.group:
            operands = list(self._selected(value, operands, instruction.span))
            view = value.view
        else:
            view = self._view(target)
        self._writable(view, target.span)
        write = self._subscripts(view, operands, instruction.span)
        real = self._real(operand)
        self._overwrites(view.base)
        self._state(view.base, write, (), real, instruction.span)

    def _writable(self, view: View, span: Span) -> None:
        if view.base in self._found.kept:
            hint = f"give '%{view.base}' a last mode of size '?', and select it by the group id"
            refuse(f"'%{view.base}' is the same for all groups, and is written", span, hint)

    def _mode(self, view: View, operand: Operand) -> int:
        mode = self._number(operand)
        if not 0 <= mode < len(view.modes):
            refuse(f"there is no mode {mode}", operand.span, f"the memref has {len(view.modes)} modes, from 0 on")
        return mode

    def _viewed(self, instruction: Instruction) -> View:
        source, *operands = instruction.operands
        (type,), value = instruction.types, self._value(source)
        if isinstance(value, Batch) and not value.group and instruction.name == "subview":
            operands, view = list(self._selected(value, operands, instruction.span)), value.view
        else:
            view = self._view(source)
        match instruction.name:
            case "subview":
                made = self._part(view, operands, instruction.span)
            case "expand":
                mode = self._mode(view, operands[0])
                shape = [self._number(size) for size in operands[1:]]
                product = 1
                for size in shape:
                    product *= size
                if product != view.shape[mode]:
                    hint = "the product of the sizes is the size of the mode"
                    refuse(f"a mode of size {view.shape[mode]} as {shape}", instruction.span, hint)
                made = self._views.expanded(view, mode, shape)
            case _:
                if len(operands) != 2:
                    refuse("fuse takes two modes", instruction.span, "write fuse %A[0,1] : memref<f32x32>")
                first, last = (self._mode(view, operand) for operand in operands)
                if first >= last:
                    refuse("fuse takes neighbouring modes, the first one first", instruction.span, "write [0,1]")
                made = self._views.fused(view, first, last)
        if self._differs(type, made):
            refuse(f"this is not what {instruction.name} gives", type.span, f"it is {self._type_of(made)}")
        return made

    def _type_of(self, view: View) -> str:
        """Return the type of a view as the language writes it."""
        return f"memref<{self._elements[view.base]}{''.join(f'x{size}' for size in view.shape)}>"

    def _differs(self, type: Type, view: View) -> bool:
        """Say whether a type is that of another memref than a view."""
        if not isinstance(type, Memref):
            return True
        return type.shape != view.shape or type.element != self._elements[view.base]

    def _part(self, view: View, operands: Sequence[Operand], span: Span) -> View:
        if len(operands) != len(view.modes):
            message = f"the memref has {len(view.modes)} modes, and this has {len(operands)} slices"
            refuse(message, span, "write one for each mode: offset:size")
        slices = []
        for operand, whole in zip(operands, view.shape, strict=True):
            assert isinstance(operand, Slice)
            offset = self._whole(operand.offset)
            size = 0 if operand.size is None else self._number(operand.size)
            if (
                size < 0
                or size > whole
                or (not offset.coefficients and not 0 <= offset.constant <= whole - max(size, 1))
            ):
                refuse(f"this part is outside of a mode of size {whole}", operand.span, "a slice is offset:size")
            slices.append((offset, size))
        return self._views.part(view, slices)

    def _block(self, instruction: Instruction) -> None:
        operands = instruction.operands
        if len(operands) != BLOCKS[instruction.name]:
            message = f"'{instruction.name}' takes {BLOCKS[instruction.name]} operands, not {len(operands)}"
            refuse(message, instruction.span, "docs/tinytc.md has the block instructions")
        target = self._view(operands[-1])
        self._writable(target, operands[-1].span)
        sources = [self._view(each) for each in operands[1:-2] if not isinstance(each, Literal)]
        mode = self._number(operands[2]) if instruction.name == "cumsum" else None
        block = Block(
            name=instruction.name,
            modifiers=instruction.modifiers,
            alpha=self._real(operands[0]),
            sources=tuple(sources),
            mode=mode,
            beta=self._real(operands[-2]),
            target=target,
            span=instruction.span,
            number=next(self._numbers),
        )
        self._overwrites(target.base)
        write, indices, value = block.statement()
        self._state(target.base, write, indices, value, instruction.span)
