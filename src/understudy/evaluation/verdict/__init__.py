"""The verdict: one sentence, three lights, and what a stand-in is good for.

`criteria` has the public rules, `light` the values that they give, `privacy`, `fidelity` and
`usefulness` the three lights, `uses` and `advice` what follows from them, `verdict` the whole, and
`released` the one that may leave.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from understudy.system.lazy import lazy_names

if TYPE_CHECKING:
    from understudy.evaluation.verdict.light import Colour as Colour
    from understudy.evaluation.verdict.light import Finding as Finding
    from understudy.evaluation.verdict.light import Light as Light
    from understudy.evaluation.verdict.released import judge_released as judge_released
    from understudy.evaluation.verdict.verdict import Decision as Decision
    from understudy.evaluation.verdict.verdict import Verdict as Verdict
    from understudy.evaluation.verdict.verdict import judge as judge

# Imported when first used: the rules alone are read before a fit.
_HOMES = {
    "Colour": "understudy.evaluation.verdict.light",
    "Decision": "understudy.evaluation.verdict.verdict",
    "Finding": "understudy.evaluation.verdict.light",
    "Light": "understudy.evaluation.verdict.light",
    "Verdict": "understudy.evaluation.verdict.verdict",
    "judge": "understudy.evaluation.verdict.verdict",
    "judge_released": "understudy.evaluation.verdict.released",
}

__all__, __getattr__, __dir__ = lazy_names(__name__, _HOMES)
