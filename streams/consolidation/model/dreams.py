"""Dreams: links between distant topics, conjectured by a language model, whose calls are checked.

A dream is a conjecture. It must cite facts of both topics, and name no number or name that these
facts do not have. A second request evaluates the candidates; what it does not keep is left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isfinite
from typing import Any, NamedTuple

import msgspec

from recollect.text.tokenizer import tokenise

#: The number of pairs of topics that a pass examines, and of facts that it shows per topic.
MAX_PAIRS, MAX_SHOWN = 6, 6
#: The minimum number of facts of a topic.
MIN_FACTS = 3
#: The maximum number of characters of a bridge and of an insight.
MAX_BRIDGE, MAX_INSIGHT = 200, 400
#: The minimum surprise, by the evaluation, of a dream that is kept.
MIN_SURPRISE = 0.7
#: The number of earlier dreams with which a dream is compared.
COMPARED_DREAMS = 100
_DREAM, _KEEP = "dream", "keep"
_NUMBER = re.compile(r"\d+")


class ShownFact(NamedTuple):
    """A fact shown to a model, and the index of its topic (from 0)."""

    text: str
    topic: int


class FoundDream(NamedTuple):
    """A dream that passed the check; `facts`: the places of the facts that it cites."""

    bridge: str
    insight: str
    facts: tuple[int, ...]


class _Dream(msgspec.Struct, frozen=True):
    bridge: str
    insight: str
    facts: list[int]


class _Keep(msgspec.Struct, frozen=True):
    dream: int
    surprise: float


def check_dreams(calls: Sequence[tuple[str, str]], shown: Sequence[ShownFact]) -> list[FoundDream]:
    """Return the valid dreams among a model's calls (tool, JSON arguments), each once, in order."""
    dreams: dict[str, FoundDream] = {}
    for name, arguments in calls:
        if name != _DREAM:
            continue
        try:
            dream = _checked(arguments, shown)
        except (ValueError, IndexError, RecursionError):
            continue
        dreams.setdefault(dream.insight, dream)
    return list(dreams.values())


def check_evaluation(calls: Sequence[tuple[str, str]], dreams: int) -> dict[int, float]:
    """Return index -> surprise of the dreams that the evaluation keeps, out of `dreams`."""
    kept: dict[int, float] = {}
    for name, arguments in calls:
        if name != _KEEP:
            continue
        try:
            call = msgspec.json.decode(arguments, type=_Keep, strict=False)
        except (ValueError, RecursionError):
            continue
        if 0 <= call.dream < dreams and isfinite(call.surprise) and call.surprise <= 1:
            kept.setdefault(call.dream, call.surprise)
    return {place: value for place, value in sorted(kept.items()) if value >= MIN_SURPRISE}


def _checked(arguments: str, shown: Sequence[ShownFact]) -> FoundDream:
    """Return a call as a dream.

    Raises:
        ValueError: it is malformed, cites one topic alone, or has a name or number of its own.
        IndexError: it cites a fact that the model was not shown.
    """
    call = msgspec.json.decode(arguments, type=_Dream, strict=False)
    bridge, insight = " ".join(call.bridge.split()), " ".join(call.insight.split())
    if not bridge or not insight or len(bridge) > MAX_BRIDGE or len(insight) > MAX_INSIGHT:
        raise ValueError("empty, or too long")
    places = sorted(set(call.facts))
    if not places or places[0] < 0:
        raise ValueError("cites no fact")
    cited = [shown[place] for place in places]
    if len({fact.topic // 2 for fact in cited}) > 1 or len({fact.topic for fact in cited}) < 2:
        raise ValueError("does not cite both topics of one pair")
    if not _terms(f"{bridge}. {insight}") <= _words(" ".join(fact.text for fact in cited)):
        raise ValueError("has a name or number that no cited fact has")
    return FoundDream(bridge, insight, tuple(places))


def _terms(text: str) -> set[str]:
    """Return the numbers of a text, and its words in capitals that begin no sentence."""
    tokens = tokenise(text)
    names = {
        lower.removesuffix("'s").removesuffix("’s")
        for place, (word, lower) in enumerate(zip(tokens.words, tokens.lowers, strict=True))
        if place
        and word[0].isupper()
        and word != "I"
        and not any(sign in tokens.gap(place - 1) for sign in ".!?:\n")
    }
    return names | set(_NUMBER.findall(text))


def _words(text: str) -> set[str]:
    lowers = tokenise(text).lowers
    return {
        *lowers,
        *(lower.removesuffix("'s").removesuffix("’s") for lower in lowers),
        *_NUMBER.findall(text),
    }


def _tool(name: str, description: str, **properties: Any) -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }


#: The tools of the two requests, as sent to a model.
DREAM_TOOLS: tuple[dict[str, Any], ...] = (
    _tool(
        _DREAM,
        "A link between the two topics that none of the facts states.",
        bridge={"type": "string", "description": "what the two have in common"},
        insight={"type": "string", "description": "what may follow for the person, in a sentence"},
        facts={
            "type": "array",
            "items": {"type": "integer"},
            "description": "numbers of the facts that it rests on, of both topics",
        },
    ),
)
EVALUATION_TOOLS: tuple[dict[str, Any], ...] = (
    _tool(
        _KEEP,
        "Keep a link that would genuinely surprise the person, and that the facts support.",
        dream={"type": "integer", "description": "its number"},
        surprise={"type": "number", "minimum": 0, "maximum": 1},
    ),
)
