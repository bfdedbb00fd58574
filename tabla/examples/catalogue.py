"""The example programs, and the data that they learn from, written as ``.npz`` files.

The data for classification and regression is real and comes with scikit-learn. The ratings are made up, from a fixed
seed. Measurements are standardised to mean 0 and standard deviation 1, except for the digits, whose pixels are
between 0 and 1. The mean and the deviation are those of the samples that ``--split 0.2`` learns from, so its test part
has no influence. The order of the samples is shuffled once, from a fixed seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tabla.base.arrays import npz_bytes
from tabla.base.disk import cure, make_folder
from tabla.base.folder import replaced_file
from tabla.base.source import TablaError, extra
from tabla.learn.data.split import Split

Reals = NDArray[np.float64]
FOLDER = Path(__file__).resolve().parent
SEED = 2026
SHARE = 0.2
"""The share of the samples that the commands of the examples hold out as test part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """An example: a program, the name of its data file, and the function that makes the data.

    `held_out` makes a test part that is a file of its own. Other examples are divided with ``--split``.
    """

    name: str
    data: str
    about: str
    arrays: Callable[[], Mapping[str, Reals]]
    held_out: Callable[[], Mapping[str, Reals]] | None = None

    @property
    def program(self) -> Path:
        """The ``.t`` file of the program, in the checkout or in the installed package."""
        return FOLDER / f"{self.name}.t"


def _bundled(loader: str) -> tuple[Reals, Reals]:
    """Return the measurements and the targets of a data set of scikit-learn, shuffled.

    Raises `TablaError` if scikit-learn is not installed.
    """
    try:
        datasets = import_module("sklearn.datasets")
    except ImportError:
        raise TablaError(
            "the real data sets come with scikit-learn, which is not installed", hint=extra("data")
        ) from None
    measured, target = getattr(datasets, loader)(return_X_y=True)
    order = np.random.default_rng(SEED).permutation(len(target))
    return np.asarray(measured, float)[order], np.asarray(target, float)[order]


def _standard(values: Reals) -> Reals:
    learnt = values[Split(test=SHARE).indices(len(values)).training]
    return np.asarray((values - learnt.mean(axis=0)) / learnt.std(axis=0))


def _one_hot(target: Reals) -> Reals:
    return np.asarray(np.eye(int(target.max()) + 1)[target.astype(int)])


def diabetes() -> dict[str, Reals]:
    """Return 442 patients with 10 measurements each. The label is the progress of the disease, standardised."""
    measured, target = _bundled("load_diabetes")
    return {"x": _standard(measured), "y": _standard(target)}


def breast_cancer() -> dict[str, Reals]:
    """Return 569 tumours with 30 measurements each. The label is 1 for a benign tumour and 0 for a malignant one."""
    measured, target = _bundled("load_breast_cancer")
    return {"x": _standard(measured), "y": target}


def breast_cancer_signs() -> dict[str, Reals]:
    """Return the tumours of `breast_cancer` with the labels 1 (benign) and -1 (malignant)."""
    arrays = breast_cancer()
    return {"x": arrays["x"], "y": 2 * arrays["y"] - 1}


def wine() -> dict[str, Reals]:
    """Return 178 wines with 13 measurements each. The label has a 1 for one of 3 growers."""
    measured, target = _bundled("load_wine")
    return {"x": _standard(measured), "y": _one_hot(target)}


def digits() -> dict[str, Reals]:
    """Return 1797 handwritten digits of 8 by 8 pixels between 0 and 1. The label has a 1 for one of 10 digits."""
    measured, target = _bundled("load_digits")
    return {"x": measured / 16, "y": _one_hot(target)}


def ratings() -> dict[str, Reals]:
    """Return made-up ratings of 40 films by 30 users, with 4 hidden tastes and some noise.

    A sample is one user. `u` has a 1 for the user. `r` is 1 where a rating is known, which is the case for 48 % of the
    ratings. `y` is the rating minus the mean, or 0 where the rating is not known.
    """
    return _ratings(held_out=False)


def held_out_ratings() -> dict[str, Reals]:
    """Return ratings by the users of `ratings` that are not known there: 12 % of all ratings, in the same form.

    Users cannot be held out as other samples can, because the tastes of a user are learnt from that user's ratings.
    """
    return _ratings(held_out=True)


def _ratings(*, held_out: bool) -> dict[str, Reals]:
    chance = np.random.default_rng(SEED)
    users, films, tastes = 30, 40, 4
    true = chance.normal(size=(users, tastes)) @ chance.normal(size=(tastes, films)) / np.sqrt(tastes)
    rated = np.clip(np.round(2 * (true + 0.1 * chance.normal(size=true.shape))) / 2, -2, 2)
    given = chance.random((users, films)) < 0.6
    shown = (given & ((chance.random((users, films)) < 0.2) == held_out)).astype(float)
    return {"u": np.eye(users), "r": shown, "y": rated * shown}


EXAMPLES = {
    example.name: example
    for example in (
        Example(name="linear", data="diabetes.npz", about="linear regression", arrays=diabetes),
        Example(name="logistic", data="breast_cancer.npz", about="logistic regression", arrays=breast_cancer),
        Example(name="svm", data="breast_cancer_signs.npz", about="support vector machine", arrays=breast_cancer_signs),
        Example(
            name="recommender",
            data="ratings.npz",
            about="matrix factorisation",
            arrays=ratings,
            held_out=held_out_ratings,
        ),
        Example(name="backprop", data="wine.npz", about="neural network, one hidden layer", arrays=wine),
        Example(name="backprop2", data="digits.npz", about="neural network, two hidden layers", arrays=digits),
    )
}


def files(example: Example, folder: Path) -> dict[Path, bytes]:
    """Return the files of an example, the program first, by their paths in `folder`."""
    data = folder / example.data
    arrays = {data: example.arrays()}
    if example.held_out is not None:
        arrays[data.with_stem(f"{data.stem}_test")] = example.held_out()
    program = {folder / example.program.name: example.program.read_bytes()}
    return program | {path: npz_bytes(content) for path, content in arrays.items()}


def _refuse_other(path: Path, content: bytes) -> None:
    """Raise `TablaError` if there is a folder or another file at this path."""
    if path.is_dir():
        raise TablaError(f"'{path}' is a folder", hint="choose another folder with -o")
    if path.exists() and path.read_bytes() != content:
        raise TablaError(
            f"'{path}' is there already, and differs from the file of the example",
            hint="choose another folder with -o, or rename your file",
        )


def write(examples: Iterable[Example], folder: Path) -> list[Path]:
    """Write programs and their data into `folder`, and return the paths.

    Raises `TablaError` if that is impossible, and for a file that is there already with other content, because the user
    may have changed it. Nothing is written then.
    """
    chosen, contents = list(examples), dict[Path, bytes]()
    # The programs come first, because the data takes seconds.
    for example in chosen:
        _refuse_other(folder / example.program.name, example.program.read_bytes())
    for example in chosen:
        contents |= files(example, folder)
    for path, content in contents.items():
        _refuse_other(path, content)
    try:
        make_folder(folder)
        for path, content in contents.items():
            with replaced_file(path) as fresh:
                fresh.write_bytes(content)
    except OSError as fault:
        raise TablaError(
            f"cannot write into '{folder}': {fault.strerror or fault}",
            hint=cure(fault, "choose another folder with -o"),
        ) from None
    return list(contents)
