"""Names of columns: identifiers, codes, and identifiers of persons."""

from __future__ import annotations

import pytest

from understudy.facts.names import is_identifier, is_person, remark_on, words_of


@pytest.mark.parametrize(
    "name",
    [
        "id",
        "encounter_id",
        "patient_nbr",
        "patientId",
        "UserID",
        "e-mail",
        "email",
        "row.uuid",
        "SSN",
    ],
)
def test_identifiers_are_known_by_their_last_word(name: str) -> None:
    """However words are joined, and whatever their case."""
    assert is_identifier(name)
    assert remark_on(name)


@pytest.mark.parametrize(
    "name",
    [
        "admission_type_id",
        "discharge_disposition_id",
        "country_id",
        "paid",
        "age",
        "",
        "grid",
        "id2",
    ],
)
def test_codes_and_other_words_are_not_identifiers(name: str) -> None:
    """A code is a category, and a word that ends in the same letters is another word."""
    assert not is_identifier(name)
    assert "" == remark_on(name)


def test_persons_are_known_by_their_word() -> None:
    """The remark then names the option that protects them."""
    assert [True, True, False] == [is_person(n) for n in ("patient_nbr", "email", "encounter_id")]
    assert "--person-id patient_nbr" in remark_on("patient_nbr")
    assert ["patient", "nbr", "2"] == words_of("patientNbr2")
