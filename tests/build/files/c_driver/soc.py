"""A SoC of LiteX without a processor: main memory, the accelerator, and a bus master that the test drives.

python soc.py BUILD NAME OUT [ORIGIN] writes OUT/soc.v and OUT/soc.h, with the addresses that LiteX has chosen. ORIGIN
is that of the accelerator's registers.
"""

import json
import sys
from pathlib import Path

from litex.build.generic_platform import GenericPlatform, Pins
from litex.gen import LiteXModule
from litex.soc.integration.export import get_csr_json
from litex.soc.integration.soc_core import SoCMini
from litex.soc.interconnect import wishbone
from migen import ClockDomain

folder, name, out = Path(sys.argv[1]).resolve(), sys.argv[2], Path(sys.argv[3])
origin = int(sys.argv[4], 0) if sys.argv[4:] else None
sys.path.insert(0, str(folder))
add_accelerator = __import__(f"{name}_litex").add_accelerator


class Clock(LiteXModule):
    def __init__(self, platform):
        self.cd_sys = ClockDomain()
        self.comb += [self.cd_sys.clk.eq(platform.request("clock")), self.cd_sys.rst.eq(platform.request("reset"))]


class Soc(SoCMini):
    def __init__(self, platform):
        SoCMini.__init__(self, platform, clk_freq=int(1e6), integrated_main_ram_size=0x10000, with_ctrl=False)
        self.crg = Clock(platform)
        host = wishbone.Interface(data_width=32, address_width=32)
        self.bus.add_master("host", host)
        self.comb += host.connect_to_pads(platform.request("host"), mode="slave")
        add_accelerator(self, "accelerator", origin=origin)


io = [("clock", 0, Pins(1)), ("reset", 0, Pins(1)), *wishbone.Interface(address_width=32).get_ios("host")]
platform = GenericPlatform("test", io, name="soc")
soc = Soc(platform)
soc.finalize()
platform.get_verilog(soc, name="soc").write(str(out / "soc.v"))
places = json.loads(get_csr_json(soc.csr_regions, soc.constants, soc.mem_regions))
lines = [f"#define {register.upper()} 0x{entry['addr']:08X}u" for register, entry in places["csr_registers"].items()]
lines += [f"#define {region.upper()} 0x{entry['base']:08X}u" for region, entry in places["memories"].items()]
(out / "soc.h").write_text("\n".join(lines) + "\n")
