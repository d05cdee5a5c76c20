"""The ledger never says less than the truth, whatever happens to the process."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from support.tiers import full_but, slow_then_full
from understudy.errors import BudgetExceeded, LedgerError, UsageError
from understudy.privacy.accounting.adjacency import Adjacency
from understudy.privacy.accounting.costs import Concentrated
from understudy.privacy.accounting.events import Charge, LaplaceEvent
from understudy.privacy.budget import Budget
from understudy.privacy.spending.grant import Grant
from understudy.privacy.spending.ledger import Ledger, default_path
from understudy.privacy.spending.limits import Limit, Room, Spent
from understudy.privacy.spending.pricing import GaussianRounds
from understudy.privacy.spending.stores.chain import checksum

QUARTER = Charge("counts of age", LaplaceEvent(Fraction(4), Fraction(1)))


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A ledger of its own for every test."""
    return Ledger(tmp_path / "deep" / "ledger.jsonl")


def test_spending_adds_up_exactly(ledger: Ledger) -> None:
    """Three runs of a third leave exactly nothing of one."""
    ledger.limit("a", epsilon=Fraction(1))
    for _ in range(3):
        with ledger.grant("a", Budget.pure("1/3")) as grant:
            grant.charge([Charge("q", LaplaceEvent(Fraction(3), Fraction(1)))])
    assert Room(Spent()) == ledger.account("a").remaining
    with pytest.raises(BudgetExceeded), ledger.grant("a", Budget.pure("1e-30")):
        pass


def test_a_ledger_is_shown_by_its_path(tmp_path: Path) -> None:
    """One line says which file it is."""
    assert f"Ledger('{tmp_path}/l.jsonl')" == repr(Ledger(tmp_path / "l.jsonl"))


def test_a_refusal_says_what_is_left(ledger: Ledger) -> None:
    """The error carries the amounts and the way out, and nothing was spent."""
    ledger.limit("a", epsilon=Fraction(1), delta=Fraction(1, 10**6))
    with (
        pytest.raises(BudgetExceeded, match="ledger limit") as caught,
        ledger.grant("a", Budget.pure(2)),
    ):
        pass
    assert Spent(Fraction(2)) == caught.value.requested
    assert Room(Spent(Fraction(1), Fraction(1, 10**6))) == caught.value.remaining
    assert Spent() == ledger.account("a").spent


def test_delta_is_limited_too(ledger: Ledger) -> None:
    """A limit on epsilon alone allows no delta."""
    ledger.limit("a", epsilon=Fraction(10))
    with pytest.raises(BudgetExceeded), ledger.grant("a", Budget.approximate(1, 1e-9)):
        pass


def test_no_limit_unless_set(ledger: Ledger) -> None:
    """Without a limit everything is granted and written down."""
    with ledger.grant("a", Budget.pure(1000)) as grant:
        grant.charge([Charge("q", LaplaceEvent(Fraction(1, 1000), Fraction(1)))])
    account = ledger.account("a")
    assert account.limit is None
    assert account.remaining is None
    assert Spent(Fraction(1000)) == account.spent


def test_datasets_do_not_mix(ledger: Ledger) -> None:
    """What is spent on one dataset leaves another alone."""
    with ledger.grant("a", Budget.pure(1)) as grant:
        grant.charge([QUARTER])
    assert Spent() == ledger.account("b").spent
    assert ["a"] == list(ledger.accounts())


def test_a_run_that_drew_nothing_cost_nothing(ledger: Ledger) -> None:
    """A grant closed before its first charge is given back whole."""
    with pytest.raises(RuntimeError), ledger.grant("a", Budget.pure(1)):
        raise RuntimeError
    assert Spent() == ledger.account("a").spent


def test_a_run_that_failed_halfway_cost_what_it_drew(ledger: Ledger) -> None:
    """Charges made before an error stay."""

    def run() -> None:
        with ledger.grant("a", Budget.pure(1)) as grant:
            grant.charge([QUARTER])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        run()
    assert Spent(Fraction(1, 4)) == ledger.account("a").spent


