"""The borders of a sample: when its beats come in and when it begins, exactly as the controller decides it.

The rules are in ``docs/decisions/0003-machine.md``, section 3.7.
"""

from __future__ import annotations

from dataclasses import dataclass

from tabla.templates.template import Timing

SETTLED = 64
"""The number of samples after which the distance between samples no longer depends on how a run began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Border:
    """What decides how samples follow each other.

    `beats` is the number of beats of a sample, and `slots` the number of samples that the ring holds. A slot is free
    `release` cycles after the token of its sample. The array itself allows a token every `initiation_interval` cycles.
    With more than one of `stages`, tokens come whole initiation intervals apart, unless they are more than `stages`
    intervals apart.
    """

    beats: int
    slots: int
    release: int
    initiation_interval: int
    stages: int = 1

    def tokens(self, samples: int, timing: Timing) -> tuple[list[int], list[int]]:
        """Return the cycles of the first beats and of the tokens of some samples, if the host never waits."""
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
            token = self._token(tokens[-1], ready) if tokens else ready
            firsts.append(first)
            tokens.append(token)
        return firsts, tokens

    def _token(self, before: int, ready: int) -> int:
        """Return the cycle of the first token after that of cycle `before` whose sample is ready in cycle `ready`."""
        intervals = max(1, -(-(ready - before) // self.initiation_interval))
        aligned = 1 < self.stages >= intervals
        return before + intervals * self.initiation_interval if aligned or intervals == 1 else ready

    def cycles(self, timing: Timing) -> int:
        """Return the cycles of a sample in steady state: the average distance of tokens, rounded up."""
        _, tokens = self.tokens(SETTLED + 12 * self.slots, timing)
        tail = tokens[-1] - tokens[-1 - 12 * self.slots]
        return -(-tail // (12 * self.slots))
