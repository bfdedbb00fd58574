"""The kernel of a translated function: which memrefs come in, which go out, and under which names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tabla.base.faults import Faults
from tabla.base.source import Label, TablaError
from tabla.graph.boxes import around, axes, whole
from tabla.graph.constraints import possible
from tabla.languages.kernel.regions import Region
from tabla.languages.kernel.substitution import renamed
from tabla.languages.kernel.tree import Kernel, Number, Read, Reduce, Role, Statement, Tensor, walk
from tabla.languages.kernel.verify import verify
from tabla.languages.tinytc.annotations import check_types
from tabla.languages.tinytc.environment import MOST_STATEMENTS, Translated
from tabla.languages.tinytc.loops import parts, reads_of
from tabla.languages.tinytc.syntax import Function
from tabla.languages.tinytc.translate import Translation

OUT = ".out"
"""What follows the name of a memref that is written, for the tensor that the statements write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """The kernel of a function, and what each of its results is called: the name of its memref."""

    kernel: Kernel
    shown: Mapping[str, str]


def kernel_of(function: Function, name: str, keep: Sequence[str] = ()) -> Interface:
    """Return the kernel of a function. What has no meaning as one is a `TablaError` at its place.

    A memref that is written is a result. It is an input as well if some of its elements are read before they are
    written, or are never written.
    """
    found = Translation(function).run()
    faults = Faults()
    check_types(function, faults)
    faults.raise_any()
    found.statements = _whole(statement for statement in found.statements if _runs(statement))
    parameters = [parameter.name for parameter in function.parameters]
    written = [each for each in parameters if any(statement.target == each for statement in found.statements)]
    if not written:
        hint = "store something in a parameter"
        raise TablaError(f"'@{function.name}' writes no parameter", Label(function.span), hint=hint)
    given = [each for each in written if not _begins(each, found)]
    spans = {parameter.name: parameter.span for parameter in function.parameters}
    tensors: dict[str, Tensor] = {}
    for each in parameters:
        if each not in written or each in given:
            kept = each in found.kept or each in keep
            role: Role = "model" if kept else "input"
            tensors[each] = Tensor(name=each, shape=found.shapes[each], role=role, span=spans[each])
    statements = [_copy(each, found.shapes[each]) for each in given]
    statements += [_zero(each, found.shapes[each]) for each in found.shapes if each in found.filled]
    statements += [renamed(statement, {each: f"{each}{OUT}" for each in written}) for statement in found.statements]
    read = {part.tensor for statement in statements for part in reads_of(statement.value)}
    used = {statement.target for statement in statements} | {each for each in read if each in found.local}
    names = {f"{each}{OUT}": each for each in written}
    for each in used:
        origin = names.get(each, each)
        tensors[each] = Tensor(name=each, shape=found.shapes[origin], role="value", span=spans.get(origin))
    for each in parameters:
        if each in tensors and each not in read and tensors[each].role != "value":
            del tensors[each]  # it is not read, so it is not streamed
    kernel = Kernel(
        name=name,
        tensors=dict(sorted(tensors.items(), key=lambda item: _order(item[0], parameters))),
        statements=tuple(statements),
        results=tuple(f"{each}{OUT}" for each in written),
    )
    try:
        verify(kernel)
    except TablaError as fault:
        message = fault.message
        for each in written:
            message = message.replace(f"'{each}{OUT}'", f"'{each}'")
        raise TablaError(message, *fault.labels, hint=fault.hint, notes=fault.notes) from None
    return Interface(kernel=kernel, shown=names)


def _whole(statements: Iterable[Statement]) -> list[Statement]:
    """Return statements of which each writes all elements of a box. Too many are a `TablaError`."""
    found: list[Statement] = []
    for statement in statements:
        for part in parts(statement):
            if _runs(part):
                found.append(part)
            if len(found) > MOST_STATEMENTS:
                places = [Label(part.span)] if part.span is not None else []
                message = f"strides and diagonals that are written out make more than {MOST_STATEMENTS:,} statements"
                raise TablaError(message, *places, hint="write neighbouring elements in one loop")
    return found


def _runs(statement: Statement) -> bool:
    """Return whether any values of the indices meet the conditions of a statement."""
    return not statement.conditions or possible(statement.conditions, statement.indices)


def _order(name: str, parameters: Sequence[str]) -> tuple[int, str]:
    return (parameters.index(name) if name in parameters else len(parameters), name)


def _begins(name: str, found: Translated) -> bool:
    """Return whether a memref is wholly written before any of its elements is read."""
    region = Region()
    for statement in found.statements:
        ranges = {index.name: index for index in statement.indices}
        for part in walk(statement.value):
            if isinstance(part, Reduce):
                ranges |= {index.name: index for index in part.indices}
        for read in reads_of(statement.value):
            if read.tensor == name and not region.covers(around(read.subscripts, ranges)):
                return False
        if statement.target == name and not statement.partial:
            region = region.with_box(statement.box)
    return region.covers(whole(found.shapes[name]))


def _copy(name: str, shape: Sequence[int]) -> Statement:
    indices, subscripts = axes(whole(shape), name + ".axis{}")
    return Statement(
        target=f"{name}{OUT}", write=subscripts, indices=indices, value=Read(tensor=name, subscripts=subscripts)
    )


def _zero(name: str, shape: Sequence[int]) -> Statement:
    indices, subscripts = axes(whole(shape), name + ".axis{}")
    return Statement(target=name, write=subscripts, indices=indices, value=Number(value=Fraction(0)))
