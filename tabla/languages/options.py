"""What users say about a program beside its text: the part of the options that notations read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from tabla.base.arrays import read_arrays, unreserved
from tabla.base.kinds import (
    ARGUMENTS,
    DEFINITIONS,
    SHAPES,
    SIZES,
    ArraysOrFile,
    Names,
    ProgramName,
    RealNumber,
    Switch,
    Text,
    WholeNumber,
)
from tabla.base.npz import RESERVED
from tabla.base.options import Record, option
from tabla.base.source import TablaError, TablaValueError


@dataclass(frozen=True, slots=True, kw_only=True)
class InputShapes:
    """The shapes of arrays that a program may take its sizes from, by name.

    `types` are the letters that numpy has for the types of their elements (``numpy.dtype.kind``), where these count.
    Files of arrays hold real numbers, so theirs do not.
    """

    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)


BUILDS = ("gen", "check", "bound", "eval", "sim", "train", "test", "predict", "load", "synth", "build")
"""The commands that compile a program."""
INFERENCES = ("gen", "check", "bound", "eval", "sim", "load", "synth", "build", "explore")
"""The commands that also build the part of a program that predicts."""
_LEARN = (*BUILDS, "formats")
_KERNELS = (*BUILDS, "formats", "explore")
_PROGRAM, _KERNEL, _TUNING = "the program", "a kernel (.tc, .py, .cpp)", "what learns (.tc, .kernel, .onnx)"


@dataclass(frozen=True, kw_only=True)
class ProgramOptions(Record):
    """The options of a program, whatever array it is compiled for.

    `defines` are the ``-D`` options by name, texts or numbers. `learning_rate` is the constant ``mu``, and with
    `runtime_rate` hosts can load another one. `minibatch` is the number of samples of a step. With `infer` the part
    that predicts is built. `results` are the names of values to return beside the models. `sizes` gives a kernel its
    sizes, each 1 or more, and so does `inputs`: arrays by name, or their file, which is read only when a notation asks.
    `keep` names the inputs of a kernel that are loaded once. `shapes` and `arguments` are the tensors and the other
    parameters of a Tile function. The inputs `train` of a kernel learn from the `loss`; of a model that was trained
    elsewhere, these initialisers, or all but those of `freeze`. `name` is what the program is called instead of its
    file.
    """

    defines: Mapping[str, str | float] = option(
        DEFINITIONS,
        "set the variable $NAME; in a .t file also the constant NAME",
        default={},
        group=_PROGRAM,
        commands=(*_KERNELS, "ranges", "preprocess"),
        flag="-D",
        metavar="NAME=VALUE",
        example="m=10",
    )
    learning_rate: str | float | None = option(
        RealNumber(),
        "the learning rate, which is the constant mu of a .t file",
        group=_PROGRAM,
        commands=_KERNELS,
        metavar="MU",
        example="0.1",
    )
    minibatch: int = option(
        WholeNumber(low=1),
        "samples per step (default 1)",
        default=1,
        group=_PROGRAM,
        commands=(*_LEARN, "pass"),
        metavar="B",
        example="16",
        unit="samples",
    )
    runtime_rate: bool = option(
        Switch(),
        "keep the learning rate as a word that hosts load, as 'mu', beside the models",
        default=False,
        group=_PROGRAM,
        commands=BUILDS,
    )
    infer: bool = option(
        Switch(),
        "build the part that predicts, without any update; weights are then the first words of its memories",
        default=False,
        group=_PROGRAM,
        commands=INFERENCES,
    )
    results: Sequence[str] = option(
        Names(),
        "further values to return",
        default=(),
        group=_PROGRAM,
        commands=BUILDS,
        flag="--result",
        metavar="NAME",
        example="h",
    )
    inputs: str | Path | Mapping[str, ArrayLike] | None = option(
        ArraysOrFile(example="{'x': array}"),
        "arrays (.npz, .csv) whose shapes give a kernel its sizes",
        group=_KERNEL,
        commands=("gen", "check", "bound", "load", "synth", "explore", "ranges", "eval", "sim"),
        required=("eval", "sim"),
        metavar="FILE",
        example="x.npz",
        helps=dict.fromkeys(("eval", "sim"), "inputs, labels and initial models by name: .npz, or .csv with a header"),
    )
    sizes: Mapping[str, int] = option(
        SIZES,
        "the value of a size, 1 or more",
        default={},
        group=_KERNEL,
        commands=(*_KERNELS, "ranges"),
        flag="--size",
        metavar="N=64",
        example="N=64",
    )
    shapes: Mapping[str, Sequence[int]] = option(
        SHAPES,
        "the shape of a tensor",
        default={},
        group=_KERNEL,
        commands=_KERNELS,
        flag="--shape",
        metavar="I=2,8,3",
        example="I=2,8,3",
    )
    arguments: Mapping[str, object] = option(
        ARGUMENTS,
        "the value of another parameter",
        default={},
        group=_KERNEL,
        commands=_KERNELS,
        flag="--arg",
        metavar="s=2",
        example="s=2",
    )
    keep: Sequence[str] = option(
        Names(),
        "inputs that are loaded once and stay on the chip",
        default=(),
        group=_KERNEL,
        commands=(*BUILDS, "explore"),
        metavar="W,B",
        example="W,B",
    )
    train: Sequence[str] = option(
        Names(),
        "the inputs of a kernel, or the initialisers of a model, that learn",
        default=(),
        group=_TUNING,
        commands=_KERNELS,
        metavar="W,B",
        example="W,B",
    )
    freeze: Sequence[str] = option(
        Names(),
        "the initialisers of a model (.onnx) that do not learn; all others do",
        default=(),
        group=_TUNING,
        commands=_KERNELS,
        metavar="W,B",
        example="B",
    )
    loss: str | None = option(
        Text(example="mse", known="cross-entropy or mse"),
        "the loss against the label 'label': cross-entropy, or mse for half the sum of the squared errors",
        group=_TUNING,
        commands=_KERNELS,
        metavar="LOSS",
        example="mse",
    )

    name: str | None = option(
        ProgramName(),
        "the name of the module and of the files (default: that of FILE, without its end)",
        group=_PROGRAM,
        commands=("gen", "load", "synth", "build"),
        metavar="NAME",
        example="conv_2d",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        rate = self.defines.get("mu")
        if self.learning_rate is not None and rate is not None and str(rate) != str(self.learning_rate):
            raise TablaValueError(
                f"the learning rate is given twice: -D mu={rate} and --learning-rate {self.learning_rate}",
                hint="leave one of them out",
            )

    @property
    def input_shapes(self) -> InputShapes:
        """The shapes of `inputs`. A file that cannot be read is a `TablaError`."""
        match self.inputs:
            case None:
                return InputShapes()
            case str() | Path() as path:
                found = unreserved(read_arrays(Path(path)))
                return InputShapes(shapes={name: array.shape for name, array in found.items()})
            case arrays:
                return InputShapes(
                    shapes={name: np.shape(array) for name, array in arrays.items() if not name.startswith(RESERVED)},
                    types={name: np.asarray(array).dtype.kind for name, array in arrays.items()},
                )

    def refuse_fine_tuning(self, name: str) -> None:
        """Raise `TablaError` if the options say what learns of the program `name`, which says that itself."""
        for flag, given in (("--train", self.train), ("--freeze", self.freeze), ("--loss", self.loss)):
            if given:
                kinds = "models of ONNX" if flag == "--freeze" else "kernels (.tc, .kernel) and models of ONNX"
                hint = "leave it out: a program says itself what it learns"
                raise TablaError(f"{flag} is for {kinds}, and '{name}' is none", hint=hint)

    @property
    def exact_rate(self) -> Fraction | None:
        """The learning rate as the number that its text says, or None."""
        return None if self.learning_rate is None else Fraction(str(self.learning_rate))

    @property
    def written_defines(self) -> dict[str, str]:
        """The ``-D`` options, with their values as text."""
        return {name: str(value) for name, value in self.defines.items()}

    @property
    def all_defines(self) -> dict[str, str]:
        """The ``-D`` options and the learning rate, which is the constant ``mu`` of a ``.t`` file, as text."""
        rate = {} if self.learning_rate is None else {"mu": self.learning_rate}
        return {name: str(value) for name, value in {**self.defines, **rate}.items()}
