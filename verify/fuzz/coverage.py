"""What random programs have tried, and all that they can try."""

from __future__ import annotations

from collections import Counter

from tabla.graph.graph import Compare, Extreme, Function, Linear, Product
from tabla.graph.passes.pipeline import SHAPE, SIMPLIFY
from tabla.schedule.mapping.changes import kinds
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.strand import Strand
from tabla.templates.instructions import LANE_KINDS, ROOT_KINDS, operation_format
from verify.fuzz.drawing import FORMATS, NOTATIONS, Drawn
from verify.fuzz.overlays import OVERLAYS

OFTEN = 20
"""What a run of 10,000 programs should try at least so often."""

_UNITS = (*LANE_KINDS, *ROOT_KINDS, "stream")
_CORNERS = ("several roots", "several sequencers", "wide beats", "one PE", "constraints")
_ENGINES = ("engine cxxrtl", "engine icarus", "overlay in cxxrtl", "overlay in icarus")


def covered(case: Drawn, schedule: Schedule) -> Counter[str]:
    """Return what a program has tried: operations, passes that change it, and corners of the array."""
    found: Counter[str] = Counter({f"notation {case.notation}": 1, f"format {case.format}": 1})
    for statement in case.graph.statements:
        operation = statement.operation
        match operation:
            case Function(name=name) | Compare(op=name) | Extreme(op=name):
                found[f"operation {name}"] = 1
            case Linear() | Product() if operation.shift:
                found[f"operation {type(operation).__name__.lower()} with a shift"] = 1
            case _:
                found[f"operation {type(operation).__name__.lower()}"] = 1
        found["constraints"] |= int(bool(statement.constraints))
    found |= Counter(f"pass {name}" for name in case.passes)
    template = schedule.template
    found["several roots"] = int(template.roots > 1)
    found["several sequencers"] = int(template.sequencers > 1)
    found["wide beats"] = int(template.stream_words > 1)
    found["one PE"] = int(template.pes == 1)
    for strand in (*schedule.strands, *schedule.dump, *schedule.stream_sample, *schedule.stream_load):
        found |= Counter(_microcode(strand))
    return +found


def _microcode(strand: Strand) -> set[str]:
    """Return what a strand uses of the microcode: its generators and its fields, a field of names with each name."""
    unit = strand.unit.rstrip("0123456789_")
    found = set[str]()
    for operation in strand.body:
        found |= {f"address {unit}.{name}" for name in operation.addresses}
        for field in operation_format(unit).fields:
            if field.choices:
                # The first choice is what an operation has that says nothing of the field.
                found.add(f"field {unit}.{field.name} = {operation.field(field.name, field.choices[0])}")
            elif operation.fields.get(field.name):
                found.add(f"field {unit}.{field.name}")
    return found


def coverable() -> set[str]:
    """Return the names of all that programs can try, but for operations, which have no list of their own."""
    found = {f"notation {name}" for name in NOTATIONS} | {f"format {format}" for format in FORMATS}
    found |= {f"pass {each.name}" for each in (*SIMPLIFY.passes, *SHAPE.passes)}
    found |= {f"change {kind.__name__}" for kind in kinds()}
    found |= {*OVERLAYS, *_CORNERS, *_ENGINES}
    for unit in _UNITS:
        form = operation_format(unit)
        found |= {f"address {unit}.{name}" for name in form.generators}
        for field in form.fields:
            names = {f"field {unit}.{field.name} = {choice}" for choice in field.choices}
            found |= names or {f"field {unit}.{field.name}"}
    return found
