"""``x.kernel``: a kernel as ``tabla gen --emit kernel`` prints it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tabla.base.source import Source, TablaError
from tabla.graph.unread_parts import Conventions
from tabla.languages.kernel.lower import lower
from tabla.languages.kernel.parser import parse
from tabla.languages.kernel.text import kernel_text
from tabla.languages.kernel.training import asked_of, learning
from tabla.languages.kernel.tree import Kernel
from tabla.languages.options import ProgramOptions
from tabla.languages.preprocess import Preprocessed
from tabla.languages.reading import Reading


def read_kernel_file(path: Path, options: ProgramOptions) -> Reading:
    """Read a kernel in a file, as `read_kernel_text` reads its text."""
    return read_kernel_text(Source.from_path(path), options)


def read_kernel_text(source: Source, options: ProgramOptions) -> Reading:
    """Read the text of a kernel. It holds sizes, constants and its rate, so options that say them are refused."""
    path = Path(source.name)
    given = (
        ("--size", options.sizes),
        ("--keep", options.keep),
        ("-D", options.defines),
        ("--learning-rate", options.learning_rate is not None and not options.train),
    )
    for option, value in given:
        if value:
            raise TablaError(f"{option}: '{path}' is a kernel, which holds that already", hint=f"leave {option} out")
    kernel = parse(source, path.stem)
    asked = asked_of(options, str(path))
    if asked is not None:
        kernel = learning(kernel, asked)
    if options.runtime_rate and len({update.rate for update in kernel.updates}) != 1:
        raise TablaError(f"--runtime-rate: '{path}' has not one learning rate", hint="leave it out")
    text = Preprocessed(source=source, original=source)
    read = reading_of(kernel, text, lambda: kernel_text(kernel), options)
    return read if asked is not None else replace(read, conventions=_conventions(kernel))


def _conventions(kernel: Kernel) -> Conventions:
    """Return what the ranges of a text say. Each index has its range, so a range says nothing about what is meant.

    Every element of a model learns, because what a gradient leaves out is 0.
    """
    return Conventions(
        values=frozenset(kernel.tensors),
        stated_is_meant=False,
        outputs_have_sizes=False,
        unread="assign it to a name that begins with '_' if that is meant",
        unlearnt="",
    )


def reading_of(kernel: Kernel, text: Preprocessed, ast: Callable[[], str], options: ProgramOptions) -> Reading:
    """Return a kernel that learns, or a text of one, as a program. `ast` shows what the user wrote."""
    return Reading(
        name=kernel.name,
        text=text,
        ast=ast,
        kernel=lambda: kernel,
        lower=lambda number, results: lower(
            kernel, number_format=number, results=results, runtime_rate=options.runtime_rate
        ),
        trainable=True,
        values=tuple(name for name, tensor in kernel.tensors.items() if tensor.role == "value"),
        integers=frozenset(name for name, tensor in kernel.tensors.items() if tensor.type == "integer"),
    )
