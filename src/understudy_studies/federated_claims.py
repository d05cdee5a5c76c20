"""Claims of TUC-1 about bits among holders, and what the numbers say of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from understudy_studies.cells import Results, Spread
from understudy_studies.federated_sweeps import (
    COLUMNS,
    FIGURES,
    GIVEN,
    HOLDERS,
    NETWORK,
    PRINTED,
    PROTOCOLS,
    REACH,
    REAL,
    SHOWN,
    UNCLIPPED,
    Sweep,
    mean_bits,
)
from understudy_studies.study import JudgedClaim, Reproduction

# A difference in bits below this part of the smaller is none to speak of.
_ALIKE = 0.02
# A claim, its verdict, and the reason for it.
_Judgement = tuple[str, Reproduction, str]


class BitsEstimate(NamedTuple):
    """A number of bits, and its standard error."""

    value: float
    error: float


def about_figure(figure: Sweep, results: Results) -> str:
    """From the first value of what changes to the last, for each protocol and form."""
    cells, values = figure.of(results), figure.values(results)
    of_table = results.where(table=figure.table)
    alone = mean_bits(of_table, form=COLUMNS)
    degrees = values if figure.over == "degree" else [figure.degree]
    central = min(mean_bits(of_table, form=NETWORK, degree=degree) for degree in degrees)
    said = "; ".join(_protocol(figure, cells, values, p) for p in cells.values("protocol"))
    return (
        f"Figure {figure.name} ({figure.table}, {_symbol(figure.over)} from {values[0]} to "
        f"{values[-1]}; one network without privacy {central:.2f}, independent columns "
        f"{alone:.2f}): {said}."
    )


def _protocol(figure: Sweep, cells: Results, values: Sequence[Any], protocol: str) -> str:
    parts = []
    for form in SHOWN:
        of_form = cells.where(protocol=protocol, form=form)
        start, end = (
            mean_bits(of_form, **{figure.over: value}) for value in (values[0], values[-1])
        )
        trend = "" if figure.over == "epsilon" else _trend(start, end)
        parts.append(f"{start:.2f} → {end:.2f}{trend}")
    return f"{protocol} {parts[0]} as printed, {parts[1]} improved, {parts[2]} with δ"


def _trend(start: float, end: float) -> str:
    if abs(end - start) <= _ALIKE * min(start, end):
        return " (alike)"
    return " (better)" if end < start else " (worse)"


def _symbol(over: str) -> str:
    return {"epsilon": "ε", "holders": "M", "degree": "k"}[over]


def without_clipping(results: Results) -> Iterator[str]:
    """Whether more holders help statistics on Diabetes because they clip."""
    cells = FIGURES[-1].of(results).where(protocol="statistics")
    bare = cells.where(form=UNCLIPPED)
    if not bare.cells:
        return
    ends = sorted(bare.values("holders"))
    clipped, free = (
        [mean_bits(cells, form=form, holders=value) for value in ends]
        for form in (PRINTED, UNCLIPPED)
    )
    yield (
        f"In the printed form statistics on Diabetes go from {clipped[0]:.2f} to {clipped[1]:.2f} "
        f"bits with holders that clip{_trend(*clipped)}, and from {free[0]:.2f} to {free[1]:.2f} "
        f"with holders that do not{_trend(*free)}."
    )


def with_network_given(results: Results) -> Iterator[str]:
    """Whether votes become worse with more holders by the noise on tables alone."""
    given, votes = results.where(form=GIVEN), FIGURES[2].of(results).where(protocol="votes")
    if not given.cells or not votes.cells:
        return
    ends = sorted(given.values("holders"))
    tables, voted = (
        [mean_bits(cells, form=form, holders=value) for value in ends]
        for cells, form in ((given, GIVEN), (votes, PRINTED))
    )
    yield (
        f"In the printed form votes on seven attributes go from {voted[0]:.2f} to {voted[1]:.2f} "
        f"bits with {ends[1]} holders for {ends[0]}; tables of a network that is known, at the ε "
        f"that they have there, from {tables[0]:.2f} to {tables[1]:.2f}: every holder adds its "
        "noise to them, which voting does not change."
    )


def reached(results: Results) -> Iterator[str]:
    """Whether three holders at ε = 1 beat independent columns without privacy on Diabetes."""
    real = results.where(table=REAL)
    cells = real.where(holders=HOLDERS, degree=1, epsilon=REACH)
    if not cells.cells:
        return
    alone = mean_bits(real, form=COLUMNS)
    said = [_against(cells.where(form=form), alone) for form in cells.values("form")]
    yield (
        f"Three holders on Diabetes at ε = {REACH}, degree 1, against the {alone:.2f} bits of "
        f"independent columns that pay nothing for privacy: {'; '.join(said)}. What decides is the "
        "noise on a cell of the sums, over which an edge must show something"
        f"{_single(real.where(holders=1, epsilon=REACH), alone)}."
    )


def _single(results: Results, alone: float) -> str:
    """Return the result of one holder of all rows under the same promise."""
    if not results.cells:
        return ""
    return f": one holder of all rows, {_against(results, alone)}"


def _against(results: Results, alone: float) -> str:
    """The best protocol of one form beside the baseline."""
    best = min(results, key=lambda cell: float(cell.numbers["mean"]))
    bits, noise = float(best.numbers["mean"]), float(best.numbers["noise"])
    verdict = "beats them" if bits < alone else "cannot beat them"
    how = f"{best.setting['protocol']}, {bits:.2f}, noise of {noise:.0f} rows"
    return f"{best.setting['form']} {verdict} ({how})"


def judged_figure(figure: Sweep, results: Results) -> list[JudgedClaim]:
    """Judge the thesis' words on a figure by its own form."""
    own = figure.of(results).where(form=PRINTED)
    values = figure.values(results)
    if len(own.values("protocol")) < len(PROTOCOLS):
        return []
    bits = {
        p: [_spread(own.where(protocol=p), **{figure.over: v}) for v in values] for p in PROTOCOLS
    }
    shown = "; ".join(f"{p} {_listed(bits[p])}" for p in PROTOCOLS)
    measured = f"{_symbol(figure.over)} = {', '.join(map(str, values))}: {shown}"
    return [
        JudgedClaim(f"Figure {figure.name}: {claim}", measured, verdict, reason)
        for claim, verdict, reason in _judged(figure, bits, values)
    ]


