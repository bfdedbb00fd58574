"""The timing diagrams of ``docs/ports.md``: ``python -m manual.timing`` writes them into ``docs``, with WaveDrom.

They show what a simulation of the hardware does at the ports, for the program of that page. Cycles in which nothing
happens are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1] / "docs"
# The ports in each picture; those with a second name are data, which only mean something while that port is 1.
PICTURES: dict[str, tuple[str, ...]] = {
    "ports-load": (
        *("rst", "command_valid", "command_ready", "command_code command_valid", "busy"),
        *("in_valid", "in_ready", "in_data in_valid"),
    ),
    "ports-run": (
        *("command_valid", "command_ready", "command_code command_valid", "command_count command_valid", "busy"),
        *("in_valid", "in_ready", "in_data in_valid", "sample_start", "update", "out_valid", "out_data out_valid"),
    ),
    "ports-dump": (
        *("command_valid", "command_ready", "command_code command_valid", "command_count command_valid", "busy"),
        *("sample_start", "out_valid", "out_ready", "out_data out_valid"),
    ),
}
Cycle = dict[str, int]


def program() -> str:
    """Return the program of the page."""
    found = re.search(r"^```text file=line\.t\n(.*?)^```", (DOCS / "ports.md").read_text(encoding="utf-8"), re.S | re.M)
    assert found
    return found[1]


def recorded(text: str) -> dict[str, list[Cycle]]:
    """Return the values of the ports in each cycle of a load, a run of two samples and a dump, by picture."""
    import tempfile

    from amaranth.sim import Simulator

    import tabla
    from tabla.hw.accelerator import Accelerator
    from tabla.hw.reset import reset_cycles
    from tabla.program.host import Host

    with tempfile.TemporaryDirectory(prefix="tabla-timing-") as folder:
        path = Path(folder) / "line.t"
        path.write_text(text, encoding="utf-8")
        build = tabla.compile(path, pes=2, stream_words=2, results=["h"])
    host, device = Host(build.schedule), Accelerator(build.image)
    models, inputs = _words(host)
    width = build.image.parameters.width
    beats = {
        "ports-load": _packed(host.load_beats(models).tolist(), width),
        "ports-run": _packed(host.sample_beats(inputs).tolist(), width),
        "ports-dump": [],
    }
    commands = {"ports-load": (0, 0), "ports-run": (1, 2), "ports-dump": (2, host.dump_count)}
    shown: dict[str, list[Cycle]] = {name: [] for name in PICTURES}
    ports = sorted({port for picture in PICTURES.values() for row in picture for port in row.split()} - {"rst"})

    async def bench(context: Any) -> None:
        context.set(device.out_ready, 1)
        for name, cycles in shown.items():
            code, count = commands[name]
            waiting = list(beats[name])
            resets = reset_cycles(build.image) if name == "ports-load" else 0
            for time in range(400):
                start = time - resets - 1
                context.set(device.command_valid, int(start == 0))
                context.set(device.command_code, code)
                context.set(device.command_count, count)
                context.set(device.in_valid, int(start >= 0 and bool(waiting)))
                context.set(device.in_data, waiting[0] if waiting else 0)
                # A receiver that is busy for three cycles after the first words of a dump.
                offered = sum(cycle["out_valid"] for cycle in cycles)
                context.set(device.out_ready, int(name != "ports-dump" or offered not in (4, 5, 6)))
                values = {port: int(context.get(getattr(device, port))) for port in ports}
                cycles.append({**values, "rst": int(start < -1)})
                if start > 2 and not values["busy"]:
                    break
                if values["in_valid"] and values["in_ready"]:
                    waiting.pop(0)
                await context.tick()

    simulator = Simulator(device)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return shown


def _words(host: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the models of the page, and two samples whose words are 1, 2, 3 and so on."""
    import numpy as np

    models = {"w": np.array([512, -256, 0, 0, 0]), "b": np.array(1024)}
    inputs = {"x": np.array([[1, 2, 3, 4, 5], [7, 8, 9, 10, 11]]), "y": np.array([6, 12])}
    return models, inputs


def _packed(beats: Sequence[Sequence[int]], width: int) -> list[int]:
    mask = (1 << width) - 1
    return [sum((word & mask) << (place * width) for place, word in enumerate(beat)) for beat in beats]


def diagram(rows: Sequence[str], cycles: Sequence[Cycle]) -> dict[str, Any]:
    """Return a picture in WaveDrom's notation."""
    columns = [_column(row, cycles) for row in rows]
    seen = list(zip(*columns, strict=True))
    # Of a long time without any change only the first cycles and the last one are shown, with a gap between.
    kept: list[tuple[int, bool]] = []
    for number in range(len(cycles)):
        quiet = [n for n in (number - 2, number - 1, number + 1) if 0 <= n < len(cycles) and seen[n] == seen[number]]
        if len(quiet) < 3:
            kept.append((number, False))
        elif kept and not kept[-1][1]:
            kept.append((number, True))
    clock = "".join("|" if gap else "." if place else "p" for place, (_, gap) in enumerate(kept))
    signals: list[dict[str, Any]] = [{"name": "clk", "wave": clock}]
    for place, row in enumerate(rows):
        wave, data, before = "", [], None
        for number, gap in kept:
            value = seen[number][place]
            if gap:
                wave += "|"
            elif value == before:
                wave += "."
            elif " " in row and value != "x":
                wave += "="
                data.append(value)
            else:
                wave += value
            before = value
        signals.append({"name": row.partition(" ")[0], "wave": wave, **({"data": data} if data else {})})
    return {"signal": signals, "config": {"hscale": 1}}


def _column(row: str, cycles: Sequence[Cycle]) -> list[str]:
    """Return what a row shows in each cycle: a bit, the number of a beat or of a word, or a value; x if it is none."""
    port, _, valid = row.partition(" ")
    if not valid:
        return [str(cycle[port]) for cycle in cycles]
    column, taken = [], 0
    for cycle in cycles:
        shown = taken if port.endswith("_data") else cycle[port]
        column.append(str(shown) if cycle[valid] else "x")
        taken += cycle[valid] and cycle[valid.replace("_valid", "_ready")]
    return column


def pictures() -> dict[str, str]:
    """Return the pictures as SVG, by their names. The same program gives the same text."""
    import wavedrom

    shown = recorded(program())
    return {
        name: str(wavedrom.render(json.dumps(diagram(rows, shown[name]))).tostring()) + "\n"
        for name, rows in PICTURES.items()
    }


def main() -> None:
    """Write all pictures."""
    for name, text in pictures().items():
        (DOCS / f"{name}.svg").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
