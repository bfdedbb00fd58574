"""What users say about a program beside its text: the part of the options that notations read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tabla.base.source import TablaError


@dataclass(frozen=True, slots=True, kw_only=True)
class InputShapes:
    """The shapes of arrays that a program may take its sizes from, by name.

    `types` are the letters that numpy has for the types of their elements (``numpy.dtype.kind``), where these count.
    Files of arrays hold real numbers, so theirs do not.
    """

    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramOptions:
    """The options of a program, whatever array it is compiled for.

    `defines` are the ``-D`` options by name, texts or numbers. `learning_rate` is the constant ``mu``, and with
    `runtime_rate` hosts can load another one. `results` are the names of values to return beside the models. `sizes`
    gives a kernel its sizes, each 1 or more, and so does `inputs`, a function that returns the shapes of arrays; they
    may lie in a file, which is read only when a notation asks. `keep` names the inputs of a kernel that are loaded
    once. `shapes` and `arguments` are the tensors and the other parameters of a Tile function. Of a model that was
    trained elsewhere, the initialisers `train` learn, or all but those of `freeze`, from the `loss`.
    """

    defines: Mapping[str, str | float] = field(default_factory=dict)
    learning_rate: str | float | None = None
    runtime_rate: bool = False
    results: Sequence[str] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    inputs: Callable[[], InputShapes] = InputShapes
    keep: Sequence[str] = ()
    shapes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    arguments: Mapping[str, object] = field(default_factory=dict)
    train: Sequence[str] = ()
    freeze: Sequence[str] = ()
    loss: str | None = None

    def refuse_fine_tuning(self, name: str) -> None:
        """Raise `TablaError` if the options say what learns of the program `name`, which says that itself."""
        for option, given in (("--train", self.train), ("--freeze", self.freeze), ("--loss", self.loss)):
            if given:
                hint = "leave it out: a program says itself what it learns"
                raise TablaError(f"{option} is for models of ONNX, and '{name}' is none", hint=hint)

    @property
    def written_defines(self) -> dict[str, str]:
        """The ``-D`` options, with their values as text."""
        return {name: str(value) for name, value in self.defines.items()}

    @property
    def all_defines(self) -> dict[str, str]:
        """The ``-D`` options and the learning rate, which is the constant ``mu`` of a ``.t`` file, as text."""
        rate = {} if self.learning_rate is None else {"mu": self.learning_rate}
        return {name: str(value) for name, value in {**self.defines, **rate}.items()}
