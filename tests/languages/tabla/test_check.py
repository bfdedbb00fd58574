"""What an accepted text means: shapes, constants, values, rates, outputs."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tabla.base.source import Source, TablaError
from tabla.graph.graph import Affine
from tabla.languages.tabla import parse
from tabla.languages.tabla.operators import WRITTEN, GroupFunction
from tabla.languages.tabla.program import Assignment, Call, Constant, Group, Index, Kind, Operation, Program, Read
from tabla.languages.tabla.text import assignment_text, program_text

LINEAR = """
mu = 0.1; m = 10;
model_input x[m]; model_output y; model w[m];
gradient g[m] -> w[m];
iterator i[0:m];
h = sum[i](w[i] * x[i]);
d = h - y;
g[i] = d * x[i];
"""


def check(text: str, **defines: str) -> Program:
    return parse(Source.from_text(text), defines)


def fault(text: str, **defines: str) -> TablaError:
    with pytest.raises(TablaError) as caught:
        check(text, **defines)
    return caught.value


def assigned(program: Program, name: str) -> Assignment:
    return [a for a in program.assignments if a.target == name][-1]


def shapes(program: Program) -> dict[str, tuple[int, ...]]:
    return {variable.name: variable.shape for variable in program.variables}


def test_linear_regression() -> None:
    program = check(LINEAR)
    assert [(v.name, v.kind, v.shape) for v in program.variables] == [
        ("mu", Kind.TEMPORARY, ()),
        ("m", Kind.TEMPORARY, ()),
        ("x", Kind.INPUT, (10,)),
        ("y", Kind.LABEL, ()),
        ("w", Kind.MODEL, (10,)),
        ("g", Kind.GRADIENT, (10,)),
        ("h", Kind.TEMPORARY, ()),
        ("d", Kind.TEMPORARY, ()),
    ]
    assert [(g.gradient, g.model) for g in program.gradients] == [("g", "w")]
    assert program.learning_rate == Fraction(1, 10)
    assert program.outputs == ()
    gradient = assigned(program, "g")
    assert [(i.name, i.start, i.stop) for i in gradient.iterators] == [("i", 0, 10)]
    assert gradient.subscripts == (Affine.of(i=1),)
    group = assigned(program, "h").value
    assert isinstance(group, Group) and [i.name for i in group.iterators] == ["i"]
    assert program.variable("w").kind is Kind.MODEL
    with pytest.raises(KeyError):
        program.variable("nothing")


def test_declarations_between_statements() -> None:
    program = check("model_input a; b = a * 2; model_input c; n = 3; model_input d[n]; e = b + c + d[n - 1];")
    assert shapes(program)["d"] == (3,)
    assert program.outputs == ("e",)


def test_a_reassigned_size_takes_its_last_value_before_use() -> None:
    program = check("m = 3; model_input x[m]; m = 5; model_input z[m]; m = m + 1; iterator i[0:m]; a[i] = m;")
    assert (shapes(program)["x"], shapes(program)["z"], shapes(program)["a"]) == ((3,), (5,), (6,))


def test_a_constant_is_a_size_and_a_value() -> None:
    program = check("m = 4; lambda = 0.01; model_input x[m]; iterator i[0:m]; a[i] = m * x[i] + lambda * m;")
    text = assignment_text(assigned(program, "a"))
    assert text == "a[i] = m * x[i] + lambda * m;"
    value = assigned(program, "a").value
    assert isinstance(value, Operation) and isinstance(value.right, Operation)
    assert value.right.left == Constant(name="lambda", value=Fraction(1, 100), span=value.span)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2 + 3 * 4", "14"),
        ("-(7 - 9) / 4", "1/2"),
        ("0.1 + 0.2", "3/10"),
        ("(1 < 2) + (2 <= 2) + (3 > 4) + (3 >= 4) + (1 == 1) + (1 != 1)", "3"),
        ("min(2, 3) + max(2, 3) + abs(-4)", "9"),
        ("sqrt(16) + exp(0) + tanh(0) + sig_sym(0) + gaussian(0) + log(1) + sigmoid(0)", "13/2"),
        ("sigmoid_symmetric(0) + sigmoid(-1000) + sigmoid(1000)", "1"),
    ],
)
def test_constants_are_exact(expression: str, value: str) -> None:
    program = check(f"k = {expression}; model_input x; a = x * k;")
    assert assigned(program, "k").constant == Fraction(value)


@pytest.mark.parametrize("bad", ["1 / 0", "log(0)", "log(-1)", "sqrt(-1)", "exp(1000)", "1e300 * 1e300 / (1 - 1)"])
def test_constants_without_a_value(bad: str) -> None:
    assert fault(f"k = {bad};").line == 1


def test_a_scalar_may_stop_being_constant() -> None:
    program = check("model_input x; s = 0; s = s + 1; t = s; s = s + x; u = s * t;")
    assert [a.constant for a in program.assignments] == [0, 1, 1, None, None]
    assert program.outputs == ("u",)


def test_partial_assignment() -> None:
    program = check("model_input x[5]; iterator i[1:5]; a[0] = 1; a[i] = x[i]; iterator j[0:5]; b[j] = a[j];")
    assert shapes(program)["a"] == (5,)
    assert assigned(program, "a").constant is None


def test_partial_assignment_reads_the_old_value() -> None:
    program = check("model_input x[5]; iterator i[0:5]; iterator j[1:5]; a[i] = x[i]; a[j] = a[j-1]; b = a[4];")
    assert program.outputs == ("b",)


def test_reversed_and_shifted_left_sides() -> None:
    program = check("model_input x[4]; iterator i[0:4]; iterator j[4:8]; a[3 - i] = x[i]; a[j] = a[j - 4]; b = a[7];")
    assert shapes(program)["a"] == (8,)
    assert assigned(program, "a").subscripts == (Affine.of(j=1),)


def test_a_temporary_with_a_late_start() -> None:
    assert shapes(check("model_input x[9]; iterator j[5:9]; t[j] = x[j];"))["t"] == (9,)
    assert fault("model_input x[9]; iterator j[5:9]; t[j] = x[j]; u = t[4];").message == "'t[4]' has no value yet"


def test_strided_reads_are_exact() -> None:
    text = "a[0] = 1; a[2] = 2; a[4] = 3; iterator i[0:3]; s = sum[i](a[2*i]);"
    assert check(text).outputs == ("s",)
    assert fault(text + "t = sum[i](a[2*i - i]);").message == "'a[1]' has no value yet"


def test_affine_subscripts() -> None:
    program = check("model_input x[20]; n = 2; iterator i[0:4]; iterator j[0:3]; a[i][j] = x[n*i + 3*(j + 1) - n/2];")
    value = assigned(program, "a").value
    assert value == Read(name="x", subscripts=(Affine.of(2, i=2, j=3),), span=value.span)


def test_iterators_are_values() -> None:
    program = check("model_input x[4]; iterator i[0:4]; a[i] = i * x[i]; s = sum[i](i);")
    value = assigned(program, "a").value
    assert isinstance(value, Operation) and isinstance(value.left, Index)


def test_nested_and_sibling_groups() -> None:
    check("""model_input x[4][5]; iterator i[0:4]; iterator j[0:5]; iterator k[0:4];
        a = sum[i](sum[j](x[i][j])) + sum[i](x[i][0]) * pi[j](x[0][j]);
        b = sum[i][j](x[i][j]);
        c[k] = norm[j](x[k][j] - sum[i](x[i][j]));
        d = a + b + sum[k](c[k]);""")


def test_extremes_are_group_functions_with_an_iterator_and_functions_without() -> None:
    program = check("model_input x[4]; iterator i[0:4]; a = max[i](max(x[i], 0)); b = min[i](x[i]) + min(a, 1);")
    value = assigned(program, "a").value
    assert isinstance(value, Group) and value.function is GroupFunction.MAX and isinstance(value.body, Call)
    assert fault("model_input x; a = max(x);").message == "'max' takes 2 arguments, not 1"
    assert fault("model_input x; a = max(x);").hint == "write max(a, b)"
    assert fault("model_input x[2]; iterator i[0:2]; a = min[i](x[i], 0);").message == "'min' takes one argument, not 2"


def test_negative_ranges() -> None:
    program = check("model_input x[5]; iterator i[-2:3]; s = sum[i](x[i + 2]);")
    assert (program.iterators[0].start, program.iterators[0].stop) == (-2, 3)


def test_function_names_are_free_for_variables() -> None:
    program = check("model_input x; pi = 3.14159; sum = x * pi; max[0] = sum; norm = max[0];")
    assert program.outputs == ("norm",)


def test_a_gradient_takes_the_shape_of_its_model() -> None:
    program = check("model w[3][4]; gradient g -> w; iterator i[0:3]; iterator j[0:4]; g[i][j] = i + j;")
    assert shapes(program)["g"] == (3, 4)


def test_gradients_in_a_list() -> None:
    program = check("model w[3], v; gradient g[3] -> w, f -> v; iterator i[0:3]; g[i] = 1; f = 2;")
    assert [(g.gradient, g.model) for g in program.gradients] == [("g", "w"), ("f", "v")]


def test_a_gradient_may_be_partly_assigned_and_read() -> None:
    check("model w[3]; gradient g -> w; g[1] = 1; a = g[1];")
    assert fault("model w[3]; gradient g -> w; g[1] = 1; a = g[0];").message == "'g[0]' has no value yet"


def test_rate() -> None:
    learns = "model w; gradient g -> w; "
    assert check(learns + "g = 1;").learning_rate == 1
    assert check(learns + "mu = 0.5; g = 1; mu = mu / 2;").learning_rate == Fraction(1, 4)
    program = check(learns + "g = mu;", mu="0.05")
    assert program.learning_rate == Fraction(1, 20)
    assert assigned(program, "g").value == Constant(name="mu", value=Fraction(1, 20), span=program.gradients[0].span)
    assert check(learns + "g = mu; mu = 3;", mu="0.05").learning_rate == Fraction(1, 20)
    assert "mu" not in shapes(check(learns + "g = 1;"))


def test_mu_is_any_name_where_nothing_learns() -> None:
    program = check("model_input x[3]; iterator i[0:3]; mu = sum[i](x[i]) / 3; v = mu * mu;")
    assert program.outputs == ("v",)
    assert check("model_input mu[2]; a = mu[0];").learning_rate == 1
    assert fault("model_input x; a = mu * x;").message == "'mu' is not declared and has no value"


def test_outputs_are_last_values_that_nothing_reads() -> None:
    program = check("model_input x; a = x; b = a; c = x; a = 2 * x; k = 3; e[0] = 1; d = c + k; d = d + 1;")
    assert program.outputs == ("a", "b", "e", "d")


def test_definitions() -> None:
    text = "m = 3; model_input x[m]; iterator i[0:m]; m = 4; a[i] = x[i] * m;"
    program = check(text, m="7")
    assert shapes(program)["x"] == (7,)
    assert [a.constant for a in program.assignments] == [7, 7, None]
    assert check("k = 1; model_input x; a = k * x;", k=" -2.5e-1 ").assignments[0].constant == Fraction(-1, 4)


def test_definitions_that_nothing_uses() -> None:
    text = "batch = 3; model_input x[batch]; a = x[0];"
    assert "no such constant" in str(fault(text, batches="4"))
    assert fault(text, batches="4").hint == "did you mean 'batch'?"
    assert "not a constant" in str(fault(text, x="4"))
    assert "no such constant" in str(fault(text, mu="4"))
    assert "not a number" in str(fault(text, batch="four"))
    assert "not a number" in str(fault(text, batch="9" * 5000))
    parse(Source.from_text(text), {"elsewhere": "text"}, defined_elsewhere={"elsewhere"})


def test_definitions_are_checked_like_the_text() -> None:
    assert fault("m = 3; model_input x[m]; a = x[0];", m="0").message == "a size must be at least 1, not 0"


@pytest.mark.parametrize(
    "text",
    [
        LINEAR,
        "model_input x; a = -(x - 1) - 2 / (3 / x) * -x; b = (a < x) < (a == 1); c = -(-x) + (a + (b));",
        "model_input x[6]; iterator i[-1:2]; a[1 - i] = x[3 - 3*i + i] / 8 + 1e-7; b = norm[i](a[i+1]);",
        "model_input x; a = min(x, abs(x) * 2) - max(3, x); y' = sigmoid_symmetric(a) + 1 / 3;",
    ],
)
def test_text_reads_back_as_itself(text: str) -> None:
    program = check(text)
    again = check(program_text(program))
    assert again.assignments == program.assignments
    assert (again.outputs, again.learning_rate, shapes(again)) == (
        program.outputs,
        program.learning_rate,
        shapes(program),
    )
    assert program_text(again) == program_text(program)


@pytest.mark.parametrize("number", ["0.05", "10.5", "0.000001", "3", "100", "1 / 3", "0.1234567890123"])
def test_numbers_as_text(number: str) -> None:
    program = check(f"model_input x; a = x + {number};")
    assert assignment_text(assigned(program, "a")) == f"a = x + {number};"


def test_defined_numbers_as_text() -> None:
    program = check("k = 1; model_input x; a = x + k;", k="-0.05")
    assert assignment_text(program.assignments[0]) == "k = -0.05;"


def test_faults_have_their_place() -> None:
    error = fault("model_input x;\na = x +\n  yy;")
    assert (error.file, error.line, error.column) == ("<text>", 3, 3)
    assert error.hint


def test_a_computed_rate_is_one_fault() -> None:
    assert not fault("model_input x; model w; gradient g -> w; mu = x; model_input z[mu]; g = z[0];").more


@pytest.mark.parametrize("name", WRITTEN)
def test_functions_of_other_languages_are_written_as_their_hints_say(name: str) -> None:
    written = WRITTEN[name]
    names = "n = 4; low = -1; high = 1; model_input a, x[n], z[n]; model w[n]; iterator i[0:n], j[0:n];"
    if name == "matmul":
        check(f"n = 4; model_input w[n][n], x[n]; iterator i[0:n], j[0:n]; {written}")
    else:
        check(f"{names} {written if ';' in written else f'y = {written};'}\n")
