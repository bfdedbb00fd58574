"""Computes in which cycles beats are taken, tokens start and output words leave.

What happens inside the array follows each token at fixed distances. So these cycles, which depend on the host's
pauses but on no data, decide all cycles of a command (``docs/decisions/0003-machine.md``, sections 3.6, 3.7, 3.10).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tabla.program.image import Image
from tabla.sim.machine import Stalls
from tabla.sim.model.faults import MachineFault
from tabla.templates.template import timing

CREDIT = 2
"""Cycles from a word leaving to the first token that may use its place (decision 3.10)."""


@dataclass(slots=True, kw_only=True)
class Timeline:
    """The cycles of one command.

    `starts`, `first_words` and `last_words` have an entry for each sample, `leaves` has one for each output word.
    """

    starts: list[int] = field(default_factory=list)
    first_words: list[int] = field(default_factory=list)
    last_words: list[int] = field(default_factory=list)
    leaves: list[int] = field(default_factory=list)

    @property
    def end(self) -> int:
        """The last cycle in which a token starts, a beat is taken or a word leaves; 0 when nothing does."""
        return max((cycles[-1] for cycles in (self.starts, self.last_words, self.leaves) if cycles), default=0)


def _pause(pauses: Sequence[int], index: int) -> int:
    return pauses[index % len(pauses)] if pauses and index else 0


def timeline(
    image: Image,
    *,
    samples: int,
    beats: int,
    period: int,
    outputs: Sequence[int],
    stalls: Stalls,
    origin: int,
) -> Timeline:
    """Return the cycles of a command of `samples` tokens that begins in cycle `origin`.

    Each sample takes `beats` beats; 0 stands for a program without input. Tokens are at least `period` cycles apart.
    `outputs` has, for each word that a sample puts out, the cycle of its root write counted from the token. Words of
    one write leave one after the other, or several of them in a beat. A program whose sample puts out more words than
    the output buffer holds raises MachineFault.
    """
    law = timing()
    depth, together = image.parameters.output_depth, image.parameters.port_words
    waits_for_turn = image.parameters.split_results and together < image.parameters.roots
    to_port = law.broadcast + (law.queue if waits_for_turn else 0)
    if len(outputs) > depth:
        raise MachineFault(f"a sample puts out {len(outputs)} words, the output buffer holds {depth}")
    result = Timeline()
    taken = origin - 1  # cycle of the latest beat
    beat = 0
    for sample in range(samples):
        start = origin if not result.starts else result.starts[-1] + period
        if beats:
            slot_free = origin
            if sample >= image.parameters.ring_slots:
                slot_free = result.starts[sample - image.parameters.ring_slots] + image.release + 1
            taken = max(taken + 1 + _pause(stalls.inputs, beat), slot_free)
            result.first_words.append(taken)
            if stalls.inputs:
                taken += sum(1 + _pause(stalls.inputs, beat + later) for later in range(1, beats))
            else:
                taken += beats - 1
            result.last_words.append(taken)
            beat += beats
            start = max(start, taken + law.ready)
        # The token needs the place of the word that left `depth` words before its own last one.
        needed = (sample + 1) * len(outputs) - depth - 1
        if outputs and needed >= 0:
            start = max(start, result.leaves[needed] + CREDIT)
        result.starts.append(start)
        for cycle in outputs[::together]:
            shown = start + cycle + to_port
            if result.leaves:
                shown = max(shown, result.leaves[-1] + 1 + _pause(stalls.outputs, len(result.leaves) // together))
            result.leaves += [shown] * together
    return result
