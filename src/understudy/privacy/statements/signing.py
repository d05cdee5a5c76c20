"""Signatures of statements, by the keys that `understudy keys holder` makes: ECDSA with SHA-384."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from understudy.system.extras import require

ALGORITHM = "ecdsa-sha384"


@dataclass(frozen=True)
class KeySigner:
    """A private key that signs statements."""

    key: Any = field(repr=False)

    def signed(self, message: bytes) -> dict[str, str]:
        """The signature of a message, and the fingerprint of the key that checks it."""
        require("cryptography", extra="federated")
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec

        value = self.key.sign(message, ec.ECDSA(hashes.SHA384()))
        return {
            "algorithm": ALGORITHM,
            "key": fingerprint(self.key.public_key()),
            "value": base64.b64encode(value).decode(),
        }


def fingerprint(public: Any) -> str:
    """The name of a public key, as `ssh-keygen -l` writes it."""
    require("cryptography", extra="federated")
    from cryptography.hazmat.primitives import serialization

    line = public.public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    content = hashlib.sha256(base64.b64decode(line.split()[1])).digest()
    return "SHA256:" + base64.b64encode(content).decode().rstrip("=")


def is_signed_by(public: Any, signature: Mapping[str, Any], message: bytes) -> bool:
    """Whether a signature of a message was made by the other half of a public key."""
    require("cryptography", extra="federated")
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec

    try:
        value = base64.b64decode(str(signature.get("value")), validate=True)
        public.verify(value, message, ec.ECDSA(hashes.SHA384()))
    except (InvalidSignature, binascii.Error, ValueError):
        return False
    return signature.get("algorithm") == ALGORITHM
