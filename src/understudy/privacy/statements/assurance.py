"""How much is known about each promise: what proves it, what checks it, and what is still missing.

The registry names pages in `docs/proofs` and files in `tests`; `docs/assurance.md` is made from it,
and tests check that every method is here and that everything it names exists.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

PAGE = "docs/assurance.md"


class Vetting(StrEnum):
    """How far a promise has been checked."""

    WELL_PROVEN = "well proven"
    """Proved, replayed on neighbours, attacked with real noise, and nothing known to be missing."""

    LESS_PROVEN = "less proven"
    """Proved, but one of the checks is missing, or the proof rests on more than exact integers."""


@dataclass(frozen=True)
class Assurance:
    """The proofs and checks behind a promise, and what they miss.

    Attributes:
        proofs: pages of `docs/proofs` that prove it, by name.
        replays: tests that compare exact answers on neighbouring inputs.
        attacks: tests that attack releases made with real noise, or reject wrong noise.
        referees: tests that compare with a package or a computation of someone else.
        missing: what is not shown, as a sentence; empty where nothing is known to be missing.
        limits: how far a check reaches that is there, in words; empty where nothing need be said.
        commands: the commands that offer it; their help marks what is less proven.
    """

    proofs: tuple[str, ...]
    replays: tuple[str, ...] = ()
    attacks: tuple[str, ...] = ()
    referees: tuple[str, ...] = ()
    missing: str = ""
    limits: str = ""
    commands: tuple[str, ...] = ()

    @property
    def level(self) -> Vetting:
        """Well proven where proof, replay and attack are there and nothing is known to miss."""
        whole = self.proofs and self.replays and self.attacks and not self.missing
        return Vetting.WELL_PROVEN if whole else Vetting.LESS_PROVEN

    @property
    def sentence(self) -> str:
        """The level in one sentence, for statements."""
        if self.level is Vetting.WELL_PROVEN:
            return "Well proven: proved, replayed on neighbouring inputs, and attacked."
        return f"Less proven: {self.missing}"

    def document(self) -> dict[str, str]:
        """The level and its sentence, for JSON."""
        return {"level": str(self.level), "sentence": self.sentence}


_REPLAY = "tests/audit/test_replay.py"
_ATTACK = "tests/methods/auditing/test_audit.py"
_NOISE = "tests/statistical/test_noise.py"
_ACCOUNTING = "tests/privacy/accounting/test_accounting.py"
_CURVE = "tests/privacy/accounting/test_gaussian_curve.py"
_COUNTED = ("codec_stability", "count_sensitivity", "discrete_laplace", "discrete_gaussian")
_FITTING = ("synth", "fit", "audit")
_PLANNED = (*_FITTING, "plan")

_FLOATS = (
    "what the noise is put on is computed by PyTorch in single precision, so that its sensitivity "
    "is measured and not proved to the last bit"
)

_NOT_ATTACKED = "whole runs are not attacked with real noise, only their mechanisms are."

METHODS: Mapping[str, Assurance] = {
    "adaptive": Assurance(
        (
            *_COUNTED,
            "gaussian_curve",
            "model_errors",
            "score_grid",
            "permute_and_flip",
            "exact_choices",
            "log_linear",
        ),
        *((_REPLAY,), (_ATTACK,), (_NOISE, _CURVE)),
        commands=_PLANNED,
    ),
    "random": Assurance(
        ("count_sensitivity", "discrete_laplace", "gaussian_curve"),
        *((_REPLAY,), (_ATTACK,), (_NOISE, _CURVE)),
        commands=_PLANNED,
    ),
    "independent": Assurance(
        (*_COUNTED[:3], "gaussian_curve"),
        *((_REPLAY,), (_ATTACK,), (_NOISE, _CURVE)),
        commands=_PLANNED,
    ),
    "privbayes": Assurance(
        (*_COUNTED[:3], "scores", "score_grid", "permute_and_flip", "exact_choices"),
        *((_REPLAY,), (_ATTACK,), (_NOISE,)),
        commands=_PLANNED,
    ),
    "nist": Assurance(
        (
            *_COUNTED[:2],
            "discrete_gaussian",
            "gaussian_curve",
            "scores",
            "score_grid",
            "exponential",
            "exact_choices",
            "zcdp_conversion",
        ),
        *((_REPLAY,), (_ATTACK,), (_NOISE, _ACCOUNTING, _CURVE)),
        commands=_PLANNED,
    ),
    "histogram": Assurance(
        ("codec_stability", "smoothed_histogram"),
        *((_REPLAY,), (_ATTACK,)),
        commands=_FITTING,
    ),
    "dpgan": Assurance(
        (
            *("dpgan", "discrete_gaussian", "gaussian_curve", "count_sensitivity"),
            *("model_errors", "score_grid", "log_linear"),
        ),
        (_REPLAY, "tests/gan/test_image_replay.py"),
        ("tests/gan/test_canary.py", "tests/gan/test_image_canary.py"),
        ("tests/gan/test_gradients.py", "tests/privacy/mechanisms/test_sampled.py"),
        missing=f"{_FLOATS}; attacks were tried on a few training steps alone.",
        commands=_FITTING,
    ),
    "noise-gan": Assurance(
        ("noise_gan", "discrete_gaussian"),
        (_REPLAY, "tests/gan/test_image_replay.py"),
        ("tests/gan/test_canary.py", "tests/gan/test_image_canary.py"),
        ("tests/privacy/mechanisms/test_sampled.py",),
        missing=f"{_FLOATS}; in version 0.1.0 its claim was false for tables with dropped rows, "
        "which was mended after it.",
        commands=_FITTING,
    ),
}
"""By the name that `--method` takes; methods for images are those of the same name."""

RELEASES: Mapping[str, Assurance] = {
    "schema infer": Assurance(
        ("codec_stability", "key_release", "quantiles"),
        ("tests/methods/discover/test_inference_replay.py", _REPLAY),
        ("tests/privacy/mechanisms/test_keys.py", "tests/privacy/mechanisms/test_gaussian_keys.py"),
        missing=_NOT_ATTACKED,
        commands=("schema infer",),
    ),
    "schema init": Assurance(
        ("codec_stability", "kinds"),
        ("tests/methods/discover/test_kinds.py", _REPLAY),
        missing=_NOT_ATTACKED,
        commands=("schema init",),
    ),
    "preflight": Assurance(
        ("preflight", "codec_stability", "count_sensitivity", "discrete_laplace"),
        ("tests/audit/test_preflight_replay.py",),
        ("tests/privacy/test_preflight.py", _NOISE),
    ),
    "evaluate": Assurance(
        ("released_summary", "codec_stability"),
        ("tests/evaluation/released/test_summary.py",),
        missing=_NOT_ATTACKED,
        commands=("evaluate",),
    ),
    "federated": Assurance(
        ("federated", "scores", "score_grid", "moments"),
        (
            "tests/federated/holder/test_holder_replay.py",
            "tests/federated/protocols/test_image_holders.py",
        ),
        missing=_NOT_ATTACKED,
        commands=("holder", "analyst"),
    ),
    "stream": Assurance(
        ("pan_private",),
        ("tests/stream/test_exact_loss.py",),
        ("tests/stream/test_statistics.py",),
        commands=("stream density", "stream merge", "stream intrusion"),
    ),
    "moments": Assurance(
        ("moments", "gaussian_curve", "discrete_gaussian"),
        ("tests/gan/test_moment_replay.py",),
        ("tests/gan/test_moment_canary.py",),
        (_CURVE,),
        limits="attacked with 100 runs on images of 3 × 3 pixels",
    ),
    "persons": Assurance(
        ("codec_stability", "count_sensitivity", "scores"),
        (_REPLAY, "tests/facts/codec/test_persons.py"),
        (_ATTACK,),
        missing="a person is a name, and no check can find out who has two names.",
    ),
}
"""Everything else that spends budget."""

MECHANISMS: Mapping[str, Assurance] = {
    "DiscreteLaplace": Assurance(
        ("discrete_laplace", "exact_draws"),
        ("tests/privacy/mechanisms/test_mechanisms.py",),
        *((_NOISE, "tests/privacy/noise/test_draws.py"), (_NOISE,)),
    ),
    "DiscreteGaussian": Assurance(
        ("discrete_gaussian", "exact_draws", "zcdp_conversion"),
        ("tests/privacy/mechanisms/test_mechanisms.py",),
        *((_NOISE, "tests/privacy/noise/test_draws.py"), (_NOISE, _ACCOUNTING)),
    ),
    "FineGaussian": Assurance(
        ("gaussian_curve", "discrete_gaussian", "exact_draws"),
        ("tests/privacy/test_curator.py",),
        *((_NOISE, "tests/privacy/noise/test_draws.py"), (_NOISE, _CURVE)),
    ),
    "PermuteAndFlip": Assurance(
        ("permute_and_flip", "exact_choices"),
        ("tests/privacy/mechanisms/test_mechanisms.py",),
        *((_NOISE, "tests/privacy/noise/test_choices.py"), (_NOISE,)),
    ),
    "Exponential": Assurance(
        ("exponential", "exact_choices"),
        ("tests/privacy/mechanisms/test_mechanisms.py",),
        *((_NOISE, "tests/privacy/noise/test_choices.py"), (_NOISE,)),
    ),
    "KeyRelease": Assurance(
        ("key_release",),
        ("tests/privacy/mechanisms/test_keys.py",),
        ("tests/privacy/mechanisms/test_keys.py",),
    ),
    "GaussianKeyRelease": Assurance(
        ("key_release",),
        ("tests/privacy/mechanisms/test_gaussian_keys.py",),
        ("tests/privacy/mechanisms/test_gaussian_keys.py",),
    ),
    "SmoothedHistogram": Assurance(
        ("smoothed_histogram",),
        ("tests/privacy/mechanisms/test_smoothed_histogram.py",),
        ("tests/privacy/mechanisms/test_smoothed_histogram.py", _ATTACK),
    ),
    "SampledGaussian": Assurance(
        ("dpgan",),
        ("tests/privacy/mechanisms/test_sampled.py",),
        ("tests/privacy/mechanisms/test_sampled.py", "tests/gan/test_canary.py"),
        ("tests/privacy/mechanisms/test_sampled.py",),
    ),
    "LineGaussian": Assurance(
        ("noise_gan",),
        ("tests/privacy/mechanisms/test_sampled.py",),
        ("tests/gan/test_canary.py",),
        ("tests/privacy/mechanisms/test_sampled.py",),
    ),
}
"""By the name of the class; a mechanism's exact answers are taken for granted here."""

_UNKNOWN = Assurance((), missing="this version does not know the method.")


def assurance_of(method: str, *, persons: bool = False, inferred: bool = False) -> Assurance:
    """The assurance of a result: the least of what its method, unit and schema have.

    Args:
        method: as its statement names it.
        persons: whether the unit is a person.
        inferred: whether its schema was learned from the same rows.

    Example:
        >>> str(assurance_of("nist").level), str(assurance_of("dpgan").level)
        ('well proven', 'less proven')
    """
    kind = "federated" if method.startswith("federated ") else method
    found = [METHODS.get(kind) or RELEASES.get(kind) or _UNKNOWN]
    found += [RELEASES["schema infer"]] if inferred else []
    found += [RELEASES["persons"]] if persons else []
    return next((one for one in found if one.level is Vetting.LESS_PROVEN), found[0])


def less_proven_sentence() -> str:
    """Which methods are less proven, for help texts of commands that offer all of them."""
    *others, last = [name for name, found in METHODS.items() if found.level is Vetting.LESS_PROVEN]
    names = f"{', '.join(others)} and {last}" if others else last
    return f"Less proven than the others ({PAGE}): {names}."
