"""Snapshots: copies of models where updates read each other crosswise, and nowhere else."""

from __future__ import annotations

from tabla.base.source import Source
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.passes.legalise.snapshot import snapshot
from tabla.languages.tabla import parse
from tabla.languages.tabla.lower import lower

Q6_10 = Format(integer=6, fraction=10)
HEAD = "iterator i[0:4]; model_input r; model u[4], v[4]; gradient g[4] -> u, f[4] -> v;\n"


def graph_of(body: str) -> Graph:
    return lower(parse(Source.from_text(HEAD + body)), number_format=Q6_10)


def test_crosswise_updates_read_copies() -> None:
    """Both factors of both gradients are read by the updates: no order of the two exists."""
    made = snapshot(graph_of("g[i] = r * v[i]; f[i] = r * u[i];"))
    copies = {s.target for s in made.statements} - {"u.next", "v.next"}
    reads = {r.tensor for s in made.statements if s.target.endswith(".next") for r in s.reads}
    assert {"u.old", "v.old"} <= copies
    assert {"u.old", "v.old"} <= reads
    assert [s.id for s in made.statements] == list(range(len(made.statements)))


def test_an_order_needs_no_copy() -> None:
    """v is updated first, then u: only u's update reads v."""
    plain = graph_of("g[i] = r * v[i]; f[i] = r * r;")
    assert snapshot(plain) is plain


def test_an_update_that_shifts_its_own_model_reads_a_copy() -> None:
    made = snapshot(graph_of("g[i] = r * u[3 - i]; f[i] = r * r;"))
    assert any(s.target == "u.old" for s in made.statements)
    own = next(s for s in made.statements if s.target == "u.next")
    assert {r.tensor for r in own.reads if r.tensor.startswith("u")} == {"u", "u.old"}
