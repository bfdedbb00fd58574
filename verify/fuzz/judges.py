"""Which tests judge a fault: one quick program, the tests and proofs of the file that has it, then the whole array.

A fault that all of these miss is judged by further tests of its folder. Those of ports and prices come first among
them, because they are the quickest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_ENGINES = "tests/sim/test_engines.py"
_ICARUS = f"{_ENGINES}::test_cocotb[icarus-random]"
_QUICK = (f"{_ENGINES}::test_amaranth_runs_regression[3]",)
_WHOLE = (
    *(f"{_ENGINES}::test_amaranth_runs_random_programs[{seed}]" for seed in (3, 4)),
    _ICARUS,
    "tests/hw/test_reset.py::test_reset_in_the_midst_of_a_command[1-30]",
)
_VERILOG = (
    "tests/hw/test_verilog_writer.py",
    _ICARUS,
    "tests/hw/test_emit.py",
    "tests/hw/test_reset.py::test_reset_in_the_midst_of_a_command[1-30]",
)
_PARTS = "tests/hw/test_memory_and_tree.py"


def _proofs(*subjects: str) -> tuple[str, ...]:
    return tuple(f"tests/verify/prove/test_proofs.py::test_proof[{subject}]" for subject in subjects)


_LANE = _proofs("lane, 8 bits", "lane of an overlay, 8 bits", "lane of one addend shift, 8 bits")
_QUEUES = _proofs(
    *("border queue of 3 roots, 12 words", "queue of 4 roots, 16 words, beats of 2"),
    "queue of 8 roots, 96 words, beats of 4",
)
_STREAM_IN = ("tests/hw/bus/test_stream_in.py", *_proofs("input stream"))
_LINK = ("tests/hw/board/test_link_parts.py",)
_OWN: Mapping[str, tuple[str, ...]] = {
    "hw/barrel.py": ("tests/hw/test_rounder.py", "tests/hw/test_mac.py", *_proofs("lane of an overlay, 8 bits")),
    "hw/block_memories.py": ("tests/hw/test_block_memories.py",),
    "hw/block_queue.py": (
        *_LINK,
        "tests/hw/bus/test_parts.py",
        *_proofs("queue of the serial link", "queue of the bus"),
    ),
    "hw/border_queue.py": ("tests/hw/test_border_queue.py", *_QUEUES),
    "hw/board/frames.py": (*_LINK, *_proofs("receiver of frames", "frames from sender to receiver")),
    "hw/board/uart.py": (*_LINK, *_proofs("bytes over a line of 2 cycles a bit")),
    "hw/bus/axi_lite.py": ("tests/hw/bus/test_parts.py", *_proofs("AXI4-Lite channels")),
    "hw/bus/commands.py": ("tests/hw/bus/test_parts.py", *_proofs("registers")),
    "hw/bus/registers.py": ("tests/hw/bus/test_parts.py", *_proofs("registers")),
    "hw/bus/slice.py": ("tests/hw/bus/test_parts.py", *_STREAM_IN),
    "hw/bus/stream_in.py": _STREAM_IN,
    "hw/bus/stream_out.py": (
        "tests/hw/bus/test_parts.py",
        *_proofs("output stream, 18 bits", "output stream, 12 bits"),
    ),
    "hw/bus/unit_buffer.py": ("tests/hw/bus/test_parts.py", *_STREAM_IN),
    "hw/bus/verdict.py": _STREAM_IN,
    "hw/bus/": ("tests/hw/bus/test_parts.py", *_STREAM_IN),
    "hw/control.py": ("tests/hw/test_mac.py", *_LANE),
    "hw/controller.py": (
        *_proofs("controller, 3 beats a sample", "controller, 1 beats a sample", "controller, 0 beats a sample"),
        "tests/hw/test_controller.py",
    ),
    "hw/countdown.py": (_PARTS, *_proofs("countdown")),
    "hw/counters.py": (_PARTS, *_proofs("counter of events, 6 bits", "counter of events, 14 bits")),
    "hw/function_unit.py": ("tests/hw/test_function_pipelines.py",),
    "hw/functions/quotient.py": (
        "tests/hw/test_function_pipelines.py",
        *_proofs("division, 8 bits", "quotient of integers, 8 bits"),
    ),
    "hw/functions/": ("tests/hw/test_function_pipelines.py",),
    "hw/generator.py": (
        *_proofs("generator, with a window", "generator, early", "generator, of one operation"),
        "tests/hw/test_sequencer.py",
    ),
    "hw/group": ("tests/hw/test_guards.py",),
    "hw/lane.py": _LANE,
    "hw/loops.py": (
        *_proofs("loops, paced", "loops, of one operation", "loops, unpaced"),
        "tests/hw/test_sequencer.py",
    ),
    "hw/mac.py": ("tests/hw/test_mac.py", *_LANE),
    "hw/memory.py": (_PARTS,),
    "hw/multiplier.py": (_PARTS, *_proofs("multiplier")),
    "hw/output.py": (_PARTS, *_proofs("output buffer of 4 words", "output buffer of 1100 words")),
    "hw/pipeline.py": ("tests/hw/test_mac.py", *_LANE),
    "hw/reset.py": ("tests/hw/test_reset.py",),
    "hw/rounder.py": (
        "tests/hw/test_rounder.py",
        *_proofs("rounder, 16 bits", "rounder, 16 bits, 5 shifts", "plain rounder, of two words, 16 bits"),
    ),
    "hw/sequencer.py": ("tests/hw/test_sequencer.py",),
    "hw/strands.py": ("tests/hw/test_sequencer.py",),
    "hw/tokens.py": (
        *_proofs("delay of tokens, as a chain", "delay of tokens, as due times", "delay of tokens, held in registers"),
        "tests/hw/test_sequencer.py",
    ),
    "hw/tree.py": (_PARTS, *_proofs("tree of 2 leaves", "tree of 3 leaves", "tree of 3 leaves, in order")),
    "hw/window.py": (*_proofs("window"), "tests/hw/test_sequencer.py"),
}
_WRAPPER = "tests/hw/bus/test_axi_wrapper.py::test_words_of_the_evaluation"
_FOLDERS: Mapping[str, tuple[str, ...]] = {
    "hw/board/": (*_LINK, "tests/host/link/test_simulated_board.py"),
    "hw/bus/": (_WRAPPER, "tests/hw/bus/test_axi_wrapper.py::test_results_that_leave_in_beats_of_four_words"),
    "hw/overlay/": ("tests/hw/overlay/test_loader.py", "tests/end_to_end/test_overlay.py"),
}
"""Files of these folders are no part of an array that a program is built into."""
_TEXT = frozenset(
    f"hw/{name}.py"
    for name in ("emit", "expressions", "module_text", "names", "netlist", "operators", "places", "processes")
)


def _bills(*designs: str) -> tuple[str, ...]:
    return tuple(f"{PRICES}[{design}]" for design in designs)


PRICES = "tests/hw/test_bill.py::test_ports_and_prices_are_those_that_were_looked_at"
_SEVERAL = (
    *("roots-and-guards", "linear", "roots-and-extremes", "sequencers", "guards-at-the-root", "random"),
    *("functions", "overlay"),
)
_ARRAYS = (
    *_bills(*_SEVERAL),
    *("tests/hw/test_features.py", "tests/hw/test_guards.py", "tests/hw/test_memory_and_tree.py"),
    *("tests/hw/test_controller.py", "tests/hw/test_accelerator.py", "tests/hw/test_sequencer.py"),
    *(f"tests/end_to_end/{name}.py" for name in ("test_several_roots_port", "test_several_roots_lean")),
    *("tests/end_to_end/test_sequencers.py::test_sequencers_side_by_side_in_icarus", "tests/hw/test_reset_cycles.py"),
    *("tests/end_to_end/test_model_guard.py::test_the_verilog_learns_what_the_witness_does",),
    *("tests/end_to_end/test_wide_output.py", "tests/end_to_end/test_overlay.py"),
)
_TEXTS = ("tests/hw/test_verilog_writer.py", "tests/hw/test_emit.py", "tests/hw/test_bill.py")
_WIDER: Mapping[str, tuple[str, ...]] = {
    "hw/board/": (
        *_bills("board-ecp5", "board-gowin", "board-overlay"),
        *("tests/hw/board", "tests/build/synth/test_board.py", "tests/host/link/test_simulated_board.py"),
    ),
    "hw/bus/text.py": ("tests/commands/test_cli_bus.py",),
    "hw/bus/": (
        *_bills("axi-32", "axi-128", "axi-overlay"),
        *("tests/hw/bus/test_commands.py", "tests/hw/bus/test_parts.py", "tests/hw/bus/test_stream_in.py"),
        *_proofs("order of commands, 2 at work", "units of the input stream, half as wide"),
        *_proofs("units of the input stream, twice as wide", "units of the input stream, as wide as the bus"),
        "tests/hw/bus",
    ),
    "hw/controller.py": (*_bills("linear", "axi-32"), "tests/hw/test_controller.py", *_ARRAYS),
    "hw/functions/": (*_bills("functions", "roots-and-extremes"), "tests/hw/test_function_pipelines.py"),
    "hw/overlay/": (
        *_bills("overlay", "axi-overlay", "board-overlay"),
        *("tests/hw/overlay", "tests/end_to_end/test_overlay.py"),
        *_proofs("order of commands of an overlay"),
    ),
    "hw/reset.py": ("tests/hw/test_reset_cycles.py",),
    "hw/serial_out.py": _proofs("one port for 2 roots", "one port for 3 roots"),
    "hw/tree.py": ("tests/hw/test_memory_and_tree.py", *_ARRAYS),
}
_CHECK = ("tests/schedule/test_residues.py", "tests/schedule/test_planted_faults.py", "tests/schedule/test_check.py")
_CHECK_WIDER = (
    *(f"tests/schedule/{name}.py" for name in ("test_checker_parts", "test_wide_models", "test_output_port")),
    "tests/end_to_end/test_wide_output.py::test_schedules_that_break_the_law_of_the_port_are_refused",
)


@dataclass(frozen=True, kw_only=True)
class Judge:
    """Tests that run one after the other, up to the first that fails, and the seconds after which they are ended.

    `wider` are those for faults that `tests` miss.
    """

    tests: tuple[str, ...]
    wider: tuple[str, ...] = ()
    limit: float = 3000.0


def judge_of(file: str) -> Judge:
    """Return the tests that judge a fault in a file."""
    if not file.startswith("hw/"):
        return Judge(tests=_CHECK, wider=_CHECK_WIDER)
    own = next((tests for name, tests in _OWN.items() if file.startswith(name)), ())
    wider = next((tests for name, tests in _WIDER.items() if file.startswith(name)), _ARRAYS)
    for folder, tests in _FOLDERS.items():
        if file.startswith(folder):
            return Judge(tests=tuple(dict.fromkeys((*own, *tests))), wider=wider)
    if file in _TEXT:
        return Judge(tests=_VERILOG, wider=_TEXTS)
    return Judge(tests=(*_QUICK, *own, *_WHOLE), wider=wider)
