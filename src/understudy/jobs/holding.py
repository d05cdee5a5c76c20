"""Job of `holder`: answer an analyst's questions about rows that stay where they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.errors import LedgerError, UsageError
from understudy.jobs.federation import address_of, neighbours_named
from understudy.jobs.images import ImageSizeRequest
from understudy.jobs.ledgers import LedgerRequest
from understudy.jobs.progress import SILENT
from understudy.jobs.reading import PersonRequest, ReadingRequest
from understudy.jobs.request import JobRequest
from understudy.system.amounts import at_most

if TYPE_CHECKING:
    from understudy.facts.schema import Schema
    from understudy.federated.holder.consent import Consent
    from understudy.federated.wire.node import Link
    from understudy.jobs.image_federation import ImageSums
    from understudy.jobs.progress import JobProgress
    from understudy.privacy.spending.ledger import Ledger
    from understudy.privacy.spending.limits import Spent
    from understudy.rows.counting import CountSource
    from understudy.rows.sources import Access

Agrees = Callable[[list[str]], bool]
"""Shows a person what an analyst asks for, and says whether the person agrees."""


@dataclass(frozen=True, kw_only=True)
class LinkRequest(JobRequest):
    """How a holder reaches its analyst.

    Attributes:
        superlink: the analyst's HOST:PORT.
        key: the holder's private key.
        root_certificates: the certificates that the analyst sent.
        wait: how many seconds to wait for an analyst who cannot be reached.
        stay: serve further runs after the first one ends.
    """

    superlink: str
    key: Path
    root_certificates: Path
    wait: float = 300
    stay: bool = False

    def checked(self) -> Link:
        """Check the files and return the link."""
        from understudy.federated.wire.node import Link

        link = Link(address_of(self.superlink), self.key, self.root_certificates, self.wait)
        link.check()
        return link


@dataclass(frozen=True, kw_only=True)
class ConsentRequest(JobRequest):
    """Runs that a holder agrees to, and the most that may ever be spent.

    Attributes:
        epsilon_limit: the largest epsilon that may ever be spent on the table.
        delta_limit: the delta of the same limit; 0 allows pure runs alone.
        policy: a TOML file of what is agreed to without asking.
        neighbours: replace, with a public number of rows, or add-remove.
    """

    epsilon_limit: str
    delta_limit: str = "0"
    policy: Path | None = None
    neighbours: str = "replace"


@dataclass(frozen=True, kw_only=True)
class HolderRequest(JobRequest):
    """A private table or images, what their holder agrees to, and the analyst who may ask.

    Attributes:
        data: the private table, or an .npz file of images.
        schema: what each column may contain; images have none.
        images: the sizes of images.
        link: how the analyst is reached.
        consent: what the holder agrees to.
        people: who has several rows.
        payer: the ledger and the name of the data in it.
        store: the folder of answers that were given before.
        reading: how rows are read.
    """

    data: str
    schema: Path | None = None
    images: ImageSizeRequest = field(default_factory=ImageSizeRequest)
    link: LinkRequest
    consent: ConsentRequest
    people: PersonRequest = field(default_factory=PersonRequest)
    payer: LedgerRequest = field(default_factory=LedgerRequest)
    store: Path | None = None
    reading: ReadingRequest = field(default_factory=ReadingRequest)


@dataclass(frozen=True)
class HolderResult:
    """How many messages a holder answered, and what has been spent on its data so far.

    Attributes:
        dataset: the name of the data in the ledger.
        answers: how many messages were answered.
        spent: the sum of all runs, where it has one: runs may protect different units.
        standing: what is spent on the data so far, and what is left, in sentences.
    """

    dataset: str
    answers: int
    spent: Spent | None
    standing: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """Describe the result for machines."""
        known = {"dataset": self.dataset, "answers": self.answers}
        if self.spent is None:
            return known
        return {
            **known,
            "epsilon": at_most(self.spent.epsilon),
            "epsilon_exact": str(self.spent.epsilon),
            "delta": at_most(self.spent.delta),
            "delta_exact": str(self.spent.delta),
        }


def hold(
    request: HolderRequest, *, agrees: Agrees | None = None, progress: JobProgress = SILENT
) -> HolderResult:
    """Answer an analyst's questions about a private table until the analyst is done.

    Args:
        request: the table, the limits and the analyst.
        agrees: asks a person; without it a policy is needed.
        progress: shows what the holder is doing.

    Privacy: each answer is paid for from the ledger, and never beyond the limit.
    """
    held, link = _Held.of(request), request.link.checked()
    consent = _consent(request.consent.policy, agrees)
    name = request.payer.dataset or held.name_of(request)
    ledger = request.payer.opened()
    served = _Serving(request=request, held=held, consent=consent, ledger=ledger, dataset=name)
    answers = served.serve(link, progress)
    return HolderResult(name, answers, _spent(ledger, name), request.payer.standing(name))


def _spent(ledger: Ledger, dataset: str) -> Spent | None:
    """The sum over all runs; None where no single number holds for all that they protect."""
    try:
        return ledger.account(dataset).spent
    except LedgerError:
        return None


@dataclass(frozen=True)
class _Held:
    """The data of a holder: rows of a table, or images of declared sizes."""

    schema: Schema
    sums: ImageSums | None = None

    @classmethod
    def of(cls, request: HolderRequest) -> _Held:
        """Read the public facts; rows and images are not opened yet."""
        from understudy.facts.schema import Schema

        images = request.images
        if not images.given:
            if request.schema is None:
                raise UsageError(
                    "schema is not given; give --schema for a table, or --height and --width for "
                    "images"
                )
            return cls(Schema.load(request.schema))
        if request.schema is not None or request.people.given or request.reading.given:
            raise UsageError(
                "images have no schema, no persons and no options of tables; leave them out"
            )
        from understudy.gan.images import label_schema
        from understudy.jobs.image_federation import ImageSums

        neighbours = neighbours_named(request.consent.neighbours)
        return cls(label_schema(images.size.classes), ImageSums(images.size, neighbours))

    def name_of(self, request: HolderRequest) -> str:
        """The name by which a ledger knows the data, the same as for `fit`."""
        from understudy.rows.sources import dataset_name

        if self.sums is not None:
            return Path(request.data).stem
        access = replace(request.reading.access, persons=request.people.persons)
        return dataset_name(request.data, access)

    @contextmanager
    def opened(self, data: str, access: Access) -> Iterator[CountSource]:
        """Open the rows, or read the images."""
        from understudy.rows.sources import open_source

        if self.sums is None:
            with open_source(data, self.schema, access) as source:
                yield source
            return
        from understudy.gan.images import ImageSource, read_images

        yield ImageSource.of(read_images(Path(data), self.sums.size), self.sums.size)


@dataclass(frozen=True, kw_only=True)
class _Serving:
    """Everything that a holder needs, checked before its rows are opened."""

    request: HolderRequest
    held: _Held
    consent: Consent
    ledger: Ledger
    dataset: str

    def serve(self, link: Link, progress: JobProgress) -> int:
        """Open the rows and answer messages; returns how many were answered."""
        from understudy.facts.unit import Unit
        from understudy.federated.holder.holder import Holder
        from understudy.federated.wire.node import Node
        from understudy.privacy.budget import Budget

        asked, path, sums = self.request, self.ledger.path, self.held.sums
        limit = Budget.approximate(asked.consent.epsilon_limit, asked.consent.delta_limit)
        relation = neighbours_named(asked.consent.neighbours)
        unit = Unit(relation, asked.people.rows_per_person, of_images=sums is not None)
        access = replace(asked.reading.access, persons=asked.people.persons)
        folder = asked.store or path.with_name(f"{path.stem}.answers") / self.dataset
        with (
            self.held.opened(asked.data, access) as source,
            Holder(
                source,
                self.held.schema,
                unit,
                ledger=self.ledger,
                dataset=self.dataset,
                limit=limit,
                policy=self.consent,
                store=folder,
                name=asked.link.key.name,
                person_id=asked.people.person_id,
                sums=sums,
            ) as answering,
        ):
            return Node(link, answering.handle, progress.message, stay=asked.link.stay).serve()


def _consent(policy: Path | None, agrees: Agrees | None) -> Consent:
    """A policy where there is one, else a person who is asked and must be present."""
    from understudy.federated.holder.consent import AskSomebody, Policy

    if policy is not None:
        return Policy.load(policy)
    if agrees is None:
        raise UsageError(
            "nobody is at the terminal to agree to what an analyst asks for; write what is agreed "
            "to into a file, and give it as --policy"
        )
    return AskSomebody(agrees)
