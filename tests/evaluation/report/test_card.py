"""The data sheet: made of released numbers alone, and safe to read as Markdown."""

from __future__ import annotations

import re
from dataclasses import replace

from support.pages import CLINIC, HOSTILE, released
from understudy.evaluation.report.card import cell, dataset_card


def test_sheets_hold_promise_verdict_columns_and_limits() -> None:
    """Every column with its noisy distance, both promises, and what they are together."""
    release = released()
    sheet = dataset_card(release, CLINIC)
    titles = re.findall(r"^## (.*)$", sheet, flags=re.MULTILINE)
    assert ["Verdict", "What is promised about the rows", "Columns"] == titles[:3]
    assert ["Limits", "What is promised about this sheet"] == titles[-2:]
    for name, found in release.summary.columns.items():
        assert f"| {name} |" in sheet
        assert f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f})" in sheet
    assert "Together they promise ε = 2" in sheet
    assert "real.csv" not in sheet


def test_sheets_without_a_statement_say_so() -> None:
    """Rows that were released by other means promise nothing here."""
    release = released()
    bare = replace(release, subject=replace(release.subject, statement=None))
    assert "no statement came with them" in dataset_card(bare, CLINIC)


def test_texts_stay_texts() -> None:
    """Marks of Markdown and HTML in names are shown as they are."""
    release = released()
    named = replace(release, subject=replace(release.subject, synthetic=f"{HOSTILE}|*x*\n# y"))
    sheet = dataset_card(named, CLINIC)
    assert "<script" not in sheet
    assert "\n# y" not in sheet
    assert r"a\_b \*c\*" == cell("a_b *c*")
