"""The function unit, by exhaustion: every word of a format, against the real function and against the evaluation."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tabla.graph.format import Format
from tabla.graph.functions import apply_to_reals, apply_to_words, table
from tabla.hw.function_unit import pipeline_for
from tabla.hw.functions.pipeline import REGISTER
from tabla.program.image import FunctionTable
from tabla.templates.template import functions
from tests.graph.error_bounds import error_bound
from tests.hw.bench import played
from verify.prove.bench import Bench
from verify.prove.exhaustion import Exhaustion
from verify.prove.planted import Mutant, mutants
from verify.prove.subject import Speed

FORMAT = Format.parse("q6.10")
TIGHT = Format.parse("q2.12")
"""Here some power of e is below the range, and rounds to a word that is not."""
RISING = ("sigmoid", "tanh", "exp", "log", "sqrt", "erf", "atan", "arc")
"""The functions that never fall."""


def function_table(name: str, format: Format) -> FunctionTable:
    """Return the table of a function in a format, as the hardware gets it."""
    unit, made = functions()[name], table(name, format)
    kept = {field: getattr(made, field) for field in ("shift", "guard", "reach", "index_bits", "fraction_bits")}
    lists = {field: tuple(int(v) for v in getattr(made, field)) for field in ("base", "slope", "curve", "exponent")}
    return FunctionTable(
        name=name,
        code=unit.code,
        kind=unit.kind,
        latency=unit.cycles(format.width, format.fraction),
        constant=made.constant,
        **kept,
        **lists,
    )


def words_of(name: str, format: Format) -> tuple[Any, Any, Any, Any]:
    """Return every word, and what the pipeline of a function makes of it: value, overflow, domain error."""
    whole = function_table(name, format)
    pipeline = pipeline_for(whole, width=format.width, fraction=format.fraction)
    late = pipeline.latency - REGISTER
    words = np.arange(format.lowest, format.highest + 1)
    seen = played(pipeline, [{"operand": int(word)} for word in words], more=late)[late:]
    columns = (np.array([row[port] for row in seen]) for port in ("value", "overflow", "domain_error"))
    return words, *columns


def fault(name: str, format: Format) -> str:
    """Return what is wrong with the words of a function: not the evaluation's, too far from the real value, or falling
    where the function rises.
    """
    words, values, overflows, errors = words_of(name, format)
    told = []
    evaluated = apply_to_words(name, words, format)
    differ = np.nonzero(values != evaluated.words)[0]
    if differ.size:
        at = differ[0]
        told.append(f"{name} of {words[at]} is {values[at]} and not {evaluated.words[at]}; {differ.size} words differ")
    if (overflows.sum(), errors.sum()) != (evaluated.overflows, evaluated.domain_errors):
        told.append(f"{name} counts {overflows.sum()} overflows and {errors.sum()} domain errors")
    inside = errors == 0
    real = np.clip(
        apply_to_reals(name, np.where(inside, words, 1) / format.one) * format.one, format.lowest, format.highest
    )
    far, bound = np.abs(values - real)[inside].max(), error_bound(name, format)
    if far > bound:
        told.append(f"{name} is up to {far:.3f} units in the last place away, and the bound is {bound:.3f}")
    if name in RISING and (np.diff(values[inside]) < 0).any():
        told.append(f"{name} falls somewhere")
    return "; ".join(told)


MUTANTS: dict[str, tuple[Mutant, ...]] = {
    "sigmoid": mutants(
        "functions/direct.py",
        ("in_reach = above.all() | ~above.any()", "in_reach = above.all()"),
    ) + mutants(
        "functions/interpolation.py",
        ("half = 1 << (table.shift + table.guard - 1)", "half = 0"),
        ("joined: Any = (base << table.shift) + multiplier.product", "joined: Any = base << table.shift"),
    ),
    "exp": mutants(
        "functions/exponential.py",
        ("half.eq((1 << shift) >> 1)", "half.eq(0)"),
        ("vanishes = delayed(m, wanted > most, 1", "vanishes = delayed(m, wanted >= 4, 1"),
    ),
    "exp, q2.12": mutants(
        "functions/exponential.py",
        ("with m.If(fine > self.most_positive):", "with m.If(fine > self.most_positive + 1):"),
    ),
    "log": mutants(
        "functions/logarithm.py",
        ("(word <= 0)", "(word < 0)"),
        ("distance.eq(width - 2 - place)", "distance.eq(width - 2 - place if place else 0)"),
    ),
    "sqrt": mutants("functions/square_root.py", ("value.eq((root + 1) >> 1)", "value.eq(root >> 1)")),
    "sin": mutants("functions/circular.py", ("point = self.fraction + min(self.width + 3, 33)", "point = 28")),
}  # fmt: skip

EVERY = ("sigmoid", "tanh", "gaussian", "exp", "log", "sqrt", "sin", "cos", "erf", "atan", "arc")
SUBJECTS = tuple(
    Exhaustion(
        group="function unit",
        name=f"{called}, every word",
        property="Each word is that of the evaluation and lies within the stated bound of the real value; overflows "
        "and domain errors are counted alike; sigmoid, tanh, exp, log, sqrt, erf, atan and arc never fall.",
        bounds=f"{format}: within {error_bound(name, format):.2f} units in the last place",
        build=Bench,
        depth=0,
        solver="simulation",
        speed=Speed.LONG,
        mutants=MUTANTS.get(called, ()),
        words=1 << format.width,
        fault=partial(fault, name, format),
    )
    for called, name, format in (*((name, name, FORMAT) for name in EVERY), ("exp, q2.12", "exp", TIGHT))
)
