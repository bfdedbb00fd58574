"""How a host asks a device for results without learning."""

from __future__ import annotations

from dataclasses import dataclass

from tabla.graph.predicted_part import PredictedPart
from tabla.program.image import Image
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.streams import streamed
from tabla.templates.bus import PREDICT

RUN = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPrediction:
    """The command of a prediction, and what its samples have.

    `code` is PREDICT where that keeps the models, which a RUN would change. It is RUN in a program that does not learn.
    `inputs` are the inputs and labels that the results need. Of those that are `ignored` no result depends.
    """

    code: int
    inputs: tuple[str, ...]
    ignored: tuple[str, ...]

    @staticmethod
    def of(schedule: Schedule, image: Image) -> HostPrediction | None:
        """Return how the device of an image predicts; None if it gives no results, or none without learning."""
        graph, predicts = schedule.mapped, image.parameters.predicts
        if not graph.results or (graph.updates and not predicts):
            return None
        taken = {tensor for tensor, _ in streamed(schedule.layout)}
        names = [tensor.name for tensor in graph.tensors.values() if tensor.name in taken]
        needed = PredictedPart.needed(graph).tensors
        return HostPrediction(
            code=PREDICT if predicts else RUN,
            inputs=tuple(name for name in names if name in needed),
            ignored=tuple(name for name in names if name not in needed),
        )
