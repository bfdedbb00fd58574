"""The cycles of a counterexample as a table: a row for each signal of the bench, a column for each cycle."""

from __future__ import annotations

from pathlib import Path

from vcd.reader import TokenKind, tokenize

_CYCLE = 10
"""The units of time that yosys-smtbmc gives each cycle."""
_LATEST = 24


def table(path: Path) -> str:
    """Return the signals of the bench in each cycle of a file of yosys-smtbmc, numbers in hexadecimal.

    What is 0 in all cycles is left out, and so are claims that hold, the inner signals of the components, and the
    bench's registers of earlier values, whose names begin with `past_`.
    """
    names, values, cycles = _read(path)
    rows = []
    for name in sorted(names.values(), key=lambda name: (name.startswith("claim_"), name)):
        row = values[name]
        if set("".join(row)) <= ({"1"} if name.startswith(("claim_", "assumption_")) else {"0"}):
            continue
        rows.append((name, [_shown(value) for value in row[-_LATEST:]]))
    header = ("cycle", [str(cycle) for cycle in range(cycles)][-_LATEST:])
    width = max(len(name) for name, _ in [header, *rows])
    each = [max(len(row[place]) for _, row in [header, *rows]) for place in range(len(header[1]))]
    return "\n".join(
        f"  {name:<{width}}  " + "  ".join(f"{value:>{each[place]}}" for place, value in enumerate(row))
        for name, row in [header, *rows]
    )


def _read(path: Path) -> tuple[dict[str, str], dict[str, list[str]], int]:
    """Return the names of the bench's own signals by code, their values in each cycle, and the number of cycles."""
    names: dict[str, str] = {}
    now: dict[str, str] = {}
    values: dict[str, list[str]] = {}
    scope: list[str] = []
    cycles = 0
    with path.open("rb") as stream:
        for token in tokenize(stream):
            match token.kind:
                case TokenKind.SCOPE:
                    scope.append(token.scope.ident)
                case TokenKind.UPSCOPE:
                    scope.pop()
                case TokenKind.VAR if len(scope) <= 1 and _is_own(token.var.reference):
                    names[token.var.id_code] = token.var.reference
                case TokenKind.CHANGE_TIME if token.time_change > cycles * _CYCLE:
                    # A time behind a cycle: what has been read is the cycle's own. The last time is no cycle.
                    for code, name in names.items():
                        values.setdefault(name, []).append(now.get(code, "0"))
                    cycles += 1
                case TokenKind.CHANGE_SCALAR:
                    now[token.scalar_change.id_code] = token.scalar_change.value
                case TokenKind.CHANGE_VECTOR:
                    value = token.vector_change.value
                    now[token.vector_change.id_code] = value if isinstance(value, str) else format(value, "b")
    return names, values, cycles


def _is_own(name: str) -> bool:
    return "$" not in name and not name.startswith(("smt_", "age_", "past_")) and name != "clk"


def _shown(bits: str) -> str:
    return f"{int(bits, 2):x}" if set(bits) <= {"0", "1"} and bits else bits
