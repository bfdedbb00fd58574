"""A problem of the list on an engine, every word held against the evaluation of its text."""

from __future__ import annotations

from benchmarks.learning.problems import Problem
from tabla.bound import full
from tabla.driver import Build, build
from tabla.ir.words import to_real
from tests.schedule.agreement import draw_words


def hold(problem: Problem, pes: int, engine: str = "model", *, steps: int = 3, seed: int = 1) -> Build:
    """Mixed words, extremes among them, through a few steps; cycles and latency counted as predicted."""
    made = build(problem.file, problem.options(pes))
    inputs, models = draw_words(made.sample, made.format, steps * problem.minibatch, seed)
    arrays = {name: to_real(words, made.format) for name, words in (inputs | models).items()}
    # A word that differs raises.
    done = made.simulate(arrays, engine=engine)
    assert done.cycles_simulated == done.cycles_predicted == made.report().cycles >= made.report().bound
    bound = full(made.graph, made.schedule.template, made.format)
    assert made.schedule.cycles >= bound.cycles >= made.bound.cycles
    assert done.latency_simulated == done.latency_predicted
    return made
