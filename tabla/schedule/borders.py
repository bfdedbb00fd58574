"""The borders: how samples follow each other, exactly as the controller does it (decision 3, 3.7)."""

from __future__ import annotations

from dataclasses import dataclass

from tabla.templates.template import Timing

SETTLED = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Border:
    """Beats a sample, slots of the ring, cycles after a token at which a slot is free, and the array's own period."""

    beats: int
    slots: int
    release: int
    period: int

    def tokens(self, samples: int, timing: Timing) -> tuple[list[int], list[int]]:
        """(first beats, tokens) of samples that are always ready, from cycle 0."""
        firsts: list[int] = []
        tokens: list[int] = []
        last = -1
        for n in range(samples):
            first = last + 1
            if self.beats:
                if n >= self.slots:
                    first = max(first, tokens[n - self.slots] + self.release + 1)
                last = first + self.beats - 1
                ready = last + timing.ready
            else:
                first = ready = 0
            token = max(ready, tokens[-1] + self.period if tokens else 0)
            firsts.append(first)
            tokens.append(token)
        return firsts, tokens

    def cycles(self, timing: Timing) -> int:
        """Cycles per sample in steady state; an average that is not whole is rounded up."""
        _, tokens = self.tokens(SETTLED + 12 * self.slots, timing)
        tail = tokens[-1] - tokens[-1 - 12 * self.slots]
        return -(-tail // (12 * self.slots))
