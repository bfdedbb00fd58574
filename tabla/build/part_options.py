"""The options of synthesis and of boards: the part of an FPGA, and the tries of place and route."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from pathlib import Path

from tabla.base.kinds import FileName, Kind, Switch, Text, WholeNumber
from tabla.base.options import Record, option
from tabla.base.source import TablaTypeError, TablaValueError
from tabla.program.protocol import BAUD

_PART, _BOARD = "the FPGA", "the board"
SEEDS = 4
"""How often ``tabla synth --pnr`` places and routes unless ``--seeds`` says otherwise."""
BOARD_SEEDS = 3
"""How often ``tabla build`` tries a clock rate unless ``--seeds`` says otherwise. A slower rate is tried after that."""


@dataclass(frozen=True, kw_only=True)
class ClockRate(Kind):
    """A clock rate in MHz, above 0 and below 10,000."""

    @property
    def range(self) -> str:
        return "above 0, below 10,000"

    def read(self, text: str) -> float:
        try:
            rate = float(text)
        except ValueError:
            raise TablaValueError(f"'{text}' is not a number of MHz", hint="write a number such as 25") from None
        return self._inside(rate, text)

    def checked(self, name: str, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, Real):
            raise TablaTypeError(f"{name}: {value!r} is not a number of MHz", hint=f"write {name}=25")
        try:
            return self._inside(float(value), str(value))
        except TablaValueError as fault:
            raise TablaValueError(f"{name}: {fault.message}", hint=f"write {name}=25") from None

    def _inside(self, rate: float, text: str) -> float:
        if not 0 < rate < 10_000:
            raise TablaValueError(f"{text} MHz is no possible clock rate", hint="use more than 0 and less than 10000")
        return rate


@dataclass(frozen=True, kw_only=True)
class PartOptions(Record):
    """The part that a design is synthesised for.

    Without a `device` the part is the largest of the family, and without a `speed` it has its first speed grade. With
    `place_and_route`, place and route runs with the seeds 1 to `seeds`, and the best run is kept. `templates` is a file
    with further records.
    """

    device: str | None = option(
        Text(example="85k"),
        "the part, such as 85k (default: the family's largest)",
        group=_PART,
        commands=("synth",),
        functions=("synthesise",),
        metavar="NAME",
        example="85k",
    )
    speed: int | None = option(
        WholeNumber(low=0),
        "speed grade (default: the part's first)",
        group=_PART,
        commands=("synth",),
        functions=("synthesise",),
        metavar="N",
        example="6",
    )
    place_and_route: bool = option(
        Switch(),
        "place and route, for clock and critical path",
        default=False,
        group=_PART,
        commands=("synth",),
        functions=("synthesise",),
        flag="--pnr",
    )
    seeds: int | None = option(
        WholeNumber(low=1),
        "tries of place and route; the best one is kept (default 1)",
        group=_PART,
        commands=("synth",),
        functions=("synthesise",),
        metavar="N",
        example="4",
        unit="tries",
        helps={"synth": f"tries of --pnr; the best one is kept (default {SEEDS})"},
    )
    templates: str | Path | None = option(
        FileName(),
        "a file with more records",
        group=_PART,
        functions=("synthesise",),
    )

    @property
    def records(self) -> str | None:
        """The file of `templates` as text."""
        return None if self.templates is None else str(self.templates)

    @property
    def tries(self) -> int:
        """How often place and route runs."""
        return self.seeds or 1


@dataclass(frozen=True, kw_only=True)
class BoardOptions(Record):
    """What a bitstream is made with.

    The design runs at `megahertz`. Without that, the first rate to be tried is the goal of the family's record, and
    each further one is what place and route reached before, until a rate is proved. `seeds` is the number of runs of
    place and route for each rate, and `baud` the rate of the serial line.
    """

    megahertz: float | None = option(
        ClockRate(),
        "clock rate of the design (default: the fastest that place and route proves)",
        group=_BOARD,
        commands=("build",),
        functions=("bitstream",),
        flag="--clock",
        metavar="MHZ",
        example="25",
        unit="MHz",
    )
    baud: int = option(
        WholeNumber(low=1),
        f"rate of the serial line (default {BAUD})",
        default=BAUD,
        group=_BOARD,
        commands=("build",),
        functions=("bitstream",),
        metavar="N",
        example="115200",
        unit="bits a second",
    )
    seeds: int = option(
        WholeNumber(low=1),
        f"tries for each clock rate (default {BOARD_SEEDS})",
        default=BOARD_SEEDS,
        group=_BOARD,
        commands=("build",),
        functions=("bitstream",),
        metavar="N",
        example="4",
        unit="tries",
    )
