"""Tensors as the user's function holds them: elementwise operators, subscripts, and statements into outputs."""

from __future__ import annotations

from typing import Any, NoReturn

from tabla.languages.tile.contractions import Combined, Indexed, Pending, Statement, node_in, output
from tabla.languages.tile.dimensions import TensorDim, size_of
from tabla.languages.tile.elementwise import WHOLE, apply, node_of
from tabla.languages.tile.places import here, refuse
from tabla.languages.tile.program import Aggregation, Kind, Name, Node, Number, Operator
from tabla.languages.tile.starts import Start


class TensorShape(tuple[int, ...]):
    """The sizes of a tensor, a tuple of integers."""

    __slots__ = ()

    @property
    def ndims(self) -> int:
        """The number of dimensions."""
        return len(self)


class Tensor:
    """An array of known shape. Functions get tensors from ``tabla``; `TensorOutput` and operators make further ones.

    Operators work on every element and broadcast as numpy does. ``T[i, j]`` is an element, for contractions. An output
    has a value after one statement into it: ``O[i] += ...``, ``*=``, ``>=``, ``<=`` or ``=``.
    """

    __array_ufunc__ = None

    def __init__(self, source: Node | Pending) -> None:
        if not isinstance(source, Node | Pending):
            refuse(
                f"Tensor is called with a value of type {type(source).__name__}",
                "write numbers and numpy arrays into expressions as they are; ident(array) is a tensor to subscript, "
                "and TensorOutput(N) an output",
            )
        self._source = source
        self._name = source.name

    def learn_name(self, name: str) -> None:
        """Take the name of the variable that holds it."""
        self._name.text = self._name.text or name

    @property
    def node(self) -> Node:
        """The tensor's node. The statement of an output is complete from here on."""
        return node_in(self._source)

    @property
    def shape(self) -> TensorShape:
        """The sizes of the tensor."""
        return TensorShape(self._source.shape)

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self._source.shape)

    @property
    def dtype(self) -> Kind:
        """The kind of the elements as `cast` takes it: "float", "integer" or "boolean"."""
        return self.kind

    @property
    def kind(self) -> Kind:
        """The kind of the elements."""
        return self.node.kind

    def bind_dims(self, *sizes: TensorDim | int) -> None:
        """Give each `TensorDim` the size of its dimension, or check that it has that size."""
        shape, name = self.shape, self._name.text
        what = f"'{name}'" if name else "the tensor"
        if len(sizes) != len(shape):
            refuse(f"{what} has {len(shape)} dimensions, {len(sizes)} are bound", f"its shape is {shape}")
        for axis, (size, extent) in enumerate(zip(sizes, shape, strict=True)):
            about = f"dimension {axis} of {what}"
            if isinstance(size, TensorDim):
                size.bind(extent, about)
            elif size_of(size) != extent:
                refuse(f"{about} is {extent}, not {size_of(size)}")

    def add_constraint(self, constraint: object) -> None:
        """Narrow the statement into this output: ``O.add_constraint(j < 2)``. A list of constraints is possible too."""
        pending = output(self._source, "add_constraint")
        for each in constraint if isinstance(constraint, list | tuple) else (constraint,):
            pending.constrain(each)

    add_constraints = add_constraint

    def init(self, values: object) -> Tensor:
        """Let the statement into this output aggregate into `values`, which broadcast to the output's shape."""
        return self._begin(values, joins=True, what="init")

    def use_default(self, values: object) -> Tensor:
        """Let the elements that the statement into this output does not write be those of `values`, and not 0."""
        return self._begin(values, joins=False, what="use_default")

    def _begin(self, values: object, *, joins: bool, what: str) -> Tensor:
        node = values.node if isinstance(values, Tensor) else node_of(values)
        output(self._source, what).begin(Start(values=node, joins=joins, span=here()))
        return self

    def __getitem__(self, key: object) -> Indexed:
        return Indexed(self._source, key)

    def __setitem__(self, key: object, value: object) -> None:
        match value:
            case Statement():
                aggregation, right = value.aggregation, value.right
            case _:
                aggregation, right = "assign", value
        self.contract(aggregation, key, right)

    def contract(self, aggregation: Aggregation, key: object, right: object) -> None:
        """Write the statement into this output."""
        output(self._source, "a statement").write(aggregation, key, right)

    def __iter__(self) -> NoReturn:
        refuse("a tensor is not run through element by element", "use an index variable: O[i] += T[i]")

    def __len__(self) -> NoReturn:
        refuse("len of a tensor", "use bind_dims, or the tensor's shape")

    def __bool__(self) -> NoReturn:
        # Python asks for the truth value in `if`, `and`, `or` and `not`, and does not say which of them it is.
        refuse(
            "the values of a tensor are not known while the function is read",
            "use select(condition, a, b) instead of a choice, and write A == 0 instead of not A",
        )

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"Tensor({self._name.text or ''}{list(self.shape)})"

    def __add__(self, other: object) -> Any:
        return operate("add", self, other)

    def __radd__(self, other: object) -> Any:
        return operate("add", other, self)

    def __sub__(self, other: object) -> Any:
        return operate("subtract", self, other)

    def __rsub__(self, other: object) -> Any:
        return operate("subtract", other, self)

    def __mul__(self, other: object) -> Any:
        return operate("multiply", self, other)

    def __rmul__(self, other: object) -> Any:
        return operate("multiply", other, self)

    def __truediv__(self, other: object) -> Any:
        return operate("divide", self, other)

    def __rtruediv__(self, other: object) -> Any:
        return operate("divide", other, self)

    def __pow__(self, other: object) -> Any:
        return operate("power", self, other)

    def __rpow__(self, other: object) -> Any:
        return operate("power", other, self)

    def __neg__(self) -> Tensor:
        return operate("negate", self)

    def __pos__(self) -> Tensor:
        return self

    def __abs__(self) -> Tensor:
        return operate("absolute", self)

    def __eq__(self, other: object) -> Any:
        return operate("equal", self, other)

    def __ne__(self, other: object) -> Any:
        return operate("not_equal", self, other)

    def __lt__(self, other: object) -> Any:
        return operate("less", self, other)

    def __le__(self, other: object) -> Any:
        return operate("less_equal", self, other)

    def __gt__(self, other: object) -> Any:
        return operate("greater", self, other)

    def __ge__(self, other: object) -> Any:
        return operate("greater_equal", self, other)

    def __mod__(self, other: object) -> Tensor:
        return whole("remainder", self, other)

    def __rmod__(self, other: object) -> Tensor:
        return whole("remainder", other, self)

    def __and__(self, other: object) -> Tensor:
        return whole("bit_and", self, other)

    def __rand__(self, other: object) -> Tensor:
        return whole("bit_and", other, self)

    def __or__(self, other: object) -> Tensor:
        return whole("bit_or", self, other)

    def __ror__(self, other: object) -> Tensor:
        return whole("bit_or", other, self)

    def __xor__(self, other: object) -> Tensor:
        return whole("bit_xor", self, other)

    def __rxor__(self, other: object) -> Tensor:
        return whole("bit_xor", other, self)

    def __lshift__(self, other: object) -> Tensor:
        return whole("shift_left", self, other)

    def __rlshift__(self, other: object) -> Tensor:
        return whole("shift_left", other, self)

    def __rshift__(self, other: object) -> Tensor:
        return whole("shift_right", self, other)

    def __rrshift__(self, other: object) -> Tensor:
        return whole("shift_right", other, self)

    def __invert__(self) -> Tensor:
        return whole("bit_not", self)

    def __floordiv__(self, other: object) -> NoReturn:
        refuse("'//' is for sizes and indices", "write '/': of integers it truncates")

    __rfloordiv__ = __floordiv__

    def __matmul__(self, other: object) -> NoReturn:
        refuse("'@' is not an operator of tensors", "write the contraction: C[i, j] += A[i, k] * B[k, j]")

    __rmatmul__ = __matmul__


