"""The description of the service for programs: OpenAPI 3.1, with an example for every operation."""

from __future__ import annotations

from typing import Any

import msgspec
from litestar import Request
from litestar.enums import OpenAPIMediaType
from litestar.openapi.plugins import OpenAPIRenderPlugin

from recollect.service.problem_details import KINDS, MEDIA_TYPE, NOT_FOUND, nothing_here

_OF_ZONE = "/v1/zones/{zone}"
_AT, _LATER = "2026-05-08T13:56:00.000Z", "2026-05-09T08:00:00.000Z"
_FACT_ID, _MODEL_ID = "01KR3XZBC0BAQNHSCT9EJ4NDPT", "01KR3XZBC0MTPV7D6B8F2Q9JXE"
_ADA, _BOB = "0000000000TM58XV8YZVBG9TN4", "0000000000EQRKW619BJ1ZNSF7"
_MERGE_ID, _OPERATION_ID = "01KR3XZBC0Q5Z0S2M3Y8C1K7AB", "9b1f0c2ab94d5e6f70c1d2e3"

_QUERY = {"query": "Where does Ada live?", "max_results": 5}
_RESULT = {
    "id": _FACT_ID,
    "type": "fact",
    "text": "Ada lives in Turin.",
    "as_of": _AT,
    "score": 0.83,
    "is_stale": False,
    "entity_ids": [_ADA],
    "platform": "chat",
    "sender_name": "Ada",
    "source_event_ids": ["m1"],
}
_REPORT = {
    "read": 1,
    "new": 1,
    "duplicate": 0,
    "clamped": 0,
    "rejected": 0,
    "rejections": [],
    "seconds": 0.012,
    "token": "4:1:1",
    "head": "1:9463884db74ae79f5dbbfc5455274810",
}
_MEMORY = {
    "id": _FACT_ID,
    "type": "fact",
    "text": "Ada lives in Turin.",
    "as_of": _AT,
    "platform": "chat",
    "sender_name": "Ada",
    "entities": ["Ada", "Turin"],
    "source_event_ids": ["m1"],
}
_FACT = {
    "id": _FACT_ID,
    "text": "Ada lives in Turin.",
    "as_of": _AT,
    "when": None,
    "subject": "Ada",
    "attribute": "home",
    "value": "Turin",
    "current": True,
    "stability": None,
    "entities": ["Ada", "Turin"],
    "source_event_ids": ["m1"],
}
_ENTITY = {
    "id": _ADA,
    "name": "Ada",
    "type": "person",
    "aliases": [],
    "handles": [{"platform": "chat", "handle": "u1"}],
    "facts": 1,
    "mentions": 1,
}
_MERGE = {
    "id": _MERGE_ID,
    "a": "Ada",
    "b": "Ada L.",
    "confidence": 0.6,
    "reasons": ["the same first name in one thread"],
    "status": "pending",
    "a_id": _ADA,
    "b_id": _BOB,
    "a_handles": [],
    "b_handles": [],
    "at": _AT,
    "merge_id": None,
}
_MODEL: dict[str, Any] = {
    "id": _MODEL_ID,
    "name": "Homes",
    "description": "Ada lives in Turin.",
    "subtype": None,
    "entity_id": None,
    "tags": [],
    "previous": None,
    "current": True,
    "updated_at": _AT,
}
_FORGOTTEN = {
    "forgotten": ["m1"],
    "already": [],
    "finished": [],
    "events": 1,
    "facts": 1,
    "entities": 1,
    "vectors": 2,
    "dry_run": True,
}
_STATUS = {
    "zone": "ada",
    "generation": "g000001",
    "events": 1,
    "facts": 1,
    "entities": 2,
    "observations": 0,
    "dead_letters": 0,
    "lag": 0,
    "lag_seconds": 0.0,
    "moved_seconds_ago": 0.8,
    "stalled": False,
    "models": [{"model": "memory", "watermark": 1}],
    "encoder": None,
    "head": "1:9463884db74ae79f5dbbfc5455274810",
    "agents": ["own"],
    "written": None,
}
_OPERATION = {
    "id": _OPERATION_ID,
    "kind": "verify",
    "state": "running",
    "done": 512,
    "total": 5880,
    "created_at": _AT,
    "started_at": _AT,
    "ended_at": None,
    "detail": None,
    "result": None,
}
_RECEIPT = {"status": "new", "number": 2, "event_id": _FACT_ID, "clamped": False}
_LETTER = {
    "number": 17,
    "kind": "message",
    "reason": "it was tried three times",
    "state": "parked",
    "parked_at": 1778248560000,
}
_VERSIONS = {
    "versions": [
        {"id": _MODEL_ID, "text": "Ada lives in Turin.", "at": _AT, "current": False},
        {"id": _FACT_ID, "text": "Ada lives in Oslo.", "at": _LATER, "current": True},
    ]
}

