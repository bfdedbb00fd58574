"""A clocked test bench for one component: inputs by cycle in, outputs by cycle out."""

from collections.abc import Mapping, Sequence
from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.sim import Simulator

from tabla.hw.features import UnitFeatures
from tabla.templates.instructions import operation_format


def played(component: wiring.Component, inputs: Sequence[Mapping[str, Any]], *, more: int = 0) -> list[dict[str, Any]]:
    """The outputs in each cycle while the inputs of that cycle are driven; inputs not named keep their values.

    Member names may have dots. `more` cycles follow with the last inputs.
    """

    def member(name: str) -> Any:
        found: Any = component
        for part in name.split("."):
            found = found[int(part)] if part.isdigit() else getattr(found, part)
        return found

    outputs = [
        ".".join(map(str, path)) for path, item, _ in component.signature.flatten(component) if item.flow == wiring.Out
    ]
    seen: list[dict[str, Any]] = []

    async def testbench(context: Any) -> None:
        for cycle in range(len(inputs) + more):
            for name, value in (inputs[cycle] if cycle < len(inputs) else {}).items():
                context.set(member(name), value)
            seen.append({name: context.get(member(name)) for name in outputs})
            await context.tick()

    # A register beside the component: some components are wires only, and a clock wants something to drive.
    module = Module()
    module.submodules.component = component
    module.d.sync += Signal().eq(1)
    simulator = Simulator(module)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()
    return seen


def every_feature(unit: str, levels: int = 3) -> UnitFeatures:
    """Features of a program that uses everything that the unit can do."""
    form = operation_format(unit)
    return UnitFeatures(
        values={f.name: frozenset(f.choices or map(str, range(1 << f.width))) for f in form.fields},
        addend_shifts=frozenset(range(4)),
        result_shifts=frozenset(range(4)),
        generators=frozenset(form.generators),
        windowed=frozenset(form.generators),
        guarded=True,
        slots=4,
        paced=True,
        moves={name: frozenset(range(levels)) for name in form.generators},
    )


def corners(width: int) -> list[int]:
    """Words where arithmetic goes wrong first."""
    top = 1 << (width - 1)
    near = {0, 1, 2, 3, top - 1, top - 2, top // 2, top // 2 - 1, top // 2 + 1, top // 3}
    return sorted({*near, *(-word for word in near), -top, -top + 1, -1})