def TensorOutput(*sizes: Any) -> Tensor:
    """Return a tensor that the next statement fills. ``TensorOutput()`` is a single value. ``TensorOutput(...)``, with
    three dots, has the smallest shape that holds all that the statement writes.
    """
    if sizes == (...,):
        return Tensor(Pending(None, Name(), here()))
    if len(sizes) == 1 and isinstance(sizes[0], list | tuple):
        sizes = tuple(sizes[0])
    shape = tuple(size_of(size) for size in sizes)
    if any(extent < 1 for extent in shape):
        refuse(f"an output of shape {shape} has no elements", "sizes are positive")
    return Tensor(Pending(shape, Name(), here()))


def whole(operator: Operator, *operands: object) -> Tensor:
    """Apply an operator that is one of integers and booleans."""
    made = operate(operator, *operands)
    for operand in made.node.operands:
        if operand.kind == "float":
            sign = WHOLE[operator]
            refuse(f"'{sign}' is an operator of integers", f'cast the operands first: cast(A, "integer") {sign} B')
        if operator in ("shift_left", "shift_right") and isinstance(operand, Number) and operand.value < 0:
            if operand is made.node.operands[-1]:
                refuse(f"a shift by {operand.value}", "shift the other way by a positive number")
    return made


def operate(operator: Operator, *operands: object) -> Tensor:
    """Apply an operator to every element of tensors, sizes and numbers."""
    for operand in operands:
        if isinstance(operand, Indexed | Combined):
            refuse(
                "an element of a tensor and a whole tensor in one expression",
                "subscript every tensor of a contraction, or none for an elementwise operation",
            )
    nodes = [operand.node if isinstance(operand, Tensor) else node_of(operand) for operand in operands]
    return Tensor(apply(operator, nodes, here()))
