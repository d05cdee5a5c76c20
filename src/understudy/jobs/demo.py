"""Job of `demo`: do the main job on a built-in example, from a schema to rows and a ledger."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.jobs import example
from understudy.jobs.output import summary, write_statement
from understudy.jobs.progress import SILENT, Stopwatch

if TYPE_CHECKING:
    import pyarrow as pa

    from understudy.jobs.progress import JobProgress
    from understudy.models.model import Model
    from understudy.privacy.spending.limits import Spent

# In twelve runs edges that are mere noise reached half of this.
_STRONG = 0.06


@dataclass(frozen=True, kw_only=True)
class Demonstration:
    """The example's files, its rows, the model and rows made of them, and what they cost.

    The rows may be shown: the example is made up, and public.
    """

    data: Path
    schema: Path
    output: Path
    ledger: Path
    private: pa.Table
    synthetic: pa.Table
    model: Model
    spent: Spent
    document: dict[str, Any]
    seconds: dict[str, float]

    @property
    def dependences(self) -> list[tuple[str, str]]:
        """The parents and children that depend on each other by more than noise, strongest first.

        A network has weaker edges too, some of which are noise.
        """
        from understudy.models.strengths import strengths_of

        scores = strengths_of(self.model).scores
        strong = (edge for edge, score in scores.items() if score >= _STRONG)
        return sorted(strong, key=lambda edge: -scores[edge])

    def distances(self) -> tuple[dict[str, float], float]:
        """The share of rows in wrong cells: for each column, and for pairs on average."""
        from understudy.evaluation.marginals.fidelity import total_variation
        from understudy.facts.codec import Codec
        from understudy.facts.workload import workload
        from understudy.rows.table import Table

        codec = Codec(example.schema())
        real, made = Table.of(codec.encode(self.private)), Table.of(codec.encode(self.synthetic))
        alone = workload(codec.domain, 1)
        shares = zip(alone, total_variation(real, made, alone), strict=True)
        pairs = total_variation(real, made, workload(codec.domain, 2)).mean()
        return {name: float(share) for (name,), share in shares}, float(pairs)


def demonstrate(folder: Path, *, progress: JobProgress = SILENT) -> Demonstration:
    """Write the example to a folder, and make a stand-in for it at epsilon = 1."""
    from understudy.facts.codec import Codec
    from understudy.methods import AdaptiveMarginals
    from understudy.models.row_writing import write_rows
    from understudy.privacy.spending.ledger import Ledger

    schema, private, codec = example.schema(), example.rows(), Codec(example.schema())
    data, toml, output = (folder / n for n in ("clinic.csv", "clinic.toml", "synthetic.csv"))
    _write_schema(folder, toml)
    write_rows([private], data, codec)
    watch, ledger = Stopwatch(), Ledger(folder / "ledger.jsonl")
    with progress.spinner("fitting"), watch.timed("fit"):
        synthesizer = AdaptiveMarginals(schema, epsilon=1).fit(data, ledger=ledger)
    with progress.spinner("sampling"), watch.timed("sample"):
        synthetic = synthesizer.sample()
        write_rows([synthetic], output, codec)
    model = synthesizer.model_
    document = summary(model, synthetic.num_rows)
    return Demonstration(
        data=data,
        schema=toml,
        output=output,
        ledger=ledger.path,
        private=private,
        synthetic=synthetic,
        model=model,
        spent=ledger.account("clinic").spent,
        document=write_statement(document, output, record=model.statement.record),
        seconds=watch.seconds,
    )


def _write_schema(folder: Path, place: Path) -> None:
    from understudy.system.files.writing import writing

    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with writing(place):
        example.schema().dump(place)
