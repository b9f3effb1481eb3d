"""Analyses by a language model: the types that it runs, and the check of its statements.

A statement cites messages that the model was shown, by number. One that is malformed, or has a
name, number or day that none of its messages has, is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from recollect.schemas.events import OwnAnalysis
from recollect.streams.analyses.utterances import Utterance, local_date
from recollect.streams.language.relations.grounding import (
    LONGEST,
    unsaid_day,
    unsaid_name,
    unsaid_number,
)
from recollect.text.dates.dates_in_text import date_references
from recollect.text.dates.found_dates import DateReference

#: The built-in types that need a language model.
MODEL_ANALYSES = (
    OwnAnalysis(
        name="model_summary",
        prompt="Summarise the messages in at most six sentences: what somebody who was not there "
        "must know in a year. What was said of people, plans, places and changes comes first; "
        "greetings and passing moods are left out.",
        facets=("summary",),
    ),
    OwnAnalysis(
        name="model_conversation",
        prompt="Say what the conversation settled. decision: what was agreed, and by whom. "
        "open_question: what somebody asked and nobody answered. next_step: what somebody "
        "undertook to do, or was asked to do, and by when. point: what else was discussed, in at "
        "most two sentences.",
        facets=("point", "decision", "open_question", "next_step"),
    ),
)
MAX_STATEMENTS = 24
_STATE = "state"


class Statement(NamedTuple):
    """A sentence by a model, its facet type, and the messages that it rests on, in order."""

    text: str
    facet: str
    cited: tuple[Utterance, ...]


class _Call(msgspec.Struct, frozen=True):
    text: str
    messages: list[int]
    facet: str | None = None


def facet_types(own: OwnAnalysis) -> tuple[str, ...]:
    """Return the types of the facets that a model may give; the first is the default."""
    return own.facets or (own.name,)


def checked_statements(
    calls: Sequence[tuple[str, str]], own: OwnAnalysis, utterances: Sequence[Utterance]
) -> list[Statement]:
    """Return the statements of a model's calls (tool, JSON arguments) that their messages support.

    `utterances`: what it was shown, in order of the numbers, which begin with 1.
    """
    facets, speakers = facet_types(own), [each.speaker for each in utterances]
    statements: dict[tuple[str, str], Statement] = {}
    for name, arguments in calls:
        try:
            call = msgspec.json.decode(arguments, type=_Call, strict=False)
        except (ValueError, RecursionError):
            continue
        text, facet = " ".join(call.text.split()), call.facet or facets[0]
        places = sorted(set(call.messages))
        if name != _STATE or facet not in facets or not 0 < len(text) <= LONGEST or not places:
            continue
        if places[0] < 1 or places[-1] > len(utterances):
            continue
        cited = tuple(utterances[place - 1] for place in places)
        if _is_supported(text, cited, speakers):
            statements.setdefault((facet, text), Statement(text, facet, cited))
    return list(statements.values())[:MAX_STATEMENTS]


def statements_text(statements: Sequence[Statement], own: OwnAnalysis) -> str:
    """Return statements as text, one on a line, with their facet types if there are several."""
    if len(facet_types(own)) == 1:
        return "\n".join(each.text for each in statements)
    return "\n".join(f"{each.facet.replace('_', ' ')}: {each.text}" for each in statements)


def _is_supported(text: str, cited: Sequence[Utterance], speakers: Sequence[str]) -> bool:
    """Return whether every name, day and number of a sentence occurs in the messages it cites."""
    texts = [*(each.text for each in cited), *speakers]
    if unsaid_name(text, texts) is not None:
        return False
    meant = [each for utterance in cited for each in _dates_meant(utterance)]
    last = cited[-1]
    stated = date_references(
        text, at_ms=last.at, utc_offset_minutes=last.utc_offset, every=True, of_past=False
    )
    return unsaid_day(stated, meant) is None and unsaid_number(text, texts, meant) is None


def _dates_meant(utterance: Utterance) -> Iterator[DateReference]:
    """Yield the day of a message, and the days that its text means."""
    day = local_date(utterance.at, utterance.utc_offset)
    yield DateReference(0, 0, day, day, day, relative=False)
    yield from date_references(
        utterance.text, at_ms=utterance.at, utc_offset_minutes=utterance.utc_offset, every=True
    )


def statement_tools(own: OwnAnalysis) -> tuple[dict[str, Any], ...]:
    """Return the tool with which a model runs an analysis, as sent to it."""
    properties: dict[str, Any] = {
        "text": {"type": "string"},
        "messages": {
            "type": "array",
            "items": {"type": "integer"},
            "description": "numbers of the messages that say it",
        },
    }
    required = ["text", "messages"]
    if len(facets := facet_types(own)) > 1:
        properties["facet"] = {"enum": list(facets)}
        required.append("facet")
    function = {
        "name": _STATE,
        "description": "One result of the analysis, in a sentence of its own.",
        "parameters": {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        },
    }
    return ({"type": "function", "function": function},)
