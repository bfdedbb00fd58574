"""Regressors and classifiers: from labels to numbers, and from decision values to predictions."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d

from tabla.base.source import TablaValueError
from tabla.learn.data.dataset import Data
from tabla.sklearn.checks import (
    checked_classes,
    checked_data,
    classes_in,
    conversion,
    pair_of,
    unchanged_by_errors,
)
from tabla.sklearn.estimator import FixedPointEstimator
from tabla.sklearn.scaling import Moments

Reals = NDArray[np.float64]


def logistic_losses(decided: Reals, labels: Reals) -> Reals:
    """Return the cross entropy of each sample; labels are 0 and 1.

    One output tells two classes apart. Several outputs are one class each, and their softmax gives the probabilities.
    """
    whole = np.logaddexp(0, decided) if decided.shape[1] == 1 else np.logaddexp.reduce(decided, axis=1, keepdims=True)
    return np.asarray((whole - (labels * decided).sum(axis=1, keepdims=True))[:, 0])


def squared_losses(decided: Reals, labels: Reals) -> Reals:
    """Return half the squared error of each sample."""
    return np.asarray(0.5 * np.square(decided - labels).sum(axis=1))


def probabilities_of(decided: Reals) -> Reals:
    """Return the probabilities of the classes, [samples, classes], from decision values, [samples, outputs].

    One output tells two classes apart. Several outputs are one class each, and their softmax gives the probabilities.
    """
    if decided.shape[1] == 1:
        decided = np.hstack([np.zeros_like(decided), decided])
    relative = np.exp(decided - decided.max(axis=1, keepdims=True))
    return np.asarray(relative / relative.sum(axis=1, keepdims=True))


class FixedPointRegressor(RegressorMixin, FixedPointEstimator):
    """A regressor: its labels are real numbers, which are standardised as the inputs are."""

    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn one epoch more from inputs X of shape [samples, features] and a number y for each sample.

        The first call chooses the number format and the learning rate by its samples. Means and deviations are those
        of the samples of all calls.
        """
        return self._partial_fit(X, y)

    def predict(self, X: ArrayLike) -> Reals:
        """Return a number for each sample of X, which has the shape [samples, features]."""
        decided = self._decided(X)
        return self._labels.undo(decided)[:, 0]

    def score(self, X: ArrayLike | Data, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Return R2, the coefficient of determination, of the predictions for X against y.

        X may also be a :class:`tabla.Data`, whose test part counts, or without one all its samples.
        """
        inputs, labels = pair_of(X, y, held_out=True)
        return float(super().score(inputs, labels, sample_weight))

    def _labels_of(self, X: ArrayLike, y: ArrayLike, *, reset: bool) -> tuple[Reals, Reals]:
        inputs, labels = checked_data(self, X, y, y_numeric=True, reset=reset)
        with conversion(inputs, labels):
            labels = column_or_1d(labels, dtype=np.float64)
        # An object such as None becomes a NaN when it is made a number, which is after the checks of scikit-learn.
        assert_all_finite(labels, input_name="y")
        return inputs, labels[:, None]

    def _label_moments(self, labels: Reals) -> Moments | None:
        return Moments.of(labels, centre=self._centred) if self.standardise else None

    def _losses(self, decided: Reals, labels: Reals) -> Reals:
        return squared_losses(decided, labels)


class FixedPointClassifier(ClassifierMixin, FixedPointEstimator):
    """A classifier: two classes have one output, and more classes one each."""

    _no, _yes = 0.0, 1.0
    """What the labels of an output are for the other classes, and for its class."""

    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn one epoch more from inputs X of shape [samples, features] and a class y for each sample.

        The first call needs all `classes`. It chooses the number format and the learning rate by its samples. Means
        and deviations are those of the samples of all calls.
        """
        given = None if classes is None else checked_classes(classes)
        with unchanged_by_errors(self):
            if not hasattr(self, "_learned"):
                if given is None:
                    hint = "give classes=np.unique(y), with the labels of all samples"
                    raise TablaValueError("classes: the first call of partial_fit needs them all", hint=hint)
                self._note(given, "classes: ")
            elif given is not None and not np.array_equal(given, self.classes_):
                raise TablaValueError(
                    f"classes: {given} are not those of the first call, {self.classes_}", hint="leave them out"
                )
            return self._partial_fit(X, y)

    def predict(self, X: ArrayLike) -> NDArray[np.generic]:
        """Return the class of each sample of X, which has the shape [samples, features]."""
        decided = self._decided(X)
        chosen = (decided[:, 0] > 0).astype(np.int64) if decided.shape[1] == 1 else decided.argmax(axis=1)
        return np.asarray(self.classes_[chosen])

    def score(self, X: ArrayLike | Data, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy of the predictions for X against y.

        X may also be a :class:`tabla.Data`, whose test part counts, or without one all its samples.
        """
        inputs, labels = pair_of(X, y, held_out=True)
        return float(super().score(inputs, labels, sample_weight))

    def _decision_values(self, X: ArrayLike) -> Reals:
        decided = self._decided(X)
        return decided[:, 0] if decided.shape[1] == 1 else decided

    def _first_labels(self, X: ArrayLike, y: ArrayLike) -> tuple[Reals, Reals]:
        inputs, labels = self._checked(X, y, reset=True)
        self._note(np.unique(labels), "")
        return inputs, self._one_each(labels)

    def _labels_of(self, X: ArrayLike, y: ArrayLike, *, reset: bool) -> tuple[Reals, Reals]:
        inputs, labels = self._checked(X, y, reset=reset)
        return inputs, self._one_each(labels)

    def _note(self, classes: NDArray[np.generic], where: str) -> None:
        """Set `classes_`. `where` is the beginning of the error if there are less than two."""
        if len(classes) < 2:
            name = type(self).__name__
            found = f"only one class: {classes.tolist()[0]!r}" if len(classes) else "none"
            raise TablaValueError(
                f"{where}{name} needs samples of at least 2 classes, and the data contains {found}",
                hint="give samples of another class",
            )
        self.classes_ = classes

    def _checked(self, X: ArrayLike, y: ArrayLike, *, reset: bool) -> tuple[Reals, NDArray[np.generic]]:
        inputs, labels = checked_data(self, X, y, reset=reset)
        labels = column_or_1d(labels, warn=True)
        classes_in("y", labels)
        check_classification_targets(labels)
        return inputs, labels

    def _one_each(self, labels: NDArray[np.generic]) -> Reals:
        """Return the labels of the outputs, [samples, outputs]."""
        if strangers := sorted(set(np.unique(labels).tolist()) - set(self.classes_.tolist())):
            hint = "call fit to start again with other classes" if hasattr(self, "_learned") else "name it in classes="
            raise TablaValueError(f"y holds the class {strangers[0]!r}, which is not among {self.classes_}", hint=hint)
        classes = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        return np.where(labels[:, None] == classes, self._yes, self._no)


class WithProbabilities(FixedPointClassifier):
    """A classifier that learns by the cross entropy of probabilities, which follow from its decision values."""

    @property
    def _cross_entropy(self) -> str:
        """The name of the loss in programs: that of two classes, which have one output, or that of more."""
        return "logistic" if len(self.classes_) == 2 else "softmax"

    def _losses(self, decided: Reals, labels: Reals) -> Reals:
        return logistic_losses(decided, labels)

    def predict_proba(self, X: ArrayLike) -> Reals:
        """Return the probability of each class, [samples, classes], for X of shape [samples, features]."""
        return probabilities_of(self._decided(X))

    def predict_log_proba(self, X: ArrayLike) -> Reals:
        """Return the natural logarithms of the probabilities."""
        return np.asarray(np.log(self.predict_proba(X)))
