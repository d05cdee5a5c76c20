"""Job of `analyst`: learn one model from tables that stay with their holders."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.errors import UsageError
from understudy.jobs.choices import unknown_choice
from understudy.jobs.federation import host_and_port, neighbours_named, public_keys
from understudy.jobs.images import ImageSizeRequest
from understudy.jobs.network_rules import NetworkRequest
from understudy.jobs.output import JobResult, kept_on_failure, summary
from understudy.jobs.progress import SILENT, Stopwatch
from understudy.jobs.request import JobRequest

if TYPE_CHECKING:
    from fractions import Fraction

    from understudy.facts.schema import Schema
    from understudy.federated.analyst.analyst import Analyst
    from understudy.federated.analyst.plan import Collaboration
    from understudy.federated.wire.hub import Listening
    from understudy.jobs.image_federation import ImageSums
    from understudy.jobs.progress import JobProgress
    from understudy.models.model import Model


@dataclass(frozen=True)
class ProtocolRequest(JobRequest):
    """How holders learn together, and what each of them spends.

    Attributes:
        protocol: votes, statistics, model, parameters or adaptive for tables, moments for images.
        epsilon: the privacy loss at every holder.
        delta: the probability allowed for a larger loss there.
        neighbours: replace, with public numbers of rows, or add-remove.
        rows_per_person: how many rows of each person are kept.
        degree: the most parents of an attribute.
        structure: the network, for the protocol parameters.
        score: by which families are chosen.
        structure_share: β, the part of the budget that votes get.
        one_way_share: the part of tables of single columns, before holders vote.
        ballot: whether holders vote by choices or by scores.
        learner: how statistics finds the network in the tables that it collected.
        gathering: whether model gives one network, or the union of the holders' rows.
        as_printed: whether the protocol is that of the theses to the letter.
        network: what the network must and must not contain.
    """

    protocol: str = "votes"
    epsilon: str | None = None
    delta: str = "0"
    neighbours: str = "replace"
    rows_per_person: int | None = None
    degree: int | None = None
    structure: Path | None = None
    score: str | None = None
    structure_share: str | None = None
    one_way_share: str | None = None
    ballot: str | None = None
    learner: str = "greedy"
    gathering: str = "network"
    as_printed: bool = False
    network: NetworkRequest = field(default_factory=NetworkRequest)


@dataclass(frozen=True)
class PatienceRequest(JobRequest):
    """How long an analyst waits for holders, and how often it asks them.

    Attributes:
        least: how many holders must answer to the end; all unless given.
        deadline: the seconds that a question may take.
        attempts: how often a silent holder is asked.
        wait: the seconds to wait for holders to connect.
        journal: the file from which an interrupted run is resumed.
    """

    least: int | None = None
    deadline: float = 120
    attempts: int = 3
    wait: float = 600
    journal: Path | None = None


@dataclass(frozen=True, kw_only=True)
class ListeningRequest(JobRequest):
    """Where an analyst listens, and which holders may connect.

    Attributes:
        listen: the HOST:PORT to which holders connect.
        holders: how many must be connected before anything is asked.
        holder_keys: public keys, or folders of them.
        certificate: the certificate that is shown to holders.
        certificate_key: its private key.
    """

    listen: str
    holders: int
    holder_keys: list[Path]
    certificate: Path = Path("analyst.crt")
    certificate_key: Path = Path("analyst.key")

    @property
    def place(self) -> Listening:
        """Check and return the address and the certificate."""
        from understudy.federated.wire.hub import Listening

        host, port = host_and_port(self.listen, option="--listen")
        return Listening(host, port, self.certificate, self.certificate_key)


@dataclass(frozen=True, kw_only=True)
class AnalystRequest(JobRequest):
    """A schema or sizes that all holders share, where they connect, and how they learn.

    Attributes:
        schema: what each column may contain, the same at every holder; images have none.
        images: the sizes of images, the same at every holder.
        output: where the model goes.
        listening: where holders connect.
        protocol: how they learn, and what they spend.
        patience: how long the analyst waits.
    """

    schema: Path | None = None
    images: ImageSizeRequest = field(default_factory=ImageSizeRequest)
    output: Path
    listening: ListeningRequest
    protocol: ProtocolRequest = field(default_factory=ProtocolRequest)
    patience: PatienceRequest = field(default_factory=PatienceRequest)

    @property
    def plan(self) -> Collaboration:
        """Plan the run; an impossible request is refused before anybody is asked."""
        from understudy.federated.analyst.plan import Collaboration, Form
        from understudy.federated.terms import ProtocolName
        from understudy.methods.structure.given import read_network

        asked, (schema, sums) = self.protocol, self._learned()
        if asked.epsilon is None:
            raise UsageError("epsilon has no default; give it, for example --epsilon 1")
        if asked.protocol not in list(ProtocolName):
            raise unknown_choice("protocol", asked.protocol, ProtocolName)
        return Collaboration(
            schema,
            ProtocolName(asked.protocol),
            asked.epsilon,
            delta=asked.delta,
            neighbours=neighbours_named(asked.neighbours),
            rows_per_person=asked.rows_per_person,
            degree=asked.degree,
            network=None if asked.structure is None else read_network(asked.structure),
            score=asked.score,
            structure_share=_share(asked.structure_share, "structure share"),
            one_way_share=_share(asked.one_way_share, "one-way share"),
            ballot=asked.ballot,
            learner=asked.learner,
            gathering=asked.gathering,
            form=Form.plain() if asked.as_printed else Form(),
            restrictions=asked.network.restrictions(schema.attributes),
            least=self.patience.least,
            deadline=self.patience.deadline,
            attempts=self.patience.attempts,
            sums=sums,
        )

    def _learned(self) -> tuple[Schema, ImageSums | None]:
        """The schema of a table, or of the labels of images with what is summed of them."""
        from understudy.facts.schema import Schema

        if not self.images.given:
            if self.schema is None:
                raise UsageError(
                    "schema is not given; give --schema for tables, or --protocol moments with "
                    "--height and --width for images"
                )
            return Schema.load(self.schema), None
        if self.schema is not None:
            raise UsageError("images have no schema; leave it out, and give height and width")
        from understudy.gan.images import label_schema
        from understudy.jobs.image_federation import ImageSums

        size = self.images.size
        sums = ImageSums(size, neighbours_named(self.protocol.neighbours))
        return label_schema(size.classes), sums


def _share(text: str | None, what: str) -> Fraction | None:
    """Read a share of the budget; None leaves the protocol's own."""
    from understudy.methods.budget_plan import share_of

    return None if text is None else share_of(text, what=what)


