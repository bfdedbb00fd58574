"""The names of a program, made legal in Verilog.

A prime becomes ``_prime``. Any other character that is not a letter, a digit or an underscore becomes ``_``. A name
that would begin with a digit gets an ``n`` in front. A reserved word of Verilog or SystemVerilog gets a ``_`` at its
end. If several names are then equal, or differ only in case, the second gets ``_2``, the third ``_3`` and so on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# The reserved words of IEEE 1364-2005 and IEEE 1800-2017, so that tools for either language can read the text.
_RESERVED = frozenset(
    """
    accept_on alias always always_comb always_ff always_latch and assert assign assume automatic before begin bind bins
    binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle checker class clocking cmos config const
    constraint context continue cover covergroup coverpoint cross deassign default defparam design disable dist do edge
    else end endcase endchecker endclass endclocking endconfig endfunction endgenerate endgroup endinterface endmodule
    endpackage endprimitive endprogram endproperty endsequence endspecify endtable endtask enum event eventually expect
    export extends extern final first_match for force foreach forever fork forkjoin function generate genvar global
    highz0 highz1 if iff ifnone ignore_bins illegal_bins implements implies import incdir include initial inout input
    inside instance int integer interconnect interface intersect join join_any join_none large let liblist library
    local localparam logic longint macromodule matches medium modport module nand negedge nettype new nexttime nmos nor
    noshowcancelled not notif0 notif1 null or output package packed parameter pmos posedge primitive priority program
    property protected pull0 pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent pure rand randc randcase
    randsequence rcmos real realtime ref reg reject_on release repeat restrict return rnmos rpmos rtran rtranif0
    rtranif1 s_always s_eventually s_nexttime s_until s_until_with scalared sequence shortint shortreal showcancelled
    signed small soft solve specify specparam static string strong strong0 strong1 struct super supply0 supply1
    sync_accept_on sync_reject_on table tagged task this throughout time timeprecision timeunit tran tranif0 tranif1
    tri tri0 tri1 triand trior trireg type typedef union unique unique0 unsigned until until_with untyped use uwire var
    vectored virtual void wait wait_order wand weak weak0 weak1 while wildcard wire with within wor xnor xor
    """.split()
)


def legal(name: str) -> str:
    """Return `name` by the rules of this module, without the numbers that tell equal names apart."""
    text = re.sub(r"[^A-Za-z0-9_]", "_", name.replace("'", "_prime"))
    if not text or text[0].isdigit():
        text = f"n{text}"
    return f"{text}_" if text in _RESERVED else text


def legal_names(names: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """Return the Verilog name of each of `names`, in their order.

    No two of them are equal, and none is equal to one of `taken`, even if upper and lower case are not told apart.
    """
    used = {name.lower() for name in taken}
    table: dict[str, str] = {}
    for name in names:
        if name in table:
            continue
        base = text = legal(name)
        number = 2
        while text.lower() in used:
            text, number = f"{base}_{number}", number + 1
        used.add(text.lower())
        table[name] = text
    return table
