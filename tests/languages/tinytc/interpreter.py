"""An interpreter of the tensor language, written from the language's reference alone.

It knows nothing of the front end: it reads a text by regular expressions, runs it instruction by instruction on arrays
of numpy whose strides are those of the language, and has one group, number 0.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

Array = np.ndarray[Any, Any]
_WORD = re.compile(
    r"\s*(?:;[^\n]*|(->|%\w+|@\w+|\"[^\"]*\"|[+-]?0[xX][0-9a-fA-F.]+(?:p[+-]?\d+)?|[+-]?\d*\.\d+(?:e[+-]?\d+)?"
    r"|[+-]?\d+(?:\.?e[+-]?\d+|\.)?|[A-Za-z_][\w.]*|[][(){}<>,:=?]))"
)
_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "max": max, "min": min, "and": operator.and_,
    "or": operator.or_, "xor": operator.xor, "shl": operator.lshift, "shr": operator.rshift,
    "equal": operator.eq, "not_equal": operator.ne, "greater_than": operator.gt, "greater_than_equal": operator.ge,
    "less_than": operator.lt, "less_than_equal": operator.le,
}  # fmt: skip
_UNARY: dict[str, Callable[[Any], Any]] = {
    "abs": abs, "neg": operator.neg, "not": lambda v: not v, "cos": math.cos, "sin": math.sin, "exp": math.exp,
    "log": math.log, "exp2": lambda v: 2.0**v, "log2": math.log2,
}  # fmt: skip


def _words(text: str) -> list[str]:
    found, at = [], 0
    while at < len(text.rstrip()):
        match = _WORD.match(text, at)
        assert match is not None, text[at : at + 40]
        at = match.end()
        if match[1]:
            found.append(match[1])
    return found


def _divided(a: Any, b: Any) -> Any:
    return math.trunc(a / b) if isinstance(a, int) else a / b


@dataclass
class Reader:
    """The words of a text, and how far they are read."""

    words: list[str]
    at: int = 0

    def take(self, expected: str | None = None) -> str:
        word = self.words[self.at]
        assert expected is None or word == expected, (word, expected, self.words[self.at - 5 : self.at + 5])
        self.at += 1
        return word

    def accept(self, word: str) -> bool:
        accepted = self.words[self.at] == word
        self.at += accepted
        return accepted

    def until(self, closer: str) -> list[str]:
        """The words up to one that closes what is open, which is passed."""
        found = []
        while not self.accept(closer):
            found.append(self.take())
        return found

    def type(self) -> str:
        """A type without blanks, after its colon."""
        text = self.take()
        if self.words[self.at] == "<":
            depth = 0
            while True:
                word = self.take()
                text += word
                depth += (word == "<") - (word == ">")
                if not depth:
                    break
        return text

    def region(self) -> list[str]:
        self.take("{")
        found, depth = [], 1
        while depth:
            word = self.take()
            depth += (word == "{") - (word == "}")
            found.append(word)
        return found[:-1]


def shape_of(type: str) -> list[int]:
    """The sizes of a memref type; -1 for a question mark."""
    inside = type[type.index("<") + 1 :]
    inside = inside[inside.index("<") + 1 :] if type.startswith("group") else inside
    sizes = re.match(r"\w+?\d*((?:x(?:\d+|\?))*)[,>]", re.sub(r"^(bf16|f16|f32|f64)", "f", inside))
    assert sizes is not None, type
    return [-1 if size == "?" else int(size) for size in sizes[1].split("x")[1:]]


@dataclass
class Run:
    """One run of a function."""

    names: dict[str, Any] = field(default_factory=dict)

    def value(self, word: str) -> Any:
        if word.startswith("%"):
            return self.names[word]
        if word in ("true", "false"):
            return word == "true"
        if "0x" in word.lower():
            return float.fromhex(word)
        return int(word) if word.lstrip("+-").isdigit() else float(word)

    def run(self, words: list[str]) -> list[Any]:
        reader = Reader([*words, "$"])
        while reader.words[reader.at] != "$":
            yielded = self.step(reader)
            if yielded is not None:
                return yielded
        return []

    def step(self, reader: Reader) -> list[Any] | None:
        results = []
        while reader.words[reader.at].startswith("%"):
            results.append(reader.take())
            if not reader.accept(","):
                reader.take("=")
                break
        name, *modifiers = reader.take().split(".")
        if name == "arith":
            name, modifiers = modifiers[0], modifiers[1:]
        if name == "yield":
            reader.take("(")
            return [self.value(word) for word in reader.until(")") if word != ","]
        made = self.instruction(reader, name, modifiers)
        assert len(made) == len(results), name
        self.names.update(zip(results, made, strict=True))
        return None

    def operands(self, reader: Reader) -> list[Any]:
        found = [self.value(reader.take())]
        while reader.accept(","):
            found.append(self.value(reader.take()))
        return found

    def instruction(self, reader: Reader, name: str, modifiers: list[str]) -> list[Any]:
        block = getattr(self, f"block_{name}", None)
        if block is not None:
            alpha, *others = self.operands(reader)
            block(alpha, *others, [each == "t" for each in (*modifiers, "n", "n")])
            return []
        if name in _BINARY or name in ("div", "rem"):
            a, b = self.operands(reader)
            reader.take(":")
            reader.type()
            if name == "div":
                return [_divided(a, b)]
            return [a - b * _divided(a, b)] if name == "rem" else [_BINARY[name](a, b)]
        if name.removeprefix("native_") in _UNARY or name == "cast":
            (a,) = self.operands(reader)
            reader.take(":")
            wanted = reader.type()
            if name == "cast":
                return [float(a) if wanted[0] in "fb" else int(a)]
            return [_UNARY[name.removeprefix("native_")](a)]
        return getattr(self, f"do_{name}")(reader)

    def do_constant(self, reader: Reader) -> list[Any]:
        value = self.value(reader.take())
        reader.take(":")
        return [float(value) if reader.type()[0] == "f" else value]

    def do_group_id(self, reader: Reader) -> list[Any]:
        reader.take(":")
        reader.type()
        return [0]

    def do_alloca(self, reader: Reader) -> list[Any]:
        if reader.accept("{"):
            reader.until("}")
        reader.take(":")
        return [np.full(shape_of(reader.type()), np.nan, order="F")]

    def do_size(self, reader: Reader) -> list[Any]:
        array = self.value(reader.take())
        reader.take("[")
        (mode,) = reader.until("]")
        reader.take(":")
        reader.type()
        return [array.shape[int(mode)]]

    def do_load(self, reader: Reader) -> list[Any]:
        array = self.value(reader.take())
        reader.take("[")
        at = tuple(self.value(word) for word in reader.until("]") if word != ",")
        reader.take(":")
        reader.type()
        return [array[at[0]]] if isinstance(array, list) else [float(array[at])]

    def do_store(self, reader: Reader) -> list[Any]:
        value = self.value(reader.take())
        reader.take(",")
        array = self.value(reader.take())
        reader.take("[")
        at = tuple(self.value(word) for word in reader.until("]") if word != ",")
        assert all(0 <= each < size for each, size in zip(at, array.shape, strict=True))
        array[at] = value
        return []

    def do_subview(self, reader: Reader) -> list[Any]:
        array = self.value(reader.take())
        reader.take("[")
        slices: list[Any] = []
        for part in " ".join(reader.until("]")).split(","):
            offset, colon, size = (word.strip() for word in part.partition(":"))
            first = self.value(offset)
            count = self.value(size) if colon else 0
            slices.append(slice(first, first + count) if count else first)
        reader.take(":")
        reader.type()
        found = array[tuple(slices)]
        return [found if isinstance(found, np.ndarray) else array[(*slices, None)][..., 0]]

    def do_expand(self, reader: Reader) -> list[Any]:
        array = self.value(reader.take())
        reader.take("[")
        mode, _, *rest = reader.until("]")
        reader.take(":")
        reader.type()
        sizes = [int(size) for size in "".join(rest).split("x")]
        mode = int(mode)
        strides = [array.strides[mode] * math.prod(sizes[:number]) for number in range(len(sizes))]
        shape = (*array.shape[:mode], *sizes, *array.shape[mode + 1 :])
        return [as_strided(array, shape, (*array.strides[:mode], *strides, *array.strides[mode + 1 :]))]

    def do_fuse(self, reader: Reader) -> list[Any]:
        array = self.value(reader.take())
        reader.take("[")
        first, _, last = reader.until("]")
        reader.take(":")
        reader.type()
        a, b = int(first), int(last)
        shape = (*array.shape[:a], math.prod(array.shape[a : b + 1]), *array.shape[b + 1 :])
        return [as_strided(array, shape, (*array.strides[: a + 1], *array.strides[b + 1 :]))]

    def do_barrier(self, reader: Reader) -> list[Any]:
        return []

    def do_parallel(self, reader: Reader) -> list[Any]:
        self.inner(reader.region())
        return []

    def inner(self, words: list[str], **names: Any) -> list[Any]:
        return Run({**self.names, **{f"%{name}": value for name, value in names.items()}}).run(words)

    def do_for(self, reader: Reader) -> list[Any]:
        variable = reader.take()[1:]
        reader.take("=")
        ends = self.operands(reader)
        carried: dict[str, Any] = {}
        if reader.accept("init"):
            reader.take("(")
            for part in " ".join(reader.until(")")).split(","):
                name, _, begin = (word.strip() for word in part.partition("="))
                carried[name[1:]] = self.value(begin)
            reader.take("->")
            reader.take("(")
            reader.until(")")
        body = reader.region()
        if reader.accept("attributes"):
            reader.region()
        for turn in range(*ends):
            values = self.inner(body, **{variable: turn}, **carried)
            carried = dict(zip(carried, values, strict=True))
        return list(carried.values())

    def do_foreach(self, reader: Reader) -> list[Any]:
        def listed() -> list[str]:
            if not reader.accept("("):
                return [reader.take()]
            return [word for word in reader.until(")") if word != ","]

        names = listed()
        reader.take("=")
        low = [self.value(word) for word in listed()]
        reader.take(",")
        high = [self.value(word) for word in listed()]
        body = reader.region()
        for point in np.ndindex(*(max(0, b - a) for a, b in zip(low, high, strict=True))):
            at = {name[1:]: int(a + p) for name, a, p in zip(names, low, point, strict=True)}
            self.inner(body, **at)
        return []

    def do_if(self, reader: Reader) -> list[Any]:
        condition = self.value(reader.take())
        if reader.accept("->"):
            reader.take("(")
            reader.until(")")
        chosen = reader.region()
        other = reader.region() if reader.accept("else") else []
        return self.inner(chosen if condition else other)

    def block_gemm(self, alpha: float, a: Array, b: Array, beta: float, c: Array, t: list[bool]) -> None:
        self.update(c, alpha * ((a.T if t[0] else a) @ (b.T if t[1] else b)), beta)

    def block_gemv(self, alpha: float, a: Array, b: Array, beta: float, c: Array, t: list[bool]) -> None:
        self.update(c, alpha * ((a.T if t[0] else a) @ b), beta)

    def block_ger(self, alpha: float, a: Array, b: Array, beta: float, c: Array, t: list[bool]) -> None:
        self.update(c, alpha * np.outer(a, b), beta)

    def block_axpby(self, alpha: float, a: Array, beta: float, b: Array, t: list[bool]) -> None:
        self.update(b, alpha * (a.T if t[0] else a), beta)

    def block_hadamard(self, alpha: float, a: Array, b: Array, beta: float, c: Array, t: list[bool]) -> None:
        self.update(c, alpha * a * b, beta)

    def block_sum(self, alpha: float, a: Array, beta: float, b: Array, t: list[bool]) -> None:
        self.update(b, alpha * (a.T if t[0] else a).sum(-1), beta)

    def block_cumsum(self, alpha: float, a: Array, mode: int, beta: float, b: Array, t: list[bool]) -> None:
        self.update(b, alpha * a.cumsum(mode), beta)

    def update(self, target: Array, value: Array, beta: float) -> None:
        target[...] = value + (beta * target if beta else 0)


@dataclass(frozen=True)
class Signature:
    """The parameters of a function: the shape of one sample of each, and how a group selects it."""

    name: str
    types: dict[str, str]

    def shape(self, name: str) -> tuple[int, ...]:
        return tuple(size for size in shape_of(self.types[name]) if size >= 0) if "memref" in self.types[name] else ()


def functions(text: str) -> Iterator[tuple[Signature, list[str]]]:
    """The functions of a text without ``$``: their parameters and their bodies."""
    reader = Reader([*_words(text), "$"])
    while reader.accept("func"):
        name = reader.take()[1:]
        reader.take("(")
        types: dict[str, str] = {}
        while not reader.accept(")"):
            reader.accept(",")
            parameter = reader.take()[1:]
            reader.take(":")
            types[parameter] = reader.type()
            if reader.accept("{"):
                reader.until("}")
        if reader.accept("attributes"):
            reader.region()
        yield Signature(name, types), reader.region()


def interpret(text: str, arrays: dict[str, Array], name: str | None = None) -> dict[str, Array]:
    """Run a function on arrays by the names of its parameters, for one sample. Returns all memrefs after the run."""
    signature, body = next(each for each in functions(text) if name in (None, each[0].name))
    memrefs: dict[str, Array] = {}
    names: dict[str, Any] = {}
    for parameter, type in signature.types.items():
        if "memref" not in type:
            names[f"%{parameter}"] = float(arrays[parameter])
            continue
        shape = signature.shape(parameter)
        array = np.full((*shape, 1), np.nan, order="F")
        if parameter in arrays:
            array[..., 0] = arrays[parameter]
        memrefs[parameter] = array[..., 0]
        batch = shape_of(type)[-1:] == [-1]
        names[f"%{parameter}"] = [array[..., 0]] if type.startswith("group") else array if batch else array[..., 0]
    Run(names).run(body)
    return {parameter: np.array(array) for parameter, array in memrefs.items()}
