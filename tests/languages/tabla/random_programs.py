"""A hypothesis strategy for TABLA texts that are right by construction."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

# (name, half-open range per dimension in which every element has a value)
Known = tuple[str, tuple[tuple[int, int], ...]]
FUNCTIONS = ("sigmoid", "sig_sym", "sigmoid_symmetric", "gaussian", "tanh", "abs", "exp", "log", "sqrt")
COMPARISONS = ("<", ">", "<=", ">=", "==", "!=")
LITERALS = ("0", "1", "2", "3", "0.5", "0.25", ".125", "1.75", "0.1")


@dataclass(kw_only=True)
class Writer:
    """Draws one program, statement by statement."""

    draw: st.DrawFn
    smooth: bool
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)
    known: list[Known] = field(default_factory=list)
    constants: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def pick(self, *choices: str) -> str:
        return self.draw(st.sampled_from(choices))

    def number(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def declare(self) -> list[Known]:
        for name in self.pick("", "m", "m n").split():
            self.lines.append(f"{name} = {self.number(1, 3)};")
            self.constants.append(name)
        for name in "ijk":
            start = self.number(0, 2)
            self.ranges[name] = (start, start + self.number(1, 3))
            self.lines.append(f"iterator {name}[{start}:{self.ranges[name][1]}];")
        models: list[Known] = []
        for kind, names in (("model_input", "xz"), ("model_output", "y"), ("model", "wv")):
            for name in names:
                sizes = [self.number(1, 5) for _ in range(self.number(0, 2))]
                self.lines.append(f"{kind} {name}{''.join(f'[{size}]' for size in sizes)};")
                self.known.append((name, tuple((0, size) for size in sizes)))
                if kind == "model":
                    models.append(self.known[-1])
        return models

    def subscript(self, low: int, high: int, bound: tuple[str, ...]) -> str:
        """A subscript that stays in [low, high)."""
        fitting = [n for n in bound if self.ranges[n][1] - self.ranges[n][0] <= high - low]
        if not fitting or self.number(0, 5) == 0:
            return str(self.number(low, high - 1))
        name = self.pick(*fitting)
        start, stop = self.ranges[name]
        if self.number(0, 4) == 0:
            offset = self.number(low + stop - 1, high - 1 + start)
            return f"{offset} - {name}"
        offset = self.number(low - start, high - stop)
        return name if offset == 0 else f"{name} {'+' if offset > 0 else '-'} {abs(offset)}"

    def read(self, bound: tuple[str, ...]) -> str:
        name, ranges = self.draw(st.sampled_from(self.known))
        return name + "".join(f"[{self.subscript(low, high, bound)}]" for low, high in ranges)

    def read_given(self, bound: tuple[str, ...]) -> str:
        """A read that is never a constant, for places where a constant could have no value."""
        name, ranges = self.draw(st.sampled_from([known for known in self.known if known[0] in "xzywv"]))
        return name + "".join(f"[{self.subscript(low, high, bound)}]" for low, high in ranges)

    def leaf(self, bound: tuple[str, ...]) -> str:
        match self.number(0, 9):
            case 0 | 1:
                return self.pick(*LITERALS)
            case 2 if self.constants:
                return self.pick(*self.constants)
            case 3 if bound:
                return self.pick(*bound)
            case _:
                return self.read(bound)

    def expression(self, bound: tuple[str, ...], depth: int) -> str:
        if depth == 0:
            return self.leaf(bound)
        left, right = (lambda: self.expression(bound, depth - 1) for _ in range(2))
        free = [name for name in self.ranges if name not in bound]
        match self.number(0, 15):
            case 0 | 1 | 2:
                return f"{left()} {self.pick('+', '-')} {right()}"
            case 3 | 4:
                return f"({left()}) {self.pick('+', '-')} ({right()})"
            case 5 | 6 | 7:
                return f"({left()}) * ({right()})"
            case 8:
                return f"-({left()})"
            case 9:
                return f"(({left()}) {self.pick(*COMPARISONS)} ({right()}))"
            case 10 if not self.smooth:
                return f"({left()}) / {self.read_given(bound)}"
            case 11:
                return f"{self.pick('min', 'max')}({left()}, {right()})"
            case 12 if not self.smooth:
                return f"{self.pick(*FUNCTIONS)}({self.read_given(bound)} {self.pick('*', '-')} ({left()}))"
            case 13 | 14 if free:
                name = self.pick(*free)
                groups = ("sum", "sum", "pi", "max", "min")
                group = self.pick(*groups) if self.smooth else self.pick(*groups, "norm")
                return f"{group}[{name}]({self.expression((*bound, name), depth - 1)})"
            case _:
                return self.leaf(bound)

    def assign(self, name: str, ranges: tuple[tuple[int, int], ...] | None) -> Known:
        """One assignment inside `ranges`, or anywhere for None; what it gave a value."""
        parts, bound, given = [], [], []
        for low, high in ranges if ranges is not None else [(0, 6)] * self.number(0, 2):
            fitting = [
                n for n, (a, b) in self.ranges.items() if n not in bound and (ranges is None or b - a <= high - low)
            ]
            if not fitting or self.number(0, 5) == 0:
                at = self.number(low, high - 1)
                parts.append(f"[{at}]")
                given.append((at, at + 1))
                continue
            iterator = self.pick(*fitting)
            start, stop = self.ranges[iterator]
            offset = self.number(low - start, high - stop) if ranges is not None else self.number(0, 1)
            bound.append(iterator)
            parts.append(f"[{iterator} + {offset}]" if offset >= 0 else f"[{iterator} - {-offset}]")
            given.append((start + offset, stop + offset))
        self.lines.append(f"{name}{''.join(parts)} = {self.expression(tuple(bound), self.number(0, 3))};")
        return name, tuple(given)


@st.composite
def programs(draw: st.DrawFn, *, learns: bool = True, smooth: bool = False) -> str:
    """A TABLA text; `smooth` leaves out what has no exact value in rational numbers (division, functions)."""
    writer = Writer(draw=draw, smooth=smooth)
    models = writer.declare()
    if learns:
        for (name, _), gradient in zip(models, "gf", strict=True):
            writer.lines.append(f"gradient {gradient} -> {name};")
        if draw(st.booleans()):
            writer.lines.append(f"mu = {writer.pick('0.5', '0.1', '1', '0.01', '2')};")
            writer.constants.append("mu")
    for name in ("a", "b", "c'")[: writer.number(1, 3)]:
        given = writer.assign(name, None)
        writer.known.append(given)
        if draw(st.booleans()):
            writer.assign(name, given[1])
    for (_, ranges), gradient in zip(models, "gf", strict=True) if learns else ():
        for _ in range(writer.number(1, 2)):
            writer.assign(gradient, ranges)
    if not learns:
        writer.lines.append(f"r = {writer.read(())} + {writer.read_given(())};")
    return "\n".join(writer.lines) + "\n"
