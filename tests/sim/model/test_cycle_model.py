"""The cycle model against plain integers and against the law's own cycles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.program.image import Image
from tabla.sim.machine import RunResult
from tabla.sim.model.cycle_model import CycleModel
from tabla.sim.model.faults import MachineFault
from tests.sim.hand_assembler import Nest, Op, assemble, lane, lane_write, parameters, root, root_write, stream, table
from tests.sim.hand_images import linear, rounded, rows


@pytest.mark.parametrize("pes", [1, 2, 3, 4, 8])
@pytest.mark.parametrize(
    "build", [{}, {"large": 15}, {"width": 8, "fraction": 4, "large": 5}, {"width": 32, "fraction": 16, "large": 30}]
)
def test_linear_regression_learns_the_same_words(pes: int, build: dict[str, int]) -> None:
    case = linear(pes, samples=7, **build)
    machine = CycleModel(case.image)
    machine.load(case.load)
    result = machine.run(case.beats, case.samples)
    assert result.outputs == case.outputs
    assert machine.dump(case.dump) == case.models


def test_groups_of_lanes_add_a_tree_register_each() -> None:
    flat, grouped = linear(6, pes_per_pu=6), linear(6, pes_per_pu=3)
    assert flat.outputs == grouped.outputs
    shape = grouped.image.parameters
    assert CycleModel(flat.image).path.tree_cycles == 3
    assert CycleModel(replace(grouped.image, parameters=shape)).path.tree_cycles == 2 + 1


def _program(run: dict[str, list[Nest]], *, pes: int = 2, **more: int) -> tuple[Image, RunResult]:
    """Run one sample.

    Word 0 of lane l's data is l + 1, of its model 10 * (l + 1); of the root's data 5, of its memory 7.
    """
    shape = parameters(pes, fraction=4, **more)
    width = shape.stream_words
    blocks = -(-pes // width)
    image = assemble(
        shape,
        run,
        period=200,
        load=[
            Nest(counts=(blocks,), body=[stream(to_model=1, block=(0, 1))]),
            Nest(body=[stream(to_root_memory=1)]),
        ],
        samples=[
            Nest(counts=(blocks,), body=[stream(to_data=1, block=(0, 1), windows=("address",))]),
            Nest(body=[stream(to_root_data=1)]),
        ],
        data_window=4,
    )
    machine = CycleModel(image)
    machine.load([*rows([10 * (k + 1) for k in range(pes)], pes, width), [7] * width])
    return image, machine.run([*rows([k + 1 for k in range(pes)], pes, width), [5] * width], 1)


def _out(start: int, source: str = "result") -> dict[str, list[Nest]]:
    return {"root_write": [Nest(start=start, body=[root_write(source=source, to_output=1)])]}


def _only_cycle(build: object, low: int, high: int) -> list[int]:
    """Delays in [low, high) for which the program runs without a fault."""
    good = []
    for delay in range(low, high):
        try:
            build(delay)  # type: ignore[operator]
        except MachineFault:
            continue
        good.append(delay)
    return good


def test_a_root_result_is_there_seven_cycles_after_its_issue() -> None:
    def build(delay: int) -> None:
        _program({"root_issue": [Nest(start=3, body=[root(c="memory", base="addend")])], **_out(3 + delay)})

    assert _only_cycle(build, 4, 12) == [7]


def test_a_root_result_is_forwarded_to_an_issue_five_cycles_later() -> None:
    def build(delay: int) -> None:
        first = root(c="memory", base="addend")
        second = root(c="result", base="addend")
        issues = [Nest(start=3, body=[first]), Nest(start=3 + delay, body=[second])]
        _program({"root_issue": issues, **_out(3 + delay + 7)})

    assert _only_cycle(build, 2, 9) == [5]


@pytest.mark.parametrize("register", ["result", "function"])
def test_a_late_addend_is_there_for_an_issue_a_cycle_earlier(register: str) -> None:
    root_of = table("sqrt", parameters(2, fraction=4))
    first = root(c="memory", base="addend", function=root_of.code)
    expected, word = {"result": (4, 7), "function": (4 + root_of.latency, 11)}[register]  # sqrt(7/16) * 16, rounded

    def build(delay: int) -> list[int]:
        second = root(c=f"late_{register}", base="addend", a="data", b="one", negate=1, shift=1)
        issues = [Nest(start=3, body=[first]), Nest(start=3 + delay, body=[second])]
        _, result = _program(
            {"root_issue": issues, **_out(3 + delay + 7)},
            functions=(root_of,),  # type: ignore[arg-type]
        )
        return result.outputs

    assert _only_cycle(build, 2, 20) == [expected]
    assert build(expected) == [word - 5]


@pytest.mark.parametrize(("pes", "group", "tree"), [(1, 1, 0), (2, 2, 1), (3, 3, 2), (4, 2, 2), (6, 3, 3), (8, 8, 3)])
def test_the_tree_shows_a_sum_one_cycle_and_its_registers_after_the_issue(pes: int, group: int, tree: int) -> None:
    def build(delay: int) -> None:
        sums = Nest(start=3, counts=(2,), reduce=1, body=[lane(a="data", b="one", shift=1)])
        ask = Nest(start=4 + delay, body=[root(base="tree", shift=1)])
        _, result = _program(
            {"lane_issue": [sums], "root_issue": [ask], **_out(4 + delay + 7)}, pes=pes, pes_per_pu=group
        )
        assert result.outputs == [2 * sum(range(pes + 1))]

    # A finished sum stays on the tree until the lanes accumulate again, so later is fine, earlier is not.
    assert _only_cycle(build, 0, 8)[0] == 1 + tree


def test_the_bus_reaches_a_lane_issue_after_eight_cycles_and_a_write_after_ten() -> None:
    def issue(delay: int) -> None:
        send = Nest(start=3, body=[root(c="memory", base="addend")])
        take = Nest(start=3 + delay, body=[lane(base="addend", c="bus")])
        _program(
            {"root_issue": [send], "root_write": [Nest(start=10, body=[root_write(to_bus=1)])], "lane_issue": [take]}
        )

    def write(delay: int) -> None:
        send = Nest(start=3, body=[root(c="memory", base="addend")])
        put = Nest(start=3 + delay, body=[lane_write(source="bus", to_interim=1)])
        _program(
            {"root_issue": [send], "root_write": [Nest(start=10, body=[root_write(to_bus=1)])], "lane_write": [put]}
        )

    assert _only_cycle(issue, 5, 12)[0] == 8
    assert _only_cycle(write, 5, 14)[0] == 10


def test_a_written_word_can_be_read_by_the_next_cycle() -> None:
    def build(delay: int) -> None:
        issues = [
            Nest(start=0, body=[lane(base="addend", c="model")]),
            Nest(start=7 + delay, body=[lane(a="interim", b="one", shift=1)]),
        ]
        write = Nest(start=7, body=[lane_write(to_interim=1)])
        ask = Nest(start=7 + delay + 2, body=[root(base="tree", shift=1)])
        _, result = _program(
            {"lane_issue": issues, "lane_write": [write], "root_issue": [ask], **_out(7 + delay + 2 + 7)}
        )
        assert result.outputs == [30]

    assert _only_cycle(build, -1, 3) == [1, 2]


def test_output_words_leave_three_cycles_after_their_write() -> None:
    nests = {"root_issue": [Nest(start=3, counts=(2,), body=[root(c="memory", base="addend")])]}
    write = {"root_write": [Nest(start=10, counts=(2,), body=[root_write(to_output=1)])]}
    _, result = _program(nests | write)
    front = 12
    assert [leave - result.starts[0] - front for leave in result.leaves] == [13, 14]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"a": "data", "b": "model"}, [10, 40]),
        ({"a": "data", "b": "model", "negate": 1}, [-10, -40]),
        ({"a": "data", "b": "model", "shift": 3}, [5, 20]),
        ({"a": "data", "b": "data", "shift": 3}, [0, 2]),
        ({"a": "data", "b": "data", "shift": 3, "half": "all"}, [1, 2]),
        ({"a": "data", "b": "data", "shift": 3, "half": "lane0"}, [1, 2]),
        ({"a": "data", "b": "data", "shift": 3, "half": "all", "negate": 1}, [0, -2]),
        ({"a": "zero", "base": "addend", "c": "model"}, [10, 20]),
        ({"a": "data", "b": "model", "base": "addend", "c": "model"}, [20, 60]),
        ({"a": "data", "b": "model", "base": "addend", "c": "model", "shift": 3}, [15, 40]),
        ({"a": "data", "b": "one", "shift": 1}, [1, 2]),
        ({"a": "data", "b": "one", "base": "addend", "c": "model", "post": "<", "shift": 1, "negate": 1}, [0, 0]),
        ({"a": "model", "b": "one", "base": "addend", "c": "data", "post": "<", "shift": 1, "negate": 1}, [16, 16]),
        ({"a": "model", "b": "one", "base": "addend", "c": "model", "post": "==", "shift": 1, "negate": 1}, [16, 16]),
        ({"a": "model", "b": "one", "base": "addend", "c": "model", "post": "!=", "shift": 1, "negate": 1}, [0, 0]),
        ({"a": "model", "b": "one", "base": "addend", "c": "data", "post": ">", "shift": 1}, [16, 16]),
        ({"a": "zero", "post": ">="}, [16, 16]),
        ({"a": "zero", "post": "<="}, [16, 16]),
        ({"a": "model", "b": "data", "low": (1,)}, [0, 40]),
        ({"a": "model", "b": "data", "base": "addend", "c": "data", "high": (1,)}, [11, 2]),
        ({"a": "model", "b": "data", "low": (-3,), "high": (1,)}, [10, 0]),
        ({"a": "model", "b": "data", "low": (2,), "high": (1,)}, [0, 0]),
    ],
)
def test_lane_operations(fields: dict[str, object], expected: list[int]) -> None:
    got = []
    for place in range(2):
        issues = [
            Nest(body=[lane(**fields)]),  # type: ignore[arg-type]
            Nest(start=20, body=[lane(a="interim", b="one", shift=1, low=(place,), high=(place + 1,))]),
        ]
        _, result = _program(
            {
                "lane_issue": issues,
                "lane_write": [Nest(start=7, body=[lane_write(to_interim=1)])],
                "root_issue": [Nest(start=22, body=[root(base="tree", shift=1)])],
                **_out(29),
            }
        )
        got += result.outputs
    assert got == expected


ROOT = [
    ({"a": "data", "b": "memory"}, 35),
    ({"a": "data", "b": "memory", "negate": 1, "half": "all", "shift": 3}, -17),
    ({"a": "data", "b": "one", "base": "addend", "c": "memory", "shift": 1, "negate": 1}, 2),
    ({"a": "data", "b": "one", "base": "addend", "c": "memory", "shift": 1, "negate": 1, "post": ">"}, 16),
    ({"a": "zero", "base": "addend", "c": "data", "post": "<"}, 0),
]


@pytest.mark.parametrize(("fields", "expected"), ROOT)
def test_root_operations(fields: dict[str, object], expected: int) -> None:
    _, result = _program({"root_issue": [Nest(body=[root(**fields)])], **_out(7)})  # type: ignore[arg-type]
    assert result.outputs == [expected]


def test_gates_and_inner_reductions() -> None:
    # Three passes of two: the product counts in the first pass of the inner loop only.
    body: list[Op] = [lane(a="data", b="model", gate=1)]
    _, result = _program(
        {
            "lane_issue": [Nest(counts=(2, 3), reduce=2, body=body)],
            "root_issue": [Nest(start=7, body=[root(base="tree")])],
            **_out(14),
        }
    )
    assert result.outputs == [3 * (10 + 40)]


def test_slots_of_a_body_and_intervals_interleave_units() -> None:
    # Slot 0 sums into the root's memory, slot 1 sends it out; the interval leaves room to forward.
    body = [root(c="memory", base="addend"), root(a="result", b="data", base="zero")]
    nests = {
        "root_issue": [Nest(counts=(3,), interval=5, body=body)],
        "root_write": [Nest(start=7 + 5, counts=(3,), interval=10, body=[root_write(to_output=1)])],
    }
    _, result = _program(nests)
    assert result.outputs == [35, 35, 35]


def test_counters_count_cycles_of_lanes_and_events_of_the_root() -> None:
    # In 8 bits 10 * 10 fits, 20 * 20 does not; 7 * 7 fits, 7 * 7 + 98 does not.
    square = lane(a="model", b="model", emit=1)
    one = root(a="memory", b="memory", emit=1)
    twice = root(a="memory", b="memory", emit=1)
    _, result = _program(
        {
            "lane_issue": [Nest(counts=(3,), body=[square])],
            "root_issue": [Nest(body=[one]), Nest(start=1, counts=(3,), reduce=1, body=[twice])],
            **_out(10),
        },
        width=8,
    )
    assert (result.counters.lane_overflows, result.counters.root_overflows) == (3, 1)
    assert result.outputs == [127]


@pytest.mark.parametrize(
    ("issue", "overflows"),
    [
        ({"emit": 1}, 1),
        ({"emit": 0}, 0),
        ({"emit": 1, "low": (1,)}, 1),
        ({"emit": 1, "high": (1,)}, 0),
        ({"emit": 1, "post": ">"}, 0),
    ],
)
def test_overflows_count_on_last_in_active_lanes_and_when_emitted(issue: dict[str, object], overflows: int) -> None:
    # Lane 0 sums up to 4 * 100, which fits ten bits; lane 1 to 4 * 400, too much from the second product on.
    big = Nest(counts=(4,), reduce=1, body=[lane(a="model", b="model", **issue)])  # type: ignore[arg-type]
    inactive = Nest(start=9, body=[lane(base="accumulator", emit=1, high=(0,))])
    _, result = _program({"lane_issue": [big, inactive]}, width=10)
    assert result.counters.lane_overflows == overflows


@pytest.mark.parametrize(("emit", "overflows"), [(0, 0), (1, 1)])
def test_the_root_counts_once_and_only_when_asked(emit: int, overflows: int) -> None:
    square = Nest(counts=(3,), reduce=1, body=[root(a="memory", b="memory", emit=emit)])
    _, result = _program({"root_issue": [square], **_out(9)}, width=8)
    assert (result.counters.root_overflows, result.outputs) == (overflows, [127])


def test_half_on_a_tree_word_and_functions_on_last_only() -> None:
    for passes, rounded_sum in ((1, 0), (4, 1)):  # 48 / 256 and 192 / 256
        sums = Nest(counts=(passes,), reduce=1, body=[lane(a="data", b="one", shift=1)])
        ask = Nest(start=passes + 1, body=[root(base="tree", half="all", shift=2)])
        _, result = _program({"lane_issue": [sums], "root_issue": [ask], **_out(passes + 8)})
        assert result.outputs == [rounded_sum]

    build = parameters(2, fraction=4)
    entry = table("sqrt", build)
    summed = Nest(counts=(2,), reduce=1, body=[root(a="memory", b="one", shift=1, function=entry.code)])
    _, result = _program(
        {"root_issue": [summed], **_out(1 + 7 + entry.latency, "function")},
        functions=(entry,),  # type: ignore[arg-type]
    )
    assert result.outputs == [15]  # sqrt(14/16) * 16, rounded
    with pytest.raises(MachineFault, match="function register"):
        _program(
            {"root_issue": [summed], **_out(7 + entry.latency, "function")},
            functions=(entry,),  # type: ignore[arg-type]
        )


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_generators_add_deltas_as_strides(data: st.DataObject) -> None:
    from tabla.sim.model.trace import counters, sample_trace

    counts = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    strides = tuple(data.draw(st.lists(st.integers(-9, 9), min_size=len(counts), max_size=len(counts))))
    base = data.draw(st.integers(0, 31))
    nest = Nest(counts=counts, body=[lane(model=(base, *strides), low=(base - 40, *strides))])
    image = assemble(parameters(2), {"lane_issue": [nest]}, period=100)
    issues = sample_trace(image, image.run)
    loop = np.array(np.unravel_index(np.arange(len(issues)), tuple(reversed(counts))))[::-1].T
    assert (counters(counts) == loop).all()
    for issue, places in zip(issues, loop, strict=True):
        moved = int(np.dot(places, strides))
        assert issue.values["model"] == (base + moved) % 32
        assert issue.values["low"] == base - 40 + moved


def test_rounding_is_half_up() -> None:
    assert [rounded(n, 1, 8) for n in (-3, -2, -1, 0, 1, 2, 3, 300)] == [-1, -1, 0, 0, 1, 1, 2, 127]
