"""The names of a program, made legal in Verilog.

A prime becomes ``_prime``. Any other character that is not a letter, a digit or an underscore becomes ``_``. A name
that would begin with a digit gets an ``n`` in front. A reserved word of Verilog or SystemVerilog gets a ``_`` at its
end. If several names are then equal, or differ only in case, the second gets ``_2``, the third ``_3`` and so on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tabla.hw.names import KEYWORDS


def legal(name: str) -> str:
    """Return `name` by the rules of this module, without the numbers that tell equal names apart."""
    text = re.sub(r"[^A-Za-z0-9_]", "_", name.replace("'", "_prime"))
    if not text or text[0].isdigit():
        text = f"n{text}"
    return f"{text}_" if text in KEYWORDS else text


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