#: (method, address) -> an example of a body, None where there is none, and of an answer.
EXAMPLES: dict[tuple[str, str], tuple[Any, Any]] = {
    ("get", "/health/live"): (None, {"status": "ok"}),
    ("get", "/health/ready"): (None, {"status": "ok"}),
    ("get", "/version"): (None, {"version": "0.1.0"}),
    ("get", "/metrics"): (None, "recollect_requests_open 1.0\n"),
    ("get", "/v1/zones"): (None, {"zones": [{"zone": "ada", "events": 1}]}),
    ("post", f"{_OF_ZONE}/events"): (None, _REPORT),
    ("post", f"{_OF_ZONE}/memories/recall"): (
        _QUERY,
        {"query": "Where does Ada live?", "results": [_RESULT], "ms": 3.1},
    ),
    ("post", f"{_OF_ZONE}/context"): (
        {"task": "Where does Ada live?", "max_tokens": 500},
        {
            "block": "<memory_context>…</memory_context>",
            "items": [_RESULT],
            "tokens": 87,
            "ms": 9.1,
        },
    ),
    ("post", f"{_OF_ZONE}/reflect"): (
        {"query": "Where does Ada live?"},
        {
            "query": "Where does Ada live?",
            "text": "# Where does Ada live?\n\n## Facts\n\n- 2026-05-08, Ada: In Turin. [m1]",
            "results": [_RESULT],
            "ms": 12.5,
        },
    ),
    ("get", f"{_OF_ZONE}/memories"): (
        None,
        {"memories": [_MEMORY], "cursor": f"facts:1778248560000:{_FACT_ID}"},
    ),
    ("post", f"{_OF_ZONE}/memories"): (
        {"content": "The deploy key is in the blue safe."},
        _RECEIPT,
    ),
    ("get", f"{_OF_ZONE}/memories/{{id}}"): (None, _MEMORY),
    ("patch", f"{_OF_ZONE}/memories/{{id}}"): (
        {"text": "The deploy key is in the red safe."},
        {
            "id": _FACT_ID,
            "type": "event",
            "text": "The deploy key is in the red safe.",
            "replaced": _MODEL_ID,
            "erased": 1,
        },
    ),
    ("delete", f"{_OF_ZONE}/memories/{{id}}"): (None, {**_FORGOTTEN, "dry_run": False}),
    ("get", f"{_OF_ZONE}/memories/{{id}}/why"): (
        None,
        {
            "id": _FACT_ID,
            "type": "fact",
            "text": "Ada lives in Turin.",
            "source_event_ids": ["m1"],
            "steps": [{"what": "from the event 'm1' of chat: record 1 of the ledger"}],
        },
    ),
    ("get", f"{_OF_ZONE}/memories/{{id}}/history"): (None, _VERSIONS),
    ("post", f"{_OF_ZONE}/memories/{{id}}/explain"): (
        _QUERY,
        {
            "query": "Where does Ada live?",
            "id": _FACT_ID,
            "type": "fact",
            "rank": 1,
            "score": 0.83,
            "arms": {"semantic": 1, "keyword": 1},
            "fused": 1,
            "dropped_by": None,
            "because": "",
            "part": None,
        },
    ),
    ("post", f"{_OF_ZONE}/forget"): ({"ids": ["m1"], "dry_run": True}, _FORGOTTEN),
    ("get", f"{_OF_ZONE}/facts"): (None, {"facts": [_FACT], "cursor": f"{_AT}/{_FACT_ID}"}),
    ("get", f"{_OF_ZONE}/entities"): (None, {"entities": [_ENTITY], "cursor": "17:50"}),
    ("get", f"{_OF_ZONE}/entities/{{name_or_id}}"): (None, _ENTITY),
    ("post", f"{_OF_ZONE}/entities/compare"): (
        {"a": "Ada", "b": "Bob"},
        {"decision": "different", "confidence": 0.0, "reasons": ["two names"]},
    ),
    ("get", f"{_OF_ZONE}/merges"): (None, {"merges": [_MERGE]}),
    ("post", f"{_OF_ZONE}/merges"): (
        {"entity_a": _ADA, "entity_b": _BOB, "confidence": 0.6, "reason": "she said so"},
        _RECEIPT,
    ),
    ("patch", f"{_OF_ZONE}/merges/{{id}}"): (
        {"state": "approved"},
        {**_MERGE, "status": "merged", "merge_id": _MERGE_ID},
    ),
    ("get", f"{_OF_ZONE}/mental-models"): (None, {"mental_models": [_MODEL]}),
    ("post", f"{_OF_ZONE}/mental-models"): (
        {"name": "Homes", "description": "Ada lives in Turin."},
        _MODEL,
    ),
    ("get", f"{_OF_ZONE}/mental-models/{{id}}"): (None, _MODEL),
    ("patch", f"{_OF_ZONE}/mental-models/{{id}}"): (
        {"description": "Ada lives in Oslo."},
        {**_MODEL, "description": "Ada lives in Oslo.", "previous": _MODEL_ID},
    ),
    ("delete", f"{_OF_ZONE}/mental-models/{{id}}"): (None, {**_FORGOTTEN, "dry_run": False}),
    ("get", f"{_OF_ZONE}/mental-models/{{id}}/history"): (None, _VERSIONS),
    ("get", f"{_OF_ZONE}/dead-letters"): (None, {"dead_letters": [_LETTER]}),
    ("post", f"{_OF_ZONE}/dead-letters/{{number}}/retry"): (None, {"number": 17, "parked": False}),
    ("post", f"{_OF_ZONE}/dead-letters/{{number}}/drop"): (None, {"number": 17, "parked": False}),
    ("post", f"{_OF_ZONE}/verify"): ({}, _OPERATION),
    ("post", f"{_OF_ZONE}/rebuild"): (
        {"level": "project", "dry_run": True},
        {**_OPERATION, "kind": "rebuild"},
    ),
    ("post", f"{_OF_ZONE}/rollback"): (None, {**_OPERATION, "kind": "rollback"}),
    ("post", f"{_OF_ZONE}/reclaim"): ({"dry_run": True}, {**_OPERATION, "kind": "reclaim"}),
    ("get", f"{_OF_ZONE}/operations"): (None, {"operations": [_OPERATION]}),
    ("get", f"{_OF_ZONE}/operations/{{id}}"): (None, _OPERATION),
    ("get", f"{_OF_ZONE}/operations/{{id}}/progress"): (
        None,
        f"event: operation\ndata: {msgspec.json.encode(_OPERATION).decode()}\n\n",
    ),
    ("post", f"{_OF_ZONE}/operations/{{id}}/cancel"): (
        None,
        {**_OPERATION, "state": "cancelled", "ended_at": _LATER},
    ),
    ("post", f"{_OF_ZONE}/operations/{{id}}/retry"): (None, {**_OPERATION, "state": "queued"}),
    ("get", f"{_OF_ZONE}/status"): (None, _STATUS),
    ("get", f"{_OF_ZONE}/token"): (None, {"token": "4:1:1"}),
    ("post", f"{_OF_ZONE}/wait"): ({"token": "4:1:1"}, _STATUS),
    ("post", f"{_OF_ZONE}/hints"): (
        {"query": "Where does she live?", "entity": "Adda"},
        {"hints": ["nobody and nothing is called 'Adda'; did you mean Ada?"]},
    ),
}

