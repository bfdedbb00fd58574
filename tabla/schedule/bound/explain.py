"""A bound in words: for each term what it counts, and what each statement or tensor adds to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tabla.base.layout import folded, laid_out
from tabla.graph.format import Format
from tabla.graph.graph import Graph, Statement
from tabla.graph.operations import zero_or_one
from tabla.graph.program_text import Locate, as_it_is, named, passage
from tabla.graph.text import statement_text
from tabla.graph.work import work_by_term
from tabla.schedule.bound import stream
from tabla.schedule.bound.best_choice import Circuit
from tabla.schedule.bound.choice import EVERYWHERE, Choice
from tabla.schedule.bound.circuits import Circuits
from tabla.schedule.bound.groups import ASIDE, CARRIED, WHOLE
from tabla.schedule.bound.lower_bound import Bound, evaluations
from tabla.templates.template import Template, limits

WIDTH = 100
"""Columns of a paragraph in a pipe or a file."""
_INDENT = "    "


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one statement or tensor has to do with a term.

    `name` is its formula in the graph or its name, `note` how it takes part. `text` is the passage of the program that
    it comes from, and `line` the line of that; a tensor has none.
    """

    name: str
    line: int | None = None
    note: str
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """A term of a bound: its name, its cycles, what it counts in full sentences, and who has a share in it."""

    term: str
    cycles: int
    about: str
    shares: tuple[Share, ...] = ()

    def text(self, width: int | None = None) -> str:
        """For people: a paragraph, and a line for each share. `width` is the columns of a terminal."""
        columns = width or WIDTH
        lines = [f"{self.term:<12} {self.cycles}", *folded(f"  {self.about}", columns).split("\n")]
        rows = [(f"line {s.line}" if s.line else "", s.note, s.text or s.name) for s in self.shares]
        if not any(s.line for s in self.shares):
            rows = [(s.name, s.note, "") for s in self.shares]
        room = None if width is None else width - len(_INDENT)
        return "\n".join([*lines, *(_INDENT + line for line in laid_out(rows, room, texts=range(3)))])

    def as_json(self) -> dict[str, Any]:
        """Return the explanation as nested dictionaries and lists, which JSON can hold."""
        return asdict(self)


def reasons(
    bound: Bound, graph: Graph, template: Template, format: Format, locate: Locate = as_it_is
) -> tuple[Reason, ...]:
    """Explain every term of a bound of this graph, template and format, the largest first.

    `locate` leads from the places in the text that the front end has read to those in the file.
    """
    found = (
        _multiplies(bound, graph, template, locate),
        _path(bound, graph, template, locate),
        _stream(bound, graph, template, format),
        _functions(bound, graph, template),
    )
    return tuple(sorted(found, key=lambda reason: -reason.cycles))


def _multiplies(bound: Bound, graph: Graph, template: Template, locate: Locate) -> Reason:
    counts: dict[int, int] = {}
    for statement, _, number in work_by_term(graph):
        counts[statement.id] = counts.get(statement.id, 0) + number
    about = (
        f"A sample takes {sum(counts.values()):,} multiplies of two words; {_units(template)} make one each a cycle. "
        "The products of one term are made either all in the lanes or all at the roots. A word that moves from lanes "
        "to roots, or back, takes slots of these units, too."
    )
    shares = (_share(s, f"{counts[s.id]:,} multiplies", locate) for s in graph.statements if counts.get(s.id))
    return Reason(term="multiplies", cycles=bound.terms["multiplies"], about=about, shares=tuple(shares))


def _units(template: Template) -> str:
    roots = max(1, template.roots)
    return f"{template.pes} lane{'s' * (template.pes > 1)} and {roots} root{'s' * (roots > 1)}"


def _share(statement: Statement, note: str, locate: Locate) -> Share:
    origin = passage([statement], locate)
    return Share(name=statement_text(statement).split("   for ")[0], line=origin.line, note=note, text=origin.text)


