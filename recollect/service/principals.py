"""Principals: on whose behalf a request is made, and what that may do."""

from __future__ import annotations

import msgspec

from recollect.home.access_tokens import EVERY_ZONE, RIGHTS, AccessTokens, Right, StoredToken
from recollect.schemas.zones import DEFAULT_ZONE

_SCHEMES = ("bearer", "token")


class Principal(msgspec.Struct, frozen=True):
    """Who asks: the holder of a token, or whoever reaches a service without authentication."""

    token: StoredToken | None

    @property
    def name(self) -> str:
        """What logs and limits call it: the id of its token, which opens nothing."""
        return "anybody" if self.token is None else self.token.id

    @property
    def only_zone(self) -> str | None:
        """The zone that is meant where none is named; None where its token is for several."""
        if self.token is None:
            return DEFAULT_ZONE
        zones = self.token.zones
        return None if len(zones) > 1 or EVERY_ZONE in zones else zones[0]

    def has_right(self, zone: str, right: Right) -> bool:
        """Return whether it has a right to a zone."""
        return self.token is None or self.token.has_right(zone, right)

    def has_right_anywhere(self, right: Right) -> bool:
        """Return whether it has a right to any zone."""
        return self.token is None or right in self.token.rights

    def rights(self, zone: str) -> frozenset[Right]:
        """Return all rights that it has to a zone."""
        return frozenset(right for right in RIGHTS if self.has_right(zone, right))

    def mark(self, zone: str) -> dict[str, str]:
        """Return what events say of who sent them; nothing where nobody knows."""
        if self.token is None:
            return {}
        said = {"user": self.token.user, "agent": self.token.agent, "zone": zone}
        return {"token": self.token.id, **{key: value for key, value in said.items() if value}}


ANYBODY = Principal(None)


def authenticated(tokens: AccessTokens, authorization: bytes | None) -> Principal | None:
    """Return who a header Authorization says asks; None where it says nobody."""
    scheme, _, token = (authorization or b"").decode("latin-1").strip().partition(" ")
    if scheme.lower() not in _SCHEMES:
        return None
    found = tokens.find(token.strip())
    return None if found is None else Principal(found)
