"""Bombs, deep nesting and endless numbers are refused by a limit that the error names, in time and memory."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tabla.base.source import TablaError
from tabla.templates import tablegen
from verify.fuzz.attacks import ATTACKS, SLOW, Attack
from verify.fuzz.sandbox import outcomes
from verify.fuzz.subjects import SUBJECTS

ROOT = Path(__file__).resolve().parents[3]

UNSAFE = {"pickle", "cPickle", "marshal", "shelve", "dill", "joblib", "yaml"}
"""Modules that run what they read."""
SUSPECT = re.compile(r"allow_pickle|read_array|np\.(load|fromfile|memmap)|" + "|".join(UNSAFE))


def refused(attack: Attack) -> None:
    (found,) = outcomes(SUBJECTS[attack.subject]().read, [attack.make()])
    assert found.kind == "refused", f"{found.kind} after {found.seconds:.1f} s, {found.bytes:,} bytes\n{found.said}"
    assert attack.says in found.said
    assert len(found.said) < 20_000, "the error quotes the whole input"


@pytest.mark.parametrize("name", ATTACKS)
def test_attacks(name: str) -> None:
    refused(ATTACKS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_slow_attacks(name: str) -> None:
    refused(SLOW[name])


def sources() -> Iterator[Path]:
    yield from sorted((ROOT / "tabla").rglob("*.py"))


def test_no_source_reads_a_pickle() -> None:
    """Arrays are read by one function, without pickles, and nothing imports a module that runs what it reads."""
    readers: list[str] = []
    for path in sources():
        name, text = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if SUSPECT.search(text) else ():
            match node:
                case ast.Import(names=names):
                    imported = {alias.name.partition(".")[0] for alias in names}
                case ast.ImportFrom(module=str(module), level=0):
                    imported = {module.partition(".")[0]}
                case ast.keyword(arg="allow_pickle", value=value):
                    assert isinstance(value, ast.Constant) and value.value is False, f"{name}:{value.lineno}"
                    continue
                case ast.Call(func=ast.Attribute(value=ast.Name(id="np"), attr="load" | "fromfile" | "memmap")):
                    raise AssertionError(f"{name}:{node.lineno}: read arrays with tabla.base.npz.read_npz")
                case ast.Call(func=ast.Attribute(attr="read_array")):
                    assert "allow_pickle" in {keyword.arg for keyword in node.keywords}
                    readers.append(name)
                    continue
                case _:
                    continue
            assert not imported & UNSAFE, name
    assert readers == ["tabla/base/npz.py"]


def test_files_that_include_each_other_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty levels of two includes each would be a million files."""
    monkeypatch.setattr("tabla.templates.tablegen.lexer.MAX_INCLUDES", 50)
    for level in range(20):
        (tmp_path / f"{level}.td").write_text(f'include "{level + 1}.td"\n' * 2)
    (tmp_path / "20.td").write_text("")
    with pytest.raises(TablaError, match="more than 50 files are included"):
        tablegen.load(tmp_path / "0.td", include_dirs=[tmp_path])
