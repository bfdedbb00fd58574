"""The build of a command that uses models of a file: in the format in which they were learnt, by their program."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from tabla.base.arrays import read_arrays
from tabla.base.options import options_of
from tabla.base.source import Source, TablaError
from tabla.build.options import Options
from tabla.commands.arguments import build_options
from tabla.commands.console import Console
from tabla.driver import Build, build
from tabla.learn.data.recipe import LearntProgram, ModelRecipe, recipe_in

RATE = "mu"
"""The constant that is the learning rate of a program."""


def build_of(arguments: Namespace, console: Console) -> Build:
    """Return the build of the program of a command; with ``--infer`` its inference build, with the models of the user.

    Options that only an inference build has are a `TablaError` without it.
    """
    if arguments.infer:
        return inference_build(arguments, console)
    for name in ("predict", "weights"):
        if getattr(arguments, name) is not None:
            raise TablaError(f"--{name} has a meaning only with --infer", hint=f"add --infer, or leave --{name} out")
    return build(arguments.file, build_options(arguments))


def inference_build(arguments: Namespace, console: Console) -> Build:
    """Return the inference build of a command, in the format in which its models were learnt."""
    made = build_for_models(arguments, console, "built").inference(arguments.weights, predict=arguments.predict)
    if not made.reading.models and any(tensor.role == "model" for tensor in made.sample.tensors.values()):
        console.remark("note: the host loads the models; --weights FILE makes them the first words of the memories")
    return made


def build_for_models(arguments: Namespace, console: Console, done: str) -> Build:
    """Return the build of the program of a command, or if FILE is a file of models, of the program that it keeps.

    The number format is that in which the models were learnt, if nothing else is said. What the file of the models does
    not tell, and what the user says otherwise, is remarked; `done` is what is done with the models.
    """
    own = is_models_file(arguments)
    if own:
        arguments.weights = arguments.file
    options = replace(build_options(arguments), infer=False)
    for option in _learning(options, together=getattr(arguments, "infer", False)):
        console.remark(f"note: {option} has no effect: nothing learns here")
    if arguments.weights is None:
        return build(arguments.file, options)
    recipe = recipe_in(read_arrays(Path(arguments.weights)), f"'{arguments.weights}'")
    options = _in_their_format(options, recipe, arguments.weights, console, done)
    kept = None if recipe is None else recipe.program
    if own:
        return _of_kept(kept, options, arguments.file)
    for name, given, learnt in _other_constants(options, kept):
        console.remark(
            f"note: the models of '{arguments.weights}' were learnt with -D {name}={learnt}, and are {done} with"
            f" -D {name}={given}"
        )
    made = build(arguments.file, options)
    if kept is not None and LearntProgram.of(made).sha256 != kept.sha256:
        # It may be the cause of wrong results, so it is told in quiet mode, too.
        same = f"'{arguments.file}' has changed since the models of '{arguments.weights}' were learnt"
        other = f"'{arguments.file}' is not '{kept.name}', the program that learnt the models of '{arguments.weights}'"
        console.fault(f"warning: {same if made.name == kept.name else other}")
    return made


def is_models_file(arguments: Namespace) -> bool:
    """Return whether FILE is a file of models. Models that are also named by ``--weights`` are a `TablaError`."""
    own: bool = arguments.file.endswith(".npz")
    if own and arguments.weights is not None:
        raise TablaError("the models are named twice", hint=f"leave '{arguments.file}' out, or --weights")
    return own


def program_to_learn(arguments: Namespace, console: Console, done: str, *, starts: bool = True) -> str | Source:
    """Return the program of a command that learns: FILE, or the program that a file of models keeps.

    Such a file also says what the user leaves open: the constants, the learning rate, the samples of a step, and the
    number format with its guard bits. The arguments take it from there. If the command `starts` from models, it starts
    from those of the file, unless a ``--seed`` draws others. Another value of the user is remarked; `done` is what the
    command does.
    """
    if not is_models_file(arguments):
        return str(arguments.file)
    file = arguments.file
    recipe = recipe_in(read_arrays(Path(file)), f"'{file}'")
    given = dict(arguments.defines)
    if RATE in given and arguments.learning_rate is None:
        arguments.learning_rate = given.pop(RATE)
    source = _kept_source(None if recipe is None else recipe.program, given, file)
    assert recipe is not None and recipe.program is not None
    if recipe.program.notation == ".graph" and not hasattr(arguments, "format"):
        raise TablaError(
            f"'{file}' keeps its program as a graph in {recipe.format}, which is for no other format",
            hint=f"name the program, and the models with --weights {file}",
        )
    constants = recipe.program.defines
    arguments.defines = [(name, value) for name, value in constants.items() if name != RATE]
    # In an inference build the minibatch is how many samples are computed together.
    together = getattr(arguments, "infer", False)
    learnt = {"learning_rate": constants.get(RATE), "minibatch": None if together else recipe.how.get("minibatch")}
    for name, value in {**learnt, **_format_of(arguments, recipe)}.items():
        if value is not None:
            _take(arguments, name, value, console, done)
    metric, measured = getattr(arguments, "metric", None), recipe.how.get("metric")
    if None not in (metric, measured) and metric != measured:
        _remark_other(file, "--metric", measured, metric, console, done)
    if starts and arguments.seed is None:
        arguments.weights = file
    return source


def _remark_other(file: str, flag: str, learnt: object, given: object, console: Console, done: str) -> None:
    """Remark that an option has another value than when models were learnt."""
    console.remark(f"note: the models of '{file}' were learnt with {flag} {learnt}, and are {done} with {flag} {given}")


def _format_of(arguments: Namespace, recipe: ModelRecipe) -> dict[str, str | int | bool | None]:
    """Return the options of a command that say the number format of a recipe, those that the command has.

    The guard bits belong to the format, so they are not taken beside another one.
    """
    if not hasattr(arguments, "format") or getattr(arguments, "onto", None) is not None:
        return {}
    if arguments.format is not None:
        return {"format": recipe.format}
    return {"format": recipe.format, "model_guard": recipe.guard or None, "saturate": recipe.saturate or None}


def _take(arguments: Namespace, name: str, learnt: str | int | bool, console: Console, done: str) -> None:
    """Let an argument have the value with which models were learnt, or if it has another one, remark that."""
    option = options_of(Options)[name]
    given = getattr(arguments, name, None)
    if given in (None, False, (), []):
        # An exploration takes several values of what other commands take one of.
        several = arguments.command == "explore" and name in ("format", "model_guard", "minibatch")
        value = option.kind_of("gen").read(learnt) if isinstance(learnt, str) else learnt
        setattr(arguments, name, [value] if several else value)
    elif str(given) != str(learnt) and isinstance(given, str | int | float):
        _remark_other(arguments.file, option.flag, learnt, given, console, done)


def _learning(options: Options, *, together: bool) -> Iterator[str]:
    """Yield those options, as a user writes them, that only learning asks for.

    The samples that an inference build computes `together` are no option of learning.
    """
    known, default = options_of(Options), Options()
    for name in ("learning_rate", "minibatch", "model_guard", "runtime_rate"):
        value = getattr(options, name)
        if value != getattr(default, name) and not (together and name == "minibatch"):
            yield known[name].flag + ("" if value is True else f" {value}")


def _other_constants(options: Options, kept: LearntProgram | None) -> Iterator[tuple[str, str, str]]:
    """Yield the names of constants that have other values than when the models were learnt, with both values."""
    for name, given in options.defines.items():
        if kept is not None and kept.defines.get(name, str(given)) != str(given):
            yield name, str(given), kept.defines[name]


def _of_kept(kept: LearntProgram | None, options: Options, file: str) -> Build:
    """Return the build of a program that a file of models keeps."""
    source = _kept_source(kept, options.defines, file)
    assert kept is not None
    return build(source, replace(options, defines=kept.defines, learning_rate=None))


def _kept_source(kept: LearntProgram | None, defines: Mapping[str, object], file: str) -> Source:
    """Return the text of the program that a file of models keeps.

    A file without one, and `defines` of the user that would make another program of it, are a `TablaError`.
    """
    source = None if kept is None else kept.source
    if kept is None or source is None:
        raise TablaError(
            f"'{file}' does not keep the program of its models",
            hint=f"name the program, and the models with --weights {file}",
        )
    for name, given in defines.items():
        learnt = kept.defines.get(name)
        if learnt != str(given):
            told = "without it" if learnt is None else f"with -D {name}={learnt}"
            raise TablaError(
                f"-D {name}={given} changes the program that '{file}' keeps, which has learnt {told}",
                hint=f"leave it out, or name another program, and the models with --weights {file}",
            )
    return source


def _in_their_format(
    options: Options, recipe: ModelRecipe | None, weights: str, console: Console, done: str
) -> Options:
    """Return the options with the number format of the models, if nothing else is said."""
    asked = options.format is not None or options.onto is not None
    number = options.chosen_template() if asked or recipe is None else None
    used = "" if number is None else f"q{number.integer_bits}.{number.fraction_bits}"
    if recipe is None:
        if not asked:
            console.remark(
                f"note: '{weights}' does not tell in which number format its models were learnt; they are {done} in"
                f" {used}, and --format names another one"
            )
        return options
    if not asked:
        return replace(options, format=recipe.format, saturate=options.saturate or recipe.saturate)
    if used != recipe.format:
        console.remark(f"note: the models of '{weights}' were learnt in {recipe.format}, and are {done} in {used}")
    return options
