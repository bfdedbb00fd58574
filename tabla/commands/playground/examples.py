"""The programs that the playground offers, each with its options and with the data that it learns from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from tabla.commands.playground.request import MADE_UP, TABLA, TENSOR_COMPREHENSIONS
from tabla.examples.catalogue import EXAMPLES
from tabla.host.engines.session import EVALUATION
from tabla.learn.data.dataset import Data
from tabla.learn.project.programs import SOFTMAX, Outline, program_text

CYCLE_MODEL = "model"
"""The engine that takes all steps of a small program in a second."""
_FORMAT = re.compile(r"^// Format: (\S+)", re.MULTILINE)
_EPOCHS = re.compile(r"^// Run: .*--epochs (\d+)", re.MULTILINE)
SHARE = 0.2
"""The share of the samples that is held out as test part, where the test part is no file of its own."""

_WINE = (
    *("alcohol", "malic acid", "ash", "alkalinity of ash", "magnesium", "total phenols", "flavanoids"),
    *("other phenols", "proanthocyanins", "colour", "hue", "dilution", "proline"),
)
"""The measurements of a wine, in the order of scikit-learn's data set."""
_LARGE = ("backprop2",)
"""The examples that learn in the evaluation: the cycle model would take a minute for all of their steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A program that the playground offers: its text, and the options that it begins with.

    `data` is the name of an example of `tabla.examples`, whose data the program learns from, or `MADE_UP`. `engine`
    takes the steps. `language` is the end of the program's file. A kernel has `sizes`, and `learns` with `rate` if it
    learns.
    """

    name: str
    about: str
    text: str
    format: str
    epochs: int
    data: str
    engine: str = CYCLE_MODEL
    language: str = TABLA
    sizes: str = ""
    learns: str = ""
    rate: str = ""


_LAYER = """# A dense layer with a sigmoid: K inputs, N outputs.
# The index k stands on the right side only, so +=! sums over it.
# The options below say how large K and N are, and which inputs learn.
def layer(float(K) x, float(N, K) W, float(N) bias) -> (y) {
  z(n) +=! W(n, k) * x(k)
  y(n) = 1.0 / (1.0 + exp(-(z(n) + bias(n))))
}
"""


def _of_example(name: str) -> Offer:
    """Return an example as an offer. Its text says its format and its epochs."""
    text = EXAMPLES[name].program.read_text(encoding="utf-8")
    number, epochs = _FORMAT.search(text), _EPOCHS.search(text)
    assert number is not None, f"{name}.t says its format"
    assert epochs is not None, f"{name}.t says its epochs"
    return Offer(
        name=name,
        about=EXAMPLES[name].about,
        text=text,
        format=number[1],
        epochs=int(epochs[1]),
        data=name,
        engine=EVALUATION if name in _LARGE else CYCLE_MODEL,
    )


def _softmax() -> Offer:
    """Return softmax regression as ``tabla new`` writes it, for the data of the example `backprop`."""
    outline = Outline(
        title="Softmax regression: which of three growers made a wine?",
        data="wine.npz, 178 real wines, 13 standardised measurements each",
        head=SOFTMAX,
        hidden=0,
        elements=_WINE,
        label="grower",
        classes=["first", "second", "third"],
    )
    text = program_text(outline)
    return Offer(name="softmax", about="softmax regression", text=text, format="q6.10", epochs=10, data="backprop")


def _layer() -> Offer:
    """Return a layer in Tensor Comprehensions, whose gradients are derived."""
    return Offer(
        name="layer",
        about="a dense layer",
        text=_LAYER,
        format="q6.10",
        epochs=10,
        data=MADE_UP,
        language=TENSOR_COMPREHENSIONS,
        sizes="K=8 N=2",
        learns="W bias",
        rate="0.125",
    )


def offers() -> tuple[Offer, ...]:
    """Return the programs, logistic regression first, and those in other languages than TABLA last."""
    names = sorted(EXAMPLES, key=lambda name: name != "logistic")
    found = [_of_example(name) for name in names]
    return (*found[:3], _softmax(), *found[3:], _layer())


def data_names() -> dict[str, str]:
    """Return the data that a program can learn from: the name of an example, and the name of its data set."""
    return {name: example.data.removesuffix(".npz").replace("_", " ") for name, example in EXAMPLES.items()}


def data_of(name: str) -> Data:
    """Return the data of an example, with its test part. Without scikit-learn, real data is a `TablaError`."""
    example = EXAMPLES[name]
    held_out: dict[str, Any] = {"split": SHARE}
    if example.held_out is not None:
        held_out = {"test": dict(example.held_out())}
    return Data(dict(example.arrays()), **held_out)
