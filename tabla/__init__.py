"""TABLA: from the gradient of a loss to an FPGA accelerator that learns."""

from pathlib import Path as _Path

_root = _Path(__file__).resolve().parent.parent
if (_root / "setup.cfg").is_file():  # a checkout: hw/, sim/, templates/ lie beside us
    __path__.append(str(_root))  # an installed wheel has them inside and skips this
