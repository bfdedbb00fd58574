"""The kernels of the table, with their sizes, the inputs that stay on the chip, and the aims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tabla.schedule.mapping.effort import Objective

PES = 16
FORMAT = "q6.10"
GEN_SECONDS = 10.0
LATENCY = 1.15
"""The largest ratio of the latency to the plain path that is asked for where a search makes the latency small."""
FOLDER = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """A kernel of the table.

    `keep` names the inputs that stay on the chip. `aim` is the least share of multiplier slots that should compute a
    product, and `most` the most cycles that a call should take, if such an aim is set. `peer` is the number of cycles
    of NNgen with the same number of multipliers, if it is known. `pes` is the size of the array, `stream_words` the
    width of both streams in words, and `objective` what the search makes small. Without `stream_words` the tool chooses
    the width of the input, and results leave as one word a cycle. `definition` names the kernel in a file of several.
    """

    name: str
    file: str
    sizes: Mapping[str, int]
    keep: tuple[str, ...] = ()
    aim: float | None = None
    peer: int | None = None
    pes: int = PES
    stream_words: int | None = None
    most: int | None = None
    objective: Objective = "throughput"
    definition: str = ""

    @property
    def path(self) -> Path:
        """The ``.tc`` file."""
        return FOLDER / self.file

    @property
    def program(self) -> str:
        """The kernel as commands and `tabla.compile` take it."""
        return f"{self.path}:{self.definition}" if self.definition else str(self.path)


def _matmul(size: int, aim: float, peer: int | None, keep: tuple[str, ...]) -> Kernel:
    sizes = {"M": size, "K": size, "N": size}
    name = f"matmul {size}, {' and '.join(keep)} on chip"
    return Kernel(name=name, file="matmul.tc", sizes=sizes, keep=keep, aim=aim, peer=peer)


def _layers(rows: int, pes: int, objective: Objective = "throughput") -> Kernel:
    sizes = {"N": rows, "I": 64, "H": 64, "G": 32, "O": 10}
    name = f"MLP 64-64-32-10, {rows} row{'s' * (rows > 1)}, {pes} PEs{', latency' * (objective == 'latency')}"
    keep = ("W1", "b1", "W2", "b2", "W3", "b3")
    return Kernel(name=name, file="layers.tc", sizes=sizes, keep=keep, pes=pes, objective=objective)


def _attention(rows: int, pes: int, objective: Objective = "throughput") -> Kernel:
    sizes = {"T": rows, "S": rows, "D": 16, "E": 16}
    name = f"attention {rows} x 16, {pes} PEs{', latency' * (objective == 'latency')}"
    return Kernel(name=name, file="attention.tc", sizes=sizes, pes=pes, objective=objective)


def _biased(definition: str, pes: int) -> Kernel:
    """Return a convolution with a bias, which takes as many cycles as one without."""
    name = f"conv2d 3x3, bias {definition.replace('_', ' ')}, {pes} PEs"
    sizes, most = {"C": 8, "H": 16, "W": 16, "O": 16}, {16: 14_112, 64: 3_528}[pes]
    return Kernel(name=name, file="bias.tc", definition=definition, sizes=sizes, keep=("F", "B"), pes=pes, most=most)


def _static(keep: tuple[str, ...], most: int) -> Kernel:
    sizes = {"N": 2, "C": 5, "H": 8, "W": 8, "KC": 4, "KH": 1, "KW": 1, "O": 16}
    name = "static positions" + ", F on chip" * bool(keep)
    return Kernel(name=name, file="remainder.tc", sizes=sizes, keep=keep, most=most)


def kernels() -> tuple[Kernel, ...]:
    """Return the kernels in the order of the table."""
    products = [
        _matmul(size, aim, peer, keep)
        for size, aim, peer in ((16, 0.80, None), (32, 0.93, 4121), (64, 0.97, 33393))
        for keep in (("A", "B"), ("B",))
    ]
    image = {"C": 8, "H": 16, "W": 16, "O": 16}
    return (
        *products,
        Kernel(name="conv2d 3x3, In and F on chip", file="conv2d.tc", sizes=image, keep=("In", "F"), aim=0.97),
        Kernel(name="conv2d 3x3, F on chip", file="conv2d.tc", sizes=image, keep=("F",), aim=0.97),
        Kernel(
            name="sparse conv2d 3x3, F on chip",
            file="sparse.tc",
            sizes={"C": 5, "H": 10, "W": 10, "KC": 8, "KH": 3, "KW": 3, "O": 16},
            keep=("F",),
            aim=0.92,
        ),
        Kernel(name="MLP 64-32-10", file="mlp.tc", sizes={"I": 64, "H": 32, "O": 10}, keep=("W1", "b1", "W2", "b2")),
        *(_layers(rows, pes) for rows in (1, 16) for pes in (16, 64)),
        *(_layers(rows, pes, "latency") for rows in (1, 16) for pes in (16, 64)),
        *(_attention(rows, pes) for rows in (16, 32) for pes in (16, 64)),
        *(_attention(rows, pes, "latency") for rows in (16, 32) for pes in (16, 64)),
        Kernel(
            name="MLP 64-32-10, latency",
            file="mlp.tc",
            sizes={"I": 64, "H": 32, "O": 10},
            keep=("W1", "b1", "W2", "b2"),
            objective="latency",
        ),
        Kernel(name="conv2d 3x3, latency", file="conv2d.tc", sizes=image, keep=("F",), objective="latency"),
        Kernel(
            name="softmax of 8 rows of 64, latency", file="softmax.tc", sizes={"N": 8, "D": 64}, objective="latency"
        ),
        *(_biased(definition, pes) for definition in ("in_place", "apart") for pes in (16, 64)),
        Kernel(name="mean of 2 x 2, 16 x 16", file="pool.tc", definition="image", sizes={"H": 16, "W": 16}),
        Kernel(
            name="mean of 2, 16 channels", file="pool.tc", definition="channels", sizes={"H": 16, "C": 16}, most=128
        ),
        _static((), 3_392),
        _static(("F",), 2_560),
        Kernel(name="softmax of 8 rows of 64", file="softmax.tc", sizes={"N": 8, "D": 64}),
        Kernel(name="cumulative sum of 64", file="cumsum.tc", sizes={"N": 64}),
        Kernel(name="gather 64 rows of 16", file="gather.tc", sizes={"V": 32, "D": 16, "N": 64}, keep=("table",)),
        Kernel(name="argmin of 16 rows of 32", file="argmin.tc", sizes={"N": 16, "D": 32}),
        Kernel(
            name="transposed conv2d 3x3 stride 2",
            file="upconv.tc",
            sizes={"C": 16, "H": 8, "W": 8, "K": 3, "O": 16},
            keep=("F",),
        ),
        Kernel(
            name="softmax 16x64, 64 PEs, S 8",
            file="softmax.tc",
            sizes={"N": 16, "D": 64},
            pes=64,
            stream_words=8,
            most=400,
        ),
        Kernel(
            name="depthwise 3x3, 64 PEs, S 8",
            file="depthwise.tc",
            sizes={"C": 16, "H": 10, "W": 10, "KH": 3, "KW": 3},
            pes=64,
            stream_words=8,
            most=900,
        ),
    )
