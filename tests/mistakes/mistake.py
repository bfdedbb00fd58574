"""One mistake of a user, and what every mistake has to meet with.

A table of a test module is a dictionary of `Mistake` by a name that says what is wrong. The fixture ``refused`` of
``conftest.py`` runs one of them and holds it against the rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """A command line that is refused.

    `words` are the arguments after ``tabla``. Every text of `says` stands in the error message. `status` is 1 for a
    fault of the program or the data and 2 for a wrong command line. `files` are written before, by their path in the
    folder; they come beside those that every mistake finds there.
    """

    words: tuple[str, ...]
    says: tuple[str, ...]
    status: int = 1
    files: Mapping[str, str | bytes] = field(default_factory=dict)


def mistake(words: str, *says: str, status: int = 1, **files: str | bytes) -> Mistake:
    """Make a mistake of a command line whose words are separated by blanks.

    A keyword names a file by its stem and its suffix: ``model_t="..."`` is the text of ``model.t``.
    """
    named = {"{}.{}".format(*name.rsplit("_", 1)): content for name, content in files.items()}
    return Mistake(words=tuple(words.split()), says=says, status=status, files=named)


def usage(words: str, *says: str, **files: str | bytes) -> Mistake:
    """Make a mistake of the command line itself, whose status is 2."""
    return mistake(words, *says, status=2, **files)
