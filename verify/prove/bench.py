"""What a proof is about: components, the inputs that a solver may choose, and the claims that must always hold."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_
from typing import Any

from amaranth.asserts import AnyConst, AnySeq
from amaranth.back import rtlil
from amaranth.hdl import Assert, Assume, ClockDomain, Elaboratable, Fragment, Module, Mux, Shape, Signal
from amaranth.lib import wiring

OLDEST = 63
"""The greatest age that a claim can ask for, in cycles."""


class Bench:
    """Components under proof in a module of their own, with the inputs and the claims of the proof.

    Everything starts at the initial values of its registers. With `resets` the solver may reset everything in any
    cycle, the registers of the bench among them.
    """

    def __init__(self, *, resets: bool = False) -> None:
        self.m = Module()
        self.claims: list[str] = []
        self.assumptions: list[str] = []
        self.domain = ClockDomain("sync", reset_less=not resets)
        self.m.domains += self.domain
        if resets:
            self.m.d.comb += self.domain.rst.eq(AnySeq(1))
        self._age: Signal | None = None
        self._text = ""

    def add(self, component: Any, name: str = "") -> Any:
        """Put a component on the bench, and return it."""
        self.m.submodules[name or f"under_proof_{len(self.m._named_submodules)}"] = component
        return component

    def free(self, shape: Any, name: str) -> Signal:
        """Return an input that the solver chooses anew in each cycle."""
        signal = Signal(Shape.cast(shape), name=name)
        self.m.d.comb += signal.eq(AnySeq(Shape.cast(shape)))
        return signal

    def fixed(self, shape: Any, name: str) -> Signal:
        """Return an input that the solver chooses once."""
        signal = Signal(Shape.cast(shape), name=name)
        self.m.d.comb += signal.eq(AnyConst(Shape.cast(shape)))
        return signal

    def drive(self, component: wiring.Component, **given: Any) -> None:
        """Connect the inputs of a component: those that are given, and free ones for all others."""
        for path, member, port in component.signature.flatten(component):
            if member.flow != wiring.In:
                continue
            name = "_".join(map(str, path))
            value = given.pop(name) if name in given else self.free(port.shape(), name)
            self.m.d.comb += port.eq(value)
        assert not given, f"no inputs {sorted(given)}"

    def seen(self, value: Any, name: str) -> Signal:
        """Return a signal of the bench with this value, which a counterexample shows."""
        signal = Signal(value.shape(), name=name)
        self.m.d.comb += signal.eq(value)
        return signal

    def register(self, value: Any, name: str, **options: Any) -> Signal:
        """Return a value as it stood a cycle ago, also before a reset. In the first cycle it is 0."""
        signal = Signal(value.shape(), name=name, **{"reset_less": True, **options})
        self.m.d.sync += signal.eq(value)
        return signal

    def past(self, value: Any, cycles: int, name: str) -> Any:
        """Return a value as it stood so many cycles ago."""
        for cycle in range(cycles):
            value = self.register(value, f"past_{name}_{cycle + 1}")
        return value

    def older_than(self, cycles: int) -> Any:
        """Return whether so many cycles, at most `OLDEST`, have passed since the start or the last reset.

        All claims ask the same counter: an induction begins anywhere, and counters of their own would contradict each
        other there.
        """
        assert 0 <= cycles <= OLDEST
        if self._age is None:
            self._age = Signal(range(OLDEST + 1), name="age")
            self.m.d.sync += self._age.eq(Mux(self._age == OLDEST, OLDEST, self._age + 1))
        return self._age >= cycles

    def claim(self, name: str, condition: Any, *, when: Any = None, after: int = 0) -> None:
        """Claim that a condition holds in every cycle, or whenever `when` does; only `after` so many cycles."""
        given = [condition for condition in (when, self.older_than(after) if after else None) if condition is not None]
        holds = condition.bool() if not given else condition.bool() | ~reduce(and_, (g.bool() for g in given))
        signal = Signal(name=f"claim_{name}")
        self.m.d.comb += [signal.eq(holds), Assert(signal)]
        assert name not in self.claims, f"the claim {name} is made twice"
        self.claims.append(name)

    def assume(self, name: str, condition: Any, *, when: Any = None) -> None:
        """Leave out what the surroundings of the components never do."""
        holds = condition.bool() if when is None else condition.bool() | ~when.bool()
        signal = Signal(name=f"assumption_{name}")
        self.m.d.comb += [signal.eq(holds), Assume(signal)]
        assert name not in self.assumptions, f"the assumption {name} is made twice"
        self.assumptions.append(name)

    def rtlil(self) -> str:
        """Return the bench as RTLIL. Its components are elaborated at the first call."""
        if not self._text:
            self._text = rtlil.convert(self.m, name="top", ports=[self.domain.clk])
        return self._text


class Opened(Elaboratable):
    """A component whose inner signals a claim may name: an induction has to be told what is true of them.

    ``opened["tokens.count"]`` is the port or the signal `count` of the submodule `tokens`.
    """

    def __init__(self, component: Any) -> None:
        self.whole = component
        self._fragment = Fragment.get(component, None)

    def elaborate(self, platform: Any) -> Fragment:
        """Return what was elaborated before, so that the signals are those that were named."""
        return self._fragment

    def _inside(self, modules: list[str]) -> Any:
        fragment = self._fragment
        for module in modules:
            fragment = next(inner for inner, inside, _ in fragment.subfragments if inside == module)
        return fragment

    def component(self, path: str) -> Any:
        """Return a submodule."""
        return self._inside(path.split(".")).origins[0]

    def __getitem__(self, path: str) -> Any:
        *modules, name = path.split(".")
        fragment = self._inside(modules)
        component = (fragment.origins or [None])[0]
        if isinstance(component, wiring.Component) and name in component.signature.members:
            return getattr(component, name)
        return self._named(fragment, name)

    def inner(self, name: str) -> Any:
        """Return a signal of the component that has the name of a port."""
        ports = [getattr(self.whole, port) for port in self.whole.signature.members]
        return self._named(self._fragment, name, besides=ports)

    def register(self, name: str) -> Any:
        """Return the register of the component that has this name, which signals of its parts may have too."""
        (found,) = (signal for signal in self._signals(self._fragment, "sync").values() if signal.name == name)
        return found

    def registers_without_a_name(self) -> list[Any]:
        """Return the registers of the component that have no name of their own, in the order of their first assignment.
        Claims tell whether they are the right ones.
        """
        found = self._signals(self._fragment, "sync")
        return [signal for signal in found.values() if signal.name.startswith("$")]

    @staticmethod
    def _signals(fragment: Fragment, *domains: str) -> dict[int, Any]:
        return {
            id(signal): signal
            for domain, statements in fragment.statements.items()
            for statement in (statements if not domains or domain in domains else ())
            for signal in sorted(statement._lhs_signals(), key=lambda each: each.name)
        }

    def _named(self, fragment: Fragment, name: str, besides: Sequence[Any] = ()) -> Any:
        signals = self._signals(fragment)
        known = [id(port) for port in besides]
        found = [signal for number, signal in signals.items() if signal.name == name and number not in known]
        if len(found) != 1:
            names = sorted(signal.name for signal in signals.values())
            raise KeyError(f"{name}: {len(found)} signals have that name, among {names}")
        return found[0]
