"""The two lane units of the cycle model, which issue and which write.

Each kind of operation becomes one closure over the datapath. A closure takes the cycle, the sample and the addresses,
so that all issues that differ in nothing else share one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tabla.sim.model.datapath import Datapath, LaneResult, Lanes, Sample
from tabla.sim.model.faults import MachineFault
from tabla.sim.model.trace import Issue

Run = Callable[[int, Sample, tuple[int, ...]], None]
Fetch = Callable[[int, Sample, tuple[int, ...]], "Lanes | int"]

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    ">": operator.gt,
}
LANE_MEMORIES = ("model", "data", "interim")


def active_lanes(issue: Issue, path: Datapath) -> tuple[int, int]:
    """Return the lanes [low, high) of the issue's sequencer that are active; (0, 0) when none is."""
    begin, end = path.lanes_of(issue.sequencer)
    low, high = max(begin, issue.values["low"]), min(end, issue.values["high"])
    return (low, high) if low < high else (0, 0)


def _own_lanes(issue: Issue, path: Datapath) -> tuple[int, int]:
    """Return the same range counted from the first lane of the sequencer."""
    begin, _ = path.lanes_of(issue.sequencer)
    low, high = active_lanes(issue, path)
    return (low - begin, high - begin) if low < high else (0, 0)


def address_with_window(issue: Issue, generator: str) -> tuple[bool, int]:
    """Return whether the offset of the sample's window is added to a generator's address, and the mask for the sum."""
    form = issue.operation.generators[generator]
    return form.window, (1 << form.bits) - 1


def _fetch(path: Datapath, issue: Issue, source: str, wide: bool = False) -> Fetch:
    if source == "zero":
        return lambda cycle, sample, at: 0
    if source == "one":
        return lambda cycle, sample, at: path.one
    if source == "bus":
        operand = path.law.operand
        return lambda cycle, sample, at: path.bus_at(cycle + operand, sample)
    rows, place = path.memories[source][:, path.columns_of(issue.sequencer)], LANE_MEMORIES.index(source)
    window, mask = address_with_window(issue, source)
    depth, drop = len(rows), path.fetched(source, wide)

    def fetch(cycle: int, sample: Sample, at: tuple[int, ...]) -> Lanes | int:
        address = (at[place] + sample.lane_window) & mask if window else at[place]
        if address >= depth:
            return path.beyond(f"{source} address {address} of {depth}, cycle {cycle}")
        row: Lanes = rows[address]
        return row >> drop if drop else row

    return fetch