def test_a_grant_refuses_what_exceeds_it() -> None:
    """Four quarters fit into one; a fifth is refused, and not counted."""
    grant = Grant(Budget.pure(1))
    grant.charge([QUARTER] * 4)
    assert Fraction(0) == grant.remaining.amount
    with pytest.raises(BudgetExceeded) as caught:
        grant.charge([QUARTER])
    assert (Fraction(1, 4), Fraction(0)) == (caught.value.requested, caught.value.remaining)
    assert 4 == len(grant.charges)


def test_a_budgets_walk() -> None:
    """13 choices at 3/130 and 12 tables at 7/120 are 25 entries that use up exactly one."""
    structure, tables = Budget.pure(1).split([3, 7])
    grant = Grant(Budget.pure(1))
    for share in [*structure.split([1] * 13), *tables.split([1] * 12)]:
        grant.charge([Charge("q", LaplaceEvent(1 / share.amount, Fraction(1)))])
    assert (25, Fraction(0)) == (len(grant.charges), grant.remaining.amount)
    with pytest.raises(BudgetExceeded):
        grant.charge([Charge("q", LaplaceEvent(Fraction(10**9), Fraction(1)))])


def test_an_announced_run_asks_nothing_else() -> None:
    """After an announcement only the announced charges are allowed, each once."""
    grant = Grant(Budget.pure(1))
    grant.announce(lambda budget: [QUARTER, QUARTER])
    grant.charge([QUARTER])
    grant.charge([QUARTER])
    with pytest.raises(BudgetExceeded, match="announced"):
        grant.charge([QUARTER])
    with pytest.raises(UsageError, match="before the first charge"):
        grant.announce(lambda budget: [QUARTER])


def test_gaussian_noise_cannot_be_paid_for_in_pure_epsilon() -> None:
    """What has no ε is refused under a pure budget, whatever it would cost otherwise."""
    from understudy.privacy.accounting.events import GaussianEvent

    with pytest.raises(UsageError, match="cannot be paid"):
        Grant(Budget.pure(1)).charge([Charge("q", GaussianEvent(Fraction(10**9), Fraction(1)))])


def test_an_unannounced_run_claims_its_whole_grant() -> None:
    """It may have stopped because of what it saw, so the conversion of less ρ is not claimed."""
    from understudy.privacy.accounting.events import GaussianEvent

    grant = Grant(Budget.approximate(1, 1e-9))
    assert Fraction(0) == grant.bound().epsilon
    grant.charge([Charge("q", GaussianEvent(Fraction(10**9), Fraction(1)))])
    assert (Fraction(1), Fraction(1, 10**9)) == (grant.bound().epsilon, grant.bound().delta)


@pytest.mark.slow
def test_a_plan_charged_in_part_is_claimed_whole() -> None:
    """A run that stopped in the middle of its plan may have done so because of what it saw."""
    from understudy.privacy.accounting.events import GaussianEvent

    def plan(budget: Budget) -> list[Charge]:
        shares = budget.split([1, 1])
        return [Charge("q", GaussianEvent(1 / (2 * s.amount), Fraction(1))) for s in shares]

    grant = Grant(Budget.approximate(1, 1e-6))
    charges = plan(grant.announce(plan))
    grant.charge(charges[:1])
    half = grant.bound()
    grant.charge(charges[1:])
    assert half == grant.bound()
    assert Fraction(99, 100) < (half.epsilon or 0) <= 1


# --- damage ---------------------------------------------------------------------------------


def _spend(ledger: Ledger) -> None:
    with ledger.grant("a", Budget.pure(1)) as grant:
        grant.charge([QUARTER])


def test_a_torn_last_line_is_passed_over(ledger: Ledger) -> None:
    """A line that was never finished was never paid on; the next process says that it saw it."""
    _spend(ledger)
    with ledger.path.open("a") as file:
        file.write('{"entry": "grant", "datas')
    assert Spent(Fraction(1, 4)) == Ledger(ledger.path).account("a").spent
    _spend(Ledger(ledger.path))
    assert Spent(Fraction(1, 2)) == Ledger(ledger.path).account("a").spent
    assert '"torn"' in ledger.path.read_text()