def _spread(results: Results, **wanted: Any) -> Spread:
    """The bits of a cell's runs; a cell with a mean alone has no scatter."""
    numbers = results.where(**wanted).cells[0].numbers
    return Spread.of(numbers.get("bits") or [float(numbers["mean"])])


def _judged(
    figure: Sweep, bits: Mapping[str, Sequence[Spread]], values: Sequence[Any]
) -> list[_Judgement]:
    """Each claim on one figure, its verdict, and what is the case where it does not hold."""
    rise = {p: b[-1].mean - b[0].mean for p, b in bits.items()}
    match figure.name:
        case "3.4" | "3.5":
            return _noise_claims(bits)
        case "3.6":
            return [_more_holders(bits)]
        case "3.7":
            claim = "a higher degree harms statistics and does not harm the others"
            holds = rise["statistics"] > 0 >= max(rise["votes"], rise["model"])
            return [_decided(claim, holds, "it harms another protocol too")]
        case "3.8":
            return [_voting("voting needs the fewest bits", bits, _symbol(figure.over), values)]
        case _:
            claim = "voting is the clear winner over the number of holders"
            better = "statistics become better with more holders"
            return [
                _voting(claim, bits, _symbol(figure.over), values),
                _decided(better, rise["statistics"] < 0, "they become worse"),
            ]


