"""The generator of ``docs/instruction-set.md``, the instruction-set reference, from the records of ``machine.td``."""

from __future__ import annotations

from collections.abc import Sequence

from tabla.templates.instructions import OperationFormat, operation_format, overlapping_strand_fields, strand_fields
from tabla.templates.stages import Stage, stages
from tabla.templates.template import formats, functions, presets, timing

_HEADS = {"issue": "cycle of an issue at t", "write": "cycle of a write in c"}
UNITS = ("lane_issue", "lane_write", "root_issue", "root_write", "stream")
_HEAD = """\
# Instruction set

Generated from `templates/machine.td` by `python -m tabla.build.files.instruction_set`; a test holds it against the
records. What the fields mean is in `docs/decisions/0003-machine.md`.

An operation word holds its fields from bit 0, then each generator: `base`, a `window` bit, and one `delta` per loop
level, innermost first. Widths of generators follow the build.
"""


def instruction_set() -> str:
    """Return the page as Markdown."""
    parts = [_HEAD]
    for unit in UNITS:
        parts.append(_unit(operation_format(unit)))
    fields = ", ".join(f"`{name}`" for name in strand_fields())
    late = ", ".join(f"`{name}`" for name in overlapping_strand_fields())
    parts.append(
        f"## Strand words\n\nFields, least significant first: {fields}; then `count - 1` of each loop level, "
        f"innermost first. Arrays on which samples overlap have {late}, too.\n"
    )
    parts.append(_timing())
    parts.append("## Stages\n\n" + stage_table("issue") + "\n" + stage_table("write"))
    parts.append(_functions())
    parts.append(_formats())
    parts.append(_presets())
    return "\n".join(parts)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _unit(form: OperationFormat) -> str:
    rows = []
    for field in form.fields:
        high = field.offset + field.width - 1
        bits = str(field.offset) if field.width == 1 else f"{high}-{field.offset}"
        codes = ", ".join(f"{code} `{symbol}`" for code, symbol in enumerate(field.choices)) or "number"
        rows.append((bits, f"`{field.name}`", codes))
    generators = ", ".join(f"`{g}`" for g in form.generators)
    several = ", ".join(f"`{name}`" for name in operation_format(f"{form.unit}_0").several)
    more = f" Of several sequencers also one bit: {several}." if several else ""
    wide = ", ".join(f"`{name}`" for name in form.wide_models)
    more += f" With wide models also one bit: {wide}." if wide else ""
    predicting = ", ".join(f"`{name}`" for name in form.predicting)
    more += f" Where the array predicts also one bit each: {predicting}." if predicting else ""
    scattering = ", ".join(f"`{name}`" for name in form.scattering)
    more += f" Where the array scatters also one bit: {scattering}." if scattering else ""
    far = ", ".join(f"`{name}`" for name in form.far)
    more += f" With more than four shifts, and in overlays, also the upper bits of `shift`: {far}." if far else ""
    return f"## `{form.unit}`\n\n{_table(('bits', 'field', 'codes'), rows)}\nGenerators: {generators}.{more}\n"


def _timing() -> str:
    laws = timing()
    names = (
        "memory_read", "multiply", "accumulate", "round", "memory_write",
        "tree_level", "broadcast", "front", "ready", "queue",
    )  # fmt: skip
    rows = [(name.replace("_", " "), str(getattr(laws, name))) for name in names]
    return "## Cycles\n\n" + _table(("what", "cycles"), rows)


def stage_table(path: str) -> str:
    """Return the stages of a path, `issue` or `write`, as a Markdown table with the wires that each stage needs."""
    rows = []
    for stage in stages(path):
        wires = (", ".join(f"`{wire}`" for wire in wired) for wired in (stage.lane, stage.root))
        rows.append((_cycle(stage), stage.name, stage.shows, *wires))
    return _table((_HEADS[path], "stage", "what it shows", "wires a lane wants", "wires a root wants"), rows)


def stage_summary(path: str) -> str:
    """Return the stages of a path without their wires, as the table of decision 3.3 has them."""
    return _table((_HEADS[path], "stage", "what it shows"), [(_cycle(s), s.name, s.shows) for s in stages(path)])


def _cycle(stage: Stage) -> str:
    start = {"issue": "t", "write": "c"}[stage.path]
    return f"{start} {'+' if stage.cycle > 0 else '-'} {abs(stage.cycle)}" if stage.cycle else start


def _functions() -> str:
    rows = [(str(unit.code), f"`{unit.name}`", unit.kind, unit.pipeline.text) for unit in functions().values()]
    words = "W is the bits of a word, F the bits of its fraction. Quotients of cycles are rounded down.\n\n"
    return "## Function unit\n\n" + words + _table(("code", "function", "kind", "cycles"), rows)


def _formats() -> str:
    rows = [(f"`{f.name}`", f.text, str(f.integer_bits + f.fraction_bits)) for f in formats().values()]
    return "## Number formats\n\n" + _table(("format", "as an option", "bits"), rows)


def _presets() -> str:
    rows = [
        (f"`{t.name}`", str(t.pes), str(t.pes_per_pu), f"q{t.integer_bits}.{t.fraction_bits}", str(t.ring_slots))
        for t in presets().values()
    ]
    return "## Presets\n\n" + _table(("template", "PEs", "PEs per PU", "format", "ring slots"), rows)


if __name__ == "__main__":
    from pathlib import Path

    page = Path(__file__).resolve().parents[3] / "docs" / "instruction-set.md"
    page.write_text(instruction_set(), encoding="utf-8", newline="\n")
