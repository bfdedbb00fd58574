"""A new project: the program, the settings and the page that a table asks for."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from pathlib import Path

import numpy as np

from tabla.base.arrays import Reals
from tabla.base.source import Source, TablaError
from tabla.build.options import Options
from tabla.build.stages import Stages
from tabla.graph.format import Format
from tabla.learn.auto_format import for_learning
from tabla.learn.data.dataset import Data, Tensors
from tabla.learn.data.gathered import Gathered
from tabla.learn.data.preparation import Preparation
from tabla.learn.options import LearnOptions
from tabla.learn.project.facts import Facts, LeftOut, facts_of
from tabla.learn.project.programs import AUTOENCODER, LINEAR, LOGISTIC, SOFTMAX, Model, Outline, program_text

Builder = Callable[[Source, Options], Stages]
"""Makes the build of a program with some options."""
_WIDTH = 16
"""The bits of a word."""
_VALIDATED = 100
"""Tables with so many rows have a validation part, which says when to stop."""
_STEPS = 30_000
"""About so many samples are learnt from, in at least `_EPOCHS` and at most `_MOST_EPOCHS` passes."""
_EPOCHS, _MOST_EPOCHS = 5, 100
_PATIENCE = 10
_LOOKED_AT = 60_000
"""So many samples, over all passes, are looked at for a number format."""
_SEEDS = 50
"""So many splits are tried until the training part has every class."""
_CALM = 8
"""The learning rate is at most 1 / (`_CALM` * mean curvature), as that of the estimators (decision 25)."""
_CURVATURES = {LINEAR: 1.0, LOGISTIC: 0.25, SOFTMAX: 0.5}
"""The largest second derivative of a loss by the sums of the last layer."""
_TITLES = {LINEAR: "Linear regression", LOGISTIC: "Logistic regression", SOFTMAX: "Softmax regression"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A new project: its files by their names, what it learns, and the columns that it leaves out.

    `columns` are the names that the columns of a table without a header got.
    """

    name: str
    about: str
    files: Mapping[str, str]
    left_out: tuple[LeftOut, ...]
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Plan:
    """What the files of a project are made of.

    `data` is the table as the project reads it, `shown` its path there, and `gathered` its arrays. `inputs` are those
    of the training part, as the program reads them.
    """

    name: str
    facts: Facts
    model: Model
    head: str
    data: Data
    shown: str
    gathered: Gathered
    preparation: Preparation
    inputs: Reals
    outline: Outline
    learning: LearnOptions
    shares: tuple[float, ...]
    pes: int
    format: str = ""
    guard: int = 0


def new_project(folder: Path, data: Path, label: str | None, model: Model | None, build: Builder) -> Project:
    """Return a project in `folder` that learns the column `label` of a table, or without one the table itself.

    Without a `model`, a number with many values is learnt by linear regression, two classes by logistic regression, and
    more classes by softmax regression; a table without a label by an autoencoder. Nothing is written. A model that does
    not fit the label is a `TablaError`. `build` makes the build of a program.
    """
    name = folder.resolve().name
    if not re.fullmatch(r"\w[\w.-]*", name) or name.endswith(".t"):
        hint = "use letters, digits, - and _, which the program and its Verilog can have in their names"
        raise TablaError(f"'{name}' is no name of a project", hint=hint)
    facts = facts_of(data, label)
    chosen = _fitting(facts, model)
    plan = _plan(name, facts, chosen, data, os.path.relpath(data, folder))
    plan = _with_format(plan, build)
    files = {f"{name}.t": program_text(plan.outline), "tabla.toml": _settings(plan), "README.md": _page(plan)}
    return Project(name=name, about=_about(plan), files=files, left_out=facts.left_out, columns=facts.named)


