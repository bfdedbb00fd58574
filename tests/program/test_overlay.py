"""Overlays: each limit holds what it says and not one more, and images are read back or refused."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tabla
from tabla.driver import Build
from tabla.program import fit
from tabla.program.encode import encode, least_image, widest_sum
from tabla.program.fit import refuse_misfit, refuse_numbers, tokens_of
from tabla.program.image import Image
from tabla.program.least_overlay import least_room
from tabla.program.overlay import (
    PROGRAM_SHIFTS,
    Overlay,
    OverlayBus,
    overlay_of,
    program_numbers,
    timing_layout,
    timing_widths,
    timing_word,
)
from tabla.program.overlay_image import image_file, read_image
from tabla.program.overlay_words import about_overlay, checksum, program_words
from tabla.program.timing import timing_numbers
from tabla.templates.overlays import FEATURES, MOST_PLACES, ROOM_NUMBERS, OverlayRoom, default_room
from tabla.templates.template import presets
from tests.program.test_encode import scattering

EXAMPLES = Path(tabla.__file__).resolve().parent.parent / "examples"
ARRAY = replace(presets()["Pe2"], sequencers=1, roots=1, stream_words=1)


@cache
def built(program: str = "logistic") -> Build:
    """A program with an update, on the array of the overlays below.

    The lanes of `logistic` need its function. Those of `svm` have strands of two operations and words in between.
    """
    return tabla.compile(EXAMPLES / f"{program}.t", pes=2, sequencers=1, stream_words=1, defines={"m": 5})


@cache
def least(program: str = "logistic") -> OverlayRoom:
    """The least room that holds a program, found from what its own hardware has."""
    image = built(program).image
    p = image.parameters
    return OverlayRoom(
        model_words=p.model_depth,
        data_words=p.data_depth,
        interim_words=p.interim_depth,
        root_data_words=p.root_data_depth,
        root_memory_words=p.root_memory_depth,
        output_words=p.output_depth,
        stream_words=1,
        levels=p.levels,
        body=p.body,
        cycles=8,
        intervals=p.interval_bits,
        counts=p.count_bits,
        guards=p.guard_bits,
        strands=max(p.strand_depth.values()),
        operations=max(p.operation_depth.values()),
        tokens=max(2, tokens_of(image)),
        terms=5,
        shifts=tuple(shift - p.fraction for shift in p.shifts),
        functions=tuple(function.name for function in p.functions),
        features=tuple(name for name in ("comparisons",) if program == "svm"),
    )


def overlay(program: str = "logistic", **changes: object) -> Overlay:
    return overlay_of(ARRAY, replace(least(program), **changes))  # type: ignore[arg-type]


def encoded(made: Overlay, program: str = "logistic") -> Image:
    return encode(built(program).schedule, made)


@pytest.mark.parametrize("program", ["logistic", "svm"])
def test_the_least_room_holds_the_program(program: str) -> None:
    image = encoded(overlay(program), program)
    own = built(program).image
    assert {u: len(words) for u, words in image.strands.items()} == {u: len(w) for u, w in own.strands.items()}
    assert (image.run.period, image.release, image.data_window) == (own.run.period, own.release, own.data_window)


LIMITS = (
    ("logistic", "model_words", "model words a lane"),
    ("logistic", "data_words", "data words a lane"),
    ("svm", "interim_words", "interim words a lane"),
    ("logistic", "root_data_words", "data words of the root"),
    ("logistic", "root_memory_words", "memory words of the root"),
    ("logistic", "output_words", "words in the output buffer"),
    ("logistic", "levels", "loop levels"),
    ("svm", "body", "operations in a strand"),
    ("svm", "intervals", "bits for the interval of a strand"),
    ("logistic", "counts", "bits for the iterations of a loop"),
    ("logistic", "guards", "bits for the bounds of lanes"),
    ("logistic", "strands", "strands of root_issue"),
    ("logistic", "operations", "operations of root_issue"),
    ("logistic", "tokens", "samples between their token and a unit"),
)


@pytest.mark.parametrize(("program", "name", "what"), LIMITS)
def test_one_less_is_an_error_that_says_by_how_much(program: str, name: str, what: str) -> None:
    needs = getattr(least(program), name)
    with pytest.raises(tabla.TablaError) as fault:
        encoded(overlay(program, **{name: needs - 1}), program)
    assert f"'{program}' needs {needs:,} {what}, the overlay has {needs - 1:,}" in str(fault.value)
    assert f"--{name.replace('_', '-')} {needs}" in (fault.value.hint or "")


def test_every_number_of_an_overlay_has_a_limit_that_is_tested() -> None:
    """`cycles` and `terms` limit what follows from other numbers, and `stream_words` is the array's."""
    assert {name for _, name, _ in LIMITS} | {"cycles", "terms", "stream_words"} == set(ROOM_NUMBERS)


