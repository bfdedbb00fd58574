"""Every refused text and the whole message that its writer sees."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tabla.base.source import Source, TablaError
from tabla.languages.preprocess import preprocess

REFUSED: dict[str, str] = {
    "undefined": "$chunk_size = 64\nx[$chunk_sise] y[$other]",
    "used_before": "$n\n$n = 3",
    "region_closed": "{ $n = 3 }\n$n",
    "defined_twice": "$n = 3\n$n = 3",
    "hides_outer": "$n = 3\n{ { $n = 4 } }",
    "default_twice": "$n = 3\n$n ?= 4",
    "not_a_name": "$_n = 3\n$ = 4\n$é = 4",
    "no_value": "$n = ",
    "value_is_an_operator": "$n = * 3",
    "goes_on_with_an_operator": "$a = 1 / 0;\n$b = 0x10*$a\n$c = 2.5 + 1\n$d = 5 -1\n$e = $d %\n$f = 7 % 2",
    "not_a_number": "$n = 64abc\n$f = 1.2.3\n$h = 0xg",
    "sticks_to_the_next_word": "$0 = 1\n$n = $0x",
    "too_large": "$n = 9223372036854775808\n$m = -9223372036854775809\n$k = " + "9" * 5000,
    "float_too_large": "$n = 1e999\n$h = 0x1p99999",
    "seed_example": "$a = 9 $b = 2\n$c = !calc($a 1 - b / 1 +)",
    "calc_unknown_word": "$c = !calc(1 2 plus)",
    "calc_unknown_sign": "$c = !calc(1 2 &)",
    "calc_underflow": "$c = !calc(1 +)\n$d = !calc(+)",
    "calc_left_over": "$c = !calc(5 -1)",
    "calc_empty": "$c = !calc()",
    "calc_float": "$c = !calc(1.5 2 +)",
    "calc_boolean": "$c = !calc(true 1 +)",
    "calc_float_variable": "$f = 1.5\n$c = !calc($f 2 +)",
    "calc_nested": "$c = !calc(!calc(1 2 +) 1 +)",
    "calc_never_closed": "$c = !calc(1 2 +",
    "calc_without_parentheses": "$c = !calc 1 2 +",
    "calc_division_by_zero": "$z = 0\n$c = !calc(7 $z /)\n$d = !calc(7 0 %)",
    "calc_negative_exponent": "$c = !calc(2 -1 ^)",
    "calc_overflow": "$c = !calc(2 63 ^)\n$d = !calc(9223372036854775807 1 +)\n$e = !calc(-9223372036854775808 -1 /)",
    "calc_huge_power": "$c = !calc(10 9223372036854775807 ^)",
    "calc_in_array": "$c = [1, !calc(1 2 +)]",
    "calc_in_type": "$c = memref<f32 x !calc(1 2 +)>",
    "calc_in_other_type": "$c = fixed<!calc(1 2 +)>",
    "calc_in_text": "$n = 1\nx = !calc($n 1 +)",
    "array_of_floats": "$a = [1.5]\n$f = 1.5 $b = [$f]",
    "array_never_closed": "$a = [1, 2",
    "dictionary_key_twice": "$a = {k = 1, k = 2}",
    "dictionary_without_value": "$a = {k}",
    "dictionary_of_types": "$t = f32\n$a = {k = $t}",
    "string_never_closed": '$s = "abc\nx',
    "element_type_is_a_number": "$n = 4\n$t = memref<$n x 4>",
    "size_is_a_type": "$e = f32\n$t = memref<$e x $e>",
    "size_is_a_word": "$t = memref<f32 x n>",
    "size_is_negative": "$n = -4\n$t = memref<f32 x $n>\n$u = memref<f32 x -3>",
    "size_is_a_float": "$f = 4.0\n$t = memref<f32 x $f>",
    "type_never_closed": "$t = memref<f32 x 4",
    "kinds_in_the_text": "$e = 4 $n = f32\nx : memref<$e x 4>\ny : memref<f32 x $n>",
    "two_faults_then_uses": "$a = !calc(1 0 /) $b = 3\n$a $b\n$c = [\n$c",
    "after_crlf_and_tabs": "\ufeff$a = 1\r\n\t$b\r\n",
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, golden: Callable[[str, str], None]) -> None:
    with pytest.raises(TablaError) as caught:
        preprocess(Source.from_text(REFUSED[name], f"{name}.ir"))
    golden(f"preprocess/{name}.txt", f"{caught.value}\n")


@pytest.mark.parametrize("name", REFUSED)
def test_every_fault_has_a_place_and_a_cure(name: str) -> None:
    with pytest.raises(TablaError) as caught:
        preprocess(Source.from_text(REFUSED[name], f"{name}.ir"))
    for fault in (caught.value, *caught.value.more):
        assert fault.hint and fault.file == f"{name}.ir" and fault.line and fault.column


@pytest.mark.parametrize(("value", "text"), [("3", "$n = 4"), ("1/2", "$n = 4"), ("1/2", "$n ?= 4 $n"), ("", "$n")])
def test_refused_with_the_command_line(value: str, text: str, golden: Callable[[str, str], None]) -> None:
    with pytest.raises(TablaError) as caught:
        preprocess(Source.from_text(text, "given.ir"), {"n": value})
    name = f"{value or 'nothing'} and {text}".translate(str.maketrans({" ": "_", "$": "", "/": "_over_", "?": "or"}))
    golden(f"preprocess/command_line_{name}.txt", f"{caught.value}\n")
