"""``tabla explore``: one program on many arrays, in many number formats, compared by what each of them costs and gives.

A point is an array, a number format and a minibatch. `request` reads what the user asks for, `run` asks the workers for
the figures of all points, `records` keeps them in a file as they are made, `front` finds the points that no other point
beats, and `page` shows them.
"""

from tabla.exploration.candidate import Candidate, Part
from tabla.exploration.request import explore
from tabla.exploration.result import Exploration
from tabla.exploration.space import Point

__all__ = ["Candidate", "Exploration", "Part", "Point", "explore"]
