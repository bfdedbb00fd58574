"""A kernel that predicts becomes one that learns: a label, an error, derivatives, and an update of each model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from tabla.base.faults import did_you_mean
from tabla.base.source import TablaValueError
from tabla.graph.boxes import MARKED, axes, whole
from tabla.languages.kernel.derivatives import Backwards
from tabla.languages.kernel.faults import refused
from tabla.languages.kernel.signatures import apply
from tabla.languages.kernel.tree import Expression, Kernel, Read, Reduce, Statement, Tensor, Update
from tabla.languages.kernel.verify import verify
from tabla.languages.kernel.versions import versions_of
from tabla.languages.losses import LABEL, checked_loss
from tabla.languages.options import ProgramOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning:
    """What is asked for: the inputs or models that learn, the loss, and the learning rate."""

    train: tuple[str, ...]
    loss: str | None
    rate: Fraction | None


def asked_of(options: ProgramOptions, name: str) -> Learning | None:
    """Return what the options ask the program `name` to learn, or None.

    Options that make no sense for a kernel are a `TablaError`.
    """
    if options.freeze:
        raise TablaValueError("--freeze is for models of ONNX", hint="say what learns: --train NAME,NAME")
    if not options.train:
        for option, given in (("--loss", options.loss), ("--learning-rate", options.learning_rate is not None)):
            if given:
                raise TablaValueError(f"{option}: '{name}' does not learn", hint="say what learns: --train NAME,NAME")
        return None
    return Learning(train=tuple(dict.fromkeys(options.train)), loss=options.loss, rate=options.exact_rate)


def learning(kernel: Kernel, asked: Learning) -> Kernel:
    """Return the kernel in which the tensors of `asked` learn from ``label``, which has the shape of the result.

    With ``mse`` the error is the result less the label. With ``cross-entropy`` the result is scores: the probabilities
    are a softmax over the last axis, or the sigmoid of a single score, and the error is these less the label.
    """
    loss, rate = checked_loss(asked.loss, asked.rate, "program")
    _refuse(kernel, asked)
    versions = versions_of(kernel)
    tensors = {name: _learnt(tensor, asked.train) for name, tensor in versions.tensors.items()}
    result = versions.last.get(kernel.results[0], kernel.results[0])
    shape = tensors[result].shape
    tensors[LABEL] = Tensor(name=LABEL, shape=shape, role="label", span=tensors[result].span)
    backwards = Backwards(tensors, versions.writes, asked.train)
    predicted = result if loss == "mse" else _probabilities(backwards, result)
    indices, at = axes(whole(shape), MARKED)
    error = backwards.new("error", shape, tensors[result].span)
    difference = apply("subtract", Read(tensor=predicted, subscripts=at), Read(tensor=LABEL, subscripts=at))
    backwards.statements.append(Statement(target=error, write=at, indices=indices, value=difference))
    backwards.run(result, error)
    updates = []
    for name in asked.train:
        gradient = backwards.derivative(name)
        if gradient is None:
            message = f"'{name}' cannot learn: '{kernel.results[0]}' does not depend on it"
            raise refused(message, kernel.tensors[name].span, "leave it out of --train")
        updates.append(Update(model=name, gradient=gradient, rate=rate, span=kernel.tensors[name].span))
    learnt = replace(
        kernel,
        tensors=tensors,
        statements=(*versions.statements, *backwards.statements),
        updates=tuple(updates),
        results=(),
    )
    verify(learnt)
    return learnt


def _learnt(tensor: Tensor, names: Sequence[str]) -> Tensor:
    return replace(tensor, role="model") if tensor.name in names else tensor


def _refuse(kernel: Kernel, asked: Learning) -> None:
    """Raise `TablaError` for names that cannot learn, and for a kernel with several results or a label of its own."""
    can = [name for name, tensor in kernel.tensors.items() if tensor.role in ("input", "model")]
    for name in asked.train:
        if name not in can:
            hint = did_you_mean(name, can) or f"it can train {', '.join(can)}"
            raise TablaValueError(f"--train {name}: '{kernel.name}' has no such input", hint=hint)
    if kernel.updates:
        raise TablaValueError(f"--train: '{kernel.name}' learns already", hint="leave it out")
    if len(kernel.results) != 1:
        message = f"--loss: '{kernel.name}' returns {', '.join(kernel.results)}, and a loss is of one result"
        raise TablaValueError(message, hint="return the prediction alone")
    result = kernel.tensors[kernel.results[0]]
    if result.type != "real":
        message = f"'{result.name}' holds {result.type}s, and a loss is of real numbers"
        raise refused(message, result.span, "return the real numbers that it is made of")
    if LABEL in kernel.tensors:
        tensor = kernel.tensors[LABEL]
        message = f"'{LABEL}' is the name of what the result is compared with"
        raise refused(message, tensor.span, "give the tensor another name")


def _probabilities(backwards: Backwards, scores: str) -> str:
    """Return the tensor with the probabilities of scores: a softmax over the last axis, or the sigmoid of one score."""
    tensors, statements = backwards.tensors, backwards.statements
    shape, span = tensors[scores].shape, tensors[scores].span
    indices, at = axes(whole(shape), MARKED)
    name = backwards.new("probabilities", shape, span)
    score = Read(tensor=scores, subscripts=at)
    if not shape or shape[-1] == 1:
        statements.append(Statement(target=name, write=at, indices=indices, value=apply("sigmoid", score)))
        return name
    *outer, last = indices
    rows = at[:-1]

    def along(reduction: Literal["max", "sum"], value: Expression, suffix: str) -> Read:
        """Return the elements of a reduction over the last axis."""
        target = backwards.new(f"probabilities.{suffix}", shape[:-1], span)
        reduced = Reduce(reduction=reduction, indices=(last,), body=value)
        statements.append(Statement(target=target, write=rows, indices=tuple(outer), value=reduced))
        return Read(tensor=target, subscripts=rows)

    power = backwards.new("probabilities.power", shape, span)
    less = apply("subtract", score, along("max", score, "largest"))
    statements.append(Statement(target=power, write=at, indices=indices, value=apply("exp", less)))
    above = Read(tensor=power, subscripts=at)
    chances = apply("divide", above, along("sum", above, "total"))
    statements.append(Statement(target=name, write=at, indices=indices, value=chances))
    return name
