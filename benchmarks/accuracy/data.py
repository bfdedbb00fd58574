"""The data sets, as they come with their packages: real measurements that need no download, and generated ones.

scikit-learn has those of the examples, and iris and linnerud, and it generates others. statsmodels has the rest. Its
wheel contains each of them as a text file, which is read here without importing the package.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets

from tabla.examples.catalogue import held_out_ratings, ratings

Reals = NDArray[np.float64]
Arrays = Mapping[str, Reals]


def bundled(name: str) -> tuple[Reals, Reals]:
    """Return the measurements and the targets of a data set of scikit-learn; a class is its number."""
    measured, target = getattr(datasets, f"load_{name}")(return_X_y=True)
    return np.asarray(measured, float), np.asarray(target, float)


def _table(name: str, delimiter: str) -> dict[str, Reals]:
    """Return the columns of a data set of statsmodels by their names."""
    found = find_spec("statsmodels")
    assert found is not None and found.submodule_search_locations, "the data comes with statsmodels: pip install it"
    path = Path(found.submodule_search_locations[0]) / "datasets" / name / f"{name}.csv"
    head, *lines = path.read_text(encoding="utf-8").splitlines()
    values = np.array([[float(word) for word in line.split(delimiter)] for line in lines])
    return {word.strip("'\""): values[:, column] for column, word in enumerate(head.split(delimiter))}


def _columns(table: Mapping[str, Reals], but: tuple[str, ...]) -> Reals:
    return np.stack([column for name, column in table.items() if name not in but], axis=1)


def anes96() -> tuple[Reals, Reals]:
    """Return 9 answers of each of 944 voters of 1996, and whom they mean to vote for: 0 Clinton, 1 Dole."""
    table = _table("anes96", "\t")
    return _columns(table, ("vote",)), table["vote"]


def fair() -> tuple[Reals, Reals]:
    """Return 8 answers of each of 6366 married women of 1974, and whether they had an affair: 0 no, 1 yes."""
    table = _table("fair", ",")
    return _columns(table, ("affairs",)), (table["affairs"] > 0).astype(float)


def star98() -> tuple[Reals, Reals]:
    """Return 12 measurements of each of 303 school districts of California, and the share of its pupils whose
    result in mathematics is above the national median.

    The file also holds products of measurements. They are left out.
    """
    table = _table("star98", ",")
    products = tuple(name for name in table if "_" in name)
    return _columns(table, ("MATHTOT", "PR50M", *products)), table["PR50M"] / table["MATHTOT"]


def engel() -> tuple[Reals, Reals]:
    """Return the income of each of 235 Belgian households of 1857, and what it spent on food: both skewed."""
    table = _table("engel", ",")
    return table["income"][:, None], table["foodexp"][:, None]


def generated(name: str, **options: object) -> tuple[Reals, Reals]:
    """Return measurements and targets that a generator of scikit-learn makes from the seed 0.

    `options` are those of the generator ``make_<name>``. Values to predict have an axis of outputs; a class is its
    number, counted from 0.
    """
    measured, target = getattr(datasets, f"make_{name}")(random_state=0, **options)
    target = np.asarray(target, float)
    values = name.startswith(("friedman", "regression"))
    return np.asarray(measured, float), target[:, None] if values else target - target.min() * (target.min() > 0)


def hastie() -> tuple[Reals, Reals]:
    """Return ten normal measurements of each of 1,500 samples, and whether their squares sum to more than 9.34."""
    measured, target = generated("hastie_10_2", n_samples=1500)
    return measured, (target > 0).astype(float)


def rare() -> tuple[Reals, Reals]:
    """Return four classes of 1,500 samples with 12 measurements, one of which is 0 but in one sample of a hundred."""
    measured, target = generated("classification", n_samples=1500, n_features=12, n_informative=8, n_classes=4)
    chance = np.random.default_rng(0)
    measured[:, 0] = np.where(chance.random(len(measured)) < 0.01, chance.uniform(1, 4, len(measured)), 0.0)
    return measured, target


def one_hot(classes: Reals) -> Reals:
    """Return labels with a 1 for the class and 0 for the others."""
    return np.asarray(np.eye(int(classes.max()) + 1)[classes.astype(int)])


def rated(seed: int, share: float) -> tuple[Arrays, Arrays]:
    """Return the ratings of the example `recommender` to learn from, and those that are held out.

    Users are not held out, because the tastes of a user are learnt from that user's ratings. A share of all known
    ratings is: the first ones of numpy's ``default_rng(seed).permutation``, in the order of users and films.
    """
    shown, hidden = ratings(), held_out_ratings()
    known = np.flatnonzero(shown["r"] + hidden["r"])
    tested = np.random.default_rng(seed).permutation(known)[: round(share * len(known))]
    mask = np.zeros(shown["r"].size)
    mask[tested] = 1
    held_out = mask.reshape(shown["r"].shape)
    every, values = shown["r"] + hidden["r"], shown["y"] + hidden["y"]
    learnt = every - held_out
    return {"u": shown["u"], "r": learnt, "y": values * learnt}, {
        "u": shown["u"],
        "r": held_out,
        "y": values * held_out,
    }
