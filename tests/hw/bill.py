"""The bill of a design: for each of its modules the ports, and what a chip has to give for it.

The bill counts what has a price of its own on every chip: bits of registers, with a reset and without one; memories
and their attributes; multipliers, adders, comparators and shifters with their widths; and the bits that synthesis must
keep. It does not count gates and multiplexers, and it says nothing of the function.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from amaranth.hdl import Fragment, Value, _nir
from amaranth.hdl._ir import PortDirection, build_netlist
from amaranth.lib import wiring

from tabla.hw.sharing import Emission

_PRICED = {
    "multipliers": ("*",),
    "adders": ("+", "-"),
    "comparators": ("==", "!=", "u<", "s<", "u>", "s>", "u<=", "s<=", "u>=", "s>="),
    "shifters": ("<<", "u>>", "s>>"),
}


def bill(component: wiring.Component) -> str:
    """Return the bill of a component and of all components in it. Equal modules stand there once."""
    platform, waiting, found = Emission("shared"), {"top": component}, dict[str, str]()
    while waiting:
        module, made = waiting.popitem()
        found |= _modules(made, module, platform)
        waiting |= {n: c for n, c in platform.modules.items() if n not in found}
    places: dict[str, list[str]] = {}
    for path in sorted(found):
        places.setdefault(found[path], []).append(path)
    named = ((where[0] + (f", and {len(where) - 1} more" if where[1:] else ""), text) for text, where in places.items())
    return "\n".join(f"{name}\n{text}" for name, text in named)


def _modules(component: wiring.Component, name: str, platform: Emission) -> Iterator[tuple[str, str]]:
    """Yield the path and the bill of each module of a component, but not of those that are placed by name."""
    fragment: Any = Fragment.get(component, platform)
    ports = {
        "__".join(map(str, path)): (
            Value.cast(value),
            PortDirection.Input if member.flow == wiring.In else PortDirection.Output,
        )
        for path, member, value in component.signature.flatten(component)
    }
    signatures = dict(_signatures(fragment, name))
    netlist = build_netlist(fragment, ports=ports, name=name)
    no_reset = {
        net.cell for signal, value in netlist.signals.items() if signal.reset_less for net in value if net.is_cell
    }
    kept = _kept(netlist)
    for number, module in enumerate(netlist.modules):
        path = ".".join(module.name)
        cells = [(index, netlist.cells[index]) for index in module.cells]
        lines = [
            *signatures.get(path, []),
            *_registers(cells, no_reset),
            *_words("kept by synthesis", kept[number]),
            *_memories(cells, netlist),
            *_operators(cell for _, cell in cells),
            *_instances(cell for _, cell in cells),
        ]
        yield path, "".join(f"  {line}\n" for line in lines)


def _signatures(fragment: Any, name: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the class and the ports of each component, as its data sheet lists them, by its path."""
    for origin in fragment.origins or ():
        if isinstance(origin, wiring.Component):
            ports: dict[str, list[str]] = {"In": [], "Out": []}
            for path, member, value in origin.signature.flatten(origin):
                shape = Value.cast(value).shape()
                sign = "s" if shape.signed else ""
                ports[member.flow.name].append(f"{'.'.join(map(str, path))}:{sign}{shape.width}")
            listed = [f"{way.lower()} {' '.join(names)}" for way, names in ports.items() if names]
            yield name, [type(origin).__name__, *listed]
            break
    for number, (inner, inner_name, _) in enumerate(fragment.subfragments):
        yield from _signatures(inner, f"{name}.{inner_name or f'U${number}'}")


def _registers(cells: Iterable[tuple[int, Any]], no_reset: set[int]) -> list[str]:
    bits = Counter[str]()
    for index, cell in cells:
        if isinstance(cell, _nir.FlipFlop):
            bits["without reset" if index in no_reset else "with reset"] += len(cell.data)
    return _words("registers", bits)


def _kept(netlist: Any) -> list[Counter[str]]:
    """Return, for each module, the bits of signals that have attributes, by the attributes."""
    found = [Counter[str]() for _ in netlist.modules]
    for number, module in enumerate(netlist.modules):
        for signal in module.signal_names:
            owned = [net for net in netlist.signals[signal] if net.is_cell and net.cell in module.cells]
            for name, value in signal.attrs.items() if owned else ():
                found[number][f"{name}={value}"] += len(signal)
    return found


def _memories(cells: Iterable[tuple[int, Any]], netlist: Any) -> list[str]:
    ports = Counter[tuple[int, str]]()
    for cell in netlist.cells:
        match cell:
            case _nir.SyncWritePort():
                ports[cell.memory, "write"] += 1
            case _nir.SyncReadPort():
                ports[cell.memory, "read"] += 1
            case _nir.AsyncReadPort():
                ports[cell.memory, "read at once"] += 1
    found = Counter[str]()
    for index, cell in cells:
        if isinstance(cell, _nir.Memory):
            ways = [f"{n} {kind}" for (memory, kind), n in sorted(ports.items()) if memory == index]
            marks = [f"{name}={value}" for name, value in sorted(cell.attributes.items())]
            found[f"memory {cell.depth}x{cell.width}: {', '.join([*ways, *marks])}"] += 1
    return [text + (f", {count} times" if count > 1 else "") for text, count in sorted(found.items())]


def _operators(cells: Iterable[Any]) -> list[str]:
    found = {kind: Counter[str]() for kind in _PRICED}
    for cell in cells:
        if not isinstance(cell, _nir.Operator):
            continue
        for kind, operators in _PRICED.items():
            if cell.operator in operators:
                found[kind][_width(kind, cell)] += 1
    return [line for kind, widths in found.items() for line in _words(kind, widths)]


def _width(kind: str, cell: Any) -> str:
    if kind == "multipliers":
        return "x".join(str(_significant(word)) for word in cell.inputs)
    return f"{len(cell.inputs[0]):02}"


def _significant(word: Any) -> int:
    """Return the bits of a word without those that only repeat its sign or are 0."""
    bits = list(word)
    zero = _nir.Net.from_const(0)
    while len(bits) > 1 and bits[-1] in (zero, bits[-2]):
        bits.pop()
    return len(bits)


def _instances(cells: Iterable[Any]) -> list[str]:
    """Return the modules that are placed by name, with their parameters and the inputs that are constants."""
    found = []
    for cell in cells:
        if isinstance(cell, _nir.Instance):
            given = [f"{name}={value}" for name, value in cell.parameters.items()]
            given += [f"{name}={v}" for name, value in cell.ports_i.items() if (v := _constant(value)) is not None]
            if not cell.type.startswith("shared_"):
                given += [f"{name}:{len(v)}" for name, v in cell.ports_i.items() if _constant(v) is None]
            found.append(f"instance {cell.type}: {' '.join(given)}".rstrip(": "))
    counted = Counter(found)
    return [text + (f", {count} times" if count > 1 else "") for text, count in counted.items()]


def _constant(value: Any) -> str | None:
    return "".join(str(net.const) for net in reversed(value)) if all(net.is_const for net in value) else None


def _words(title: str, counted: Counter[str]) -> list[str]:
    parts = [f"{key} {count}" if " " in key or "=" in key else f"{key}*{count}" for key, count in counted.items()]
    return [f"{title}: {', '.join(sorted(parts))}"] if parts else []