def sizes() -> list[tuple[str, str]]:
    """The sizes of hardware that a program must not exceed, those of each unit by the unit's name."""
    one = [("", field) for field in fit.SIZES]
    return one + [(unit, field) for unit in ("stream", *overlay().units) for field in fit.SIZES_OF_UNITS]


@pytest.mark.parametrize(("unit", "field"), sizes())
def test_what_is_as_large_as_the_overlay_fits_and_one_more_does_not(unit: str, field: str) -> None:
    """Whatever the program: only one of its sizes is one more than the overlay's, by which the error must name it."""
    made = overlay()
    has = getattr(made.parameters, field)
    larger = {**has, unit: has[unit] + 1} if unit else has + 1
    refuse_misfit("program", made.parameters, made)
    with pytest.raises(tabla.TablaError) as fault:
        refuse_misfit("program", replace(made.parameters, **{field: larger}), made)
    what = f"{fit.SIZES_OF_UNITS[field].what} of {unit}" if unit else fit.SIZES[field].what
    held = has[unit] if unit else has
    assert f"'program' needs {held + 1:,} {what}, the overlay has {held:,}" in str(fault.value)
    option = (fit.SIZES_OF_UNITS[field] if unit else fit.SIZES[field]).option
    assert (f"{option} {held + 1}" if option else "use another array") in (fault.value.hint or "")


def changed(image: Image, number: str, by: int) -> Image:
    """The image with another value of one of its numbers."""
    command, _, kind = number.rpartition(".")
    match command, kind:
        case (("run" | "dump"), ("pause" | "drain")):
            entry = getattr(image, command)
            field = {"pause": "period", "drain": "drain"}[kind]
            return replace(image, **{command: replace(entry, **{field: getattr(entry, field) + by})})
        case (("run" | "load"), "beats"):
            stream = getattr(image, f"stream_{command}")
            return replace(image, **{f"stream_{command}": replace(stream, beats=stream.beats + by)})
        case "release", "wait":
            return replace(image, release=image.release + by)
        case _:
            unit, _, name = command.partition(".")
            entry = getattr(image, name)
            return replace(image, **{name: replace(entry, skew={**entry.skew, unit: entry.skew[unit] + by})})


COUNTED = (
    *(f"{command}.{kind}" for command in ("run", "dump") for kind in ("pause", "drain")),
    *("run.beats", "load.beats", "release.wait"),
    *(f"{unit}.run.wait" for unit in ("lane_issue", "lane_write", "root_issue", "root_write")),
    *(f"{unit}.dump.wait" for unit in ("lane_issue", "root_issue", "root_write")),
)
UNCOUNTED = ("lane_write.dump.wait",)
"""No lane writes anything in a dump."""


@pytest.mark.parametrize("number", COUNTED)
def test_a_register_of_cycles_holds_its_greatest_value_and_not_one_more(number: str) -> None:
    made = overlay(tokens=64)
    image = encoded(made)
    width, signed = timing_widths(made)[number]
    most = (1 << (width - signed)) - 1
    full = changed(image, number, most - timing_numbers(image)[number])
    assert timing_numbers(full)[number] == most
    refuse_numbers("logistic", full, made)
    with pytest.raises(tabla.TablaError) as fault:
        refuse_numbers("logistic", changed(full, number, 1), made)
    assert f"'logistic' needs {most + 1:,} cycles ({number}), the overlay counts to {most:,}" in str(fault.value)
    assert f"--cycles {made.room.cycles + 1}" in (fault.value.hint or "")


