"""What to do about a token that does not fit: the hints of syntax faults."""

from __future__ import annotations

from tabla.base.lexemes import Token
from tabla.languages.tabla.lexer import KEYWORDS
from tabla.languages.tabla.operators import FUNCTIONS, GROUP_FUNCTIONS

_DECLARING = frozenset(KEYWORDS.values())
_COMPARING = ("LESS", "GREATER", "ASSIGN", "NOT_EQUAL")
_LOOP = (
    "there is no '{}': an iterator is an index that takes every value of its range in turn; "
    "declare it, and every statement that uses it is the loop: iterator i[0:3]; a[i] = 2 * b[i];"
)
OF_OTHER_LANGUAGES = {
    "for": _LOOP.format("for"),
    "while": "there is no 'while': the statements are computed once for each sample; an iterator runs over a range",
    "if": "there is no 'if'; multiply by a comparison: y = (x < 3) * a + (x >= 3) * b;",
}
"""What stands for statements of other languages here, by the word with which they begin."""
_STARTERS = "a declaration starts with model_input, model_output, model, gradient or iterator"


def cure(statement: list[Token], found: Token | None, kinds: frozenset[str]) -> str:
    """Return how to mend a statement whose tokens so far are `statement`, where `found` stands in place of `kinds`.

    `found` is None at the end of the text.
    """
    kind = found.type if found is not None else None
    text = found.value.text if found is not None else ""
    before = statement[-1] if statement else None
    if before is not None and before.type in _DECLARING and kind == "ASSIGN":
        return f"'{before.value.text}' is a keyword; choose another name"
    if found is not None and kind in _DECLARING:
        return f"'{text}' is a keyword and cannot be a name"
    if kind == "MINUS" and before is not None and before.type == "NAME" and "TIMES" not in kinds:
        return "a name has letters, digits and '_', and no '-'; write '_' in its place"
    if not statement:
        return f"a statement starts with the name that it assigns; {_STARTERS}"
    if statement[0].type in _DECLARING and (hint := _of_declaration(statement[0].type, kind, kinds)):
        return hint
    if "ASSIGN" in kinds:
        return _of_statement(statement, kind)
    if "TIMES" in kinds:
        return _after_value(statement, found, kinds)
    if "NUMBER" in kinds and before is not None:
        return _before_value(before, kind)
    return "see the line above and the brackets before this place"


def _of_declaration(keyword: str, kind: str | None, kinds: frozenset[str]) -> str | None:
    """The cure inside a declaration, None where it is that of any expression."""
    if keyword == "ITERATOR" and ("COLON" in kinds or ("LBRACKET" in kinds and "TIMES" not in kinds)):
        return "an iterator has a start and an end: iterator i[0:10];"
    if "ARROW" in kinds:
        return "a gradient is linked to its model: gradient g -> w;"
    if "NAME" in kinds and "NUMBER" not in kinds:
        return "name what is declared: model_input x[10], y;"
    if "COMMA" in kinds:
        return "variables are separated by ',' and the declaration ends with ';'"
    return None


def _of_statement(statement: list[Token], kind: str | None) -> str:
    """The cure where the left side of an assignment may end."""
    name = statement[0].value.text
    match kind:
        case "NAME" | "LPAREN" if len(statement) == 1 and name in OF_OTHER_LANGUAGES:
            return OF_OTHER_LANGUAGES[name]
        case "NAME":
            return f"there is no '{name}' to declare with; {_STARTERS}"
        case "ARROW":
            return "a link stands in the declaration of its gradient: gradient g -> w;"
        case "LPAREN":
            return "a call stands on the right side of an assignment: y = f(x);"
        case _:
            return f"a statement assigns a value: {name} = ...;"


def _after_value(statement: list[Token], found: Token | None, kinds: frozenset[str]) -> str:
    """The cure where a value has ended and the expression might."""
    closing = "')'" if "RPAREN" in kinds else "']'" if "RBRACKET" in kinds else None
    kind = found.type if found is not None else None
    match kind:
        case "ASSIGN":
            return "a comparison is written '=='; a statement ends with ';' before the next begins"
        case "COMMA" if "RBRACKET" in kinds:
            return "each subscript has its own brackets: a[i][j]"
        case "COLON":
            return "a range stands in an iterator's declaration only: iterator i[0:n];"
        case "SEMICOLON" | None if closing:
            return f"close it with {closing}"
        case "RPAREN" | "RBRACKET":
            return f"close it with {closing}" if closing else "it closes nothing; remove it"
        case _ if _names_function(statement):
            return "what a function is given stands in parentheses: sigmoid(x), sum[i](x[i])"
        case _:
            return "put an operator before it, or end the statement with ';'"


def _before_value(before: Token, kind: str | None) -> str:
    """The cure where a value is missing."""
    match kind:
        case "TIMES" if before.type == "TIMES":
            return "write a power as a product: x * x"
        case "PLUS":
            return "leave out the '+'"
        case "ASSIGN" | "EQUAL" | "GREATER" | "LESS" if before.type in _COMPARING:
            return "the comparisons are < > <= >= == !=, each without a space"
        case _:
            return f"something is missing after '{before.value.text}'"


def _names_function(statement: list[Token]) -> bool:
    """Whether the value that has just ended is the name of a function, perhaps with iterators."""
    at, depth = len(statement) - 1, 0
    while at > 0 and (depth or statement[at].type == "RBRACKET"):
        depth += {"RBRACKET": 1, "LBRACKET": -1}.get(statement[at].type, 0)
        at -= 1
    word = statement[at]
    return word.type == "NAME" and (word.value.text in FUNCTIONS or word.value.text in GROUP_FUNCTIONS)