def _path(bound: Bound, graph: Graph, template: Template, locate: Locate) -> Reason:
    circuit = bound.circuit
    shares = tuple(_on_circuit(circuit, graph, template, locate))
    return Reason(
        term="path",
        cycles=bound.terms["path"],
        about=_circuit(circuit, graph, locate),
        shares=shares,
    )


def _circuit(circuit: Circuit, graph: Graph, locate: Locate) -> str:
    """What takes the cycles of a circuit."""
    words = [named(graph, word, locate) for word in circuit.words]
    match circuit.kind:
        case "none":
            return "No circuit of dependences leads from a model through a sample to the next value of the model."
        case "chain":
            (model,) = words
            return (
                f"A word of the model '{model}' is read, goes through a chain of statements, and its next value is "
                "written before the next sample reads it: the latencies of the machine along this chain."
            )
        case "vector":
            (vector,) = words
            return (
                f"From the last word of '{vector}' in one sample to the last word of '{vector}' in the next, through "
                f"models ({_listed(graph.updates)}), lie the statements below. Their latencies, the moves of words "
                "between lanes and roots, and the cycles in which their operations issue add up to no less."
            )
        case "words":
            first, last = words
            return (
                f"A word of '{first}' changes a model. The next sample reads this model, computes a word of '{last}' "
                f"from it, and then its word of '{first}' from that. At least the latencies of these statements, and "
                f"the cycles of the multiplies between them, pass from one word of '{first}' to the next."
            )
        case "lanes":
            return "The lanes issue so many operations, all of one sample before the next."
        case "roots":
            return "The roots issue so many operations, all of one sample before the next."


def _on_circuit(circuit: Circuit, graph: Graph, template: Template, locate: Locate) -> Iterator[Share]:
    """The statements on a circuit, and the ways and the places of models with which it takes fewest cycles."""
    if circuit.distances is None:
        return
    found = list(graph.statements)
    if circuit.words:
        circuits = Circuits.of(graph, zero_or_one(graph), template)
        found = circuits.between(circuit.words[0], circuit.words[-1], circuit.distances)
    for statement in found:
        choice = circuit.distances.choice(statement)
        yield _share(statement, "wherever it is computed" if choice is None else f"best {_way(choice)}", locate)
    for model, axis in circuit.distances.groups.cuts.items():
        yield Share(name=f"model {model}", note=f"best {_cut(axis)}")


def _way(choice: Choice) -> str:
    if choice == EVERYWHERE:
        return "in every lane for itself"
    match choice.way:
        case "root":
            return "at the roots"
        case "lane":
            return f"in lanes over {choice.index}"
        case "tree":
            return f"in lanes over {choice.index}, summed by the tree"


def _cut(axis: int) -> str:
    match axis:
        case _ if axis == WHOLE:
            return "in every group of lanes"
        case _ if axis == CARRIED:
            return "carried from group to group"
        case _ if axis == ASIDE:
            return "in some groups of lanes only"
    return f"cut among the groups of lanes along axis {axis}"


def _listed(names: Mapping[str, str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _stream(bound: Bound, graph: Graph, template: Template, format: Format) -> Reason:
    words, leaving = stream.words_in(graph, format), stream.words_out(graph)
    widest = min(template.stream_words or limits().stream_words, template.pes)
    about = (
        f"{words:,} words of inputs and labels are read; a beat brings {widest:,} of them at the most and takes a "
        f"cycle: {stream.beats(graph, template, format):,} beats. {leaving:,} words of results leave, "
    )
    many = stream.widest_out(template)
    about += "one a cycle." if many == 1 else f"at most {many} a cycle: {stream.beats_out(graph, template):,} beats."
    return Reason(term="stream", cycles=bound.terms["stream"], about=about)


def _functions(bound: Bound, graph: Graph, template: Template) -> Reason:
    roots = max(1, template.roots)
    about = f"A function takes one operand a cycle at each root; this array has {roots}."
    counts = evaluations(graph)
    shares = tuple(Share(name=name, note=f"{number:,} evaluations") for name, number in sorted(counts.items()))
    if not counts:
        about = "No function is evaluated."
    return Reason(term="functions", cycles=bound.terms["functions"], about=about, shares=shares)
