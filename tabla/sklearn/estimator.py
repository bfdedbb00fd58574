"""What all estimators share: `fit`, `partial_fit`, the accelerator and its report."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, check_random_state

from tabla.base.options import rule_of
from tabla.base.parameters import checked_number, checked_text, checked_truth, checked_whole
from tabla.base.source import TablaValueError
from tabla.build.arrays import shapes_of
from tabla.build.files.bus import MEGAHERTZ
from tabla.build.options import ArrayOptions, Options
from tabla.driver import Build
from tabla.host.engines.session import EVALUATION, check_installed, checked_engine
from tabla.learn.data.dataset import Data
from tabla.learn.options import LearnOptions
from tabla.sklearn.checks import check_seed, checked_data, pair_of, positive, unchanged_by_errors, value_errors
from tabla.sklearn.inference import inference_build
from tabla.sklearn.learning import Samples, begun, begun_words, decisions, learned
from tabla.sklearn.program import DECAY, DECISION, Program
from tabla.sklearn.scaling import MOST_DECAY, Moments, Penalty, Scaling, power_below

Reals = NDArray[np.float64]
_CALM = 8
"""The automatic learning rate is at most 1 / (`_CALM` * mean curvature), so that single steps bring little noise."""
SEVERAL_DEVIATIONS = 4.0
"""Standardised inputs of later samples are expected to be so large, if the first ones do not tell."""
_LASTING = (
    *("pes", "format", "model_guard", "learning_rate_init", "fit_intercept", "standardise"),
    *("hidden_layer_sizes", "activation", "loss"),
)
"""The parameters that the first call of `partial_fit` decides on, beside `minibatch`."""


_SCHEDULED = ("build_", "inference_build_", "report_")
"""The attributes that need the schedule of the accelerator, which takes seconds."""
_ON_A_PAGE: ContextVar[bool] = ContextVar("_ON_A_PAGE", default=False)
"""Whether scikit-learn is asking for all attributes, to show them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The figures of an accelerator that learns.

    `cycles` is the number of cycles per sample in the steady state, and `latency` that from a sample's first word to
    its last update. `samples_per_second` holds for a clock of `clock_megahertz`. `format` is the number format of the
    words, and `model_guard` the number of bits that models have beside those of a word.
    """

    format: str
    model_guard: int
    pes: int
    minibatch: int
    cycles: int | float
    latency: int
    samples_per_second: float
    clock_megahertz: int


class FixedPointEstimator(BaseEstimator):
    """An estimator that learns by stochastic gradient steps in fixed point.

    These parameters are those of all estimators:

    * `pes`: the number of processing elements of the accelerator, 1 to 128.
    * `format`: the number format, such as ``q4.12``, or ``autoN`` for N bits, 8 to 32, chosen from the data.
    * `model_guard`: the bits that models have beside those of a word; None stands for what the data ask for, and for 0
      if `format` names a number format.
    * `minibatch`: the number of samples of a step. Nothing is learnt from last samples that do not fill a step.
    * `learning_rate_init`: the learning rate of the mean gradient of a step, or ``auto``.
    * `max_iter`: the number of epochs at most.
    * `tol`, `n_iter_no_change`: learning stops after so many epochs in a row whose mean loss is not at least `tol`
      below the smallest one before, as in scikit-learn's ``SGDClassifier``. With a `tol` of None it never stops early.
    * `engine`: what learns: ``evaluation``, the default, or an engine of :meth:`tabla.Build.train` that simulates the
      accelerator. The words are the same.
    * `standardise`: give inputs, and the labels of regressors, a mean of 0 and a standard deviation of 1, on the host.
    * `random_state`: a seed of the order of the samples and of the initial models of perceptrons.

    All estimators have these attributes once they are fitted: `n_iter_`, the number of epochs that ran; `loss_curve_`,
    the mean loss of the samples of each epoch just before they were learnt from, without the penalty; `models_`, the
    values of the models by the names of the program; `format_` and `model_guard_`; `overflows_`, how many results
    saturated in the last call; and `input_mean_`, `input_scale_`, `label_mean_` and `label_scale_`, by which the host
    standardises.

    A subclass says what its program is, how labels become numbers, and what its attributes are.
    """

    _penalty_parameter: ClassVar[str] = "alpha"
    """The parameter that the penalty follows from. The inverse of the penalty is C."""

    def fit(self, X: ArrayLike | Data, y: ArrayLike | None = None) -> Self:
        """Learn for `max_iter` epochs from inputs X of shape [samples, features] and one label y for each sample.

        X may also be a :class:`tabla.Data` with an input ``x`` and a label ``y``, whose training part is learnt from.

        Parameters and data that do not fit are a ValueError or a TypeError, which names the cure. The estimator is then
        as it was before.
        """
        self._check()
        given, wanted = pair_of(X, y)
        with unchanged_by_errors(self), value_errors():
            inputs, labels = self._first_labels(given, wanted)
            self._start(inputs, labels)
            self._learn(inputs, labels, self.max_iter, stops=self._stops)
            if not self._warn_of_nothing():
                self._warn_of_too_few_epochs()
        return self

    def _partial_fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn for one more epoch. The first call chooses from its samples what `fit` chooses."""
        first = not hasattr(self, "_learned")
        self._check()
        if not first:
            self._check_continuation()
        with unchanged_by_errors(self), value_errors():
            inputs, labels = self._labels_of(X, y, reset=first)
            if first:
                self._start(inputs, labels, goes_on=True)
            else:
                self._scale_on(inputs, labels)
            self._learn(inputs, labels, 1)
            if first:
                self._warn_of_nothing()
        return self

    @property
    def build_(self) -> Build:
        """The compiled accelerator, which learns as `fit` does. It is scheduled when it is first asked for, and does
        not hold the learnt models: `models_` has them.
        """
        check_is_fitted(self, "_learned")
        build = self._learned.recipe.build()
        build.check()
        return build

    @property
    def inference_build_(self) -> Build:
        """The compiled accelerator that predicts and does not learn. Its memories start with the learnt models.

        The decision values of a sample leave it. `predict` of this build takes inputs as the estimator does, and
        standardises them on the host.
        """
        check_is_fitted(self, "_learned")
        build = inference_build(self._learned, self._inputs, self._labels, {})
        build.check()
        return build

    @property
    def report_(self) -> Report:
        """The cycles of the accelerator, its samples a second, and its format. They need its schedule."""
        figures = self.build_.report()
        return Report(
            format=figures.format,
            model_guard=figures.model_guard,
            pes=figures.pes,
            minibatch=figures.minibatch,
            cycles=figures.cycles,
            latency=figures.latency,
            samples_per_second=MEGAHERTZ * 1e6 / figures.cycles,
            clock_megahertz=MEGAHERTZ,
        )

    def __dir__(self) -> list[str]:
        """List the attributes that can be read now, so that a press of Tab completes them.

        The page that a notebook shows of an estimator asks for the value of every attribute in this list. For it those
        that schedule the accelerator are left out.
        """
        found = [name for name in object.__dir__(self) if name not in _SCHEDULED and hasattr(self, name)]
        return found if _ON_A_PAGE.get() or not hasattr(self, "_learned") else [*found, *_SCHEDULED]

    def _get_fitted_attr_html(self, doc_link: str = "") -> object:
        """Return the table of the fitted attributes, which scikit-learn puts on the page of an estimator."""
        token = _ON_A_PAGE.set(True)
        try:
            return super()._get_fitted_attr_html(doc_link)
        finally:
            _ON_A_PAGE.reset(token)

    # A subclass overrides the following methods.

    def _checks(self) -> None:
        """Check the parameters that this class has. A wrong one is a `TablaTypeError` or a `TablaValueError`."""

    def _program(self, features: int, outputs: int, learning_rate: str) -> Program:
        """Return the program for so many features and outputs."""
        raise NotImplementedError

    def _first_labels(self, X: ArrayLike, y: ArrayLike) -> tuple[Reals, Reals]:
        """Check the data of `fit`, and note what follows from it, such as the classes.

        Return the inputs, and the labels as [samples, outputs].
        """
        return self._labels_of(X, y, reset=True)

    def _labels_of(self, X: ArrayLike, y: ArrayLike, *, reset: bool) -> tuple[Reals, Reals]:
        """Check data, and return it as `_first_labels` does. With `reset`, the features are noted, too."""
        raise NotImplementedError

    def _label_moments(self, labels: Reals) -> Moments | None:
        """Return the moments by which labels are standardised, or None if they are stored as they are."""
        return None

    def _initial(self, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Reals]:
        """Return the models of given shapes to start from."""
        return {name: np.zeros(shape) for name, shape in shapes.items()}

    def _penalty(self, samples: int) -> float:
        """Return how much a sample of so many shrinks the weights, in parts of the learning rate."""
        return 0.0

    def _curvature(self, squares: float) -> float:
        """Return a bound of the second derivative of the loss of a sample along its gradient.

        `squares` is the sum of the squares of the inputs of that sample, with 1 for an intercept.
        """
        raise NotImplementedError

    def _losses(self, decided: Reals, labels: Reals) -> Reals:
        """Return the loss of each sample, given decision values and stored labels of [samples, outputs]."""
        raise NotImplementedError

    def _publish(self, models: Mapping[str, Reals]) -> None:
        """Set the attributes that follow from the values of the models."""
        raise NotImplementedError

    # All estimators share the following methods.

    @property
    def _centred(self) -> bool:
        return bool(getattr(self, "fit_intercept", True))

    def _check(self) -> None:
        with value_errors():
            checked_whole("max_iter", self.max_iter, rule_of(LearnOptions, "epochs"))
            checked_whole("n_iter_no_change", self.n_iter_no_change, rule_of(LearnOptions, "patience"))
            if self.tol is not None:
                positive("tol", self.tol, or_zero=True)
            check_installed(checked_engine(EVALUATION if self.engine is None else self.engine, trains=True))
            if self.learning_rate_init != "auto":
                positive("learning_rate_init", self.learning_rate_init)
            for name in ("standardise", "fit_intercept"):
                checked_truth(name, getattr(self, name, True))
            check_seed("random_state", self.random_state)
            checked_whole("pes", self.pes, rule_of(ArrayOptions, "pes"))
            checked_text("format", self.format, "auto16")
            _ = self._options
            self._checks()

    @property
    def _options(self) -> Options:
        return Options(
            pes=self.pes,
            format=self.format,
            model_guard=self.model_guard,
            minibatch=self.minibatch,
            results=(DECISION,),
        )

    def _check_continuation(self) -> None:
        """Refuse parameters with which the program that was made by the first call cannot go on."""
        recipe = self._learned.recipe
        if self.minibatch != recipe.minibatch:
            raise TablaValueError(
                f"minibatch: the models learn in steps of {recipe.minibatch} since the first call",
                hint=f"use minibatch={recipe.minibatch}, or call fit to start again",
            )
        for name, value in self._lasting.items():
            if getattr(self, name) != value:
                raise TablaValueError(
                    f"{name}: the accelerator was chosen with {value!r} in the first call, and is now asked for with "
                    f"{getattr(self, name)!r}",
                    hint=f"use {name}={value!r}, or call fit to start again",
                )
        decays = DECAY in shapes_of(recipe.build().lowered, "input")
        if decays != (self._penalty(1) > 0):
            name = self._penalty_parameter
            raise TablaValueError(
                f"{name}: the models learn {'with' if decays else 'without'} a penalty since the first call",
                hint=f"use {name} {'above 0' if decays else '= 0'}, or call fit to start again",
            )

    def _start(self, inputs: Reals, labels: Reals, *, goes_on: bool = False) -> None:
        """Choose scaling, order, learning rate and format, and set the models to their start.

        If learning `goes_on` with other samples, columns that are constant so far may be so no more.
        """
        outputs = labels.shape[1]
        options = self._options
        self._lasting = {name: getattr(self, name) for name in _LASTING if hasattr(self, name)}
        random = check_random_state(self.random_state)
        self._seed = int(random.randint(np.iinfo(np.int32).max))
        self._input_moments = Moments.of(inputs, centre=self._centred) if self.standardise else None
        self._output_moments = self._label_moments(labels)
        self._set_scaling(inputs.shape[1], outputs)
        self._due = 0
        self.n_iter_ = 0
        self.loss_curve_: list[float] = []
        samples = self._samples(inputs, labels)
        unseen = (
            self._input_moments.constant if goes_on and self._input_moments else np.zeros(inputs.shape[1], np.bool_)
        )
        program = self._program(inputs.shape[1], outputs, self._learning_rate(samples, int(unseen.sum())))
        reach = SEVERAL_DEVIATIONS if unseen.any() else 0.0
        self._learned = begun(program, options, samples, self._initial, self._losses, self.max_iter, reach=reach)
        self.format_, self.model_guard_ = self._learned.recipe.format, self._learned.recipe.model_guard

    def _scale_on(self, inputs: Reals, labels: Reals) -> None:
        """Take more samples into the means and deviations, as scikit-learn's ``StandardScaler.partial_fit`` does."""
        if self._input_moments is not None:
            self._input_moments = self._input_moments.joined(Moments.of(inputs, centre=self._centred))
        more = self._label_moments(labels)
        if self._output_moments is not None and more is not None:
            self._output_moments = self._output_moments.joined(more)
        self._set_scaling(inputs.shape[1], labels.shape[1])

    def _set_scaling(self, features: int, outputs: int) -> None:
        inputs, labels = self._input_moments, self._output_moments
        self._inputs = Scaling.identity(features) if inputs is None else inputs.scaling
        self._labels = Scaling.identity(outputs) if labels is None else labels.scaling
        self.input_mean_, self.input_scale_ = self._inputs.mean, self._inputs.scale
        self.label_mean_, self.label_scale_ = self._labels.mean, self._labels.scale

    def _samples(self, inputs: Reals, labels: Reals) -> Samples:
        """Return samples as they are stored, in the order in which they are learnt."""
        count = len(inputs)
        if count < self.minibatch:
            raise TablaValueError(
                f"minibatch: n_samples={count} do not fill a step of {self.minibatch}",
                hint=f"use minibatch={count} or less, or more data",
            )
        order = np.random.default_rng(self._seed).permutation(len(inputs))
        size, due = self._penalty(len(inputs)), self._due
        if size > MOST_DECAY:
            name = self._penalty_parameter
            raise TablaValueError(
                f"{name}: the penalty of a sample is {size:.3g}, and at most {MOST_DECAY:g} can be learnt",
                hint=f"use a {'larger C' if name == 'C' else f'smaller {name}'}",
            )

        penalty = Penalty.of(size)

        def paid(epoch: int) -> Reals:
            return penalty.paid(penalty.due(due, epoch * len(inputs)), len(inputs))

        return Samples(
            inputs=self._inputs.apply(inputs)[order],
            labels=self._labels.apply(labels)[order],
            decays=paid if size else None,
        )

    def _learning_rate(self, samples: Samples, unseen: int) -> str:
        """Return the learning rate of a sample: that of the mean gradient of a minibatch, divided by its samples.

        So many columns as are `unseen` have no deviation yet, and are expected to have one of 1.
        """
        rate = self.learning_rate_init
        if rate == "auto":
            squares = np.square(samples.inputs).sum(axis=1) + self._centred + unseen
            # The largest curvature bounds the stable rates, and the mean one how much the models shake in the end.
            largest, mean = self._curvature(float(squares.max())), _CALM * self._curvature(float(squares.mean()))
            rate = power_below(1 / max(1.0, max(largest, mean) + self._penalty(len(squares))))
        return checked_number("learning_rate_init", float(rate) / self.minibatch)

    def _stops(self, losses: Sequence[float]) -> bool:
        """Return whether the last epochs were no better than the ones before, as ``SGDClassifier`` decides it."""
        if self.tol is None:
            return False
        best, without = np.inf, 0
        for loss in losses:
            without = without + 1 if loss > best - float(self.tol) else 0
            best = min(best, loss)
        return bool(without >= self.n_iter_no_change)

    def _learn(
        self, inputs: Reals, labels: Reals, epochs: int, *, stops: Callable[[Sequence[float]], bool] | None = None
    ) -> None:
        """Learn for so many epochs, or fewer if `stops` says so of the losses of the epochs so far."""
        samples = self._samples(inputs, labels)
        engine = EVALUATION if self.engine is None else self.engine
        losses: list[float] = []

        def seen(decided: Reals) -> bool:
            losses.append(float(self._losses(decided, samples.labels[: len(decided)]).mean()))
            return stops is not None and stops(losses)

        self._learned, course = learned(self._learned, samples, epochs=epochs, engine=engine, seen=seen)
        self._due = Penalty.of(self._penalty(len(inputs))).due(self._due, len(losses) * len(inputs))
        # A new list: one that grew in its place would not be restored after an error.
        self.loss_curve_ = [*self.loss_curve_, *losses]
        self.n_iter_ += len(losses)
        self.overflows_ = course.overflows
        self.models_ = self._learned.models
        self._publish(self.models_)

    def _warn_of_too_few_epochs(self) -> None:
        """Warn if the loss still fell when the epochs were over."""
        if self.tol is not None and not self._stops(self.loss_curve_):
            warnings.warn(
                f"max_iter={self.max_iter} epochs were over before the loss stayed within tol={self.tol:g} for"
                f" n_iter_no_change={self.n_iter_no_change} of them; use a larger max_iter, a larger tol, or tol=None"
                " to learn for all epochs",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _warn_of_nothing(self) -> bool:
        """Warn if no step has changed a model although samples were decided wrongly, and return whether it is so."""
        recipe = self._learned.recipe
        first = begun_words(recipe, self._initial)
        same = all(np.array_equal(first[n], words) for n, words in self._learned.words.items())
        if nothing := any(self.loss_curve_) and same:
            warnings.warn(
                f"nothing was learnt: every update is 0 or smaller than half a unit of {recipe.format};"
                " use a format with more fraction bits, a larger learning_rate_init, or larger inputs",
                ConvergenceWarning,
                stacklevel=4,
            )
        return nothing

    def _decided(self, X: ArrayLike) -> Reals:
        """Return the decision values of inputs, [samples, outputs]."""
        check_is_fitted(self, "_learned")
        inputs = checked_data(self, X, reset=False)
        return decisions(self._learned, self._inputs.apply(inputs))
