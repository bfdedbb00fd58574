"""The sizes of a program's units for the wrapper: constants, or registers of an overlay."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tabla.program.bus import BusShape
from tabla.program.image import Image
from tabla.program.timing import samples_at_work


@dataclass(frozen=True, slots=True, kw_only=True)
class Beats:
    """The beats of a unit that goes to the array, `most` at most.

    `any` says whether there are any, and `one` whether the first beat is the last. Otherwise `before_last` is the
    number of the beat before the last.
    """

    any: Any
    one: Any
    before_last: Any
    most: int

    @staticmethod
    def of(count: int) -> "Beats":
        """Return the constants for a number of beats."""
        size = max(1, count)
        return Beats(any=int(count > 0), one=int(size == 1), before_last=max(0, size - 2), most=size)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitSizes:
    """What the wrapper has to know of a program.

    `load` and `run` are the beats of a load and of a step. `results` says whether a step has any, and `last_group` is
    the number of the last group of them; there are `most_groups` at most. A dump has `dump_count` tokens. The array may
    work on `at_work` samples at the same time, and on `most_at_work` at most.
    """

    load: Beats
    run: Beats
    results: Any
    last_group: Any
    most_groups: int
    dump_count: Any
    at_work: Any = 1
    most_at_work: int = 1

    @staticmethod
    def of(shape: BusShape, image: Image | None = None) -> "UnitSizes":
        """Return the constants of a program. Without the image, nothing is known of samples at work."""
        groups = shape.run_words // shape.output_group
        overlap = 1 if image is None else samples_at_work(image)
        return UnitSizes(
            load=Beats.of(shape.load_beats),
            run=Beats.of(shape.run_beats),
            results=int(shape.run_words > 0),
            last_group=groups - 1,
            most_groups=groups,
            dump_count=shape.dump_count,
            at_work=overlap,
            most_at_work=overlap,
        )

    @staticmethod
    def held(numbers: Mapping[str, Any], shape: BusShape, last_group: Any) -> "UnitSizes":
        """Return the numbers of the program in an overlay, which show at its ports (`HOST_NUMBERS`).

        `shape` has the greatest of them. The beats of units are given less 2.
        """

        def beats(command: str, most: int) -> Beats:
            less = numbers[f"{command}.beats"]
            return Beats(any=numbers[f"stream.{command}.enable"], one=less[-1], before_last=less[:-1], most=most)

        at_work = numbers["run.overlap"]
        return UnitSizes(
            load=beats("load", shape.load_beats),
            run=beats("run", shape.run_beats),
            results=numbers["run.outputs"].any(),
            last_group=last_group,
            most_groups=shape.run_words,
            dump_count=numbers["dump.count"],
            at_work=at_work,
            most_at_work=(1 << len(at_work)) - 1,
        )
