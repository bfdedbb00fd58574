"""Whether a program fits an overlay. What does not fit is an error that names the limit, and by how much."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from tabla.base.source import TablaError
from tabla.program.image import Image, Parameters
from tabla.program.layout import operation_layout
from tabla.program.overlay import PROGRAM_SHIFTS, Overlay, program_numbers, timing_widths
from tabla.program.timing import timing_numbers
from tabla.templates.instructions import operation_format
from tabla.templates.overlays import FEATURES, MOST_PLACES


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What a program needs of one limit of an overlay, and what the overlay has. `what` is in the plural."""

    what: str
    needs: int
    has: int
    option: str

    @property
    def text(self) -> str:
        """The need as the end of a sentence."""
        return f"needs {self.needs:,} {self.what}, the overlay has {self.has:,}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """What a size of the hardware counts, in the plural, and the option of ``tabla overlay`` that sets it."""

    what: str
    option: str


SIZES: Mapping[str, Limit] = MappingProxyType(
    {
        "model_depth": Limit(what="model words a lane", option="--model-words"),
        "data_depth": Limit(what="data words a lane", option="--data-words"),
        "interim_depth": Limit(what="interim words a lane", option="--interim-words"),
        "root_data_depth": Limit(what="data words of the root", option="--root-data-words"),
        "root_memory_depth": Limit(what="memory words of the root", option="--root-memory-words"),
        "output_depth": Limit(what="words in the output buffer", option="--output-words"),
        "ring_slots": Limit(what="slots of the ring", option=""),
        "levels": Limit(what="loop levels", option="--levels"),
        "body": Limit(what="operations in a strand", option="--body"),
        "start_bits": Limit(what="bits for the cycle of a strand", option="--cycles"),
        "interval_bits": Limit(what="bits for the interval of a strand", option="--intervals"),
        "count_bits": Limit(what="bits for the iterations of a loop", option="--counts"),
        "guard_bits": Limit(what="bits for the bounds of lanes", option="--guards"),
    }
)
"""The sizes of `Parameters` that a program must not exceed."""
SIZES_OF_UNITS: Mapping[str, Limit] = MappingProxyType(
    {
        "strand_depth": Limit(what="strands", option="--strands"),
        "operation_depth": Limit(what="operations", option="--operations"),
    }
)
"""Those that each unit has."""


def refuse_misfit(name: str, needed: Parameters, overlay: Overlay) -> None:
    """Raise `TablaError` if the hardware that a program needs is larger than the overlay."""
    has = overlay.parameters
    _refuse(name, [need for need in _sizes(needed, has) if need.needs > need.has])
    missing = [f.name for f in needed.functions if f.name not in {g.name for g in has.functions}]
    if missing:
        there = ", ".join(f.name for f in has.functions) or "none"
        raise TablaError(
            f"'{name}' needs the function {missing[0]}, the overlay has {there}",
            hint=f"build the overlay with --functions {','.join([*(f.name for f in has.functions), *missing])}",
        )
    _refuse_places(name, needed, has)
    if needed.accumulator > has.accumulator:
        bits = needed.accumulator - has.accumulator
        raise TablaError(
            f"'{name}' needs accumulators of {needed.accumulator} bits, the overlay has {has.accumulator}",
            hint=f"its sums have up to {1 << bits} times as many terms: build the overlay with"
            f" --terms {overlay.room.terms << bits}",
        )
    if needed.model_guard:
        raise TablaError(
            f"'{name}' needs models with {needed.model_guard} guard bits, the overlay has none",
            hint="leave --model-guard out",
        )
    if needed.scatters:
        raise TablaError(
            f"'{name}' writes to rows that a sample names, and an overlay does not",
            hint="build an array of its own (leave --onto out)",
        )


def _refuse_places(name: str, needed: Parameters, has: Parameters) -> None:
    """Raise `TablaError` for too many places of sums, or for one that the overlay lacks."""
    if len(needed.shifts) > PROGRAM_SHIFTS:
        raise TablaError(
            f"'{name}' needs {len(needed.shifts)} places of sums, and a program on an overlay has {PROGRAM_SHIFTS}",
            hint="build an array of its own (leave --onto out), or use fewer constants that differ",
        )
    own, there = ([shift - has.fraction for shift in shifts] for shifts in (needed.shifts, has.shifts))
    missing = sorted(set(own) - set(there))
    if missing:
        # Where all places together are too many, those of the program alone are not.
        all_places = [*there, *missing] if len(there) + len(missing) <= MOST_PLACES else own
        raise TablaError(
            f"'{name}' needs sums at place {missing[0]}, the overlay has the places {_listed(there)}",
            hint=f"build the overlay with --shifts={_listed(all_places)}, or use larger constants and learning rates",
        )


def _listed(places: Sequence[int]) -> str:
    return ",".join(map(str, places))


def _sizes(needed: Parameters, has: Parameters) -> Iterator[Need]:
    for field, limit in SIZES.items():
        yield Need(what=limit.what, needs=getattr(needed, field), has=getattr(has, field), option=limit.option)
    for field, limit in SIZES_OF_UNITS.items():
        for unit, words in getattr(needed, field).items():
            held = getattr(has, field)[unit]
            yield Need(what=f"{limit.what} of {unit}", needs=words, has=held, option=limit.option)


def _refuse(name: str, needs: Sequence[Need]) -> None:
    """Raise `TablaError` for the first of some needs, with all the others in its hint."""
    if not needs:
        return
    first, *others = needs
    options = dict[str, int]()
    for need in needs:
        if need.option:
            options[need.option] = max(need.needs, options.get(need.option, 0))
    more = "".join(f"it also {need.text}; " for need in others)
    cure = " ".join(f"{option} {words}" for option, words in options.items())
    hint = f"{more}build the overlay with {cure}" if cure else f"{more}use another array"
    raise TablaError(f"'{name}' {first.text}", hint=hint)


def refuse_features(name: str, image: Image, overlay: Overlay) -> None:
    """Raise `TablaError` if an operation of a program needs what the overlay lacks."""
    missing = [feature for feature in features_of(image) if feature not in overlay.room.features]
    if missing:
        has = [feature for feature in FEATURES if feature in overlay.room.features]
        raise TablaError(
            f"'{name}' needs {' and '.join(missing)}, the overlay has {' and '.join(has) or 'none'}",
            hint=f"build the overlay with --features {','.join([*has, *missing])}",
        )


def features_of(image: Image) -> tuple[str, ...]:
    """Return the features of an overlay that the operations of a program need."""
    posts: set[str] = set()
    for unit, words in image.operations.items():
        for field in operation_format(unit).fields:
            if field.name == "post":
                place = operation_layout(unit, image.parameters).fields[field.name]
                posts |= {field.choices[place.extract(word)] for word in words}
    return tuple(name for name, symbols in FEATURES.items() if posts & symbols)


def refuse_numbers(name: str, image: Image, overlay: Overlay) -> None:
    """Raise `TablaError` if a register of the overlay is too narrow for a number of the program."""
    step = image.stream_run.beats * image.parameters.stream_words
    if overlay.bus is not None and step > overlay.bus.step_words:
        _refuse(name, [Need(what="words of a step", needs=step, has=overlay.bus.step_words, option="--step-words")])
    on_the_way = tokens_of(image)
    if on_the_way > overlay.room.tokens:
        tokens = Need(
            what="samples between their token and a unit", needs=on_the_way, has=overlay.room.tokens, option="--tokens"
        )
        _refuse(name, [tokens])
    numbers = program_numbers(image, overlay)
    assert numbers.keys() == timing_widths(overlay).keys()
    for number, (width, signed) in timing_widths(overlay).items():
        value, most = numbers[number], (1 << (width - signed)) - 1
        if value > most:
            hint = f"build the overlay with --cycles {overlay.room.cycles + value.bit_length() - most.bit_length()}"
            # All other registers are as wide as the sizes that `refuse_misfit` compares.
            raise TablaError(f"'{name}' needs {value:,} cycles ({number}), the overlay counts to {most:,}", hint=hint)


def tokens_of(image: Image) -> int:
    """Return how many samples may lie between their token and the start of a unit, or the release of their slot."""
    numbers = timing_numbers(image)
    waits = [(numbers["release.wait"], image.run.period)]
    for command, entry in (("run", image.run), ("dump", image.dump)):
        waits += [(numbers[f"{unit}.{command}.wait"], entry.period) for unit in image.units]
    return max(wait // max(1, period) + 2 for wait, period in waits)