@pytest.mark.parametrize("every", slow_then_full({23}, {5}, [1, 5, 23]))
def test_every_cut_of_the_file_is_either_true_or_refused(ledger: Ledger, every: int) -> None:
    """Cut anywhere, as by a power failure, the ledger reports all whole lines, and continues."""
    _spend(ledger)
    _spend(ledger)
    data = ledger.path.read_bytes()
    ends = [i for i, byte in enumerate(data) if byte == ord("\n")]
    # The borders of lines, and every byte or every so many between them.
    for cut in sorted({0, *range(0, len(data) + 1, every), *ends, *(end + 1 for end in ends)}):
        ledger.path.write_bytes(data[:cut])
        whole = data[:cut].count(b"\n") + (cut in ends)
        entries = [json.loads(line) for line in data.splitlines()[:whole]]
        grants = {entry["grant"]: Fraction(1) for entry in entries if entry["entry"] == "grant"}
        grants |= {e["grant"]: Fraction(1, 4) for e in entries if e["entry"] == "close"}
        assert sum(grants.values()) == Ledger(ledger.path).account("a").spent.epsilon
        _spend(Ledger(ledger.path))
        after = Ledger(ledger.path).account("a").spent.epsilon
        assert sum(grants.values()) + Fraction(1, 4) == after


def test_a_changed_line_is_refused(ledger: Ledger) -> None:
    """An amount edited by hand or by a failing disk stops all further spending."""
    _spend(ledger)
    _spend(ledger)
    text = ledger.path.read_text()
    ledger.path.write_text(text.replace('"epsilon_exact": "1"', '"epsilon_exact": "0"', 1))
    with pytest.raises(LedgerError, match="line 1 is damaged"):
        _spend(Ledger(ledger.path))


def test_a_removed_line_is_refused(ledger: Ledger) -> None:
    """Lines are chained: none can be taken out of the middle."""
    _spend(ledger)
    _spend(ledger)
    lines = ledger.path.read_text().splitlines(keepends=True)
    ledger.path.write_text("".join(lines[:1] + lines[2:]))
    with pytest.raises(LedgerError, match="damaged"):
        Ledger(ledger.path).accounts()


def test_an_open_ledger_sees_what_others_wrote(ledger: Ledger) -> None:
    """A process reads on from where it was, and starts over when the file is another."""
    _spend(ledger)
    _spend(Ledger(ledger.path))
    assert Spent(Fraction(1, 2)) == ledger.account("a").spent
    ledger.path.unlink()
    _spend(ledger)
    assert Spent(Fraction(1, 4)) == ledger.account("a").spent


def test_a_ledger_that_cannot_be_opened_refuses(tmp_path: Path) -> None:
    """A folder is not a ledger; nothing is granted."""
    with pytest.raises(LedgerError, match="--ledger"), Ledger(tmp_path).grant("a", Budget.pure(1)):
        pass


def test_a_full_disk_refuses_before_anything_is_drawn() -> None:
    """A charge that cannot be written down is not allowed."""
    with pytest.raises(LedgerError, match="nothing was drawn"):
        Ledger("/dev/full").limit("a", epsilon=Fraction(1))


def test_the_default_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """$UNDERSTUDY_LEDGER, else the state folder."""
    monkeypatch.setenv("UNDERSTUDY_LEDGER", str(tmp_path / "mine"))
    assert tmp_path / "mine" == default_path()
    monkeypatch.delenv("UNDERSTUDY_LEDGER")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert tmp_path / "understudy" / "ledger.jsonl" == default_path()


# --- processes ------------------------------------------------------------------------------

_SPENDER = """
import sys
from fractions import Fraction
from understudy.privacy.budget import Budget
from understudy.privacy.accounting.events import Charge, LaplaceEvent
from understudy.privacy.spending.ledger import Ledger

with Ledger(sys.argv[1]).grant("a", Budget.pure(1)) as grant:
    for _ in range(100):
        grant.charge([Charge("q", LaplaceEvent(Fraction(100), Fraction(1)))])
        print("released", flush=True)
"""

_RACER = """
import sys
from understudy.errors import BudgetExceeded
from understudy.privacy.budget import Budget
from understudy.privacy.spending.ledger import Ledger

for line in sys.stdin:
    try:
        with Ledger(line.strip()).grant("a", Budget.pure(1)) as grant:
            grant.charge([])
            print("won", flush=True)
            sys.stdin.readline()
    except BudgetExceeded:
        print("lost", flush=True)
        sys.stdin.readline()
"""