def test_no_other_register_counts_cycles() -> None:
    kinds = ("pause", "drain", "beats", "wait")
    assert {name for name in timing_widths(overlay()) if name.endswith(kinds)} == {*COUNTED, *UNCOUNTED}


def test_models_with_guard_bits_are_refused() -> None:
    made = overlay()
    with pytest.raises(tabla.TablaError, match="'x' needs models with 3 guard bits, the overlay has none"):
        refuse_misfit("x", replace(made.parameters, model_guard=3), made)


def test_scattered_writes_are_refused() -> None:
    """The word of an overlay has no bit for them, so the program would write somewhere else."""
    made, schedule = overlay(), built().schedule
    encode(schedule, made)
    with pytest.raises(tabla.TablaError, match="'logistic' writes to rows that a sample names, and an overlay does"):
        encode(scattering(schedule), made)


@pytest.mark.parametrize(
    ("changes", "text", "cure"),
    [
        ({"functions": ("tanh",)}, "needs the function sigmoid, the overlay has tanh", "--functions tanh,sigmoid"),
        ({"shifts": (0, 4)}, "needs sums at place 5, the overlay has the places 0,4", "--shifts=0,4,5"),
        ({"cycles": 4}, "bits for the cycle of a strand, the overlay has 4", "--cycles 5"),
        ({"cycles": 5}, "needs 32 cycles (lane_write.run.wait), the overlay counts to 31", "--cycles 6"),
        ({"model_words": 1, "levels": 1}, "needs 3 model words a lane", "it also needs 2 loop levels"),
    ],
)
def test_what_is_missing_is_named(changes: dict[str, object], text: str, cure: str) -> None:
    with pytest.raises(tabla.TablaError) as fault:
        encoded(overlay(**changes))
    assert text in str(fault.value)
    assert cure in (fault.value.hint or "")


def test_longer_sums_than_the_accumulators_hold_are_refused() -> None:
    made = overlay()
    needed = replace(made.parameters, accumulator=made.parameters.accumulator + 2)
    with pytest.raises(tabla.TablaError) as fault:
        refuse_misfit("x", needed, made)
    assert f"needs accumulators of {needed.accumulator} bits, the overlay has" in str(fault.value)
    assert "--terms 20" in (fault.value.hint or "")


def test_a_program_has_as_many_places_as_its_operations_number_and_not_one_more() -> None:
    made = overlay(shifts=tuple(range(17)))
    shifts = made.parameters.shifts
    refuse_misfit("x", replace(made.parameters, shifts=shifts[:PROGRAM_SHIFTS]), made)
    with pytest.raises(tabla.TablaError, match="'x' needs 17 places of sums, and a program on an overlay has 16"):
        refuse_misfit("x", replace(made.parameters, shifts=shifts), made)


def test_the_hint_names_no_more_places_than_an_overlay_can_have() -> None:
    made = overlay(shifts=tuple(range(MOST_PLACES)))
    with pytest.raises(tabla.TablaError) as fault:
        refuse_misfit("x", replace(made.parameters, shifts=(10, 50)), made)
    assert "needs sums at place 40" in str(fault.value)
    assert "--shifts=0,40, or use larger constants" in (fault.value.hint or "")


@pytest.mark.parametrize(("integer", "fraction"), [(2, 6), (4, 12), (6, 10), (8, 16), (16, 16)])
def test_an_overlay_has_the_places_of_all_constants_from_2_to_the_minus_11(integer: int, fraction: int) -> None:
    """The place is the greatest at which the nearest word of the constant is below 2^(W - 1), as decision 22 says."""
    array = replace(ARRAY, integer_bits=integer, fraction_bits=fraction)
    made = overlay_of(array, replace(least(), shifts=(), functions=()))
    width = integer + fraction
    least_constant = Fraction(1, 1 << 11)
    place = max(p for p in range(2 * width) if least_constant * (1 << p) + Fraction(1, 2) < 1 << (width - 1))
    assert made.parameters.shifts == tuple(range(fraction, place + 1))
    assert made.room.shifts == tuple(range(place + 1 - fraction))


