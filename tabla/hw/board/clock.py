"""From a board's crystal and button to clock and reset of the design."""

from typing import Any

from amaranth.hdl import ClockDomain, Const, DomainRenamer, Instance, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tabla.templates.pll import PllSettings


class Ecp5Pll(wiring.Component):
    """The PLL of an ECP5 (EHXPLLL), with feedback from its output.

    Members
    -------
    source : In(1)
        The clock of ``settings.reference`` Hz.
    clock : Out(1), locked : Out(1)
    """

    def __init__(self, settings: PllSettings) -> None:
        self.settings = settings
        super().__init__({"source": In(1), "clock": Out(1), "locked": Out(1)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        settings = self.settings
        m.submodules.pll = Instance(
            "EHXPLLL",
            a_FREQUENCY_PIN_CLKI=f"{settings.reference / 1e6:g}",
            a_FREQUENCY_PIN_CLKOP=f"{settings.hertz / 1e6:g}",
            a_ICP_CURRENT="12",
            a_LPF_RESISTOR="8",
            a_MFG_ENABLE_FILTEROPAMP="1",
            a_MFG_GMCREF_SEL="2",
            p_CLKI_DIV=settings.reference_divider,
            p_CLKFB_DIV=settings.feedback_divider,
            p_CLKOP_DIV=settings.output_divider,
            p_CLKOP_ENABLE="ENABLED",
            # Any phase will do: the feedback aligns the output, and nothing else runs from the reference.
            p_CLKOP_CPHASE=(settings.output_divider - 1) // 2,
            p_CLKOP_FPHASE=0,
            p_FEEDBK_PATH="CLKOP",
            p_OUTDIVIDER_MUXA="DIVA",
            p_OUTDIVIDER_MUXB="DIVB",
            p_OUTDIVIDER_MUXC="DIVC",
            p_OUTDIVIDER_MUXD="DIVD",
            p_PLLRST_ENA="DISABLED",
            p_INTFB_WAKE="DISABLED",
            p_STDBY_ENABLE="DISABLED",
            p_DPHASE_SOURCE="DISABLED",
            i_CLKI=self.source,
            i_CLKFB=self.clock,
            i_RST=Const(0),
            i_STDBY=Const(0),
            i_PHASESEL0=Const(0),
            i_PHASESEL1=Const(0),
            i_PHASEDIR=Const(1),
            i_PHASESTEP=Const(1),
            i_PHASELOADREG=Const(1),
            i_PLLWAKESYNC=Const(0),
            i_ENCLKOP=Const(0),
            o_CLKOP=self.clock,
            o_LOCK=self.locked,
        )
        return m


class PowerUp(wiring.Component):
    """Resets the design until the clock is steady and the button is released, and for some cycles more.

    Members
    -------
    steady : In(1), button : In(1)
        Asynchronous; `button` is high while it is pressed.
    reset : Out(1)
    """

    CYCLES = 256

    def __init__(self) -> None:
        super().__init__({"steady": In(1), "button": In(1), "reset": Out(1, init=1)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        early = Signal()
        late = Signal()
        left = Signal(range(self.CYCLES + 1), init=self.CYCLES)
        m.d.sync += [
            early.eq(self.steady & ~self.button),
            late.eq(early),
            self.reset.eq(left != 0),
        ]
        with m.If(~late):
            m.d.sync += left.eq(self.CYCLES)
        with m.Elif(left != 0):
            m.d.sync += left.eq(left - 1)
        return m


def clock_domains(m: Module, clock: Any, steady: Any, button: Any) -> None:
    """Add the design's domain ``sync``. ``PowerUp`` resets it, and is itself never reset."""
    m.domains += (sync := ClockDomain("sync", local=True))
    m.domains += (boot := ClockDomain("boot", reset_less=True, local=True))
    power_up = PowerUp()
    m.submodules.power_up = DomainRenamer("boot")(power_up)
    m.d.comb += [
        sync.clk.eq(clock),
        boot.clk.eq(clock),
        power_up.steady.eq(steady),
        power_up.button.eq(button),
        sync.rst.eq(power_up.reset),
    ]
