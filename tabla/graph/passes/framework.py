"""What a pass is: a function from graph to graph with a name, a line about it, and the conditions under which it runs.

The decorator :func:`graph_pass` makes a pass of a function and registers it. :mod:`tabla.graph.passes.pipeline` has all
passes in their order, and ``docs/extend/pass.md`` says how to add one.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from typing import Any, Generic, ParamSpec, SupportsIndex

from tabla.base.source import TablaValueError
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.verify import GraphFault, verify

Parameters = ParamSpec("Parameters")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a pass may ask for beside the graph. A pass names in its parameters what it needs of this.

    `fmt` is the format of all words. `samples` is the number of samples of a step, 1 or more, and `guard` the number of
    guard bits of the models that learn, 0 or more. `pes` is the number of PEs of the array, or None where there is no
    array. `scatters` says whether the root of the array can write where data say. `predict` is the user's name of the
    prediction; None stands for the value that is compared with a label.
    """

    fmt: Format
    samples: int = 1
    guard: int = 0
    pes: int | None = None
    scatters: bool = True
    predict: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """What must hold for a pass to have something to do: a clause for people, and a function that says whether it does.

    The function has parameters of its pass.
    """

    text: str
    holds: Callable[..., bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass(Generic[Parameters]):
    """A function from graph to graph that changes no word of any result or model, or does what the user asked for.

    The first parameter of the `function` is the graph. Each other one has the name of a field of :class:`Setting`, and
    is what the pass needs. `description` is one line. Where the `condition` does not hold, the pass leaves the graph as
    it is. Passes are named and described like `drop-dead`: "remove what nothing needs".

    Raises `TablaValueError` for a function with another parameter, and for a description that is not one line.
    """

    name: str
    description: str
    function: Callable[Parameters, Graph]
    condition: Condition | None = None

    def __post_init__(self) -> None:
        known, own = [each.name for each in fields(Setting)], _parameters(self.function)
        strangers = [name for name in own[1:] if name not in known]
        if not own or strangers:
            what = f"'{strangers[0]}', which no pass can have" if strangers else "no graph"
            raise TablaValueError(
                f"the pass '{self.name}' takes {what}",
                hint=f"a pass takes a graph, and of these what it needs: {', '.join(known)}",
            )
        if not self.description.strip() or "\n" in self.description:
            raise TablaValueError(f"the pass '{self.name}' has no description of one line", hint="say what it does")
        more = [] if self.condition is None else [n for n in _parameters(self.condition.holds) if n not in own]
        if more:
            raise TablaValueError(
                f"the condition of the pass '{self.name}' takes '{more[0]}', which the pass does not take",
                hint=f"it may take {', '.join(own)}",
            )

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        """Let another process import a pass whose function has given it its name, as the decorator does."""
        place = self.function.__module__, self.function.__qualname__
        if getattr(sys.modules.get(place[0]), place[1], None) is self:
            return _imported, place
        return object.__reduce_ex__(self, protocol)

    @property
    def needs(self) -> tuple[str, ...]:
        """The fields of a :class:`Setting` that the pass takes."""
        return tuple(_parameters(self.function)[1:])

    def __call__(self, *given: Parameters.args, **named: Parameters.kwargs) -> Graph:
        """Return the graph after the pass. The graph is the first argument."""
        bound = inspect.signature(self.function).bind(*given, **named)
        bound.apply_defaults()
        if not self._holds(bound.arguments):
            graph = bound.args[0]
            assert isinstance(graph, Graph)
            return graph
        return self.function(*given, **named)

    def _holds(self, arguments: Mapping[str, object]) -> bool:
        """Return whether the pass has something to do, given the arguments of its function by name."""
        if self.condition is None:
            return True
        return self.condition.holds(*(arguments[name] for name in _parameters(self.condition.holds)))

    def applies(self, graph: Graph, setting: Setting) -> bool:
        """Return whether the condition of the pass holds."""
        first = _parameters(self.function)[0]
        return self._holds({first: graph, **{name: getattr(setting, name) for name in self.needs}})

    def run(self, graph: Graph, setting: Setting) -> Graph:
        """Return the graph after the pass, which is given what it needs of a setting.

        Raises `GraphFault`, which names the pass, if the pass breaks a rule of graphs.
        """
        function: Callable[..., Graph] = self.function
        needs = {name: getattr(setting, name) for name in self.needs}
        after = function(graph, **needs) if self.applies(graph, setting) else graph
        try:
            verify(after)
        except GraphFault as fault:
            raise GraphFault(f"after {self.name}: {fault}") from None
        return after


def _imported(module: str, name: str) -> object:
    return getattr(import_module(module), name)


@cache
def _parameters(function: Callable[..., object]) -> list[str]:
    return list(inspect.signature(function).parameters)


_REGISTERED: dict[str, Pass[...]] = {}


def graph_pass(
    name: str, description: str, *, condition: Condition | None = None
) -> Callable[[Callable[Parameters, Graph]], Pass[Parameters]]:
    """Return a decorator that makes a pass of a function from graph to graph, and registers it by its name.

    The pass can be called like the function. Raises `TablaValueError` for a name that another pass has.
    """

    def made(function: Callable[Parameters, Graph]) -> Pass[Parameters]:
        one = Pass(name=name, description=description, function=function, condition=condition)
        other = _REGISTERED.get(name)
        # A module that is imported anew registers its passes anew.
        if other is not None and _place(other) != _place(one):
            raise TablaValueError(f"there is a pass '{name}' already, {_place(other)}", hint="take another name")
        _REGISTERED[name] = one
        return one

    return made


def _place(one: Pass[...]) -> str:
    return f"{one.function.__module__}.{one.function.__qualname__}"


def registered() -> Iterator[Pass[...]]:
    """Yield all passes of the modules that were imported so far."""
    yield from _REGISTERED.values()


def pass_named(name: str, passes: Iterable[Pass[...]]) -> Pass[...]:
    """Return the pass with a name. An unknown name is a `TablaValueError`, which says what is like it."""
    known = {each.name: each for each in passes}
    if name not in known:
        near = get_close_matches(name, known, 1)
        raise TablaValueError(
            f"there is no pass '{name}'", hint=f"did you mean {near[0]}?" if near else "tabla pass --list names all"
        )
    return known[name]
