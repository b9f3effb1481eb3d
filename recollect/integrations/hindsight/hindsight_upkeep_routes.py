"""Hindsight's endpoints that change or erase memories, and those for documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from litestar import delete, get, patch
from litestar.params import FromPath, FromQuery, JSONBody

from recollect import InvalidInput, Zone, paginate
from recollect.integrations.hindsight import hindsight_profile
from recollect.integrations.hindsight.hindsight_bank import HindsightBank, State
from recollect.integrations.hindsight.hindsight_models import find_model, in_hindsight_form
from recollect.service import (
    AnyRequest,
    ask,
    decided_in_time,
    drop_cached_answers,
    principal_in,
    read,
    write,
)

_READ, _WRITE, _FORGET = {"right": "read"}, {"right": "write"}, {"right": "forget"}
_MAX_LIMIT = 1_000
# Later than every event.
_FAR_FUTURE = "2199-12-31T23:59:59.999Z"


class UnitBody(msgspec.Struct, frozen=True, kw_only=True):
    """The body of `update_memory`; only `text` and `state` are supported."""

    text: str | None = None
    context: str | None = None
    occurred_start: str | None = None
    occurred_end: str | None = None
    mentioned_at: str | None = None
    fact_type: str | None = None
    entities: list[str] | None = None
    state: State | None = None


class ModelChange(msgspec.Struct, frozen=True, kw_only=True):
    """The body of `update_mental_model`; only `source_query` is supported."""

    name: str | None = None
    source_query: str | None = None
    tags: list[str] | None = None


def _erase_all(zone: Zone) -> int:
    """Erase a zone; return the number of erased events."""
    erased = 0
    for model in list(paginate(zone.mental_models)):
        erased += zone.delete_mental_model(model.id).events
    return erased + zone.forget(time_before=_FAR_FUTURE).events


def _erase_memories(zone: Zone) -> int:
    """Erase a zone except the bank's own fields; return the number of erased events."""
    fields = hindsight_profile.stored_fields(zone)
    erased = _erase_all(zone)
    if fields:
        hindsight_profile.store_fields(zone, fields)
    return erased


async def _erase(request: AnyRequest, bank: str, work: Callable[[Zone], int]) -> dict[str, Any]:
    erased = await write(request, bank, work)
    drop_cached_answers(request, bank)
    return {"success": True, "message": "erased", "deleted_count": erased}


@delete("/{bank:str}", status_code=200, opt=_FORGET)
async def delete_bank(request: AnyRequest, bank: FromPath[str]) -> dict[str, Any]:
    """Erase a bank and everything in it."""
    return await _erase(request, bank, _erase_all)


@delete("/{bank:str}/memories", status_code=200, opt=_FORGET)
async def clear_memories(
    request: AnyRequest, bank: FromPath[str], type: FromQuery[str | None] = None
) -> dict[str, Any]:
    """Erase all memories of a bank; all types share their messages, so none is erased alone."""
    if type is not None:
        raise InvalidInput(
            "type: a single type cannot be erased, since all types derive from the same messages; "
            "leave it out to erase all"
        )
    return await _erase(request, bank, _erase_memories)


@patch("/{bank:str}/memories/{memory_id:str}", opt=_WRITE)
async def update_unit(
    request: AnyRequest, bank: FromPath[str], memory_id: FromPath[str], data: JSONBody[UnitBody]
) -> dict[str, Any]:
    """Replace the text of a memory, retract it, or restore it."""
    given = {name for name in data.__struct_fields__ if getattr(data, name) is not None}
    if not given or not given <= {"text", "state"}:
        raise InvalidInput(
            "give only `text` or `state`: the other fields of a memory are derived from its text"
        )
    text, state = data.text, data.state
    principal_metadata = principal_in(request).metadata(bank)
    if text is not None:
        token = await write(
            request,
            bank,
            lambda zone: HindsightBank(zone).replace_text(memory_id, text, principal_metadata),
        )
        await decided_in_time(request, bank, token)
    if state is not None:
        await write(request, bank, lambda zone: HindsightBank(zone).set_state(memory_id, state))
    return {"success": True, "memory_id": memory_id, "text": text, "state": state}


@patch("/{bank:str}/mental-models/{model_id:str}", opt=_WRITE)
async def update_model(
    request: AnyRequest, bank: FromPath[str], model_id: FromPath[str], data: JSONBody[ModelChange]
) -> dict[str, Any]:
    """Reflect on a new question, and store the result as the next version of the report."""
    if data.source_query is None or data.name is not None or data.tags is not None:
        raise InvalidInput(
            "give only source_query: the name and the tags of a report cannot be changed"
        )
    query = data.source_query

    def refresh(zone: Zone) -> dict[str, Any]:
        versions = find_model(zone, model_id)
        report = zone.reflect(query)
        sources = [result.id for result in report.results]
        newer = zone.update_mental_model(versions[-1].id, report.text, sources=sources)
        return {**in_hindsight_form(bank, [*versions, newer]), "source_query": query}

    return await write(request, bank, refresh)


@get("/{bank:str}/documents", opt=_READ)
async def documents(
    request: AnyRequest,
    bank: FromPath[str],
    q: FromQuery[str | None] = None,
    limit: FromQuery[int] = 100,
    offset: FromQuery[int] = 0,
) -> dict[str, Any]:
    """Return the documents that were retained with an id, newest first."""
    if not 1 <= limit <= _MAX_LIMIT or offset < 0:
        raise InvalidInput(f"give a limit from 1 to {_MAX_LIMIT}, and an offset of 0 or more")
    documents_ = await ask(request, bank, lambda zone: HindsightBank(zone).documents())
    if q is not None:
        documents_ = [one for one in documents_ if q.casefold() in one["id"].casefold()]
    items = [{"bank_id": bank, **one} for one in documents_[offset : offset + limit]]
    return {"items": items, "total": len(documents_), "limit": limit, "offset": offset}


@get("/{bank:str}/documents/{document_id:str}", opt=_READ)
async def document(
    request: AnyRequest, bank: FromPath[str], document_id: FromPath[str]
) -> dict[str, Any]:
    """Return a document with its text."""
    found = await read(request, bank, lambda zone: HindsightBank(zone).document(document_id))
    return {"bank_id": bank, **found}


@delete("/{bank:str}/documents/{document_id:str}", status_code=200, opt=_FORGET)
async def delete_document(
    request: AnyRequest, bank: FromPath[str], document_id: FromPath[str]
) -> dict[str, Any]:
    """Erase a document with all its versions, and everything derived from it."""

    def erase(zone: Zone) -> int:
        return zone.forget(*HindsightBank(zone).events_of_document(document_id)).facts

    erased = await write(request, bank, erase)
    drop_cached_answers(request, bank)
    return {
        "success": True,
        "message": "erased",
        "document_id": document_id,
        "memory_units_deleted": erased,
    }


ROUTES = (
    *(delete_bank, clear_memories, update_unit, update_model, documents, document),
    delete_document,
)
