"""Declarations: sizes and ranges become integers, gradients meet their models."""

from __future__ import annotations

from typing import assert_never

from tabla.base.faults import Faults
from tabla.base.source import Label
from tabla.languages.tabla import syntax
from tabla.languages.tabla.check_expressions import ExpressionChecker
from tabla.languages.tabla.program import Gradient, Iterator, Kind
from tabla.languages.tabla.symbols import Known, Symbols

Declaring = syntax.Declaration | syntax.GradientDeclaration | syntax.IteratorDeclaration


class Declarer:
    """Enters what declarations say into the symbols.

    `gradients` are the links from gradients to models so far. `orders` has the iterators that run in order, each with
    its values, the first turn's first.
    """

    def __init__(self, symbols: Symbols, expressions: ExpressionChecker, faults: Faults) -> None:
        self._symbols, self._expressions, self._faults = symbols, expressions, faults
        self.gradients: list[Gradient] = []
        self.orders: dict[str, range] = {}

    def declare(self, item: Declaring) -> None:
        """Enter the names of one declaration. Nothing more is said about a name whose declaration is at fault."""
        match item:
            case syntax.Declaration(kind=kind, variables=variables):
                for variable in variables:
                    self._variable(variable, Kind(kind.text), self._shape(variable))
            case syntax.GradientDeclaration(links=links):
                for link in links:
                    self._gradient(link)
            case syntax.IteratorDeclaration(ranges=ranges):
                for given in ranges:
                    self._iterator(given)
            case _:
                assert_never(item)

    def _variable(self, node: syntax.Reference, kind: Kind, shape: tuple[int, ...] | None) -> None:
        name = node.name.text
        if shape is None:
            self._symbols.spoil(name)
            return
        known = Known(name=name, kind=kind, rank=len(shape), shape=shape, span=node.name.span)
        self._symbols.enter(known)

    def _shape(self, node: syntax.Reference) -> tuple[int, ...] | None:
        sizes: list[int] = []
        for subscript in node.subscripts:
            size = self._expressions.whole(subscript, "a size")
            if size is not None and size < 1:
                self._faults.add(
                    f"a size must be at least 1, not {size}",
                    subscript.span,
                    hint="a single value has no size: write the name alone",
                )
            elif size is not None:
                sizes.append(size)
        return tuple(sizes) if len(sizes) == len(node.subscripts) else None

    def _iterator(self, node: syntax.Range) -> None:
        name = node.name.text
        if node.ends is None:
            self._faults.add(
                f"iterator '{name}' has no range",
                node.span,
                hint=f"give a start and an end: iterator {name}[0:n];",
            )
            self._symbols.spoil(name)
            return
        start, stop = (self._expressions.whole(end, "the end of a range") for end in node.ends)
        if start is None or stop is None:
            self._symbols.spoil(name)
        elif start >= stop:
            self._faults.add(
                f"iterator '{name}' runs over nothing: [{start}:{stop}]",
                node.span,
                hint="the end is exclusive and must be greater than the start",
            )
            self._symbols.spoil(name)
        else:
            self._symbols.enter(Iterator(name=name, start=start, stop=stop, span=node.name.span))
            if node.order is not None:
                values = range(start, stop)
                self.orders[name] = values if node.order is syntax.Order.FORWARD else values[::-1]

    def _gradient(self, link: syntax.Link) -> None:
        node, name = link.gradient, link.gradient.name.text
        shape = self._shape(node)
        if link.model is None:
            self._faults.add(
                f"gradient '{name}' is not linked to a model", link.span, hint=f"write gradient {name} -> w;"
            )
            self._symbols.spoil(name)
            return
        model = self._model(link.model)
        if shape is None or model is None:
            self._symbols.spoil(name)
            return
        # `gradient g -> w` takes its dimensions from the model.
        if node.subscripts and shape != model.shape:
            self._faults.add(
                f"gradient '{name}' is {_sizes(shape)}, its model '{model.name}' is {_sizes(model.shape)}",
                node.span,
                also=[Label(model.span, "the model")],
                hint=f"a gradient has the shape of its model; gradient {name} -> {model.name}; takes it over",
            )
            self._symbols.spoil(name)
            return
        for other in self.gradients:
            if other.model == model.name:
                self._faults.add(
                    f"model '{model.name}' has the gradient '{other.gradient}' already",
                    link.span,
                    hint="add the two in one gradient",
                )
        self._variable(node, Kind.GRADIENT, model.shape)
        self.gradients.append(Gradient(gradient=name, model=model.name, span=link.span))

    def _model(self, node: syntax.Reference) -> Known | None:
        symbol = self._symbols.find(node.name, purpose="linked here")
        shape = self._shape(node)
        if symbol is None or shape is None:
            return None
        if not isinstance(symbol, Known) or symbol.kind is not Kind.MODEL:
            self._faults.add(
                f"'{symbol.name}' is not a model",
                node.span,
                also=[Label(symbol.span, "declared here")],
                hint="a gradient is linked to a model: gradient g -> w;",
            )
            return None
        if node.subscripts and shape != symbol.shape:
            self._faults.add(
                f"model '{symbol.name}' is {_sizes(symbol.shape)}, not {_sizes(shape)}",
                node.span,
                also=[Label(symbol.span, "declared here")],
                hint=f"write -> {symbol.name}; a link may leave the sizes out",
            )
            return None
        return symbol


def _sizes(shape: tuple[int, ...] | None) -> str:
    return "".join(f"[{size}]" for size in shape) if shape else "a scalar"