def _process(code: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _kill_after(releases: int, path: Path) -> int:
    """Run a spender, kill it after some releases, and count what it had released by then."""
    process = _process(_SPENDER, str(path))
    assert process.stdout is not None
    for _ in range(releases):
        process.stdout.readline()
    process.kill()
    seen = releases + len(process.stdout.readlines())
    process.wait()
    return seen


@pytest.mark.slow
@pytest.mark.parametrize("times", full_but({20}, [20, 100]))
def test_killed_at_any_instant_it_never_under_reports(tmp_path: Path, times: int) -> None:
    """Processes killed between charges and releases: every release had been written down."""

    def one(number: int) -> None:
        path = tmp_path / f"ledger-{number}.jsonl"
        seen = _kill_after(number * 100 // times % 40, path)
        account = Ledger(path).account("a")
        assert sum(run["charges"] for run in account.runs) >= seen
        assert account.spent.epsilon >= Fraction(seen, 100)
        # One that was killed after its last release may not have come to its close.
        assert all(run["open"] or seen == 100 for run in account.runs)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(one, range(times)))


@pytest.mark.slow
def test_two_processes_cannot_overspend_together(tmp_path: Path) -> None:
    """100 races for the last budget, and each has exactly one winner."""
    racers = [_process(_RACER), _process(_RACER)]
    outcomes = []
    for number in range(100):
        path = tmp_path / f"ledger-{number}.jsonl"
        Ledger(path).limit("a", epsilon=Fraction(1))
        for racer in racers:
            assert racer.stdin is not None
            racer.stdin.write(f"{path}\n")
            racer.stdin.flush()
        outcomes.append(sorted(r.stdout.readline().strip() for r in racers if r.stdout))
        for racer in racers:
            assert racer.stdin is not None
            racer.stdin.write("go on\n")
            racer.stdin.flush()
    for racer in racers:
        racer.communicate()
    assert [["lost", "won"]] * 100 == outcomes


def signed(*entries: dict[str, Any]) -> str:
    """Lines with the checksums that belong to them, whatever the entries say."""
    text, check = "", ""
    for entry in entries:
        check = checksum(check, entry)
        text += json.dumps({**entry, "check": check}) + "\n"
    return text


GRANT = {
    "time": "2026-01-01T00:00:00+00:00",
    "entry": "grant",
    "grant": "g",
    "dataset": "a",
    "epsilon_exact": "1/2",
    "delta_exact": "0",
}


@pytest.mark.parametrize(
    "change",
    [
        {"dataset": None},
        {"dataset": ["a"]},
        {"dataset": "\ud800"},
        {"time": 5},
        {"grant": {}},
        {"epsilon_exact": "-1"},
        {"epsilon_exact": "1/0"},
        {"epsilon_exact": "1e999999999"},
        {"epsilon_exact": "9" * 400},
        {"epsilon_exact": "9" * 5000},
        {"epsilon_exact": 0.5},
        {"epsilon_exact": "nan"},
        {"delta_exact": None},
        {"entry": "charge", "grant": "unknown"},
        {"entry": "close"},
    ],
)
def test_entries_that_lie_are_refused_even_with_right_checksums(
    ledger: Ledger, change: dict[str, Any]
) -> None:
    """The error quickly names what an entry lacks, and nothing is granted."""
    ledger.path.parent.mkdir()
    text = signed({**GRANT, **change})
    ledger.path.write_text(text)
    with pytest.raises(LedgerError, match=r"entry 1 does not say what it must; restore"):
        ledger.accounts()
    with pytest.raises(LedgerError), ledger.grant("a", Budget.pure(1)):
        pass
    assert text == ledger.path.read_text()


@pytest.mark.parametrize("end", ["", "\n", "\n{}\n"])
def test_a_number_of_thousands_of_digits_is_damage(ledger: Ledger, end: str) -> None:
    """Python does not read it; as a line left unfinished at the end it is passed over."""
    ledger.limit("a", epsilon=Fraction(1))
    with ledger.path.open("a") as file:
        file.write(f'{{"entry": "limit", "x": {"9" * 5000}}}{end}')
    if end:
        with pytest.raises(LedgerError, match="line 2 is damaged"):
            Ledger(ledger.path).accounts()
    else:
        assert ["a"] == [*Ledger(ledger.path).accounts()]


def test_a_charge_that_gives_back_is_refused(ledger: Ledger) -> None:
    """A sensitivity below 0 is not one that the program writes."""
    ledger.path.parent.mkdir()
    charge = {**GRANT, "entry": "charge", "sensitivity_exact": "1"}
    ledger.path.write_text(signed(GRANT, charge))
    assert Spent(Fraction(1, 2)) == ledger.account("a").spent
    ledger.path.write_text(signed(GRANT, {**charge, "sensitivity_exact": "-1"}))
    with pytest.raises(LedgerError, match="entry 2 does not say what it must"):
        Ledger(ledger.path).accounts()


def test_a_refusal_does_not_follow_from_another(ledger: Ledger) -> None:
    """Under a limit in zCDP a run is tried at less ρ, and one error without a cause is shown."""
    total = Spent(Fraction(1, 10), Fraction(1, 10**6))
    ledger.set_limit("a", Limit.zcdp(total, Adjacency()))
    with (
        pytest.raises(BudgetExceeded) as caught,
        ledger.grant("a", Budget.approximate(1, "1e-6"), pricing=GaussianRounds()),
    ):
        pass
    assert (None, None) == (caught.value.__context__, caught.value.__cause__)


def test_what_was_set_aside_is_not_lowered(ledger: Ledger) -> None:
    """A reserve may raise ρ and its δ, each by itself; a smaller one leaves them as they are."""
    ledger.path.parent.mkdir()
    grant = {**GRANT, "rho_exact": "1/8", "rho_delta_exact": "1/9"}
    reserve = {"entry": "reserve", "grant": GRANT["grant"]}
    low = {**reserve, "rho_exact": "0", "rho_delta_exact": "0"}
    mixed = {**reserve, "rho_exact": "1/4", "rho_delta_exact": "0"}
    for more, expected in ([low], Fraction(1, 8)), ([mixed, low], Fraction(1, 4)):
        ledger.path.write_text(signed(grant, *more))
        [run] = Ledger(ledger.path).account("a").runs
        assert Concentrated(expected, Fraction(1, 9)) == run["cost"].concentrated
    closed = {**grant, "entry": "close", "accounting": "pure"}
    ledger.path.write_text(signed(grant, closed, low))
    with pytest.raises(LedgerError, match="entry 3 does not say what it must"):
        Ledger(ledger.path).accounts()


def test_a_grant_is_opened_once(ledger: Ledger) -> None:
    """A second one of the same name would take the place of what the first has spent."""
    ledger.path.parent.mkdir()
    ledger.path.write_text(signed(GRANT))
    assert Spent(Fraction(1, 2)) == ledger.account("a").spent
    ledger.path.write_text(signed(GRANT, {**GRANT, "epsilon_exact": "0"}))
    with pytest.raises(LedgerError, match="entry 2 does not say what it must"):
        Ledger(ledger.path).accounts()


def test_a_grant_does_not_say_how_far_a_run_has_come(ledger: Ledger) -> None:
    """Whoever may spend could write one with a step, and the run's first one would stop all."""
    ledger.path.parent.mkdir()
    far = {"step": 9, "checkpoint": "b" * 64, "holder": "c" * 32}
    first = {**GRANT, "entry": "step", "step": 1, "checkpoint": "a" * 64, "holder": ""}
    ledger.path.write_text(signed({**GRANT, **far}, first))
    [run] = ledger.account("a").runs
    assert (1, "a" * 64, None) == (run["step"], run["checkpoint"], run.get("holder"))


def test_a_name_that_cannot_be_written_is_refused(ledger: Ledger) -> None:
    """Half a surrogate pair stands for a byte of a file name that is not text."""
    with pytest.raises(UsageError, match="is not Unicode and cannot be written; name it"):
        ledger.limit("\udcff", epsilon=Fraction(1))
    with pytest.raises(UsageError, match="--dataset"), ledger.grant("\udcff", Budget.pure(1)):
        pass
    assert {} == ledger.accounts()
