"""What is read and how: lexis, precedence, types, statements of both references."""

from __future__ import annotations

import pytest

from tabla.base.source import Source, TablaError
from tabla.languages.tc import Function, parse
from tabla.languages.tc import program as tree
from tabla.languages.tc.program import Assign, CallStatement, Value

HEAD = "def f(float(N) A, int32(N) I, uint8(N) U, int8(N) S, half(N) H, double(N) D, bool(N) P, float s, int64 L)"


def function_of(body: str, returns: str = "B") -> Function:
    return parse(Source.from_text(f"{HEAD} -> ({returns}) {{ {body} }}", "k.tc")).function()


def first(body: str) -> Assign:
    statement = function_of(body).statements[0]
    assert isinstance(statement, Assign)
    return statement


def shown(value: Value) -> str:
    """A value with all its parentheses."""
    match value:
        case tree.Constant(value=number):
            return str(number)
        case tree.SizeVariable(name=name) | tree.Index(name=name):
            return name
        case tree.Extent(tensor=tensor, axis=axis):
            return f"{tensor}.{axis}"
        case tree.Read(tensor=tensor, subscripts=subscripts):
            return f"{tensor}({','.join(map(shown, subscripts))})" if subscripts else tensor
        case tree.Convert(operand=operand, scalar=scalar):
            return f"{scalar}({shown(operand)})"
        case tree.Unary(operator=operator, operand=operand):
            return f"({operator}{shown(operand)})"
        case tree.Binary(operator=operator, left=left, right=right):
            return f"({shown(left)}{operator}{shown(right)})"
        case tree.Choice(condition=condition, chosen=chosen, other=other):
            return f"({shown(condition)}?{shown(chosen)}:{shown(other)})"
        case tree.Apply(function=function, arguments=arguments):
            return f"{function}({','.join(map(shown, arguments))})"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("A(i) + A(i) * s", "(A(i)+(A(i)*s))"),
        ("A(i) * 3L - 0x1fLL + 00", "(((A(i)*3)-31)+0)"),
        ("A(i) * 1.5L + 2e1f", "((A(i)*3/2)+20)"),
        ("A(i) - s - s", "((A(i)-s)-s)"),
        ("A(i) / s * s % s", "(((A(i)/s)*s)%s)"),
        ("-A(i) * s", "((-A(i))*s)"),
        ("!P(i) && P(i) || P(i)", "(((!P(i))&&P(i))||P(i))"),
        ("P(i) || P(i) && P(i)", "(P(i)||(P(i)&&P(i)))"),
        ("A(i) + 1 < s * 2", "((A(i)+1)<(s*2))"),
        ("P(i) ? A(i) : P(i) ? s : A(i) + 1", "(P(i)?A(i):(P(i)?s:(A(i)+1)))"),
        ("A(i) < s == P(i)", "((A(i)<s)==P(i))"),
        ("min(A(i), max(s, 1))", "min(A(i),max(s,1))"),
        ("float(I(i)) / N", "(float32(I(i))/N)"),
        ("A(i) * A.0 + s()", "((A(i)*A.0)+s)"),
        ("A(i) * 0x1F + 1.5f + .5 + 2. + 3E2", "(((((A(i)*31)+3/2)+1/2)+2)+300)"),
        ("A(i) + 2x + inf1 + nano", "(((A(i)+2x)+inf1)+nano)"),
        ("A(i) # a comment ( {\n + s", "(A(i)+s)"),
        ("-3 * A(i)", "(-3*A(i))"),
    ],
)
def test_expressions(written: str, expected: str) -> None:
    ranges = ", ".join(f"{name} in 0:2" for name in ("2x", "inf1", "nano") if name in written)
    operator, where = ("+=!", f" where {ranges}") if ranges else ("=", "")
    assert shown(first(f"B(i) {operator} {written}{where}").value) == expected


@pytest.mark.parametrize(
    ("written", "scalar"),
    [
        ("A(i) * I(i)", "float32"),
        ("I(i) * L", "int64"),
        ("U(i) + S(i)", "int8"),
        ("U(i) + I(i)", "int32"),
        ("H(i) * H(i)", "float16"),
        ("H(i) * 0.5", "float32"),
        ("A(i) * D(i)", "float64"),
        ("H(i) + L", "float16"),
        ("exp(H(i))", "float32"),
        ("exp(I(i))", "float32"),
        ("sqrt(D(i))", "float64"),
        ("A(i) > 0", "bool"),
        ("P(i) ? I(i) : A(i)", "float32"),
        ("P(i) + P(i)", "int32"),
        ("min(I(i), U(i))", "int32"),
        ("byte(A(i))", "uint8"),
        ("i * N * A.0 + I(i)", "int32"),
        ("3", "int32"),
        ("3e0", "float32"),
    ],
)
def test_types(written: str, scalar: str) -> None:
    assert str(function_of(f"B(i) = {written} where i in 0:N").tensors["B"].scalar) == scalar


