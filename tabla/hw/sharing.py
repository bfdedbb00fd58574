"""One Verilog module for many equal components.

Amaranth writes a module for every instance of a component. For equal components that is slow to write and a burden
to read, so while Verilog is emitted, ``placed`` puts a black box in the place of a component and remembers what has
to be emitted once under its name. Simulators see the components themselves.
"""

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import ClockSignal, Instance, ResetSignal
from amaranth.lib import wiring

EXPRESSION = "="
"""Begins the text of a parameter whose rest is an expression of Verilog."""


def words_expression(words: Sequence[int], width: int) -> str:
    """Return words as one vector of Verilog, the first in the lowest `width` bits."""
    digits, mask = -(-width // 4), (1 << width) - 1
    return "{" + ", ".join(f"{width}'h{word & mask:0{digits}x}" for word in reversed(words)) + "}"


class Emission:
    """The platform for which components are elaborated while Verilog is emitted. `name` is the prefix of every module's
    name.

    Components of a kind are equal but for the parameters of their module. Such a component says in `module_parameters`
    how many bits each has, and in `settings` which expression of Verilog it has where the component is placed.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.modules: dict[str, wiring.Component] = {}

    def black_box(self, kind: str, component: wiring.Component) -> Instance:
        """Return an instance of module `<name>_<kind>`, wired to the component's own members."""
        module = f"{self.name}_{kind}"
        self.modules.setdefault(module, component)
        # All but the first component of a kind only lend their ports; Amaranth would warn that they go unused.
        component._MustUse__silence = True
        ports: dict[str, Any] = {"i_clk": ClockSignal(), "i_rst": ResetSignal()}
        ports |= {f"p_{name}": EXPRESSION + text for name, text in getattr(component, "settings", {}).items()}
        for path, member, value in component.signature.flatten(component):
            direction = "i" if member.flow == wiring.In else "o"
            ports[f"{direction}_{'__'.join(map(str, path))}"] = value
        return Instance(module, **ports)


def numbered(kind: str, number: int) -> str:
    """Return the name of one of several kinds of a component: that of the first one has no number."""
    return f"{kind}_{number}" if number else kind


def placed(platform: Any, kind: str, component: wiring.Component) -> Any:
    """Return what to add as a submodule for `component`. All components of the same `kind` are equal."""
    return platform.black_box(kind, component) if isinstance(platform, Emission) else component
