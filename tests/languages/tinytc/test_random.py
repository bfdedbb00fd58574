"""Random functions of loops, conditions, loads and stores mean what the interpreter says, whatever overlaps."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.base.source import Source, TablaError
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.languages.kernel.evaluate import evaluate
from tabla.languages.kernel.lower import lower
from tabla.languages.tinytc.kernel import Interface, kernel_of
from tabla.languages.tinytc.parser import parse
from tests.languages.tinytc.interpreter import Array, functions, interpret

SIZE = 6
FEW = 40
"""The most statements of a kernel whose words are compared, too."""
WIDE = Format.parse("q12.20")
HEAD = f"""func @f(%x: memref<f32x{SIZE}>, %y: memref<f32x{SIZE}>, %M: memref<f32x{SIZE}x{SIZE}>, %s: memref<f32>) {{
    %zero = constant 0.0 : f32
    %half = constant 0.5 : f32
    %last = constant {SIZE - 1} : index
    %i0 = constant 0 : index
    %i1 = constant 1 : index
    %i3 = constant 3 : index
    %i{SIZE} = constant {SIZE} : index
"""


class Writer:
    """Writes a random function. Every subscript is inside of its memref, since it stays in the range of an index."""

    def __init__(self, seed: int) -> None:
        self.chance, self.count, self.lines = random.Random(seed), 0, []
        self.budget = 14

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def text(self) -> str:
        lines = list(self.body([], ["%zero", "%half"], 0))
        return HEAD + "\n".join(f"    {line}" for line in lines) + "\n}\n"

    def index(self, indices: list[str]) -> tuple[list[str], str]:
        """Lines, and the name of an index: one of a loop, its mirror image, or a constant."""
        kind = self.chance.random()
        if not indices or kind < 0.2:
            return [], self.chance.choice(["%i0", "%i1", "%i3", "%last"])
        index = self.chance.choice(indices)
        if kind < 0.7:
            return [], index
        name = self.name()
        return [f"{name} = sub %last, {index} : index"], name

    def element(self, indices: list[str]) -> tuple[list[str], str]:
        memref = self.chance.choice(["x", "y", "M", "s", "x"])
        lines: list[str] = []
        subscripts = []
        for _ in range({"x": 1, "y": 1, "M": 2, "s": 0}[memref]):
            more, name = self.index(indices)
            lines += more
            subscripts.append(name)
        return lines, f"%{memref}[{', '.join(subscripts)}]"

    def body(self, indices: list[str], values: list[str], depth: int) -> Iterator[str]:
        values = list(values)
        for _ in range(self.chance.randint(1, 5)):
            if self.budget <= 0:
                return
            self.budget -= 1
            kind = self.chance.random()
            if kind < 0.3:
                lines, place = self.element(indices)
                yield from lines
                values.append(self.name())
                yield f"{values[-1]} = load {place} : f32"
            elif kind < 0.5:
                a, b = self.chance.choices(values, k=2)
                values.append(self.name())
                yield f"{values[-1]} = {self.chance.choice(['add', 'sub', 'max', 'min'])} {a}, {b} : f32"
            elif kind < 0.7:
                lines, place = self.element(indices)
                yield from lines
                yield f"store {self.chance.choice(values)}, {place}"
            elif kind < 0.85 and depth < 2:
                index = self.name()
                low, high = self.chance.choice([("%i0", f"%i{SIZE}"), ("%i1", "%last"), ("%i3", f"%i{SIZE}")])
                step = self.chance.choice(["", "", ", %i3"])
                yield f"for {index} = {low}, {high}{step} {{"
                yield from (f"    {line}" for line in self.body([*indices, index], values, depth + 1))
                yield "}"
            elif kind < 0.93:
                condition = self.name()
                if indices and self.chance.random() < 0.5:
                    sign = self.chance.choice(["less_than", "equal", "greater_than_equal"])
                    yield f"{condition} = {sign} {self.chance.choice(indices)}, %i3 : bool"
                else:
                    a, b = self.chance.choices(values, k=2)
                    yield f"{condition} = less_than {a}, {b} : bool"
                yield f"if {condition} {{"
                yield from (f"    {line}" for line in self.body(indices, values, depth + 1))
                yield "} else {"
                yield from (f"    {line}" for line in self.body(indices, values, depth + 1))
                yield "}"
            else:
                loop, carried, result = self.name(), self.name(), self.name()
                begin = f"init({carried} = {self.chance.choice(values)})"
                yield f"{result} = for {loop} = %i0, %i{SIZE} {begin} -> (f32) {{"
                lines, place = self.element([*indices, loop])
                a, b = self.name(), self.name()
                for line in (*lines, f"{a} = load {place} : f32"):
                    yield f"    {line}"
                yield f"    {b} = {self.chance.choice(['add', 'max', 'sub'])} {carried}, {a} : f32"
                yield f"    yield ({b})"
                yield "}"
                values.append(result)
        if self.chance.random() < 0.8:
            lines, place = self.element(indices)
            yield from lines
            yield f"store {values[-1]}, {place}"


@settings(max_examples=150)
@given(st.integers(0, 10**9))
def test_a_random_function_means_what_the_interpreter_says(seed: int) -> None:
    compare(seed)


def check_words(interface: Interface, arrays: dict[str, Array], expected: dict[str, Array]) -> None:
    """The graph of a kernel means the same, in wide words."""
    kernel = interface.kernel
    graph = lower(kernel, number_format=WIDE)
    given = {name: np.asarray(arrays[name]) for name, tensor in kernel.tensors.items() if tensor.role != "value"}
    words = {name: np.floor(array * WIDE.one + 0.5).astype(np.int64) for name, array in given.items()}
    values = evaluate_fixed(graph, WIDE, words).values
    for shown, tensor in graph.results:
        # Products of large values carry the rounding of their factors along.
        np.testing.assert_allclose(values[tensor] / WIDE.one, expected[interface.shown[shown]], rtol=1e-5, atol=1e-4)


def compare(seed: int) -> int:
    """Compare a random function with the interpreter. Returns the number of statements of its kernel, 0 if it has
    none.
    """
    text = Writer(seed).text()
    if "store" not in text:
        return 0
    chance = np.random.default_rng(seed)
    signature = next(functions(text))[0]
    arrays = {name: chance.uniform(-1, 1, signature.shape(name)) for name in signature.types}
    expected = interpret(text, arrays)
    (function,) = parse(Source.from_text(text, "f.ir"))
    try:
        interface = kernel_of(function, "f")
    except TablaError as fault:
        assert "writes no parameter" in fault.message, text  # all stores are where a condition never holds
        return 0
    kernel = interface.kernel
    found = evaluate(kernel, {name: arrays[name] for name, tensor in kernel.tensors.items() if tensor.role != "value"})
    for name, shown in interface.shown.items():
        np.testing.assert_allclose(found[name], expected[shown], rtol=1e-9, atol=1e-9, err_msg=text)
    if len(kernel.statements) <= FEW:
        check_words(interface, arrays, expected)
    for name in set(arrays) - set(interface.shown.values()):
        np.testing.assert_array_equal(expected[name], arrays[name])
    return len(kernel.statements)
