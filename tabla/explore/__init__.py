"""``tabla explore``: one program on many arrays, in many number formats, compared by what each of them costs and gives.

A point is an array, a number format and a minibatch. `run` asks the workers for the figures of all points, `records`
keeps them in a file as they are made, `front` finds the points that no other point beats, and `page` shows them.
"""

from tabla.explore.result import Exploration
from tabla.explore.run import explore
from tabla.explore.space import Space

__all__ = ["Exploration", "Space", "explore"]
