"""What the microcode of an image uses, so that hardware that nobody asks for is not built. It is derived here and only
here.

A program that is loaded at run time, through the program port, must keep to the features of the image that the hardware
was emitted for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from tabla.program.image import UNITS, Image, Parameters
from tabla.program.layout import WordLayout, operation_layout, strand_layout
from tabla.templates.instructions import kind_of, operation_format


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitFeatures:
    """What the operations of one kind of unit use.

    - `values` holds, for each field, the values that some operation has: symbols where the field has them, else numbers
      as text.
    - `generators` are those whose value some operation looks at, and `windowed` those of them that take a window.
    - `addend_shifts` are the indices of the shifts of operations that start from an addend, or from the limit of an
      extreme.
    - `result_shifts` are the indices of the shifts of operations that count or compare their results. All operations do
      whose results a lane writes.
    - `guarded` says that some lane may be inactive.
    - `slots` is the number of operations of the longest body. `paced` says that some strand has an interval above 1.
    - `moves` holds, for each generator, the levels that change it.
    - `wide_sources` are the sources of addends with guard bits, which `values` does not list.
    """

    values: Mapping[str, frozenset[str]]
    addend_shifts: frozenset[int]
    result_shifts: frozenset[int]
    generators: frozenset[str]
    windowed: frozenset[str]
    guarded: bool
    slots: int
    paced: bool
    moves: Mapping[str, frozenset[int]]
    wide_sources: frozenset[str] = frozenset()

    def uses(self, field: str, *symbols: str) -> bool:
        """Return whether any operation holds one of the symbols in the field."""
        return not self.values[field].isdisjoint(symbols)


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """The features of each kind of unit and of the stream. Lanes are all alike.

    `tree_half` says that a root operation adds half a unit to the tree's word. `tree_alone` says that a root never adds
    anything else to the tree's word.
    """

    units: Mapping[str, UnitFeatures]
    tree_half: bool
    tree_alone: bool

    def __getitem__(self, unit: str) -> UnitFeatures:
        return self.units[kind_of(unit)]


def _symbols(unit: str, parameters: Parameters, word: int) -> dict[str, str]:
    layout = operation_layout(unit, parameters)
    found: dict[str, str] = {}
    for field in operation_format(unit).fields:
        value = layout.fields[field.name].extract(word)
        found[field.name] = field.choices[value] if value < len(field.choices) else str(value)
    if "shift" in found:
        found["shift"] = str(layout.shift(word))
    return found


def _without_effect(symbols: dict[str, str]) -> dict[str, str]:
    """Return the operation with those fields blanked that change nothing: an addend that is not added, a product with
    zero.
    """
    if "base" not in symbols:
        return symbols
    quiet = dict(symbols)
    if quiet["base"] != "addend":
        quiet["c"] = ""
    if quiet["a"] == "zero":
        kept = quiet.get("function", "0") != "0" or quiet["b"] == "position"
        quiet["b"] = quiet["b"] if kept else ""
    if quiet["base"] == "accumulator":
        quiet["half"] = "none"
    return quiet


def _is_guarded(unit: str, parameters: Parameters, word: int) -> bool:
    """Return whether any lane of the unit can be inactive."""
    each = parameters.lanes // parameters.sequencers
    first = int(unit.removeprefix(f"{kind_of(unit)}_")) * each if unit != kind_of(unit) else 0
    layout = operation_layout(unit, parameters)

    def signed(name: str) -> int:
        value = layout.fields[name].extract(word)
        return value - ((value >> (parameters.guard_bits - 1)) << parameters.guard_bits)

    moves = any(
        layout.fields[f"{side}.delta{level}"].extract(word)
        for side in ("low", "high")
        for level in range(parameters.levels)
    )
    windowed = any(layout.fields[f"{side}.window"].extract(word) for side in ("low", "high"))
    return moves or windowed or signed("low.base") > first or signed("high.base") < first + each


def _read_by(unit: str, generator: str, symbols: dict[str, str]) -> bool:
    """Return whether the operation looks at the generator's value."""
    match unit, generator:
        case "lane_issue", ("model" | "data" | "interim"):
            return generator in (symbols["a"], symbols["b"], symbols["c"])
        case "root_issue", _:
            return symbols[generator].removeprefix("gathered_") in ("data", "memory")
        case "root_write", _:
            return symbols["to_memory"] == "1"
        case _:
            return True


def _is_wide(layout: WordLayout, word: int) -> bool:
    """Return whether an operation has guard bits."""
    return "wide" in layout.fields and bool(layout.fields["wide"].extract(word))


