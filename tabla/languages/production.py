"""What PLY hands to a grammar's rules."""

from __future__ import annotations

from typing import Any, Protocol


class Production(Protocol):
    """How PLY shows a rule to its function: item 0 is the result, and the others are the parts."""

    parser: Any

    def __getitem__(self, index: int) -> Any: ...
    def __setitem__(self, index: int, value: Any) -> None: ...
    def __len__(self) -> int: ...
