"""A table as people have it: passengers of a ship, with texts, gaps, names, and a label that follows from the rest."""

from __future__ import annotations

import math

import numpy as np

COUNT = 300
HEADER = "id,name,class,sex,age,fare,port,survived"


def passengers(count: int = COUNT, seed: int = 4) -> str:
    """Return the table as comma-separated text. A fifth of the ages, and a few ports, are missing."""
    chance = np.random.default_rng(seed)
    rows = [HEADER]
    for number in range(1, count + 1):
        place = int(chance.choice(3, p=(0.25, 0.2, 0.55))) + 1
        woman = chance.random() < 0.36
        age = max(1.0, chance.normal(38 - 5 * place, 12))
        fare = float(np.exp(chance.normal(5.0 - place, 0.5)))
        port = str(chance.choice(["S", "C", "Q"], p=(0.7, 0.2, 0.1)))
        score = 1.8 * woman - 0.9 * (place - 2) - 0.03 * (age - 28) + 0.4 * (port == "C") - 0.8
        alive = chance.random() < 1 / (1 + math.exp(-3 * score))
        shown = "" if chance.random() < 0.2 else f"{age:.0f}"
        harbour = "?" if chance.random() < 0.01 else port
        name = f'"Passenger, No. {number}"'
        fields = (number, name, place, "female" if woman else "male", shown, f"{fare:.2f}", harbour)
        rows.append(",".join([*map(str, fields), "yes" if alive else "no"]))
    return "\n".join(rows) + "\n"
