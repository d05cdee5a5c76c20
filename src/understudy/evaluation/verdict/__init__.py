"""The verdict: one sentence, three lights, and what a stand-in is good for.

`criteria` has the public rules, `light` the values that they give, `privacy`, `fidelity` and
`usefulness` the three lights, `uses` and `advice` what follows from them, `verdict` the whole, and
`released` the one that may leave.
"""

from understudy.evaluation.verdict.light import Colour, Finding, Light
from understudy.evaluation.verdict.released import judge_released
from understudy.evaluation.verdict.verdict import Decision, Verdict, judge

__all__ = ["Colour", "Decision", "Finding", "Light", "Verdict", "judge", "judge_released"]
