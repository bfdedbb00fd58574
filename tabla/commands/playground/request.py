"""What the page of the playground asks for: a program and the options of its run."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from tabla.base.kinds import WholeNumber

EPOCHS = WholeNumber(low=1, high=1000)
"""The epochs of a run. The page draws a point for each of them."""
MADE_UP, NOTHING = "made up", "nothing"
"""The data of a run beside that of the examples: data that is made up for the program, and none."""
TABLA, TENSOR_COMPREHENSIONS = "t", "tc"
"""The languages of programs, by the ends of their files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A program and the options of a run.

    `name` is the name of the program without the end `language` of its file, and `text` is its text. `pes`, `format`
    and `minibatch` are the options of the build. `data` is `MADE_UP`, `NOTHING`, or an example whose data is taken; the
    program learns from it for some `epochs` on an `engine`. A kernel also needs `sizes`, such as ``K=8 N=2``. Its
    inputs that `learns` names learn from the squared error at a learning `rate`.
    """

    name: str
    text: str
    pes: int
    format: str
    minibatch: int
    data: str
    epochs: int
    engine: str
    language: str = TABLA
    sizes: str = ""
    learns: str = ""
    rate: str = ""

    @property
    def file(self) -> str:
        """The name of the file that would hold the program."""
        return f"{self.name}.{self.language}"

    @staticmethod
    def of(record: object) -> Request:
        """Return the request that a value of JSON says. A value that says none is a ValueError."""
        kinds = {each.name: int if each.type == "int" else str for each in fields(Request)}
        if not isinstance(record, dict) or record.keys() != kinds.keys():
            raise ValueError(f"a request is an object with the keys {', '.join(kinds)}")
        for name, kind in kinds.items():
            if type(record[name]) is not kind:  # True is no number here
                raise ValueError(f"{name}: {record[name]!r} is no {'whole number' if kind is int else 'text'}")
        return Request(**record)

    def as_json(self) -> dict[str, Any]:
        """Return the request as a value of JSON."""
        return asdict(self)
