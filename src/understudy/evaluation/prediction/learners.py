"""The learners that predictions are made with, by name: scikit-learn's and XGBoost's.

Twelve are those of TUC-2 section 3.6.2 and five those of SBA section V, four of them the same. As
SBA did, they keep the parameters that their packages give them, with the exceptions below.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from understudy.errors import UsageError
from understudy.system.extras import require

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


@dataclass(frozen=True, kw_only=True)
class Learner:
    """One way of learning to predict.

    Attributes:
        classifier: what predicts a class. `regressor`: what predicts a number; None if nothing.
        used_by: the papers that used it.
        most_rows: the most rows it learns from, chosen by the seed.
    """

    name: str
    title: str
    classifier: Recipe
    regressor: Recipe | None
    used_by: tuple[str, ...]
    most_rows: int | None = None

    def recipe(self, task: str) -> Recipe | None:
        """Return the recipe for classification or regression."""
        return self.classifier if task == "classification" else self.regressor

    def capped(self, most: int) -> int:
        """How many rows it learns from where no learner has more than `most`."""
        return most if self.most_rows is None else min(self.most_rows, most)


def _ensemble(
    name: str, title: str, prefix: str, *, used_by: tuple[str, ...], **parameters: Any
) -> Learner:
    """An ensemble of trees: scikit-learn's classifier and regressor of one prefix."""
    module = "sklearn.ensemble"
    return Learner(
        name=name,
        title=title,
        classifier=Recipe(module, f"{prefix}Classifier", parameters),
        regressor=Recipe(module, f"{prefix}Regressor", parameters),
        used_by=used_by,
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
            name="logistic-regression",
            title="logistic or linear regression",
            classifier=Recipe(_SKLEARN + "linear_model", "LogisticRegression", _LOGISTIC),
            regressor=Recipe(_SKLEARN + "linear_model", "LinearRegression"),
            used_by=(SBA,),
        ),
        _ensemble(
            "random-forest", "random forest", "RandomForest", used_by=(TUC_2, SBA), n_jobs=-1
        ),
        Learner(
            name="xgboost",
            title="XGBoost",
            classifier=Recipe("xgboost", "XGBClassifier"),
            regressor=Recipe("xgboost", "XGBRegressor"),
            used_by=(TUC_2,),
        ),
        Learner(
            name="decision-tree",
            title="decision tree (CART)",
            classifier=Recipe(_SKLEARN + "tree", "DecisionTreeClassifier"),
            regressor=Recipe(_SKLEARN + "tree", "DecisionTreeRegressor"),
            used_by=(TUC_2,),
        ),
        _ensemble("adaboost", "AdaBoost", "AdaBoost", used_by=(TUC_2,)),
        _ensemble("gradient-boosting", "gradient boosting", "GradientBoosting", used_by=(TUC_2,)),
        Learner(
            name="svm",
            title="support vector machine",
            classifier=Recipe(_SKLEARN + "svm", "SVC"),
            regressor=Recipe(_SKLEARN + "svm", "SVR"),
            used_by=(TUC_2, SBA),
            most_rows=_KERNEL_ROWS,
        ),
        Learner(
            name="linear-svm",
            title="linear support vector machine",
            classifier=Recipe(_SKLEARN + "svm", "LinearSVC"),
            regressor=Recipe(_SKLEARN + "svm", "LinearSVR"),
            used_by=(TUC_2,),
            most_rows=_KERNEL_ROWS,
        ),
        Learner(
            name="naive-bayes",
            title="Gaussian naive Bayes",
            classifier=Recipe(_SKLEARN + "naive_bayes", "GaussianNB"),
            regressor=None,
            used_by=(TUC_2, SBA),
        ),
        Learner(
            name="lda",
            title="linear discriminant analysis",
            classifier=Recipe(_SKLEARN + "discriminant_analysis", "LinearDiscriminantAnalysis"),
            regressor=None,
            used_by=(TUC_2,),
        ),
        Learner(
            name="qda",
            title="quadratic discriminant analysis",
            classifier=Recipe(
                _SKLEARN + "discriminant_analysis", "QuadraticDiscriminantAnalysis", _QUADRATIC
            ),
            regressor=None,
            used_by=(TUC_2,),
        ),
        Learner(
            name="perceptron",
            title="multi-layer perceptron",
            classifier=Recipe(_SKLEARN + "neural_network", "MLPClassifier", _PERCEPTRON),
            regressor=Recipe(_SKLEARN + "neural_network", "MLPRegressor", _PERCEPTRON),
            used_by=(TUC_2,),
        ),
        Learner(
            name="nearest-neighbours",
            title="k nearest neighbours",
            classifier=Recipe(_SKLEARN + "neighbors", "KNeighborsClassifier"),
            regressor=Recipe(_SKLEARN + "neighbors", "KNeighborsRegressor"),
            used_by=(TUC_2, SBA),
            most_rows=_KERNEL_ROWS,
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
