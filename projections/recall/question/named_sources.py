"""The sources that a question names: "in my notes", "did I text", "on Telegram".

English only. The kinds of sources are a fixed list. Which of the zone's platforms are of a kind is
determined by the words in their names, or else, for messages and assistants, by who writes there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from recollect.projections.recall.index.turn_index import ChatPlatforms, Turns

Mask = npt.NDArray[np.bool_]

SourceKind = Literal[
    "message", "email", "call", "photo", "note", "calendar", "notification", "assistant"
]
#: The kinds of sources, in the order in which their words are looked for in a platform's name.
KINDS: tuple[SourceKind, ...] = get_args(SourceKind)

_WHOM = r"(?:me|him|her|them|us|you|(?-i:[A-Z])\w*)"
_NAMED_BY: Mapping[SourceKind, str] = {
    "message": r"(?:text |direct |voice )?messag(?:es?|ed|ing)|sms|chat(?:s|ted|ting)?|texted|"
    r"texting|texts|(?:by|via|in|over) text|(?:did|do|does) \w+ text|conversations?|mentioned|told",
    "email": r"e-?mail(?:s|ed|ing)?|mails?|mailed|inbox",
    "call": r"(?:tele)?phone calls?|calls?|phoned|(?:by|on|over) the phone|voicemails?|"
    rf"called (?={_WHOM}\b)|(?:did|do|does) \w+ (?:call|phone|ring)",
    "photo": r"photos?|photographs?|photographed|pictures?|snapshots?|selfies?|screenshots?",
    "note": r"notes?|noted down|wrote down|write down|jotted down|memos?|diary|journal",
    "calendar": r"calendars?|appointments?|scheduled?|agenda",
    "notification": r"notifications?|push(?:es)? (?:messages?|notifications?)|alerts?",
    "assistant": r"assistant|ai|chatbot|bot",
}
_QUESTION_WORDS = {
    kind: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for kind, words in _NAMED_BY.items()
}
# Words of a platform's name. The first of KINDS counts: "phone_messages" holds messages, not calls.
_NAME_WORDS: Mapping[SourceKind, re.Pattern[str]] = {
    "message": re.compile(r"sms|messag|messenger|chat|\btexts?\b"),
    "email": re.compile(r"mail"),
    "call": re.compile(r"\bcalls?\b|phone|telephony"),
    "photo": re.compile(r"photo|picture|image|gallery|camera|screenshot"),
    "note": re.compile(r"note|memo\b|memos\b|diary|journal"),
    "calendar": re.compile(r"calendar|appointment|schedule|agenda"),
    "notification": re.compile(r"notification|\bpush|alert"),
    "assistant": re.compile(r"assistant|chatbot"),
}
_SEPARATORS = re.compile(r"[\W_]+")
# Up to three words; a platform is named by the first of them.
_AFTER_PREPOSITION = re.compile(
    r"\b(?:on|in|over|via|through|by|from)\s+(?:my\s+|the\s+)?(?=(\w+(?:\W+\w+){0,2}))",
    re.IGNORECASE,
)


def source_mask(text: str, turns: Turns) -> Mask | None:
    """Return the mask of turns from the sources that a question names.

    None if it names none, or if all turns or none are from them.
    """
    names = turns.platforms
    if len(names) < 2:
        return None
    named = set(platforms_named(text, names))
    if kinds := kinds_named(text):
        named.update(name for name in names if kind_of_platform(name, turns.chats) in kinds)
    return turns.platforms_mask(named) if 0 < len(named) < len(names) else None


def kinds_named(text: str) -> list[SourceKind]:
    """Return the kinds of sources that a question names."""
    return [kind for kind in KINDS if _QUESTION_WORDS[kind].search(text)]


def kind_of_platform(name: str, chats: ChatPlatforms) -> SourceKind | None:
    """Return the kind of a platform; None if neither its name nor its writers show it."""
    if name in chats.with_assistant:
        return "assistant"
    words = _plain(name)
    by_name = next((kind for kind in KINDS if _NAME_WORDS[kind].search(words)), None)
    return by_name or ("message" if name in chats.among_people else None)


def platforms_named(text: str, names: Sequence[str]) -> list[str]:
    """Return the platforms that a question names after a preposition, as "on Telegram"."""
    after = [_plain(found[1]) for found in _AFTER_PREPOSITION.finditer(text)]
    return [
        name for name in names if any(f"{each} ".startswith(f"{_plain(name)} ") for each in after)
    ]


def _plain(name: str) -> str:
    return _SEPARATORS.sub(" ", name.lower()).strip()
