"""Records as Python sees them."""

import pytest

from tabla.base.source import TablaError
from tabla.templates import tablegen

TEXT = """
class Opcode<bits<4> number, string text = "nop"> {
  bits<8> Inst = 0;
  let Inst{7-4} = number;
  string Mnemonic = text;
  list<int> Numbers = [1, 2];
  bit Flag = true;
  int Open = ?;
}
def Add : Opcode<0b0101, "add"> { let Inst{0} = 1; }
def Nop : Opcode<0>;
def Other { dag Tree = (Add Nop:$left, 3, (Add:$outer "x"), $free); Opcode Code = Add; bits<2> B = {1, ?}; }
"""


@pytest.fixture
def records() -> tablegen.Records:
    return tablegen.loads(TEXT, name="ops.td")


def test_classes_in_definition_order(records: tablegen.Records) -> None:
    assert [one.name for one in records.of_class("Opcode")] == ["Add", "Nop"]
    assert [one.name for one in records] == ["Add", "Nop", "Other"]
    assert records.class_names == ("Opcode",)
    assert len(records) == 3 and "Add" in records and "Sub" not in records


def test_fields_are_python_values(records: tablegen.Records) -> None:
    add = records["Add"]
    assert add["Inst"].to_int() == 0x51 and add["Inst"].width == 8
    assert add["Inst"].bits == (1, 0, 0, 0, 1, 0, 1, 0)
    assert add["Mnemonic"] == "add" and add["Numbers"] == [1, 2] and add["Flag"] == 1
    assert add["Open"] is tablegen.UNSET and not add["Open"]
    assert add.superclasses == ("Opcode",) and add.is_a("Opcode") and not records["Other"].is_a("Opcode")
    assert add.field_names == ("Inst", "Mnemonic", "Numbers", "Flag", "Open")
    assert add.field_type("Inst") == "bits<8>"


def test_dags_and_records(records: tablegen.Records) -> None:
    other = records["Other"]
    tree = other["Tree"]
    assert tree.operator == records["Add"] and tree.name is None
    assert [argument.name for argument in tree.arguments] == ["left", None, None, "free"]
    assert tree.arguments[0].value == records["Nop"] and tree.arguments[1].value == 3
    assert tree.arguments[2].value.name == "outer" and tree.arguments[3].value is tablegen.UNSET
    assert other["Code"] == records["Add"] and hash(other["Code"]) == hash(records["Add"])


def test_an_unset_bit_has_no_number(records: tablegen.Records) -> None:
    bits = records["Other"]["B"]
    assert bits.bits == (None, 1) and not bits.is_known and str(bits) == "{ 1, ? }"
    with pytest.raises(TablaError, match=r"bit 0 of .* is not set"):
        bits.to_int()


def test_positions(records: tablegen.Records) -> None:
    span = records["Nop"].span
    assert (span.source.name, span.line, span.column) == ("ops.td", 11, 1)
    assert records["Add"].field_span("Inst").line == 10


def test_faults_of_lookup(records: tablegen.Records) -> None:
    with pytest.raises(TablaError, match="no def 'Sub'"):
        records["Sub"]
    with pytest.raises(TablaError, match="no class 'Nope'"):
        records.of_class("Nope")
    with pytest.raises(TablaError, match="no def 'Nopp'") as caught:
        records["Nopp"]
    assert caught.value.hint == "did you mean 'Nop'?"
    with pytest.raises(TablaError, match="has no field 'nope'"):
        records["Add"]["nope"]
    assert records["Add"].get("nope") is None and "nope" not in records["Add"] and "Inst" in records["Add"]
