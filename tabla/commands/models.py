"""The build of a command that uses models of a file: in the format in which they were learnt, by their program."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
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
    own = arguments.file.endswith(".npz")
    if own and arguments.weights is not None:
        raise TablaError("the models are named twice", hint=f"leave '{arguments.file}' out, or --weights")
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
    if kept is None or kept.text is None:
        raise TablaError(
            f"'{file}' does not keep the program of its models",
            hint=f"name the program, and the models with --weights {file}",
        )
    for name, given in options.defines.items():
        learnt = kept.defines.get(name)
        if learnt != str(given):
            told = "without it" if learnt is None else f"with -D {name}={learnt}"
            raise TablaError(
                f"-D {name}={given} changes the program that '{file}' keeps, which has learnt {told}",
                hint=f"leave it out, or name another program, and the models with --weights {file}",
            )
    options = replace(options, defines=kept.defines, learning_rate=None)
    return build(Source.from_text(kept.text, f"{kept.name}.t"), options)


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
