"""Principals: who makes a request, and with which rights."""

from __future__ import annotations

import msgspec

from recollect.home.access_tokens import EVERY_ZONE, RIGHTS, AccessTokens, Right, StoredToken
from recollect.schemas.zones import DEFAULT_ZONE

_SCHEMES = ("bearer", "token")


class Principal(msgspec.Struct, frozen=True):
    """The holder of a token, or any client of a service without authentication."""

    token: StoredToken | None

    @property
    def name(self) -> str:
        """The name in logs and rate limits: the id of the token, which is not secret."""
        return "anybody" if self.token is None else self.token.id

    @property
    def only_zone(self) -> str | None:
        """The zone of requests that name none; None if the token is for several zones."""
        if self.token is None:
            return DEFAULT_ZONE
        zones = self.token.zones
        return None if len(zones) > 1 or EVERY_ZONE in zones else zones[0]

    def has_right(self, zone: str, right: Right) -> bool:
        """Return whether the principal has a right to a zone."""
        return self.token is None or self.token.has_right(zone, right)

    def has_right_anywhere(self, right: Right) -> bool:
        """Return whether the principal has a right to at least one zone."""
        return self.token is None or right in self.token.rights

    def rights(self, zone: str) -> frozenset[Right]:
        """Return the principal's rights to a zone."""
        return frozenset(right for right in RIGHTS if self.has_right(zone, right))

    def metadata(self, zone: str) -> dict[str, str]:
        """Return the sender's description to record in events; empty without authentication."""
        if self.token is None:
            return {}
        fields = {"user": self.token.user, "agent": self.token.agent, "zone": zone}
        return {"token": self.token.id, **{key: value for key, value in fields.items() if value}}


ANONYMOUS = Principal(None)


def authenticate(tokens: AccessTokens, authorization: bytes | None) -> Principal | None:
    """Return the principal of an Authorization header; None if it has no valid token."""
    scheme, _, token = (authorization or b"").decode("latin-1").strip().partition(" ")
    if scheme.lower() not in _SCHEMES:
        return None
    found = tokens.find(token.strip())
    return None if found is None else Principal(found)
