"""`understudy verify`: statement, file and ledger belong together, or are refused by name."""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from support.commands import Desk, desk_in
from understudy.errors import ModelError
from understudy.model import Model

BELONGS, DOES_NOT = 0, 5


@pytest.fixture
def desk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Desk:
    """A desk whose commands write to its own ledger."""
    found = desk_in(tmp_path, capsys)
    monkeypatch.setenv("UNDERSTUDY_LEDGER", str(found.ledger.path))
    return found


@pytest.fixture
def made(desk: Desk) -> Desk:
    """A desk with synthetic rows and their statement."""
    assert 0 == desk.synth("--method", "independent").code
    return desk


def _beside(path: Path) -> Path:
    return Path(f"{path}.privacy.json")


def _edit(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the statement in a file."""
    document = json.loads(_beside(path).read_text())
    change(document["statement"])
    _beside(path).write_text(json.dumps(document))


def _outcomes(desk: Desk, *arguments: object, code: int) -> dict[str, str]:
    """What every check came to; the exit code must be this one."""
    found = desk.run("verify", *arguments, "--json")
    assert code == found.code, found
    assert found.document["belongs_together"] is (code == BELONGS)
    return {check["check"]: check["outcome"] for check in found.document["checks"]}


def test_what_a_run_wrote_belongs_together(made: Desk) -> None:
    """Statement, file, ledger and seal hold; nothing else was asked."""
    expected = {"statement": "holds", "file": "holds", "signature": "absent"}
    assert expected | {"ledger": "not asked"} == _outcomes(made, made.output, code=BELONGS)
    asked = _outcomes(made, made.output, "--ledger", made.ledger.path, code=BELONGS)
    assert expected | {"ledger": "holds", "seal": "holds"} == asked
    told = made.run("verify", _beside(made.output)).out
    assert 4 < len(told.splitlines())
    assert "e^1 times" in told


def test_altered_rows_are_told(made: Desk) -> None:
    """One byte more, and the file is not the one that the statement speaks of."""
    with made.output.open("a") as file:
        file.write("Ann,3\n")
    assert "fails" == _outcomes(made, made.output, code=DOES_NOT)["file"]


def test_a_smaller_promise_contradicts_its_own_answers(made: Desk) -> None:
    """Whoever lowers epsilon everywhere has still the answers that cost more."""

    def lower(statement: dict[str, Any]) -> None:
        statement |= {"epsilon": 0.1, "epsilon_exact": "1/10"}
        statement["sentence"] = statement["sentence"].replace("e^1 ", "e^0.1 ")

    _edit(made.output, lower)
    found = made.run("verify", made.output)
    assert DOES_NOT == found.code
    assert "its own answers come to 1" in found.out


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("epsilon", 0.5),
        ("delta", 0.5),
        ("private", False),
        ("sentence", "Whatever is computed is perfectly private."),
        ("trust", "Trust me."),
        ("not_protected", []),
    ],
)
def test_what_is_said_twice_must_agree(made: Desk, key: str, value: object) -> None:
    """Numbers, sentence, trust model and limits follow from the exact amounts and the unit."""
    _edit(made.output, lambda statement: statement.update({key: value}))
    assert "fails" == _outcomes(made, made.output, code=DOES_NOT)["statement"]


def test_a_consistent_forgery_fails_at_the_ledger(made: Desk) -> None:
    """With fewer answers and less epsilon a statement agrees with itself, and not with the run."""

    def forget(statement: dict[str, Any]) -> None:
        kept = statement["events"][:1]
        epsilon = kept[0]["epsilon"]
        statement |= {"events": kept, "epsilon": epsilon}
        statement["epsilon_exact"] = str(Fraction(repr(epsilon)))
        statement["binding"]["version"] = "9.9.9"

    _edit(made.output, forget)
    found = _outcomes(made, made.output, "--ledger", made.ledger.path, code=DOES_NOT)
    assert ("holds", "fails") == (found["statement"], found["ledger"])


def test_a_statement_moved_to_other_rows_breaks_its_seal(made: Desk) -> None:
    """Who writes the other file's digest into it passes for a receiver, and not for the owner."""
    shutil.copy(made.data, made.output)
    found = hashlib.sha256(made.data.read_bytes()).hexdigest()
    _edit(made.output, lambda statement: statement["binding"].update(sha256=found))
    assert "holds" == _outcomes(made, made.output, code=BELONGS)["file"]
    asked = _outcomes(made, made.output, "--ledger", made.ledger.path, code=DOES_NOT)
    assert ("holds", "fails") == (asked["ledger"], asked["seal"])
    _edit(made.output, lambda statement: statement["binding"].update(seal=None))
    asked = _outcomes(made, made.output, "--ledger", made.ledger.path, code=DOES_NOT)
    assert "fails" == asked["seal"]


def test_a_ledger_from_before_the_run_is_behind(desk: Desk) -> None:
    """A restored copy lacks the entry that the statement commits to."""
    assert 0 == desk.synth("--method", "independent", output=desk.folder / "first.csv").code
    copy = desk.folder / "copy.jsonl"
    shutil.copy(desk.ledger.path, copy)
    shutil.copy(f"{desk.ledger.path}.secret", f"{copy}.secret")
    assert 0 == desk.synth("--method", "independent").code
    found = desk.run("verify", desk.output, "--ledger", copy)
    assert DOES_NOT == found.code
    assert "a copy from before this run" in found.out
    assert BELONGS == desk.run("verify", desk.folder / "first.csv", "--ledger", copy).code


def test_a_ledger_without_its_secret_cannot_tell(made: Desk) -> None:
    """Nothing is made up in its place."""
    secret = Path(f"{made.ledger.path}.secret")
    secret.unlink()
    found = made.run("verify", made.output, "--ledger", made.ledger.path)
    assert DOES_NOT == found.code
    assert "ledger.jsonl.secret is not beside it" in found.out
    assert not secret.exists()


def test_signatures(desk: Desk) -> None:
    """A signature holds under its own key, fails under another and after any change."""
    for name in ("mine", "other"):
        assert 0 == desk.run("keys", "holder", desk.folder / name).code
    mine, other = (desk.folder / f"{name}.pub" for name in ("mine", "other"))
    assert 0 == desk.synth("--method", "independent", "--sign", desk.folder / "mine").code
    assert "not asked" == _outcomes(desk, desk.output, code=BELONGS)["signature"]
    assert "holds" == _outcomes(desk, desk.output, "--key", mine, code=BELONGS)["signature"]
    wrong = desk.run("verify", desk.output, "--key", other)
    assert DOES_NOT == wrong.code
    assert "it is by another key" in wrong.out
    _edit(desk.output, lambda statement: statement.update(accounting="magic"))
    altered = desk.run("verify", desk.output, "--key", mine)
    assert DOES_NOT == altered.code
    assert "altered after signing" in altered.out
    assert 0 == desk.synth("--method", "independent").code
    assert "fails" == _outcomes(desk, desk.output, "--key", mine, code=DOES_NOT)["signature"]


def test_a_key_that_cannot_sign_is_refused_before_anything_is_spent(desk: Desk) -> None:
    """The key is read first."""
    for command in ("synth", "fit"):
        where = ("--schema", desk.schema, "--epsilon", 1, "-o", desk.folder / "o.csv")
        assert 4 == desk.run(command, desk.data, *where, "--sign", desk.data).code
    assert {} == desk.spent


@pytest.fixture
def model(desk: Desk) -> Path:
    """A model on disk."""
    path = desk.folder / "m.zip"
    where = ("--schema", desk.schema, "-o", path)
    assert 0 == desk.run("fit", desk.data, *where, "-e", 1, "--method", "independent").code
    return path


def _rewrite(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the statement in a model, and make its manifest right again."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    statement = json.loads(members["statement.json"])
    change(statement)
    members["statement.json"] = json.dumps(statement).encode()
    manifest = json.loads(members["manifest.json"])
    changed = hashlib.sha256(members["statement.json"]).hexdigest()
    manifest["members"]["statement.json"] = changed
    members["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def test_a_model_belongs_to_its_statement(desk: Desk, model: Path) -> None:
    """As an archive or unpacked as a folder."""
    asked = ("--ledger", desk.ledger.path)
    assert "holds" == _outcomes(desk, model, *asked, code=BELONGS)["seal"]
    with zipfile.ZipFile(model) as archive:
        archive.extractall(desk.folder / "unpacked")
    assert "holds" == _outcomes(desk, desk.folder / "unpacked", *asked, code=BELONGS)["file"]


def test_a_statement_of_another_model_is_refused_by_name(desk: Desk, model: Path) -> None:
    """With a right manifest too: neither load nor verify takes it."""
    other = desk.folder / "n.zip"
    where = ("--schema", desk.schema, "-o", other)
    assert 0 == desk.run("fit", desk.data, *where, "-e", "0.1", "--method", "independent").code
    foreign = json.loads(zipfile.ZipFile(other).read("statement.json"))

    def swap(statement: dict[str, Any]) -> None:
        statement.clear()
        statement.update(foreign)

    _rewrite(model, swap)
    with pytest.raises(ModelError, match="belongs to another model"):
        Model.load(model)
    assert 4 == desk.run("sample", model, "-o", desk.folder / "rows.csv").code
    assert "fails" == _outcomes(desk, model, code=DOES_NOT)["file"]


def test_models_of_before_are_read_and_called_unbound(desk: Desk, model: Path) -> None:
    """Version 0.1.0 wrote statements without binding, ledger, trust and limits."""

    def age(statement: dict[str, Any]) -> None:
        for key in ("binding", "ledger", "trust", "not_protected"):
            del statement[key]

    _rewrite(model, age)
    assert 0 == desk.run("sample", model, "-o", desk.folder / "rows.csv").code
    found = desk.run("verify", model)
    assert DOES_NOT == found.code
    assert "written by 0.1.0: not bound" in found.out


def test_sampled_rows_are_sealed_by_the_ledger_that_paid(desk: Desk, model: Path) -> None:
    """Without it the file is bound, and the owner is told that the ledger cannot vouch for it."""
    rows = desk.folder / "rows.parquet"
    asked = ("--ledger", desk.ledger.path)
    assert 0 == desk.run("sample", model, "-o", rows).code
    assert "holds" == _outcomes(desk, rows, code=BELONGS)["file"]
    assert "fails" == _outcomes(desk, rows, *asked, code=DOES_NOT)["seal"]
    assert 0 == desk.run("sample", model, "-o", rows, *asked).code
    assert "holds" == _outcomes(desk, rows, *asked, code=BELONGS)["seal"]
    empty = desk.folder / "empty.jsonl"
    empty.touch()
    refused = desk.run("sample", model, "-o", rows, "--ledger", empty)
    assert 2 == refused.code
    assert "holds no entry of the run" in refused.err


@pytest.mark.parametrize(
    ("text", "code"),
    [("", 4), ("{}", 4), ("[]", 4), ('{"statement": {"binding": 3}}', 4), ("\xff", 4)],
)
def test_what_is_no_statement_is_bad_input(made: Desk, text: str, code: int) -> None:
    """It is refused with its name, before anything is compared."""
    _beside(made.output).write_text(text, encoding="latin-1")
    refused = made.run("verify", made.output)
    assert code == refused.code
    assert "out.csv.privacy.json" in refused.err


def test_bad_requests(made: Desk) -> None:
    """Files, keys and ledgers that are not there."""
    assert 4 == made.run("verify", made.folder / "none.csv").code
    assert 4 == made.run("verify", made.data).code
    assert 4 == made.run("verify", made.folder).code
    assert 4 == made.run("verify", made.output, "--key", made.folder / "none.pub").code
    assert 2 == made.run("verify", made.output, "--ledger", made.folder / "none.jsonl").code
    assert not (made.folder / "none.jsonl").exists()


def test_evaluate_does_not_take_a_statement_for_other_rows(made: Desk) -> None:
    """The owner's page says that nothing is promised; what would leave is refused."""
    made.output.write_text(made.output.read_text() + "Ann,3\n")
    page = made.folder / "page.html"
    asked = ("evaluate", made.data, made.output, "--schema", made.schema, "-o", page)
    found = made.run(*asked, "--classifiers", "none", "--json")
    assert 0 == found.code
    assert found.document["statement"] is None
    assert "speaks of another file" in found.document["remarks"][0]
    refused = made.run(*asked, "--release-epsilon", "0.1")
    assert 2 == refused.code
    assert "speaks of another file" in refused.err


def test_a_released_page_has_a_statement_of_its_own(made: Desk) -> None:
    """It is bound to the page, and the ledger holds its run."""
    page = made.folder / "public.html"
    asked = ("evaluate", made.data, made.output, "--schema", made.schema, "-o", page)
    assert 0 == made.run(*asked, "--release-epsilon", "0.1").code
    asked_of = ("--ledger", made.ledger.path)
    assert "holds" == _outcomes(made, page, *asked_of, code=BELONGS)["seal"]


def test_a_statement_says_nothing_of_the_private_file(made: Desk) -> None:
    """Neither digest nor size nor time of it, and nothing of other runs in the ledger."""
    text = _beside(made.output).read_text()
    content = made.data.read_bytes()
    heads = [json.loads(line)["check"] for line in made.ledger.path.read_text().splitlines()]
    for word in (hashlib.sha256(content).hexdigest(), hashlib.md5(content).hexdigest(), *heads):
        assert word not in text
    assert '"time"' not in text
    assert made.data.name not in text
    assert str(len(content)) not in text


def test_the_ledger_holds_whom_a_statement_protects(desk: Desk) -> None:
    """Persons as they are named in a column, and rows that are replaced."""
    desk.data.write_text("id,name,age\n" + "".join(f"{i % 9},Ann,{i}\n" for i in range(50)))
    for options in (
        ("--person-id", "id", "--rows-per-person", 3, "--ignore-extra"),
        ("--neighbours", "replace", "--ignore-extra"),
    ):
        assert 0 == desk.synth(*options).code
        told = desk.run("verify", desk.output, "--ledger", desk.ledger.path)
        assert 0 == told.code, told.err + told.out


def test_a_lost_secret_is_not_replaced(made: Desk) -> None:
    """Statements of earlier runs could not be verified any more; nothing is spent."""
    secret = made.ledger.path.with_name(f"{made.ledger.path.name}.secret")
    kept, before = secret.read_bytes(), made.ledger.path.read_text()
    secret.unlink()
    refused = made.synth()
    assert (3, True) == (refused.code, "restore that file from a copy" in refused.err)
    assert (False, before) == (secret.exists(), made.ledger.path.read_text())
    secret.write_bytes(kept)
    assert 0 == made.synth().code
