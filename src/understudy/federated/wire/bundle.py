"""The bundle of a run: Flower wants one, and ours holds no code.

Holders compare its hash with that of the bundle they make themselves, and never fetch it.
"""

from __future__ import annotations

import hashlib
import io
import zipfile

_PROJECT = """\
[project]
name = "understudy"
version = "1.0.0"
description = "Messages between an analyst and holders; this bundle holds no code"
license = { file = "LICENSE" }
dependencies = ["flwr>=1.41,<1.42"]

[tool.flwr.app]
publisher = "understudy"
fab-format-version = 1
flwr-version-target = "1.41.0"

[tool.flwr.app.components]
serverapp = "nothing:app"
clientapp = "nothing:app"
"""
_FILES = {"LICENSE": b"Apache-2.0\n", "pyproject.toml": _PROJECT.encode()}
_LONG_AGO = (1980, 1, 1, 0, 0, 0)
_UNIX = 3


def content() -> bytes:
    """The same bytes on every machine: stored, since versions of zlib pack differently."""
    listed = [f"{name},{digest(body)},{len(body) * 8}" for name, body in _FILES.items()]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name, body in {**_FILES, ".info/CONTENT": "\n".join(listed).encode()}.items():
            entry = zipfile.ZipInfo(name, _LONG_AGO)
            entry.create_system = _UNIX
            archive.writestr(entry, body)
    return packed.getvalue()


def digest(body: bytes) -> str:
    """Return the identifier by which Flower knows a bundle."""
    return hashlib.sha256(body).hexdigest()