_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
    "description": "A call that is made again under its key is answered as the first time.",
}


class OpenAPIDocument(OpenAPIRenderPlugin):
    """Renders the document once, and gives the same bytes to all."""

    def __init__(self) -> None:
        super().__init__(path="/", media_type=OpenAPIMediaType.OPENAPI_JSON)
        self._rendered: bytes | None = None

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        """Return the document."""
        if self._rendered is None:
            self._rendered = msgspec.json.encode(completed(openapi_schema))
        return self._rendered


def completed(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document with examples, and with the errors that every operation may answer."""
    made: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(document))
    for address, methods in made["paths"].items():
        for method, operation in methods.items():
            asked, answered = EXAMPLES.get((method, address), (None, None))
            _exemplify(operation, asked, answered)
            operation["responses"]["default"] = {
                "description": "A problem; its type says which.",
                "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
            }
            if method == "post" and address.startswith(_OF_ZONE):
                operation.setdefault("parameters", []).append(_KEY)
    made.setdefault("components", {}).setdefault("schemas", {})["Problem"] = _problem()
    return made


def _exemplify(operation: dict[str, Any], asked: Any, answered: Any) -> None:
    request = operation.get("requestBody", {})
    for body in request.get("content", {}).values():
        if {"type": "null"} in body.get("schema", {}).get("oneOf", ()):
            request["required"] = False
        if asked is not None:
            body["examples"] = {"example": {"value": asked}}
    for status, response in operation["responses"].items():
        # What Litestar says of errors is not what is answered.
        if not status.startswith("2"):
            continue
        for body in response.get("content", {}).values():
            if answered is not None:
                body["examples"] = {"example": {"value": answered}}
    for status in [status for status in operation["responses"] if not status.startswith("2")]:
        del operation["responses"][status]


def _problem() -> dict[str, Any]:
    text = {"type": "string"}
    return {
        "type": "object",
        "title": "Problem",
        "properties": {
            "type": {"type": "string", "enum": [kind.type for kind in KINDS]},
            "title": text,
            "status": {"type": "integer"},
            "detail": text,
            "request_id": text,
            "errors": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"pointer": text, "detail": text},
                    "required": ["pointer", "detail"],
                },
            },
        },
        "required": ["type", "title", "status", "detail", "request_id"],
        "examples": [msgspec.to_builtins(nothing_here().problem("1f0c2ab94d5e6f70"))],
        "description": f"As RFC 9457 has it; for example {NOT_FOUND.type}.",
    }