def _unit_features(image: Image, units: tuple[str, ...]) -> UnitFeatures:
    """Return the features that units of one kind have together."""
    parameters, unit = image.parameters, units[0]
    form, layout = operation_format(unit), operation_layout(unit, parameters)
    words = [word for one in units for word in image.operations[one]]
    strand = strand_layout(unit, parameters)
    strands = [word for one in units for word in image.strands[one]]
    values: dict[str, set[str]] = {field.name: set() for field in form.fields}
    generators: set[str] = set()
    windowed: set[str] = set()
    addend_shifts: set[int] = set()
    result_shifts: set[int] = set()
    moves: dict[str, set[int]] = {generator: set() for generator in form.generators}
    wide_sources: set[str] = set()
    for word in words:
        for generator, level in product(form.generators, range(parameters.levels)):
            if layout.fields[f"{generator}.delta{level}"].extract(word):
                moves[generator].add(level)
        symbols = _without_effect(_symbols(unit, parameters, word))
        wide = _is_wide(layout, word) and symbols.get("base") == "addend"
        for name, symbol in symbols.items():
            (wide_sources if wide and name == "c" else values[name]).add(symbol)
        starts = symbols.get("base"), symbols.get("post") == "extreme"
        if starts[0] == "addend" or starts == ("zero", True):
            addend_shifts.add(int(symbols["shift"]))
        if symbols.get("emit") == "1" or symbols.get("post", "none") != "none":
            result_shifts.add(int(symbols["shift"]))
        for generator in form.generators:
            if _read_by(kind_of(unit), generator, symbols):
                generators.add(generator)
                if layout.fields[f"{generator}.window"].extract(word):
                    windowed.add(generator)
    guarded = "low" in form.generators and any(
        _is_guarded(one, parameters, word) for one in units for word in image.operations[one]
    )
    if not guarded:
        generators -= {"low", "high"}
        windowed -= {"low", "high"}
    return UnitFeatures(
        values={name: frozenset(found) for name, found in values.items()},
        addend_shifts=frozenset(addend_shifts),
        result_shifts=frozenset(result_shifts),
        generators=frozenset(generators),
        windowed=frozenset(windowed),
        guarded=guarded,
        slots=max((strand.fields["length"].extract(word) for word in strands), default=1),
        paced=any(strand.fields["interval"].extract(word) > 1 for word in strands),
        moves={generator: frozenset(found) for generator, found in moves.items()},
        wide_sources=frozenset(wide_sources),
    )


def _tree_alone(image: Image, operations: Sequence[Mapping[str, str]]) -> bool:
    """Return whether nothing is added to the tree's word in any root operation that takes it."""
    fields = strand_layout("root_issue", image.parameters).fields
    for word in image.strands["root_issue"]:
        begin, length = fields["body"].extract(word), fields["length"].extract(word)
        body = operations[begin : begin + length]
        taken = [symbols["base"] in ("tree", "array") for symbols in body]
        goes_on = [symbols["base"] == "accumulator" for symbols in body]
        if any(taken) and fields["reduce"].extract(word):
            return False
        if any(took and went for took, went in zip(taken, goes_on[1:], strict=False)):
            return False
    # A strand that begins with the accumulator may follow any other.
    first = {fields["body"].extract(word) for word in image.strands["root_issue"]}
    return not any(
        symbols["post"] == "extreme"
        or (symbols["base"] == "accumulator" and place in first)
        or (symbols["base"] in ("tree", "array") and (symbols["a"] != "zero" or symbols["half"] != "none"))
        for place, symbols in enumerate(operations)
    )


def features_of(image: Image) -> Features:
    """Return the features that both programs of an image use, the stream's included."""
    parameters = image.parameters
    roots = [_symbols("root_issue", parameters, word) for word in image.operations["root_issue"]]
    adds_half = any(symbols["base"] in ("tree", "array") and symbols["half"] != "none" for symbols in roots)
    return Features(
        units={
            kind: _unit_features(image, tuple(u for u in (*image.units, "stream") if kind_of(u) == kind))
            for kind in (*UNITS, "stream")
        },
        tree_half=adds_half,
        tree_alone=_tree_alone(image, roots),
    )


def is_lean(parameters: Parameters) -> bool:
    """Return whether each unit has only what its own program needs for loops and bodies.

    With one root each unit has what any unit needs. With wide models that would be much: only the stream loads words in
    two halves.
    """
    return parameters.roots > 1 or parameters.model_guard > 0


def _without_gates(unit: UnitFeatures) -> UnitFeatures:
    return replace(unit, values={name: found for name, found in unit.values.items() if name != "gate"})


def hardware_of(image: Image) -> Features:
    """Return the features of an image that decide what hardware is built. Images for the same hardware have the same.

    The values of `gate` are left out. The sequencers of the issue units can do all of them, whatever the program uses.
    """
    features = features_of(image)
    features = replace(features, units={kind: _without_gates(unit) for kind, unit in features.units.items()})
    if is_lean(image.parameters):
        return features
    any_unit = {
        kind: replace(unit, slots=image.parameters.body, paced=True, moves={}) for kind, unit in features.units.items()
    }
    return replace(features, units=any_unit)
