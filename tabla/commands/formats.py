"""``tabla formats`` compares number formats by what they learn, on a validation part."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tabla.commands.arguments import add_file, add_json, add_quiet, add_sizes, add_steps, add_tile, numbers, whole
from tabla.commands.console import Console
from tabla.commands.learning import add_data, add_epochs, learning_options
from tabla.commands.output import write_json
from tabla.learn.formats import GUARDS, METRICS, WIDTHS, formats


def configure(parser: ArgumentParser) -> None:
    """Add the options of the command. The array does not matter, because every array gives the same words."""
    add_file(parser)
    add_data(parser)
    text = "leave out the share A of the samples as test part, and choose by the share B, the validation part"
    parser.add_argument("--split", metavar="A,B", help=text)
    text = "choose the samples of the parts by the seed S (default 0)"
    parser.add_argument("--split-seed", type=whole("split_seed"), metavar="S", help=text)
    text = f"bits of words, such as 8,12 or 8-18 (default {WIDTHS[0]}-{WIDTHS[-1]})"
    parser.add_argument("--widths", type=numbers("width"), default=tuple(WIDTHS), metavar="N,...", help=text)
    text = f"guard bits of models, such as 0,4 (default {','.join(map(str, GUARDS))})"
    parser.add_argument("--guards", type=numbers("guards"), default=GUARDS, metavar="G,...", help=text)
    add_epochs(parser)
    text = "stop each format after N epochs without a smaller validation loss, and score its best epoch"
    parser.add_argument("--patience", type=whole("patience"), metavar="N", help=text)
    text = "accuracy, or r2 for regression (default: what suits the labels)"
    parser.add_argument("--metric", choices=METRICS, metavar="NAME", help=text)
    add_steps(parser.add_argument_group("the program"))
    kernel = parser.add_argument_group("a kernel (.tc, .py)")
    add_sizes(kernel)
    add_tile(kernel)
    add_json(parser)
    add_quiet(parser)


def run(arguments: Namespace, console: Console) -> int:
    """Compare the formats and print the table."""
    found = formats(
        arguments.file,
        arguments.data,
        **learning_options(arguments),
        widths=arguments.widths,
        guards=arguments.guards,
        epochs=arguments.epochs,
        patience=arguments.patience,
        predict=arguments.predict,
        metric=arguments.metric,
        defines=dict(arguments.defines),
        learning_rate=arguments.learning_rate,
        minibatch=arguments.minibatch,
        sizes=dict(arguments.sizes),
        shapes=dict(arguments.shapes),
        arguments=dict(arguments.arguments),
        remark=console.remark,
    )
    if arguments.json:
        write_json(arguments.json, found.as_json(), console)
    if arguments.json != "-":
        console.result(found.text())
    return 0
