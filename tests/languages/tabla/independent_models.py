"""Random TABLA programs of several models that do not depend on each other, each with a gradient of its own length.

Their updates end in different cycles of a sample, so model writes of samples that overlap interleave and may fall into
one cycle.
"""

from __future__ import annotations

from hypothesis import strategies as st

GRADIENTS = (
    "{model} * 0.5",
    "sigmoid(x * {model})",
    "x * {model} - y",
    "0.25",
    "({model} > x) * {model}",
    "log(x * x + 1) * exp(0 - {model} * {model})",
    "x",
)
"""One constant, one that no model is read by, and chains of several lengths."""


@st.composite
def independent_models(draw: st.DrawFn) -> str:
    """Return a program with one to four models of up to two axes."""
    lines = [f"mu = {draw(st.sampled_from(['0.03', '0.125', '0.5']))};", "model_input x;", "model_output y;"]
    rules: list[str] = []
    for number in range(draw(st.integers(1, 4))):
        extents = draw(st.lists(st.integers(1, 4), max_size=2))
        axes = "".join(f"[{extent}]" for extent in extents)
        names = [f"i{number}{axis}" for axis in range(len(extents))]
        lines += [f"iterator {name}[0:{extent}];" for name, extent in zip(names, extents, strict=True)]
        lines += [f"model w{number}{axes};", f"gradient g{number}{axes} -> w{number};"]
        at = "".join(f"[{name}]" for name in names)
        rule = draw(st.sampled_from(GRADIENTS)).format(model=f"w{number}{at}")
        rules.append(f"g{number}{at} = {rule};")
    return "\n".join([*lines, *rules])
