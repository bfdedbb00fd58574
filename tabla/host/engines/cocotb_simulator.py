"""The process that builds a simulator with cocotb's runner and runs it; :mod:`tabla.host.engines.cocotb_run` starts it.

The runner starts compilers and the simulator, and has no way to end them. Here all of them are one process group, which
ends with whoever started this process. This file is run as a script and imports nothing of ours.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from pathlib import Path

BUILT = "built"
"""The name of the empty file that appears in the folder when the simulator is built."""


def _end_with_starter() -> None:
    """Kill the process group when standard input closes: then the process that started this one has ended."""
    os.read(0, 1)
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def main() -> None:
    """Build the simulator and run it. The argument is a JSON object with the names of `simulator`, `module`, `folder`
    and `test` (the module of the bench), and the simulator's `options`.
    """
    threading.Thread(target=_end_with_starter, daemon=True).start()
    from cocotb_tools.runner import get_runner

    order = json.loads(sys.argv[1])
    folder = Path(order["folder"])
    runner = get_runner(order["simulator"])
    runner.build(
        sources=[folder / "design.v"],
        hdl_toplevel=order["module"],
        build_args=order.get("options", []),
        build_dir=folder / "build",
        timescale=("1ns", "1ps"),
        always=True,
        log_file=folder / "build.log",
    )
    (folder / BUILT).touch()
    runner.test(
        hdl_toplevel=order["module"],
        test_module=order["test"],
        build_dir=folder / "build",
        test_dir=folder,
        timescale=("1ns", "1ps"),
        log_file=folder / "test.log",
    )


if __name__ == "__main__":
    main()
