"""Fitted estimators of scikit-learn as lists of nodes, in the operators that ONNX has for them.

The estimator's own float64 numbers are taken, and neither the package onnx nor skl2onnx is needed. Estimators are known
by the names of their classes, so that scikit-learn is not imported either.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, Literal, NoReturn, assert_never

import numpy as np
from numpy.typing import NDArray

from tabla.base.source import TablaError, TablaTypeError
from tabla.languages.onnx.model import DEFAULT, MACHINE_LEARNING, Attribute, Given, Model, Node

Link = Literal["softmax", "sigmoid", "clip"]
"""What makes probabilities of decisions. For several classes, `sigmoid` and `clip` are divided by their sum."""
_LOSSES: dict[str, Link] = {"log_loss": "sigmoid", "log": "sigmoid", "modified_huber": "clip"}
INPUT = "x"
"""The name of the input of every estimator."""
_OPSET = 17
_ACTIVATIONS = {"relu": "Relu", "tanh": "Tanh", "logistic": "Sigmoid", "softmax": "Softmax"}
THERE = (
    "fitted linear models, SVC and SVR with a linear kernel, MLPClassifier, MLPRegressor, PCA, StandardScaler,"
    " MinMaxScaler, and pipelines of them"
)
"""What can be compiled, as messages say it."""


def is_estimator(value: object) -> bool:
    """Return whether a value is an estimator of scikit-learn, or something with the same interface."""
    return not isinstance(value, type) and hasattr(value, "get_params") and hasattr(value, "fit")


def model_of(estimator: Any, name: str | None = None) -> Model:
    """Return a fitted estimator as a model with the input ``x``.

    A classifier has the results ``label`` and, where it has probabilities, ``probabilities``, or else ``decision``. A
    regressor has the result ``y``, and a transformer the result ``transformed``. Raises `TablaError` for an estimator
    that is not fitted or that is not there.
    """
    if not is_estimator(estimator):
        raise TablaTypeError(
            f"estimator: a value of type {type(estimator).__name__} is no estimator of scikit-learn",
            hint=f"there are {THERE}",
        )
    last = estimator.steps[-1][1] if getattr(estimator, "steps", None) else estimator
    if hasattr(type(last), "build_"):
        raise TablaTypeError(
            f"estimator: {type(last).__name__} of {type(last).__module__.rpartition('.')[0]} learns on an accelerator"
            " of its own",
            hint="take its attribute inference_build_, which predicts, or build_, which learns",
        )
    name = name or type(estimator).__name__
    return _Writer(estimator).model(name)


class _Writer:
    """Writes the nodes of an estimator, one after the other. `current` is the value that the next node reads."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator
        self.nodes: list[Node] = []
        self.arrays: dict[str, NDArray[Any]] = {}
        self.outputs: list[str] = []
        self.current, self.prefix, self.features = INPUT, "", 0

    def model(self, name: str) -> Model:
        """Return the model of the estimator."""
        self._step(self.estimator, last=True)
        given = Given(name=INPUT, shape=(None, self.features), kind="float")
        return Model.make(name, [given], self.outputs, self.nodes, self.arrays, opset=_OPSET, file=name)

    # Nodes and arrays

    def _node(
        self, operator: str, inputs: Sequence[str], output: str, *more: str, domain: str = DEFAULT, **about: Attribute
    ) -> str:
        self.nodes.append(
            Node(operator=operator, inputs=tuple(inputs), outputs=(output, *more), attributes=about, domain=domain)
        )
        return output

    def _array(self, name: str, array: Any) -> str:
        """Add an array under a name of the step, and return that name."""
        full = f"{self.prefix}{name}"
        self.arrays[full] = np.asarray(array)
        return full

    def _named(self, name: str) -> str:
        """Return the name of an intermediate value."""
        return f"{self.prefix}{name}"

    # Steps

    def _step(self, estimator: Any, *, last: bool) -> None:
        kinds = [each.__name__ for each in type(estimator).__mro__]
        if "Pipeline" in kinds:
            self._pipeline(estimator)
            return
        write = self._writer(kinds, last=last)
        if write is None:
            self._refuse(estimator, f"the {'estimator' if last else 'step'} '{kinds[0]}' is not there")
        self._check_fitted(estimator)
        if not hasattr(estimator, "n_features_in_"):
            self._refuse(estimator, f"{kinds[0]} does not say how many features it has: its kernel is a function")
        if not self.features:
            self.features = int(estimator.n_features_in_)
        write(estimator)
        if last and not self.outputs:
            self.outputs = [self._node("Identity", [self.current], "transformed")]

    def _writer(self, kinds: Sequence[str], *, last: bool) -> Callable[[Any], None] | None:
        """Return what writes an estimator of a class, given the names of the class and its bases; None if nothing does.

        Only the last step of a pipeline predicts.
        """
        writers: dict[str, Callable[[Any], None]] = {
            "StandardScaler": self._standard_scaler,
            "MinMaxScaler": self._min_max_scaler,
            "PCA": self._pca,
        }
        if last:
            writers |= {
                "SVC": self._svc,
                "SVR": self._svr,
                "MLPClassifier": self._perceptron_classifier,
                "MLPRegressor": self._perceptron_regressor,
                "LinearClassifierMixin": self._classifier,
                "LinearModel": self._regressor,
                "BaseSGDRegressor": self._regressor,
                "LinearSVR": self._regressor,
            }
        return next((write for name, write in writers.items() if name in kinds), None)

    def _pipeline(self, pipeline: Any) -> None:
        steps = [(name, step) for name, step in pipeline.steps if step is not None and step != "passthrough"]
        if not steps:
            self._refuse(pipeline, "the pipeline has no steps")
        for at, (name, step) in enumerate(steps):
            self.prefix = f"{name}."
            self._step(step, last=at == len(steps) - 1)

    def _standard_scaler(self, scaler: Any) -> None:
        offset = scaler.mean_ if scaler.with_mean else np.zeros(scaler.n_features_in_)
        scale = 1 / scaler.scale_ if scaler.with_std else np.ones(scaler.n_features_in_)
        self._scaled("scaled", offset, scale)

    def _min_max_scaler(self, scaler: Any) -> None:
        if scaler.clip:
            self._refuse(scaler, "MinMaxScaler with clip=True is not there")
        self._scaled("scaled", -scaler.min_ / scaler.scale_, scaler.scale_)

    def _scaled(self, name: str, offset: NDArray[Any], scale: NDArray[Any]) -> None:
        self.current = self._node(
            "Scaler", [self.current], self._named(name), domain=MACHINE_LEARNING,
            offset=_numbers(offset), scale=_numbers(scale),
        )  # fmt: skip

    def _pca(self, pca: Any) -> None:
        self._scaled("centred", pca.mean_, np.ones(len(pca.mean_)))
        components = pca.components_.T
        if pca.whiten:
            components = components / np.sqrt(np.maximum(pca.explained_variance_, np.finfo(np.float64).eps))
        weights = self._array("components", components)
        self.current = self._node("MatMul", [self.current, weights], self._named("projected"))

    # Predictors

    def _scores(self, estimator: Any, output: str) -> str:
        """Write one score for each row of coefficients."""
        if not hasattr(estimator, "coef_"):
            self._refuse(estimator, f"the estimator '{type(estimator).__name__}' is not there")
        rows = np.atleast_2d(_dense(estimator.coef_))
        addends = np.broadcast_to(np.ravel(estimator.intercept_), len(rows))
        weights = [self._array("coef", rows), self._array("intercept", addends)]
        return self._node("Gemm", [self.current, *weights], output, transB=1)

    def _svr(self, machine: Any) -> None:
        self._linear_kernel(machine)
        self._regressor(machine)

    def _regressor(self, estimator: Any) -> None:
        targets = _axes_of_prediction(estimator)
        scores = self._scores(estimator, "y" if targets > 1 else self._named("scores"))
        self.outputs = [scores if targets > 1 else self._single(scores, "y")]

    def _single(self, scores: str, output: str) -> str:
        """Write one number a sample, without an axis of its own."""
        shape = self._array("shape", np.array([-1]))
        return self._node("Reshape", [scores, shape], output)

    def _classifier(self, estimator: Any) -> None:
        classes = self._classes(estimator)
        if _axes_of_prediction(estimator) > 1:
            self._refuse(estimator, "a classifier of several labels is not there")
        link = _link(estimator)
        scores = self._scores(estimator, self._named("scores"))
        if len(classes) > 2:
            self._label(self._node("ArgMax", [scores], self._named("position"), axis=1, keepdims=0), classes)
            self.outputs.append(self._linked(scores, link, len(classes)))
            return
        decision = self._single(scores, self._named("single") if link else "decision")
        self._above(decision, 0.0, classes)
        if link is not None:
            clipped = link == "clip"
            self._two(self._clipped(scores) if clipped else self._node("Sigmoid", [scores], self._named("chance")))
        else:
            self.outputs.append(decision)

    def _linked(self, scores: str, link: Link | None, classes: int) -> str:
        """Write the probabilities of three or more classes, or the scores themselves where there is no link."""
        match link:
            case "softmax":
                return self._node("Softmax", [scores], "probabilities", axis=1)
            case "sigmoid":
                chances = self._node("Sigmoid", [scores], self._named("chances"))
                return self._node("Normalizer", [chances], "probabilities", domain=MACHINE_LEARNING, norm="L1")
            case "clip":
                return self._shared(self._clipped(scores), classes)
            case None:
                return self._node("Identity", [scores], "decision")
            case _:
                assert_never(link)

    def _clipped(self, scores: str) -> str:
        """Write ``(clip(score, -1, 1) + 1) / 2``."""
        ends = [self._array("lowest", np.float64(-1)), self._array("highest", np.float64(1))]
        clipped = self._node("Clip", [scores, *ends], self._named("clipped"))
        above = self._node("Add", [clipped, self._array("one", np.float64(1))], self._named("above_zero"))
        return self._node("Mul", [above, self._array("half", np.float64(0.5))], self._named("chance"))

    def _shared(self, chances: str, classes: int) -> str:
        """Write chances divided by their sum, or the same share for each class where all chances are 0."""
        axes, zero = self._array("axes", np.array([1])), self._array("zero", np.float64(0))
        total = self._node("ReduceSum", [chances, axes], self._named("total"), keepdims=1)
        nothing = self._node("Equal", [total, zero], self._named("nothing"))
        alike = self._node("Cast", [nothing], self._named("alike"), to=1)
        shares = self._node("Add", [chances, alike], self._named("shares"))
        all_alike = self._node("Mul", [alike, self._array("count", np.float64(classes))], self._named("all_alike"))
        divisor = self._node("Add", [total, all_alike], self._named("divisor"))
        return self._node("Div", [shares, divisor], "probabilities")

    def _above(self, value: str, limit: float, classes: NDArray[Any]) -> None:
        """Write the label of the second class where a value is above a limit, and else that of the first."""
        above = self._node("Greater", [value, self._array("limit", np.float64(limit))], self._named("above"))
        self._label(self._node("Cast", [above], self._named("position"), to=7), classes)

    def _two(self, chance: str) -> None:
        """Write the probabilities of two classes, given that of the second one."""
        other = self._node("Sub", [self._array("one", np.float64(1)), chance], self._named("other"))
        self.outputs.append(self._node("Concat", [other, chance], "probabilities", axis=1))

    def _label(self, position: str, classes: NDArray[Any]) -> None:
        names = self._array("classes", classes)
        self.outputs.append(self._node("ArrayFeatureExtractor", [names, position], "label", domain=MACHINE_LEARNING))

    def _classes(self, estimator: Any) -> NDArray[Any]:
        if not hasattr(estimator, "classes_"):
            raise TablaError(f"the {type(estimator).__name__} has no attribute classes_", hint="fit it anew")
        classes = np.asarray(estimator.classes_)
        if classes.ndim != 1 or len(classes) < 2:
            self._refuse(estimator, "a classifier of several labels, or of one class, is not there")
        if classes.dtype.kind == "b":
            return classes.astype(np.int64)
        return classes.astype(str) if classes.dtype.kind in "OSU" else classes

    def _perceptron(self, network: Any) -> None:
        """Write the layers, up to the operand of the last activation."""
        if network.activation != "identity" and network.activation not in _ACTIVATIONS:
            self._refuse(network, f"the activation '{network.activation}' is not there")
        last = len(network.coefs_) - 1
        for at, (coefficients, intercepts) in enumerate(zip(network.coefs_, network.intercepts_, strict=True)):
            weights = [self._array(f"coefs{at}", coefficients), self._array(f"intercepts{at}", intercepts)]
            self.current = self._node("Gemm", [self.current, *weights], self._named(f"sums{at}"))
            if at < last and network.activation != "identity":
                activation = _ACTIVATIONS[network.activation]
                self.current = self._node(activation, [self.current], self._named(f"hidden{at}"))

    def _perceptron_regressor(self, network: Any) -> None:
        self._perceptron(network)
        if network.out_activation_ != "identity":
            self._refuse(network, f"the output activation '{network.out_activation_}' is not there")
        single = network.n_outputs_ == 1
        self.outputs = [self._single(self.current, "y") if single else self._node("Identity", [self.current], "y")]

    def _perceptron_classifier(self, network: Any) -> None:
        self._perceptron(network)
        classes = self._classes(network)
        link = _link(network)
        if link is None:
            self._decided(network, classes)
        elif network.out_activation_ == "softmax":
            self._label(self._node("ArgMax", [self.current], self._named("position"), axis=1, keepdims=0), classes)
            self.outputs.append(self._node("Softmax", [self.current], "probabilities", axis=1))
        elif network.n_outputs_ == 1:
            self._above(self._single(self.current, self._named("single")), 0.0, classes)
            self._two(self._node("Sigmoid", [self.current], self._named("chance")))
        else:
            self._refuse(network, "a classifier of several labels is not there")

    def _decided(self, network: Any, classes: NDArray[Any]) -> None:
        """Write the label and the operand of the last activation of a network without probabilities."""
        if len(classes) > 2:
            self._label(self._node("ArgMax", [self.current], self._named("position"), axis=1, keepdims=0), classes)
            self.outputs.append(self._node("Identity", [self.current], "decision"))
        else:
            decision = self._single(self.current, "decision")
            self._above(decision, 0.0, classes)
            self.outputs.append(decision)

    def _svc(self, machine: Any) -> None:
        """Write a decision for each pair of classes, the votes, and the label of the class with the most votes."""
        self._linear_kernel(machine)
        classes = self._classes(machine)
        pairs = list(combinations(range(len(classes)), 2))
        if len(classes) == 2:
            scores = self._scores(machine, self._named("scores"))
            decision = self._single(scores, "decision")
            self._above(decision, 0.0, classes)
            self.outputs.append(decision)
            return
        by_pairs = machine.decision_function_shape == "ovo"
        scores = self._scores(machine, "decision" if by_pairs else self._named("scores"))
        signs = np.zeros((len(pairs), len(classes)))
        for at, (first, second) in enumerate(pairs):
            signs[at, first], signs[at, second] = 1, -1
        above = self._node("Greater", [scores, self._array("limit", np.float64(0))], self._named("above"))
        won = self._node("Cast", [above], self._named("won"), to=1)
        # A pair votes for its first class, or else for the second one.
        weights = [self._array("signs", signs), self._array("lost", (signs < 0).sum(axis=0).astype(np.float64))]
        votes = self._node("Gemm", [won, *weights], self._named("votes"))
        decision = scores if by_pairs else self._with_confidences(scores, votes, signs)
        counted = decision if machine.break_ties and not by_pairs else votes
        self._label(self._node("ArgMax", [counted], self._named("position"), axis=1, keepdims=0), classes)
        self.outputs.append(decision)

    def _with_confidences(self, scores: str, votes: str, signs: NDArray[Any]) -> str:
        """Write the votes, of which ties are broken by the sums of the decisions, as scikit-learn does."""
        totals = self._node("MatMul", [scores, self._array("confidences", signs)], self._named("totals"))
        size = self._node("Abs", [totals], self._named("size"))
        larger = self._node("Add", [size, self._array("one", np.float64(1))], self._named("larger"))
        divisor = self._node("Mul", [larger, self._array("three", np.float64(3))], self._named("divisor"))
        share = self._node("Div", [totals, divisor], self._named("share"))
        return self._node("Add", [votes, share], "decision")

    # Faults

    def _linear_kernel(self, machine: Any) -> None:
        if machine.kernel != "linear":
            self._refuse(machine, f"{type(machine).__name__} with the kernel '{machine.kernel}' is not there")

    def _check_fitted(self, estimator: Any) -> None:
        if not [name for name in vars(estimator) if name.endswith("_") and not name.startswith("__")]:
            raise TablaError(f"the {type(estimator).__name__} is not fitted", hint="call fit first")

    def _refuse(self, estimator: Any, message: str) -> NoReturn:
        raise TablaError(message, hint=f"there are {THERE}")


