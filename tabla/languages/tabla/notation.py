"""``model.t``: the learning rule of a model."""

from __future__ import annotations

from pathlib import Path

from tabla.base.source import Source, TablaError
from tabla.graph.unread_parts import Conventions
from tabla.languages.options import ProgramOptions
from tabla.languages.preprocess import Preprocessed, preprocess
from tabla.languages.reading import Reading
from tabla.languages.tabla import parse
from tabla.languages.tabla.kernel import kernel_of, numbers_of
from tabla.languages.tabla.lower import lower
from tabla.languages.tabla.program import Kind, Warned
from tabla.languages.tabla.text import program_text


def read_tabla(path: Path, options: ProgramOptions) -> Reading:
    """Read a TABLA program in a file.

    The program itself declares its sizes and what stays on chip, so options that say them are a `TablaError`.
    """
    for option, given in (("--size", options.sizes), ("--keep", options.keep)):
        if given:
            hint = "a .t file says its sizes (see -D), and its models are on chip"
            raise TablaError(f"{option} is for Tensor Comprehensions, '{path}' is a TABLA program", hint=hint)
    return read_tabla_text(Source.from_path(path), options)


def read_tabla_text(source: Source, options: ProgramOptions) -> Reading:
    """Read the text of a TABLA program. The program has the name of the source, without its suffix."""
    path = Path(source.name)
    expanded = preprocess(source, options.written_defines)
    with expanded.pointing_back():
        program = parse(expanded.source, options.all_defines, defined_elsewhere=expanded.used)
    values = tuple(v.name for v in program.variables if v.kind is Kind.TEMPORARY and v.name != "mu")
    return Reading(
        name=path.stem,
        text=expanded,
        ast=lambda: program_text(program),
        kernel=lambda: kernel_of(program, path.stem),
        lower=lambda number, results: lower(
            program, number_format=number, results=results, name=path.stem, runtime_rate=options.runtime_rate
        ),
        trainable=True,
        integers=numbers_of(program),
        warnings=tuple(_warning(w, expanded) for w in program.warnings if w.name not in options.results),
        values=values,
        conventions=Conventions(
            values=frozenset(values),
            # Every iterator states its range, so a range says nothing about what is meant.
            stated_is_meant=False,
            outputs_have_sizes=False,
            unread="assign it to a name that begins with '_' if that is meant",
            unlearnt="give it a gradient of 0 if that is meant",
        ),
    )


def _warning(warned: Warned, text: Preprocessed) -> str:
    """Return a warning with its place in the file."""
    span = text.locate(warned.span)
    return f"{span.source.name}:{span.line}:{span.column}: {warned.text}"
