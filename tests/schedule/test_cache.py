"""Kept schedules: read back for the same program only, and never for a scheduler of the user's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tabla
from tabla.build.options import Options
from tabla.driver import Build, build
from tabla.schedule import cache
from tabla.schedule import compile as compiling
from tabla.schedule.placing.list_scheduler import list_schedule
from tabla.schedule.placing.schedule import Schedule

TEXT = """m = 3; mu = 0.5;
model_input x[m]; model_output y; model w[m]; gradient g[m] -> w; iterator i[0:m];
e = sum[i](w[i] * x[i]) - y;
g[i] = e * x[i];
"""


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The programs whose schedules were made and not read back, in an empty cache."""
    monkeypatch.setenv("TABLA_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("TABLA_CACHE_KINDS")
    monkeypatch.chdir(tmp_path)
    Path("model.t").write_text(TEXT)
    found: list[str] = []
    real = compiling.checked_schedule

    def counted(graph: Any, *rest: Any) -> Schedule:
        found.append(graph.name)
        return real(graph, *rest)

    monkeypatch.setattr(compiling, "checked_schedule", counted)
    return found


def of(**options: Any) -> Build:
    return build("model.t", Options(pes=2, **options))


def test_a_schedule_is_made_once(made: list[str]) -> None:
    first, second = of(), of()
    assert first.schedule.text() == second.schedule.text()
    assert first.verilog == second.verilog
    assert first.report().text() == second.report().text()
    assert made == ["model"]


def test_whatever_the_search_sees_is_part_of_the_key(made: list[str]) -> None:
    before = of().schedule.cycles
    for options in ({"pes": 3}, {"format": "q8.8"}, {"effort": 0}, {"minibatch": 2}, {"defines": {"mu": 0.25}}):
        assert build("model.t", Options(**{"pes": 2, **options})).schedule
    assert len(made) == 6
    # The same graph, whose statements are told at other places.
    Path("model.t").write_text("// a comment\n" + TEXT)
    assert of().schedule.cycles == before
    assert len(made) == 7


def test_another_compiler_makes_another_schedule(made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    _ = of().schedule
    monkeypatch.setattr("tabla.schedule.cache._files", lambda: "changed")
    _ = of().schedule
    assert len(made) == 2


def test_a_scheduler_of_ones_own_is_always_asked(made: list[str]) -> None:
    options = Options(pes=2, scheduler=lambda *given, **named: list_schedule(*given, **named))
    for _ in range(2):
        assert build("model.t", replace(options)).schedule
    assert len(made) == 2


@pytest.mark.parametrize("variable", ["TABLA_CACHE", "TABLA_CACHE_KINDS"])
def test_nothing_is_kept_where_the_user_says_so(
    made: list[str], monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "")
    for _ in range(2):
        _ = of().schedule
    assert len(made) == 2
    assert not Path("cache/schedules").exists()


def test_a_function_with_another_latency_is_another_schedule(made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from tabla.templates import template

    _ = of().schedule
    kinds = template.function_kinds()
    slower = {name: replace(kind, latency=kind.latency + 3) for name, kind in kinds.items()}
    monkeypatch.setattr("tabla.build.stages.function_kinds", lambda: slower)
    _ = of().schedule
    assert len(made) == 2


def test_a_change_of_any_file_of_the_package_makes_schedules_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "key_of", lambda *parts: "\n".join(parts))
    counted = {Path(line.rsplit(" ", 2)[0]) for line in cache._files.__wrapped__().splitlines()}
    folder = Path(tabla.__file__).parent
    assert counted == {path for path in folder.rglob("*") if path.suffix in (".py", ".td")}
    assert {folder / "hw" / "lane.py", folder / "templates" / "machine.td", folder / "driver.py"} <= counted
