"""Images on their way to the loader of an overlay: behind a serial line, and behind a register of a wrapper."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tabla.hw.bus.axi_lite import OKAY
from tabla.hw.overlay.board import ProgramReplier
from tabla.hw.overlay.registers import ProgramRegisters
from tabla.program.overlay_registers import overlay_registers
from tabla.program.protocol import DONE, LinkShape, ProgramRequest
from tests.hw.bus.test_parts import Lite, simulated
from tests.hw.overlay.test_loader import overlay


@pytest.mark.parametrize("patience", [0, 1, 5])
def test_the_line_gives_each_word_to_the_loader_once_and_answers_then(patience: int) -> None:
    """PROGRAM starts an image and is answered at once, WORD when the loader has taken the word."""
    shape = LinkShape.with_room(overlay().parameters, 0, 0)
    component = ProgramReplier(shape=shape, width=overlay().parameters.width)
    starts, words, answers = [0], list[int](), list[int]()

    async def asked(context: Any, code: int, argument: int) -> None:
        context.set(component.code, code)
        context.set(component.argument, argument)
        context.set(component.ends, 1)
        starts[0] += context.get(component.program_start)
        await context.tick()
        context.set(component.ends, 0)
        for cycle in range(12):
            ready = cycle >= patience
            context.set(component.word_ready, int(ready))
            if context.get(component.word_valid) and ready:
                words.append(context.get(component.word))
            assert not context.get(component.program_start)
            if context.get(component.valid):
                answers.append(context.get(component.data))
                assert context.get(component.last)
            await context.tick()

    async def bench(context: Any) -> None:
        for name in ("known", "sound", "ready"):
            context.set(getattr(component, name), 1)
        await asked(context, ProgramRequest.PROGRAM, 0)
        assert (starts, words) == ([1], [])
        for word in (0xCAFE1234, 7):
            await asked(context, ProgramRequest.WORD, word)
        assert starts == [1]

    simulated(component, bench)
    assert words == [0xCAFE1234, 7]
    assert answers == [code | DONE for code in (ProgramRequest.PROGRAM, ProgramRequest.WORD, ProgramRequest.WORD)]


@pytest.mark.parametrize("patience", [1, 2, 5])
def test_the_registers_hold_a_word_until_the_loader_has_taken_it(patience: int) -> None:
    component = ProgramRegisters(overlay=overlay())
    place = next(each.offset for each in overlay_registers(overlay()) if each.name == "PROGRAM_DATA")
    sent, taken = [0xCAFE1234, 7, 0xFFFFFFFF], list[int]()

    async def loads(context: Any) -> None:
        while True:
            waited = 0
            while not (context.get(component.word_valid) and waited >= patience):
                waited += context.get(component.word_valid)
                await context.tick()
            context.set(component.word_ready, 1)
            taken.append(context.get(component.word))
            await context.tick()
            context.set(component.word_ready, 0)

    async def bench(context: Any) -> None:
        context.set(component.alive, 1)
        lite = Lite(component, context, random.Random(3))
        # Without an image under way, words count for nothing.
        assert await lite.write(place, 5) == OKAY
        for _ in range(9):
            await context.tick()
        context.set(component.taking, 1)
        for word in sent:
            assert await lite.write(place, word) == OKAY
        for _ in range(9):
            await context.tick()

    simulated(component, bench, loads)
    assert taken == sent
