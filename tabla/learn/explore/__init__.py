"""``tabla explore``: one program on many arrays, in many number formats, compared by what each of them costs and gives.

A point is an array, a number format and a minibatch. `request` reads what the user asks for, `run` asks the workers for
the figures of all points, `records` keeps them in a file as they are made, `result` finds the points that no other
point beats, and `page` shows them.
"""

from tabla.learn.explore.candidate import Candidate, Part
from tabla.learn.explore.request import explore
from tabla.learn.explore.result import Exploration
from tabla.learn.explore.space import Point

__all__ = ["Candidate", "Exploration", "Part", "Point", "explore"]