@dataclass(frozen=True, kw_only=True)
class AnalystResult(JobResult):
    """The model that was learned together, and what holders did that was not expected.

    Attributes:
        findings: what went wrong without ending the run.
    """

    findings: tuple[str, ...] = ()


def learn_together(request: AnalystRequest, *, progress: JobProgress = SILENT) -> AnalystResult:
    """Wait for holders, learn a model of all their tables, and save it.

    Privacy: holders answer with noise of their own, and each pays from its own ledger.
    """
    from understudy.federated.analyst.analyst import Analyst
    from understudy.federated.wire import hub
    from understudy.models.archive import check_place
    from understudy.system.files.writing import check_apart

    plan, place, asked = request.plan, request.listening.place, request.listening
    keys = public_keys(asked.holder_keys)
    check_apart(request.output, *([] if request.schema is None else [request.schema]))
    check_place(request.output)
    kept = request.patience.journal or _journal_beside(request.output)
    watch = Stopwatch()
    with hub.opened(place, keys, say=progress.message) as channel:
        progress.message(f"listening at {asked.listen} for {asked.holders} of {', '.join(keys)}")
        with watch.timed("wait"):
            channel.wait_for(asked.holders, seconds=request.patience.wait)
        run = Analyst(channel, plan, kept, say=progress.warning)
        together = f"learning together with {len(channel.holders)} holders"
        with progress.spinner(together), watch.timed("learn"):
            model = run.learn()
        with kept_on_failure(model, progress):
            model.save(request.output)
        kept.unlink(missing_ok=True)
    return _result(run, model, request.output, watch)


def _journal_beside(output: Path) -> Path:
    return output.with_name(f"{output.name}.journal")


def _result(run: Analyst, model: Model, output: Path, watch: Stopwatch) -> AnalystResult:
    report = run.report
    document: dict[str, Any] = summary(model, model.rows) | {
        "holders": sorted(run.promises),
        "absent": report.absent,
        "findings": report.findings,
        "questions": report.questions,
    }
    return AnalystResult(
        output=output,
        headline="model",
        document=document,
        sentences=(model.statement.sentence,),
        remarks=(f"{report.questions} questions, {watch.seconds['learn']:.1f} s",),
        seconds=watch.seconds,
        findings=tuple(report.findings),
    )
