"""Identifiers that are known by the name of a column: those of rows and of persons.

Privacy: names are public, as the header is. No cell is looked at.
"""

from __future__ import annotations

import re
import shlex

# The last word of a name, and words before it that make a code of what would be an identifier.
_IDENTIFIERS = ("id", "ids", "nbr", "uuid", "guid", "email", "mail", "ssn", "iban", "mrn")
_CODES = (
    *("type", "status", "source", "disposition", "category", "class", "kind", "group", "code"),
    *("state", "country", "region", "level", "reason", "department", "specialty"),
)
_PERSONS = (
    *("patient", "person", "subject", "customer", "client", "user", "member", "participant"),
    *("employee", "student", "resident", "account", "holder", "ssn", "email", "mail", "mrn"),
)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def words_of(name: str) -> list[str]:
    """The words of a name, however they are joined.

    Example:
        >>> words_of("patientNbr"), words_of("admission_type_id")
        (['patient', 'nbr'], ['admission', 'type', 'id'])
    """
    return [word.lower() for word in _WORDS.findall(name)]


def is_identifier(name: str) -> bool:
    """Whether a name is that of an identifier, and not of a code.

    Example:
        >>> is_identifier("encounter_id"), is_identifier("admission_type_id"), is_identifier("paid")
        (True, False, False)
    """
    words = words_of(name)
    return bool(words) and words[-1] in _IDENTIFIERS and not set(words[:-1]) & set(_CODES)


def is_person(name: str) -> bool:
    """Whether a name is that of an identifier of persons."""
    return is_identifier(name) and bool(set(words_of(name)) & set(_PERSONS))


def remark_on(name: str) -> str:
    """Return the remark on a column that its name makes an identifier; empty otherwise.

    Example:
        >>> remark_on("Patient ID").split()[-3:]
        ['--person-id', "'Patient", "ID'"]
    """
    if not is_identifier(name):
        return ""
    advice = "an id by its name: generated, never learned; a code would be categorical"
    if is_person(name):
        named = shlex.quote(name)
        advice += f". If persons have several rows, protect them with --person-id {named}"
    return advice
