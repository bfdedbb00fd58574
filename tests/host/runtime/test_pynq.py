"""The notebook for PYNQ, with models in place of PYNQ, the AXI DMA and the accelerator."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabla
from tabla.host.runtime.folder import BuildFolder
from tests.host.runtime.dma_model import DmaModel
from tests.host.runtime.made import LINEAR, ROOT
from tests.host.runtime.wrapper_model import WrapperModel


class Allocated(np.ndarray):  # type: ignore[type-arg]
    """An array of ``pynq.allocate``: the processor sees the array, the device sees `ram`."""

    device_address = 0x1600_0000
    ram: Any

    def flush(self) -> None:
        self.ram[:] = self

    def invalidate(self) -> None:
        self[:] = self.ram


class DefaultIP:
    """What a driver of PYNQ inherits: `mmio`, and `read` and `write` of its registers."""

    def __init__(self, description: dict[str, Any]) -> None:
        self.mmio = description["mmio"]
        self.read, self.write = self.mmio.read, self.mmio.write


def test_the_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "line.t").write_text(LINEAR, encoding="utf-8")
    build = tabla.compile(tmp_path / "line.t", pes=2, effort=0, bus="axi", results=("h",))
    build.write(tmp_path / "line")
    wrapper = WrapperModel(build.image, dict(BuildFolder.open(tmp_path / "line").manifest))
    engine: list[DmaModel] = []

    def allocate(shape: tuple[int], dtype: str) -> Allocated:
        array = np.zeros(shape, dtype=dtype).view(Allocated)
        array.ram = np.zeros(shape, dtype=np.uint8)
        memory = types.SimpleNamespace(address=array.device_address, size=array.nbytes, ram=array.ram)
        engine.append(DmaModel(wrapper, memory, length_bits=26))
        return array

    class Overlay:
        def __init__(self, bitstream: str) -> None:
            assert bitstream == "line.bit"
            driver = next(kind for kind in DefaultIP.__subclasses__() if kind.__name__ == "TablaAccelerator")
            assert driver.bindto == ["xilinx.com:module_ref:line_axi:1.0"]  # type: ignore[attr-defined]
            self.accelerator = driver({"mmio": wrapper})
            registers = types.SimpleNamespace(
                read=lambda offset: engine[0].read(offset), write=lambda offset, word: engine[0].write(offset, word)
            )
            self.axi_dma_0 = types.SimpleNamespace(
                mmio=registers, description={"parameters": {"c_sg_length_width": "26", "c_addr_width": "32"}}
            )

    pynq = types.ModuleType("pynq")
    vars(pynq).update(DefaultIP=DefaultIP, Overlay=Overlay, allocate=allocate)
    monkeypatch.setitem(sys.modules, "pynq", pynq)
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((ROOT / "docs/pynq.ipynb").read_text(encoding="utf-8"))
    assert "Not tried on a board" in "".join(notebook["cells"][0]["source"])
    names: dict[str, Any] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    np.testing.assert_allclose(names["trained"]["w"], [0.5, -0.25], atol=0.01)
    assert "samples=200" in capsys.readouterr().out
    assert names["results"]["h"].shape == (200,)
