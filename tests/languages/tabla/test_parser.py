"""Grammar and recovery: precedence, what counts as a statement, where the parser goes on."""

from __future__ import annotations

import copy
import logging

import ply.yacc as ply_yacc
import pytest

from tabla.base.faults import Faults
from tabla.base.source import Source, TablaError
from tabla.languages.tabla import grammar, parse
from tabla.languages.tabla.parser import read
from tabla.languages.tabla.syntax import Assignment, Broken, Call, Expression, Literal, Negation, Operation, Reference
from tabla.languages.tabla.text import program_text


def shape(node: Expression) -> str:
    match node:
        case Literal(value=value):
            return str(value)
        case Reference(name=name, subscripts=subscripts):
            return name.text + "".join(f"[{shape(s)}]" for s in subscripts)
        case Negation(operand=operand):
            return f"(-{shape(operand)})"
        case Operation(operator=operator, left=left, right=right):
            return f"({shape(left)}{operator.value}{shape(right)})"
        case Call(name=name, subscripts=subscripts, arguments=arguments):
            over = "".join(f"[{shape(s)}]" for s in subscripts)
            return f"{name.text}{over}({','.join(map(shape, arguments))})"


def read_one(text: str) -> Expression:
    faults = Faults()
    (item,) = read(Source.from_text(text), faults)
    faults.raise_any()
    assert isinstance(item, Assignment)
    return item.value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b * c", "(a+(b*c))"),
        ("a * b + c", "((a*b)+c)"),
        ("a - b - c", "((a-b)-c)"),
        ("a / b * c", "((a/b)*c)"),
        ("a - b + c", "((a-b)+c)"),
        ("-a * b", "((-a)*b)"),
        ("a * -b", "(a*(-b))"),
        ("- -a", "(-(-a))"),
        ("-a - -b", "((-a)-(-b))"),
        ("a < b + c", "(a<(b+c))"),
        ("a + b > c * d", "((a+b)>(c*d))"),
        ("a < b < c", "((a<b)<c)"),
        ("a <= b == c != d >= e", "((((a<=b)==c)!=d)>=e)"),
        ("a < -b", "(a<(-b))"),
        ("a<-b", "(a<(-b))"),
        ("(a + b) * c", "((a+b)*c)"),
        ("sum[i](x[i] * w[j][i])", "sum[i]((x[i]*w[j][i]))"),
        ("sum[i][j](x)", "sum[i][j](x)"),
        ("norm[i](x[i]) * pi[j](y'[j])", "(norm[i](x[i])*pi[j](y'[j]))"),
        ("min(a, b + 1)", "min(a,(b+1))"),
        ("x[2*i + 1][n - 1]", "x[((2*i)+1)][(n-1)]"),
        ("0.5 + .5 + 5. + 1e-1 + 2E1", "((((1/2+1/2)+5)+1/10)+20)"),
        ("pi * r", "(pi*r)"),
        ("007", "7"),
    ],
)
def test_precedence(text: str, expected: str) -> None:
    assert shape(read_one(f"v = {text};")) == expected


def test_spans_include_parentheses() -> None:
    text = "v = ((a + b)) * f(c);"
    value = read_one(text)
    assert isinstance(value, Operation)
    assert text[value.span.start : value.span.end] == "((a + b)) * f(c)"
    assert text[value.left.span.start : value.left.span.end] == "((a + b))"


def test_the_grammar_has_no_conflicts(caplog: pytest.LogCaptureFixture) -> None:
    # The rules are copied because PLY wants its fault routine in the module; the parser sets its own.
    rules = copy.copy(vars(grammar)) | {"p_error": lambda token: None}
    module = type("Rules", (), {k: staticmethod(v) if callable(v) else v for k, v in rules.items()})
    module.__file__ = grammar.__file__
    log = logging.getLogger("grammar")
    with caplog.at_level(logging.DEBUG, "grammar"):
        parser = ply_yacc.yacc(module=module, write_tables=False, debug=False, errorlog=log)
    assert parser.productions and not caplog.records


def broken_at(text: str) -> list[bool]:
    return [isinstance(item, Broken) for item in read(Source.from_text(text), Faults())]


def test_goes_on_after_a_semicolon() -> None:
    assert broken_at("a = ; b = 1; c = ]; = ; d = 2") == [True, False, True, True, False]


@pytest.mark.parametrize("text", [":A", "model_input model_input", "a = 1; :", "a = ) b", "a = 1; a = (b", ")"])
def test_the_text_may_end_while_it_recovers(text: str) -> None:
    assert broken_at(text)[-1]


def test_a_missing_semicolon_loses_no_statement() -> None:
    assert broken_at("a = 1\nb[2] = 2\nmodel w\niterator i[0:3]\ngradient g -> w") == [False] * 5


def test_empty_statements_are_nothing() -> None:
    assert broken_at(";; a = 1;;") == [False]


def test_broken_statements_know_their_names() -> None:
    _, item, _ = read(Source.from_text("a = 1; b = c + ] d; e = 1;"), Faults())
    assert isinstance(item, Broken) and item.names == {"b", "c", "d"}


def test_parses_do_not_meet() -> None:
    with pytest.raises(TablaError):
        parse(Source.from_text("a = ((((("))
    assert parse(Source.from_text("model_input x; a = x;")).outputs == ("a",)


@pytest.mark.parametrize("depth", [2000, 20_000])
def test_deep_parentheses(depth: int) -> None:
    text = f"model_input x; a = {'(' * depth}x{')' * depth};"
    assert program_text(parse(Source.from_text(text))).endswith("a = x;\n")


@pytest.mark.parametrize("opening", ["-(", "1 + (", "abs(", "a["])
def test_deep_nesting_is_refused(opening: str) -> None:
    closing = "]" if opening.endswith("[") else ")"
    text = f"model_input x; a = {opening * 2000}x{closing * 2000};"
    with pytest.raises(TablaError, match="nested 20"):
        parse(Source.from_text(text))


def test_unclosed_nesting_is_refused() -> None:
    with pytest.raises(TablaError, match="expected a value"):
        parse(Source.from_text("a = " + "(" * 20_000))


@pytest.mark.parametrize("operator", ["+", "-", "*", "/", "<"])
def test_long_chains_are_not_deep(operator: str) -> None:
    text = "model_input x;\na = " + f" {operator} ".join(["x"] * 5000) + ";\n"
    assert program_text(parse(Source.from_text(text))) == text


def test_many_faults_are_cut() -> None:
    with pytest.raises(TablaError) as caught:
        parse(Source.from_text("a = ;\n" * 100))
    assert len(caught.value.more) == 19
    assert "80 further errors are not shown" in str(caught.value)


GARBAGE = ["a = ;\n", "a = b ] c;\n", "@ # $ ", "a = (1\nb = 2\n", "é;\n", "x[", "if (a) { b; }\n"]


@pytest.mark.parametrize("piece", GARBAGE)
def test_large_garbage_is_refused_in_time(piece: str) -> None:
    with pytest.raises(TablaError) as caught:
        parse(Source.from_text(piece * (40_000 // len(piece))))
    assert str(caught.value)
