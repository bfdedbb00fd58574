"""Recasting the C++ of a design: what moves where, and when nothing may be touched."""

from __future__ import annotations

import pytest

from tabla.host.engines import cxxrtl_source
from tabla.host.engines.cxxrtl_source import recast

DESIGN = """#include <cxxrtl/cxxrtl.h>
namespace cxxrtl_design {
struct p_top : public module {
\twire<8> p_count;
\tbool posedge_p_clk() const {
\t}
\tbool commit(ObserverT &observer) {
\t\tif (p_count.commit(observer)) changed = true;
\t\tif (memory_p_words.commit(observer)) changed = true;
\t\treturn changed;
\t}
}; // struct p_top

void p_top::reset() {
}

bool p_top::eval(performer *performer) {
\tbool converged = true;
\tbool posedge_p_clk = this->posedge_p_clk();
\tvalue<8> p_sum;
\t// connection
\tp_sum = add(p_count.curr);
\tauto tmp_0 = memory_index(p_sum);
\tif(tmp_0.valid) {
\t\tp_read = 1;
\t}
\tif (posedge_p_clk) {
\t\tp_count.next = p_sum;
\t}
\treturn converged;
}

} // namespace cxxrtl_design
"""


def test_pieces_and_members(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cxxrtl_source, "FUNCTION_LINES", 1)
    source = recast(DESIGN, "p_top", 2)
    assert not source.feedback
    assert len(source.parts) == 2
    assert "\tvalue<8> p_sum;\n\tvoid eval_0(performer *performer);\n" in source.header
    assert "p_count.curr = p_count.next;" in source.header
    assert "memory_p_words.commit(observer)" in source.header
    # The temporary and its use stay together; the pieces alternate between the files.
    assert "tmp_0 = memory_index(p_sum);\n\tif(tmp_0.valid) {\n" in source.parts[0]
    assert "eval_0(performer);\n\teval_1(performer);\n\treturn true;" in source.parts[0]
    assert "constexpr bool posedge_p_clk = true;\n\tif (posedge_p_clk) {" in source.parts[1]
    assert source.parts[0].count("void p_top::reset()") == 1
    assert all(part.count("} // namespace") == 1 for part in (source.header, *source.parts))


@pytest.mark.parametrize(
    ("old", "new"),
    [("converged = true", "converged = false"), ("if (posedge_p_clk)", "if (posedge_p_other)")],
    ids=["loops", "two-clocks"],
)
def test_other_designs_stay_as_they_are(old: str, new: str) -> None:
    text = DESIGN.replace(old, new)
    source = recast(text, "p_top", 2)
    assert source.feedback and source.parts == () and source.header.endswith(text)


WORDS = (
    DESIGN.replace(
        "\tbool posedge_p_clk() const {",
        "\t/*input*/ value<1> p_clk;\n\tmemory<8> memory_p_words { 4u };\n"
        "\n\tp_top(interior) {}\n\tbool posedge_p_clk() const {",
    )
    .replace(
        "p_sum = add(p_count.curr)", "p_sum = add_uu<8>(p_count.curr, value<1>{0x1u});\n\tp_sum.slice<7>() = p_clk"
    )
    .replace("memory_index(p_sum)", "memory_index(p_sum, 0, 4)")
    .replace("void p_top::reset() {", "void p_top::reset() {\n\tp_count = wire<8>{0u};")
)


def test_a_design_on_machine_words() -> None:
    source = recast(WORDS, "p_top", 2)
    assert source.words and not source.feedback and len(source.parts) == 2
    for line in ("\tvalue<1> p_clk;", "\tmemory<8> memory_p_words { 4u };", "\tvalue<8> p_sum;", "\twire<8> p_count;"):
        assert line in source.header
    text = "".join(source.parts)
    for line in ("p_sum.put<7>(p_clk);", "p_count.curr = p_count.next;", "memory_p_words.commit();", "reset_0();"):
        assert line in text
    assert "cxxrtl_yosys" not in text + source.header and "observer" not in text + source.header


@pytest.mark.parametrize(("old", "new"), [("add_uu<8>", "shl_uu<8>"), ("value<8>", "value<200>")])
def test_a_design_that_machine_words_cannot_hold_keeps_the_library(old: str, new: str) -> None:
    source = recast(WORDS.replace(old, new), "p_top", 2)
    assert not source.words and "<cxxrtl/cxxrtl.h>" in source.header