def _fitting(facts: Facts, model: Model | None) -> Model:
    """Return the model that was asked for, or the one that fits the label. One that does not is a `TablaError`."""
    fits = _fitting_head(facts) if facts.label else AUTOENCODER
    kind = fits if model is None else model.kind
    listed = f"{len(facts.classes)} classes: {', '.join(facts.classes[:6])}" if facts.classes else "a number"
    if kind == AUTOENCODER and facts.label:
        raise TablaError("an autoencoder has no label", hint="leave --label out, or choose another --model")
    if kind != AUTOENCODER and not facts.label:
        raise TablaError(f"the model '{kind}' predicts a label, and none is named", hint="name a column with --label")
    if kind == LINEAR and facts.classes and not _are_numbers(facts.classes):
        raise TablaError(
            f"linear regression predicts numbers, and '{facts.label}' has {listed}", hint=f"use --model {fits}"
        )
    if kind == LOGISTIC and len(facts.classes) != 2:
        raise TablaError(
            f"logistic regression tells two classes apart, and '{facts.label}' is {listed}", hint=f"use --model {fits}"
        )
    if kind == SOFTMAX and not facts.classes:
        raise TablaError(
            f"softmax regression tells classes apart, and '{facts.label}' is {listed}", hint=f"use --model {fits}"
        )
    return Model(kind=kind) if model is None else model


def _are_numbers(names: Sequence[str]) -> bool:
    return all(re.fullmatch(r"[+-]?\d+(\.\d+)?", name) for name in names)


def _head(facts: Facts, model: Model) -> str:
    return model.kind if model.kind in (LINEAR, LOGISTIC, SOFTMAX) else _fitting_head(facts)


def _fitting_head(facts: Facts) -> str:
    """Return the last layer that fits the label: a number, one of two classes, or one of more."""
    return {0: LINEAR, 2: LOGISTIC}.get(len(facts.classes), SOFTMAX)


