"""The instructions of a function's body: all of them in order, how many, and where names are used last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tabla.languages.tinytc.syntax import Instruction, Local, Slice


def instructions_of(body: Sequence[Instruction]) -> Iterator[Instruction]:
    """Yield instructions, and those of their regions, in the order of the text."""
    for instruction in body:
        yield instruction
        for region in instruction.regions:
            yield from instructions_of(region)


def length_of(body: Sequence[Instruction]) -> int:
    """Return how many instructions a body has, with those of its regions."""
    return sum(1 for _ in instructions_of(body))


def last_uses(body: Sequence[Instruction]) -> Mapping[str, int]:
    """Return the number of the last instruction that uses a name, counted in the order of the text from 1 on."""
    last: dict[str, int] = {}
    for number, instruction in enumerate(instructions_of(body), 1):
        for operand in (*instruction.operands, *instruction.begin):
            parts = (operand.offset, operand.size) if isinstance(operand, Slice) else (operand,)
            for part in parts:
                if isinstance(part, Local):
                    last[part.name] = number
    return last
