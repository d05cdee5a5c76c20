"""Flower as we take it: one version, silent, with answers of bounded size.

Flower's interfaces between its own processes are not public, so the version is pinned and checked.
"""

from __future__ import annotations

import os
import ssl
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from understudy.errors import DataError, UsageError
from understudy.system.extras import require

EXTRA: Final = "federated"
MESSAGE_LIMIT: Final = 2**27
# Flower's own envelope around a message.
ANSWER_LIMIT: Final = MESSAGE_LIMIT + 2**20
# The shortest Flower takes; a silent holder is away after two of them.
HEARTBEAT_SECONDS: Final = 10
ANALYST_HEADER: Final = "understudy-analyst"

_VERSION = "1.41."
_SILENT = {
    "FLWR_TELEMETRY_ENABLED": "0",
    "FLWR_DISABLE_UPDATE_CHECK": "1",
    "FLWR_DISABLE_RUNTIME_DEPENDENCY_INSTALLATION": "1",
}


class OversizedAnswer(DataError):
    """The other side sent, or announced, more than a message may hold, or sent us elsewhere."""


def prepare() -> None:
    """Make sure of Flower: the version we know, without telemetry, update checks and installs."""
    os.environ.update(_SILENT)
    require("flwr", extra=EXTRA)
    found = version("flwr")
    if not found.startswith(_VERSION):
        raise UsageError(
            f"package 'flwr' is {found}; this needs {_VERSION}x: pip install 'understudy[{EXTRA}]'"
        )


def trusting(roots: Path, *, own: bool = False) -> ssl.SSLContext:
    """TLS that trusts these certificates alone; `own` is for a server that this process started.

    Its certificate is then known itself, by whatever name the world calls the machine.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_verify_locations(cafile=roots)
    except (OSError, ssl.SSLError):
        raise DataError(
            f"certificates {roots}: cannot be read as PEM; give the file that the analyst sent"
        ) from None
    if own:
        context.check_hostname = False
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return context


def bounded(client: Any, *, secret: str | None = None) -> Any:
    """The client, taking no redirects and no answer larger than a message."""
    inner = client._client
    inner.follow_redirects = False
    # A packed answer could unpack to any size.
    inner.headers["accept-encoding"] = "identity"
    if secret is not None:
        inner.headers[ANALYST_HEADER] = secret
    inner.event_hooks = {"response": [_check_answer]}
    return client


def _check_answer(response: Any) -> None:
    """Refuse an answer by its head, before its body is read."""
    if response.has_redirect_location:
        raise OversizedAnswer("the SuperLink redirects elsewhere; holders follow no redirects")
    if response.headers.get("content-encoding", "identity") != "identity":
        raise OversizedAnswer("the SuperLink sends packed answers; only plain ones are read")
    length = response.headers.get("content-length", "")
    if not length.isdecimal() or int(length) > ANSWER_LIMIT:
        raise OversizedAnswer(
            f"the SuperLink announces an answer of {length or 'unknown'} bytes; "
            f"at most {ANSWER_LIMIT} are read"
        )


def version_header(component: str) -> Any:
    """Tells the SuperLink which Flower speaks."""
    from flwr.supercore.interceptors import RuntimeVersionHttpInterceptor

    return RuntimeVersionHttpInterceptor(component_name=component)
