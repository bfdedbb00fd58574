"""The grammar of the TABLA language, from the rules that its parser runs."""

from __future__ import annotations

import inspect
import re

from tabla.languages.tabla import grammar, lexer


def page() -> str:
    """Return the rules as one code block, in the order of the source."""
    rules: dict[str, list[str]] = {}
    found = [f for name, f in vars(grammar).items() if name.startswith("p_") and inspect.isfunction(f)]
    for function in sorted(found, key=lambda f: f.__code__.co_firstlineno):
        for rule in re.split(r"\n\s*(?=\w+ :)", inspect.getdoc(function) or ""):
            name, _, choices = rule.partition(":")
            rules.setdefault(name.strip(), []).extend(choice.strip() for choice in choices.split("|"))
    width = max(map(len, rules))
    lines = []
    for name, choices in rules.items():
        # A rule with the word `error` is how the parser goes on after a fault. It is no part of the language.
        legal = [_shown(choice) for choice in choices if "error" not in choice.split()]
        lines += [f"{name if not n else '':{width}} {'|' if n else ':'} {choice}" for n, choice in enumerate(legal)]
    return "\n".join(["```text", *lines, "```"])


def _shown(choice: str) -> str:
    """Return one alternative of a rule with signs and keywords in place of the parser's names of them."""
    words = re.sub(r"%prec \w+", "", choice).split()
    return " ".join(map(_symbol, words)) if words else "(nothing)"


def _symbol(token: str) -> str:
    keyword = {kind: word for word, kind in (lexer.KEYWORDS | lexer.ORDERS).items()}.get(token)
    sign = getattr(lexer, f"t_{token}", None)
    if keyword:
        return f"'{keyword}'"
    return "'" + sign.replace("\\", "") + "'" if isinstance(sign, str) else token
