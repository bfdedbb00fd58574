"""TableGen: text -> records.

    records = load("opcodes.td", include_dirs=["targets"])
    for opcode in records.of_class("Opcode"):
        print(opcode.name, opcode["Encoding"].to_int(), opcode.span.line)

The language is the one of LLVM's TableGen, old and new; `run` prints records as ``llvm-tblgen`` 14, 19 or 22 does.
"""

from tabla.templates.tablegen import backend
from tabla.templates.tablegen.api import UNSET, Bits, Dag, DagArgument, Pending, Record, Records, Unset, Value
from tabla.templates.tablegen.run import LLVM_VERSIONS, Action, load, loads, run, written

__all__ = [
    "LLVM_VERSIONS",
    "UNSET",
    "Action",
    "Bits",
    "Dag",
    "DagArgument",
    "Pending",
    "Record",
    "Records",
    "Unset",
    "Value",
    "backend",
    "load",
    "loads",
    "run",
    "written",
]
