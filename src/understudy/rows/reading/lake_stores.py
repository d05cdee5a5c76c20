"""Which server has the files of a lake's table, for libraries that do not read it off an address.

Arrow reads `?endpoint_override=host:9000&scheme=http&region=eu-1` of `s3://` itself. The libraries
of Delta and Iceberg are given the same by names of their own.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from urllib.parse import parse_qsl

from understudy.errors import UsageError

_OPTIONS = ("endpoint_override", "scheme", "region")
# What a server that is not Amazon's is told, which has one region or asks for none.
_ANY_REGION = "us-east-1"


@dataclass(frozen=True)
class LakeStore:
    """The files of a table, and the server that has them.

    Attributes:
        address: of the table, without options.
        endpoint: the server's URL; empty where the environment says it, or it is Amazon's.
        region: as the address says it; may be empty.
    """

    address: str
    endpoint: str = ""
    region: str = ""

    @classmethod
    def of(cls, address: str, *, shown: str) -> LakeStore:
        """Read an address such as `s3://bucket/patients?endpoint_override=host:9000`.

        Args:
            address: of the files; a path stays as it is.
            shown: the address as a message may show it.

        Raises:
            UsageError: it has credentials, or an option that would not be followed.
        """
        scheme, separator, rest = address.partition("://")
        if not separator:
            return cls(address)
        place, _, query = rest.partition("?")
        given = dict(parse_qsl(query, keep_blank_values=True))
        known = _OPTIONS if scheme == "s3" else ()
        if scheme == "s3" and set(place.partition("/")[0]) & set(":@"):
            raise UsageError(
                f"{shown}: credentials in the address of a Delta or an Iceberg table are not "
                "used; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead"
            )
        if strange := [name for name in given if name not in known]:
            raise UsageError(
                f"{shown}: option {strange[0]!r} is not known here; a Delta or an Iceberg table "
                f"takes {', '.join(_OPTIONS)} in s3://, and all else from the environment"
            )
        host = given.get("endpoint_override", "")
        endpoint = f"{given.get('scheme', 'https')}://{host}" if host else ""
        return cls(f"{scheme}://{place}", endpoint, given.get("region", ""))

    @property
    def delta_options(self) -> dict[str, str]:
        """Options by the names of deltalake; a server without TLS is used where one is named."""
        options = {"AWS_ENDPOINT_URL": self._server, "AWS_REGION": self.region}
        if self._server.startswith("http://"):
            options["AWS_ALLOW_HTTP"] = "true"
        return {name: value for name, value in options.items() if value}

    @property
    def iceberg_options(self) -> dict[str, str]:
        """Options by the names of pyiceberg.

        Without a region it would ask Amazon for that of a bucket of this name.
        """
        set_here = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
        region = self.region or set_here or (_ANY_REGION if self._server else "")
        options = {"s3.endpoint": self._server, "s3.region": region}
        return {name: value for name, value in options.items() if value}

    @property
    def _server(self) -> str:
        return self.endpoint or os.environ.get("AWS_ENDPOINT_URL", "")
