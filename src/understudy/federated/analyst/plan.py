"""The definition of a run among holders: public, and fixed before the first question."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TypeVar

from understudy.errors import UsageError
from understudy.facts.capacity import ensure_tables_fit
from understudy.facts.codec.made_texts import check_makers
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours, Unit
from understudy.federated.sums import SumProtocol
from understudy.federated.terms import Limits, ProtocolName, Terms
from understudy.methods.structure.given import check_network
from understudy.methods.structure.required import least_tables
from understudy.methods.structure.restrict import NONE, Restrictions
from understudy.methods.structure.scores import score_for
from understudy.methods.structure.table_rules import check_table_rules
from understudy.models.network import Network
from understudy.privacy.budget import Amount, Budget, Measure
from understudy.privacy.spending.grant import Grant

E = TypeVar("E", ProtocolName, Neighbours)

# One-way tables; in each of two rounds tables in groups, then the tables that were chosen.
ADAPTIVE_QUESTIONS = 5
GATHERINGS = ("network", "union")
BALLOTS = ("choices", "scores")
LEARNERS = ("greedy", "tree", "genetic")

# A table of k + 1 attributes must be looked at for every family; beyond this nobody waits for it.
_MOST_TABLES = 5_000


@dataclass(frozen=True, kw_only=True)
class Form:
    """Where the protocols go beyond their sources; each point can be switched off.

    Attributes:
        full_budget: only tables that are needed are asked for, they share the budget so that
            their error is least, and choices are by permute-and-flip; the theses ask for every
            one, share equally, give half of the budget to the structure, and choose by the
            exponential mechanism.
        sized: families are weighed against the noise of the summed tables; the theses take the
            best score at a fixed degree.
        consistent: summed tables are made to agree; the theses clip and normalise each.
        unclipped: negative counts leave holders as they are, so that sums stay right on average;
            in the theses holders set them to zero.
        weighted: a vote counts by the holder's rows, and in part for families that are alike; in
            the theses each counts one, for its own family alone.
    """

    full_budget: bool = True
    sized: bool = True
    consistent: bool = True
    unclipped: bool = True
    weighted: bool = True

    @classmethod
    def plain(cls) -> Form:
        """The protocols as the theses print them."""
        return cls(
            full_budget=False, sized=False, consistent=False, unclipped=False, weighted=False
        )


@dataclass(frozen=True)
class Collaboration:
    """A run among holders.

    Attributes:
        schema: the declared values of each column, the same at every holder.
        protocol: how to learn.
        epsilon: the privacy loss at every holder.
        delta: the chance of a larger one there; 0 asks for pure privacy and Laplace noise.
        neighbours: replace, with public numbers of rows, or add-remove, where they are paid for.
        rows_per_person: for persons with several rows.
        degree: the most parents; for tables of all subsets 1 unless given.
        score: as for central fits.
        network: the structure, where it is known: the protocol `parameters` needs it.
        structure_share: β, the part of the budget that votes get.
        one_way_share: the part of tables of single columns, before holders vote.
        ballot: holders vote by `choices` among families, or by `scores` of all pairs.
        learner: how the network is found in the tables that `statistics` collects, at no cost.
        gathering: what is made of the holders' models: one `network`, or the `union` of their rows.
        form: where to go beyond the theses.
        restrictions: edges that must, may and must not be, an order, and protected attributes;
            holders are told, and answer nothing beyond them.
        deadline: the seconds that a question may take.
        attempts: how often a silent holder is asked.
        least: how many holders must answer to the end; all of them unless given.
        most_rows: no holder is believed to have more rows.
        sums: what is summed over images and learned from the sums: the protocol `moments` needs it.
    """

    schema: Schema
    protocol: ProtocolName | str
    epsilon: Amount
    delta: Amount = 0
    neighbours: Neighbours | str = Neighbours.REPLACE
    rows_per_person: int | None = None
    degree: int | None = None
    score: str | None = None
    network: Network | None = None
    structure_share: Fraction | None = None
    one_way_share: Fraction | None = None
    ballot: str | None = None
    learner: str = "greedy"
    gathering: str = "network"
    form: Form = field(default_factory=Form)
    restrictions: Restrictions = NONE
    deadline: float = 60.0
    attempts: int = 3
    least: int | None = None
    most_rows: int = 10**8
    sums: SumProtocol | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot work before anybody is asked."""
        self.schema.check_reviewed()
        check_makers(self.schema.columns.values())
        object.__setattr__(self, "protocol", _chosen(self.protocol, ProtocolName, "protocol"))
        object.__setattr__(self, "neighbours", _chosen(self.neighbours, Neighbours, "neighbours"))
        if self.budget.amount <= 0:
            raise UsageError("epsilon is 0; nothing can be learned for free, give more")
        self._check_numbers()
        self._check_structure()
        if self.restrictions:
            self._check_restrictions()
        score_for(self.unit, 2, self.domain, name=self.score)

    @property
    def budget(self) -> Budget:
        """Return the budget of the run at each holder."""
        return Budget.approximate(self.epsilon, self.delta)

    @cached_property
    def spendable(self) -> Budget:
        """Return the budget in the measure that questions are charged in."""
        return Grant(self.budget).spendable

    @property
    def unit(self) -> Unit:
        """Return the unit that the promise protects."""
        return Unit(
            Neighbours(self.neighbours), self.rows_per_person, of_images=self.sums is not None
        )

    @cached_property
    def domain(self) -> Domain:
        """Return the attributes of the schema."""
        return Domain.of(self.schema)

    @cached_property
    def searched(self) -> Domain:
        """The names that families are built of.

        Coarser copies need one-way tables beside the families' own, and all made to agree.
        """
        coarsened = self.form.full_budget and self.form.consistent
        return self.domain if coarsened else self.domain.without_hierarchies()

    @property
    def by_scores(self) -> bool:
        """Whether votes are scores of pairs: better for Gaussian noise, worse for Laplace."""
        gaussian = self.spendable.measure is Measure.ZCDP
        automatic = gaussian and self.form.sized and self.score in (None, "R", "TVD")
        return automatic if self.ballot is None else self.ballot == "scores"

    @property
    def subset_degree(self) -> int:
        """The degree of networks that are learned from tables of all subsets."""
        return self.degree_or(1)

    def degree_or(self, usual: int) -> int:
        """The degree that was asked for, else the usual one, or what required edges need."""
        return max(usual, self.restrictions.most_required) if self.degree is None else self.degree

    def terms(self) -> Terms:
        """Return the terms that each holder is asked to agree to."""
        budget = self.budget
        return Terms(
            protocol=ProtocolName(self.protocol),
            schema_text=self.schema.to_json(),
            neighbours=Neighbours(self.neighbours),
            rows_per_person=self.rows_per_person,
            epsilon=str(budget.amount),
            delta=str(budget.delta),
            questions=self.questions,
            limits=Limits.of(self.restrictions) if self.restrictions else None,
            images=None if self.sums is None else self.sums.facts,
        )

    @property
    def questions(self) -> int:
        """The most messages that cost a holder anything."""
        size = 1 if self.neighbours is Neighbours.ADD_REMOVE else 0
        match self.protocol:
            case ProtocolName.MODEL:
                return 1
            case ProtocolName.MOMENTS:
                assert self.sums is not None
                return self.sums.questions
            case ProtocolName.VOTES:
                return size + 2 + (1 if self.by_scores else max(len(self.domain) - 1, 1))
            case ProtocolName.ADAPTIVE:
                return size + ADAPTIVE_QUESTIONS
            case _:
                return size + 1

    def least_of(self, holders: int) -> int:
        """Return how many of the holders must answer to the end."""
        return holders if self.least is None else min(self.least, holders)

    @property
    def fingerprint(self) -> str:
        """A journal recognizes the plan by it; a plan that waits longer is the same plan."""
        families = None if self.network is None else [f.axes for f in self.network]
        shown = {name: str(vars(self)[name]) for name in _SHOWN}
        if self.sums is not None:
            shown["images"] = self.sums.facts.model_dump_json()
        if self.restrictions:
            shown["restrictions"] = Limits.of(self.restrictions).model_dump_json()
        text = json.dumps([self.schema.fingerprint, families, str(self.budget), shown])
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def _check_numbers(self) -> None:
        if not (self.deadline > 0 and math.isfinite(self.deadline)) or self.attempts < 1:
            raise UsageError("a deadline is above 0 seconds, and a holder is asked at least once")
        if self.least is not None and self.least < 1:
            raise UsageError(f"least is {self.least}; one holder at least must answer")
        if self.degree is not None and self.degree < 0:
            raise UsageError(f"degree is {self.degree}; allow no parents or more")
        shares = {"structure": self.structure_share, "one-way": self.one_way_share}
        for name, share in shares.items():
            if share is not None and not 0 < share < 1:
                raise UsageError(f"{name} share is {share}; it lies between 0 and 1")
        if sum(share or 0 for share in shares.values()) >= 1:
            raise UsageError(
                "the shares add up to 1 or more; leave a part of the budget for tables"
            )

    def _check_used(self) -> None:
        """Refuse settings that the protocol would not look at."""
        votes, found = "the protocol votes", self.protocol
        given: dict[str, tuple[bool, str]] = {
            "structure share": (self.structure_share is None or found == "votes", votes),
            "one-way share": (self.one_way_share is None or found == "votes", votes),
            "ballot": (self.ballot is None or found == "votes", votes),
            "learner": (self.learner == "greedy" or found == "statistics", "statistics"),
            "gathering": (self.gathering == "network" or found == "model", "the protocol model"),
        }
        for name, (fits, owner) in given.items():
            if not fits:
                raise UsageError(f"{name} is given, and it is for {owner}; leave it out")
        if self.one_way_share is not None and not self.form.full_budget:
            raise UsageError("the theses measure no one-way tables; leave their share out")

    def _check_structure(self) -> None:
        if self.ballot not in (None, *BALLOTS) or self.gathering not in GATHERINGS:
            raise UsageError(
                f"a ballot is one of {', '.join(BALLOTS)}, a gathering of {', '.join(GATHERINGS)}"
            )
        if self.learner not in LEARNERS:
            raise UsageError(f"learner is {self.learner!r}; use {', '.join(LEARNERS)}")
        if self.protocol is ProtocolName.PARAMETERS:
            if self.network is None:
                raise UsageError("the protocol parameters needs a network; give one, or vote on it")
            check_network(self.network, self.domain)
        elif self.network is not None:
            raise UsageError(f"{self.protocol} learns its network; leave it out, or ask parameters")
        if self.protocol is ProtocolName.ADAPTIVE:
            self._check_tables()
        self._check_images()
        self._check_used()
        if self.protocol is ProtocolName.STATISTICS:
            tables = math.comb(len(self.domain), min(self.subset_degree + 1, len(self.domain)))
            if tables > _MOST_TABLES:
                raise UsageError(
                    f"degree {self.degree} needs {tables:,} tables, {_MOST_TABLES:,} are the most; "
                    "lower the degree, or vote"
                )

    def _check_images(self) -> None:
        """Refuse images without their protocol, and their protocol without images."""
        if (self.protocol is ProtocolName.MOMENTS) is (self.sums is None):
            raise UsageError(
                "the protocol moments learns images, and no other protocol does; declare "
                "height and width, or use another protocol for tables"
            )
        if self.sums is None:
            return
        if self.spendable.measure is not Measure.ZCDP:
            raise UsageError("moments needs a delta above 0; give one, as 1e-5")
        if self.restrictions or self.rows_per_person is not None or self.form != Form():
            raise UsageError("images have no network, no persons and one form; leave them out")
        if self.degree is not None or self.score is not None:
            raise UsageError("moments learns no network; leave degree and score out")

    def _check_tables(self) -> None:
        """Refuse for chosen tables what is about networks only."""
        check_table_rules(self.restrictions, "adaptive")
        given: dict[str, object] = {
            "degree": self.degree,
            "score": self.score,
            "ballot": self.ballot,
            "structure share": self.structure_share,
        }
        for name in (name for name, value in given.items() if value is not None):
            raise UsageError(f"adaptive learns no network, and {name} is given; leave it out")
        if self.form != Form():
            raise UsageError("adaptive is in none of the theses; use its only form, Form()")

    def _check_restrictions(self) -> None:
        """Refuse contradictions before anybody is asked."""
        rules, network = self.restrictions, self.network
        rules.check(
            self.domain,
            degree=self.degree if network is None else None,
            constraints=self.schema.constraints,
        )
        ensure_tables_fit(self.domain, least_tables(rules, self.searched))
        if network is not None:
            rules.check_obeyed(network)
        if rules.protection.protected and self.gathering == "union":
            raise UsageError(
                "gathering is union, and attributes are protected: rows of several models put "
                "together show by whom they are held, and so what each model withholds; gather "
                "one network"
            )


_SHOWN = (
    *("protocol", "neighbours", "rows_per_person", "degree", "score", "structure_share"),
    *("one_way_share", "learner", "ballot", "gathering", "form", "most_rows"),
)


def _chosen(value: str, kind: type[E], what: str) -> E:
    try:
        return kind(value)
    except ValueError:
        raise UsageError(f"{what} is {str(value)!r}; use {' or '.join(kind)}") from None