def lane_issue(path: Datapath, issue: Issue) -> Run:
    """Return the closure of a lane issue; it takes the addresses in the order model, data, interim."""
    operation = issue.operation
    symbols = operation.symbols
    low, high = _own_lanes(issue, path)
    lanes, sequencer = path.lanes // path.sequencers, issue.sequencer
    where = path.active(low, high)
    full, multiplies = (low, high) == (0, lanes), issue.gate_open and low < high and symbols["a"] != "zero"
    left, right = _fetch(path, issue, symbols["a"]), _fetch(path, issue, symbols["b"])
    wide = bool(operation.numbers.get("wide", 0))
    takes_addend = issue.first and symbols["base"] == "addend"
    addend = _fetch(path, issue, symbols["c"], wide and takes_addend)
    shift = path.parameters.shifts[operation.numbers["shift"]]
    negate = bool(operation.numbers["negate"])
    post = symbols["post"]
    base = symbols["base"] if issue.first else "accumulator"
    last, emits = issue.last, bool(operation.numbers["emit"]) and issue.last
    learns = bool(operation.numbers.get("learns", 0))
    up = last and bool(operation.numbers.get("up", 1))
    shown_after, due_after = path.law.accumulated, path.law.result
    zeros: Lanes = np.zeros(path.pes // path.sequencers, dtype=path.number)
    start: Lanes | int = 0
    if shift and symbols["half"] == "all":
        start = 1 << (shift - 1)
    elif shift and symbols["half"] in ("lane0", "array0"):
        # Once in the sum that the root takes: that of each group, or that of all.
        start = zeros.copy()
        start[0 :: path.lanes if symbols["half"] == "lane0" else path.pes] = 1 << (shift - 1)
    extreme = symbols["post"] == "extreme"
    if extreme and base == "zero":
        start = start + ((path.highest if negate else path.lowest) << shift)
    plain = base == "zero" and isinstance(start, int) and start == 0
    compare = COMPARISONS.get(post)
    exact = path.number is object

    def run(cycle: int, sample: Sample, at: tuple[int, ...]) -> None:
        value: Lanes | int
        if base == "accumulator":
            previous = path.lane_results[sequencer][-1]
            if previous.sample is not sample:
                raise MachineFault(f"cycle {cycle}: lanes add to the accumulator of another sample")
            value = previous.accumulator
        elif base == "addend":
            word = addend(cycle, sample, at)
            if wide and not full:
                # Only active lanes have a wide addend, so that one of them alone can send its word up the tree.
                own: Lanes = zeros.copy()
                own[where] = word if isinstance(word, int) else word[where]
                word = own
            value = (word << shift) + start
        else:
            value = start
        if multiplies:
            product = left(cycle, sample, at) * right(cycle, sample, at)
            if extreme:
                kept: Lanes = zeros + value
                better = np.minimum if negate else np.maximum
                kept[where] = better(kept[where], product if isinstance(product, int) else product[where])
                product = kept
            else:
                if not full:
                    masked = zeros.copy()
                    masked[where] = product if isinstance(product, int) else product[where]
                    product = masked
                if not plain:
                    product = value - product if negate else value + product
                elif negate:
                    product = -product
            value = product
        accumulator: Lanes = zeros + value if isinstance(value, int) else value
        words: Lanes | None = None
        if compare is not None:
            words = np.where(compare(accumulator, 0), path.one, 0).astype(path.number)
        elif emits:
            shifted = accumulator >> shift
            words = path.clamp(shifted, wide)
            counted, exactly = words[where], shifted[where]
            unequal = (counted != exactly).any() if exact else counted.tobytes() != exactly.tobytes()
            if unequal and not (learns and path.predicting):
                path.count_lane_overflow(cycle)
        path.lane_results[sequencer].append(
            LaneResult(
                shown=cycle + shown_after,
                due=cycle + due_after,
                sample=sample,
                accumulator=accumulator,
                last=last,
                up=up,
                words=words,
                shift=shift,
                post=post,
                negate=negate,
                wide=wide and compare is None,
            )
        )

    return run


def lane_write(path: Datapath, issue: Issue) -> Run:
    """Return the closure of a lane write; it takes one address."""
    operation = issue.operation
    where, sequencer = path.active(*active_lanes(issue, path)), issue.sequencer
    own = path.active(*_own_lanes(issue, path))
    window, mask = address_with_window(issue, "address")
    from_bus = operation.symbols["source"] == "bus"
    names = [name for name in ("model", "interim") if operation.numbers[f"to_{name}"]]
    targets = [(path.memories[name], path.needed[name], [path.put(name, False), 0]) for name in names]
    updates = bool(operation.numbers["model"])

    def run(cycle: int, sample: Sample, at: tuple[int, ...]) -> None:
        if updates and path.predicting:
            return
        address = (at[0] + sample.lane_window) & mask if window else at[0]
        words: Lanes | int
        wide = False
        if from_bus:
            words = path.bus_at(cycle, sample)
            words = words if isinstance(words, int) else words[where]
        else:
            results, wide = path.lane_result_at(cycle, sample, sequencer)
            words = results[own]
        for name in names if wide else ():
            path.put(name, wide)
        for rows, has, places in targets:
            if address >= len(rows):
                raise MachineFault(f"cycle {cycle}: lanes write address {address} of a memory of {len(rows)} words")
            stored = words << places[wide]
            # A word that a lane does not have stays 0.
            rows[address, where] = stored if has is None else stored * has[address, where]
        if updates:
            path.updates.append(cycle)

    return run
