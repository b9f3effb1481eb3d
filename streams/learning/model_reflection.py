"""Reflection with a language model: its tools, and the validation of its calls.

A model may only cite steps that it was shown. A call that is malformed, cites nothing or cites
another step is discarded; if no call is left, the reflection has no effect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, Literal, NamedTuple

import msgspec

from recollect.streams.learning.outcome_comparison import MAX_ITEMS, MAX_TEXT
from recollect.streams.learning.strategies import FoundItem, StepRef

_KINDS: Mapping[str, Literal["helpful", "harmful", "observation"]] = {
    "helpful_strategy": "helpful",
    "harmful_pattern": "harmful",
    "observation": "observation",
}
_CONCLUDE = "conclude"


class _Call(msgspec.Struct, frozen=True):
    text: str
    steps: list[int]
    confidence: float = 0.5
    impact: str = ""


class _Conclusion(msgspec.Struct, frozen=True):
    confidence: float


class ModelReflection(NamedTuple):
    """The valid items of a model's answers, its overall confidence, and the number left out."""

    items: list[FoundItem]
    confidence: float
    refused: int


def check_reflection(
    calls: Sequence[tuple[str, str]], steps: Mapping[int, StepRef], sources: tuple[int, ...]
) -> ModelReflection:
    """Return what a model's calls (tool, JSON arguments) found.

    `steps`: the steps that it was shown, by record number. `sources`: every event in the prompt,
    since its answer may repeat words of any of them.
    """
    items: dict[tuple[str, str], FoundItem] = {}
    concluded: float | None = None
    refused = 0
    for name, arguments in calls:
        try:
            if name == _CONCLUDE:
                concluded = _probability(
                    msgspec.json.decode(arguments, type=_Conclusion, strict=False).confidence
                )
                continue
            item = _checked(_KINDS[name], arguments, steps, sources)
        except (KeyError, ValueError, RecursionError):
            refused += 1
            continue
        kept = sum(known.kind == item.kind for known in items.values())
        if kept < MAX_ITEMS:
            items.setdefault((item.kind, item.text), item)
    valid = list(items.values())
    best = max((item.confidence for item in valid), default=0.0)
    return ModelReflection(valid, best if concluded is None else concluded, refused)


def _checked(
    kind: Literal["helpful", "harmful", "observation"],
    arguments: str,
    steps: Mapping[int, StepRef],
    sources: tuple[int, ...],
) -> FoundItem:
    """Validate a model's tool call, and return it as an item of a reflection.

    Raises:
        ValueError: the call is malformed.
        KeyError: the call cites a step that the model was not shown.
    """
    call = msgspec.json.decode(arguments, type=_Call, strict=False)
    text = " ".join(call.text.split())
    if not text or len(text) > MAX_TEXT or not call.steps or len(call.impact) > MAX_TEXT:
        raise ValueError("no text, no step, or too long")
    return FoundItem(
        kind,
        text,
        _probability(call.confidence),
        tuple(dict.fromkeys(steps[number] for number in call.steps)),
        sources,
        " ".join(call.impact.split()),
    )


def _probability(value: float) -> float:
    if not isfinite(value) or not 0 <= value <= 1:
        raise ValueError("not a probability")
    return value


_STEPS = {
    "type": "array",
    "items": {"type": "integer"},
    "description": "numbers of the steps that show it",
}
_CONFIDENCE = {"type": "number", "minimum": 0, "maximum": 1}


def _tool(name: str, description: str, required: list[str], **properties: Any) -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }


#: The tools, as sent to a model.
REFLECTION_TOOLS: tuple[dict[str, Any], ...] = (
    _tool(
        "helpful_strategy",
        "Something that made runs succeed, as an instruction for the next run.",
        ["text", "steps", "confidence"],
        text={"type": "string"},
        steps=_STEPS,
        confidence=_CONFIDENCE,
    ),
    _tool(
        "harmful_pattern",
        "Something that made runs fail, to be avoided, and what it led to.",
        ["text", "steps", "confidence", "impact"],
        text={"type": "string"},
        steps=_STEPS,
        confidence=_CONFIDENCE,
        impact={"type": "string"},
    ),
    _tool(
        "observation",
        "Something neutral about the runs that is worth knowing.",
        ["text", "steps"],
        text={"type": "string"},
        steps=_STEPS,
        confidence=_CONFIDENCE,
    ),
    _tool(
        _CONCLUDE,
        "How sure you are of all of it. Call it once, last.",
        ["confidence"],
        confidence=_CONFIDENCE,
    ),
)
