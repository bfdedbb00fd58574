"""What a text of the tensor language does wrong, and what no kernel says, is refused at its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabla.base.source import Source, TablaError
from tabla.languages.tinytc.kernel import kernel_of
from tabla.languages.tinytc.parser import parse
from tests.languages.marked import marked_by

HEAD = """func @f(%A: memref<f32x4x3>, %x: memref<f32x3>, %y: memref<f32x4>, %B: memref<f32x4x3>) {
    %z = constant 0.0 : f32
    %o = constant 1.0 : f32
    %i0 = constant 0 : index
    %i1 = constant 1 : index
    %i4 = constant 4 : index
"""


def run(body: str, head: str = HEAD) -> None:
    (function, *_) = parse(Source.from_text(f"{head}    {body}\n    store %z, %y[%i0]\n}}\n", "f.ir"))
    kernel_of(function, "f")


FAULTS = {
    "unknown": ("gem %o, %A, %x, %z, %y", "there is no instruction 'gem'", "gem"),
    "atomic": ("gemm.atomic %o, %A, %A, %z, %B", "'gemm.atomic' is refused", "gemm"),
    "atomic_load": ("%a = atomic_load %x[%i0] : f32", "'atomic_load' is refused", "atomic_load"),
    "coopmatrix": ("%a = cooperative_matrix_load %A[%i0,%i0] : f32", "'cooperative_matrix_load' is refused", None),
    "subgroup": ("%a = subgroup_local_id : i32", "'subgroup_local_id' is refused", "subgroup_local_id"),
    "spmd": ("%a = subgroup_size : i32", "'subgroup_size' is refused", "subgroup_size"),
    "groups": ("%a = num_groups.x : index", "'num_groups' is refused", "num_groups"),
    "tiles": ("foreach_tile (%i)=(%i0),(%i4) as (%t)<=(2) { }", "'foreach_tile' is refused", "foreach_tile"),
    "complex": ("%a = constant [1.0, 2.0] : c32", "complex numbers are refused", "["),
    "integers": ("%a = alloca : memref<i32x4,local>", "memrefs of 'i32' are refused", "memref<i32x4,local>"),
    "type": ("%a = constant 1.0 : f33", "there is no type 'f33'", "f33"),
    "alloca": ("%a = alloca : memref<f32x?,local>", "alloca makes a memref of known sizes", None),
    "exponent": ("%a = constant 1e99999999 : f32", "this number is too long", "1e99999999"),
    "constant": ("%a = constant 1 : f32", "this constant is no 'f32'", "1"),
    "no_name": ("%a = load %q[%i0] : f32", "there is no '%q'", "%q"),
    "twice": ("%z = constant 0.0 : f32", "'%z' is defined twice", "%z"),
    "results": ("load %x[%i0] : f32", "'load' gives 1 value, and 0 are named", "load %x[%i0] : f32"),
    "indices": ("%a = load %A[%i0] : f32", "the memref has 2 modes, and this has 1 indices", None),
    "outside": ("%a = load %x[%i4] : f32\n    store %a, %y[%i1]", "the subscript 4 of 'x' is 4 somewhere", None),
    "real_index": ("%a = load %x[%o] : f32", "a value of the data where an index stands", "%o"),
    "memref_number": ("%a = add %x, %o : f32", "a memref is no number", "%x"),
    "integer_real": ("%a = add %i0, %o : f32", "the operands of 'add' are of two types", None),
    "remainder": ("%a = rem %z, %o : f32", "'rem' of real numbers", None),
    "division": ("%a = div %i4, %i0 : index", "an integer is divided by zero", None),
    "shapes": ("gemv %o, %A, %y, %z, %y", "modes of 3 and 4 elements meet", "gemv %o, %A, %y, %z, %y"),
    "orders": ("gemm %o, %A, %x, %z, %B", "the memrefs have the orders 2, 1 and 2", None),
    "count": ("gemm %o, %A, %B, %B", "'gemm' takes 5 operands, not 4", None),
    "modifiers": ("ger.t %o, %y, %x, %z, %A", "'ger.t' has modifiers that it does not take", None),
    "alpha": ("gemv %i0, %A, %x, %z, %y", "this is no real number", "%i0"),
    "cumsum": ("cumsum %o, %A, 2, %z, %B", "there is no mode 2", None),
    "slice": ("%a = subview %A[0:5, 0:3] : memref<f32x5x3>", "this part is outside of a mode of size 4", "0:5"),
    "view_type": ("%a = subview %A[0:2, 0:3] : memref<f32x2x2>", "this is not what subview gives", "memref<f32x2x2>"),
    "load_type": ("%a = load %x[%i0] : f64", "the memref holds f32, and not f64", "f64"),
    "view_element": ("%a = subview %A[0:4, 0:3] : memref<f64x4x3>", "this is not what subview", "memref<f64x4x3>"),
    "expand": ("%a = expand %A[0 -> 3x2] : memref<f32x3x2x3>", "a mode of size 4 as [3, 2]", None),
    "expand_name": ("%a = expand %A[0 -> %i1 x 2] : memref<f32x2x2x3>", "'%i1' is no constant size", None),
    "fuse": ("%a = fuse %A[1,0] : memref<f32x12>", "fuse takes neighbouring modes", None),
    "part_of_fused": (
        "%a = fuse %A[0,1] : memref<f32x12>\n    %b = subview %a[2:4] : memref<f32x4>",
        "a part of a fused mode that is no constant",
        "%b = subview %a[2:4] : memref<f32x4>",
    ),
    "uninitialised": (
        "%t = alloca : memref<f32x3,local>\n    gemv %o, %A, %t, %z, %y",
        "is read, and no statement before writes it",
        None,
    ),
    "step": ("for %i = %i0, %i4, %i0 { }", "a loop with the step 0", "%i0"),
    "end": ("for %i = %i0, %o { }", "a value of the data where an index stands", "%o"),
    "foreach": ("foreach (%i) = (%i0, %i0), (%i4) { }", "1 loops have 3 ends", None),
    "yield": ("%a = for %i = %i0, %i4 init(%b = %z) -> (f32) { }", "the loop does not yield what it carries", None),
    "no_yield": ("for %i = %i0, %i4 { yield (%z) }", "this loop carries no values", None),
    "condition": ("if %z { store %z, %y[%i0] }", "this is no truth value", "%z"),
    "no_else": ("%a = if %i0 -> (f32) { yield (%z) }", "an if that gives values has an else", None),
    "chosen_index": (
        "%v = load %x[%i0] : f32 %c = less_than %v,%z : bool %a = if %c->(index) { yield (%i0) } else { yield (%i1) }",
        "the data choose an integer",
        None,
    ),
    "group_y": ("%g = group_id.y : index", "samples are numbered by group_id.x alone", "%g = group_id.y : index"),
    "bracket": ("%a = load %x[%i0 : f32", "expected ',' or ']', not ':'", ":"),
    "colon": ("%a = add %z, %o", "expected ':' and a type, not 'store'", "store"),
    "result": ("store %z, %y[%i4]", "the subscript 4 of 'y' is 4 somewhere", None),
    "cast": ("%v = load %x[%i0] : f32\n    %a = cast %v : index", "this is not cast to 'index'", None),
    "constant_range": ("%a = constant 300 : i8", "this constant does not fit in 'i8'", "300"),
    "truths": ("%a = and %z, %o : bool", "'and' of values that are no truth values", None),
    "given": ("%a = div %i1, %i4 : f32", "'%i1' has the type index, and not f32", "%i1"),
    "given_integer": ("%a = add %z, %o : index", "'%z' has the type f32, and not index", "%z"),
    "given_wider": ("%a = exp %z : f64", "'%z' has the type f32, and not f64", "%z"),
    "given_truth": ("%c = constant true : bool\n    %a = not %c : f32", "'%c' has the type bool, and not f32", "%c"),
    "cast_to_memref": ("%a = cast %i0 : memref<f32x3>", "this is not cast to 'memref'", None),
    "compared": (
        "%d = constant 1.0 : f64\n    %c = less_than %z, %d : bool", "'%d' has the type f64, and not f32", "%d"
    ),
    "stored": ("%d = constant 1.0 : f64\n    store %d, %y[%i0]", "'%d' has the type f64, and not f32", "%d"),
    "carried": (
        "%a = for %i = %i0, %i4 init(%b = %z) -> (f64) { yield (%b) }", "'%z' has the type f32, and not f64", "%z"
    ),
    "yielded": (
        "%c = less_than %i0, %i1 : bool\n    %a = if %c -> (index) { yield (%z) } else { yield (%i0) }",
        "'%z' has the type f32, and not index",
        "%z",
    ),
    "size_type": ("%a = size %A[0] : f32", "a size is an integer", "f32"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_points_at_the_text(name: str) -> None:
    body, message, marked = FAULTS[name]
    with pytest.raises(TablaError) as caught:
        run(body)
    fault = caught.value
    assert message in fault.message
    assert marked is None or marked_by(fault) == marked
    assert fault.hint and fault.labels[0].span.line >= 7


HABITS = {
    "while %o { }": "write for %i",
    "return %o": "leave it out",
    "call @g()": "there are no calls",
    "func @g() { }": "functions stand side by side",
    "%a = sqrt %o : f32": "the language has no root",
    "%a = fadd %o, %z : f32": "write add",
    "%a = %o": "a value has one name",
    "if (%o) { }": "operands stand without brackets",
    "for (%i) = (%i0),(%i4) { }": "operands stand without brackets",
    "gemv(%o, %A, %x, %z, %y)": "operands stand without brackets",
    "%a = subview %A[%i0, :] : memref<f32x3>": "a whole mode is 0:size",
    "// a comment": "a comment begins with ';'",
}
"""What programmers of other languages write, and how the cure begins."""


@pytest.mark.parametrize("body", HABITS)
def test_a_habit_of_another_language_has_its_cure(body: str) -> None:
    with pytest.raises(TablaError) as caught:
        run(body)
    assert (caught.value.hint or "").startswith(HABITS[body])


PARAMETERS = {
    "dynamic": ("func @f(%A: memref<f32x?x3>, %y: memref<f32x4>) {", "'%A' has a size that is not known"),
    "batch": ("func @f(%A: memref<f32x3x?>, %y: memref<f32x4>) {", "'%A' has a size that is not known"),
    "index": ("func @f(%n: index, %y: memref<f32x4>) {", "'%n' is a 'index' that is not known"),
    "twice": ("func @f(%A: f32, %A: f32, %y: memref<f32x4>) {", "'%A' is declared twice"),
    "cooperative": ("func @f(%A: coopmatrix<f32x4x4,matrix_a>) {", "cooperative matrices are refused"),
    "empty": ("func @f(%A: memref<f32x0>) {", "a memref without elements"),
    "no type": ("func @f(%A) {", "expected ':', not ')'"),
    "no name": ("func f(%A: f32) {", "expected the name of a function, such as @name, not 'f'"),
    "comment": ("// text\nfunc @f(%A: f32) {", "stray characters '//'"),
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters(name: str) -> None:
    head, message = PARAMETERS[name]
    body = "%z = constant 0.0 : f32\n    %i0 = constant 0 : index"
    with pytest.raises(TablaError) as caught:
        run(body, f"{head}\n")
    assert message in caught.value.message
    assert caught.value.hint


GROUPED = """func @f(%W: memref<f32x3>, %x: memref<f32x3x?>, %A: group<memref<f32x3>x?>, %y: memref<f32x3x?>) {
    %g = group_id.x : index
    %z = constant 0.0 : f32
    %i0 = constant 0 : index
"""


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("store %z, %W[%i0]", "'%W' is the same for all groups, and is written"),
        ("axpby %z, %W, %z, %W", "'%W' is the same for all groups, and is written"),
        ("%a = load %x[%i0, %i0] : f32", "a sample is what the group id selects"),
        ("%a = load %A[%i0] : memref<f32x3>", "a sample is what the group id selects"),
        ("axpby %z, %x, %z, %x", "the memrefs of all groups"),
        ("%a = add %g, %i0 : index", "the group id is no number"),
        ("%a = load %W[%g] : f32", "the group id where an index stands"),
        ("%a = load %A[%g] : memref<f32x4>", "this is not what the group holds"),
    ],
)
def test_groups(body: str, message: str) -> None:
    (function,) = parse(Source.from_text(f"{GROUPED}    {body}\n    store %z, %y[%i0, %g]\n}}\n", "f.ir"))
    with pytest.raises(TablaError) as caught:
        kernel_of(function, "f")
    assert message in caught.value.message
    assert caught.value.line == 5 and caught.value.hint


def test_a_function_that_writes_nothing() -> None:
    (function,) = parse(Source.from_text("func @f(%A: memref<f32x4>) { }", "f.ir"))
    with pytest.raises(TablaError, match="'@f' writes no parameter"):
        kernel_of(function, "f")


def test_loops_that_are_written_out_have_an_end() -> None:
    body = "%n = constant 5000 : index\n    for %i = %i0, %n {\n %a = load %y[%i0] : f32\n"
    body += " %b = load %y[%i1] : f32\n store %a, %y[%i1]\n store %b, %y[%i0]\n }"
    with pytest.raises(TablaError, match="turns touch each other, and there are more than 4,096"):
        run(body)


@given(
    st.lists(
        st.sampled_from(
            "func @f ( ) { } [ ] < > : , = -> %A %x %z %i0 0 1.0 f32 index memref load store gemm for foreach if else "
            "yield subview expand fuse constant group_id.x ; % @ add init".split()
        ),
        max_size=25,
    )
)
def test_no_text_is_a_fault_of_ours(pieces: list[str]) -> None:
    for text in (" ".join(pieces), f"{HEAD} {' '.join(pieces)} }}"):
        try:
            for function in parse(Source.from_text(text, "f.ir")):
                kernel_of(function, "f")
        except TablaError as fault:
            assert str(fault).startswith("error: ")
