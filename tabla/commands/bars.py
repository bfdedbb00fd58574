"""Bars of progress on a terminal: what is done, how fast, and the time that is left. tqdm draws them."""

from __future__ import annotations

from typing import Any, TextIO

_DELAY = 0.5
"""Seconds of a stage before its bar appears. Short stages show nothing."""


class Bars:
    """Shows the stage that was told of last, on a terminal only; a stage that ends leaves no line."""

    def __init__(self, err: TextIO) -> None:
        self._err = err
        self._bar: Any = None
        self._stage: tuple[str, int | None] | None = None
        self._last = 0

    def __call__(self, stage: str, done: int, total: int | None, unit: str) -> None:
        """Show that `done` of `total` things of a stage are done. Fewer than before begin the stage anew."""
        if self._bar is None or self._stage != (stage, total) or done < self._last:
            self.close()
            self._bar, self._stage = self._new(stage, total, unit), (stage, total)
        self._bar.update(done - self._last)
        self._last = done

    def _new(self, stage: str, total: int | None, unit: str) -> Any:
        from tqdm import tqdm

        tqdm.monitor_interval = 0  # no thread, which could outlive an interrupt
        # Without things to count there is only the time that has passed.
        counts = {} if unit else {"bar_format": "{desc} {elapsed}"}
        return tqdm(
            total=total,
            desc=stage,
            unit=f" {unit}s" if unit else "",
            file=self._err,
            leave=False,
            delay=_DELAY,
            mininterval=0.2,
            dynamic_ncols=True,
            **counts,
        )

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()
        self._bar, self._stage, self._last = None, None, 0
