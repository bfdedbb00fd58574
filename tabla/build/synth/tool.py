"""Running the YoWASP tools: Yosys, nextpnr and the packers, as Python packages with WebAssembly programs."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

from tabla.base.processes import run
from tabla.base.source import TablaError, extra


def require(module: str, package: str) -> None:
    """Raise `TablaError`, which names the package to install, if the Python module of a tool is not installed."""
    if find_spec(module) is None:
        raise TablaError(
            f"the Python package {package} is not installed",
            hint=f"pip install {package}, or all that synthesis needs: {extra('synth')}",
        )


def run_tool(
    module: str, package: str, arguments: list[str], folder: Path, entry: str | None = None
) -> tuple[int, str]:
    """Run a tool in `folder` and return its exit status and its output.

    The run calls the function `entry` of the tool's module, by default the one that the tool's own script calls. Each
    run is a process of its own, because a WebAssembly program may end the process that runs it. File names in
    `arguments` are relative to `folder`. A tool that is not installed is a `TablaError`.
    """
    require(module, package)
    entry = entry or f"_run_{module.removeprefix('yowasp_')}_argv"
    program = f"import sys, {module}; sys.exit({module}.{entry}())"
    done = run([sys.executable, "-c", program, *arguments], folder)
    return done.status, done.said


def last_words(said: str) -> tuple[str, ...]:
    """Return the part of a failed tool's output to show: up to five lines with errors, or else the last five lines."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return tuple([line for line in lines if "ERROR" in line][:5] or lines[-5:])
