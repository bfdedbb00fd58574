"""What C++ functions do wrong is said at the place in the text, in the words of C++."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabla.base.source import Source, TablaError
from tabla.languages.tile.program import Elementwise, Program
from tabla.languages.tile_cpp.trace import load, trace
from tests.languages.marked import marked_by
from tests.languages.tile_cpp.references import tutorial

HEADER = "Tensor f(const Tensor& I, const Tensor& J, int n = 2)"
HEAD = f"""{HEADER} {{
  TensorDim M, N, Q;
  TensorIndex i, j, k;
  I.bind_dims(M, N);
  std::vector<int> v{{1, 2}};
"""
SHAPES = {"I": (3, 4), "J": (5,)}


def run(body: str, **arguments: object) -> Program:
    """The program of a function with a body."""
    file = load(Source.from_text(f"{HEAD}  auto O = TensorOutput(M);\n  {body}\n  return O;\n}}\n", "f.cpp"))
    return trace(file, file.function("f"), SHAPES, arguments)


FAULTS = {
    "a_number": ("double huge = 1e400;", "a real number that is too large", "1e400"),
    "bind_again": ("J.bind_dims(M);", "dimension 0 of 'J' is 5, but 'M' is 3 already", "J.bind_dims(M)"),
    "bind_rank": ("J.bind_dims(M, N);", "'J' has 1 dimensions, 2 are bound", "J.bind_dims(M, N)"),
    "bind_what": ("J.bind_dims(i);", "bind_dims binds an index variable", "J.bind_dims(i)"),
    "unbound": ("O = TensorOutput(Q);", "the dimension 'Q' is used before it has a size", "TensorOutput(Q)"),
    "rank": ("O(i) += I(i);", "'I' has 2 dimensions and 1 subscripts", "I(i)"),
    "write_rank": ("O(i, j) += I(i, j);", "'O' has 1 dimensions and 2 subscripts", "O(i, j) += I(i, j)"),
    "twice": ("O(i) += I(i, j); O(i) += I(i, j);", "'O' is written twice", "O(i) += I(i, j)"),
    "unwritten": ("", "'O' is used before it is written", HEADER),
    "three_tensors": ("O(i) += I(i, j) * I(i, k) * J(j);", "at most two tensors", "I(i, j) * I(i, k) * J(j)"),
    "minus": ("O(i) += -I(i, j);", "only '*' or '+' of two", "-I(i, j)"),
    "aggregation": ("O(i) -= I(i, j);", "'-=' is no aggregation", "O(i) -= I(i, j)"),
    "input_written": ("I(i, j) += J(j);", "'I' is not an output", "I(i, j) += J(j)"),
    "whole_tensor": ("O(i) += I(i, j) * J;", "a whole tensor", "I(i, j) * J"),
    "element_elementwise": ("return I + J(k);", "an element of a tensor and a whole tensor", "I + J(k)"),
    "unbounded": ("O(i) += I(i, j - k);", "nothing bounds the index variable", "O(i) += I(i, j - k)"),
    "not_linear": ("O(i * j) += I(i, j);", "is not linear", "i * j"),
    "fraction": ("O(i) += I(i * 0.5, j);", "an index variable and a real number", "i * 0.5"),
    "remainder": ("O(i) += I(i % 2, j);", "a remainder of an index variable", "i % 2"),
    "constraint_first": ("O.add_constraint(j < 2);", "no statement to constrain", "O.add_constraint(j < 2)"),
    "constraint_late": (
        "O(i) += I(i, j); auto P = -O; O.add_constraint(j < 2);", "'O' was used already", "O.add_constraint(j < 2)"
    ),
    "constraint_form": ("O(i) += I(i, j); O.add_constraint(j <= i);", "is not a constraint", "j <= i"),
    "constraint_of_indices": ("O(i) += I(i, j); O.add_constraint(j < i);", "depends on an index", "j < i"),
    "constraint_turned": ("O(i) += I(i, j); O.add_constraint(2 > j);", "index variables on its left", "2 > j"),
    "constraint_of_sizes": ("O(i) += I(i, j); O.add_constraint(M < N);", "a truth value", "O.add_constraint(M < N)"),
    "broadcast": ("return I + J;", "shapes (3, 4) and (5,) do not broadcast", "I + J"),
    "choice_by_tensor": ("return I > 0 ? I : -I;", "not known while the function is read", "I > 0"),
    "if_tensor": ("if (I > 0) return I;", "not known while the function is read", "I > 0"),
    "not_tensor": ("return !I;", "'!' of a tensor", "!I"),
    "and_of_tensors": ("return I > 0 && I < 1;", "as '&&' asks", "I > 0 && I < 1"),
    "bits_of_floats": ("return I & I;", "'&' is an operator of integers", "I & I"),
    "maximum_inside": ("auto P = O(i) >= I(i, j);", "a maximum inside of an expression", "O(i) >= I(i, j)"),
    "comparison": ("O(i) == I(i, j);", "'==' is not a statement", "O(i) == I(i, j)"),
    "no_effect": ("I + 1;", "this statement has no effect", "I + 1"),
    "an_element_alone": ("I(i, j);", "this statement has no effect", "I(i, j)"),
    "element_kept": ("Tensor P = I(i, j);", "an element is not a tensor", "P = I(i, j)"),
    "whole_sum": ("O += I;", "'+=' of a whole tensor", "O += I"),
    "called_number": ("O(i) += n(i);", "a whole number has no elements (...)", "n"),
    "subscripted_tensor": ("O(i) += I[i];", "a tensor has no elements [...]", "I[i]"),
    "position": ("n = v[2];", "position 2 of a vector of 2 elements", "v[2]"),
    "position_of_index": ("n = v[i];", "an index variable has no one value", "v[i]"),
    "position_to_set": ("v[5] = 1;", "position 5 of a vector of 2 elements", "v[5] = 1"),
    "tensor_as_subscript": ("O(i) += I(J, j);", "a tensor is not a subscript", "I(J, j)"),
    "real_subscript": ("O(i) += I(0.5, j);", "a real number is not a subscript", "I(0.5, j)"),
    "uninitialised": ("int q; n = q;", "'q' is used before it has a value", "q"),
    "narrowed": ("int q = 1.5;", "1.5 in a variable of type 'int'", "q = 1.5"),
    "unsigned": ("size_t q = n - 3;", "-1 does not fit in 'size_t'", "q = n - 3"),
    "byte": ("uint8_t q = 256;", "256 does not fit in 'uint8_t'", "q = 256"),
    "product": ("int64_t q = 9223372036854775807; q = q * q;", "is too large", "q * q"),
    "division": ("n = n / 0;", "a division by zero", "n / 0"),
    "size_by_zero": ("O = TensorOutput(M / (n - n));", "a size is divided by zero", "TensorOutput(M / (n - n))"),
    "cast_too_large": ("n = (int)1e300;", "10000000000000000525... does not fit in 'int'", "(int)1e300"),
    "shift": ("n = n << 64;", "a shift by 64", "n << 64"),
    "shift_in_place": ("n <<= 64;", "a shift by 64", "n <<= 64"),
    "shifted_into": ("O(i) <<= I(i, j);", "'<<=' is no aggregation", "O(i) <<= I(i, j)"),
    "cast_of_an_element": ("O(i) += (float)I(i, j);", "an element of a tensor is not a finite", "(float)I(i, j)"),
    "root": ("float q = sqrt(-1.0);", "sqrt(-1.0) is no real number", "sqrt(-1.0)"),
    "text": ("n = n + \"a\";", "'+' of a whole number and a text", "n + \"a\""),
    "type_of_dim": ("TensorDim D = I;", "a tensor where the type is 'TensorDim'", "D = I"),
    "type_of_vector": ("std::vector<int> w = I;", "a tensor where the type is 'std::vector<int>'", "w = I"),
    "auto_alone": ("auto q;", "'auto' needs a value", "auto"),
    "auto_braces": ("auto q = {1, 2};", "'auto' of values in braces", "q = {1, 2}"),
    "void": ("void q;", "a variable of type 'void'", "void"),
    "long_vector": ("std::vector<int> w(100000);", "a vector of 100000 elements", "w(100000)"),
    "endless": ("for (;;) {}", "runs more than 100,000 statements", "{}"),
    "endless_size": ("for (size_t q = 3; q >= 0; --q) {}", "-1 does not fit in 'size_t'", "--q"),
    "member": ("O.bind(M);", "a tensor has no member 'bind'", "O.bind(M)"),
    "member_arguments": ("v.push_back();", "'push_back' of a vector does not take", "v.push_back()"),
    "member_of_number": ("n.size();", "a whole number has no member 'size'", "n.size()"),
    "member_alone": ("n = v.size;", "'size' is not called", "v.size"),
    "arguments": ("O = sqrt();", "'sqrt' is called with 0 arguments", "sqrt()"),
    "argument": ("O = sqrt(i);", "argument 1 of 'sqrt' is an index variable, not a tensor or a number", "sqrt(i)"),
    "axis": ("O = index(I, 2);", "axis 2 of a shape of 2 dimensions", "index(I, 2)"),
    "reshape": ("O = reshape(I, {5, 2});", "12 elements of shape (3, 4) do not fill (5, 2)", "reshape(I, {5, 2})"),
    "cast": ('O = cast(I, "int7");', "cast to 'int7'", 'cast(I, "int7")'),
    "bits": ("O = as_int(I, 7);", "a type of 7 bits", "as_int(I, 7)"),
    "names": ("auto [a, b] = topk(J, 2, 0).x();", "has no member 'x'", "topk(J, 2, 0).x()"),
    "too_many_names": ("auto [a, b, c] = topk(J, 2);", "2 values for 3 names", "auto [a, b, c] = topk(J, 2)"),
    "nothing": ("O = update(I, I, 0.5);", "this call returns nothing", "update(I, I, 0.5)"),
    "returns_number": ("return 3;", "'f' returns a whole number", HEADER),
    "returns_nothing": ("return;", "'f' returns nothing", HEADER),
    "itself": ("O = f(I, J);", "functions call each other more than 32 deep", "f(I, J)"),
    "own_arguments": ("O = f(I);", "'f' is called with 1 argument", "f(I)"),
    "loss_shape": ("return gradient(I, {J})[0];", "the loss has shape (3, 4)", "gradient(I, {J})"),
    "builder": ("O = Contraction().outShape(N).sum(I(i, j)).build();", "the contraction lacks outAccess", None),
    "reference": ("int& q = n; q = 3;", "'q' is a reference, and is set", "q = 3"),
    "reference_to_element": ("for (auto& e : v) e = 3;", "'e' is a reference, and is set", "e = 3"),
    "own_statement": ("O(i) += O(i) * J(i);", "on both sides", "O(i)"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_points_at_the_users_text(name: str) -> None:
    body, message, marked = FAULTS[name]
    with pytest.raises(TablaError) as caught:
        run(body)
    fault = caught.value
    assert message in fault.message
    assert marked is None or marked_by(fault) == marked
    assert fault.hint
    assert not re.search(r"\[\(\)\]|//|[A-Z]\[[a-z]", fault.hint), "a hint in the words of Python"


SENTENCES = {
    "semicolon": ("O(i) += I(i, j) return O;", "expected an operator or ';', not 'return'", "return"),
    "bracket": ("O(i += I(i, j);", "expected an operator, ',' or ')', not '+='", "+="),
    "nothing": ("O(i) += ;", "expected a value, not ';'", ";"),
    "while": ("while (n < 3) n = 3;", "expected a statement or '}', not 'while'", "while"),
    "lambda": ("auto g = [](int x) { return x; };", "expected a value, not '['", "["),
    "pointer": ("Tensor* P = I;", "expected", "*"),
    "type": ("Tesnor P = I;", "expected", "P"),
    "for": ("for (int q = 0; q < 3) n = q;", "expected an operator or ';', not ')'", ")"),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_what_the_grammar_does_not_have(name: str) -> None:
    body, message, marked = SENTENCES[name]
    with pytest.raises(TablaError) as caught:
        run(body)
    fault = caught.value
    assert fault.message.startswith(message)
    assert marked_by(fault) == marked
    assert (fault.line, fault.hint is not None) == (7, True)


HABITS = {
    "while (n) { n = 1; }": "write a loop as for",
    "for q in range(3): n = q;": "write a loop as for",
    "if n > 1 { n = 2; }": "a condition stands in brackets",
    "else n = 3;": "an else follows",
    "n = n and 1;": "write && for and",
    "n = not n;": "write ! for not",
    "n = n ** 2;": "write pow",
    "n = I->rank();": "a member stands behind a dot",
    "int w[3];": "a vector is written std::vector<int> w(3)",
    "auto g = [](int x) { return x; };": "there are no functions inside",
    "unsigned long long q = 3;": "write size_t",
    "static int q = 1;": "leave it out",
    "using namespace std;": "leave it out",
    "O(i) += I(i, j) where j < 2;": "a constraint is a statement of its own",
    "def g(x): return x;": "a function is written Tensor g",
    "O(i) += cast<float>(I);": "a Tile function has",
}
"""What programmers of C, of Python and of contractions write, and how the cure begins."""


@pytest.mark.parametrize("body", HABITS)
def test_a_habit_of_another_language_has_its_cure(body: str) -> None:
    with pytest.raises(TablaError) as caught:
        run(body)
    assert (caught.value.hint or "").startswith(HABITS[body])
    assert caught.value.line == 7


FILES = {
    "using Tensor = plaidml::edsl::Tensor;": "leave it out, and write the type itself",
    "static const int N = 3;": "a file holds functions alone: write N inside of a function",
    "int N{3};": "a file holds functions alone: write N inside of a function",
    "Tensor g(Tensor);": "every parameter has a name, too",
    "Tensor g(const Tensor&, int n) { return n; }": "every parameter has a name, too",
    "Tensor g(const Tensor& J) { return J * 3ab; }": "a number is written 12, 0x1F",
    "Tensor g(const Tensor& J) { return J * 'a'; }": "a text is written",
}
"""What stands beside the functions of a file, and how the cure begins."""


@pytest.mark.parametrize("line", FILES)
def test_what_a_file_does_not_have(line: str) -> None:
    with pytest.raises(TablaError) as caught:
        load(Source.from_text(f"{line}\nTensor f(const Tensor& I) {{ return I; }}\n", "f.cpp"))
    assert (caught.value.hint or "").startswith(FILES[line])
    assert caught.value.line == 1 and not caught.value.more


@pytest.mark.parametrize(
    "line",
    ["using namespace plaidml::edsl;", "using plaidml::edsl::Tensor;", "using std::vector;",
     "namespace edsl = plaidml::edsl;", "#include <vector>", "#pragma once", ";"],
)  # fmt: skip
def test_names_of_name_spaces_are_passed_over(line: str) -> None:
    file = load(Source.from_text(f"{line}\nedsl::Tensor f(const Tensor& I) {{ return -I; }}\n", "f.cpp"))
    assert len(trace(file, file.function("f"), {"I": (3,)}).outputs) == 1


def test_reading_goes_on_at_the_next_statement() -> None:
    with pytest.raises(TablaError) as caught:
        run("O(i += I(i, j); n = 3; n = ; n = n;")
    assert [fault.message for fault in (caught.value, *caught.value.more)] == [
        "expected an operator, ',' or ')', not '+='",
        "expected a value, not ';'",
    ]


NAMES = {
    "n = q;": ("'q' is not declared", "declare it first: TensorDim q; or auto q = ..."),
    "q(i) += I(i, j);": ("'q' is not declared", "docs/tile-cpp.md has the functions"),
    "n = vv[0];": ("'vv' is not declared", "did you mean 'v'?"),
    "O = sqrtt(I);": ("'sqrtt' is not declared", "did you mean 'sqrt'?"),
    "auto [a, b] = TensorDims(2);": ("'TensorDims' is not declared", "declare sizes: TensorDim M, N;"),
    "O = sqrt;": ("'sqrt' is a function", "call it: sqrt(...)"),
    "int n = 3;": ("'n' is declared twice", "give one of them another name"),
    "{ int q = 1; } n = q;": ("'q' is not declared", "declare it first: TensorDim q; or auto q = ..."),
    "for (int q = 0; q < 2; ++q) {} n = q;": ("'q' is not declared", "declare it first: TensorDim q; or auto q = ..."),
    "if (n) { q = 3; }": ("'q' is not declared", "declare it first: TensorDim q; or auto q = ..."),
    "n = DType::INT9;": ("'DType::INT9' is not declared", "declare it first"),
}


@pytest.mark.parametrize("body", NAMES)
def test_names_are_declared_once_and_before_they_are_used(body: str) -> None:
    message, hint = NAMES[body]
    with pytest.raises(TablaError) as caught:
        run(body)
    assert caught.value.message == message
    assert (caught.value.hint or "").startswith(hint)


def test_an_inner_scope_may_use_a_name_again() -> None:
    run("{ int n = 3; n = n + 1; } for (int n = 0; n < 2; ++n) { int q = n; } O(i) += I(i, j);")


def test_a_variable_that_is_set_without_a_declaration() -> None:
    """One example of the tutorial does so."""
    text = tutorial()["avg_1"]
    file = load(Source.from_text(text, "avg.cpp"))
    (name,) = file.implied["avg"]
    assert (name.text, name.span.line, name.span.column) == ("PartialMean", 7, 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no function"),
        ("int x = 3;", "expected '(', not '='"),
        ("#define N 3\nTensor f(const Tensor& I) { return I; }", "stray character '#'"),
        ("Tensor f(const Tensor& I) { return I; /* }", "this comment has no end"),
        ("Tensor f(const Tensor& I) { return I; ", "expected a statement or '}', not the end of the file"),
        ("Tensor f(I) { return I; }", "expected a type or ')', not 'I'"),
        ("Tensor f(const Tensor& I) { return I; }\nTensor f(const Tensor& J) { return J; }", "two functions 'f'"),
        ("Tensor f(const Tensor& I) { return " + "(" * 200 + "I" + ")" * 200 + "; }", "more than 120 deep"),
        ("Tensor f(const Tensor& I) { return I" + " + I" * 200 + "; }", "is nested 200 deep"),
        ("Tensor f(const Tensor& I) { return I * 012; }", "'012' begins with a 0"),
        ("Tensor f(const Tensor& I) { return I * 1e999999; }", "the number '1e999999' is too long"),
    ],
)
def test_a_file_that_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(TablaError) as caught:
        load(Source.from_text(text, "f.cpp"))
    assert message in caught.value.message
    assert caught.value.hint and caught.value.labels


@pytest.mark.parametrize(
    ("shapes", "arguments", "message"),
    [
        ({"I": (3, 4)}, {}, "'J' of 'f' has no shape"),
        ({"I": (3, 4), "J": (5,), "K": (1,)}, {}, "'f' has no parameter 'K'"),
        ({"I": (3, 0), "J": (5,)}, {}, "has no elements"),
        ({"I": (3, 4), "J": (5,)}, {"n": 2.5}, "2.5 where the type is 'int', which holds whole numbers"),
        ({"I": (3, 4), "J": (5,)}, {"n": float("inf")}, "--arg n: inf is no finite number"),
        ({"I": (3, 4), "J": (5,)}, {"n": "nan"}, "a text where the type is 'int'"),
        ({"I": (3, 4), "J": (5,)}, {"n": (1, 2)}, "a vector where the type is 'int'"),
        ({"I": (3, 4), "J": (5,)}, {"n": {}}, "--arg n: a dict is no value of C++"),
        ({"I": (3, 4), "J": (5,), "n": (1,)}, {}, "'n' is a 'int' and has a shape"),
        ({"I": (3, 4)}, {"J": 3}, "'J' is a tensor"),
    ],
)
def test_parameters(shapes: dict[str, tuple[int, ...]], arguments: dict[str, object], message: str) -> None:
    file = load(Source.from_text(HEAD + "  return I;\n}\n", "f.cpp"))
    with pytest.raises(TablaError) as caught:
        trace(file, file.function("f"), shapes, arguments)
    assert message in caught.value.message
    assert caught.value.line == 1 and caught.value.hint


@pytest.mark.parametrize(
    ("type", "value", "message", "hint"),
    [
        ("float", "inf", "a text where the type is 'float'", "write --arg p=1.5"),
        ("float", (1, 2), "a vector where the type is 'float'", "write --arg p=1.5"),
        ("float", -float("inf"), "--arg p: -inf is no finite number", "write --arg p=1.5, or another"),
        ("bool", "maybe", "a text where the type is 'bool'", "write --arg p=1"),
        ("TensorDim", 1.5, "1.5 where the type is 'TensorDim', which holds whole numbers", "write --arg p=2"),
        ("std::string", 1, "a whole number where the type is 'std::string'", "write --arg p=same"),
        ("std::vector<int>", (1, 2.5), "2.5 where the type is 'int', which holds whole numbers", "write --arg p=2,2"),
        ("std::vector<float>", (1, float("nan")), "--arg p: nan is no finite number", "write --arg p=1.5,1.5, or"),
    ],
)
def test_an_argument_of_another_type_names_the_option(type: str, value: object, message: str, hint: str) -> None:
    file = load(Source.from_text(f"Tensor f(const Tensor& I, {type} p) {{ return I; }}\n", "f.cpp"))
    with pytest.raises(TablaError) as caught:
        trace(file, file.function("f"), {"I": (3,)}, {"p": value})
    assert caught.value.message == message and marked_by(caught.value) == f"{type} p"
    assert (caught.value.hint or "").startswith(hint)


@pytest.mark.parametrize(
    ("type", "value", "read"),
    [("std::vector<int>", 3, "p[0] == 3"), ("bool", "true", "p"), ("bool", 0, "!p"), ("int", 2.0, "p == 2"),
     ("std::string", "same", 'p == "same"'), ("std::vector<std::vector<int>>", [[1], [2, 3]], "p[1][1] == 3")],
)  # fmt: skip
def test_an_argument_becomes_a_value_of_its_type(type: str, value: object, read: str) -> None:
    text = f"Tensor f(const Tensor& I, const {type}& p) {{ if ({read}) {{ return -I; }} return I * 0; }}\n"
    file = load(Source.from_text(text, "f.cpp"))
    (output,) = trace(file, file.function("f"), {"I": (3,)}, {"p": value}).outputs
    assert isinstance(output, Elementwise) and output.operator == "negate"


def test_a_vector_of_tensors_is_no_parameter() -> None:
    file = load(Source.from_text("Tensor f(const std::vector<Tensor>& I) { return I[0]; }", "f.cpp"))
    with pytest.raises(TablaError, match="'I' is a vector of tensors"):
        trace(file, file.function("f"), {})


def test_which_function() -> None:
    text = (
        "Tensor f(const Tensor& I); Tensor g(const Tensor& I) { return f(I); } Tensor f(const Tensor& I) { return I; }"
    )
    file = load(Source.from_text(text, "f.cpp"))
    trace(file, file.function("g"), {"I": (2,)})
    with pytest.raises(TablaError, match=re.escape("'f.cpp' has 2 functions")):
        file.function(None)
    with pytest.raises(TablaError, match="has no function 'h'"):
        file.function("h")


_PIECES = st.sampled_from(
    "Tensor TensorDim TensorIndex f I O i M ( ) { } [ ] ; , = += >= < > + - * / & ? : 1 0.5 return for if auto "
    'const std::vector .bind_dims .size while \\ # " // /* TensorOutput sqrt'.split()
)


@given(st.lists(_PIECES, max_size=30))
def test_no_text_is_a_fault_of_ours(pieces: list[str]) -> None:
    for text in (" ".join(pieces), f"{HEAD} {' '.join(pieces)} return I; }}"):
        try:
            file = load(Source.from_text(text, "f.cpp"))
            trace(file, file.function(None), SHAPES)
        except TablaError as fault:
            assert str(fault).startswith("error: ")
