"""The learners that predictions are made with, by name: scikit-learn's and XGBoost's.

Twelve are those of TUC-2 section 3.6.2 and five those of SBA section V, four of them the same. As
SBA did, they keep the parameters that their packages give them, with the exceptions below.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from understudy.errors import UsageError
from understudy.optional import require

TUC_2, SBA = "TUC-2", "SBA"

# Beyond so many rows the time of kernels and of neighbours grows out of hand.
_KERNEL_ROWS = 10_000


@dataclass(frozen=True)
class Recipe:
    """Where a learner is found, and the parameters it is made with."""

    module: str
    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def make(self, seed: int) -> Any:
        """A new learner, seeded where it draws at random."""
        learner = getattr(require(self.module, extra="evaluate"), self.name)(**self.parameters)
        if "random_state" in learner.get_params():
            learner.set_params(random_state=seed)
        return learner


@dataclass(frozen=True)
class Learner:
    """One way of learning to predict.

    Attributes:
        classifier: what predicts a class. `regressor`: what predicts a number; None if nothing.
        used_by: the papers that used it.
        most_rows: it learns from so many rows at most, chosen by the seed.
    """

    name: str
    title: str
    classifier: Recipe
    regressor: Recipe | None
    used_by: tuple[str, ...]
    most_rows: int | None = None

    def recipe(self, task: str) -> Recipe | None:
        """The recipe for classification or regression."""
        return self.classifier if task == "classification" else self.regressor

    def capped(self, most: int) -> int:
        """How many rows it learns from where no learner has more than `most`."""
        return most if self.most_rows is None else min(self.most_rows, most)


def _trees(name: str, **parameters: Any) -> tuple[Recipe, Recipe]:
    module = "sklearn.ensemble"
    return (
        Recipe(module, f"{name}Classifier", parameters),
        Recipe(module, f"{name}Regressor", parameters),
    )


# One-hot columns of a class are dependent; without a little of the identity matrix added to its
# covariance, quadratic discriminant analysis has none to invert.
_QUADRATIC = {"reg_param": 0.01}
# A tenth of the training rows tells when to stop; to the end it would take minutes.
_PERCEPTRON = {"early_stopping": True}
# The default of 100 steps is too few for columns that are all but dependent.
_LOGISTIC = {"max_iter": 1_000}

_SKLEARN = "sklearn."
LEARNERS: Mapping[str, Learner] = {
    learner.name: learner
    for learner in (
        Learner(
            "logistic-regression",
            "logistic (for numbers: linear) regression",
            Recipe(_SKLEARN + "linear_model", "LogisticRegression", _LOGISTIC),
            Recipe(_SKLEARN + "linear_model", "LinearRegression"),
            (SBA,),
        ),
        Learner("random-forest", "random forest", *_trees("RandomForest", n_jobs=-1), (TUC_2, SBA)),
        Learner(
            "xgboost",
            "XGBoost",
            Recipe("xgboost", "XGBClassifier"),
            Recipe("xgboost", "XGBRegressor"),
            (TUC_2,),
        ),
        Learner(
            "decision-tree",
            "decision tree (CART)",
            Recipe(_SKLEARN + "tree", "DecisionTreeClassifier"),
            Recipe(_SKLEARN + "tree", "DecisionTreeRegressor"),
            (TUC_2,),
        ),
        Learner("adaboost", "AdaBoost", *_trees("AdaBoost"), (TUC_2,)),
        Learner("gradient-boosting", "gradient boosting", *_trees("GradientBoosting"), (TUC_2,)),
        Learner(
            "svm",
            "support vector machine",
            Recipe(_SKLEARN + "svm", "SVC"),
            Recipe(_SKLEARN + "svm", "SVR"),
            (TUC_2, SBA),
            _KERNEL_ROWS,
        ),
        Learner(
            "linear-svm",
            "linear support vector machine",
            Recipe(_SKLEARN + "svm", "LinearSVC"),
            Recipe(_SKLEARN + "svm", "LinearSVR"),
            (TUC_2,),
            _KERNEL_ROWS,
        ),
        Learner(
            "naive-bayes",
            "Gaussian naive Bayes",
            Recipe(_SKLEARN + "naive_bayes", "GaussianNB"),
            None,
            (TUC_2, SBA),
        ),
        Learner(
            "lda",
            "linear discriminant analysis",
            Recipe(_SKLEARN + "discriminant_analysis", "LinearDiscriminantAnalysis"),
            None,
            (TUC_2,),
        ),
        Learner(
            "qda",
            "quadratic discriminant analysis",
            Recipe(_SKLEARN + "discriminant_analysis", "QuadraticDiscriminantAnalysis", _QUADRATIC),
            None,
            (TUC_2,),
        ),
        Learner(
            "perceptron",
            "multi-layer perceptron",
            Recipe(_SKLEARN + "neural_network", "MLPClassifier", _PERCEPTRON),
            Recipe(_SKLEARN + "neural_network", "MLPRegressor", _PERCEPTRON),
            (TUC_2,),
        ),
        Learner(
            "nearest-neighbours",
            "k nearest neighbours",
            Recipe(_SKLEARN + "neighbors", "KNeighborsClassifier"),
            Recipe(_SKLEARN + "neighbors", "KNeighborsRegressor"),
            (TUC_2, SBA),
            _KERNEL_ROWS,
        ),
    )
}

_SETS: Mapping[str, tuple[str, ...]] = {
    "default": ("logistic-regression", "random-forest", "xgboost"),
    "all": tuple(LEARNERS),
    "tuc-2": tuple(name for name, learner in LEARNERS.items() if TUC_2 in learner.used_by),
    "sba": tuple(name for name, learner in LEARNERS.items() if SBA in learner.used_by),
    "none": (),
}


def learners(asked: str | Sequence[str]) -> tuple[Learner, ...]:
    """A named set of learners, or some by their names.

    Example:
        >>> [learner.name for learner in learners("default")]
        ['logistic-regression', 'random-forest', 'xgboost']
    """
    names = _SETS.get(asked, (asked,)) if isinstance(asked, str) else tuple(dict.fromkeys(asked))
    unknown = [name for name in names if name not in LEARNERS]
    if unknown:
        known = ", ".join((*_SETS, *LEARNERS))
        raise UsageError(f"classifier {unknown[0]!r} is unknown; known are {known}")
    return tuple(LEARNERS[name] for name in names)
