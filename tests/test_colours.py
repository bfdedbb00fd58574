"""The colours of programs: the site's lexers, the TextMate grammars and vim's syntax files give the same ones."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tabla
from manual.colours import KERNEL, LANGUAGES, TABLA, TENSOR_COMPREHENSIONS, TINYTC, Colours
from manual.editors import SCOPES, files, textmate, vim_pattern
from manual.lexers import LEXER_CLASSES, TOKENS
from tests.pages import DOCS, blocks

ROOT = DOCS.parent
SNIPPETS = {
    TABLA.alias: """/* two
lines */ m = $size; mu = 1.5e-3; // x = 2
model w[m], model2; gradient g -> w;
y' = sigmoid(sum[i](w[i] * x[i])) >= .5;
""",
    TENSOR_COMPREHENSIONS.alias: """# def
def layer(float(B, K) x, int32 n) -> (O) {
  O(b) max=! fmax(x(b, k), 1e3) where k in 0:8
}
""",
    KERNEL.alias: """// input
input x[4, 30]: real; value h'.t: truth;
h = fraction(1, 3) * sum[i in 0:30](w[i]) for b in 0:4 where b < 3;
update w -= 0.03125 * g;
""",
    TINYTC.alias: """; func
func @f(%A: memref<f32x4x?>, %0: index) {
  %if = arith.add %0, %0 : index
  gemm.n.t %c1, %A, %B, %c0, %C : "a"
}
""",
}
PAIRS = [(colours, lexer) for colours, lexer in zip(LANGUAGES, LEXER_CLASSES, strict=True)]


def of_the_site(colours: Colours, text: str) -> list[str]:
    """Return the kind of each character by the lexer of Pygments, with an empty text where it has none."""
    (lexer,) = (lexer for known, lexer in PAIRS if known is colours)
    kinds = {token: kind for kind, token in TOKENS.items()}
    return [kinds.get(token, "") for token, part in lexer(stripnl=False, ensurenl=False).get_tokens(text) for _ in part]


def of_textmate(colours: Colours, text: str) -> list[str]:
    """Return the kind of each character as an editor finds it by the grammar: line by line, the first match first."""
    patterns = textmate(colours)["patterns"]
    kinds = {f"{scope}.{colours.alias}": kind for kind, scope in SCOPES.items()}
    found: list[str] = []
    inside = None
    for line in text.splitlines(keepends=True):
        kind_of, at = [""] * len(line), 0
        while at < len(line):
            if inside is not None:
                end = re.compile(inside["end"]).search(line, at)
                stop = end.end() if end else len(line)
                kind_of[at:stop] = [kinds[inside["name"]]] * (stop - at)
                inside, at = (None if end else inside), stop
                continue
            matches = [(re.compile(one.get("match") or one["begin"]).search(line, at), one) for one in patterns]
            nearest = min(((m.start(), n) for n, (m, _) in enumerate(matches) if m), default=None)
            if nearest is None:
                break
            match, pattern = matches[nearest[1]]
            assert match is not None and match.end() > match.start()
            kind_of[match.start() : match.end()] = [kinds[pattern["name"]]] * len(match[0])
            inside, at = (pattern if "begin" in pattern else None), match.end()
        found += kind_of
    return found


def runs(text: str, kinds: list[str]) -> Iterator[str]:
    """Yield each stretch of one kind on one line, with its kind before it."""
    for line in re.finditer(r"[^\n]+", text):
        at = line.start()
        while at < line.end():
            stop = at + 1
            while stop < line.end() and kinds[stop] == kinds[at]:
                stop += 1
            if text[at:stop].strip():
                yield f"{kinds[at] or '-'} {text[at:stop]}".rstrip()
            at = stop


def programs(colours: Colours) -> list[str]:
    """Return texts in a language: the snippet, the examples, those of the tests, and those of the pages."""
    folders = (ROOT / "examples", ROOT / "tests" / "programs")
    listed = (path for folder in folders for end in colours.ends for path in sorted(folder.rglob(f"*{end}")))
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in listed]
    pages = [path.read_text(encoding="utf-8") for path in sorted(DOCS.rglob("*.md"))]
    shown = [block.body for page in pages for block in blocks(page) if block.file.endswith(colours.ends)]
    return [SNIPPETS[colours.alias], *texts, *shown]


@pytest.mark.parametrize("colours", LANGUAGES, ids=lambda colours: colours.alias)
def test_colours_of_a_snippet(colours: Colours, golden: Callable[[str, str], None]) -> None:
    text = SNIPPETS[colours.alias]
    golden(f"colours/{colours.alias}.txt", "\n".join(runs(text, of_textmate(colours, text))) + "\n")


@pytest.mark.parametrize("colours", LANGUAGES, ids=lambda colours: colours.alias)
def test_an_editor_shows_the_colours_of_the_site(colours: Colours) -> None:
    texts = programs(colours)
    assert len(texts) > 2
    for text in texts:
        assert list(runs(text, of_textmate(colours, text))) == list(runs(text, of_the_site(colours, text)))


PARTS = (
    *("sum", "model", "def", " ", "\n", "//", "/*", "*/", "#", ";", "$a", "1.5", "e3", "x", "'", '"', "->", "%b"),
    *("f32", "_", "max", "="),
)


@given(st.sampled_from(LANGUAGES), st.lists(st.sampled_from(PARTS)).map("".join))
def test_the_colours_of_drawn_texts(colours: Colours, text: str) -> None:
    assert list(runs(text, of_textmate(colours, text))) == list(runs(text, of_the_site(colours, text)))


@pytest.mark.parametrize("colours", LANGUAGES, ids=lambda colours: colours.alias)
def test_vim_shows_the_colours_of_the_site(colours: Colours, tmp_path: Path) -> None:
    """Vim itself says how it highlights each character. Names and punctuation have no colour there."""
    if (
        shutil.which("vim") is None
        or b"+syntax" not in subprocess.run(["vim", "--version"], capture_output=True).stdout
    ):
        pytest.skip("vim with syntax highlighting is not installed")
    for name, text in files().items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    every = [text for text in programs(colours) if text.isascii() and "\t" not in text and len(text) < 4000][:12]
    whole = "\n".join(every)
    (tmp_path / f"a{colours.ends[0]}").write_text(whole, encoding="utf-8")
    script = tmp_path / "dump.vim"
    script.write_text(
        "let out = []\n"
        "for line in range(1, line('$'))\n"
        "  for column in range(1, len(getline(line)))\n"
        "    call add(out, synIDattr(synID(line, column, 0), 'name'))\n"
        "  endfor\n"
        "endfor\n"
        "call writefile([&filetype] + out, 'out.txt')\n"
        "qall!\n",
        encoding="utf-8",
    )
    start = ["-c", "filetype on", "-c", "syntax on", "-c", f"edit a{colours.ends[0]}", "-c", "syntax sync fromstart"]
    words = ["vim", "-es", "-u", "NONE", "-i", "NONE", "--cmd", "set nocp rtp^=vim", *start, "-S", "dump.vim"]
    subprocess.run(words, cwd=tmp_path, capture_output=True, timeout=120, check=False)
    kind, *shown = (tmp_path / "out.txt").read_text(encoding="utf-8").split("\n")[:-1]
    assert kind == colours.alias
    kinds = of_the_site(colours, whole)
    expected = [(sign, k) for sign, k in zip(whole, kinds, strict=True) if sign != "\n"]
    assert len(shown) == len(expected)
    plain = [name.removeprefix(colours.alias).lower() for name in shown]
    wrong = [
        (at, sign, k, vims)
        for at, ((sign, k), vims) in enumerate(zip(expected, plain, strict=True))
        if not sign.isspace() and k != vims
    ]
    assert not wrong, wrong[:5]


def test_a_pattern_in_the_syntax_of_vim() -> None:
    assert vim_pattern(r"(?:a|b)+=[^<\n]*\d?") == r"\v\C%(a|b)+\=[^<\n]*\d?"
    assert vim_pattern(r"[%@]\w+~") == r"\v\C[%@]\w+\~"


def test_a_command_writes_the_grammars(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "manual.editors", str(tmp_path)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    made = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert made == set(files())
    extension = json.loads((tmp_path / "vscode" / "package.json").read_text(encoding="utf-8"))
    assert extension["version"] == tabla.__version__
    for grammar in extension["contributes"]["grammars"]:
        read = json.loads((tmp_path / "vscode" / grammar["path"]).read_text(encoding="utf-8"))
        assert read["scopeName"] == grammar["scopeName"]
    for language in extension["contributes"]["languages"]:
        settings = json.loads((tmp_path / "vscode" / language["configuration"]).read_text(encoding="utf-8"))
        assert settings["comments"]["lineComment"]
