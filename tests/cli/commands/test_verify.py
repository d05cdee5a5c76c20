"""`understudy verify`: statement, file and ledger belong together, or are refused by name."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.commands import Desk, desk_in
from understudy.errors import ModelError
from understudy.models.bayes_net import BayesNet
from understudy.models.model import Model
from understudy.privacy.statements.binding import digest_of_document

BELONGS, DOES_NOT = 0, 5


@pytest.fixture
def desk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Desk:
    """A working folder whose commands write to its own ledger."""
    found = desk_in(tmp_path, capsys)
    monkeypatch.setenv("UNDERSTUDY_LEDGER", str(found.ledger.path))
    return found


@pytest.fixture
def made(desk: Desk) -> Desk:
    """A working folder with synthetic rows and their statement."""
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
    """Return the result of every check; the exit code must be this one."""
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


def test_what_is_said_of_cells_is_known_beside_a_statement(desk: Desk) -> None:
    """Values that stand for others, and gaps that were filled, are written and verified."""
    columns = {
        "smoker": {"kind": "boolean", "outside": "false"},
        "age": {
            "kind": "integer",
            "min": 0,
            "max": 99,
            "bins": 4,
            "missing": [],
            "missing_as": "median",
        },
    }
    desk.schema.with_suffix(".json").write_text(json.dumps({"columns": columns}))
    rows = desk.folder / "cells.csv"
    rows.write_text("smoker,age\n" + "true,30\nmaybe,\nfalse,50\n" * 40)
    done = desk.run(
        *("synth", rows, "--schema", desk.schema.with_suffix(".json"), "--epsilon", 1),
        *("--method", "independent", "-o", desk.output, "--unchecked"),
    )
    assert 0 == done.code, done
    assert {"missing", "unlisted"} <= json.loads(_beside(desk.output).read_text()).keys()
    assert "holds" == _outcomes(desk, desk.output, code=BELONGS)["statement"]


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
        ("assurance", {"level": "well proven", "sentence": "Checked by everybody."}),
        ("guarantee", "perfect"),
    ],
)
def test_what_is_said_twice_must_agree(made: Desk, key: str, value: object) -> None:
    """Numbers, sentence, trust model and limits follow from the exact amounts and the unit."""
    _edit(made.output, lambda statement: statement.update({key: value}))
    assert "fails" == _outcomes(made, made.output, code=DOES_NOT)["statement"]


def test_words_of_another_version_are_not_believed_in_silence(made: Desk) -> None:
    """They cannot be compared, and the check says so."""

    def alter(statement: dict[str, Any]) -> None:
        statement["binding"]["version"] = "9.9.9"
        statement["trust"] = "Trust me."

    _edit(made.output, alter)
    told = made.run("verify", made.output)
    assert BELONGS == told.code
    assert "it is by version 9.9.9" in told.out.replace("\n", " ")
    assert "not compared" in told.out.replace("\n", " ")


@pytest.mark.parametrize(
    ("name", "value"),
    [("rows", 3), ("method", "nist"), ("epsilon", 0.01), ("sentence", "Nothing is lost.")],
)
def test_what_stands_beside_a_statement_is_bound_too(made: Desk, name: str, value: object) -> None:
    """Altered or invented words beside it fail, though the statement is untouched."""
    document = json.loads(_beside(made.output).read_text())
    _beside(made.output).write_text(json.dumps(document | {name: value}))
    assert "fails" == _outcomes(made, made.output, code=DOES_NOT)["statement"]
    del document["rows"]
    _beside(made.output).write_text(json.dumps(document))
    assert "fails" == _outcomes(made, made.output, code=DOES_NOT)["statement"]


def test_a_seal_covers_what_stands_beside(made: Desk) -> None:
    """Whoever also writes its digest again passes for a receiver, and not for the owner."""
    document = json.loads(_beside(made.output).read_text())
    document["rows"] = 3
    beside = {name: value for name, value in document.items() if name != "statement"}
    document["statement"]["binding"]["beside_sha256"] = digest_of_document(beside)
    _beside(made.output).write_text(json.dumps(document))
    assert "holds" == _outcomes(made, made.output, code=BELONGS)["statement"]
    asked = _outcomes(made, made.output, "--ledger", made.ledger.path, code=DOES_NOT)
    assert "fails" == asked["seal"]


def test_a_name_that_stands_twice_is_refused(made: Desk) -> None:
    """A parser would take the last value, and a reader might take the first."""
    text = _beside(made.output).read_text()
    for name in ("epsilon", "rows"):
        assert f'"{name}":' in text
        twice = text.replace(f'"{name}":', f'"{name}": 0, "{name}":', 1)
        _beside(made.output).write_text(twice)
        refused = made.run("verify", made.output)
        assert 4 == refused.code
        assert "out.csv.privacy.json" in refused.err


def test_exact_answers_are_not_private(made: Desk) -> None:
    """A statement with an answer without noise promises nothing, whatever it says."""

    def add(statement: dict[str, Any]) -> None:
        statement["events"].append({"question": "all rows", "mechanism": "none"})

    _edit(made.output, add)
    found = made.run("verify", made.output)
    assert DOES_NOT == found.code
    assert "some of its answers are exact" in found.out.replace("\n", " ")


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


def _forged(path: Path) -> Path:
    """The same model with all probability on one value, under the genuine statement."""
    model, forged = Model.load(path), path.with_name("forged.zip")
    first, *others = model.conditionals
    certain = np.zeros_like(first.probabilities)
    certain[0] = 1
    conditionals = (replace(first, probabilities=certain), *others)
    replace(model, distribution=BayesNet(model.domain, conditionals)).save(forged)
    return forged


def _bind(change: dict[str, Any], statement: dict[str, Any]) -> None:
    statement["binding"] |= change


def test_rows_of_a_forged_model_are_not_sealed(desk: Desk, model: Path) -> None:
    """The commitment in its statement is for all to copy; the ledger must have sealed the model."""
    forged, rows = _forged(model), desk.folder / "rows.csv"
    seal = json.loads(zipfile.ZipFile(model).read("statement.json"))["binding"]["seal"]
    for change in ({}, {"seal": seal}):
        _rewrite(forged, partial(_bind, change))
        refused = desk.run("sample", forged, "-o", rows, "--ledger", desk.ledger.path)
        assert DOES_NOT == refused.code
        assert "forged.zip" in refused.err
        assert "does not vouch for this model" in refused.err.replace("\n", " ")
        assert not rows.exists()
    assert 0 == desk.run("sample", forged, "-o", rows).code


def test_a_forged_promise_is_not_sealed(desk: Desk, model: Path) -> None:
    """A model whose statement promises more than the ledger's entry says is refused by name."""

    def lower(statement: dict[str, Any]) -> None:
        statement |= {"epsilon": 0.1, "epsilon_exact": "1/10"}

    _rewrite(model, lower)
    rows = desk.folder / "rows.csv"
    refused = desk.run("sample", model, "-o", rows, "--ledger", desk.ledger.path)
    assert DOES_NOT == refused.code
    assert "its entry of this run says something else" in refused.err.replace("\n", " ")


