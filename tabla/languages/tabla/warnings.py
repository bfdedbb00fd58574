"""What is legal in a text and probably a slip: names that nothing reads, and values that are lost."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from tabla.base.source import Span
from tabla.graph.boxes import Box
from tabla.graph.unread_parts import MEANT
from tabla.languages.kernel.regions import Region
from tabla.languages.tabla import syntax
from tabla.languages.tabla.operators import Function, Operator
from tabla.languages.tabla.program import (
    Assignment,
    Call,
    Expression,
    Kind,
    Operation,
    Program,
    Read,
    Warned,
    nodes,
)
from tabla.languages.tabla.program import Iterator as Index
from tabla.languages.tabla.symbols import Known, Symbols


@dataclass(slots=True, kw_only=True)
class Warnings:
    """Gathers the warnings about one text. `learns` says whether the text has gradients, and `rate` names the learning
    rate. `read_in_turns` are the names of which a loop in order reads what its other turns have assigned.
    """

    learns: bool
    rate: str
    read_in_turns: frozenset[str] = frozenset()
    found: list[Warned] = field(default_factory=list)

    def assigned(self, before: Known, after: Known, box: Box) -> None:
        """Look at an assignment of the elements in `box`: a name as it was before, and as it is after."""
        if before.assigned is None or after.assigned is None or after.name.startswith(MEANT):
            return
        if before.assigned == after.assigned:
            return  # another turn of a loop in order
        name, line = after.name, before.assigned.line
        if before.constant is not None and after.constant is not None:
            self._add(name, after.assigned, f"constant '{name}' has a value from line {line} already; leave one out")
        elif not before.read and all(Region(boxes=(box,)).covers(old) for old in before.region.boxes):
            text = f"the value of '{name}' from line {line} is lost here, and nothing reads it; leave one out"
            self._add(name, after.assigned, text)

    def behind_loop(self, assignment: syntax.Assignment, iterator: str) -> None:
        """Look at a statement behind a loop in order that assigns what the loop reads, without its iterator."""
        name = assignment.target.name.text
        text = (
            f"'{name}' is assigned once, behind the loop along '{iterator}', which reads it; "
            f"if each turn is to assign it, let its statement use '{iterator}', such as in 0*{iterator}"
        )
        self._add(name, assignment.target.span, text)

    def unread(self, symbols: Symbols, used: Collection[str], learnt: Collection[str]) -> None:
        """Look at all names when the text has been read. `used` are iterators, and `learnt` the models that learn."""
        for symbol in symbols:
            match symbol:
                case Index(name=name, span=span) if name not in used:
                    self._add(name, span, f"iterator '{name}' is never used; leave it out")
                case Known(read=False, mentioned=True) as known if text := self._unread(known, learnt):
                    self._add(known.name, known.assigned or known.span, text)
                case _:
                    pass

    def _unread(self, known: Known, learnt: Collection[str]) -> str | None:
        name = known.name
        match known.kind:
            case Kind.LABEL if self.learns:
                cure = "compare a value with it, or leave it out"
                return f"label '{name}' is never read, so nothing is learnt from it; {cure}"
            case Kind.INPUT:
                return f"input '{name}' is never read; leave it out"
            case Kind.MODEL if name not in learnt:
                return f"model '{name}' is never read, and has no gradient; leave it out"
            case Kind.TEMPORARY if name.startswith(MEANT) or name in self.read_in_turns:
                return None
            case Kind.TEMPORARY if known.constant is not None and not (self.learns and name == self.rate):
                return f"constant '{name}' is never read; leave it out"
            case Kind.TEMPORARY if self.learns and known.constant is None:
                return f"value '{name}' is never read; leave it out, or return it with --result {name}"
            case _:
                return None

    def learning_rate(self, program: Program) -> None:
        """Look at the learning rate of a program that compares a sigmoid with a label, which then is 0 or 1."""
        rate = program.learning_rate
        compared = next(_compared_sigmoids(program), None)
        if self.learns and compared is not None and not 0 < rate <= 1:
            line = compared.span.line
            effect = "may make the loss grow" if rate <= 0 else "may overshoot"
            text = f"the learning rate {float(rate):g} {effect}: line {line} compares a sigmoid with a label of 0 or 1"
            span = program.learning_rate_span or compared.span
            self._add(self.rate, span, f"{text}; choose a rate between 0 and 1, such as 0.1")

    def _add(self, name: str, span: Span, text: str) -> None:
        warned = Warned(name=name, text=text, span=span)
        # Each turn of a loop in order has the warnings of the statement.
        if not any((each, each.span) == (warned, span) for each in self.found):
            self.found.append(warned)


def _compared_sigmoids(program: Program) -> Iterator[Operation]:
    """Yield the differences between a label and a value that is a sigmoid."""
    labels = {v.name for v in program.variables if v.kind is Kind.LABEL}
    sigmoids: set[str] = set()
    for assignment in program.assignments:
        for node in nodes(assignment.value):
            if isinstance(node, Operation) and node.operator is Operator.SUBTRACT:
                for label, value in ((node.left, node.right), (node.right, node.left)):
                    if isinstance(label, Read) and label.name in labels and _is_sigmoid(value, sigmoids):
                        yield node
        _remember(assignment, sigmoids)


def _remember(assignment: Assignment, sigmoids: set[str]) -> None:
    """Note whether the target is a sigmoid from here on."""
    known = _is_sigmoid(assignment.value, sigmoids)
    (sigmoids.add if known else sigmoids.discard)(assignment.target)


def _is_sigmoid(value: Expression, sigmoids: Collection[str]) -> bool:
    match value:
        case Call(function=Function.SIGMOID):
            return True
        case Read(name=name):
            return name in sigmoids
        case _:
            return False
