"""`understudy doctor`: look at versions, extras, the machine and the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from understudy.cli.console import print_json, results, table_of
from understudy.cli.options.output import AsJson
from understudy.cli.options.privacy import LedgerFile

if TYPE_CHECKING:
    from understudy.jobs.doctor import Diagnosis, ExtraState, LedgerHealth

_GIB = 2**30


def doctor(ledger: LedgerFile = None, as_json: AsJson = False) -> None:
    """Show versions, extras and what they bring, cores, memory, and whether the ledger is whole."""
    from understudy.jobs.doctor import check_health, diagnose

    found = diagnose(ledger)
    if as_json:
        print_json(found.document())
    else:
        _show(found)
    check_health(found.ledger)


def _show(found: Diagnosis) -> None:
    console, machine = results(), found.machine
    listed = ", ".join(f"{name} {version or 'missing'}" for name, version in found.versions.items())
    console.print(listed)
    console.print(
        f"{machine['system']}: {machine['cores']} cores, {machine['memory_bytes'] / _GIB:.1f} GiB "
        f"of memory, {machine['free_memory_bytes'] / _GIB:.1f} GiB free, locks by "
        f"{machine['locks']}"
    )
    console.print(_ledger(found.ledger))
    extras = table_of(["extra", "", "brings", "install"])
    for each in found.extras:
        extras.add_row(*_extra(each))
    console.print(extras)


def _ledger(health: LedgerHealth) -> str:
    if health.entries is None:
        return f"ledger {health.place}: {'not in order' if health.trouble else 'empty'}"
    parts = [
        f"{_number(health.entries, 'entry', 'entries')}, all whole",
        _number(health.datasets, "dataset", "datasets"),
        f"{_number(health.open_runs, 'run', 'runs')} never closed, which count whole",
    ]
    if health.copy_of is not None:
        parts.append(f"a copy that is only read, of {health.copy_of}")
    return f"ledger {health.place}: {'; '.join(parts)}"


def _number(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _extra(each: ExtraState) -> list[str]:
    if not each.missing:
        return [each.name, "installed", each.brings, ""]
    return [each.name, f"lacks {', '.join(each.missing)}", each.brings, each.way_out]
