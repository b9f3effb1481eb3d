"""Routes that ask what a zone remembers, and put a text into it."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from litestar import MediaType, Response, get, patch, post
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter

from recollect.operations.answers.injecting import DEFAULT_MAX_TOKENS
from recollect.operations.memories.memory_listing import Listed
from recollect.schemas.wire import (
    Chain,
    ContextBlock,
    Explanation,
    Memory,
    MemoryPage,
    MemoryVersion,
    Query,
    RecallAnswer,
    Receipt,
    Reflection,
    Time,
    UpdateReport,
)
from recollect.service.forget_routes import erased_in
from recollect.service.json_bodies import decode
from recollect.service.problem_details import nothing_here
from recollect.service.query_service import AnyRequest
from recollect.service.route_kit import principal_in, read, service_of, write


class TextBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A text to remember as it stands, said by `sender_id`, now or at a time."""

    content: str
    sender_id: str = "user"
    at: Time | None = None


class NewTextBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A text that takes the place of another."""

    text: str


class ReflectBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question to reflect on. `keep_as`: keep the report as the mental model of that name."""

    query: str
    entity: str | None = None
    platform: str | None = None
    time_after: Time | None = None
    time_before: Time | None = None
    max_results: int = 20
    keep_as: str | None = None


class TaskBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an agent is about to do. `max_tokens`: what the block takes at most."""

    task: str
    max_tokens: int = DEFAULT_MAX_TOKENS


class MemoryHistory(msgspec.Struct, frozen=True):
    """What a memory said, and those before and after it; the first first."""

    versions: list[MemoryVersion]


@post(
    "/memories/recall",
    status_code=200,
    opt={"right": "read"},
    summary="Recall",
    tags=["memories"],
)
async def recall(
    request: AnyRequest, zone: FromPath[str], data: JSONBody[Query]
) -> Response[RecallAnswer]:
    """Answer a question with what is remembered, best first, each with its sources."""
    readers = service_of(request).readers
    answer: Any = await read(request, zone, lambda held: readers.recall(held, data))
    # It is JSON already.
    return Response(answer, media_type=MediaType.JSON)


@post(
    "/context",
    status_code=200,
    opt={"right": "read"},
    summary="Context",
    tags=["memories"],
)
async def context(
    request: AnyRequest, zone: FromPath[str], data: JSONBody[TaskBody]
) -> ContextBlock:
    """Return what the memory has to say on a task, as a block to put before an agent; it is empty
    where nothing is relevant.
    """
    return await read(
        request, zone, lambda held: held.context(data.task, max_tokens=data.max_tokens)
    )


@post(
    "/reflect",
    status_code=200,
    opt={"right": "read"},
    summary="Reflect",
    tags=["memories"],
)
async def reflect(
    request: AnyRequest, zone: FromPath[str], data: JSONBody[ReflectBody]
) -> Reflection:
    """Return what all kinds of memory say on a question, as one report with its sources.

    With `keep_as` the right to write is needed as well.
    """
    said: dict[str, Any] = msgspec.structs.asdict(data)
    if data.keep_as is None:
        return await read(request, zone, lambda held: held.reflect(**said))
    if not principal_in(request).may(zone, "write"):
        raise nothing_here()
    return await write(request, zone, lambda held: held.reflect(**said))


@get("/memories", opt={"right": "read"}, summary="List memories", tags=["memories"])
async def list_memories(
    request: AnyRequest,
    zone: FromPath[str],
    kind: Annotated[Listed, QueryParameter(name="scope")] = "facts",
    entity: FromQuery[str | None] = None,
    platform: FromQuery[str | None] = None,
    thread: FromQuery[str | None] = None,
    source_event_ids: FromQuery[list[str] | None] = None,
    metadata: FromQuery[str | None] = None,
    superseded: FromQuery[bool] = False,
    cursor: FromQuery[str | None] = None,
    limit: FromQuery[int] = 50,
) -> MemoryPage:
    """Return memories of one kind, the newest first; the `cursor` of a page gives the next.

    `metadata` is a JSON object of texts.
    """
    said = None if metadata is None else decode(metadata.encode(), dict[str, str])
    return await read(
        request,
        zone,
        lambda held: held.list_memories(
            kind,
            entity=entity,
            platform=platform,
            thread=thread,
            source_event_ids=source_event_ids,
            metadata=said,
            superseded=superseded,
            cursor=cursor,
            limit=limit,
        ),
    )


@post("/memories", status_code=201, opt={"right": "write"}, summary="Remember", tags=["memories"])
async def remember(request: AnyRequest, zone: FromPath[str], data: JSONBody[TextBody]) -> Receipt:
    """Remember a text as it stands."""
    mark = principal_in(request).mark(zone)
    return await write(
        request,
        zone,
        lambda held: held.remember(
            data.content, sender_id=data.sender_id, at=data.at, principal=mark
        ),
        makes=True,
    )


@get("/memories/{id:str}", opt={"right": "read"}, summary="Get a memory", tags=["memories"])
async def get_memory(request: AnyRequest, zone: FromPath[str], id: FromPath[str]) -> Memory:
    """Return an event, a fact, an observation or a mental model by its id."""
    return await read(request, zone, lambda held: held.get_memory(id))


@patch("/memories/{id:str}", opt={"right": "write"}, summary="Update a memory", tags=["memories"])
async def update_memory(
    request: AnyRequest, zone: FromPath[str], id: FromPath[str], data: JSONBody[NewTextBody]
) -> UpdateReport:
    """Put a text in the place of a memory: of a mental model, or of what was remembered as it
    stands, whose text before is erased. That needs the right to forget as well.
    """
    principal = principal_in(request)
    if not principal.may(zone, "forget"):
        raise nothing_here()
    mark = principal.mark(zone)
    report = await write(
        request, zone, lambda held: held.update_memory(id, data.text, principal=mark)
    )
    erased_in(request, zone)
    return report


@get("/memories/{id:str}/why", opt={"right": "read"}, summary="Why", tags=["memories"])
async def why(request: AnyRequest, zone: FromPath[str], id: FromPath[str]) -> Chain:
    """Return the way from a memory of any kind down to the events that it rests on."""
    return await read(request, zone, lambda held: held.why(id))


@get("/memories/{id:str}/history", opt={"right": "read"}, summary="History", tags=["memories"])
async def history(request: AnyRequest, zone: FromPath[str], id: FromPath[str]) -> MemoryHistory:
    """Return what a memory and those before and after it said, the first first."""
    return MemoryHistory(await read(request, zone, lambda held: held.history(id)))


@post(
    "/memories/{id:str}/explain",
    status_code=200,
    opt={"right": "read"},
    summary="Explain",
    tags=["memories"],
)
async def explain(
    request: AnyRequest, zone: FromPath[str], id: FromPath[str], data: JSONBody[Query]
) -> Explanation:
    """Return what became of a memory in the answer to a question, or why it is not in it."""
    found = await read(request, zone, lambda held: held.explain(data, id))
    if found is None:
        raise nothing_here()
    return found


ROUTES = (
    *(recall, context, reflect, list_memories, remember, get_memory),
    *(update_memory, why, history, explain),
)
