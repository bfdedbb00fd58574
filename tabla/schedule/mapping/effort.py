"""How much time the search for a mapping may take, and what it weighs cycles against.

Every number that only tunes the search stands here, so that one record says how a build was searched for. Limits of
the machine are not efforts: they stand in the template.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

from tabla.base.source import TablaError

Objective = Literal["throughput", "latency"]
"""What a search makes small: the cycles from one sample to the next, or those from the first word of a sample on."""
OBJECTIVES: tuple[Objective, ...] = get_args(Objective)


STAGE_PRICE = 0.05
"""The fraction of the cycles that each further sample must save which the units work on in turns: it makes the latency
longer by an initiation interval, and takes room for one more offset of a window in every unit."""


def weighed(cycles: float, stages: int) -> float:
    """Return the cycles of a sample, weighed against the number of samples that are under way at a time."""
    return cycles * (1 + STAGE_PRICE * (stages - 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """The tuning of one search.

    Candidates, which are scheduled exactly:

    * `beam`: partial mappings that the estimate keeps after each statement.
    * `kept`: further ones by an estimate that expects lanes to keep copies of models whose home is the root.
    * `most_kept`: words of a model of which every lane may keep a copy that the root's update writes: a block RAM of 18
      kbit holds as many of 16 bits.
    * `homes`: combinations of the models' homes that are enumerated; beyond it, one model at a time is improved.
    * `candidates`: mappings by the estimate; `fused`: further ones by an estimate that knows that a function costs
      nothing after the root operation that makes its operand.
    * `received`: further ones by an estimate that expects lanes to take words as the root makes them.
    * `call_beam`, `call_fused`, `call_received`, `call_short`: `beam`, `fused`, `received` and `short` for programs
      that update no model. Such a program has no path from sample to sample, its schedules are found sooner, and its
      best mapping is more often one that the estimate puts behind others.

    Arrays, where the user names none:

    * `roots`: numbers of roots that are tried beside one; `cuts`: ways to cut the graph for each of them, and as many
      ways to divide the rows of its maps, which are chosen by an estimate with `quick_beam` for `beam`. `least_lanes`:
      lanes that each group must keep.
    * `sequencers`: numbers of sequencers that are tried beside one, for `clustered` mappings each.
    * `root_price`, `sequencer_price`: how many lanes a further root or sequencer weighs against cycles. A root takes
      the room of two to three lanes; a sequencer takes strand memory, loops and generators of two units, 300 to 400
      LUT4. `block_price`: the same for a block RAM beyond the first of each memory; `call_block_price` holds instead
      for programs that update no model, whose tensors take most of the memory. There, one more block RAM in every lane
      must save a thousandth of the cycles. `far_block_price` and `call_far_block_price` are added to these prices for
      block RAMs beyond `room`, the first of each memory of many words counted. That is about what the LFE5U-85F has
      beside microcode and roots: what such a part does not have must save many cycles.

    Changes, which only an exact schedule can judge:

    * `starts`: schedules from which changes go on; 0 turns changes off. `starts_of_long` holds instead for programs of
      more than `short` statements, which have more changes, and where lanes multiply in the fraction `busy` of all
      cycles, so that there is little to find.
    * `promising`: how many of these starts are chosen by what they promise: their cycles when vectors are taken as they
      are made. `hastened`: schedules of each cut that are judged so.
    * `far`: what the promising starts promise, and what all others take, is at most so many times the fewest cycles.
      `hopeless`: schedules of a cut are judged until the fastest of them is known to take more than so many times the
      fewest cycles. `hopeless_of_long` holds instead for programs of more than `short` statements, whose schedules for
      one cut differ less. `alike`: two schedules with the same number of roots whose cycles differ by no more than this
      fraction are taken for one.
    * `change_beam`: schedules that go on to the next round of changes; `patience`: rounds without a gain after which
      the search ends; `detour`: cycles that one change may cost.
    * `objective`: what counts first. For ``latency`` these are the cycles from the first word of a sample to its last
      result or update; the stream then has as many words a beat as make fewer beats.
    * `work`: in a program of more than `short` statements, how many statements the mappings of one round have in all. A
      round then takes the same time for every length of a program. `least_gain`: a round of such a program that saves
      less than this fraction of the cycles is like one without a gain. `few_cycles`: what a change may save beside the
      waiting that it is known to shorten; changes are left out only where they must save more.
    * `parts`: numbers of strands that an update is divided into; `most_turns`: strands of one chain at the root.
    """

    beam: int = 4
    homes: int = 36
    most_kept: int = 1024
    candidates: int = 6
    fused: int = 3
    call_beam: int = 12
    call_fused: int = 8
    received: int = 0
    call_received: int = 3
    kept: int = 3
    roots: tuple[int, ...] = (2, 4, 8)
    cuts: int = 2
    quick_beam: int = 2
    least_lanes: int = 4
    sequencers: tuple[int, ...] = (2, 4)
    clustered: int = 2
    root_price: float = 0.6
    sequencer_price: float = 1.5
    block_price: float = 0.0
    call_block_price: float = 0.001
    far_block_price: float = 0.0
    call_far_block_price: float = 0.05
    room: int = 128
    starts: int = 4
    starts_of_long: int = 2
    short: int = 14
    call_short: int = 18
    busy: float = 0.95
    promising: int = 2
    hastened: int = 3
    far: float = 1.12
    hopeless: float = 1.5
    hopeless_of_long: float = 1.15
    alike: float = 0.002
    change_beam: int = 2
    patience: int = 1
    detour: int = 2
    work: int = 3000
    least_gain: float = 0.001
    few_cycles: int = 4
    parts: tuple[int, ...] = (2, 3, 4, 8)
    most_turns: int = 10
    objective: Objective = "throughput"


EFFORTS = (
    Effort(
        candidates=2,
        fused=1,
        call_beam=4,
        call_fused=1,
        call_received=1,
        kept=1,
        roots=(),
        sequencers=(),
        starts=0,
        starts_of_long=0,
        hastened=0,
    ),
    Effort(
        candidates=4,
        fused=2,
        call_beam=4,
        call_fused=2,
        call_received=1,
        kept=2,
        cuts=1,
        starts=1,
        starts_of_long=1,
        hastened=1,
        promising=0,
        work=1000,
    ),
    Effort(),
    Effort(
        beam=12,
        homes=256,
        candidates=16,
        fused=8,
        call_received=8,
        kept=8,
        cuts=6,
        clustered=6,
        starts=10,
        starts_of_long=8,
        promising=5,
        hastened=8,
        far=1.25,
        hopeless=2.0,
        hopeless_of_long=1.5,
        change_beam=5,
        patience=3,
        detour=6,
        work=20_000,
        least_gain=0.0,
    ),
)
"""The levels of ``--effort``: 0 takes the best estimate, 1 improves one schedule, 2 is the default, 3 takes minutes."""
DEFAULT_EFFORT = 2


def of_calls(effort: Effort) -> Effort:
    """Return the effort for a program that updates no model."""
    return replace(
        effort,
        beam=effort.call_beam,
        fused=effort.call_fused,
        received=effort.call_received,
        short=effort.call_short,
        block_price=effort.call_block_price,
        far_block_price=effort.call_far_block_price,
    )


def effort_of(level: int, objective: Objective = "throughput") -> Effort:
    """Return the effort of a level of ``--effort``. Raises `TablaError` for a level that does not exist."""
    if not 0 <= level < len(EFFORTS):
        raise TablaError(f"there is no effort {level}", hint=f"efforts are 0 to {len(EFFORTS) - 1}, the default is 2")
    return replace(EFFORTS[level], objective=objective)
