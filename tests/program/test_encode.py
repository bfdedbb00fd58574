"""Microcode: what is written can be read back; widths suit what they hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tabla.base.source import Source
from tabla.graph.format import Format
from tabla.languages.tabla import parse
from tabla.languages.tabla.lower import lower
from tabla.program.decode import decode, disassemble
from tabla.program.encode import deltas, encode, ordered_operands
from tabla.program.host import Host
from tabla.program.image import UNITS
from tabla.program.layout import Field, operation_layout
from tabla.schedule.compile import schedule_graph
from tabla.schedule.mapping.effort import EFFORTS
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.strand import Address, Strand
from tabla.sim.model.trace import decode_operation
from tabla.templates.template import template_for
from tests.draws import draws

Q6_10 = Format(integer=6, fraction=10)
LESS_SEARCH = EFFORTS[1]
"""A search that takes a quarter of the time, and finds several roots as the default does."""

TWO_LAYERS = """
mu = 0.1;
model_input x[{n}]; model_output y[3]; model w1[{h}][{n}], w2[3][{h}], b[3];
gradient g1[{h}][{n}] -> w1, g2[3][{h}] -> w2, gb[3] -> b;
iterator i[0:{n}]; iterator j[0:{h}]; iterator k[0:3];
h[j] = sigmoid(sum[i](w1[j][i] * x[i]));
o[k] = sum[j](w2[k][j] * h[j]) + b[k];
d[k] = o[k] - y[k];
gb[k] = d[k];
c[j] = sum[k](w2[k][j] * d[k]) * h[j] * (1 - h[j]);
g2[k][j] = d[k] * h[j];
g1[j][i] = c[j] * x[i];
"""


def built(n: int, h: int, pes: int) -> Schedule:
    graph = lower(parse(Source.from_text(TWO_LAYERS.format(n=n, h=h))), number_format=Q6_10)
    return schedule_graph(graph, template_for(pes), Q6_10, LESS_SEARCH)


def same_cycles(strand: Strand, other: Strand, address_bits: int) -> None:
    """Equal issue cycles, and equal values of every generator that the first one names; addresses wrap."""
    assert (strand.iterations, strand.interval, strand.reduce) == (other.iterations, other.interval, other.reduce)
    assert len(strand.body) == len(other.body)
    for mine, theirs in zip(strand.body, other.body, strict=True):
        for name, value in mine.fields.items():
            if name == "up" and name not in theirs.fields:
                continue  # an array with one sequencer has no such bit
            assert theirs.fields[name] == value, name
        for name, address in mine.addresses.items():
            mask = -1 if name in ("low", "high") else (1 << address_bits) - 1
            np.testing.assert_array_equal(strand.values(address) & mask, other.values(theirs.addresses[name]) & mask)
            assert address.window == theirs.addresses[name].window


@draws(4, 9)
@given(st.integers(1, 40), st.integers(1, 40), st.sampled_from([1, 2, 3, 8, 16]))
def test_decode_gives_back_what_was_encoded(n: int, h: int, pes: int) -> None:
    schedule = built(n, h, pes)
    image = encode(schedule)
    for unit in UNITS:
        run, skew = schedule.units[unit], image.run.skew[unit]
        dump = [s for s in schedule.dump if s.unit == unit]
        found = decode(unit, image)
        assert len(found) == len(run) + len(dump)
        wanted = [*run, *dump]
        if unit == "lane_issue":
            wanted = ordered_operands({unit: wanted})[unit]
        for strand, back in zip(wanted, found, strict=True):
            same_cycles(strand, back, image.parameters.address_bits[unit])
        assert [s.start - skew for s in run] == [s.start for s in found[: len(run)]]


@given(
    st.lists(st.tuples(st.integers(1, 5), st.integers(-50, 50)), min_size=1, max_size=4),
    st.integers(-20, 20),
)
def test_deltas_walk_the_addresses(nest: list[tuple[int, int]], base: int) -> None:
    """Adding the delta of the level that steps visits exactly the addresses of the nest."""
    counts, strides = tuple(c for c, _ in nest), tuple(s for _, s in nest)
    strand = Strand(unit="lane_issue", start=0, body=(), counts=counts)
    steps = deltas(strand, Address(base=base, strides=strides), levels=4)
    counters, at, walked = [0] * len(nest), base, [base]
    for _ in range(strand.iterations - 1):
        level = 0
        while counters[level] == tuple(reversed(counts))[level] - 1:
            counters[level] = 0
            level += 1
        counters[level] += 1
        at += steps[level]
        walked.append(at)
    assert walked == strand.values(Address(base=base, strides=strides)).tolist()


def scattering(schedule: Schedule) -> Schedule:
    """The schedule with a mark at the first write of the root. It fits the machine, whatever it computes."""
    first = next(n for n, strand in enumerate(schedule.strands) if strand.unit == "root_write")
    strand = schedule.strands[first]
    marked = replace(strand, body=(strand.body[0].with_fields(scattered=1), *strand.body[1:]))
    return replace(schedule, strands=(*schedule.strands[:first], marked, *schedule.strands[first + 1 :]))


def test_only_arrays_that_scatter_have_the_bit() -> None:
    """It lies behind the others of the writes of the root, is 0 where nothing says so, and the other units have none.

    A mark of 0 is none.
    """
    schedule = built(6, 3, 2)
    plain, image = encode(schedule), encode(scattering(schedule))
    assert not plain.parameters.scatters
    assert image.parameters.scatters
    zeros = [replace(s, body=tuple(o.with_fields(scattered=0) for o in s.body)) for s in schedule.strands]
    strands = [zero if s.unit == "root_write" else s for s, zero in zip(schedule.strands, zeros, strict=True)]
    assert encode(replace(schedule, strands=tuple(strands))) == plain
    for unit in (*image.units, "stream"):
        before, after = (operation_layout(unit, i.parameters) for i in (plain, image))
        assert image.strands[unit] == plain.strands[unit]
        if unit != "root_write":
            assert (before, plain.operations[unit]) == (after, image.operations[unit])
    before, after = (operation_layout("root_write", i.parameters) for i in (plain, image))
    bit = 1 << before.width
    assert after.fields == {**before.fields, "scattered": Field(name="scattered", offset=before.width, width=1)}
    assert [word & ~bit for word in image.operations["root_write"]] == list(plain.operations["root_write"])
    read = [decode_operation(word, "root_write", image.parameters) for word in image.operations["root_write"]]
    marks = [operation.numbers["scattered"] for operation in read]
    assert sorted(marks) == [*[0] * (len(marks) - 1), 1]
    assert marks == [o.field("scattered") for strand in decode("root_write", image) for o in strand.body]
    assert disassemble(image).count("scattered=1") == 1


def test_the_bit_lies_behind_those_of_wide_models_and_of_predictions() -> None:
    image = encode(scattering(built(6, 3, 2)))
    parameters = replace(image.parameters, model_guard=2, predicts=True, far_shift_bits=1)
    assert list(operation_layout("root_write", parameters).fields)[-2:] == ["wide", "scattered"]
    assert list(operation_layout("root_issue", parameters).fields)[-3:] == ["learns", "function_learns", "far_shift"]


def test_disassembly_names_every_strand() -> None:
    schedule = built(20, 8, 4)
    text = disassemble(encode(schedule))
    assert text.count("@") == len(schedule.strands) + len(schedule.dump) + len(schedule.stream_sample) + len(
        schedule.stream_load
    )
    assert "base=tree" in text and "b=bus" in text and "+window" in text


@draws(4, 8)
@given(st.integers(1, 30), st.integers(1, 30), st.sampled_from([1, 3, 8, 16]), st.integers(0, 99))
def test_models_survive_loading_and_dumping(n: int, h: int, pes: int, seed: int) -> None:
    """The words that the load program would place, read back as the dump program does, are the models."""
    schedule = built(n, h, pes)
    host = Host(schedule)
    random = np.random.default_rng(seed)
    models = {t.name: random.integers(-99, 99, t.shape) for t in schedule.graph.tensors.values() if t.role == "model"}
    beats = host.load_beats(models)
    roots = max(1, schedule.template.roots)
    each, width = pes // roots, schedule.stream_words
    lanes = np.zeros((max(1, schedule.depths.model), pes), dtype=np.int64)
    root = np.zeros((max(1, schedule.depths.root_memory), roots), dtype=np.int64)
    at = 0
    for strand in schedule.stream_load:
        operation = strand.body[0]
        rows = strand.values(operation.addresses["address"])
        blocks = strand.values(operation.addresses["block"])
        every, same = (bool(operation.field(name)) for name in ("all", "same"))
        for row, block in zip(rows, blocks, strict=True):
            beat = beats[at]
            at += 1
            # Word n of an address is word n mod S of the beat of block n div S (decision 3).
            for group in range(roots):
                n = 0 if same else group
                if operation.field("to_root_memory") and n // width == block:
                    root[row, group] = beat[n % width]
            for lane in range(pes):
                n = (0 if same else lane // each) if every else lane % each if same else lane
                if operation.field("to_model") and n // width == block:
                    lanes[row, lane] = beat[n % width]
    assert at == len(beats)
    words = []
    for n_token in range(host.dump_count):
        row = lanes[n_token] if n_token < len(lanes) else np.zeros(pes, dtype=np.int64)
        own = root[n_token] if n_token < len(root) else np.zeros(roots, dtype=np.int64)
        # Lane 0 of every group, lane 1 of every group, ..., every root.
        words += [*row.reshape(roots, each).T.reshape(-1).tolist(), *own.tolist()]
    for name, found in host.models(words).items():
        np.testing.assert_array_equal(found, models[name])