def test_the_widest_sum_is_counted_statement_by_statement(tmp_path: Path) -> None:
    """A long sum of products and a word that starts a sum at place 21 are in two statements, which do not multiply.
    In hardware of its own the accumulators have room for 300 words at that place.
    """
    text = "def two(float(N) x, float(N) w) -> (s, t) {\n  s +=! x(n) * w(n)\n  t(n) = x(n) + 0.01 * w(n)\n}\n"
    (tmp_path / "two.tc").write_text(text)
    build = tabla.compile(tmp_path / "two.tc", pes=2, sequencers=1, stream_words=1, sizes={"N": 300})
    products, started = 301 << 30, (2 << 30) + (1 << 15 + 21) + (1 << 20)
    assert widest_sum(build.schedule) == max(products, started).bit_length() + 1 == 40
    assert build.image.parameters.accumulator == (301 << 15 + 21).bit_length() + 1
    assert least_image(build.schedule).parameters.accumulator == 40


def test_steps_that_the_buffer_of_the_bus_does_not_hold_are_refused() -> None:
    words = built().image.stream_run.beats
    for room, fits in ((words, True), (words - 1, False)):
        made = replace(overlay(), bus=OverlayBus(bits=32, step_words=room))
        if fits:
            assert encoded(made)
            continue
        with pytest.raises(tabla.TablaError, match=f"needs {words} words of a step, the overlay has {room}") as fault:
            encoded(made)
        assert fault.value.hint == f"build the overlay with --step-words {words}"


@pytest.mark.parametrize(
    ("program", "feature", "other"), [("svm", "comparisons", "extremes"), ("largest.tc", "extremes", "comparisons")]
)
def test_a_feature_that_the_overlay_lacks_is_named(program: str, feature: str, other: str, tmp_path: Path) -> None:
    if program.endswith(".tc"):
        (tmp_path / program).write_text("def largest(float(N) x) -> (y) {\n  y max=! x(n)\n}\n")
        build = tabla.compile(tmp_path / program, pes=2, sequencers=1, stream_words=1, sizes={"N": 5})
    else:
        build = built(program)
    room = least_room([least_image(build.schedule)])
    assert room.features == (feature,)
    assert encode(build.schedule, overlay_of(ARRAY, room))
    for features, there in (((), "none"), ((other,), other)):
        with pytest.raises(tabla.TablaError) as fault:
            encode(build.schedule, overlay_of(ARRAY, replace(room, features=features)))
        assert f"needs {feature}, the overlay has {there}" in str(fault.value)
        assert fault.value.hint == f"build the overlay with --features {','.join([*features, feature])}"


def test_overlays_with_other_features_are_others() -> None:
    made = [overlay(features=features) for features in ((), ("extremes",), ("comparisons",), tuple(FEATURES))]
    assert len({one.fingerprint for one in made}) == 4
    assert [about_overlay(one)["features"] for one in made] == [0, 1, 2, 3]
    assert overlay(features=("comparisons", "extremes")).fingerprint == made[-1].fingerprint


