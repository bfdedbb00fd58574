"""Which tests judge a fault: those of the file that has it first, then the array as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_ENGINES = "tests/sim/test_engines.py"
_ICARUS = "test_cocotb[icarus-random]"
_PROOF = "tests/prove/test_proofs.py::test_proof"
_QUICK = (f"{_ENGINES}::test_amaranth_runs_regression[3]",)
_WHOLE = (*(f"{_ENGINES}::test_amaranth_runs_random_programs[{seed}]" for seed in (3, 4)), f"{_ENGINES}::{_ICARUS}")
_VERILOG = (
    f"{_ENGINES}::{_ICARUS}",
    "tests/hw/test_verilog_writer.py",
    "tests/hw/test_emit.py::test_icarus_computes_what_the_model_does",
)
_WRAPPER = "tests/hw/bus/test_axi_wrapper.py::test_words_of_the_evaluation"
_OWN: Mapping[str, tuple[str, ...]] = {
    "hw/barrel.py": ("tests/hw/test_mac.py", "tests/hw/test_rounder.py"),
    "hw/block_memories.py": ("tests/hw/test_block_memories.py",),
    "hw/block_queue.py": ("tests/hw/board/test_link_parts.py", "tests/hw/bus/test_parts.py"),
    "hw/border_queue.py": ("tests/hw/test_border_queue.py",),
    "hw/control.py": ("tests/hw/test_mac.py", f"{_PROOF}[lane, 8 bits]"),
    "hw/controller.py": ("tests/hw/test_controller.py", f"{_PROOF}[controller, 3 beats a sample]"),
    "hw/countdown.py": ("tests/hw/test_memory_and_tree.py", f"{_PROOF}[countdown]"),
    "hw/counters.py": ("tests/hw/test_memory_and_tree.py", f"{_PROOF}[counter of events, 6 bits]"),
    "hw/function_unit.py": ("tests/hw/test_function_pipelines.py",),
    "hw/functions/": ("tests/hw/test_function_pipelines.py",),
    "hw/generator.py": (f"{_PROOF}[generator, with a window]", "tests/hw/test_sequencer.py"),
    "hw/lane.py": (f"{_PROOF}[lane, 8 bits]",),
    "hw/loops.py": (f"{_PROOF}[loops, paced]", "tests/hw/test_sequencer.py"),
    "hw/mac.py": ("tests/hw/test_mac.py",),
    "hw/memory.py": ("tests/hw/test_memory_and_tree.py",),
    "hw/multiplier.py": ("tests/hw/test_memory_and_tree.py", f"{_PROOF}[multiplier]"),
    "hw/output.py": ("tests/hw/test_memory_and_tree.py", f"{_PROOF}[output buffer of 4 words]"),
    "hw/pipeline.py": ("tests/hw/test_mac.py",),
    "hw/reset.py": ("tests/hw/test_reset.py",),
    "hw/rounder.py": ("tests/hw/test_rounder.py", f"{_PROOF}[rounder, 16 bits]"),
    "hw/sequencer.py": ("tests/hw/test_sequencer.py",),
    "hw/strands.py": ("tests/hw/test_sequencer.py",),
    "hw/tokens.py": ("tests/hw/test_sequencer.py", f"{_PROOF}[delay of tokens, as a chain]"),
    "hw/tree.py": ("tests/hw/test_memory_and_tree.py", f"{_PROOF}[tree of 2 leaves]"),
    "hw/window.py": ("tests/hw/test_sequencer.py", f"{_PROOF}[window]"),
}
_FOLDERS: Mapping[str, tuple[str, ...]] = {
    "hw/board/": ("tests/hw/board/test_link_parts.py", "tests/link/test_simulated_board.py"),
    "hw/bus/": ("tests/hw/bus/test_parts.py", "tests/hw/bus/test_stream_in.py", _WRAPPER),
    "hw/overlay/": ("tests/hw/overlay/test_loader.py", "tests/end_to_end/test_overlay.py"),
}
"""Files of these folders are no part of an array that a program is built into."""
_TEXT = frozenset(
    f"hw/{name}.py"
    for name in ("emit", "expressions", "module_text", "names", "netlist", "operators", "places", "processes")
)
_CHECK = ("tests/schedule/test_check.py", "tests/schedule/test_planted_faults.py", "tests/schedule/test_residues.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """Tests that run one after the other, up to the first that fails."""

    tests: tuple[str, ...]
    limit: float = 600.0


def judge_of(file: str) -> Judge:
    """Return the tests that judge a fault in a file."""
    if not file.startswith("hw/"):
        return Judge(tests=_CHECK)
    for folder, tests in _FOLDERS.items():
        if file.startswith(folder):
            return Judge(tests=tests)
    if file in _TEXT:
        return Judge(tests=_VERILOG)
    own = next((tests for name, tests in _OWN.items() if file.startswith(name)), ())
    return Judge(tests=(*_QUICK, *own, *_WHOLE))
