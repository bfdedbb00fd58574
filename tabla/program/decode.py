"""The disassembler: microcode words become strands again, and text."""

from __future__ import annotations

from tabla.program.image import Image, Parameters
from tabla.program.layout import operation_layout, strand_layout
from tabla.schedule.strands.strand import Address, Operation, Strand
from tabla.templates.instructions import operation_format


def decode(unit: str, image: Image) -> list[Strand]:
    """Return all strands that a unit, or the stream, holds in its memories: those of a sample, then those of a dump.

    A field is a symbol where the record of the operation names symbols. Every address generator is given; one that is
    not used is zero.
    """
    form = strand_layout(unit, image.parameters)
    out = []
    for word in image.strands[unit]:
        fields = {name: field.extract(word) for name, field in form.fields.items()}
        levels = image.parameters.levels
        counts = tuple(fields[f"count{level}"] + 1 for level in reversed(range(levels)))
        body = image.operations[unit][fields["body"] : fields["body"] + fields["length"]]
        out.append(
            Strand(
                unit=unit,
                start=fields["start"],
                interval=fields["interval"],
                reduce=fields["reduce"],
                counts=counts,
                body=tuple(_operation(unit, w, counts, image.parameters) for w in body),
            )
        )
    return out


def _operation(unit: str, word: int, counts: tuple[int, ...], parameters: Parameters) -> Operation:
    layout, form = operation_layout(unit, parameters), operation_format(unit)
    fields: dict[str, str | int] = {}
    for field in form.fields:
        value = layout.fields[field.name].extract(word)
        fields[field.name] = field.choices[value] if field.choices else value
    for name in (*form.several, *form.wide_models, *form.predicting, *form.scattering):
        if name in layout.fields:
            fields[name] = layout.fields[name].extract(word)
    if form.far:
        fields["shift"] = layout.shift(word)
    addresses = {}
    for generator in form.generators:
        base, width = layout.fields[f"{generator}.base"].extract(word), layout.fields[f"{generator}.base"].width
        values = [layout.fields[f"{generator}.delta{level}"].extract(word) for level in range(parameters.levels)]
        signed = [_signed(v, width) for v in values]
        strides, inner = [], 0
        for delta, count in zip(signed, reversed(counts), strict=True):
            # A loop with one turn never uses its stride, so it is given as 0.
            stride = _signed((delta + inner) % (1 << width), width) if count > 1 else 0
            strides.append(stride)
            inner += stride * (count - 1)
        if generator in ("low", "high"):
            base = _signed(base, width)
        addresses[generator] = Address(
            base=base,
            strides=tuple(reversed(strides)),
            window=bool(layout.fields[f"{generator}.window"].extract(word)),
        )
    return Operation(fields=fields, addresses=addresses)


def _signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) else value


def disassemble(image: Image) -> str:
    """Return all microcode of an image as text: a line for each strand, with its operations below it."""
    lines = []
    for unit in (*image.units, "stream"):
        lines.append(f"{unit}: {len(image.strands[unit])} strands, {len(image.operations[unit])} operations")
        for n, strand in enumerate(decode(unit, image)):
            nest = "x".join(str(c) for c in strand.counts if c > 1) or "1"
            runs = n < image.run.strands.get(unit, 0)
            skew = image.run.skew.get(unit, 0) if runs else 0
            stage = strand_layout(unit, image.parameters).fields.get("stage")
            late = f" stage {stage.extract(image.strands[unit][n])}" if stage is not None and runs else ""
            lines.append(f"  @{strand.start + skew}{late} {nest} every {strand.interval} sum {strand.reduce}")
            lines += [f"    {_show(operation)}" for operation in strand.body]
    return "\n".join(lines) + "\n"


def _show(operation: Operation) -> str:
    silent = (0, "none", "zero", "one")
    parts = [f"{k}={v}" for k, v in operation.fields.items() if v not in silent]
    for name, address in operation.addresses.items():
        if address.base or any(address.strides) or address.window:
            steps = "".join(f"{s:+d}*{'ijklmn'[n]}" for n, s in enumerate(address.strides) if s)
            parts.append(f"{name}[{address.base}{steps}{'+window' if address.window else ''}]")
    return " ".join(parts)
