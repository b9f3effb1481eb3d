"""Definitions of the writer's tools, as sent to a model."""

from __future__ import annotations

from typing import Any

from recollect.streams.agents.writer.model.proposed_slots import ATTRIBUTES, POLARITIES

_TEXT = {"type": "string"}
_UNIT_INTERVAL = {"type": "number", "minimum": 0, "maximum": 1}
_TIME = {"type": ["string", "integer"], "description": "ISO 8601, or unix milliseconds"}


def _tool(name: str, description: str, required: list[str], /, **parameters: Any) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {
                "type": "object",
                "properties": parameters,
                "required": required,
                "additionalProperties": False,
            },
        },
    }


TOOLS: tuple[dict[str, Any], ...] = (
    _tool(
        "recall",
        "Search the memory: what is known already, and which entities there are.",
        ["query"],
        query=_TEXT,
        params={
            "type": "object",
            "properties": {
                "scope": {"type": "array", "items": {"enum": ["facts", "events", "entities"]}},
                "entity": {"type": "string", "description": "a name or an entity_id"},
                "time_after": _TIME,
                "time_before": _TIME,
                "platform": _TEXT,
                "max_results": {"type": "integer", "minimum": 1, "maximum": 20},
                "budget": {"enum": ["low", "mid", "high"]},
            },
        },
    ),
    _tool(
        "insert_fact",
        "Store a fact of this message. Returns fact_id.",
        ["text", "metadata"],
        text={"type": "string", "description": "one sentence in the third person"},
        as_of={**_TIME, "description": "when it was said; may be left out"},
        ingested_at={**_TIME, "description": "may be left out"},
        source_event_id={"type": "string", "description": "the source_event_id of the message"},
        subject={"type": "string", "description": "whom the sentence begins with, if it gives one"},
        attribute={"enum": [*ATTRIBUTES], "description": "which attribute of the subject it gives"},
        value={"type": "string", "description": "the attribute's value, in words of the message"},
        polarity={
            "enum": [*POLARITIES],
            "description": "whether the value holds (the default), does not, or no longer does",
        },
        days={
            "type": "object",
            "description": "the days that the fact is about, where the message says them",
            "properties": {
                "first": {"type": "string", "description": "YYYY-MM-DD"},
                "last": {"type": "string", "description": "YYYY-MM-DD; may be left out"},
                "words": {
                    "type": "string",
                    "description": "words that say the days, exactly; may be left out if they "
                    "are in the evidence",
                },
            },
            "required": ["first"],
        },
        retracts={
            "type": "string",
            "description": "what this message corrects or ends: the fact_id of an earlier fact, or "
            "words of an earlier message, exactly",
        },
        metadata={
            "type": "object",
            "properties": {
                "evidence": {"type": "string", "description": "words of the message, exactly"}
            },
            "required": ["evidence"],
        },
    ),
    _tool(
        "create_entity",
        "Create a person, organisation, place or thing that the message names. Returns entity_id.",
        ["name", "type"],
        name=_TEXT,
        type={"enum": ["person", "organisation", "place", "project", "concept", "unknown"]},
        normalized={"type": "string", "description": "may be left out"},
        source={"type": "string", "description": "may be left out"},
    ),
    _tool(
        "link_fact_entity",
        "Say that a fact is about an entity.",
        ["fact_id", "entity_id"],
        fact_id=_TEXT,
        entity_id=_TEXT,
    ),
    _tool(
        "insert_causal_link",
        "Say that one fact led to another.",
        ["from_fact_id", "to_fact_id", "strength"],
        from_fact_id=_TEXT,
        to_fact_id=_TEXT,
        strength=_UNIT_INTERVAL,
    ),
    _tool(
        "propose_merge",
        "Say that two entities may be one. Somebody will look at it.",
        ["entity_a_id", "entity_b_id", "confidence", "reason"],
        entity_a_id=_TEXT,
        entity_b_id=_TEXT,
        confidence=_UNIT_INTERVAL,
        reason=_TEXT,
    ),
    _tool(
        "propose_writer_text",
        "Propose a better version of your role or of a note, where these instructions made you "
        "err. Somebody will look at it.",
        ["name", "text", "reason"],
        name={"type": "string", "description": "role, or the name of a note"},
        text={"type": "string", "description": "the whole new text"},
        reason=_TEXT,
    ),
)
