"""What is taken of a unit: how far a new interval must move, against looking at every interval."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tabla.schedule.placing.blocked_cycles import BlockedCycles
from tabla.schedule.placing.dependences import Dependences
from tabla.schedule.placing.list_scheduler import Order
from tabla.schedule.placing.modulo_scheduler import _ModuloReservations, _Work, fits_into
from tabla.schedule.placing.reservations import Reservations
from tabla.schedule.strands.strand import Operation, Strand
from tabla.schedule.strands.tasks import Task

INTERVALS = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 6)), max_size=12)


@given(wanted=INTERVALS, begin=st.integers(-3, 70), length=st.integers(1, 20))
def test_the_first_in_the_way_is_cleared(wanted: list[tuple[int, int]], begin: int, length: int) -> None:
    reserved, taken = Reservations(), []
    for start, size in wanted:
        if reserved.push("root_issue", start, start + size) == 0:
            reserved.take("root_issue", start, start + size)
            taken.append((start, start + size))
    end = begin + length
    ends = [e - begin for b, e in sorted(taken) if b < end and begin < e]
    assert reserved.push("root_issue", begin, end) == (ends[0] if ends else 0)
    assert reserved.push("root_write", begin, end) == 0


@given(wanted=INTERVALS, begin=st.integers(-3, 70), length=st.integers(1, 20))
def test_no_smaller_pull_clears_what_is_in_the_way(wanted: list[tuple[int, int]], begin: int, length: int) -> None:
    """Going on by pulls finds the latest free place that is no later, as trying every cycle does."""
    reserved, taken = Reservations(), []
    for start, size in wanted:
        if reserved.push("root_issue", start, start + size) == 0:
            reserved.take("root_issue", start, start + size)
            taken.append((start, start + size))
    place, tries = begin, 0
    while pull := reserved.pull("root_issue", place, place + length):
        place, tries = place - pull, tries + 1
    free = (at for at in range(begin, -30, -1) if all(e <= at or at + length <= b for b, e in taken))
    assert place == next(free)
    assert tries <= len(taken)


def test_a_task_that_is_in_its_own_way_has_no_place_in_an_interval() -> None:
    """Two strands on one unit, three cycles each, begin eight cycles apart."""
    body = (Operation(fields={}),)
    strands = tuple(Strand(unit="root_issue", start=start, body=body, counts=(3,)) for start in (2, 10))
    task = Task(name="two", strands=strands)
    taken = {period: {(start + n) % period for start in (2, 10) for n in range(3)} for period in range(3, 16)}
    free = {period for period, cycles in taken.items() if len(cycles) == 6}
    assert {period for period in taken if fits_into(task, period, 1)} == free


@given(
    period=st.integers(1, 20),
    kept=st.lists(st.tuples(st.integers(-40, 40), st.integers(0, 24)), max_size=6),
    start=st.integers(-30, 60),
)
def test_the_first_free_cycle_is_in_no_turn_of_an_interval(
    period: int, kept: list[tuple[int, int]], start: int
) -> None:
    intervals = [(first, first + more) for first, more in kept]
    blocked = BlockedCycles.of(intervals, period)
    one_by_one = BlockedCycles.of((), period)
    for interval in intervals:
        one_by_one = one_by_one.and_also(*interval)
    assert one_by_one == blocked
    taken = {(first + n) % period for first, more in kept for n in range(more + 1)}
    free = next((cycle for cycle in range(start, start + period) if cycle % period not in taken), None)
    assert blocked.first_free(start) == free
    assert blocked.free(start) == (start % period not in taken)


@given(
    period=st.integers(1, 24),
    drawn=st.lists(
        st.tuples(
            st.sampled_from(["root_issue", "root_write", "lane_issue"]),
            st.integers(1, 4),
            st.none() | st.tuples(st.integers(0, 5), st.integers(0, 3)),
            st.none() | st.tuples(st.integers(0, 5), st.integers(0, 3)),
            st.integers(0, 60),
        ),
        min_size=1,
        max_size=6,
    ),
)
def test_a_task_is_blocked_by_every_turn_of_what_is_taken(
    period: int, drawn: list[tuple[str, int, tuple[int, int] | None, tuple[int, int] | None, int]]
) -> None:
    """Every task is asked, then placed. What the last answer was must not be told again after something is taken."""
    body = (Operation(fields={}),)
    tasks = [
        Task(
            name="drawn",
            strands=(Strand(unit=unit, start=1, body=body, counts=(turns,)),),
            bus=None if bus is None else (bus[0], sum(bus)),
            function=None if function is None else (function[0], sum(function)),
        )
        for unit, turns, bus, function, _ in drawn
    ]
    dependences = Dependences.of(tasks, frozenset())
    order = Order(tasks=tuple(tasks), dependences=dependences, sequence=tuple(range(len(tasks))))
    reserved = _ModuloReservations(work=_Work.of(order, 1), period=period)
    taken = set[tuple[str, int]]()
    for task, (*_, start) in zip(tasks, drawn, strict=True):
        wanted = [(name, cycle) for name, begin, end in task.taken(1) for cycle in range(begin, end)]
        for at in range(period):
            met = any((name, (cycle + at) % period) in taken for name, cycle in wanted)
            assert reserved.blocked(task).free(at) != met
        reserved.take_task(task, start)
        taken |= {(name, (cycle + start) % period) for name, cycle in wanted}
        met = any((name, (cycle + start) % period) in taken for name, cycle in wanted)
        assert reserved.blocked(task).free(start % period) != met
