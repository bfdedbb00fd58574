"""The names of the wires, memories and instances of a module in Verilog."""

import re
from collections.abc import Mapping

from tabla.hw.netlist import Module, Spec

# The reserved words of IEEE 1364-2005 and IEEE 1800-2017, so that tools for either language can read the text.
KEYWORDS = frozenset(
    """accept_on
    alias always always_comb always_ff always_latch and assert assign assume automatic before begin bind bins
    binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle checker class clocking cmos config const
    constraint context continue cover covergroup coverpoint cross deassign default defparam design disable dist do edge
    else end endcase endchecker endclass endclocking endconfig endfunction endgenerate endgroup endinterface endmodule
    endpackage endprimitive endprogram endproperty endspecify endsequence endtable endtask enum event eventually expect
    export extends extern final first_match for force foreach forever fork forkjoin function generate genvar global
    highz0 highz1 if iff ifnone ignore_bins illegal_bins implements implies import incdir include initial inout input
    inside instance int integer interconnect interface intersect join join_any join_none large let liblist library local
    localparam logic longint macromodule matches medium modport module nand negedge nettype new nexttime nmos nor
    noshowcancelled not notif0 notif1 null or output package packed parameter pmos posedge primitive priority program
    property protected pull0 pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent pure rand randc randcase
    randsequence rcmos real realtime ref reg reject_on release repeat restrict return rnmos rpmos rtran rtranif0
    rtranif1 s_always s_eventually s_nexttime s_until s_until_with scalared sequence shortint shortreal showcancelled
    signed small soft solve specify specparam static string strong strong0 strong1 struct super supply0 supply1
    sync_accept_on sync_reject_on table tagged task this throughout time timeprecision timeunit tran tranif0 tranif1 tri
    tri0 tri1 triand trior trireg type typedef union unique unique0 unsigned until until_with untyped use uwire var
    vectored virtual void wait wait_order wand weak weak0 weak1 while wildcard wire with within wor xnor xor""".split()
)


def identifier(name: str) -> str:
    """Return `name` as a plain Verilog identifier: other characters become `_`, and a keyword gets one behind it."""
    plain = re.sub(r"\W", "_", name, flags=re.ASCII)
    if plain in KEYWORDS:
        return f"{plain}_"
    return plain if re.match(r"[A-Za-z_]", plain) else f"n_{plain}"


class Names:
    """The Verilog names of one module, each used once."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._numbers: dict[str, int] = {}

    def free(self, wish: str) -> str:
        """Return `wish`, as an identifier, or with the first number behind it that makes it a new name."""
        name = base = identifier(wish)
        while name in self._taken:
            self._numbers[base] = number = self._numbers.get(base, 1) + 1
            name = f"{base}_{number}"
        self._taken.add(name)
        return name


def port_names(module: Module, names: Names) -> dict[str, str]:
    """Return the Verilog names of the ports, without the numbers that tell them apart from what is inside."""
    ports = sorted((wire.name for wire in module.wires.values() if wire.direction), key=lambda port: "$" in port)
    return {name: names.free(name.partition("$")[0]) for name in ports}


def wire_names(module: Module, names: Names, ports: Mapping[str, str]) -> dict[str, str]:
    """Return the Verilog name of each wire that has a name in the hardware's source; those in `ports` have theirs.

    One word often has several names: of the signal that drives it, and of ports that it leads to. The word is called
    as its driver, or by a longer name that contains this one and so says more: `stream_restart` in place of `restart`.
    Amaranth tells wires of one name apart by a number, such as `in_ready$42`. Such a word gets the longest of its names
    that have no number, or else ``<instance>_<port>`` after a port that it leads to.
    """
    found = dict(ports)
    aliases: dict[str, list[str]] = {}
    for connection in module.connections:
        other = _whole(module, connection.value)
        if other and not module.wires[connection.target[0].wire].direction:
            aliases.setdefault(other, []).append(connection.target[0].wire)
    dropped = {name for group in aliases.values() for name in group}
    connected = _connected(module)
    for name in module.wires:
        if name in found or name in dropped or name.startswith("$"):
            continue
        base = name.partition("$")[0]
        plain = [wish for wish in (name, *aliases.get(name, ())) if "$" not in wish and (base in wish or base != name)]
        wish = max(plain, key=len) if plain else connected.get(name) or base
        found[name] = names.free(wish)
    return found


def _whole(module: Module, spec: Spec) -> str:
    """Return the wire if `spec` is all of one wire, else an empty text."""
    one = len(spec) == 1 and spec[0].wire and spec[0].width == module.wires[spec[0].wire].width
    return spec[0].wire if one else ""


def _connected(module: Module) -> dict[str, str]:
    """Return ``<instance>_<port>`` for each wire that is all that some port of an instance is connected to."""
    found: dict[str, str] = {}
    for cell in module.cells:
        if not cell.kind.startswith("$"):
            for port, spec in cell.ports.items():
                if wire := _whole(module, spec):
                    found.setdefault(wire, f"{cell.name}_{port.partition('$')[0]}")
    return found
