"""TABLA: from the gradient of a loss to an FPGA accelerator that learns.

build = tabla.compile("model.t", pes=16)    # raises tabla.TablaError if the program cannot be compiled
build.evaluate(arrays)                      # computes the program's results without hardware
build.simulate(arrays)                      # computes them on the simulated accelerator and counts its cycles
build.train("data.npz", epochs=5)           # trains the models on the simulated accelerator and in float64
tabla.from_onnx("model.onnx", pes=16)       # compiles a network that was trained elsewhere
tabla.formats("model.t", "data.npz", split=(0.2, 0.2))    # compares number formats by what they learn
tabla.Data("x.csv", classes="y", split=0.2)  # describes data, which train, test, formats and explore take
tabla.explore("model.t", pes=(4, 8, 16))    # compares arrays by samples per second and area
build.write("build/")                       # writes Verilog, memory images, manifest, pictures and a test bench
build.report()                              # returns cycles, their lower bound and the use of the multipliers
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from tabla._version import VERSION as __version__
from tabla.base.source import TablaError

if _TYPE_CHECKING:
    from tabla.driver import Build, compile
    from tabla.imported import from_onnx, from_sklearn
    from tabla.learn.data.dataset import Data
    from tabla.learn.explore import explore
    from tabla.learn.formats import formats

__all__ = ["Build", "Data", "TablaError", "__version__", "compile", "explore", "formats", "from_onnx", "from_sklearn"]


def __getattr__(name: str) -> _Any:
    """Import the names of `__all__` when they are first used, because they import the whole compiler."""
    if name in ("compile", "Build"):
        from tabla import driver

        return getattr(driver, name)
    if name in ("from_onnx", "from_sklearn"):
        from tabla import imported

        return getattr(imported, name)
    if name == "Data":
        from tabla.learn.data import dataset

        return dataset.Data
    if name == "explore":
        from tabla.learn import explore as exploration

        return exploration.explore
    if name == "formats":
        from tabla.learn import formats as module

        return module.formats
    raise AttributeError(f"module 'tabla' has no attribute '{name}'")


def __dir__() -> list[str]:
    """List the names that are not imported yet, too, so that ``help(tabla)`` and completion show them."""
    return sorted({*globals(), *__all__})
