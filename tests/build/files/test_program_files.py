"""The files of the microcode are what a host writes through the program port."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import tabla
from tabla.graph.evaluate import FixedPlan
from tabla.graph.words import to_words
from tabla.host.engines.amaranth_run import AmaranthMachine
from tabla.program.host import Host

PROGRAM = (
    "n = 3; mu = 0.5; model_input x[n]; model_output y; model w[n]; gradient g[n] -> w; iterator i[0:n];"
    " e = sum[i](w[i] * x[i]) - y; g[i] = e * x[i];"
)


class Programmable(AmaranthMachine):
    """A machine whose program port can be written between commands."""

    def __init__(self, image: Any) -> None:
        super().__init__(image)
        self._words: list[tuple[int, int, int]] = []
        hardware = self._hardware

        async def port(context: Any) -> None:
            while True:
                if self._words:
                    memory, address, word = self._words[0]
                    context.set(hardware.program_memory, memory)
                    context.set(hardware.program_address, address)
                    context.set(hardware.program_data, word)
                    context.set(hardware.program_valid, 1)
                    await context.tick()
                    context.set(hardware.program_valid, 0)
                    self._words.pop(0)
                await context.tick()

        self._simulator.add_testbench(port, background=True)

    def write(self, words: list[tuple[int, int, int]]) -> None:
        """Write words of microcode: memory, address and word of each."""
        self._words = list(words)
        while self._words:
            self._simulator.advance()


def test_the_files_restore_a_program(tmp_path: Path) -> None:
    """The manifest says which file belongs to which memory. Line n of the file is the word at address n."""
    (tmp_path / "m.t").write_text(PROGRAM)
    build = tabla.compile(tmp_path / "m.t", pes=1)
    folder = build.write(tmp_path / "made")
    memories = json.loads((folder / "m.json").read_text())["program"]["memories"]
    files = {memory["number"]: (folder / memory["file"]).read_text().split() for memory in memories}
    words = [(number, at, int(line, 16)) for number, lines in files.items() for at, line in enumerate(lines)]
    assert [len(files[memory["number"]]) for memory in memories] == [memory["words"] for memory in memories]

    chance, number = np.random.default_rng(1), build.format
    samples = {
        name: to_words(chance.uniform(-1, 1, (3, *shape)), number, name) for name, shape in (("x", (3,)), ("y", ()))
    }
    models = {"w": to_words(chance.uniform(-1, 1, 3), number, "w")}
    plan, host = FixedPlan.of(build.lowered, number), Host(build.schedule)
    plan.load(models)
    expected = plan.run(samples, [], 3).models["w"].tolist()

    def learned(machine: Programmable) -> list[int]:
        machine.load(host.load_beats(models))
        machine.run(host.sample_beats(samples), 3)
        found: list[int] = host.models(machine.dump(host.dump_count))["w"].tolist()
        return found

    with Programmable(build.image) as machine:
        # A run ends the reset, in which nothing is written.
        assert learned(machine) == expected
        # Operations without a field do nothing that the program needs.
        spoilt = [(memory, at, 0) for memory, at, _ in words if memories[memory]["unit"].startswith("lane_issue")]
        spoilt = [(memory, at, 0) for memory, at, _ in spoilt if memories[memory]["kind"] == "operations"]
        machine.write(spoilt)
        assert learned(machine) != expected
        machine.write(words)
        assert learned(machine) == expected