def _one_by_one(estimator: Any) -> bool:
    """Return whether a logistic regression has a model for each class against the rest, and no common softmax.

    Releases of scikit-learn before 1.8 have the parameter `multi_class`, and learn so with the solver liblinear.
    """
    asked = getattr(estimator, "multi_class", "multinomial")
    return asked in ("ovr", "warn") or (asked in ("auto", "deprecated") and estimator.solver == "liblinear")


def _axes_of_prediction(estimator: Any) -> int:
    """Return how many axes predictions have: one, or two if there are several targets or labels."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an estimator that has seen names of features misses them here
        try:
            return int(estimator.predict(np.zeros((1, estimator.n_features_in_))).ndim)
        except Exception as fault:  # an estimator whose numbers were changed may raise anything
            raise TablaError(
                f"the {type(estimator).__name__} cannot predict: {str(fault).splitlines()[0] if str(fault) else fault}",
                hint="fit it anew",
            ) from None


def _link(estimator: Any) -> Link | None:
    """Return the function that makes probabilities of an estimator's decisions, or None if it has no probabilities.

    It is known by the class of scikit-learn that defines ``predict_proba``, and by its loss. Probabilities of any other
    class are left out, with a warning.
    """
    try:
        if not hasattr(estimator, "predict_proba"):
            return None
    except Exception:  # an estimator may raise anything when it is asked for what it does not have
        return None
    owner = next((each for each in type(estimator).__mro__ if "predict_proba" in vars(each)), type(estimator))
    several = len(estimator.classes_) > 2
    match owner.__name__ if owner.__module__.partition(".")[0] == "sklearn" else "":
        case "LogisticRegression":
            return "softmax" if several and not _one_by_one(estimator) else "sigmoid"
        case "LinearDiscriminantAnalysis" | "MLPClassifier":
            return "softmax" if several else "sigmoid"
        case "SGDClassifier" if estimator.loss in _LOSSES:
            return _LOSSES[estimator.loss]
    warnings.warn(
        f"the probabilities of {type(estimator).__name__} are left out, because its predict_proba, of"
        f" {owner.__module__}.{owner.__name__}, is not known here; there are label and decision",
        stacklevel=2,
    )
    return None


def _dense(array: Any) -> NDArray[np.float64]:
    return np.asarray(array.toarray() if hasattr(array, "toarray") else array, dtype=np.float64)


def _numbers(array: NDArray[Any]) -> tuple[float, ...]:
    return tuple(float(each) for each in np.ravel(array))
