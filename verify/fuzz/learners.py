"""Learning programs as people write them, at random small sizes: neurons, a recommender, and a network.

Random expressions rarely have the form that some changes of a mapping and some passes look for, such as a vector that
the root makes and the lanes take over the bus, or an update that begins with the next sample.
"""

from __future__ import annotations

import re

from hypothesis import strategies as st

from benchmarks.learning.problems import FOLDER, NAMES
from tests.languages.tabla.random_programs import COMPARISONS

_ACTIVATIONS = ("sigmoid", "sigmoid", "tanh", "gaussian", "abs", "sqrt")
_SIZES = st.sampled_from((1, 2, 3, 4, 5, 6, 7, 8, 9, 4, 8))
"""Several roots need sizes that their number divides."""
_GRADIENT = re.compile(r"^(g\d?)((?:\[\w\])+) = (.*);$", re.MULTILINE)
_MODELS = {"g": "w", "g1": "w1", "g2": "w2"}


@st.composite
def learners(draw: st.DrawFn) -> str:
    """Draw one of the published learning problems at small sizes, with other functions, and with more terms."""
    kind = draw(st.sampled_from(("backprop", "svm", *sorted(NAMES))))
    text = (FOLDER / f"{kind}.t").read_text(encoding="utf-8")
    for name in NAMES[kind]:
        text = re.sub(rf"^(.*\b){name} = \d+;", rf"\g<1>{name} = {draw(_SIZES)};", text, flags=re.MULTILINE)
    text = re.sub(r"\bsigmoid\b", lambda _: draw(st.sampled_from(_ACTIVATIONS)), text)
    if draw(st.booleans()):
        text = _GRADIENT.sub(lambda found: _more(draw, *found.groups()), text)
    return text


def _more(draw: st.DrawFn, gradient: str, subscripts: str, step: str) -> str:
    """Return a gradient with one more term, which looks at each word of the model, so that lanes compare, too."""
    weight = f"{_MODELS[gradient]}{subscripts}"
    term = draw(
        st.sampled_from(
            (
                f"0.25 * {weight}",
                f"({weight} {draw(st.sampled_from(COMPARISONS))} 0)",
                f"({step} {draw(st.sampled_from(COMPARISONS))} {weight})",
                f"{draw(st.sampled_from(('min', 'max')))}({weight}, 0.5)",
            )
        )
    )
    return f"{gradient}{subscripts} = {step} + {term};"
