"""Words, comments, and the odd things that files contain."""

from __future__ import annotations

import pytest

from tabla.base.faults import Faults
from tabla.base.source import Source, TablaError
from tabla.languages.tabla import parse
from tabla.languages.tabla.lexer import read_tokens


def words(text: str) -> list[tuple[str, str]]:
    faults = Faults()
    tokens, _ = read_tokens(Source.from_text(text), faults)
    faults.raise_any()
    return [(token.type, token.value.text) for token in tokens]


def kinds(text: str) -> list[str]:
    return [kind for kind, _ in words(text)]


def test_names_and_keywords() -> None:
    assert words("model models a' _b Model c1_2 model_input'") == [
        ("MODEL", "model"),
        ("NAME", "models"),
        ("NAME", "a'"),
        ("NAME", "_b"),
        ("NAME", "Model"),
        ("NAME", "c1_2"),
        ("NAME", "model_input'"),
    ]


def test_operators_take_the_longest() -> None:
    assert kinds("-> - > <= < = == = != >=") == [
        *("ARROW", "MINUS", "GREATER", "LESS_EQUAL", "LESS", "ASSIGN"),
        *("EQUAL", "ASSIGN", "NOT_EQUAL", "GREATER_EQUAL"),
    ]


@pytest.mark.parametrize("text", ["0", "10", "1.5", "1.", ".5", "1e3", "1.5E-3", "1e+3"])
def test_numbers(text: str) -> None:
    assert words(text) == [("NUMBER", text)]


@pytest.mark.parametrize(
    "comment", ["// to the end", "/* a */", "/* a\n * b\n **/", "/***/", "/* µ → ∑ */", "// é ' \" $ \\"]
)
def test_comments(comment: str) -> None:
    assert kinds(f"a {comment}\n b") == ["NAME", "NAME"]


def test_comments_do_not_nest() -> None:
    assert kinds("/* /* */ a") == ["NAME"]


def test_a_comment_may_end_the_file() -> None:
    assert kinds("a // no line end") == ["NAME"]


def test_line_ends_tabs_and_a_mark_do_not_shift_positions() -> None:
    for text in (
        "model_input x;\r\n\ta = y;\r\n",
        "\ufeffmodel_input x;\n\ta = y;\n",
        "model_input x;\r\ta = y;",
    ):
        with pytest.raises(TablaError) as caught:
            parse(Source.from_text(text))
        assert (caught.value.line, caught.value.column) == (2, 6)


def test_characters_after_wide_ones_keep_their_column() -> None:
    with pytest.raises(TablaError) as caught:
        parse(Source.from_text("/* größe ∑ */ a = y;"))
    assert (caught.value.line, caught.value.column) == (1, 19)


@pytest.mark.parametrize("character", list('@#$%^&|~`?\\{}"!.\x00\x7f\u200b\ud800\U0001f600'))
def test_every_stray_character_is_named(character: str) -> None:
    with pytest.raises(TablaError, match="stray character") as caught:
        parse(Source.from_text(f"a = 1 {character}\n;"))
    assert (caught.value.line, caught.value.column) == (1, 7)


@pytest.mark.parametrize("digits", [399, 400])
def test_long_numbers_are_held_exactly(digits: int) -> None:
    text = "1" * digits
    with pytest.raises(TablaError, match="computes nothing"):
        parse(Source.from_text(f"a = {text};"))


@pytest.mark.parametrize("number", ["1" * 401, "1" * 10_000, "1e401", "1e-401", "1e" + "9" * 5000, "0." + "1" * 400])
def test_longer_numbers_are_refused(number: str) -> None:
    with pytest.raises(TablaError, match="too long"):
        parse(Source.from_text(f"a = {number};"))
