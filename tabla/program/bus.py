"""The sizes of the wrapper for a host's bus, which follow from an image and the width of the bus."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from tabla.base.source import TablaError
from tabla.program.image import Image
from tabla.program.overlay import Overlay, OverlayBus

BUS_WIDTHS = (32, 64, 128, 256, 512)
"""The widths of a bus in bits."""

_BUFFER_BITS = 1 << 21
_LEAST_BEATS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class BusShape:
    """The sizes of a wrapper.

    `bus_bits` is the width of the two streams of the bus. A word of `width` bits travels in a container of `container`
    bits. The array takes beats of `stream_words` words: `load_beats` for a load, `run_beats` for a unit of a run. Such
    a unit gives `run_words` words, in beats of `output_words`, which is a power of two. The dump program runs
    `dump_count` times. An array that `predicts` takes PREDICT, too, which ignores the containers `ignored` of a unit of
    a run, counted from its start.
    """

    bus_bits: int
    width: int
    stream_words: int
    load_beats: int
    run_beats: int
    run_words: int
    dump_count: int
    output_words: int = 1
    predicts: bool = False
    ignored: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.bus_bits not in BUS_WIDTHS:
            raise TablaError(
                f"a bus of {self.bus_bits} bits is not supported", hint=f"use {', '.join(map(str, BUS_WIDTHS))}"
            )
        if self.output_words & (self.output_words - 1) or self.run_words % self.output_words:
            raise ValueError(f"{self.run_words} words do not leave in whole beats of {self.output_words}")
        if self.run_beats > self.largest_beats:
            words, most = self.run_beats * self.stream_words, self.largest_beats * self.stream_words
            raise TablaError(
                f"a step takes {words} words, but the buffer of the bus holds two steps of {most} words at most",
                hint="use a smaller minibatch or a narrower format",
            )

    @staticmethod
    def of(image: Image, *, bus_bits: int, dump_count: int, ignored: tuple[int, ...] = ()) -> BusShape:
        """Return the sizes for an image. Raises `TablaError` for a width that there is not, and for a unit that is too
        large for the buffer.
        """
        parameters = image.parameters
        return BusShape(
            bus_bits=bus_bits,
            width=parameters.width,
            stream_words=parameters.stream_words,
            load_beats=image.stream_load.beats,
            run_beats=image.stream_run.beats,
            run_words=image.run.outputs,
            dump_count=dump_count,
            output_words=parameters.port_words,
            predicts=parameters.predicts,
            ignored=ignored,
        )

    @staticmethod
    def of_overlay(overlay: Overlay, bus: OverlayBus) -> BusShape:
        """Return the sizes for an overlay, whose programs may have up to these.

        Raises `TablaError` for steps that are too large for the buffer.
        """
        parameters = overlay.parameters
        most = _largest_beats(parameters.stream_words, parameters.width) * parameters.stream_words
        if not 1 <= bus.step_words <= most:
            raise TablaError(f"--step-words {bus.step_words} is out of range", hint=f"use 1 to {most}")
        return BusShape(
            bus_bits=bus.bits,
            width=parameters.width,
            stream_words=parameters.stream_words,
            load_beats=1 << overlay.room.cycles,
            run_beats=-(-bus.step_words // parameters.stream_words),
            run_words=parameters.output_depth,
            dump_count=max(*parameters.lane_depths.values(), parameters.root_memory_depth),
        )

    @property
    def container(self) -> int:
        """The bits of a container: 8, 16 or 32, the least that holds a word."""
        return next(bits for bits in (8, 16, 32) if bits >= self.width)

    @property
    def containers(self) -> int:
        """The containers of a beat of the bus."""
        return self.bus_bits // self.container

    @property
    def group(self) -> int:
        """The containers that are looked at in a cycle: those of the narrower of the two kinds of beats."""
        return min(self.containers, self.stream_words)

    @property
    def groups(self) -> int:
        """The groups of a beat of the bus."""
        return self.containers // self.group

    @property
    def parts(self) -> int:
        """The groups of a beat of the array."""
        return self.stream_words // self.group

    @property
    def ignored_runs(self) -> tuple[tuple[int, int], ...]:
        """The groups of a unit of a run, in order, as runs of groups that are alike: how many, and which of their
        containers a prediction ignores, the first in bit 0.

        There are no runs where it makes no difference: if no container is ignored, or if all are words of the format.
        """
        if not self.ignored or self.container == self.width:
            return ()
        masks = [0] * (self.run_beats * self.parts)
        for place in self.ignored:
            masks[place // self.group] |= 1 << place % self.group
        return tuple((len(list(alike)), mask) for mask, alike in groupby(masks))

    @property
    def output_group(self) -> int:
        """The words that go into containers in a cycle: those of the narrower of the two kinds of beats that leave."""
        return min(self.containers, self.output_words)

    @property
    def buffer_beats(self) -> int:
        """The depth of the buffer in beats of the array, a power of two.

        It holds two units. Units are only handed on when the beat of the bus that ends them has been checked whole, so
        it also holds a part of a unit and a whole beat of the bus.
        """
        wanted = max(_LEAST_BEATS, 2 * self.run_beats, self.run_beats + self.groups)
        return 1 << (wanted - 1).bit_length()

    @property
    def largest_beats(self) -> int:
        """The beats of the largest unit of a run of which the buffer can hold two."""
        return _largest_beats(self.stream_words, self.width)


def _largest_beats(stream_words: int, width: int) -> int:
    beats = _BUFFER_BITS // (stream_words * width)
    return max(_LEAST_BEATS, 1 << (beats.bit_length() - 1)) // 2
