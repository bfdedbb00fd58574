"""The types of ``**options``, from the records: the module `tabla.learn.keywords`, for editors and checkers of types.

``python -m manual.keywords`` writes the module, and a test holds it against the records.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import tabla.learn
from tabla.base.options import Record, options_of
from tabla.learn.options import RECORDS

WHERE = Path(tabla.learn.__file__).with_name("keywords.py")
FUNCTIONS = (
    "compile",
    "train",
    "progressive",
    "test",
    "predict",
    "evaluate",
    "simulate",
    "inference",
    "formats",
    "explore",
    "synthesise",
    "bitstream",
)
NAMES = {
    "Mapping": "collections.abc",
    "Sequence": "collections.abc",
    "Path": "pathlib",
    "TypedDict": "typing",
    "ArrayLike": "numpy.typing",
    "Pass": "tabla.graph.passes.framework",
    "DataSource": "tabla.learn.data.source",
    "Shares": "tabla.learn.data.split",
    "Objective": "tabla.schedule.mapping.effort",
    "Scheduler": "tabla.schedule.placing.placed",
}
"""The modules of the names that the types of options have."""
HEAD = '''"""The types of the options that functions of Python take, as ``**options``.

The records of options (:data:`tabla.learn.options.RECORDS`) say what there is; ``python -m manual.keywords`` writes
this module from them.
"""

from __future__ import annotations
'''


def page(records: tuple[type[Record], ...] = RECORDS) -> str:
    """Return the text of the module."""
    types = "\n\n\n".join("\n".join(_type(function, records)) for function in FUNCTIONS)
    needed = {name: module for name, module in NAMES.items() if re.search(rf"\b{name}\b", types)}
    modules: dict[str, list[str]] = {}
    for name, module in needed.items():
        modules.setdefault(module, []).append(name)
    first = [each for each in modules if not each.startswith(("tabla", "numpy"))]
    third = [each for each in modules if each.startswith("numpy")]
    own = [each for each in modules if each.startswith("tabla")]
    groups = ["\n".join(f"from {each} import {', '.join(sorted(modules[each]))}" for each in sorted(group))
              for group in (first, third, own)]  # fmt: skip
    return "\n".join([HEAD, "\n\n".join(group for group in groups if group), "", "", types, ""])


def _type(function: str, records: tuple[type[Record], ...]) -> Iterator[str]:
    yield f"class {function.title()}Options(TypedDict, total=False):"
    yield f'    """The options of the function `{function}`."""'
    yield ""
    for record in records:
        known = options_of(record)
        for each in fields(record):
            if each.name in known and function in known[each.name].functions:
                yield f"    {each.name}: {each.type}"


if __name__ == "__main__":
    WHERE.write_text(page(), encoding="utf-8")
