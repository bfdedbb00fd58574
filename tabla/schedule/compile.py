"""From a graph to its schedule, stage by stage: legalise, map, generate and place strands, check.

Each stage is a function of what the stage before returns, so each can be run, looked at and tested alone.
:class:`tabla.build.stages.Stages` runs them one by one; :func:`schedule_graph` runs all of them.
"""

from __future__ import annotations

from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.passes.pipeline import legalise
from tabla.schedule.check import ScheduleFault, check
from tabla.schedule.mapping.capacity import refuse_excess
from tabla.schedule.mapping.effort import DEFAULT_EFFORT, EFFORTS, Effort, Objective
from tabla.schedule.mapping.mapping import Mapping
from tabla.schedule.mapping.stage import map_graph
from tabla.schedule.placing.build import judge_of, refuse_too_deep, schedule_mapping
from tabla.schedule.placing.list_scheduler import list_schedule
from tabla.schedule.placing.placed import Scheduler
from tabla.schedule.placing.schedule import Schedule
from tabla.templates.template import Template


def legal_graph(graph: Graph, template: Template, format: Format) -> Graph:
    """Return the graph that the machine runs, with the words of its constants.

    Raises `TablaError` for a program that no array holds, or that the machine cannot run.
    """
    refuse_excess(graph, template)
    return legalise(graph, format, pes=template.pes)


def best_mapping(
    graph: Graph,
    legal: Graph,
    template: Template,
    format: Format,
    effort: Effort = EFFORTS[DEFAULT_EFFORT],
    scheduler: Scheduler = list_schedule,
) -> Mapping:
    """Return the best mapping that the search finds, each one judged by its exact schedule."""
    judge = judge_of(graph, format, scheduler, effort.objective)
    return map_graph(graph, legal, template, format, judge=judge, effort=effort)


def checked_schedule(
    graph: Graph,
    mapping: Mapping,
    template: Template,
    format: Format,
    scheduler: Scheduler = list_schedule,
    objective: Objective = "throughput",
) -> Schedule:
    """Return the schedule of a mapping, checked against the laws of the machine.

    `template` is the user's, with the depths of memories that must hold the program. Raises `TablaError` if one is too
    small, and `ScheduleFault` if the schedule breaks a law, which is a fault of this program. A scheduler that finds no
    schedule is at fault too: the search only returns mappings that its own scheduler could schedule.
    """
    schedule = schedule_mapping(graph, mapping, format, scheduler=scheduler, objective=objective, thorough=True)
    if schedule is None:
        raise ScheduleFault("the scheduler found no schedule of the mapping")
    refuse_too_deep(schedule, template)
    check(schedule)
    return schedule


def schedule_graph(
    graph: Graph,
    template: Template,
    format: Format,
    effort: Effort = EFFORTS[DEFAULT_EFFORT],
    scheduler: Scheduler = list_schedule,
) -> Schedule:
    """Return the fastest schedule that the search finds, checked. Raises `TablaError` as the stages do."""
    mapping = best_mapping(graph, legal_graph(graph, template, format), template, format, effort, scheduler)
    return checked_schedule(graph, mapping, template, format, scheduler, effort.objective)
