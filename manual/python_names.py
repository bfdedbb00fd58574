"""The reference of the Python interface, from the docstrings of the public names of ``tabla``."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import cached_property
from typing import Any

import tabla
from tabla.build.synth import synthesise
from tabla.build.synth.board import Bitstream, build_bitstream
from tabla.build.synth.report import SynthesisReport
from tabla.host import runtime
from tabla.learn.explore import Candidate, Exploration
from tabla.learn.format_table import Cell, FormatTable
from tabla.learn.record import Training
from tabla.learn.runs import Simulation

# The names of `tabla.host.runtime`, and what a public method returns, or passes its options to.
FURTHER: tuple[Any, ...] = (
    *(getattr(runtime, name) for name in ("connect", *sorted(set(runtime.__all__) - {"connect"}))),
    *(Simulation, Training, FormatTable, Cell, Exploration, Candidate),
    *(synthesise, SynthesisReport, build_bitstream, Bitstream),
)


def public() -> list[Any]:
    """Return the functions and classes of the reference, those of ``tabla.__all__`` first."""
    named = [getattr(tabla, name) for name in sorted(tabla.__all__, key=str.lower) if not name.startswith("__")]
    return named + [thing for thing in FURTHER if thing not in named]


def page() -> str:
    """Return a section for each public name, and for each public method of a class."""
    return "\n".join(line for thing in public() for line in _section(thing))


def _section(thing: Any) -> Iterator[str]:
    where = thing.__module__
    for module in (runtime, tabla):
        where = module.__name__ if thing.__name__ in module.__all__ else where
    yield from (f"## {where}.{thing.__name__}", "")
    if not inspect.isclass(thing):
        yield from _callable(thing, thing.__name__)
        return
    yield from (described(thing), "")
    if is_dataclass(thing):
        shown = [f"`{field.name}: {_type(field.type)}`" for field in fields(thing) if not field.name.startswith("_")]
        yield from ("Fields: " + ", ".join(shown) + ".", "")
    for name, member in _members(thing):
        yield from (f"### {thing.__name__}.{name}", "")
        if inspect.isfunction(member):
            yield from _callable(member, name)
        else:
            yield from (described(member), "")


def _members(made: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties of a class, its own before those of its bases."""
    seen = set()
    for owner in made.__mro__:
        for name, member in vars(owner).items():
            told = inspect.isfunction(member) or isinstance(member, property | cached_property)
            if told and not name.startswith("_") and name not in seen and owner.__module__.startswith("tabla"):
                seen.add(name)
                yield name, member


def _callable(function: Callable[..., Any], name: str) -> Iterator[str]:
    signature = inspect.signature(function)
    parameters = [p for p in signature.parameters.values() if p.name != "self"]
    shown = [str(p.replace(annotation=_type(p.annotation))).replace("'", "") for p in parameters]
    # The address of a function differs from run to run.
    shown = [re.sub(r"<function \S+ at 0x[0-9a-f]+>", "...", text) for text in shown]
    keyword_only = next((n for n, p in enumerate(parameters) if p.kind is p.KEYWORD_ONLY), None)
    if keyword_only is not None and not any(p.kind is p.VAR_POSITIONAL for p in parameters):
        shown.insert(keyword_only, "*")
    returned = "" if signature.return_annotation is signature.empty else f" -> {_type(signature.return_annotation)}"
    inside = ", ".join(shown)
    call = f"{name}({inside}){returned}"
    if len(call) > 100:
        call = f"{name}(\n" + "".join(f"    {part},\n" for part in shown) + f"){returned}"
    yield from ("```text", call, "```", "", described(function), "")


def _type(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def described(thing: Any) -> str:
    """Return a docstring as Markdown: single and double back-quotes mean code, roles of Sphinx are dropped."""
    text = inspect.getdoc(thing) or ""
    text = re.sub(r":\w+:`~?([\w.]+)`", r"`\1`", text)
    return re.sub(r"``([^`]+)``", r"`\1`", text)
