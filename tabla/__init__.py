"""TABLA: from the gradient of a loss to an FPGA accelerator that learns.

build = tabla.compile("model.t", pes=16)    # a program that cannot be compiled raises tabla.TablaError
build.evaluate(arrays)                      # what the program means, in fixed point or float64
build.simulate(arrays)                      # the same from the simulated accelerator, cycles counted
build.train("data.npz", epochs=5)           # learns on it, float64 beside it
build.write("build/")                       # Verilog, images, manifest, pictures, a test bench
build.report()                              # cycles, bound, utilisation
"""

from pathlib import Path as _Path
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

_root = _Path(__file__).resolve().parent.parent
if (_root / "setup.cfg").is_file():  # a checkout: hw/, sim/, templates/ lie beside us
    __path__.append(str(_root))  # an installed wheel has them inside and skips this

from tabla._version import VERSION as __version__  # noqa: E402  (after the path is complete)
from tabla.source import TablaError  # noqa: E402

if _TYPE_CHECKING:
    from tabla.driver import Build, compile

__all__ = ["Build", "TablaError", "__version__", "compile"]


def __getattr__(name: str) -> _Any:
    """`compile` and `Build` bring the whole compiler; they are fetched when they are first asked for."""
    if name in ("compile", "Build"):
        from tabla import driver

        return getattr(driver, name)
    raise AttributeError(f"module 'tabla' has no attribute '{name}'")
