"""The server of a lake's table, in the options of the libraries of Delta and Iceberg."""

from __future__ import annotations

import pytest

from understudy.errors import UsageError
from understudy.rows.reading.lake_stores import LakeStore


def test_the_server_of_an_address_is_told_to_both_libraries() -> None:
    """Host, scheme and region, by the names that each of them has."""
    store = LakeStore.of(
        "s3://b/t?endpoint_override=host:9000&scheme=http&region=eu-1", shown="s3://b/t"
    )
    assert "s3://b/t" == store.address
    delta = {
        "AWS_ENDPOINT_URL": "http://host:9000",
        "AWS_REGION": "eu-1",
        "AWS_ALLOW_HTTP": "true",
    }
    assert delta == store.delta_options
    assert {"s3.endpoint": "http://host:9000", "s3.region": "eu-1"} == store.iceberg_options


def test_a_server_is_spoken_to_in_https_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """And nobody is asked for the region of a bucket that is not Amazon's."""
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    store = LakeStore.of("s3://b/t?endpoint_override=host", shown="s3://b/t")
    assert {"AWS_ENDPOINT_URL": "https://host"} == store.delta_options
    assert {"s3.endpoint": "https://host", "s3.region": "us-east-1"} == store.iceberg_options
    assert {} == LakeStore.of("s3://b/t", shown="").iceberg_options


@pytest.mark.parametrize("path", ["/lake/what?", "/lake/a@b", "gs://b/t", "abfs://box@account/t"])
def test_other_addresses_stay_as_they_are(path: str) -> None:
    """Paths of this machine may have any letter in them."""
    assert LakeStore(path) == LakeStore.of(path, shown=path)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("s3://b/t?endpoint=host", "option 'endpoint' is not known"),
        ("gs://b/t?region=eu-1", "option 'region' is not known"),
        ("s3://key@b/t", "AWS_ACCESS_KEY_ID"),
        ("s3://key:top/secret@b/t", "AWS_ACCESS_KEY_ID"),
        ("s3://key:top?secret@b/t", "AWS_ACCESS_KEY_ID"),
    ],
)
def test_what_would_not_be_followed_is_refused(address: str, words: str) -> None:
    """An option that is passed over would lead to another server."""
    with pytest.raises(UsageError, match=words) as refused:
        LakeStore.of(address, shown="the table")
    assert "secret" not in str(refused.value)