def test_the_least_room_is_found() -> None:
    """All but the terms, which only widen the accumulators, and the cycles, of which the least is searched here."""
    found = least_room([least_image(built().schedule)])
    assert replace(found, terms=5, cycles=8) == least()
    assert encoded(overlay(cycles=found.cycles, terms=found.terms))
    for one_less in ({"cycles": found.cycles - 1}, {"terms": found.terms // 2}):
        if all(one_less.values()):
            with pytest.raises(tabla.TablaError):
                encoded(overlay(**{"cycles": found.cycles, "terms": found.terms, **one_less}))


@pytest.mark.parametrize("sequencers", [1, 2])
def test_every_number_of_a_program_has_a_register(sequencers: int) -> None:
    made = overlay_of(replace(ARRAY, sequencers=sequencers), default_room())
    image = encoded(overlay())
    if sequencers == 1:
        assert program_numbers(image, overlay()).keys() == timing_widths(made).keys()
    layout = timing_layout(made)
    taken = sorted((f.offset, f.offset + f.width) for f in layout.fields.values())
    assert [end for _, end in taken[:-1]] == [begin for begin, _ in taken[1:]]
    assert taken[-1][1] == layout.width


def test_the_word_of_timing_holds_the_numbers() -> None:
    numbers, made = program_numbers(encoded(overlay()), overlay()), overlay()
    word, widths = timing_word(numbers, made), timing_widths(made)
    for name, place in timing_layout(made).fields.items():
        value = place.extract(word)
        width, signed = widths[name]
        assert (value - (value >> (width - 1) << width) if signed else value) == numbers[name], name


def test_the_words_of_the_port_end_with_their_crc() -> None:
    words = program_words(encoded(overlay()), overlay())
    assert words[-1] == checksum(words[:-1])
    assert words[1] == overlay().fingerprint


def test_overlays_with_other_limits_have_other_fingerprints() -> None:
    marks = {overlay(**{name: getattr(least(), name) + 1}).fingerprint for _, name, _ in LIMITS}
    assert len(marks | {overlay().fingerprint}) == len(LIMITS) + 1


@pytest.mark.parametrize("place", [-11, 65, 100_000])
def test_places_that_no_sum_has_are_refused(place: int) -> None:
    """The format has 10 fraction bits. A large place would make accumulators of as many bits."""
    with pytest.raises(tabla.TablaError, match=f"q6.10 has no sums at place {place}"):
        overlay(shifts=(0, place))
    assert overlay(shifts=(0, -10, 64)).parameters.shifts == (10, 0, 74)


@cache
def content() -> bytes:
    return image_file(encoded(overlay()), overlay(), {"cycles": 9}, b"layout")


def test_an_image_is_read_back() -> None:
    found = read_image(content(), "x.image")
    image = found.image(overlay())
    assert image == encoded(overlay())
    assert list(found.words) == program_words(image, overlay())
    assert (found.name, found.manifest, found.layout) == ("logistic", {"cycles": 9}, b"layout")


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_an_image_with_a_flipped_bit_is_refused(data: st.DataObject) -> None:
    place, bit = data.draw(st.integers(0, len(content()) - 1)), data.draw(st.integers(0, 7))
    wrong = bytearray(content())
    wrong[place] ^= 1 << bit
    with pytest.raises(tabla.TablaError, match=r"damaged|cut short|no image"):
        read_image(bytes(wrong), "x.image")


@pytest.mark.parametrize("length", [0, 7, 20, -1])
def test_an_image_that_is_cut_is_refused(length: int) -> None:
    with pytest.raises(tabla.TablaError, match=r"cut short|no image"):
        read_image(content()[:length], "x.image")


NUMBERED = struct.pack("<I", overlay().fingerprint)
"""What stands before the number of sections."""


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (b"INFO", b"info", "not an image that tabla load wrote"),
        (b'"manifest":', b'"Manifest":', "damaged in its section INFO"),
        (
            NUMBERED + struct.pack("<I", 3),
            NUMBERED + struct.pack("<I", 9),
            "not an image that tabla load wrote|damaged in its section",
        ),
    ],
)
def test_an_image_of_another_program_is_refused(old: bytes, new: bytes, complaint: str) -> None:
    """The sum of the whole is right, and what is inside is not."""
    wrong = content()[:-4].replace(old, new, 1)
    with pytest.raises(tabla.TablaError, match=complaint):
        read_image(wrong + struct.pack("<I", zlib.crc32(wrong)), "x.image")


@pytest.mark.parametrize("wrong", [{}, {"parameters": []}, {"parameters": {"name": "x", "shifts": 3, "ring_slots": 2}}])
def test_numbers_of_another_program_are_refused(wrong: dict[str, object]) -> None:
    found = replace(read_image(content(), "x.image"), content=wrong)
    with pytest.raises(tabla.TablaError, match="not those of an image"):
        found.image(overlay())


def test_an_image_for_another_overlay_is_refused() -> None:
    with pytest.raises(tabla.TablaError, match="is for the overlay"):
        read_image(content(), "x.image").image(overlay(strands=least().strands + 1))
