"""The function unit: a pipeline for each function of the build, and one register behind them all."""

from collections.abc import Callable
from typing import Any

from amaranth.hdl import Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tabla.hw.functions.circular import Circular
from tabla.hw.functions.direct import Direct
from tabla.hw.functions.exponential import Exponential
from tabla.hw.functions.logarithm import Logarithm
from tabla.hw.functions.pipeline import REGISTER, FunctionPipeline
from tabla.hw.functions.quotient import Quotient
from tabla.hw.functions.square_root import SquareRoot
from tabla.hw.pipeline import delayed, selected
from tabla.program.image import FunctionTable, Parameters
from tabla.templates.template import function_kinds

PIPELINES: dict[str, Callable[[FunctionTable, int, int, bool], FunctionPipeline]] = {
    "direct": lambda table, width, fraction, tight: Direct(table, width=width, fraction=fraction, tight=tight),
    "exp": lambda table, width, fraction, tight: Exponential(table, width=width, fraction=fraction),
    "log": lambda table, width, fraction, tight: Logarithm(table, width=width, fraction=fraction),
    "sqrt": lambda table, width, fraction, tight: SquareRoot(width=width, fraction=fraction),
    "circular": lambda table, width, fraction, tight: Circular(table, width=width, fraction=fraction),
    "divide": lambda table, width, fraction, tight: Quotient(width=width, fraction=fraction, whole=False),
    "quotient": lambda table, width, fraction, tight: Quotient(width=width, fraction=fraction, whole=True),
}
"""The pipeline of each kind, made from a table, the bits of a word, those of its fraction, and `tight`."""


def pipeline_for(table: FunctionTable, *, width: int, fraction: int, tight: bool = False) -> FunctionPipeline:
    """Return the pipeline of a function. A `tight` one saves logic where the table's words allow it."""
    if table.kind not in PIPELINES:
        raise ValueError(f"no pipeline for functions of kind {table.kind!r}")
    return PIPELINES[table.kind](table, width, fraction, tight)


class FunctionUnit(wiring.Component):
    """Computes all functions of the build. An operand may come in each cycle, but only one result may come out; the
    schedule sees to that.

    An operand of cycle *t* goes to the function whose number is `code`, where 0 is none. It shows in `value` in cycle
    *t* + that function's latency, for that cycle only, and `overflow` and `domain_error` pulse with it. In an array of
    several roots, `value` is whatever comes out of a function that is alone, because nothing has to be selected.

    Members
    -------
    code : In(4), operand : In(signed(width)), divisor : In(signed(width))
    value : Out(signed(width))
    writes : In(1), written : Out(width)
        `written` is `value` in the cycle after `writes`, else 0: a word to write that needs no selection.
    overflow, domain_error : Out(1)
    """

    def __init__(self, *, parameters: Parameters) -> None:
        self.parameters = parameters
        self.divides = any(function_kinds()[table.kind].divides for table in parameters.functions)
        width = parameters.width
        super().__init__(
            {
                "code": In(4),
                "operand": In(signed(width)),
                "divisor": In(signed(width)),
                "value": Out(signed(width)),
                "writes": In(1),
                "written": Out(width),
                "overflow": Out(1),
                "domain_error": Out(1),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        parameters = self.parameters
        several = parameters.roots > 1
        ends = []
        for table in parameters.functions:
            pipeline = pipeline_for(table, width=parameters.width, fraction=parameters.fraction, tight=several)
            if pipeline.latency != table.latency:
                raise ValueError(f"{table.name} takes {pipeline.latency} cycles, the image says {table.latency}")
            m.submodules[table.name] = pipeline
            m.d.comb += [pipeline.operand.eq(self.operand), pipeline.divisor.eq(self.divisor)]
            sent = Signal(name=f"to_{table.name}")
            m.d.comb += sent.eq(self.code == table.code)
            ends.append((pipeline, delayed(m, sent, pipeline.latency - REGISTER, name=f"{table.name}_ends")))

        value = Signal(signed(parameters.width), reset_less=True)
        word = selected([(p.value.as_unsigned(), end) for p, end in ends], parameters.width)
        if several and len(ends) == 1:
            word = ends[0][0].value.as_unsigned()
        written = Signal(parameters.width, reset_less=True)
        # No `If`: Icarus evaluates a block of Verilog only when an input changes, which may be long after the start.
        m.d.sync += [value.eq(word), written.eq(Mux(self.writes, word, 0))]
        m.d.comb += self.written.eq(written)
        overflow = Signal(reset_less=True)
        domain_error = Signal(reset_less=True)
        m.d.sync += [
            overflow.eq(selected([(p.overflow, end) for p, end in ends], 1)),
            domain_error.eq(selected([(p.domain_error, end) for p, end in ends], 1)),
        ]
        m.d.comb += [self.value.eq(value), self.overflow.eq(overflow), self.domain_error.eq(domain_error)]
        return m
