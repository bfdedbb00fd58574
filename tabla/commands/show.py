"""``tabla show`` says what a file of models holds, and how they were learnt."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

from tabla.base.arrays import read_arrays
from tabla.base.source import TablaError
from tabla.commands.console import Console
from tabla.commands.settings import NAME, Settings, read_settings
from tabla.learn.data.preparation import Preparation, separated
from tabla.learn.data.recipe import ModelRecipe, recipe_in

_NAMES = {"learning_rate": "learning rate", "predict": "predicts with", "tool": "learnt by"}

_MISSING = {
    "mean": "the mean or the most frequent category of the training part stands for them",
    "drop": "such samples are left out",
}
_MOST_COLUMNS = 4
"""So many columns are listed."""
_MOST_CATEGORIES = 8
"""So many categories of a column are listed."""


def configure(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    text = "a file of models, as tabla train -o writes it (default: the settings of tabla.toml, and its models)"
    parser.add_argument("file", metavar="FILE.npz", nargs="?", help=text)


def run(arguments: Namespace, console: Console) -> int:
    """Print the settings of the folder, and the models with their recipe."""
    settings = read_settings()
    models = [] if settings is None else settings.models()
    if arguments.file is None and settings is None:
        raise TablaError(
            f"there is no file of models to show, and no {NAME} in this folder",
            hint="name a file that tabla train -o wrote, or make a project with tabla new",
        )
    shown = arguments.file or next((each for each in models if Path(each).is_file()), None)
    if settings is not None and (arguments.file is None or arguments.file in models):
        lines = [*_of_settings(settings), ("others", "the defaults, which --help of each command lists")]
        console.result(_listed(lines))
        if shown is None:
            console.result("\nno models yet: tabla train learns them")
            return 0
        console.result(f"\nmodels of {shown}, which come before {NAME} in what they tell")
    assert shown is not None  # either it is named, or the settings name it
    return _show(shown, console)


def _listed(lines: Sequence[tuple[str, str]]) -> str:
    """Return names with their texts, which begin in one column."""
    width = max(14, *(len(name) for name, _ in lines)) + 2
    return "\n".join(f"{name:<{width}}{text}" for name, text in lines)


def _of_settings(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield the settings, each with its value and its line."""
    yield "settings", NAME
    for name, value, line in settings.listed():
        yield name, f"{value}  ({NAME}:{line})"


def _show(file: str, console: Console) -> int:
    arrays = read_arrays(Path(file))
    models, preparation = separated(arrays)
    recipe = recipe_in(arrays, f"'{file}'")
    shapes = (f"{name}{''.join(f'[{size}]' for size in array.shape)}" for name, array in models.items())
    lines = [("models", ", ".join(shapes) or "none"), *_of_recipe(recipe), *_of_data(preparation)]
    console.report(_listed(lines))
    return 0


def _of_recipe(recipe: ModelRecipe | None) -> Iterator[tuple[str, str]]:
    """Yield what the recipe says, each with its name."""
    if recipe is None:
        yield "format", "not told: tabla train -o did not write this file"
        return
    guard = f", {recipe.guard} guard bits" if recipe.guard else ""
    yield "format", recipe.format + guard + (", data outside of it saturates" if recipe.saturate else "")
    if (program := recipe.program) is not None:
        text = "the text is in the file" if program.text is not None else "only its hash is in the file"
        given = "".join(f" -D {name}={value}" for name, value in program.defines.items())
        yield "program", f"{program.name}{given}, SHA-256 {program.sha256[:12]}..., {text}"
    for name, value in recipe.how.items():
        if value is not None:
            yield _NAMES.get(name, name), str(value)
    if recipe.classes is not None and recipe.classes.threshold is not None:
        yield "classes", f"{recipe.classes.low:g} and 1, which is {recipe.classes.threshold:g} or more"
    elif recipe.classes is not None:
        yield "classes", f"{recipe.classes.count}, that of the largest element"


def _of_data(preparation: Preparation) -> Iterator[tuple[str, str]]:
    """Yield how the data was prepared, each with its name."""
    for name, classes in preparation.classes.items():
        yield f"classes of {name}", ", ".join(classes)
    for name, columns in preparation.columns.items():
        more = f" and {len(columns) - _MOST_COLUMNS} more" if len(columns) > _MOST_COLUMNS else ""
        yield f"columns of {name}", ", ".join(columns[:_MOST_COLUMNS]) + more
    for name, categories in preparation.categories.items():
        listed = (f"{column}: {_first(known)}" for column, known in categories.items() if known)
        yield f"categories of {name}", "; ".join(listed)
    if preparation.means:
        yield "standardised", ", ".join(preparation.means)
    if preparation.missing:
        yield "missing values", _MISSING[preparation.missing]


def _first(names: Sequence[str]) -> str:
    """Return the first names of a list, and how many more there are."""
    more = f" and {len(names) - _MOST_CATEGORIES} more" if len(names) > _MOST_CATEGORIES else ""
    return ", ".join(names[:_MOST_CATEGORIES]) + more
