"""Keys of holders and certificates of analysts: made, written for their owner alone, read."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from understudy.errors import DataError, OutputError
from understudy.system.extras import require

_YEARS = 2
_OWNER_ONLY = 0o600
_ALL = 0o644


def make_holder_key(place: Path) -> Path:
    """A new key for a holder; the public half, to be sent to the analyst, is beside it."""
    require("cryptography", extra="federated")
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP384R1())
    public = place.with_name(place.name + ".pub")
    _write(
        {
            place: key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.OpenSSH,
                serialization.NoEncryption(),
            ),
            public: key.public_key().public_bytes(
                serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
            )
            + b"\n",
        },
        secret=place,
    )
    return public


def make_certificate(folder: Path, hosts: Sequence[str]) -> Path:
    """A certificate for an analyst's machine, and the root that holders are to trust.

    The root's own key is forgotten: nothing else can ever be vouched for by it.
    """
    require("cryptography", extra="federated")
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    root_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    root = _root(root_key)
    certificate = _certificate(root, root_key, key.public_key(), hosts)
    secret, roots = folder / "analyst.key", folder / "roots.crt"
    pem = serialization.Encoding.PEM
    _write(
        {
            roots: root.public_bytes(pem),
            folder / "analyst.crt": certificate.public_bytes(pem),
            secret: key.private_bytes(
                pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            ),
        },
        secret=secret,
    )
    return roots


def _builder(subject: str, issuer: str, public: Any) -> Any:
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    def name(text: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(name(subject))
        .issuer_name(name(issuer))
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=365 * _YEARS))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
    )


_ROOT_NAME = "understudy root of one analyst"


def _root(key: Any) -> Any:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes

    usage = _usage(signs_certificates=True)
    return (
        _builder(_ROOT_NAME, _ROOT_NAME, key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .sign(key, hashes.SHA256())
    )


def _certificate(root: Any, root_key: Any, public: Any, hosts: Sequence[str]) -> Any:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.x509.oid import ExtendedKeyUsageOID

    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(root_key.public_key())
    return (
        _builder("understudy analyst", _ROOT_NAME, public)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName([_host(host) for host in hosts]), critical=False)
        .add_extension(issuer, critical=False)
        .sign(root_key, hashes.SHA256())
    )


def _usage(*, signs_certificates: bool) -> Any:
    from cryptography import x509

    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _host(text: str) -> Any:
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)


def _write(files: Mapping[Path, bytes], *, secret: Path) -> None:
    """Write all or refuse: nothing that is there is replaced."""
    for place in files:
        if place.exists():
            raise OutputError(f"{place}: is there already; keys are never replaced, name another")
    try:
        for place, content in files.items():
            mode = _OWNER_ONLY if place == secret else _ALL
            with open(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
                file.write(content)
    except OSError as error:
        raise OutputError(f"{error.filename}: cannot be written ({error.strerror})") from None


def private_key(place: Path) -> Any:
    """A holder's key, which nobody else may read."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import load_ssh_private_key

    try:
        mode, content = place.stat().st_mode, place.read_bytes()
    except OSError as error:
        raise DataError(f"key {place}: cannot be read ({error.strerror})") from None
    if mode & 0o077:
        raise DataError(f"key {place}: others may read it; run: chmod 600 {place}")
    try:
        key = load_ssh_private_key(content, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise DataError(
            f"key {place}: is not a holder's key; make one with: understudy keys holder"
        )
    return key


def public_key(place: Path) -> Any:
    """A holder's public key, as it was sent to the analyst."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import load_ssh_public_key

    try:
        key = load_ssh_public_key(place.read_bytes())
    except OSError as error:
        raise DataError(f"key {place}: cannot be read ({error.strerror})") from None
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, ec.EllipticCurvePublicKey):
        raise DataError(f"key {place}: is not a holder's public key; ask the holder for NAME.pub")
    return key
