"""A file full of notations becomes a stand-in that code written for the real file can read."""

from __future__ import annotations

import csv
import random
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from understudy import PrivBayes
from understudy.facts.codec import Codec
from understudy.facts.schema import Schema
from understudy.models.row_writing import write_rows
from understudy.rows.reading import read_rows

SCHEMA = Schema.parse(
    {
        "columns": {
            "kunde": {"kind": "text", "pattern": "K[0-9]{6}"},
            "betrag": {
                "kind": "float",
                "min": -1000.0,
                "max": 1000.0,
                "decimals": 2,
                "unit": "$",
                "missing": ["NA"],
            },
            "quote": {"kind": "float", "min": 0.0, "max": 100.0, "decimals": 1, "percent": True},
            "raucher": {"kind": "boolean", "labels": ["ja", "nein"], "missing": ["k.A."]},
            "datum": {
                "kind": "date",
                "min": "2020-01-01",
                "max": "2024-12-31",
                "format": "%d.%m.%Y",
            },
            "plz": {"kind": "integer", "min": 0, "max": 99999, "digits": 5},
            "name": {"kind": "text", "drop": True},
        }
    }
)


def write_messy(path: Path, rows: int = 300) -> None:
    """Write a file as an office has it."""
    draw = random.Random(19)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(SCHEMA.columns)
        for number in range(rows):
            amount = draw.uniform(-900, 900)
            text = f"{'-' if amount < 0 else ''}${abs(amount):.2f}"
            writer.writerow(
                [
                    f"K{number:06}",
                    draw.choice([text, text, text, "NA"]),
                    f"{draw.uniform(0, 100):.1f}%",
                    draw.choice(["ja", "nein", "k.A."]),
                    f"{draw.randint(1, 28):02}.{draw.randint(1, 12):02}.{draw.randint(2020, 2024)}",
                    f"{draw.randint(0, 99999):05}",
                    "Erika Mustermann",
                ]
            )


def as_the_owner_reads(path: Path) -> list[dict[str, Any]]:
    """Read a file by the code that the owner has for the real one."""
    with path.open(newline="") as file:
        return [
            {
                "betrag": None if r["betrag"] == "NA" else float(r["betrag"].replace("$", "")),
                "quote": float(r["quote"].rstrip("%")),
                "raucher": {"ja": True, "nein": False, "k.A.": None}[r["raucher"]],
                "datum": datetime.strptime(r["datum"], "%d.%m.%Y"),
                "plz": f"{int(r['plz']):05}" == r["plz"],
                "kunde": r["kunde"][0] == "K" and len(r["kunde"]) == 7,
            }
            for r in csv.DictReader(file)
        ]


@pytest.mark.slow
def test_the_owners_code_reads_the_stand_in(tmp_path: Path) -> None:
    """Every row of the real file fits, and the same code reads the real and the synthetic file."""
    real, made = tmp_path / "real.csv", tmp_path / "made.csv"
    write_messy(real)
    codec = Codec(SCHEMA)
    encoded = codec.encode(read_rows(real, codec))
    assert 300 == encoded.rows_read == len(encoded.codes["betrag"])
    model = PrivBayes(SCHEMA, epsilon=5).fit(real, ledger=None).model_
    write_rows([model.sample(200, seed=1)], made, codec)
    rows = as_the_owner_reads(made)
    assert as_the_owner_reads(real)
    assert 200 == len(rows)
    assert all(row["plz"] and row["kunde"] for row in rows)
    assert "name" not in made.read_text().splitlines()[0]
    amounts = [row["betrag"] for row in rows if row["betrag"] is not None]
    assert min(amounts) < 0 < max(amounts)
    assert amounts == np.round(amounts, 2).tolist()