def _plan(name: str, facts: Facts, model: Model, path: Path, shown: str) -> _Plan:
    head = _head(facts, model)
    classified = head != LINEAR
    facts = facts if classified else replace(facts, classes=())
    data, gathered = _split(facts, path, classified=classified)
    width = prod(gathered.arrays["x"].shape[1:])
    label_shape = (width,) if not facts.label else (len(facts.classes),) if head == SOFTMAX else ()
    tensors = Tensors(inputs={"x": (width,)}, labels={"y": label_shape})
    preparation = data.fitted(tensors, gathered.arrays, gathered.preparation)
    prepared = preparation.apply(gathered.arrays, tensors.shapes, gathered.origin.place)["x"]
    inputs = prepared[data.shares.indices(len(prepared)).training] if data.shares else prepared
    if model.kind == AUTOENCODER and not model.hidden:
        model = replace(model, hidden=max(1, width // 2))
    rate = _learning_rate(inputs, head, model.hidden)
    rows = len(inputs)
    epochs = min(_MOST_EPOCHS, max(_EPOCHS, round(_STEPS / rows)))
    patience = _PATIENCE if data.shares and data.shares.validation else None
    outline = Outline(
        title=_title(facts, model, head),
        data=f"{shown}, {len(facts.table)} rows; tabla.toml says how they are prepared",
        head=head,
        hidden=model.hidden,
        elements=gathered.origin.elements["x"],
        label=facts.label,
        classes=facts.classes,
        learning_rate=rate,
        autoencodes=not facts.label,
    )
    return _Plan(
        name=name,
        facts=facts,
        model=model,
        head=head,
        data=data,
        shown=shown,
        gathered=gathered,
        preparation=preparation,
        inputs=inputs,
        outline=outline,
        learning=LearnOptions(epochs=epochs, patience=patience),
        shares=_shares(facts),
        pes=16 if model.hidden else min(16, max(4, 1 << (width - 1).bit_length())),
    )


def _split(facts: Facts, path: Path, *, classified: bool) -> tuple[Data, Gathered]:
    """Return the data with a split whose training part has every class, and its arrays."""
    columns = {"x": list(facts.inputs), "y": [facts.label] if facts.label else list(facts.inputs)}
    data = Data(
        path,
        columns=columns,
        classes=("y",) if classified else (),
        missing="mean" if facts.gaps else None,
        no_header=not facts.header,
        standardise=True,
        standardise_labels=not classified,
        split=_shares(facts),
    )
    for seed in range(_SEEDS if classified else 1):
        tried = data if not seed else data.changed(split_seed=seed)
        gathered = tried.arrays(Tensors(inputs={}, labels={"y": ()} if facts.label else {}))
        rows = tried.shares.indices(len(gathered.arrays["y"])).training if tried.shares else np.arange(0)
        if not classified or len({str(each) for each in gathered.arrays["y"][rows]}) == len(facts.classes):
            return tried, gathered
    rare = min(facts.classes, key=[str(each) for each in gathered.arrays["y"]].count)
    raise TablaError(
        f"no split of the table leaves a sample of every class of '{facts.label}' to learn from: '{rare}' is too rare",
        hint="give more samples of it, or remove it",
    )


def _shares(facts: Facts) -> tuple[float, ...]:
    """Return the shares of the test part and, if there are rows enough, of the validation part."""
    return (0.2, 0.1) if len(facts.table) >= _VALIDATED else (0.2,)


def _learning_rate(inputs: Reals, head: str, hidden: int) -> str:
    """Return the learning rate as a power of two, by a bound of the curvature of the loss."""
    squares = np.square(inputs.reshape(len(inputs), -1)).sum(axis=1) + 1
    steepest = (0.5 if head == SOFTMAX else 1.0) if hidden else _CURVATURES[head]
    largest = steepest * (float(squares.max()) + hidden)
    mean = _CALM * steepest * (float(squares.mean()) + hidden)
    power = int(np.floor(np.log2(1 / max(1.0, largest, mean))))
    return f"{2.0**power:.{max(1, -power)}f}"


def _with_format(plan: _Plan, build: Builder) -> _Plan:
    """Return the plan with the number format that the training part asks for, as ``--format auto16`` chooses it."""
    made = partial(build, Source.from_text(program_text(plan.outline), f"{plan.name}.t"))
    epochs = plan.learning.epochs or 1
    samples = max(_VALIDATED, _LOOKED_AT // epochs)
    data = plan.data if samples >= len(plan.facts.table) else plan.data.changed(samples=samples)
    learning = replace(plan.learning, patience=None)
    options, _ = for_learning(made, Options(format=f"auto{_WIDTH}", pes=plan.pes), data, learning)
    number = options.chosen_format()
    return replace(plan, format=str(number), guard=options.model_guard or 0)


def _title(facts: Facts, model: Model, head: str) -> str:
    what = facts.label or "the table itself"
    if model.kind == AUTOENCODER:
        return f"An autoencoder with a hidden layer of {model.hidden}: it learns the table itself"
    if model.hidden:
        return f"A network with a hidden layer of {model.hidden}: it learns '{what}'"
    return f"{_TITLES[head]}: it learns '{what}'"


def _about(plan: _Plan) -> str:
    classes = plan.facts.classes
    of = f" ({', '.join(classes[:6])}{', ...' if len(classes) > 6 else ''})" if classes else ""
    count, numbers = len(plan.facts.inputs), len(plan.outline.elements)
    read = f"{count} columns" if count == numbers else f"{count} columns, which are {numbers} numbers"
    return f"{plan.outline.title[:1].lower()}{plan.outline.title[1:]}{of} from {read}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)


def _list(names: Sequence[str]) -> str:
    """Return a list of texts, on several lines if it is long."""
    texts = [_quoted(name) for name in names]
    line = f"[{', '.join(texts)}]"
    if len(line) <= 100:
        return line
    return "[\n" + "".join(f"    {text},\n" for text in texts) + "]"


def _settings(plan: _Plan) -> str:
    """Return the text of ``tabla.toml``."""
    return "\n".join([*_of_learning(plan), *_of_columns(plan), *_of_commands(plan), ""])


def _set(key: str, value: object, why: str = "") -> str:
    """Return a line of settings, with a comment if there is something to say."""
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, bool) else value
    line = f"{key} = {text}"
    return f"{line:<28}# {why}" if why else line


def _of_learning(plan: _Plan) -> Iterator[str]:
    data, learning, number = plan.data, plan.learning, Format.parse(plan.format)
    yield "# What the commands of tabla do in this folder if the command line says nothing else: tabla train is enough."
    yield "# Each key is an option of the same name. tabla show lists them, and tabla train --help explains them."
    yield ""
    yield _set("file", _quoted(f"{plan.name}.t"))
    yield _set("data", _quoted(Path(plan.shown).as_posix()))
    if data.no_header:
        yield _set("no_header", True, "the first line of the table is a sample, so the columns are c0, c1, ...")
    yield ""
    yield "# The samples. What is fitted to them is fitted to the training part alone."
    yield _set("standardise", True, "every number of an input gets a mean of 0 and a deviation of 1")
    if data.standardise_labels:
        yield _set("standardise_labels", True, "so does the label; predictions are in the units of the table")
    if data.classes:
        yield _set("classes", '["y"]', "the values of the label name classes")
    if data.missing:
        yield _set("missing", _quoted(data.missing), 'the mean stands for a missing value; or "drop": such rows go')
    shares = list(plan.shares)
    parts = "the test part, and the validation part" if len(shares) > 1 else "the test part"
    yield _set("split", shares if len(shares) > 1 else shares[0], f"{parts}; for a series use split_last")
    if data.split_seed:
        yield _set("split_seed", data.split_seed, "with this split, the training part has every class")
    yield ""
    yield _set("epochs", learning.epochs, "passes over the training part")
    if learning.patience:
        yield _set("patience", learning.patience, "stop after so many that are no better on the validation part")
    yield ""
    yield "# The array, and its numbers: 16 bits, chosen from the data as --format auto16 does."
    yield _set("pes", plan.pes, "processing elements")
    bits = f"{number.integer} bits before the point, with the sign, and {number.fraction} after it"
    yield _set("format", _quoted(plan.format), bits)
    if plan.guard:
        yield _set("model_guard", plan.guard, "further bits of the models, which small steps need")
    yield _set("saturate", True, "data outside of the format become the nearest number, and are counted")


def _of_columns(plan: _Plan) -> Iterator[str]:
    facts, found = plan.facts, plan.gathered.preparation.categories.get("x", {})
    yield ""
    for each in facts.left_out:
        yield f"# {_quoted(each.column)} is left out: {_one_line(each.reason)}."
    yield "[columns]"
    yield f"x = {_list(facts.inputs)}"
    yield f"y = {_list([facts.label] if facts.label else facts.inputs)}"
    if any(found.values()):
        yield ""
        yield "# Texts: each category is a number of the input, 1 or 0."
        yield "[categories]"
        for column, known in found.items():
            if known:
                yield f"{_key(column)} = {_list(known)}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _of_commands(plan: _Plan) -> Iterator[str]:
    models = _quoted(f"{plan.name}.npz")
    yield ""
    yield "# For one command alone."
    yield "[train]"
    yield f"output = {models}"
    for command in ("test", "predict"):
        yield ""
        yield f"[{command}]"
        yield f"weights = {models}"


def _page(plan: _Plan) -> str:
    """Return the text of README.md."""
    files = f"`{plan.name}.t` is the program, and `tabla.toml` says how it learns. Change both as you like."
    new = (
        "its columns are those of the table, the label may be missing" if plan.facts.label else "a table like the first"
    )
    return "\n".join(
        [
            f"# {plan.name}",
            "",
            f"{plan.outline.title}. {files}",
            "",
            "```",
            f"tabla train                                  # learn, and write {plan.name}.npz",
            f"tabla predict --data new.csv -o out.csv      # predict for new rows: {new}",
            "tabla test --data new.csv                    # score the models on rows with labels",
            "tabla show                                   # list the settings, and how the models were learnt",
            "tabla gen -o build                           # write the accelerator that learns, in Verilog",
            "tabla gen --infer -o use                     # write the one that only predicts, with what was learnt",
            "```",
            "",
        ]
    )