def test_rows_that_fit_conditions_belong_to_their_statement(desk: Desk, model: Path) -> None:
    """The conditions are beside the statement, and are bound by it."""
    rows = desk.folder / "rows.csv"
    asked = ("--ledger", desk.ledger.path)
    assert 0 == desk.run("sample", model, "-o", rows, "--where", "age >= 30", *asked).code
    assert "holds" == _outcomes(desk, rows, *asked, code=BELONGS)["seal"]
    text = _beside(rows).read_text()
    _beside(rows).write_text(text.replace("age >= 30", "age >= 20"))
    assert "fails" == _outcomes(desk, rows, code=DOES_NOT)["statement"]


def test_a_model_whose_documents_name_something_twice_is_refused(desk: Desk, model: Path) -> None:
    """In its statement as in its manifest."""
    with zipfile.ZipFile(model) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for name, word in (("statement.json", b'"epsilon":'), ("manifest.json", b'"rows":')):
        assert word in members[name]
        twice = members[name].replace(word, word + b" 0, " + word, 1)
        with zipfile.ZipFile(model, "w") as archive:
            for member, data in (members | {name: twice}).items():
                archive.writestr(member, data)
        assert 4 == desk.run("verify", model).code


def test_devices_are_not_read(desk: Desk, model: Path) -> None:
    """A folder or a file from elsewhere may be a link to something without an end."""
    folder = desk.folder / "unpacked"
    with zipfile.ZipFile(model) as archive:
        archive.extractall(folder)
    (folder / "records.arrow").symlink_to("/dev/null")
    assert 4 == desk.run("verify", folder).code
    desk.output.symlink_to("/dev/null")
    shutil.copy(desk.data, _beside(desk.output))
    refused = desk.run("verify", desk.output)
    assert 4 == refused.code
    assert "a device or a pipe" in refused.err


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
    assert "is about another file" in refused.err


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
    # Digests are long enough to hold the digits of any size by chance.
    assert str(len(content)) not in re.sub("[0-9a-f]{32,}", "", text)


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
    assert (3, True) == (refused.code, "restore it from a copy" in refused.err)
    assert (False, before) == (secret.exists(), made.ledger.path.read_text())
    secret.write_bytes(kept)
    assert 0 == made.synth().code


def test_files_of_images_belong_to_their_statements(desk: Desk) -> None:
    """Everything that is written beside their statement is known to the check."""
    labels = np.arange(60) % 2
    pixels = np.full((60, 4, 4), labels[:, None, None] * 200, "u1")
    np.savez(desk.folder / "in.npz", x=pixels, y=labels)
    made, sizes = desk.folder / "out.npz", ("--height", 4, "--width", 4, "--classes", 2)
    asked = ("synth", desk.folder / "in.npz", *sizes, "--epsilon", 5, "--delta", "1e-5")
    assert 0 == desk.run(*asked, "-o", made).code
    found = desk.run("verify", made, "--ledger", desk.ledger.path)
    assert 0 == found.code, found.out
