"""A pass from outside the package: the one that docs/extend/pass.md adds."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings

import tabla
from tabla.commands.cli import main
from tabla.graph.format import Format
from tabla.graph.graph import Graph, Linear, Read, Statement, Term
from tabla.graph.operations import zero_or_one
from tabla.graph.passes.framework import Pass, Setting
from tabla.graph.verify import GraphFault, verify
from tests.extend.pages import PAGES, snippets, write_files
from tests.graph.graph_strategy import graphs
from tests.graph.passes.test_pipeline import formats, same_words, seeds
from tests.pages import agrees, blocks, run


@pytest.fixture
def squares_of_flags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pass[...]]:
    """The pass of the page."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    write_files("pass.md", tmp_path)
    import squares

    yield squares.without_squares
    del sys.modules["squares"]


def test_the_page_runs(squares_of_flags: Pass[...], capsys: pytest.CaptureFixture[str]) -> None:
    (session,) = (each for each in blocks((PAGES / "pass.md").read_text(encoding="utf-8")) if each.kind == "console")
    assert agrees(session.body, run(session, "extend/pass.md", capsys))
    shown = session.body.partition("\n")[2]
    Path("late.graph").write_text(shown)
    assert main(["pass", "forward-copies", "late.graph"]) == 0
    assert capsys.readouterr().out == shown.partition("\n")[2]
    (snippet,) = snippets("pass.md")
    exec(compile(snippet, "pass.md", "exec"), {})


def test_it_changes_no_word(squares_of_flags: Pass[...]) -> None:
    @settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
    @given(graph=graphs(), fmt=formats, seed=seeds)
    def check(graph: Graph, fmt: Format, seed: int) -> None:
        squared = with_squares(graph)
        assume(squared != graph)
        verify(squared)
        after = squares_of_flags.run(squared, Setting(fmt=fmt))
        verify(after)
        assert after == squares_of_flags.run(graph, Setting(fmt=fmt))
        same_words(squared, after, fmt, seed)

    check()


def with_squares(graph: Graph) -> Graph:
    """The graph with every 0/1 value that is a term of its own squared."""
    flags = zero_or_one(graph)

    def squared(term: Term) -> Term:
        match term.factors:
            case (Read(tensor=name) as one,) if name in flags:
                return replace(term, factors=(one, one))
            case _:
                return term

    def rewritten(statement: Statement) -> Statement:
        match statement.operation:
            case Linear(terms=terms, shift=0) as operation:
                return replace(statement, operation=replace(operation, terms=tuple(map(squared, terms))))
            case _:
                return statement

    return replace(graph, statements=tuple(map(rewritten, graph.statements)))


def test_a_pass_that_breaks_a_rule_is_named(squares_of_flags: Pass[...]) -> None:
    def broken(graph: Graph, fmt: Format) -> Graph:
        return replace(graph, statements=graph.statements[:-1])

    Path("square.t").write_text("model_input x[4]; iterator i[0:4]; y[i] = x[i] * x[i];\n")
    with pytest.raises(GraphFault, match=r"^after forgets: "):
        tabla.compile(
            "square.t",
            passes=(squares_of_flags, Pass(name="forgets", description="forget the last statement", function=broken)),
        )
