"""Mutations of texts and of bytes: what slips, damaged files and ill will make of an input that is right."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

_WORD = re.compile(r"\w+|\s+|[-+*/%<>=!&|:]+|[^\w\s]")
_NAME = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"\d[\w.]*")
NUMBERS = (
    *("0", "1", "2", "3", "7", "-1", "0.5", "0.0", "1e9", "1e-9", "1e308", "1e-400", "1e999", "00", "0x1F", "0b1"),
    *("127", "128", "129", "255", "256", "65535", "65536", "65537", "100000", "1000003", "2147483647", "2147483648"),
    *("4294967296", "9223372036854775807", "9223372036854775808", "18446744073709551616", "1" + "0" * 40, "nan", "inf"),
    *("9" * 400, "9" * 4301, "0." + "3" * 400, "1.5.5", "1__0", "१२", "٣"),
)
CHARACTERS = (
    *"()[]{}<>,;:.?!$#@&|^~'\"\\/=+-*% \n\t",
    *("\0", "\r", "\r\n", "\v", "\f", "\x1b", "\x7f", "\x85", "\u2028", "\ufeff", "é", "e\u0301", "λ", "İ", "ſ"),
    *("\u202e", "\u200b", "\U0001f600", "\ufffd", "\U000e0001", "/*", "*/", "//", "'''", '"""', "${", "%s", "{0}"),
)
Change = Callable[[list[str], Random, Sequence[str]], None]


def _place(words: list[str], chance: Random) -> int:
    """Return the place of a word, rather one that is no white space."""
    at = chance.randrange(len(words))
    return at if not words[at].isspace() else chance.randrange(len(words))


def _delete(words: list[str], chance: Random, _: Sequence[str]) -> None:
    at = _place(words, chance)
    del words[at : at + chance.choice((1, 1, 1, 2, 5))]


def _double(words: list[str], chance: Random, _: Sequence[str]) -> None:
    at = _place(words, chance)
    words[at:at] = words[at : at + chance.choice((1, 1, 3, 8))]


def _exchange(words: list[str], chance: Random, _: Sequence[str]) -> None:
    one, other = _place(words, chance), _place(words, chance)
    words[one], words[other] = words[other], words[one]


def _replace(words: list[str], chance: Random, vocabulary: Sequence[str]) -> None:
    words[_place(words, chance)] = chance.choice(vocabulary)


def _insert(words: list[str], chance: Random, vocabulary: Sequence[str]) -> None:
    words.insert(_place(words, chance), f" {chance.choice(vocabulary)} ")


def _number(words: list[str], chance: Random, _: Sequence[str]) -> None:
    places = [at for at, word in enumerate(words) if _NUMBER.fullmatch(word)]
    if places:
        words[chance.choice(places)] = chance.choice(NUMBERS)


def _name(words: list[str], chance: Random, _: Sequence[str]) -> None:
    places = [at for at, word in enumerate(words) if _NAME.fullmatch(word)]
    if places:
        words[chance.choice(places)] = words[chance.choice(places)]


def _character(words: list[str], chance: Random, _: Sequence[str]) -> None:
    at = _place(words, chance)
    cut = chance.randint(0, len(words[at]))
    words[at] = words[at][:cut] + chance.choice(CHARACTERS) + words[at][cut:]


def _cut(words: list[str], chance: Random, _: Sequence[str]) -> None:
    del words[chance.randint(1, len(words)) :]


def _nest(words: list[str], chance: Random, _: Sequence[str]) -> None:
    at, depth = _place(words, chance), chance.choice((1, 2, 20, 200, 2000))
    opened, closed = chance.choice(("()", "[]", "{}", "<>", ("-", ""), ("(", ""), ("f(", ")")))
    words[at] = opened * depth + words[at] + closed * depth


def _repeat(words: list[str], chance: Random, _: Sequence[str]) -> None:
    at = _place(words, chance)
    words[at : at + 4] = words[at : at + 4] * chance.choice((2, 10, 100, 1000))


def _lines(words: list[str], chance: Random, _: Sequence[str]) -> None:
    lines = "".join(words).split("\n")
    at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(3):
        case 0:
            del lines[at]
        case 1:
            lines.insert(other, lines[at])
        case _:
            lines[at], lines[other] = lines[other], lines[at]
    words[:] = _WORD.findall("\n".join(lines))


_MILD: tuple[tuple[Change, int], ...] = ((_number, 4), (_name, 4), (_lines, 2))
"""Changes after which a text may still be right."""
_WILD: tuple[tuple[Change, int], ...] = (
    *((_delete, 4), (_double, 3), (_exchange, 4), (_replace, 5), (_insert, 4), (_number, 4), (_name, 4)),
    *((_character, 3), (_cut, 1), (_nest, 1), (_repeat, 1), (_lines, 3)),
)


def mutated_text(text: str, chance: Random, vocabulary: Sequence[str]) -> str:
    """Return a text with one to six changes. `vocabulary` are words to put into it, those of the language above all."""
    words = _WORD.findall(text)
    changes, weights = zip(*chance.choice((_MILD, _MILD, _WILD, _WILD, _WILD)), strict=True)
    for change in chance.choices(changes, weights, k=chance.choice((1, 1, 1, 2, 3, 6))):
        if words:
            change(words, chance, vocabulary)
    return "".join(words)


def mutated_bytes(data: bytes, chance: Random) -> bytes:
    """Return bytes with one to eight changes: bits turned, pieces taken out, doubled, exchanged or cut off."""
    made = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4, 8))):
        if not made:
            break
        at, length = chance.randrange(len(made)), chance.choice((1, 1, 2, 4, 16))
        match chance.randrange(7):
            case 0:
                made[at] ^= 1 << chance.randrange(8)
            case 1:
                made[at : at + length] = chance.randbytes(length)
            case 2:
                del made[at : at + length]
            case 3:
                made[at:at] = made[at : at + length]
            case 4:
                made[at : at + length] = chance.choice((b"\0", b"\xff", b"\x7f", b"\x80")) * length
            case 5:
                other = chance.randrange(len(made))
                made[at : at + length] = made[other : other + length]
            case _:
                if chance.randrange(4) == 0:
                    del made[at:]
    return bytes(made)
