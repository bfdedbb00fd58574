"""What a text becomes, what ``--values`` prints, and where later messages point."""

from __future__ import annotations

import re

import pytest

from tabla.base.source import Label, Source, Span, TablaError
from tabla.languages.preprocess import TABLA, TENSOR_COMPREHENSIONS, Comments, Preprocessed, comments_of, preprocess
from tabla.languages.tabla import parse


def expand(text: str, name: str = "text.ir", comments: Comments | None = None, **defines: str) -> Preprocessed:
    return preprocess(Source.from_text(text, name), defines, comments)


SEED = """\
$element_ty = f32
$chunk_size = 64
%x = subview %X[0:$chunk_size] : memref<$element_ty x $chunk_size>
; ... $or ...
$chunk_ty = memref<$element_ty x $chunk_size>
%x = subview %X[0:$chunk_size] : $chunk_ty
"""


def test_the_example_of_the_reference() -> None:
    expanded = expand(SEED)
    assert expanded.source.text == (
        "\n\n%x = subview %X[0:64] : memref<f32 x 64>\n; ... $or ...\n\n%x = subview %X[0:64] : memref<f32x64>\n"
    )
    assert expanded.values() == "type $element_ty = f32\nint $chunk_size = 64\ntype $chunk_ty = memref<f32x64>\n"


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ("64", "int $v = 64"),
        ("-64", "int $v = -64"),
        ("+7", "int $v = 7"),
        ("0x1F", "int $v = 31"),
        ("9223372036854775807", "int $v = 9223372036854775807"),
        ("-9223372036854775808", "int $v = -9223372036854775808"),
        ("3.25", "float $v = 3.25"),
        ("3.", "float $v = 3.0"),
        (".5", "float $v = 0.5"),
        ("1e5", "float $v = 100000.0"),
        ("-2.5e-3", "float $v = -0.0025"),
        ("0x1.8p3", "float $v = 12.0"),
        ("inf", "float $v = inf"),
        ("-inf", "float $v = -inf"),
        ("nan", "float $v = nan"),
        ("true", "bool $v = true"),
        ("false", "bool $v = false"),
        ('"x"', 'string $v = "x"'),
        (r'"a \" {b}"', r'string $v = "a \" {b}"'),
        ("f32", "type $v = f32"),
        ("infinite", "type $v = infinite"),
        ("trueish", "type $v = trueish"),
        ("memref<f32 x 64 x ?>", "type $v = memref<f32x64x?>"),
        ("memref<f32x64x?>", "type $v = memref<f32x64x?>"),
        ("memref< index x 4 >", "type $v = memref<indexx4>"),
        ("group<memref<f32 x 8, strided<1, 8>> x 4>", "type $v = group<memref<f32x8,strided<1,8>>x4>"),
        ("coopmatrix<f32 x 8 x 8, matrix_a>", "type $v = coopmatrix<f32x8x8,matrix_a>"),
        ("fixed<6, 10>", "type $v = fixed<6,10>"),
        ("[]", "array $v = []"),
        ('[1, true,"s", [2]]', 'array $v = [1, true, "s", [2]]'),
        ("{}", "dictionary $v = {}"),
        ("{k=1, m = {n = [2]}}", "dictionary $v = {k = 1, m = {n = [2]}}"),
        ("!calc(7 2 -)", "int $v = 5"),
        ("!calc ( 2\n3 ; a comment\n ^ )", "int $v = 8"),
    ],
)
def test_values(written: str, line: str) -> None:
    assert expand(f"$v = {written} end $v").values() == f"{line}\n"
    assert expand(f"$v={written}\n$w = $v").values() == f"{line}\n{line.replace('$v', '$w')}\n"


def test_values_inside_types_and_attributes() -> None:
    text = "$e = f32 $n = 8 $s = strided<1, $n> $m = memref<$e x $n x ?, $s> $g = group<$m x $n> $a = [$n, {k = $n}]"
    assert [str(definition) for definition in expand(text).definitions][2:] == [
        "type $s = strided<1,8>",
        "type $m = memref<f32x8x?,strided<1,8>>",
        "type $g = group<memref<f32x8x?,strided<1,8>>x8>",
        "array $a = [8, {k = 8}]",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$a = 1 $b = 2\n$a $b", "\n1 2"),
        ("$a=1 $ab=2 $aB=3 $a $ab $aB", "1 2 3"),
        ("$0 = 5 $00 = 6 $0 $00 $0", "5 6 5"),
        ("$n=4 x[$n]-$n", "x[4]-4"),
        ("$n=-4 x-$n", "x--4"),
        ("$n = 4 x$n", "x 4"),
        ("$0 = 4 $0x", "4 x"),
        ("a$n=1 b", "a b"),
        ("$n = 64 memref<f32x$n>", "memref<f32x64>"),
        ("$a = 1 $a == 1", "1 == 1"),
        ("$a = 0.1000 $h = 0x1.8p1 $a $h", "0.1000 3.0"),
        ('$a = 1 "$a {" $a', '"$a {" 1'),
        ("{ $a = 1 $a} {$a = 2 {$a}} $a = 3 $a", "{ 1} { {2}} 3"),
        ("$s = [1] f{k = $s}", "f{k = [1]}"),
        ("} $a = 1 } $a", "} } 1"),
    ],
)
def test_texts(text: str, expected: str) -> None:
    assert expand(text).source.text.split() == expected.split()


