"""Keys and certificates: made once, readable by their owner, refused when damaged."""

from __future__ import annotations

import socket
import ssl
import threading
from pathlib import Path

import pytest

from understudy.errors import DataError, OutputError
from understudy.federated.wire import keys
from understudy.federated.wire.flower import trusting


def test_a_holders_key_is_its_own_and_its_public_half_fits(tmp_path: Path) -> None:
    """The file with the secret is for its owner alone; the other is what the analyst needs."""
    public = keys.make_holder_key(tmp_path / "north")
    assert 0o600 == (tmp_path / "north").stat().st_mode & 0o777
    made = keys.private_key(tmp_path / "north").public_key()
    assert made == keys.public_key(public)


def test_keys_are_never_replaced(tmp_path: Path) -> None:
    """A second key under the same name is refused, and the first one stays."""
    keys.make_holder_key(tmp_path / "north")
    before = (tmp_path / "north").read_bytes()
    with pytest.raises(OutputError, match="is there already"):
        keys.make_holder_key(tmp_path / "north")
    keys.make_certificate(tmp_path, ["localhost"])
    with pytest.raises(OutputError, match="is there already"):
        keys.make_certificate(tmp_path, ["localhost"])
    assert before == (tmp_path / "north").read_bytes()


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    """Whoever else can read it could answer in the holder's name."""
    keys.make_holder_key(tmp_path / "north")
    (tmp_path / "north").chmod(0o644)
    with pytest.raises(DataError, match="chmod 600"):
        keys.private_key(tmp_path / "north")


@pytest.mark.parametrize("content", [b"", b"no key", b"-----BEGIN OPENSSH PRIVATE KEY-----\n"])
def test_what_is_no_key_is_refused(tmp_path: Path, content: bytes) -> None:
    """With a sentence that names the file and the way out."""
    place = tmp_path / "north"
    place.write_bytes(content)
    place.chmod(0o600)
    with pytest.raises(DataError, match="is not a holder's key"):
        keys.private_key(place)
    with pytest.raises(DataError, match="is not a holder's public key"):
        keys.public_key(place)


def test_missing_files_are_named(tmp_path: Path) -> None:
    """Keys and certificates that are not there."""
    for read in (keys.private_key, keys.public_key):
        with pytest.raises(DataError, match="gone"):
            read(tmp_path / "gone")
    with pytest.raises(DataError, match=r"gone\.crt"):
        trusting(tmp_path / "gone.crt")


@pytest.mark.parametrize(("name", "fits"), [("127.0.0.1", True), ("localhost", False)])
def test_a_certificate_holds_for_its_hosts_alone(tmp_path: Path, name: str, fits: bool) -> None:
    """A real handshake: the named host is believed, another name is not."""
    roots = keys.make_certificate(tmp_path, ["127.0.0.1"])
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(tmp_path / "analyst.crt", tmp_path / "analyst.key")
    ours, theirs = socket.socketpair()

    def serve() -> None:
        try:
            server.wrap_socket(theirs, server_side=True).close()
        except (ssl.SSLError, OSError):
            theirs.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        with trusting(roots).wrap_socket(ours, server_hostname=name):
            believed = True
    except ssl.SSLCertVerificationError:
        believed = False
    finally:
        ours.close()
        thread.join()
    assert fits == believed