@pytest.mark.parametrize(
    ("written", "reduction", "initialise"),
    [("=", None, False), ("+=", "+", False), ("+=!", "+", True), ("*=!", "*", True), ("min=", "min", False),
     ("max=!", "max", True)],
)  # fmt: skip
def test_operators(written: str, reduction: str | None, initialise: bool) -> None:
    statement = first(f"B(i) {written} A(i)")
    assert (statement.reduction, statement.initialise) == (reduction, initialise)


def test_an_exclamation_mark_apart_is_a_not() -> None:
    assert shown(first("B(i) = !P(i)").value) == "(!P(i))" == shown(first("B(i) =!P(i)").value)


def test_annotations_widen() -> None:
    assert str(function_of("B(i) = A(i)", "double(N) B").tensors["B"].scalar) == "float64"
    with pytest.raises(TablaError, match="'B' holds float16, this value is float32"):
        function_of("B(i) = A(i)", "half(N) B")


def test_rank_zero_everywhere() -> None:
    source = Source.from_text("def f(float() s, float t) -> (u, v) { u = s * t v() = u + s }")
    assert parse(source).function().tensors["v"].rank == 0


def test_calls_and_the_last_function() -> None:
    text = (
        "def two(float(N) x) -> (a, b) { a(i) = x(i) b(i) = x(i) }\n"
        "def one(float(N) x) -> (y) { y(i) = x(i) }\n"
        "def f(float(N) A) -> (B, C, D) { B, C = two(A) D = one(B) }\n"
    )
    unit = parse(Source.from_text(text))
    assert unit.function().name == "f" and unit.function("two").results == ("a", "b")
    assert [type(statement) for statement in unit.function().statements] == [CallStatement, CallStatement]
    with pytest.raises(TablaError, match="there is no function 'g'") as caught:
        unit.function("g")
    assert caught.value.hint == "the file defines two, one, f"


def test_a_function_may_stand_before_those_it_calls() -> None:
    text = "def f(float(N) A) -> (B) { B = one(A) }\ndef one(float(N) x) -> (y) { y(i) = x(i) }"
    assert list(parse(Source.from_text(text)).functions) == ["f", "one"]


def test_accumulating_into_the_caller_is_noted() -> None:
    function = function_of("B(i) += A(i)")
    assert function.tensors["B"].initial
    column = f"{HEAD} -> (B) {{ B(i) +=".index("+=") + 1
    note = f"k.tc:1:{column}: '+=' takes the 'B' that the caller passes; '+=!' would start from the identity"
    assert function.notes == (note,)


@pytest.mark.parametrize(
    ("written", "annotated"),
    [
        ("B(i) = A(i)", "B(i) = A(i) <=> copy(A)"),
        ("B(i) +=! A(i + k) where k in 0:2", "B(i) +=! A(i + k) <=> sums(A, k, 1.5 * q(3)) where k in 0:2"),
        ("B max=! A(i)", "B max=! A(i) <=> amax()"),
    ],
)
def test_annotations_of_equivalents_change_nothing(written: str, annotated: str) -> None:
    plain, noted = function_of(written), function_of(annotated)
    assert noted.statements == plain.statements and noted.tensors == plain.tensors and noted.sizes == plain.sizes
    name = annotated.split("<=> ")[1].split("(")[0]
    column = f"{HEAD} -> (B) {{ {annotated}".index("<=>") + 1
    assert noted.notes == (f"k.tc:1:{column}: '<=> {name}' changes nothing: the statement is what is computed",)
    assert plain.notes == ()


def test_the_caller_notes_the_annotations_of_what_it_calls() -> None:
    text = (
        "def g(float(N) x) -> (y) { y(i) = max(x(i), 0.0) <=> relu(x) }\n"
        "def f(float(N) A) -> (B, C) { B = g(A) C = g(B) }\n"
    )
    (note,) = parse(Source.from_text(text, "k.tc")).function().notes
    assert note.startswith(f"k.tc:1:{text.index('<=>') + 1}: '<=> relu'")


def test_where_clauses() -> None:
    statement = first("B(i) +=! x * s where y = s, x = A(i + k) + y, k in 0:2, exists I(i)")
    assert shown(statement.value) == "((A((i+k))+s)*s)"
    assert statement.reduced == ("k",) and [given.index for given in statement.ranges] == ["k"]
    assert [shown(guard) for guard in statement.guards] == ["s", "(A((i+k))+s)", "I(i)"]


def test_temporaries_are_not_returned() -> None:
    function = function_of("t(i) = A(i) B(i) = t(i)")
    assert function.tensors["t"].role == "temporary" and function.results == ("B",)
