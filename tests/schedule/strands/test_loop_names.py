"""Names of indices that the strands' own loops might have: a program may call an iterator what it likes."""

from __future__ import annotations

import pytest

from tabla.base.source import Source
from tabla.graph.format import Format
from tabla.languages.tabla import parse
from tabla.languages.tabla.lower import lower
from tabla.schedule.compile import schedule_graph
from tabla.schedule.mapping.effort import EFFORTS
from tabla.templates.template import template_for
from tests.schedule.agreement import agree

Q6_10 = Format(integer=6, fraction=10)
# The root makes h word by word, and lanes that need h take rows of lanes of it from the bus.
PROGRAM = """
model_input x[8]; model_output y[16]; model w[64][4][8], v[16][64][4];
gradient g[16][64][4] -> v;
iterator i[0:8]; iterator j[0:64]; iterator NAME[0:4]; iterator k[0:16]; mu = 0.1;
h[j][NAME] = sigmoid(sum[i](w[j][NAME][i] * x[i]));
o[k] = sum[j](sum[NAME](v[k][j][NAME] * h[j][NAME]));
e[k] = o[k] - y[k];
g[k][j][NAME] = e[k] * h[j][NAME];
"""


@pytest.mark.parametrize("name", ["row", "lane", "axis0"])
def test_any_name_of_an_index_gives_the_same_schedule(name: str) -> None:
    template = template_for(16)
    graph = lower(parse(Source.from_text(PROGRAM.replace("NAME", name))), number_format=Q6_10)
    plain = lower(parse(Source.from_text(PROGRAM.replace("NAME", "q"))), number_format=Q6_10)
    schedule = agree(graph, template, Q6_10, samples=2, effort=EFFORTS[1])
    assert schedule.cycles == schedule_graph(plain, template, Q6_10, EFFORTS[1]).cycles
