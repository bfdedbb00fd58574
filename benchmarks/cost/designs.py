"""Designs that are drawn at random: programs, sizes, arrays and number formats such as users explore.

A draw is a number. The design of a draw is always the same, so a table of measurements names designs by their draws.
Draws below 0 are published problems, whose arrays have several roots or sequencers. Draws from `EXPLORED` on are
points such as ``tabla explore`` compares, over the examples and all kernels of the benchmarks.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.learning.problems import Problem
from tabla.build.options import Options
from tabla.driver import Build, build

EXPLORED = 1000
"""The first draw of the points over the examples and kernels."""
ROOT = Path(__file__).resolve().parent.parent.parent
Sizes = dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """A program with the options of its build. `file` is relative to the repository, `sizes` are its size constants."""

    draw: int
    file: str
    sizes: Mapping[str, int]
    pes: int
    format: str
    minibatch: int = 1
    effort: int = 0
    model_guard: int | None = None
    stream_words: int | None = None
    sequencers: int | None = None
    keep: tuple[str, ...] = field(default=())

    @property
    def kernel(self) -> bool:
        """Whether the program is a kernel, which does not learn."""
        return self.file.endswith(".tc")

    def options(self) -> Options:
        """Return the options of the build."""
        sizes = {"sizes": self.sizes} if self.kernel else {"defines": {k: str(v) for k, v in self.sizes.items()}}
        return Options(
            pes=self.pes,
            format=self.format,
            minibatch=self.minibatch,
            effort=self.effort,
            model_guard=self.model_guard,
            stream_words=self.stream_words,
            sequencers=self.sequencers,
            keep=self.keep,
            force=True,
            **sizes,  # type: ignore[arg-type]
        )

    def build(self) -> Build:
        """Return the build, which is compiled when it is asked for a stage. It may raise `TablaError`."""
        return build(ROOT / self.file, self.options())

    @property
    def name(self) -> str:
        """A short text for tables."""
        sizes = "-".join(map(str, self.sizes.values()))
        return f"{Path(self.file).stem} {sizes}, {self.pes} PEs, {self.format}"


def _between(low: int, high: int) -> Callable[[random.Random], int]:
    """Return a size that is drawn so that each of its octaves is as likely as any other."""
    return lambda drawn: round(low * (high / low) ** drawn.random())


# Programs with the sizes that are drawn for them, and how often each is drawn.
_LEARNING: tuple[tuple[str, int, Mapping[str, Callable[[random.Random], int]]], ...] = (
    ("benchmarks/learning/linear.t", 3, {"features": _between(8, 800)}),
    ("benchmarks/learning/logistic.t", 4, {"features": _between(8, 800)}),
    ("benchmarks/learning/svm.t", 2, {"features": _between(8, 800)}),
    ("examples/svm.t", 1, {"m": _between(8, 200)}),
    (
        "benchmarks/learning/reco.t",
        2,
        {"users": _between(8, 150), "items": _between(8, 150), "factors": _between(2, 12)},
    ),
    ("examples/recommender.t", 1, {"users": _between(8, 60), "films": _between(8, 60), "tastes": _between(2, 8)}),
    (
        "benchmarks/learning/backprop.t",
        4,
        {"features": _between(4, 80), "hidden": _between(4, 64), "classes": _between(2, 10)},
    ),
    ("examples/backprop.t", 2, {"m": _between(4, 40), "hidden": _between(4, 32), "classes": _between(2, 10)}),
    ("examples/backprop2.t", 1, {}),
    ("benchmarks/accuracy/linear_outputs.t", 1, {}),
    ("benchmarks/accuracy/logistic_classes.t", 1, {}),
)
_KERNELS: tuple[tuple[str, int, Mapping[str, Callable[[random.Random], int]], tuple[str, ...]], ...] = (
    (
        "benchmarks/kernels/matmul.tc",
        2,
        {"M": _between(4, 32), "K": _between(4, 64), "N": _between(4, 32)},
        ("B",),
    ),
    (
        "benchmarks/kernels/mlp.tc",
        2,
        {"I": _between(8, 128), "H": _between(4, 64), "O": _between(2, 16)},
        ("W1", "b1", "W2", "b2"),
    ),
    ("benchmarks/kernels/softmax.tc", 1, {"N": _between(1, 8), "D": _between(8, 64)}, ()),
)
# What the draws from `EXPLORED` on are: the examples, and every kernel of the benchmarks with its inputs on the chip.
_EXAMPLES: tuple[tuple[str, Mapping[str, Callable[[random.Random], int]]], ...] = (
    ("examples/linear.t", {"m": _between(8, 200)}),
    ("examples/logistic.t", {"m": _between(8, 200)}),
    ("examples/svm.t", {"m": _between(8, 200)}),
    ("examples/recommender.t", {"users": _between(8, 60), "films": _between(8, 60), "tastes": _between(2, 8)}),
    ("examples/backprop.t", {"m": _between(4, 40), "hidden": _between(4, 32), "classes": _between(2, 10)}),
    ("examples/backprop2.t", {}),
    ("benchmarks/accuracy/linear_outputs.t", {}),
    ("benchmarks/accuracy/logistic_classes.t", {}),
)
_IMAGE = {"C": _between(2, 8), "H": _between(5, 12), "W": _between(5, 12)}
_EVERY_KERNEL: tuple[tuple[str, Mapping[str, Callable[[random.Random], int]], tuple[str, ...]], ...] = (
    *((file, sizes, keep) for file, _, sizes, keep in _KERNELS),
    ("benchmarks/kernels/argmin.tc", {"N": _between(2, 16), "D": _between(4, 32)}, ()),
    ("benchmarks/kernels/attention.tc", {n: _between(4, 12) for n in "TSDE"}, ()),
    ("benchmarks/kernels/conv2d.tc", {**_IMAGE, "O": _between(2, 8)}, ("F",)),
    ("benchmarks/kernels/cumsum.tc", {"N": _between(8, 64)}, ()),
    ("benchmarks/kernels/depthwise.tc", {**_IMAGE, "KH": lambda _: 3, "KW": lambda _: 3}, ()),
    ("benchmarks/kernels/gather.tc", {"V": _between(8, 32), "D": _between(4, 16), "N": _between(8, 64)}, ("table",)),
    (
        "benchmarks/kernels/layers.tc",
        {"N": _between(1, 4), "I": _between(8, 64), "H": _between(8, 32), "G": _between(4, 32), "O": _between(2, 10)},
        ("W1", "b1", "W2", "b2", "W3", "b3"),
    ),
    ("benchmarks/kernels/upconv.tc", {**_IMAGE, "K": lambda _: 3, "O": _between(2, 8)}, ("F",)),
)
_DOUBLINGS = (4, 4, 4, 4, 8, 8, 8, 8, 16, 16, 16, 32, 32, 64)
_PES = (4, 6, 8, 8, 12, 16, 16, 24, 32, 32, 48, 64)
_WIDTHS = (8, 10, 12, 14, 16, 16, 16, 18, 18, 18, 20, 24, 32)


def _published(problem: Problem) -> Design:
    sizes = {name: int(size) for name, size in problem.defines.items()}
    file = problem.file.relative_to(ROOT).as_posix()
    return Design(draw=0, file=file, sizes=sizes, pes=16, format="q6.10", effort=2)


_PUBLISHED = {
    -1: Problem(kind="backprop", sizes=(8, 16, 3)),
    -2: Problem(kind="reco", sizes=(138, 130, 10)),
}


def design(draw: int) -> Design:
    """Return the design of a draw. Not every design compiles: some formats cannot hold a constant of the program."""
    if draw < 0:
        return replace(_published(_PUBLISHED[draw]), draw=draw)
    drawn = random.Random(f"design {draw}")
    if draw >= EXPLORED:
        return _explored(draw, drawn)
    keep: tuple[str, ...] = ()
    if drawn.random() < 0.85:
        file, _, sizes = drawn.choices(_LEARNING, weights=[each[1] for each in _LEARNING])[0]
    else:
        file, _, sizes, keep = drawn.choices(_KERNELS, weights=[each[1] for each in _KERNELS])[0]
    chosen = {name: size(drawn) for name, size in sizes.items()}
    width = drawn.choice(_WIDTHS)
    integer = drawn.randint(3, max(3, min(9, width // 2)))
    learns = not keep and not file.endswith(".tc")
    return Design(
        draw=draw,
        file=file,
        sizes=chosen,
        keep=keep,
        pes=drawn.choice(_PES),
        format=f"q{integer}.{width - integer}",
        minibatch=drawn.choice((1, 1, 1, 2, 4, 8)) if learns else 1,
        effort=drawn.choice((0, 0, 0, 1, 1)),
        model_guard=drawn.choice((None, None, None, 2, 4)) if learns else None,
        stream_words=drawn.choice((None, None, 1, 2, 4)),
        sequencers=drawn.choice((None,) * 9 + (2,)),
    )


def _explored(draw: int, drawn: random.Random) -> Design:
    """Return a point over the examples and kernels. Half of the points are examples."""
    keep: tuple[str, ...] = ()
    learns = drawn.random() < 0.5
    if learns:
        file, sizes = drawn.choice(_EXAMPLES)
    else:
        file, sizes, keep = drawn.choice(_EVERY_KERNEL)
    chosen = {name: size(drawn) for name, size in sizes.items()}
    width = drawn.choice(_WIDTHS)
    integer = drawn.randint(3, max(3, min(9, width // 2)))
    return Design(
        draw=draw,
        file=file,
        sizes=chosen,
        keep=keep,
        pes=drawn.choice(_DOUBLINGS),
        format=f"q{integer}.{width - integer}",
        minibatch=drawn.choice((1, 1, 2, 4, 8)) if learns else 1,
        effort=drawn.choice((0, 0, 1)),
        model_guard=drawn.choice((None, None, None, 2, 4)) if learns else None,
        stream_words=drawn.choice((None, None, None, 1, 2, 4, 8)),
    )
