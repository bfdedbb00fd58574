"""The page of the playground. Its template, style and script lie beside this module, and it loads nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from tabla.commands.playground.examples import CYCLE_MODEL, Offer, data_names, offers
from tabla.commands.playground.request import EPOCHS, MADE_UP, NOTHING, TABLA, TENSOR_COMPREHENSIONS
from tabla.host.engines.session import EVALUATION
from tabla.languages.tabla.lexer import KEYWORDS
from tabla.languages.tabla.operators import GROUP_FUNCTIONS
from tabla.languages.tc.lexer import KEYWORDS as TC_KEYWORDS
from tabla.templates.template import functions, limits

ENGINES = {
    CYCLE_MODEL: "all steps on the cycle model",
    EVALUATION: "in the evaluation, some steps again on the simulated Verilog",
}
"""Where a program learns, with the words of the page."""
LANGUAGES = {TABLA: "TABLA", TENSOR_COMPREHENSIONS: "Tensor Comprehensions"}
"""The languages of programs, by the ends of their files."""


def page(nonce: str) -> str:
    """Return the page as HTML. A browser runs scripts with this `nonce` alone."""
    offered = offers()
    return _template().render(
        nonce=nonce,
        offers=offered,
        data={MADE_UP: "made up to fit the program", **data_names(), NOTHING: "none: do not learn"},
        engines=ENGINES,
        languages=LANGUAGES,
        most_epochs=EPOCHS.high,
        most_pes=limits().pes,
        model=_model(offered),
    )


def _model(offered: Iterable[Offer]) -> dict[str, Any]:
    """Return what the script needs: the programs, and the words of each language that have colours."""
    known = {*GROUP_FUNCTIONS, *functions()}
    return {
        "offers": [asdict(offer) for offer in offered],
        "words": {
            TABLA: {"keywords": sorted(KEYWORDS), "functions": sorted(known)},
            TENSOR_COMPREHENSIONS: {"keywords": sorted(TC_KEYWORDS), "functions": sorted(known - TC_KEYWORDS.keys())},
        },
    }


@cache
def _template() -> Template:
    """Return the template. It escapes everything that is put in, and a name that it does not get is a fault."""
    environment = Environment(
        loader=PackageLoader("tabla.commands.playground"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "sort_keys": True}
    return environment.get_template("play.html")
