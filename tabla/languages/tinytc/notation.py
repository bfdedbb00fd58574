"""``fused.ir:fused_kernel``: a function in the tensor language of the Tiny Tensor Compiler."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from tabla.base.arrays import refuse_strangers
from tabla.base.faults import did_you_mean
from tabla.base.source import Source, TablaError
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.languages.kernel.evaluate import evaluate, evaluate_samples
from tabla.languages.kernel.lower import lower
from tabla.languages.kernel.text import kernel_text
from tabla.languages.options import ProgramOptions
from tabla.languages.preprocess import TENSOR_LANGUAGE, preprocess
from tabla.languages.reading import Reading, Reals
from tabla.languages.tinytc.kernel import Interface, kernel_of
from tabla.languages.tinytc.parser import parse
from tabla.languages.tinytc.syntax import Function

_FUNCTION = re.compile(r"(?<![@%\w.])func\s+\S")


def read_tinytc(path: Path, member: str | None, options: ProgramOptions) -> Reading:
    """Read a function, the only one without `member`. Everything that is wrong with it is a `TablaError`."""
    for option, given in (("--size", options.sizes), ("--learning-rate", options.learning_rate is not None)):
        if given:
            raise TablaError(f"{option}: '{path}' has its sizes in its text", hint="write $n, and -D n=8")
    if options.runtime_rate:
        raise TablaError(f"--runtime-rate: '{path}' does not learn, so it has no rate", hint="leave it out")
    source = Source.from_path(path)
    _refuse_others(source, path)
    expanded = preprocess(source, options.written_defines, TENSOR_LANGUAGE)
    for name in options.defines:
        if name not in expanded.used:
            raise TablaError(f"-D {name}: '{path}' does not use ${name}", hint=f"write ${name} where it stands")
    with expanded.pointing_back():
        function = _function(parse(expanded.source), path, member)
        for name in options.keep:
            known = [parameter.name for parameter in function.parameters]
            if name not in known:
                hint = did_you_mean(name, known) or f"the parameters of '@{function.name}' are {', '.join(known)}"
                raise TablaError(f"--keep {name}: '@{function.name}' has no such parameter", hint=hint)
        interface = kernel_of(function, path.stem, options.keep)
        _refuse_unknown(interface, options)

    def lowered(number_format: Format, results: Sequence[str]) -> Graph:
        with expanded.pointing_back():
            own = {shown: name for name, shown in interface.shown.items()}
            graph = lower(
                interface.kernel, number_format=number_format, results=[own.get(name, name) for name in results]
            )
        return replace(
            graph, results=tuple((interface.shown.get(name, name), tensor) for name, tensor in graph.results)
        )

    def evaluated(arrays: Mapping[str, Reals], calls: int | None) -> dict[str, Reals]:
        with expanded.pointing_back():
            return _evaluate(interface, arrays, options.results, calls)

    return Reading(
        name=path.stem,
        text=expanded,
        ast=lambda: kernel_text(interface.kernel),
        kernel=lambda: interface.kernel,
        lower=lowered,
        evaluate_float=evaluated,
        values=tuple(name for name, tensor in interface.kernel.tensors.items() if tensor.role == "value"),
    )


def _evaluate(
    interface: Interface, arrays: Mapping[str, Reals], results: Sequence[str], calls: int | None
) -> dict[str, Reals]:
    """Return the results in float64, call by call: streamed arrays may have an axis more in front."""
    kernel = interface.kernel
    given = {name: tensor for name, tensor in kernel.tensors.items() if tensor.role != "value"}
    refuse_strangers(arrays, given, "the input")
    for name in given:
        if name not in arrays:
            raise TablaError(f"no values given for '{name}'", hint="add an array of that name")
    streamed = [name for name, tensor in given.items() if tensor.role == "input"]
    own = {shown: name for name, shown in interface.shown.items()}
    kept = {**own, **{name: own.get(name, name) for name in results}}
    counts = {len(arrays[name]) for name in streamed if np.ndim(arrays[name]) == len(given[name].shape) + 1}
    several = bool(streamed) and all(np.ndim(arrays[name]) == len(given[name].shape) + 1 for name in streamed)
    for name in given:
        if np.shape(arrays[name])[several and name in streamed :] != given[name].shape:
            message = (
                f"'{name}' has the shape {list(np.shape(arrays[name]))}, the function has {list(given[name].shape)}"
            )
            raise TablaError(message, hint="give one sample, or an axis of samples in front of all that is streamed")
    if several and len(counts) > 1:
        raise TablaError(
            f"the inputs hold different numbers of samples: {sorted(counts)}",
            hint="give as many samples of each, and name what is the same for all samples with --keep",
        )
    if not several:
        found = evaluate(kernel, dict(arrays))
        return {shown: found[name].astype(np.float64) for shown, name in kept.items()}
    count = min(counts.pop(), calls or 1 << 62)
    samples = {name: arrays[name] for name in streamed}
    models = {name: array for name, array in arrays.items() if name not in streamed}
    _, after = evaluate_samples(kernel, models, samples, count, keep=tuple(dict.fromkeys(kept.values())))
    return {shown: after[name].astype(np.float64) for shown, name in kept.items()}


def _refuse_others(source: Source, path: Path) -> None:
    """Raise `TablaError` for a file that is not in this language, since other tools call their files ``.ir``, too."""
    if _FUNCTION.search(source.text) is None:
        raise TablaError(
            f"'{path}' is no text of the Tiny Tensor Compiler's language",
            hint="it holds functions: func @name(%A: memref<f32x4x8>) { ... }",
        )


def _function(functions: Sequence[Function], path: Path, member: str | None) -> Function:
    known: Mapping[str, Function] = {function.name: function for function in functions}
    hint = f"its functions are {', '.join(known)}"
    if member is None and len(known) == 1:
        return functions[0]
    if member is None:
        raise TablaError(f"'{path}' has {len(known)} functions", hint=f"{hint}; name one: {path}:NAME")
    if member.removeprefix("@") not in known:
        raise TablaError(f"'{path}' has no function '{member}'", hint=did_you_mean(member, known) or hint)
    return known[member.removeprefix("@")]


def _refuse_unknown(interface: Interface, options: ProgramOptions) -> None:
    known = [*interface.shown.values(), *(n for n, t in interface.kernel.tensors.items() if t.role == "value")]
    for name in options.results:
        if name not in known:
            hint = did_you_mean(name, known) or f"it computes {', '.join(known)}"
            raise TablaError(f"--result {name}: the function does not compute it", hint=hint)
