"""Running a published learning problem on an engine, and comparing every word with the evaluation."""

from __future__ import annotations

from benchmarks.learning.problems import Problem
from tabla.driver import Build, build
from tabla.graph.words import to_real
from tabla.schedule.bound import full
from tests.schedule.agreement import draw_words


def hold(problem: Problem, pes: int, engine: str = "model", *, steps: int = 3, seed: int = 1) -> Build:
    """Run a few steps of a problem on words that include the extremes, and return the build.

    Words, cycles and latency must be as predicted, and the cycles may not be below the bound.
    """
    made = build(problem.file, problem.options(pes))
    inputs, models = draw_words(made.sample, made.format, steps * problem.minibatch, seed)
    arrays = {name: to_real(words, made.format) for name, words in (inputs | models).items()}
    # `simulate` raises an AssertionError if a word differs.
    done = made.simulate(arrays, engine=engine)
    assert done.cycles_simulated == done.cycles_predicted == made.report().cycles >= made.report().bound
    bound = full(made.graph, made.schedule.template, made.format)
    assert made.schedule.cycles >= bound.cycles >= made.bound.cycles
    assert done.latency_simulated == done.latency_predicted
    return made
