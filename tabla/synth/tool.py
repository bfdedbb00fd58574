"""One run of a YoWASP tool in a private folder."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from tabla.source import TablaError


def require(module: str, package: str) -> None:
    """Refuse with a `TablaError` that names the package if the tool's Python module is not there."""
    if find_spec(module) is None:
        raise TablaError(
            f"the Python package {package} is not installed",
            hint=f"pip install {package}, or all that synthesis needs: pip install tabla[synth]",
        )


def run_tool(
    module: str, package: str, arguments: list[str], folder: Path, entry: str | None = None
) -> tuple[int, str]:
    """Run the tool (its module's `_run_..._argv`, or `entry`, which its own script calls) in `folder`; its status and
    all it said.

    Each run is a process of its own: the tools are WebAssembly programs that may end the process that runs them. File
    names in `arguments` are relative to `folder`. A tool that is not installed is a `TablaError`.
    """
    require(module, package)
    entry = entry or f"_run_{module.removeprefix('yowasp_')}_argv"
    program = f"import sys, {module}; sys.exit({module}.{entry}())"
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.returncode, done.stdout.decode("utf-8", errors="replace")


def last_words(said: str) -> tuple[str, ...]:
    """What of a failed tool's output to show: its errors, or else its last lines."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return tuple([line for line in lines if "ERROR" in line][:5] or lines[-5:])
