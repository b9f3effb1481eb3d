"""The routes of access tokens, for administrators of all of a token's zones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import msgspec
from litestar import delete, get, post
from litestar.params import FromPath, JSONBody
from msgspec import Meta

from recollect.home.access_tokens import EVERY_ZONE, RIGHTS, Right
from recollect.schemas.errors import InvalidInput
from recollect.schemas.times import parse_query_time
from recollect.schemas.wire import AccessToken, NewAccessToken, Time
from recollect.service.http.json_bodies import JsonBody
from recollect.service.http.problem_details import not_found
from recollect.service.principals import Principal
from recollect.service.query_service import AnyRequest
from recollect.service.routes.route_kit import principal_in, require_principal, service_of


class TokenList(msgspec.Struct, frozen=True):
    """Access tokens without their secrets."""

    tokens: Annotated[list[AccessToken], Meta(description="The tokens, the oldest first.")]


class TokenRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The access token to create."""

    zones: Annotated[
        list[str], Meta(min_length=1, max_length=1_000, description="Its zones; `*` for all.")
    ]
    rights: Annotated[list[Right], Meta(min_length=1, description="Its rights to them.")]
    user: Annotated[str | None, Meta(description="Name of the user who will hold it.")] = None
    agent: Annotated[str | None, Meta(description="Name of the agent that will hold it.")] = None
    expires_at: Annotated[
        Time | None, Meta(description="When it expires (ISO 8601 with a zone); null for never.")
    ] = None


def administers(principal: Principal, zones: Iterable[str]) -> bool:
    """Return whether a principal has the right admin to all zones of a token."""
    return all(
        principal.token is None or EVERY_ZONE in principal.token.zones
        if zone == EVERY_ZONE
        else principal.has_right(zone, "admin")
        for zone in zones
    ) and principal.has_right_anywhere("admin")


@get("/v1/tokens", guards=[require_principal])
async def tokens(request: AnyRequest) -> TokenList:
    """Return the tokens all of whose zones the token of the request administers."""
    service, principal = service_of(request), principal_in(request)
    if not principal.has_right_anywhere("admin"):
        raise not_found()
    found = await service.reading.run(service.tokens.tokens, service.settings.request_seconds)
    return TokenList([each for each in found if administers(principal, each.zones)])


@post(
    "/v1/tokens",
    guards=[require_principal],
    status_code=201,
    dto=JsonBody,
    return_dto=None,
)
async def create_token(request: AnyRequest, data: JSONBody[TokenRequest]) -> NewAccessToken:
    """Create a token; the answer alone has its secret."""
    service, principal = service_of(request), principal_in(request)
    if not administers(principal, data.zones):
        raise not_found()
    held = RIGHTS if principal.token is None else principal.token.rights
    if missing := [right for right in data.rights if right not in held]:
        raise InvalidInput(
            f"rights: you cannot grant {missing[0]!r}, because your own token does not have it"
        )
    own = (None, None) if principal.token is None else (principal.token.user, principal.token.agent)
    if any(own) and own != (data.user, data.agent):
        raise InvalidInput("user and agent: they must be those of your own token")
    expires_at = None
    if data.expires_at is not None:
        expires_at = parse_query_time(data.expires_at, "expires_at")

    def create() -> NewAccessToken:
        return service.tokens.create(
            data.zones, data.rights, user=data.user, agent=data.agent, expires_at=expires_at
        )

    return await service.reading.run(create, service.settings.request_seconds)


@delete("/v1/tokens/{id:str}", guards=[require_principal], status_code=200)
async def revoke_token(request: AnyRequest, id: FromPath[str]) -> AccessToken:
    """Revoke a token, with immediate effect; return its details."""
    service, principal = service_of(request), principal_in(request)

    def revoke() -> AccessToken:
        found = next((each for each in service.tokens.tokens() if each.id == id), None)
        if found is None or not administers(principal, found.zones):
            raise not_found()
        service.tokens.revoke(id)
        return found

    return await service.reading.run(revoke, service.settings.request_seconds)


ROUTES = (tokens, create_token, revoke_token)
