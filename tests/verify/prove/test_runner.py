"""The runner refuses what is false, shows the cycles, and does not trust tools that drop claims."""

from __future__ import annotations

import pytest
from amaranth.hdl import Signal

from tabla.hw.rounder import Rounder
from verify.prove import solver
from verify.prove.bench import Bench, Opened
from verify.prove.planted import Mutant, planted
from verify.prove.solver import ToolError, prove


def counting(step: int) -> tuple[Bench, Signal]:
    """A counter of 4 bits that starts at 0."""
    b = Bench()
    count = Signal(4, name="count")
    b.m.d.sync += count.eq(count + step)
    return b, count


@pytest.mark.parametrize("name", ["z3", "yices"])
def test_a_claim_that_fails_after_some_cycles_is_refused_from_the_start(name: str) -> None:
    b, count = counting(1)
    b.claim("below_five", count < 5)
    verdict = prove(b, depth=6, solver=name)
    assert verdict.reached and not verdict.holds
    rows = {line.split()[0]: line.split()[1:] for line in verdict.found.splitlines()[1:]}
    assert rows["count"] == list("012345")
    assert rows["claim_below_five"] == list("111110")


def test_what_the_first_cycles_do_not_show_the_induction_refuses() -> None:
    b, count = counting(1)
    b.claim("below_five", count < 5)
    verdict = prove(b, depth=2, solver="yices")
    assert not verdict.holds and not verdict.reached and "by induction" in verdict.found


def test_an_induction_holds_for_ever() -> None:
    b, count = counting(2)
    b.claim("even", ~count[0])
    verdict = prove(b, depth=1, solver="yices")
    assert verdict.holds and verdict.assertions == 1


def test_a_bench_without_claims_proves_nothing() -> None:
    b, _ = counting(1)
    with pytest.raises(ToolError, match="reached the solver"):
        prove(b, depth=1, solver="z3")


@pytest.mark.parametrize("kind", ["assert", "assume"])
def test_what_yosys_drops_is_missed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    b, count = counting(1)
    b.claim("below_five", count < 5)
    b.assume("late", b.free(1, "input") | (count < 3))
    monkeypatch.setattr(solver, "_YOSYS", solver._YOSYS.replace("opt_clean", f"chformal -{kind} -remove"))
    with pytest.raises(ToolError, match=f"'{kind}': 0"):
        prove(b, depth=1, solver="z3")


def test_a_proof_has_a_limit_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    b = Bench()
    left, right = b.free(24, "left"), b.free(24, "right")
    b.claim("no_factors", (left * right != 0xB5F2A7C3D1E5) | (left < 2) | (right < 2))
    monkeypatch.setattr(solver, "_SHORTEST", 0.0)
    with pytest.raises(ToolError, match="took longer than"):
        prove(b, depth=1, solver="yices", limit=1.5)


def test_a_reset_is_chosen_by_the_solver() -> None:
    b = Bench(resets=True)
    count = Signal(4, name="count")
    b.m.d.sync += count.eq(count + 1)
    b.claim("never_back", count != 1, when=b.past(count == 2, 2, "was_two"))
    verdict = prove(b, depth=6, solver="yices")
    assert verdict.reached


def test_a_planted_mutant_is_gone_afterwards() -> None:
    mutant = Mutant(file="rounder.py", before="LATENCY = 2", after="LATENCY = 3")
    real = Rounder
    with planted(mutant):
        assert Rounder.LATENCY == 3 and Rounder is not real
    assert Rounder is real and Rounder.LATENCY == 2
    absent = Mutant(file="rounder.py", before="§", after="")
    with pytest.raises(AssertionError, match="occurs 0 times"), planted(absent):
        pass


def test_inner_signals_are_those_of_the_component() -> None:
    b = Bench()
    opened = b.add(Opened(Rounder(width=8, fraction=4, accumulator=20, shifts=(0, 4))))
    # Amaranth complains of what is never elaborated, in whatever test its memory is given back.
    b.rtlil()
    assert len(opened["word"]) == 8
    with pytest.raises(KeyError, match="0 signals"):
        opened["no_such_signal"]
