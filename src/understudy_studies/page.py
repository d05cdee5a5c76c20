"""A study's page: the claim beside what was found, the chart, the numbers, and plain words."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from understudy.system.files.writing import atomic, writing
from understudy_studies import find
from understudy_studies.cells import Results, Setting, Size
from understudy_studies.record import (
    cells_of,
    finished,
    picture,
    pictures,
    write_pictures,
)
from understudy_studies.study import JudgedClaim

_HEAD = ("the paper says", "measured here", "verdict")


def write_page(name: str, source: Path, page: Path) -> None:
    """The page of a finished record, its chart and a copy of the record beside it."""
    document = finished(source, name)
    files = {
        page: page_of(name, document),
        page.with_suffix(".svg"): picture(name, document),
        page.with_suffix(".json"): json.dumps(document, ensure_ascii=False, indent=1) + "\n",
    }
    with writing(page.parent):
        page.parent.mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        with atomic(path) as file:
            file.write(text.encode())
    write_pictures(name, document, page.parent)


def page_of(name: str, document: dict[str, Any]) -> str:
    """A record as Markdown; its chart is a file of the same name."""
    study = find(name)
    parts = [
        f"# {study.title}",
        f"{study.source}. Measured {document['date']} with `{document['command']}`"
        f" ({_size(document)}).",
        *_outdated(name, document),
        *_incomplete(document),
        *_of_another_plan(name, document),
        _judged(_findings(name, document)),
        f"**The paper says:** {study.claim}",
        f"**Measured here:** {document['sentence']}",
        f"![{study.title}]({name}.svg)",
        study.words,
        _table(document["summary"]),
        *_further(name, document),
        *(f"![{file}]({file})" for file in pictures(name, document)),
        f"All numbers, with parameters and versions, are in [{name}.json]({name}.json).",
    ]
    return "\n\n".join(parts) + "\n"


def _findings(name: str, document: dict[str, Any]) -> Sequence[JudgedClaim]:
    return find(name).findings(Results(tuple(cells_of(document))))


def _further(name: str, document: dict[str, Any]) -> list[str]:
    """The title and the lines of every further table."""
    tables = find(name).further(Results(tuple(cells_of(document))))
    return [part for title, table in tables.items() for part in (title, _table(table.document()))]


def _judged(claims: Sequence[JudgedClaim]) -> str:
    """A line for each claim of the paper; a small run may have too few cells to judge any."""
    if not claims:
        return "Too little was measured to judge a claim of the paper."
    return _table([dict(zip(_HEAD, claim.line, strict=True)) for claim in claims])


def _outdated(name: str, document: dict[str, Any]) -> list[str]:
    """A sentence on cells that were measured under an earlier law, where there are any."""
    changed = changed_laws(name, document)
    names = sorted({f"`{each}`" if each != "study" else "the study" for c in changed for each in c})
    if not names:
        return []
    count = sum(map(bool, changed))
    return [
        f"**Out of date:** {count} of {len(changed)} cells were measured before "
        f"{' and '.join(names)} changed, by {_measured_by(document)}; the same command measures "
        "them again."
    ]


def _of_another_plan(name: str, document: dict[str, Any]) -> list[str]:
    """A sentence on settings that a run would measure and that are not in the record."""
    planned, missing, other = against_plan(name, document)
    listed = {_key(setting) for setting in document.get("missing", ())}
    if missing == len(listed) and not other:
        return []
    return [
        f"**Not of the present plan:** {missing:,} of the {planned:,} settings that the command "
        f"measures are not in this record, and {other:,} of its cells are of settings that it no "
        f"longer has. What is said below of settings is said of the plan; this record has ε = "
        f"{', '.join(_epsilons(document))}."
    ]


def _incomplete(document: dict[str, Any]) -> list[str]:
    """A sentence on the settings that a record lists as missing, where there are any."""
    missing = document.get("missing", [])
    if not missing:
        return []
    found = Counter(_about(setting) for setting in missing)
    listed = ", ".join(f"{name} ({n} runs)" if n > 1 else name for name, n in found.items())
    return [
        f"**Not complete:** {len(missing):,} of the {document['planned']:,} settings that the "
        f"command measures have not been measured yet: {listed}."
    ]


def _about(setting: Setting) -> str:
    """The method of a setting and its ε."""
    epsilon = setting.get("epsilon")
    where = "without noise" if epsilon == "none" else f"at ε = {epsilon}"
    return f"{setting.get('method')} {where}"


def _epsilons(document: dict[str, Any]) -> list[str]:
    """The ε of a record, the smallest first."""
    found = {str(cell.setting.get("epsilon", "none")) for cell in cells_of(document)}
    return sorted((e for e in found if e.replace(".", "").isdigit()), key=float)


def against_plan(name: str, document: dict[str, Any]) -> tuple[int, int, int]:
    """How many settings are planned, how many of them a record lacks, and how many others it has.

    A record that was made before a plan changed is whole by its own count.
    """
    plan = {_key(setting) for setting in find(name).settings(Size(document["size"]))}
    held = {_key(cell.setting) for cell in cells_of(document)}
    return len(plan), len(plan - held), len(held - plan)


def _key(setting: Setting) -> str:
    return json.dumps(dict(setting), sort_keys=True)


def _measured_by(document: dict[str, Any]) -> str:
    """List the versions that measured the cells of a record."""
    found = sorted({cell.version for cell in cells_of(document)})
    return f"version{'s' * (len(found) > 1)} {' and '.join(found)}"


def changed_laws(name: str, document: dict[str, Any]) -> list[list[str]]:
    """List for every cell of a record the laws that have changed since it was measured."""
    study = find(name)
    return [cell.outdated(study.laws(cell.setting)) for cell in cells_of(document)]


def _size(document: dict[str, Any]) -> str:
    """The size, what of the paper's it leaves out, and how long it took."""
    about = {
        "smoke": "smoke size, which shows that the study runs and nothing else",
        "quick": "quick size: fewer settings and runs than at full size",
        "full": f"full size: {document['reduced'] or 'as much as the paper did'}",
    }[document["size"]]
    return f"{about}; cells took {document['seconds'] / 60:.1f} minutes by the clock"


def _table(lines: list[dict[str, Any]]) -> str:
    columns = list(lines[0])
    head = [_row(columns), _row(["---"] * len(columns))]
    return "\n".join([*head, *(_row([_shown(v) for v in line.values()]) for line in lines)])


def _row(values: list[str]) -> str:
    return f"| {' | '.join(values)} |"


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return str(value)