@pytest.mark.parametrize(
    ("name", "comment"),
    [("m.t", "// $x\n"), ("m.t", "/* $x\n { */"), ("k.tc", "# $x {\n"), ("a.ir", "; $x {\n"), ("no_suffix", "; $x\n")],
)
def test_comments_are_copied_and_separate(name: str, comment: str) -> None:
    assert expand(f"$a {comment}= {comment}1 {comment}$a", name).source.text.endswith(f"{comment}1")
    assert comment in expand(f"$a = 1 {comment}$a", name).source.text


def test_comments_by_name() -> None:
    assert comments_of("a.b/c.t") is TABLA and comments_of("k.tc") is TENSOR_COMPREHENSIONS
    assert expand("$a=1 # $b\n$a", "x.ir", TENSOR_COMPREHENSIONS).source.text.split() == ["#", "$b", "1"]


def test_a_text_without_variables_is_handed_back() -> None:
    source = Source.from_text("model_input x; { } y = 3; // =", "m.t")
    expanded = preprocess(source, {"n": "3"})
    assert expanded.source is source and expanded.original is source
    assert expanded.values() == "int $n = 3\n" and not expanded.used
    span = Span(source=source, start=2, end=5)
    assert expanded.locate(span) is span


def test_lines_stay_lines() -> None:
    text = "$a = !calc(1\n2\n+)\nx $a\ny"
    assert expand(text).source.text == "\n\n\nx 3\ny"


class TestCommandLine:
    def test_defines(self) -> None:
        expanded = expand("$n x $t", n="64", t="float", unused="1")
        assert expanded.source.text == "64 x float"
        assert expanded.used == {"n", "t"}
        assert expanded.values() == "int $n = 64\ntype $t = float\nint $unused = 1\n"

    def test_later_ones_see_earlier_ones(self) -> None:
        assert expand("$b", a="3", b="!calc($a 2 *)").source.text == "6"

    @pytest.mark.parametrize(("given", "expected"), [({}, "5"), ({"n": "7"}, "7")])
    def test_default(self, given: dict[str, str], expected: str) -> None:
        expanded = expand("$n ?= 5 $n", **given)
        assert expanded.source.text.split() == [expected] and expanded.values() == f"int $n = {expected}\n"
        assert expanded.used == frozenset(given)

    def test_default_in_a_region(self) -> None:
        assert expand("{ $n ?= 5 $n } { $n ?= 6 $n }", n="7").source.text.split() == ["{", "7", "}", "{", "7", "}"]

    def test_a_value_of_the_notation_behind_is_no_fault_until_used(self) -> None:
        assert expand("x $y ?= 2 $y", mu="1/2").source.text.split() == ["x", "2"]
        with pytest.raises(TablaError, match="expected the end of the value, not '/'"):
            expand("$mu", mu="1/2")


def test_later_faults_point_at_the_file() -> None:
    text = (
        "$n = 3 // three\nmodel_input x[$n];\n"
        "model m; gradient g -> m; iterator i[0:4]; mu = 1;\ng = sum[i](x[i]) + $n;\n"
    )
    expanded = preprocess(Source.from_text(text, "m.t"))
    with pytest.raises(TablaError) as caught, expanded.pointing_back():
        parse(expanded.source)
    fault = caught.value
    assert (fault.file, fault.line, fault.column) == ("m.t", 4, 14)
    assert "4 | g = sum[i](x[i]) + $n;" in str(fault)


def test_a_fault_in_a_use_names_what_it_stands_for() -> None:
    expanded = preprocess(Source.from_text('$n = "three"\nmodel_input x[$n];\n', "m.t"))
    with pytest.raises(TablaError) as caught, expanded.pointing_back():
        parse(expanded.source)
    assert (caught.value.line, caught.value.column) == (2, 15)
    assert "^^" in str(caught.value) and """'$n' stands for '"three"', defined at m.t:1:1""" in str(caught.value)


def test_restoring_keeps_every_part_of_a_fault() -> None:
    expanded = expand("$n = 4\nab $n cd")
    new = expanded.source
    inner = TablaError("inner", Label(Span(source=new, start=6, end=8), "there"))
    fault = TablaError("outer", Label(Span(source=new, start=1, end=3)), hint="h", notes=["n"], more=[inner])
    restored = expanded.restore(fault)
    assert (restored.message, restored.hint, restored.notes) == ("outer", "h", ("n",))
    first, second = restored.labels[0].span, restored.more[0].labels[0]
    assert (first.start, first.end, second.span.start, second.span.end, second.text) == (7, 9, 13, 15, "there")


def test_types_of_tensor_comprehensions_are_definitions() -> None:
    """Their sizes stand in parentheses, and are names, integers and other definitions."""
    source = Source.from_text("$n = 8 $vec = float($n, N)\n$one = float\ndef f($vec A, $one(M) B) {}\n", "f.tc")
    expanded = preprocess(source)
    assert "def f(float(8,N) A, float(M) B) {}" in expanded.source.text
    assert [value.value.shown for value in expanded.definitions] == ["8", "float(8,N)", "float"]
    for text, message in (
        ("$v = float()", "a size"),
        ("$v = float(8", "',' or ')'"),
        ("$t = true $v = float($t)", "a size"),
    ):
        with pytest.raises(TablaError, match=re.escape(message)):
            preprocess(Source.from_text(text, "f.tc"))
