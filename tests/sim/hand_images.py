"""Hand-written images and what they compute, in plain integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tabla.program.image import FunctionTable, Image, Parameters
from tests.sim.hand_assembler import (
    Nest,
    assemble,
    lane,
    lane_write,
    parameters,
    root,
    root_write,
    stream,
    table,
    tree_levels,
)


def rounded(exact: int, shift: int, width: int) -> int:
    """Half up, saturated."""
    value = (exact + (1 << shift >> 1)) >> shift
    return max(-(1 << (width - 1)), min((1 << (width - 1)) - 1, value))


@dataclass(frozen=True, kw_only=True)
class Case:
    """An image with stimulus and, where the test knows them, the words to expect."""

    name: str
    image: Image
    load: list[list[int]]
    beats: list[list[int]]
    samples: int
    outputs: list[int] | None = None
    models: list[int] | None = None
    dump: int = 1


def rows(words: Sequence[int], lanes: int, stream_words: int) -> list[list[int]]:
    """Beats that bring one word to each lane, block after block."""
    return [
        [words[lane] if lane < lanes else 0 for lane in range(block, block + stream_words)]
        for block in range(0, lanes, stream_words)
    ]


def linear(
    pes: int = 2,
    words: int = 3,
    samples: int = 5,
    seed: int = 1,
    large: int = 9,
    release: int | None = None,
    **build: Any,
) -> Case:
    """h = sum w x; e = h - y; w -= (mu e) x. `words` features a lane, label and mu at the root."""
    shape: Parameters = parameters(pes, **build)
    fraction, width = shape.fraction, shape.width
    by = shape.shifts.index(fraction)
    tree = tree_levels(shape)
    blocks = -(-pes // shape.stream_words)
    first_root = words - 1 + 1 + tree
    # The difference takes the sum as it shows for an addend that joins late.
    error, scaled = first_root + 4, first_root + 9
    update = scaled + 8
    run = {
        "lane_issue": [
            Nest(
                counts=(words,),
                reduce=1,
                body=[lane(a="model", b="data", half="lane0", shift=by, model=(0, 1), data=(0, 1), windows=("data",))],
            ),
            Nest(
                start=update,
                counts=(words,),
                body=[
                    lane(
                        a="data",
                        b="bus",
                        c="model",
                        negate=1,
                        base="addend",
                        half="all",
                        shift=by,
                        emit=1,
                        model=(0, 1),
                        data=(0, 1),
                        windows=("data",),
                    )
                ],
            ),
        ],
        "lane_write": [
            Nest(start=update + 7, counts=(words,), body=[lane_write(to_model=1, model=1, address=(0, 1))]),
        ],
        "root_issue": [
            Nest(start=first_root, body=[root(base="tree", shift=by, emit=1)]),
            Nest(
                start=error,
                body=[
                    root(a="data", b="one", negate=1, c="late_result", base="addend", shift=by, emit=1, windows=("a",))
                ],
            ),
            Nest(start=scaled, body=[root(a="result", b="memory", half="all", shift=by, emit=1, at_b=(3,))]),
        ],
        "root_write": [
            Nest(start=first_root + 7, body=[root_write(to_output=1)]),
            Nest(start=scaled + 7, body=[root_write(to_bus=1)]),
        ],
    }
    image = assemble(
        shape,
        run,
        period=update + max(8, words),
        load=[
            Nest(counts=(blocks, words), body=[stream(to_model=1, address=(0, 0, 1), block=(0, 1))]),
            Nest(body=[stream(to_root_memory=1, address=(3,))]),
        ],
        samples=[
            Nest(
                counts=(blocks, words),
                body=[stream(to_data=1, address=(0, 0, 1), block=(0, 1), windows=("address",))],
            ),
            Nest(body=[stream(to_root_data=1, address=(0,), windows=("address",))]),
        ],
        data_window=words,
        root_data_window=1,
        release=release,
        skew={"root_issue": first_root, "root_write": first_root + 7, "lane_write": update + 7},
    )
    chance = np.random.default_rng(seed)

    def some(*shape: int) -> Any:
        limit = 1 << (fraction if large < 0 else min(large, width - 2))
        return chance.integers(-limit, limit, shape)

    models, rate = some(words, pes), int(chance.integers(0, 1 << fraction))
    load: list[list[int]] = []
    for row in models.tolist():
        load += rows(row, pes, shape.stream_words)
    load += [[rate] + [0] * (shape.stream_words - 1)]
    beats: list[list[int]] = []
    outputs: list[int] = []
    state = models.astype(object)
    for _ in range(samples):
        inputs, label = some(words, pes).astype(object), int(some(1)[0])
        for row in inputs.tolist():
            beats += rows(row, pes, shape.stream_words)
        beats += [[label] + [0] * (shape.stream_words - 1)]
        guess = rounded(int((state * inputs).sum()), fraction, width)
        wrong = rounded((guess - label) << fraction, fraction, width)
        step = rounded(wrong * rate, fraction, width)
        for word in range(words):
            for place in range(pes):
                exact = (state[word, place] << fraction) - inputs[word, place] * step
                state[word, place] = rounded(int(exact), fraction, width)
        outputs.append(guess)
    dumped = [word for row in range(words) for word in [*(int(w) for w in state[row]), rate if row == 3 else 0]]
    return Case(
        name=f"linear on {pes}",
        image=image,
        load=load,
        beats=beats,
        samples=samples,
        outputs=outputs,
        models=dumped,
        dump=words,
    )


def function_program(tables: Sequence[FunctionTable], words: Sequence[int], **build: Any) -> Case:
    """Each sample brings two words x, y to the root; out go f(x) for each function (quotient: x / y)."""
    shape: Parameters = parameters(1, functions=tuple(tables), **build)
    by = shape.shifts.index(shape.fraction)
    issues, writes, at = [], [], 0
    for entry in tables:
        divides = entry.name in ("divide", "quotient")
        issues.append(
            Nest(
                start=at,
                body=[
                    root(
                        a="zero",
                        b="data" if divides else "one",
                        c="data",
                        base="addend",
                        shift=by,
                        function=entry.code,
                        at_b=(1,),
                        windows=("c", "b"),
                    )
                ],
            )
        )
        writes.append(
            Nest(start=at + 7 + entry.latency, body=[root_write(source="function", to_output=1, address=(0,))])
        )
        at += 60
    image = assemble(
        shape,
        {"root_issue": issues, "root_write": writes},
        period=at + 70,
        samples=[Nest(counts=(2,), body=[stream(to_root_data=1, address=(0, 1), windows=("address",))])],
        root_data_window=2,
    )
    beats = [[int(word)] for word in words]
    return Case(name="functions", image=image, load=[], beats=beats, samples=len(words) // 2)


__all__ = ["Case", "function_program", "linear", "rounded", "rows", "table"]
