"""One Verilog module for many equal components.

Amaranth writes a module for every instance of a component. For equal components that is slow to write and a burden
to read, so while Verilog is emitted, ``placed`` puts a black box in the place of a component and remembers what has
to be emitted once under its name. Simulators see the components themselves.
"""

from typing import Any

from amaranth.hdl import ClockSignal, Instance, ResetSignal
from amaranth.lib import wiring


class Emission:
    """The platform for which components are elaborated while Verilog is emitted. `name` is the prefix of every module's
    name.
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
        for path, member, value in component.signature.flatten(component):
            direction = "i" if member.flow == wiring.In else "o"
            ports[f"{direction}_{'__'.join(map(str, path))}"] = value
        return Instance(module, **ports)


def placed(platform: Any, kind: str, component: wiring.Component) -> Any:
    """Return what to add as a submodule for `component`. All components of the same `kind` are equal."""
    return platform.black_box(kind, component) if isinstance(platform, Emission) else component
