"""The paths of Hindsight that change and erase what a bank holds, and those of its documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from litestar import delete, get, patch
from litestar.params import FromPath, FromQuery, JSONBody

from recollect import InvalidInput, Zone, paginate
from recollect.integrations.hindsight import hindsight_profile
from recollect.integrations.hindsight.hindsight_bank import HindsightBank, State
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
# No event is said to be later.
_EVER = "2199-12-31T23:59:59.999Z"


class UnitBody(msgspec.Struct, frozen=True, kw_only=True):
    """What `update_memory` sends; of it the text and the state are known here."""

    text: str | None = None
    context: str | None = None
    occurred_start: str | None = None
    occurred_end: str | None = None
    mentioned_at: str | None = None
    fact_type: str | None = None
    entities: list[str] | None = None
    state: State | None = None


class ModelChange(msgspec.Struct, frozen=True, kw_only=True):
    """What `update_mental_model` sends; of it the question is known here."""

    name: str | None = None
    source_query: str | None = None
    tags: list[str] | None = None


def _everything(held: Zone) -> int:
    """Erase all that a zone holds; return how many records that were."""
    gone = 0
    for model in list(paginate(held.mental_models)):
        gone += held.delete_mental_model(model.id).events
    return gone + held.forget(time_before=_EVER).events


def _memories(held: Zone) -> int:
    """Erase all that a zone holds but what is kept of the bank itself."""
    fields = hindsight_profile.kept_fields(held)
    gone = _everything(held)
    if fields:
        hindsight_profile.keep(held, fields)
    return gone


async def _emptied(request: AnyRequest, bank: str, work: Callable[[Zone], int]) -> dict[str, Any]:
    gone = await write(request, bank, work)
    drop_cached_answers(request, bank)
    return {"success": True, "message": "erased", "deleted_count": gone}


@delete("/{bank:str}", status_code=200, opt=_FORGET)
async def delete_bank(request: AnyRequest, bank: FromPath[str]) -> dict[str, Any]:
    """Erase all that a bank holds, everywhere."""
    return await _emptied(request, bank, _everything)


@delete("/{bank:str}/memories", status_code=200, opt=_FORGET)
async def clear_memories(
    request: AnyRequest, bank: FromPath[str], type: FromQuery[str | None] = None
) -> dict[str, Any]:
    """Erase all that a bank holds: memories of one type rest on the same words as the others."""
    if type is not None:
        raise InvalidInput("type: what is erased is what was said, with all types of memory of it")
    return await _emptied(request, bank, _memories)


@patch("/{bank:str}/memories/{memory_id:str}", opt=_WRITE)
async def update_unit(
    request: AnyRequest, bank: FromPath[str], memory_id: FromPath[str], data: JSONBody[UnitBody]
) -> dict[str, Any]:
    """Put a text in the place of a memory, retract it, or restore it."""
    given = {name for name in data.__struct_fields__ if getattr(data, name) is not None}
    if not given or not given <= {"text", "state"}:
        raise InvalidInput("give text or state: the rest of a memory is decided from what it says")
    text, state, mark = data.text, data.state, principal_in(request).metadata(bank)
    if text is not None:
        token = await write(
            request, bank, lambda held: HindsightBank(held).rewrite(memory_id, text, mark)
        )
        await decided_in_time(request, bank, token)
    if state is not None:
        await write(request, bank, lambda held: HindsightBank(held).set_state(memory_id, state))
    return {"success": True, "memory_id": memory_id, "text": text, "state": state}


@patch("/{bank:str}/mental-models/{model_id:str}", opt=_WRITE)
async def update_model(
    request: AnyRequest, bank: FromPath[str], model_id: FromPath[str], data: JSONBody[ModelChange]
) -> dict[str, Any]:
    """Reflect on another question, and keep that as the report's next version."""
    if data.source_query is None or data.name is not None or data.tags is not None:
        raise InvalidInput("give source_query alone: a report keeps its name and its tags")
    query = data.source_query

    def again(held: Zone) -> dict[str, Any]:
        model = held.mental_model(model_id)
        found = held.reflect(query)
        rests = [result.id for result in found.results]
        newer = held.update_mental_model(model.id, found.text, sources=rests)
        return {
            "id": newer.id,
            "bank_id": bank,
            "name": newer.name,
            "source_query": query,
            "content": newer.description,
            "tags": newer.tags,
            "last_refreshed_at": newer.updated_at,
        }

    return await write(request, bank, again)


@get("/{bank:str}/documents", opt=_READ)
async def documents(
    request: AnyRequest,
    bank: FromPath[str],
    q: FromQuery[str | None] = None,
    limit: FromQuery[int] = 100,
    offset: FromQuery[int] = 0,
) -> dict[str, Any]:
    """Return the documents that were retained under an id, the newest first."""
    if not 1 <= limit <= _MAX_LIMIT or offset < 0:
        raise InvalidInput(f"limit: 1 to {_MAX_LIMIT}; offset: 0 or more")
    found = await ask(request, bank, lambda held: HindsightBank(held).documents())
    if q is not None:
        found = [one for one in found if q.casefold() in one["id"].casefold()]
    items = [{"bank_id": bank, **one} for one in found[offset : offset + limit]]
    return {"items": items, "total": len(found), "limit": limit, "offset": offset}


@get("/{bank:str}/documents/{document_id:str}", opt=_READ)
async def document(
    request: AnyRequest, bank: FromPath[str], document_id: FromPath[str]
) -> dict[str, Any]:
    """Return a document with its words."""
    found = await read(request, bank, lambda held: HindsightBank(held).document(document_id))
    return {"bank_id": bank, **found}


@delete("/{bank:str}/documents/{document_id:str}", status_code=200, opt=_FORGET)
async def delete_document(
    request: AnyRequest, bank: FromPath[str], document_id: FromPath[str]
) -> dict[str, Any]:
    """Erase a document with all its versions, and all that was decided from it."""

    def erase(held: Zone) -> int:
        return held.forget(*HindsightBank(held).events_of_document(document_id)).facts

    gone = await write(request, bank, erase)
    drop_cached_answers(request, bank)
    return {
        "success": True,
        "message": "erased",
        "document_id": document_id,
        "memory_units_deleted": gone,
    }


ROUTES = (
    *(delete_bank, clear_memories, update_unit, update_model, documents, document),
    delete_document,
)