def _voting(
    claim: str, bits: Mapping[str, Sequence[Spread]], symbol: str, values: Sequence[Any]
) -> _Judgement:
    """Whether votes need fewer bits than all others everywhere, by two standard errors."""
    sides: dict[str, list[str]] = {
        "it wins": [],
        "it does not win": [],
        "these runs do not decide it": [],
    }
    for place, value in enumerate(values):
        votes = bits["votes"][place]
        rivals = (b[place] for p, b in bits.items() if p != "votes")
        rival = min(rivals, key=lambda bits_of: bits_of.mean)
        lead, error = rival.mean - votes.mean, 2 * math.hypot(rival.error, votes.error)
        side = "it wins" if lead > error else "it does not win" if -lead > error else [*sides][2]
        sides[side].append(str(value))
    held, against, _ = sides.values()
    if len(held) == len(values):
        return claim, Reproduction.REPRODUCED, ""
    reason = "; ".join(f"{s} at {symbol} = {', '.join(at)}" for s, at in sides.items() if at)
    if against:
        return claim, Reproduction.CONTRADICTED, reason
    return claim, Reproduction.PARTLY if held else Reproduction.NOT_COMPARABLE, reason


def _decided(claim: str, holds: bool, reason: str) -> _Judgement:
    if holds:
        return claim, Reproduction.REPRODUCED, ""
    return claim, Reproduction.CONTRADICTED, reason


def _noise_claims(bits: Mapping[str, Sequence[Spread]]) -> list[_Judgement]:
    """Whether statistics are best with little noise, and lose most by much of it."""
    last = {p: BitsEstimate(b[-1].mean, b[-1].error) for p, b in bits.items()}
    gains = {p: _change(b) for p, b in bits.items()}
    return [
        _first("statistics are best at the largest ε", last, "needs fewer bits there"),
        _first(
            "statistics suffer most from noise",
            gains,
            "needs more bits at the least ε, in what it gains up to the largest",
        ),
    ]


def _first(claim: str, found: Mapping[str, BitsEstimate], otherwise: str) -> _Judgement:
    """Whether statistics have the least value, by two standard errors from the next one."""
    order = sorted(found, key=lambda p: found[p].value)
    least, rival = order[0], order[1] if order[0] == "statistics" else "statistics"
    apart = found[rival].value - found[least].value
    error = math.hypot(found[rival].error, found[least].error)
    if apart <= 2 * error and error:
        reason = f"these runs cannot separate {least} from {rival}: {apart:.4f} ± {error:.4f} bits"
        return claim, Reproduction.NOT_COMPARABLE, reason
    return _decided(claim, least == "statistics", f"{least} {otherwise}")


def _change(bits: Sequence[Spread]) -> BitsEstimate:
    """The bits from the first value to the last."""
    first, last = bits[0], bits[-1]
    return BitsEstimate(last.mean - first.mean, math.hypot(first.error, last.error))


def _more_holders(bits: Mapping[str, Sequence[Spread]]) -> _Judgement:
    """Whether more holders leave voting as it is and harm the others, by more than chance."""
    claim = "voting does not mind more holders, the others do"
    rises = {p: _change(b) for p, b in bits.items()}
    harmed = [p for p, rise in rises.items() if rise.value > 2 * rise.error]
    each = "; ".join(f"{p} by {rise.value:+.2f} bits" for p, rise in rises.items())
    if "votes" not in harmed:
        return _decided(claim, len(harmed) == len(rises) - 1, f"they change {each}")
    if rises["votes"].value < min(r.value for p, r in rises.items() if p != "votes"):
        reason = f"votes become worse too, though least: {each}"
        return claim, Reproduction.PARTLY, reason
    return claim, Reproduction.CONTRADICTED, f"votes become worse as much as another: {each}"


def _listed(values: Sequence[Spread]) -> str:
    return " ".join(f"{value.mean:.2f}" for value in values)
