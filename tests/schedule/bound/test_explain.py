"""What ``tabla bound`` says of a bound: every term, and who has a share in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tabla.build.options import Options
from tabla.commands.cli import main
from tabla.driver import build
from tabla.schedule import bound
from tabla.schedule.bound.explain import Reason, reasons

EXAMPLES = Path(__file__).parents[3] / "examples"
PROGRAMS = ("linear", "logistic", "svm", "backprop", "softmax")


def explained(name: str, pes: int) -> tuple[bound.Bound, dict[str, Reason]]:
    """The full bound of an example, and its reasons by term."""
    made = build(EXAMPLES / f"{name}.t", Options(pes=pes, effort=0))
    found = bound.full(made.graph, made.template, made.format)
    return found, {reason.term: reason for reason in reasons(found, made.graph, made.template, made.format)}


@pytest.mark.parametrize("name", [name for name in PROGRAMS if (EXAMPLES / f"{name}.t").is_file()])
def test_every_term_is_explained(name: str) -> None:
    found, why = explained(name, 16)
    assert {term: reason.cycles for term, reason in why.items()} == found.terms
    assert next(iter(why.values())).cycles == found.cycles
    assert all(reason.about.endswith(".") for reason in why.values())


def test_shares_of_a_neuron() -> None:
    _, why = explained("logistic", 16)
    multiplies = {share.line: share.note for share in why["multiplies"].shares}
    assert sorted(multiplies.values()) == ["30 multiplies", "30 multiplies"]
    # The circuit goes through the sum, the function, the error and both updates: everything that the program computes.
    assert {share.line for share in why["path"].shares} >= set(multiplies)
    assert len(why["path"].shares) == 5
    assert [share.note for share in why["functions"].shares] == ["1 evaluations"]
    assert why["stream"].about.startswith("31 words of inputs and labels are read")


def test_a_network_names_ways_and_places() -> None:
    made = build(EXAMPLES / "backprop.t", Options(pes=16))
    template = made.template.with_roots(2)
    found = bound.full(made.graph, template, made.format)
    path = next(r for r in reasons(found, made.graph, template, made.format) if r.term == "path")
    assert found.circuit.kind == "vector" and found.circuit.words[0] in path.about
    assert any(share.note.startswith("best ") for share in path.shares)


def test_a_kernel_without_a_circuit(tmp_path: Path) -> None:
    """A sum of two words neither learns nor multiplies, so nothing on its path takes cycles from sample to sample."""
    (tmp_path / "double.t").write_text("model_input x[4];\niterator i[0:4];\ny[i] = x[i] + x[i];\n")
    made = build(tmp_path / "double.t", Options(pes=16))
    found = bound.full(made.graph, made.template, made.format)
    why = {reason.term: reason for reason in reasons(found, made.graph, made.template, made.format)}
    assert found.circuit.kind == "none" and found.terms["path"] == 1
    assert why["path"].about.startswith("No circuit of dependences") and why["path"].shares == ()


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bound.json"
    assert main(["bound", str(EXAMPLES / "linear.t"), "--pes", "8", "-q", "--json", str(file)]) == 0
    said, content = capsys.readouterr().out, json.loads(file.read_text(encoding="utf-8"))
    assert content["schema"] == "tabla-bound-1" and content["pes"] == 8
    assert content["bound"] == max(term["cycles"] for term in content["terms"]) <= content["cycles"]
    assert content["ratio"] == round(content["cycles"] / content["bound"], 6)
    for term in content["terms"]:
        assert f"{term['term']:<12} {term['cycles']}" in said
        assert all((share["text"] or share["name"]) in said for share in term["shares"])
    assert main(["bound", str(EXAMPLES / "linear.t"), "--pes", "8", "-q", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out) == content


def test_faults_are_the_user_s(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bound", str(tmp_path / "missing.t")]) == 1
    assert capsys.readouterr().err.startswith("error: ")
