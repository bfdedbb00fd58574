"""Functions of the tensor language against an interpreter of their own: in float64, in words, and on the machine."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabla.base.source import Source
from tabla.build.options import Options
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.passes.pipeline import run_passes
from tabla.languages.kernel.evaluate import evaluate
from tabla.languages.kernel.lower import lower
from tabla.languages.kernel.parser import parse as parse_kernel
from tabla.languages.kernel.text import kernel_text
from tabla.languages.kernel.tree import Read, Statement
from tabla.languages.tinytc.kernel import Interface, kernel_of
from tabla.languages.tinytc.parser import parse
from tests.languages.tinytc.interpreter import Signature, functions, interpret
from tests.schedule.agreement import agree

TEXT = (Path(__file__).parents[2] / "programs" / "tinytc" / "kernels.ir").read_text()
SIGNATURES = {signature.name: signature for signature, _ in functions(TEXT)}
WIDE = Format.parse("q12.20")
STATEMENTS = {"written_out_product": 1, "accumulated": 1, "largest": 1, "elements": 1, "triangle": 2, "each_row": 2}
"""How many statements come of a function whose loops become domains and sums, apart from copies of what comes in."""


def interface_of(name: str, text: str = TEXT) -> Interface:
    """The kernel of a function."""
    (function,) = (each for each in parse(Source.from_text(text, "kernels.ir")) if each.name == name)
    return kernel_of(function, name)


def draw(signature: Signature, seed: int) -> dict[str, Any]:
    """Inputs from a seed; multiples of 1/256, so that words hold them exactly."""
    random = np.random.default_rng(seed)
    shapes = {name: signature.shape(name) for name in signature.types}
    return {name: np.round(random.uniform(-1.5, 1.5, shape) * 256) / 256 for name, shape in shapes.items()}


def check(interface: Interface, text: str, signature: Signature, seed: int = 1) -> None:
    """Compare a kernel, its meaning in float64 and that of wide words, with the interpreter."""
    given = draw(signature, seed)
    kernel = interface.kernel
    inputs = {name: given[name] for name, tensor in kernel.tensors.items() if tensor.role != "value"}
    # What is no input has no value before the function writes it.
    expected = interpret(text, inputs, signature.name)
    found = evaluate(kernel, inputs)
    assert list(interface.shown.values()) == [name for name in given if name in interface.shown.values()]
    for name, shown in interface.shown.items():
        np.testing.assert_allclose(found[name], expected[shown], rtol=1e-9, atol=1e-12)
    graph = lower(kernel, number_format=WIDE)
    words = {name: np.floor(np.asarray(array) * WIDE.one + 0.5).astype(np.int64) for name, array in inputs.items()}
    models = {name: words.pop(name) for name, tensor in kernel.tensors.items() if tensor.role == "model"}
    values = evaluate_fixed(graph, WIDE, words, models).values
    for shown, tensor in graph.results:
        np.testing.assert_allclose(values[tensor] / WIDE.one, expected[interface.shown[shown]], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", SIGNATURES)
def test_a_function_means_what_the_interpreter_says(name: str) -> None:
    check(interface_of(name), TEXT, SIGNATURES[name])


def test_there_are_enough() -> None:
    assert len(SIGNATURES) >= 30


@pytest.mark.parametrize("name", SIGNATURES)
def test_the_machine_computes_the_words_of_the_evaluation(name: str) -> None:
    template = Options(pes=4).chosen_template()
    words = Format(integer=template.integer_bits, fraction=template.fraction_bits)
    agree(run_passes(lower(interface_of(name).kernel, number_format=words), words), template, words, samples=2)


@pytest.mark.parametrize("name", SIGNATURES)
def test_the_text_of_the_kernel_is_a_program(name: str) -> None:
    kernel = interface_of(name).kernel
    text = kernel_text(kernel)
    assert kernel_text(parse_kernel(Source.from_text(text, "x.kernel"), name)) == text


def _copies(statement: Statement) -> bool:
    return isinstance(statement.value, Read) and f"{statement.value.tensor}.out" == statement.target


@pytest.mark.parametrize("name", STATEMENTS)
def test_loops_become_domains_and_sums(name: str) -> None:
    """So the size of a program does not grow with its loops."""
    kernel = interface_of(name).kernel
    assert len([each for each in kernel.statements if not _copies(each)]) == STATEMENTS[name]


@pytest.mark.parametrize(
    ("name", "inputs"),
    [
        ("matrix_product", {"A", "B"}),
        ("both_transposed", {"A", "B", "C"}),
        ("manual", {"K", "P", "A", "Q"}),
        ("batch", {"W", "x"}),
        ("ends", {"x"}),
        ("parts", {"A", "C"}),
        ("stencil", {"x"}),
        ("fibonacci", set()),
        ("positive", {"x"}),
    ],
)
def test_what_comes_in(name: str, inputs: set[str]) -> None:
    """A memref that is written is an input as well if an element is read before, or never written."""
    tensors = interface_of(name).kernel.tensors
    assert {each for each, tensor in tensors.items() if tensor.role != "value"} == inputs
    kept = {each for each, tensor in tensors.items() if tensor.role == "model"}
    assert kept == {"manual": {"K"}, "batch": {"W"}}.get(name, set())


def test_a_loop_over_many_turns_is_one_statement() -> None:
    text = (
        re.sub(r"4x3", "400x300", TEXT)
        .replace("constant 4 :", "constant 400 :")
        .replace("constant 3 :", "constant 300 :")
    )
    assert len(interface_of("elements", text).kernel.statements) == 2
