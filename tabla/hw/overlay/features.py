"""What the units of an overlay can do: all that the instruction set says, but what the overlay lacks."""

from tabla.hw.features import Features, UnitFeatures
from tabla.program.image import UNITS, Parameters
from tabla.templates.instructions import kind_of, operation_format

# Symbols that only arrays of several roots know.
_SEVERAL_ROOTS = ("array", "array0")
# Generators that never take the window of a sample: bounds of lanes, and addresses of writes.
_WITHOUT_WINDOW = ("low", "high", "block")


def overlay_features(parameters: Parameters, posts: frozenset[str]) -> Features:
    """Return the features of all programs of an array with one root. `posts` is what may follow a sum."""
    units = {kind: _unit(kind, parameters, posts) for kind in (*map(kind_of, UNITS), "stream")}
    return Features(units=units, tree_half=True, tree_alone=False)


def _unit(kind: str, parameters: Parameters, posts: frozenset[str]) -> UnitFeatures:
    form = operation_format(kind)
    values: dict[str, frozenset[str]] = {}
    for field in form.fields:
        symbols = [symbol for symbol in field.choices if symbol not in _SEVERAL_ROOTS]
        if field.name == "function":
            symbols = ["0", *(str(function.code) for function in parameters.functions)]
        if field.name == "post":
            symbols = [symbol for symbol in symbols if symbol in posts]
        values[field.name] = frozenset(symbols or map(str, range(1 << field.width)))
    shifts = frozenset(range(len(parameters.shifts)))
    writes = kind.endswith("write")
    return UnitFeatures(
        values=values,
        addend_shifts=shifts,
        result_shifts=shifts,
        generators=frozenset(form.generators),
        windowed=frozenset(() if writes else set(form.generators) - set(_WITHOUT_WINDOW)),
        guarded="low" in form.generators,
        slots=parameters.body,
        paced=True,
        moves={generator: frozenset(range(parameters.levels)) for generator in form.generators},
    )
