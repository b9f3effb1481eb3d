"""Hindsight's endpoints that manage banks: list, profile, config."""

from __future__ import annotations

from typing import Any

import msgspec
from litestar import Router, get, patch, put
from litestar.params import FromPath, FromQuery, JSONBody

from recollect import InvalidInput, Zone
from recollect.integrations.hindsight.hindsight_profile import (
    FIELDS,
    TRAITS,
    profile,
    store_fields,
    stored_fields,
)
from recollect.service import (
    NOT_SERVED,
    AnyRequest,
    Refused,
    ask,
    principal_in,
    service_of,
    write,
)

_READ, _WRITE = {"right": "read"}, {"right": "write"}
_MAX_PAGE_SIZE = 1_000


class BankBody(msgspec.Struct, frozen=True, kw_only=True):
    """The body of `create_bank` and `update_bank`.

    Supported fields are stored. Any other field is rejected; the error names it.
    """

    name: str | None = None
    mission: str | None = None
    background: str | None = None
    reflect_mission: str | None = None
    retain_mission: str | None = None
    observations_mission: str | None = None
    disposition: dict[str, int] | None = None
    disposition_skepticism: int | None = None
    disposition_literalism: int | None = None
    disposition_empathy: int | None = None
    retain_extraction_mode: str | None = None
    retain_custom_instructions: str | None = None
    retain_chunk_size: int | None = None
    retain_structured_chunk_size: int | None = None
    retain_max_attachments_per_chunk: int | None = None
    enable_observations: bool | None = None
    enable_text_search: bool | None = None
    enable_temporal_retrieval: bool | None = None
    enable_graph_retrieval: bool | None = None
    enable_reranking: bool | None = None


class DispositionBody(msgspec.Struct, frozen=True, kw_only=True):
    """The body of `update_bank_disposition`."""

    disposition: dict[str, int]


class ConfigBody(msgspec.Struct, frozen=True, kw_only=True):
    """The body of `update_bank_config`."""

    updates: dict[str, Any]


@get("/", opt=_READ)
async def banks(
    request: AnyRequest,
    q: FromQuery[str | None] = None,
    limit: FromQuery[int] = 100,
    offset: FromQuery[int] = 0,
) -> dict[str, Any]:
    """Return the zones that exist and that the token may read."""
    check_page(limit, offset)
    principal, service = principal_in(request), service_of(request)

    def found() -> tuple[list[dict[str, Any]], int]:
        zones = [zone for zone in service.recollect.zones() if principal.has_right(zone, "read")]
        if q is None:
            page = zones[offset : offset + limit]
            return [_profile(service.zone_for(principal, zone)) for zone in page], len(zones)
        every = [_profile(service.zone_for(principal, zone)) for zone in zones]
        matching = [
            one for one in every if q.casefold() in f"{one['bank_id']}\n{one['name']}".casefold()
        ]
        return matching[offset : offset + limit], len(matching)

    shown, total = await service.reading.run(found)
    return {"banks": shown, "total": total, "limit": limit, "offset": offset}


def check_page(limit: int, offset: int) -> None:
    """Raise InvalidInput if the limit or the offset is out of range."""
    if not 1 <= limit <= _MAX_PAGE_SIZE or offset < 0:
        raise InvalidInput(f"give a limit from 1 to {_MAX_PAGE_SIZE}, and an offset of 0 or more")


def _profile(zone: Zone) -> dict[str, Any]:
    return profile(zone.name, stored_fields(zone))


async def _store_fields(request: AnyRequest, bank: str, given: dict[str, Any]) -> dict[str, Any]:
    """Store the given fields of a bank, and return all; if none is given, create no bank."""
    principal_metadata = principal_in(request).metadata(bank)
    if not given:
        return await ask(request, bank, stored_fields)
    return await write(
        request,
        bank,
        lambda zone: store_fields(zone, given, principal_metadata),
        allow_empty=True,
    )


async def _with_body(request: AnyRequest, bank: str, data: BankBody) -> dict[str, Any]:
    given = {
        name: value for name, value in msgspec.structs.asdict(data).items() if value is not None
    }
    given |= _traits(given.pop("disposition", {}))
    _reject_unknown(given)
    return profile(bank, await _store_fields(request, bank, given))


def _traits(disposition: dict[str, int]) -> dict[str, int]:
    unknown = sorted(set(disposition) - set(TRAITS))
    if unknown:
        raise InvalidInput(f"disposition: {unknown[0]!r}: choose from {', '.join(TRAITS)}")
    return {f"disposition_{trait}": value for trait, value in disposition.items()}


def _reject_unknown(given: dict[str, Any]) -> None:
    """Raise Refused if a field is not supported."""
    unknown = [name for name in given if name not in FIELDS]
    if unknown:
        raise Refused(
            NOT_SERVED,
            f"{unknown[0]}: recollect stores only a bank's name, missions and disposition, which "
            "have no effect; all banks retain and recall alike",
        )


@put("/{bank:str}", opt=_WRITE)
async def create_bank(
    request: AnyRequest, bank: FromPath[str], data: JSONBody[BankBody]
) -> dict[str, Any]:
    """Store the given fields of a bank, and return the bank.

    A bank is created when its first field is stored or its first memory retained.
    """
    return await _with_body(request, bank, data)


@patch("/{bank:str}", opt=_WRITE)
async def update_bank(
    request: AnyRequest, bank: FromPath[str], data: JSONBody[BankBody]
) -> dict[str, Any]:
    """Store the given fields of a bank, and return the bank; the same as `create_bank`."""
    return await _with_body(request, bank, data)


@get("/{bank:str}/profile", opt=_READ)
async def get_profile(request: AnyRequest, bank: FromPath[str]) -> dict[str, Any]:
    """Return a bank."""
    return profile(bank, await ask(request, bank, stored_fields))


@put("/{bank:str}/profile", opt=_WRITE)
async def update_profile(
    request: AnyRequest, bank: FromPath[str], data: JSONBody[DispositionBody]
) -> dict[str, Any]:
    """Store a disposition."""
    return profile(bank, await _store_fields(request, bank, _traits(data.disposition)))


@get("/{bank:str}/config", opt=_READ)
async def config(request: AnyRequest, bank: FromPath[str]) -> dict[str, Any]:
    """Return the stored fields of a bank except its name; a bank has no other settings."""
    return _config(bank, await ask(request, bank, stored_fields))


@patch("/{bank:str}/config", opt=_WRITE)
async def update_config(
    request: AnyRequest, bank: FromPath[str], data: JSONBody[ConfigBody]
) -> dict[str, Any]:
    """Store missions and a disposition; any other field is rejected."""
    _reject_unknown(data.updates)
    return _config(bank, await _store_fields(request, bank, data.updates))


def _config(bank: str, fields: dict[str, Any]) -> dict[str, Any]:
    settings = {name: value for name, value in fields.items() if name != "name"}
    return {"bank_id": bank, "config": settings, "overrides": settings}


@get("/health")
async def health(request: AnyRequest) -> dict[str, Any]:
    """Return whether the service is ready. Needs no authentication."""
    ready = service_of(request).ready
    return {"status": "healthy" if ready else "starting", "database": "connected"}


ROUTES = (*(banks, create_bank, update_bank, get_profile, update_profile, config, update_config),)
HEALTH = Router("/", route_handlers=[health], include_in_schema=False)
