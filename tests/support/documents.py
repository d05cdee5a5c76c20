"""Documents as tests read them: their blocks, and the made-up inputs that their commands take."""

from __future__ import annotations

import contextlib
import io
import random
import re
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np

from support.promised import need
from understudy.cli.main import run

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.md")]
)


def blocks(text: str) -> list[tuple[str, str]]:
    """Return the language and the body of every fenced block, in order."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def fences(text: str) -> list[str]:
    """Return what is written behind every opening fence, however it is indented or labelled."""
    labels: list[str] = []
    closing = ""
    for line in text.splitlines():
        fence = re.match(r"[\s>]*(`{3,}|~{3,})(.*)$", line)
        if closing and fence and fence[1].startswith(closing) and not fence[2].strip():
            closing = ""
        elif fence and not closing:
            closing = fence[1]
            labels.append(f"{line[: fence.start(1)]}{fence[2]}" or "unlabelled")
    assert not closing, "a block is not closed"
    return labels


def walk(page: str) -> list[str]:
    """Return the functions that a page lists in its block `walk`, in order."""
    [body] = [body for language, body in blocks(page) if language == "walk"]
    return [line.split()[0] for line in body.splitlines() if line.strip()]


def followed(text: str, folder: Path, *, skipped: tuple[str, ...] = ()) -> str:
    """Do what a document says, in the order of its blocks; return what its Python printed.

    A block of TOML is a file: that of its first line's comment, or `patients.toml`. So is a block
    of text whose first line is the name of a .txt file. `folder` must be the current one, because
    commands name their files as a reader would.
    """
    printed = io.StringIO()
    for language, body in blocks(text):
        if language == "toml":
            named = re.match(r"# (\w+\.toml)\n", body)
            (folder / (named[1] if named else "patients.toml")).write_text(body, encoding="utf-8")
        elif language == "text" and (named := re.match(r"# (\w+\.txt)\n", body)):
            (folder / named[1]).write_text(body, encoding="utf-8")
        elif language == "python":
            with contextlib.redirect_stdout(printed):
                exec(compile(body, "document", "exec"), {"__name__": "document"})
        elif language == "bash" and body.strip() not in skipped:
            for line in _lines(body):
                program, *arguments = shlex.split(line, comments=True)
                assert ("understudy", 0) == (program, run(arguments)), line
    return printed.getvalue()


def _lines(body: str) -> list[str]:
    return [line for line in body.replace("\\\n", " ").splitlines() if line.strip()]


def write_inputs(folder: Path) -> None:
    """Write the tables, images and visits that documents name."""
    write_patients(folder / "patients.csv")
    _write_digits(folder / "digits.npz")
    _fill_clinic(folder / "clinic.duckdb", folder / "patients.csv")
    _fill_hospital(folder / "hospital.db", folder / "patients.csv")
    (folder / "visits.txt").write_text("\n".join(str(i**2 % 99_991) for i in range(50_000)))


def write_patients(path: Path, rows: int = 400) -> None:
    """Write the made-up table of the README's example, dirty cells included."""
    draw = random.Random(4)
    lines = ["patient,age,sex,weight,smoker,admitted"]
    for number in range(rows):
        sex = draw.choice(["female", "male", "?", ""])
        smoker = draw.choice(["yes", "no", "unknown"])
        day = f"{draw.randint(2019, 2025)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"
        lines.append(
            f"{number},{draw.randint(-1, 110)},{sex},{draw.gauss(75, 15):.1f},{smoker},{day}"
        )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _fill_hospital(path: Path, patients: Path) -> None:
    """Put the same table into an SQLite file."""
    lines = patients.read_text(encoding="utf-8").splitlines()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "CREATE TABLE patients (patient INTEGER, age INTEGER, sex TEXT, weight REAL, "
            "smoker TEXT, admitted DATE)"
        )
        rows = [line.split(",") for line in lines[1:]]
        connection.executemany("INSERT INTO patients VALUES (?, ?, ?, ?, ?, ?)", rows)


def server_command(start: str, address: str) -> list[str]:
    """The arguments of the guide's command for addresses with this beginning, for an address."""
    text = (ROOT / "docs" / "guides" / "databases.md").read_text(encoding="utf-8")
    [line, *_] = re.findall(rf"`understudy (synth {re.escape(start)}[^`]*)`", text)
    command, _, *rest = line.split()
    return [command, address, *rest]


def _fill_clinic(path: Path, patients: Path) -> None:
    """Put the same table into a database, typed as a database would hold it."""
    duckdb = need("duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE patients AS SELECT * FROM read_csv(?, types = {'sex': 'VARCHAR', "
            "'smoker': 'VARCHAR', 'age': 'INTEGER', 'weight': 'DOUBLE', 'admitted': 'DATE'})",
            [str(patients)],
        )


def _write_digits(path: Path) -> None:
    """Write images that show nothing, in the form that the guide to images names."""
    generator = np.random.default_rng(4)
    images = generator.integers(0, 256, (40, 28, 28)).astype(np.uint8)
    np.savez(path, x=images, y=np.arange(40) % 10)
