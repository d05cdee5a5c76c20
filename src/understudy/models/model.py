"""A model: a distribution, the schema of its rows, and what is promised. It may leave."""

from __future__ import annotations

import itertools
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from understudy.errors import UsageError
from understudy.facts.axes import Axes
from understudy.facts.constraints import Completions
from understudy.facts.domain import Attributes, Domain
from understudy.facts.protection import Protection
from understudy.facts.schema import Schema
from understudy.models.archive import (
    FORMAT,
    MANIFEST,
    SCHEMA,
    STATEMENT,
    VERSION,
    Parts,
    assembling,
    bound_statement,
    content,
    earlier_archive,
    json_bytes,
    write_members,
)
from understudy.models.conditional import Conditional
from understudy.models.decoding import Decoder
from understudy.models.distribution import Distribution
from understudy.models.inference import Evidence, allowed
from understudy.models.inference.elimination import ImpossibleEvidence
from understudy.models.inference.evidence import Value
from understudy.models.inference.labels import labels_of
from understudy.models.intervals.refits import Refits
from understudy.models.kinds import kind_named
from understudy.models.network import Network
from understudy.models.query import BaseAnswer, ask
from understudy.models.questions.noise import NO_TABLES, refits_of, table_posterior
from understudy.models.sampling import ConditionedModel, How, Sampler, deal_codes, sample_rows
from understudy.models.tables import check_paid, check_tables, read_tables, table_members
from understudy.privacy.noisy_marginal import NoisyMarginal
from understudy.privacy.statements.binding import Signer, canonical, digest
from understudy.privacy.statements.statement import Statement
from understudy.system.arrays import Probabilities
from understudy.system.files.members import parsed_document
from understudy.system.notebooks import Card


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A released distribution of rows, and what is promised about it.

    Attributes:
        schema: the values that each column may have.
        distribution: the law of the coded rows: a network, released records, or a generator of
            rows or of images.
        rows: how many rows to make by default: public, declared, or paid for.
        statement: the promise, and every answer it covers.
        tables: the noisy tables that the distribution was made from, where they were kept.
    """

    schema: Schema
    distribution: Distribution
    rows: int
    statement: Statement
    tables: tuple[NoisyMarginal, ...] = ()

    def __post_init__(self) -> None:
        if self.rows < 0:
            raise UsageError(f"rows is {self.rows}; a model makes none or more")
        if list(self.domain.sizes.items()) != list(self.schema.attributes.items()):
            raise UsageError("the distribution's attributes are not those of the schema")
        self.distribution.check_total(self.rows)
        check_tables(self.tables, self.domain)
        check_paid(self.tables, self.statement)

    def __repr__(self) -> str:
        size = f"{self.rows:,} rows of {len(self.domain):,} attributes"
        return f"Model({self.statement.method}: {self.statement.amounts}, {size})"

    def _repr_html_(self) -> str:
        from understudy.models.pictures import network_svg

        facts = {
            "kind": self.distribution.kind,
            "rows": f"{self.rows:,}",
            "attributes": f"{len(self.domain):,}",
            "tables kept": f"{len(self.tables):,}",
            "spent": self.statement.amounts,
        }
        picture = network_svg(self, theme="light") if self.network.families else ""
        title = f"Model by {self.statement.method}"
        return Card(title, self.statement.sentence, [facts], picture=picture).html()

    @property
    def domain(self) -> Domain:
        """Return the attributes of the schema."""
        return self.distribution.domain

    @property
    def network(self) -> Network:
        """The structure of the distribution; without families where it has none."""
        return self.distribution.network

    @property
    def conditionals(self) -> tuple[Conditional, ...]:
        """The conditionals of the network; a kind that has none refuses."""
        return self.distribution.require_network().conditionals

    @cached_property
    def completions(self) -> Completions:
        """Return the rows that the schema's constraints allow."""
        return Completions(self.schema.constraints)

    @cached_property
    def law(self) -> Distribution:
        """The distribution of rows that obey the schema's constraints."""
        return self.distribution.subject_to(self.completions)

    @property
    def decoder(self) -> Decoder:
        """Return what makes tables, and files, of coded rows."""
        return self.distribution.decoder(self.schema)

    @property
    def protection(self) -> Protection | None:
        """The target and the attributes that were kept apart, for pictures and reports to mark."""
        return self.statement.protection

    # --- rows -------------------------------------------------------------------------------

    def sample(
        self,
        rows: int | None = None,
        *,
        seed: int | None = None,
        where: str | ConditionedModel | None = None,
        how: How | str | None = None,
        sampler: Sampler = deal_codes,
    ) -> pa.Table:
        """Draw synthetic rows, as an Arrow table.

        Args:
            rows: how many; as many as the model declares by default.
            seed: makes the rows repeatable; it has no part in the privacy of the model.
            where: what all rows must fit, such as "age >= 30, sex = Female".
            how: "exact", "rejection" or "weighting"; exact where the network allows it.
            sampler: `deal_codes`, without replacement, or `sample_codes`, independent rows.

        Privacy: post-processing of the model; costs nothing, however often.
        """
        return sample_rows(self, rows, seed=seed, where=where, how=how, sampler=sampler)

    def replicates(self, number: int, *, seed: int | None = None) -> list[Model]:
        """Return models that differ as much as the noise of privacy leaves open.

        Each is fitted to its own draw of the true tables given the released ones. Sample one
        stand-in from each, with `sampler=sample_codes` and as many rows as the real table has, and
        combine what is estimated on them by `combine_replicates`.

        Args:
            number: how many, at least 2.
            seed: makes them repeatable; it has no part in the privacy of the model.

        Privacy: post-processing of released tables; costs nothing, however often.
        """
        if number < 2:
            raise UsageError(f"replicates is {number}; intervals need 2 or more, better 10")
        if not self.tables:
            raise UsageError(f"the model cannot be replicated: {NO_TABLES}")
        posterior = table_posterior(self)
        generators = map(np.random.default_rng, np.random.SeedSequence(seed).spawn(number))
        laws = (self.distribution.refitted(posterior.draw(each)) for each in generators)
        return [replace(self, distribution=law, tables=()) for law in laws]

    @property
    def modelled_pairs(self) -> list[tuple[str, str]]:
        """The pairs of columns that no released table holds: what depends on them is assumed."""
        axes = [Axes(table.attributes) for table in self.tables]
        pairs = itertools.combinations(self.domain, 2)
        return [p for p in pairs if not any(each.holds(p, self.domain) for each in axes)]

    # --- probabilities ------------------------------------------------------------------------

    def ask(
        self, question: str, *, samples: int | None = None, seed: int | None = None
    ) -> BaseAnswer:
        """Answer a question such as P(income | age >= 30, sex = Female), with its interval.

        Args:
            question: P(column | conditions), count(conditions), mean(column | conditions),
                quantile(column, 0.9 | conditions), most probable row, top 5 pairs,
                or independent(column, column) for a p-value.
            samples: how many rows to estimate from; exact unless given.
            seed: makes an estimate repeatable.

        Privacy: post-processing of the model; costs nothing, however often.
        """
        return ask(self, question, samples=samples, seed=seed)

    @cached_property
    def refits(self) -> Refits:
        """The model fitted again to draws of its tables given the released ones, for intervals.

        Privacy: post-processing of released tables; costs nothing. It may take some seconds.
        """
        return refits_of(self)

    def probability(
        self, *targets: str, given: Mapping[str, Value | Collection[Value]] | None = None
    ) -> dict[Any, float]:
        """Return the exact distribution of a column, or of several, given values of others.

        Args:
            targets: what is asked about.
            given: for each column of which something is known, its value, or several it may have.

        Returns:
            The chance of every label; of several columns, of every tuple of labels.

        Privacy: post-processing of the model; costs nothing.
        """
        columns = self.schema.learned
        for name in (*targets, *(given or ())):
            if name not in columns:
                raise UsageError(f"{name!r} is not a column; the columns are {', '.join(columns)}")
        evidence = {
            name: allowed(name, columns[name], [("in", _several(value))])
            for name, value in (given or {}).items()
        }
        chances, _ = self.posterior(targets, evidence)
        labels = itertools.product(*(labels_of(columns[name]) for name in targets))
        keys = labels if len(targets) > 1 else (label for (label,) in labels)
        return dict(zip(keys, chances.ravel().tolist(), strict=True))

    def posterior(self, targets: Attributes, evidence: Evidence) -> tuple[Probabilities, float]:
        """Return the joint distribution of attributes given evidence, and its probability.

        Privacy: post-processing of the model; costs nothing.
        """
        return self.law.posterior(targets, evidence)

    def project(self, attributes: Attributes) -> Probabilities:
        """Return the joint distribution of some attributes, an axis for each in their order.

        Privacy: post-processing of the model; costs nothing.
        """
        return self.law.project(attributes)

    def chance(self, evidence: Evidence) -> float:
        """Return the probability that a row fits the evidence; 0 where it cannot."""
        try:
            return self.posterior((), evidence)[1]
        except ImpossibleEvidence:
            return 0.0

    def most_probable(self, evidence: Evidence | None = None) -> tuple[dict[str, Any], float]:
        """Return the most probable row that fits the evidence, by labels, and its probability."""
        codes, chance = self.distribution.most_probable(evidence or {})
        columns = self.schema.learned
        return {a: labels_of(columns[a])[codes[a]] for a in self.domain}, chance

    def bif_lines(self) -> Iterator[str]:
        """Write the network and its probabilities in the Bayesian interchange format.

        Constraints have no place in it, and neither has the statement. Coarsened attributes are
        written out code by code.
        """
        labels = {name: labels_of(column) for name, column in self.schema.learned.items()}
        return self.distribution.require_network().bif_lines(labels)

    # --- files --------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str], *, signer: Signer | None = None) -> None:
        """Write the model to a zip archive, or to a folder when the name has no suffix.

        Args:
            path: where it goes: a name that ends in .zip, or has no suffix. A model that is there
                already is replaced, and nothing else is.
            signer: signs the statement in it, and by that the whole model.

        Raises:
            OutputError: the name has another suffix, or something else than a model is there.
        """
        members, manifest = self.members(), self._manifest
        rest = {name: digest(data) for name, data in members.items() if name != STATEMENT}
        members[STATEMENT] = json_bytes(
            bound_statement(self.statement, content(manifest, rest), signer)
        )
        sums = rest | {STATEMENT: digest(members[STATEMENT])}
        members[MANIFEST] = json_bytes({**manifest, "members": sums})
        write_members(Path(path), members)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 digest of everything in the model, its statement included."""
        sums = {name: digest(data) for name, data in self.members().items()}
        return digest(canonical({**self._manifest, "members": sums}))

    def members(self) -> dict[str, bytes]:
        """Return what is written to an archive, but for its manifest."""
        return {
            SCHEMA: self.schema.to_json().encode(),
            STATEMENT: json_bytes(self.statement.document()),
            **self.distribution.members(),
            **table_members(self.tables),
        }

    @property
    def _manifest(self) -> dict[str, Any]:
        kind = self.distribution.kind
        return {"format": FORMAT, "version": VERSION, "kind": kind, "rows": self.rows}

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Model:
        """Read a model; one that is damaged or too new is refused with a clear sentence."""
        earlier = earlier_archive(Path(path))
        if earlier is not None:
            return earlier.load(Path(path))
        parts = Parts.read(Path(path))
        with assembling(parts.path):
            schema = Schema.from_json(parts.document(SCHEMA))
            domain = Domain.of(schema)
            distribution = kind_named(parts.kind).read(parts, domain)
            tables = read_tables(parts, domain)
            written = parsed_document(parts.document(STATEMENT))
            parts.check_bound(written)
            return cls(
                schema=schema,
                distribution=distribution,
                rows=parts.rows,
                statement=Statement.parse(written),
                tables=tables,
            )


def _several(value: Value | Collection[Value]) -> Collection[Value]:
    """One value, or several, as several."""
    return [value] if isinstance(value, str) or not isinstance(value, Collection) else value
