"""The schedule of a mapping: strands are generated, placed by a scheduler, and given their borders and figures.

A task that begins long before its words are wanted makes the span of its unit longer than it need be. A unit does all
operations of a sample before those of the next, so the initiation interval is at least the span from its first
operation of a sample to its last. Schedulers start each task as soon as they can. Then tasks of the unit that binds the
initiation interval move to later cycles, as far as the tasks that want their words allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf

import networkx as nx

from tabla.base import progress
from tabla.base.source import TablaError
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.schedule.mapping.capacity import largest_tensor
from tabla.schedule.mapping.effort import Objective, weighed
from tabla.schedule.mapping.judge import Figures, Judge
from tabla.schedule.mapping.mapping import Mapping
from tabla.schedule.placing.block_rams import block_words, blocks, further_blocks
from tabla.schedule.placing.borders import Border
from tabla.schedule.placing.dependences import Dependences
from tabla.schedule.placing.frames import stages_of
from tabla.schedule.placing.initiation_interval import initiation_interval_of, unit_spans
from tabla.schedule.placing.list_scheduler import list_schedule
from tabla.schedule.placing.modulo_scheduler import overlapped, work_of
from tabla.schedule.placing.needed import needed
from tabla.schedule.placing.output_port import OutputPort
from tabla.schedule.placing.placed import Placed, Scheduler, all_strands
from tabla.schedule.placing.reservations import Reservations
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.placing.sharing import sharing, with_addresses_of
from tabla.schedule.placing.waits import waits_of
from tabla.schedule.strands.allocation import lay_out
from tabla.schedule.strands.builder import Builder
from tabla.schedule.strands.layout import Layout
from tabla.schedule.strands.leaving import words_per_write
from tabla.schedule.strands.regions import TooLarge
from tabla.schedule.strands.site import Site
from tabla.schedule.strands.strand import Strand
from tabla.schedule.strands.streams import dump_strands, dump_words, load_strands, sample_strands, widest
from tabla.schedule.strands.tasks import MemoryKey
from tabla.schedule.strands.uses import Uses
from tabla.templates.instructions import units_of
from tabla.templates.template import Template, limits, timing

_NEAR = 1.1
"""While mappings are judged, samples overlap only where the cycles come so near to the fewest that were found."""


def binding_unit(placed: Sequence[Placed], initiation_interval: int, sequencers: int) -> str | None:
    """Return a unit whose span is the initiation interval, from its first operation of a sample to its last;
    None without one.
    """
    spans = unit_spans(placed, sequencers)
    binding = (
        unit
        for unit in units_of(sequencers)
        if unit in spans and spans[unit][1] - spans[unit][0] == initiation_interval
    )
    return next(binding, None)


def started_late(placed: Sequence[Placed], unit: str, models: frozenset[MemoryKey], sequencers: int) -> list[Placed]:
    """Return placed tasks of which those on a unit begin as late as possible, while all other tasks stay.

    `models` are the places that updates overwrite. A task that uses the bus, sends out a result, or whose words nobody
    wants stays where it is, with all tasks that it shares words with by way of a register.
    """
    moved = dict(enumerate(placed))
    groups = _groups(placed)
    ours = {n for n, p in moved.items() if any(unit in s.units(sequencers) for s in p.task.strands)}
    free = [group for group in groups if group & ours and all(_may_move(placed[n]) for n in group)]
    if not any(min(ours, key=lambda n: placed[n].start) in group for group in free):
        return list(placed)
    dependences = Dependences.of([p.task for p in placed], models)
    order = dependences.order()
    reserved = Reservations(sequencers=sequencers)
    for p in placed:
        reserved.take_task(p.task, p.start)
    for group in sorted(free, key=lambda group: -max(placed[n].start for n in group)):
        slack = int(min(_slack(dependences, order, moved, n, group) for n in group))
        for n in group:
            reserved.give_back(moved[n].task, moved[n].start)
        step = _latest(reserved, [moved[n] for n in sorted(group)], slack)
        for n in group:
            moved[n] = replace(moved[n], start=moved[n].start + step)
            reserved.take_task(moved[n].task, moved[n].start)
    return [moved[n] for n in range(len(placed))]


def _latest(reserved: Reservations, group: Sequence[Placed], slack: int) -> int:
    """Return by how many cycles, at most `slack`, a group can begin later: the most for which everything is free.

    Each try jumps before the reservation in the way, so there are no more tries than reservations.
    """
    step = slack
    while step > 0:
        pull = max(reserved.pull_task(p.task, p.start + step) for p in group)
        if not pull:
            return step
        step -= pull
    # Tasks that a faulty scheduler has put on top of each other stay there, for the checker to find.
    return 0


def _may_move(p: Placed) -> bool:
    return not (p.task.bus or p.task.wants or p.task.shows)


def _groups(placed: Sequence[Placed]) -> list[set[int]]:
    """Return the tasks, by number, in groups that must keep their distances: one takes words of the other in flight."""
    together: nx.Graph[int] = nx.Graph()
    together.add_nodes_from(range(len(placed)))
    for n, p in enumerate(placed):
        for operand, _ in p.forwards:
            makers = (m for m, q in enumerate(placed) if any(shown.tensor == operand.tensor for shown in q.task.shown))
            together.add_edges_from((m, n) for m in makers)
    return [set(group) for group in nx.connected_components(together)]


def _slack(
    dependences: Dependences, order: nx.DiGraph[int], moved: dict[int, Placed], n: int, group: set[int]
) -> float:
    """Return by how many cycles task `n` can begin later without a delay for any task outside its group."""
    if not order.out_degree(n):
        return 0  # nobody wants its words, so they are results or models
    alone, found = {n: moved[n]}, [inf]
    for m in order.successors(n):
        if m not in group:
            task = moved[m].task
            bounds = [dependences.after_writes(m, footprint, alone) for footprint in task.reads]
            bounds += [dependences.after_reads(m, footprint, alone) for footprint in task.writes]
            found.append(moved[m].start - max([0, *bounds]))
    return max(0, min(found))


def schedule_mapping(
    graph: Graph,
    mapping: Mapping,
    format: Format,
    *,
    scheduler: Scheduler = list_schedule,
    objective: Objective = "throughput",
    thorough: bool = False,
    below: float = inf,
    most: float = inf,
) -> Schedule | None:
    """Return the schedule of a mapping, not yet checked; None if the mapping cannot be scheduled.

    `graph` is the program before the legalising passes. A template that names no number of sequencers has one. For the
    `objective` ``latency`` the stream is as wide as makes fewer beats. Samples overlap only if that makes the weighed
    cycles less than `below`. A `thorough` search for such cycles is for the mapping that is chosen in the end. The
    result may also be None if a sample takes more than `most` cycles.
    """
    one = mapping.template.with_sequencers(max(1, mapping.template.sequencers))
    mapping = replace(mapping, template=one)
    uses = Uses.of(mapping, format)
    layout = lay_out(uses)
    if layout is None:
        return None
    site = Site.on(uses, layout)
    try:
        tasks = Builder(site).tasks()
    except TooLarge:
        return None
    work = max(work_of(tasks, one.sequencers).values(), default=0)
    if work > most:
        return None
    models = frozenset((key, False) for key in mapping.updated if key in layout.places)
    placed = scheduler(tasks, models, sequencers=one.sequencers, waves=mapping.waves)
    if placed is None:
        return None
    initiation_interval = initiation_interval_of(placed, mapping)
    while unit := binding_unit(placed, initiation_interval, one.sequencers):
        later = started_late(placed, unit, models, one.sequencers)
        shorter = initiation_interval_of(later, mapping)
        if shorter >= initiation_interval:
            break
        placed, initiation_interval = later, shorter

    def assembled(placed: list[Placed], initiation_interval: int) -> Schedule:
        return _assemble(graph, mapping, site, placed, initiation_interval, format, objective)

    made = assembled(placed, initiation_interval) if initiation_interval <= most else None
    if objective == "latency" or scheduler is not list_schedule:
        return made
    least = max(work, _fewest_beats_out(placed, mapping), _fewest_beats_in(layout, one))
    found = overlapped(
        tasks,
        mapping,
        below=min(below, inf if made is None else made.cycles),
        most=most,
        least=least,
        thorough=thorough,
    )
    if found is None:
        return made
    made = made or assembled(placed, initiation_interval)
    other = assembled(*found)
    worth = weighed(other.cycles, other.stages) < made.cycles
    return other if worth and not _too_deep(other, one) else made


def judge_of(
    graph: Graph, format: Format, scheduler: Scheduler = list_schedule, objective: Objective = "throughput"
) -> Judge:
    """Return the judge of the mappings of a graph, which schedules each mapping and returns the figures."""

    tried, fewest = 0, inf

    def judge(mapping: Mapping, most: float) -> Figures | None:
        nonlocal tried, fewest
        tried += 1
        progress.tell("search for a schedule", tried, None, "mapping")
        below = fewest * _NEAR
        made = schedule_mapping(
            graph, mapping, format, scheduler=scheduler, objective=objective, below=below, most=most
        )
        if made is None:
            return None
        fewest = min(fewest, weighed(made.cycles, made.stages))
        return Figures(
            cycles=made.cycles,
            latency=made.latency,
            microcode_words=made.microcode_words,
            too_large=_too_deep(made, made.template),
            further_blocks=further_blocks(made),
            stages=made.stages,
            blocks=blocks(made),
            waits=waits_of(made.strands, len(mapping.graph.statements), max(1, mapping.template.sequencers)),
        )

    return judge


def refuse_too_deep(schedule: Schedule, template: Template) -> None:
    """Raise `TablaError` if a memory of the lanes needs more words than the template has."""
    for name, (need, limit, option) in _needs(schedule, template).items():
        if limit and need > limit:
            raise TablaError(
                f"the program needs {need} words of {name} memory per PE, the template has {limit}",
                *largest_tensor(schedule.graph),
                hint=f"use {option} {need} or more PEs",
            )


def _needs(schedule: Schedule, template: Template) -> dict[str, tuple[int, int, str]]:
    """Return the words needed, the words that the template has (0: any number) and the option, by memory of a lane."""
    depths = schedule.layout.depths
    return {
        "model": (depths.model, template.model_words, "--model-words"),
        "data": (depths.data * schedule.ring_slots, template.data_words, "--data-words"),
        "interim": (depths.interim, template.interim_words, "--interim-words"),
    }


def _too_deep(schedule: Schedule, template: Template) -> bool:
    return any(limit and need > limit for need, limit, _ in _needs(schedule, template).values())


def _fewest_beats_in(layout: Layout, template: Template) -> int:
    """Return the beats of a sample if they are as wide as the template allows."""
    return _beats(layout, template, template.stream_words or widest(template))


def _fewest_beats_out(placed: list[Placed], mapping: Mapping) -> int:
    """Return the beats in which the words of a sample leave if they are as wide as the template allows."""
    each = words_per_write(mapping.graph, mapping.template)
    return OutputPort.of(all_strands(placed), each, 1, widest=max(1, mapping.template.stream_words)).beats


def _assemble(
    graph: Graph,
    mapping: Mapping,
    site: Site,
    placed: list[Placed],
    initiation_interval: int,
    format: Format,
    objective: Objective,
) -> Schedule:
    """Put the borders, the streams and the figures around placed tasks, which can begin anew after
    `initiation_interval` cycles. Places share addresses where that saves memory.
    """
    shared = sharing(placed, mapping, site.layout, initiation_interval, least=block_words(format.width))
    placed, site = with_addresses_of(placed, site.layout, shared), replace(site, layout=shared)
    mapped, template, layout = mapping.graph, mapping.template, site.layout
    laws = timing()
    stages = stages_of(placed, initiation_interval, max(1, template.sequencers))
    strands = all_strands(placed)
    port = OutputPort.of(
        strands,
        words_per_write(mapped, template),
        initiation_interval,
        widest=max(1, template.stream_words),
        beats_in=_beats(layout, template, template.stream_words) if template.stream_words else 0,
    )
    initiation_interval = port.initiation_interval
    last_data = max((t for p in placed for t in _data_reads(p)), default=0)
    release = laws.front + last_data + 1
    stops = [s.final for s in strands if s.unit.endswith("write")]
    end = max(stops, default=0)
    # Where the latency counts, the stream binds as long as a wider one makes fewer beats.
    width = _stream_words(layout, template, initiation_interval if objective == "throughput" else 0)
    streams = sample_strands(layout, width, template)
    beats = sum(s.iterations for s in streams)
    border = _ring(
        Border(
            beats=beats,
            slots=template.ring_slots,
            release=release,
            initiation_interval=initiation_interval,
            stages=stages,
        ),
        layout.depths.data,
        template,
    )
    cycles = border.cycles(laws)
    # If each group has its part of some result, then every word leaves from each group, also where all have the same.
    words = port.each * sum(mapped.tensors[t].size for _, t in graph.results)
    finish = _last_update(strands, port.last)
    # The latency counts both ends: the cycle of the first beat, and that of the last update or of the last word out.
    latency = (beats - 1 + laws.ready if beats else 0) + laws.front + finish + 1
    dump = dump_strands(layout, template, site.wide_from)
    layout = replace(layout, needed=needed(strands, dump, layout, template, border.slots))
    return Schedule(
        graph=graph,
        mapping=mapping,
        layout=layout,
        format=format,
        shifts=site.shifts,
        wide_from=site.wide_from,
        placed=tuple(placed),
        strands=tuple(strands),
        dump=tuple(dump),
        stream_sample=tuple(streams),
        stream_load=tuple(load_strands(layout, width, template)),
        stream_words=width,
        ring_slots=border.slots,
        initiation_interval=initiation_interval,
        stages=stages,
        release=release,
        beats=beats,
        outputs=words,
        output_depth=max(dump_words(template, mapped.model_guard), port.depth),
        port_words=port.beat,
        end=end,
        cycles=cycles,
        latency=latency,
    )


def _data_reads(placed: Placed) -> list[int]:
    """Return the last cycles in which the operations of a placed task read streamed words."""
    out = []
    for strand in placed.strands():
        for slot, operation in enumerate(strand.body):
            if any(a.window for a in operation.addresses.values()):
                out.append(int(strand.cycles(slot)[-1]))
    return out


def _last_update(strands: Sequence[Strand], otherwise: int) -> int:
    """Return the last cycle in which a word of a model is updated, or `otherwise` if none is."""
    return max((s.final for s in strands if any(o.field("model") for o in s.body)), default=otherwise)


def _stream_words(layout: Layout, template: Template, initiation_interval: int) -> int:
    """Return the words of a beat: the template's number, or else the least power of two that does not bind."""
    if template.stream_words:
        return template.stream_words
    widths = [1]
    while widths[-1] < widest(template) and _beats(layout, template, widths[-1]) > initiation_interval:
        widths.append(2 * widths[-1])
    fewest = _beats(layout, template, widths[-1])
    return next(words for words in widths if _beats(layout, template, words) == fewest)


def _beats(layout: Layout, template: Template, words: int) -> int:
    """Return the beats of a sample if a beat has so many words."""
    return sum(strand.iterations for strand in sample_strands(layout, words, template))


def _ring(border: Border, words: int, template: Template) -> Border:
    """Return a border with as few slots of the ring as do not bind.

    There are at least as many slots as the template has, and at most as many as a lane's data memory has room for;
    `words` is the number of words of a sample there.
    """
    laws = timing()
    aim = max(border.initiation_interval, border.beats)
    # This is the controller's recurrence as one formula (decision 3, section 3.7). The numbers of slots near the result
    # are then judged by the recurrence itself.
    enough = -(-(border.beats + laws.ready + border.release) // aim)
    room = template.data_words // words if template.data_words and words else enough
    most = max(border.slots, min(enough, room, limits().ring_slots))
    tries = [replace(border, slots=k) for k in (border.slots, *range(max(border.slots, most - 2), most + 1))]
    return min(tries, key=lambda b: (max(aim, b.cycles(laws)), b.slots))
