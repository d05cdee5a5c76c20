"""A stand-in for a private table: synthetic rows under differential privacy.

Everything a user needs is named here. Names are imported when they are first used, so that
`import understudy` stays light.

Example:
    >>> import understudy as us
    >>> schema = us.Schema.parse({"columns": {"smoker": {"kind": "boolean"}}})
    >>> nist = us.Nist(schema, epsilon=1, delta="1e-6")
    >>> nist.fit({"smoker": ["yes", "no", "no"]}, ledger=None).model_.statement.private
    True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from understudy.system.lazy import lazy_names

if TYPE_CHECKING:
    from understudy.errors import BudgetError as BudgetError
    from understudy.errors import BudgetExceeded as BudgetExceeded
    from understudy.errors import CapacityError as CapacityError
    from understudy.errors import ClaimRefuted as ClaimRefuted
    from understudy.errors import DataError as DataError
    from understudy.errors import DiskError as DiskError
    from understudy.errors import Diverged as Diverged
    from understudy.errors import FateUnknown as FateUnknown
    from understudy.errors import HolderError as HolderError
    from understudy.errors import LedgerError as LedgerError
    from understudy.errors import MessageError as MessageError
    from understudy.errors import ModelError as ModelError
    from understudy.errors import OutputError as OutputError
    from understudy.errors import RunError as RunError
    from understudy.errors import SchemaError as SchemaError
    from understudy.errors import UnderstudyError as UnderstudyError
    from understudy.errors import UsageError as UsageError
    from understudy.errors import WorkerLost as WorkerLost
    from understudy.evaluation import disclosure_risk as disclosure_risk
    from understudy.evaluation import evaluate as evaluate
    from understudy.facts.protection import Protection as Protection
    from understudy.facts.schema import Schema as Schema
    from understudy.facts.unit import Neighbours as Neighbours
    from understudy.gan.pictures import ImageGAN as ImageGAN
    from understudy.gan.tables import DPGAN as DPGAN
    from understudy.gan.tables import NoiseGAN as NoiseGAN
    from understudy.methods import AdaptiveMarginals as AdaptiveMarginals
    from understudy.methods import Histogram as Histogram
    from understudy.methods import Independent as Independent
    from understudy.methods import Nist as Nist
    from understudy.methods import PrivBayes as PrivBayes
    from understudy.methods import Random as Random
    from understudy.methods.auditing import audit as audit
    from understudy.methods.discover import infer_schema as infer_schema
    from understudy.methods.planning import plan_fit
    from understudy.methods.structure.restrict import Restrictions as Restrictions
    from understudy.models.intervals.combining import combine_replicates as combine_replicates
    from understudy.models.model import Model as Model
    from understudy.models.network import Network as Network
    from understudy.models.sampling import sample_blocks as sample_blocks
    from understudy.models.sampling import sample_rows as sample_rows
    from understudy.privacy.budget import Budget as Budget
    from understudy.privacy.preflight import Preflight as Preflight
    from understudy.privacy.spending.ledger import Ledger as Ledger
    from understudy.privacy.statements.statement import Statement as Statement
    from understudy.rows.checking import check as check
    from understudy.rows.sources import Access as Access
    from understudy.rows.sources import open_source as open_source
    from understudy.system.version import __version__ as __version__

    plan = plan_fit

_HOMES = {
    "Access": "understudy.rows.sources",
    "AdaptiveMarginals": "understudy.methods",
    "Budget": "understudy.privacy.budget",
    "BudgetError": "understudy.errors",
    "BudgetExceeded": "understudy.errors",
    "CapacityError": "understudy.errors",
    "ClaimRefuted": "understudy.errors",
    "DPGAN": "understudy.gan.tables",
    "DataError": "understudy.errors",
    "DiskError": "understudy.errors",
    "Diverged": "understudy.errors",
    "Histogram": "understudy.methods",
    "HolderError": "understudy.errors",
    "ImageGAN": "understudy.gan.pictures",
    "Independent": "understudy.methods",
    "Ledger": "understudy.privacy.spending.ledger",
    "FateUnknown": "understudy.errors",
    "LedgerError": "understudy.errors",
    "MessageError": "understudy.errors",
    "Model": "understudy.models.model",
    "ModelError": "understudy.errors",
    "Neighbours": "understudy.facts.unit",
    "Network": "understudy.models.network",
    "Nist": "understudy.methods",
    "NoiseGAN": "understudy.gan.tables",
    "OutputError": "understudy.errors",
    "Preflight": "understudy.privacy.preflight",
    "PrivBayes": "understudy.methods",
    "Protection": "understudy.facts.protection",
    "Random": "understudy.methods",
    "Restrictions": "understudy.methods.structure.restrict",
    "RunError": "understudy.errors",
    "Schema": "understudy.facts.schema",
    "SchemaError": "understudy.errors",
    "Statement": "understudy.privacy.statements.statement",
    "UnderstudyError": "understudy.errors",
    "UsageError": "understudy.errors",
    "WorkerLost": "understudy.errors",
    "__version__": "understudy.system.version",
    "audit": "understudy.methods.auditing",
    "check": "understudy.rows.checking",
    "combine_replicates": "understudy.models.intervals.combining",
    "disclosure_risk": "understudy.evaluation",
    "evaluate": "understudy.evaluation",
    "infer_schema": "understudy.methods.discover",
    "open_source": "understudy.rows.sources",
    "plan": "understudy.methods.planning:plan_fit",
    "sample_blocks": "understudy.models.sampling",
    "sample_rows": "understudy.models.sampling",
}

__all__, __getattr__, __dir__ = lazy_names(__name__, _HOMES)
