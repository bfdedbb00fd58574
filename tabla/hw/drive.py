"""From a sequencer's operations to the wires that its lanes share."""

from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Const, Module, Mux

from tabla.hw.control import EXTREME_WIRES, MAC_WIRES, WIDE_WIRES, MacControl, output_of
from tabla.hw.group import Group
from tabla.hw.instruction import instruction_fields
from tabla.hw.lane import LaneShape
from tabla.hw.pipeline import delayed, padded
from tabla.hw.sequencer import Sequencer
from tabla.hw.stream import Stream
from tabla.templates.stages import wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class Drive:
    """The wires that groups take from one sequencer.

    - `controls` are those of ``Group``. `first` are controls that the first of several tap groups in lockstep takes
      instead.
    - `sense` says in the cycle of the accumulators that they are complements. `inverted` is the same when it is
      decoded.
    - `up` says in the cycle of the accumulators that they are for the tree, where there are several sequencers.
    - `extreme` says in the cycle of the accumulators that the tree keeps the largest.
    - `updates` says that a model word is written.
    """

    controls: dict[str, Any]
    first: dict[str, Any]
    inverted: Any
    sense: Any
    up: Any
    extreme: Any
    updates: Any

    @staticmethod
    def of(
        m: Module,
        shape: LaneShape,
        control: MacControl,
        issue: Sequencer,
        write: Sequencer,
        writing: Any,
        *,
        stream: Stream,
        bus: Any,
        load: Any,
    ) -> "Drive":
        """Delay every wire until it meets its operation in the lanes, as the stage table says.

        `writing` is the operation that `write` shows, without what the lanes must not write.
        """
        lane = issue.unit.replace("_issue", "")
        wires = {
            wire: delayed(m, getattr(control, output_of(wire)), wanted("lane_issue", wire), name=f"{lane}_{wire}")
            for wire in (
                *MAC_WIRES,
                *(EXTREME_WIRES if control.extremes else ()),
                *(WIDE_WIRES if control.wide_sources else ()),
            )
        }
        for name in issue.generators:
            wires[name if name in ("low", "high") else f"{name}_address"] = getattr(issue.values, name)

        late = Sequencer.VALUES - Sequencer.FIELDS
        wrote = delayed(m, write.valid, late, name=write.unit)
        instruction = delayed(m, writing, late, name=f"{write.unit}_instruction")
        fields = instruction_fields(write.unit, instruction)
        address = write.values.address if "address" in write.generators else Const(0, 1)
        # The stream gives address and enables in one cycle.
        later = wanted("lane_write", "data_write_address") - wanted("lane_write", "stream_to_data")
        stream_address = delayed(m, stream.lane_address, later, name="stream_lane_address")
        written = delayed(m, stream_address, 1, name="stream_written_address") if shape.through else stream_address
        loaded = Mux(load, written, address)
        wires |= {
            "model_write_address": loaded,
            "interim_write_address": loaded,
            "data_write_address": stream_address,
            "write_bus": fields["source"] & ~load,
            "to_model": wrote & fields["to_model"],
            "to_interim": wrote & fields["to_interim"],
            "load": load,
            "bus": bus,
            "stream_to_data": stream.to_data,
            "stream_to_model": stream.to_model,
            "stream_to_interim": stream.to_interim,
        }
        if shape.bus_through:
            ahead = late + wanted("lane_write", "through")
            source = instruction_fields(write.unit, write.instruction)["source"]
            wires["through"] = load | delayed(m, write.valid & source, ahead, name=f"{lane}_through")
        if shape.through:
            # A loaded word is a result that no operation gave.
            for name in ("stream_to_model", "stream_to_interim"):
                wires[name] = delayed(m, wires[name], 1, name=name)
            wires["issued"] = wires["issued"] | load
            wires["post"] = Mux(load, 0, wires["post"])
        for name in ("low", "high"):
            if name in write.generators:
                wires[f"write_{name}"] = getattr(write.values, name)
        half_first = control.half_lane0 | control.half_array0
        both = delayed(m, half_first, wanted("lane_issue", "half_lane0"), name=f"{lane}_half_first")
        first = {"half_lane0": both} if issue.parameters.roots > 1 else {}
        # Registers with a reset, by a clear that never comes: nobody is told of an update after a reset.
        updates = delayed(m, wrote & fields["model"], Group.FANOUT, name=f"{lane}_update", clear=Const(0, 1))

        shown = wanted("lane_issue", "inverted") + Group.FANOUT
        sense = delayed(m, control.inverted, shown, name=lane.replace("lane", "sense"))
        up: Any = Const(1, 1)
        extreme: Any = Const(0, 1)
        if control.extremes:
            extreme = delayed(m, control.extreme, shown, name=lane.replace("lane", "extreme"))
        if "up" in issue.signature.members:
            sends = issue.valid & issue.last & issue.up
            up = delayed(m, sends, MacControl.LATENCY + shown, name=lane.replace("lane", "up"))
        return Drive(
            controls={name: padded(wires[name], width) for name, width in shape.controls.items()},
            first={name: padded(value, 1) for name, value in first.items() if name in shape.controls},
            inverted=control.inverted,
            sense=sense,
            up=up,
            extreme=extreme,
            updates=updates,
        )
