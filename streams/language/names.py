"""Names: where somebody says what they or another are called."""

from __future__ import annotations

import re
from typing import Literal

from streams.language.gazetteer import CONCEPTS, EVENTS, ORGANISATIONS, PLACES
from streams.language.model import Introduction
from streams.language.tokens import Tokens
from streams.language.words import (
    FUNCTION_WORDS,
    MONTHS,
    PHATIC,
    RELATIONS,
    STARTERS,
    WEEKDAYS,
    word_set,
)

_NAME = r"[^\W\d_](?:[\w'’\-]|\.(?=[ \w])){0,30}"
_FULL_NAME = rf"{_NAME}(?: {_NAME}){{0,3}}"
#: What may follow a name that somebody gives as their own.
_STOP = r"(?=\s*(?:[^\w\s'’]|\Z|(?:and|from|but|by the way|btw|here|speaking)\b))"

_NAME_IS = re.compile(
    rf"\b(?:my (?:full |real |first )?name(?: is|['’]s)|the name['’]s)\s+(?P<name>{_FULL_NAME})",
    re.IGNORECASE,
)
# Only at the start of a clause: "she thinks I'm Batman" introduces nobody.
_I_AM = re.compile(
    r"(?:\A|(?<=[.!?,;:–—-])|(?<=[.!?,;:–—-] )|(?:\A|(?<=\W))(?:hi|hey|hello|and|so|yes|yeah|but) )"
    rf"i(?:['’]m| am) (?P<name>{_FULL_NAME}?){_STOP}",
    re.IGNORECASE,
)
_HERE = re.compile(
    rf"\b(?:this is|it['’]s) (?P<name>{_FULL_NAME}?)(?=,? (?:from|here|speaking|calling)\b)",
    re.IGNORECASE,
)
_CALL_ME = re.compile(
    rf"\b(?:calls? me|i go by|i(?:['’]m| am) known as) [\"“']?(?P<name>{_NAME}?)[\"”']?{_STOP}",
    re.IGNORECASE,
)
_GOES_BY = re.compile(
    rf"\b(?:goes by|known as|aka|a\.k\.a\.|nicknamed) [\"“']?(?P<name>{_NAME}?)[\"”']?{_STOP}",
    re.IGNORECASE,
)
_IN_BRACKETS = re.compile(rf"[(\"“](?P<name>{_NAME})[)\"”]")
#: Who is spoken of, right before a nickname; the text is cut to a few words first.
_NAMED_BEFORE = re.compile(
    rf"(?P<related>\b[^\W\d_]{{1,20}},? )?\b(?P<of>{_FULL_NAME}) (?:is )?(?:also |usually )?[(]?\Z"
)
_WINDOW = 60

#: A name is introduced only in a text with one of these words, or with brackets.
TRIGGERS = word_set(
    "name name's i'm i call calls go goes this known aka nicknamed here speaking calling"
)
_NOT_NAMES = (
    FUNCTION_WORDS | PHATIC | STARTERS | CONCEPTS | PLACES | EVENTS | ORGANISATIONS
    | frozenset(MONTHS) | frozenset(WEEKDAYS) | RELATIONS
)  # fmt: skip


def find_introductions(tokens: Tokens, spans: list[tuple[int, int]]) -> list[Introduction]:
    """Return who says, in one of these sentences, what they or another are called."""
    text = tokens.text
    if TRIGGERS.isdisjoint(tokens.lowers) and "(" not in text:
        return []
    found: list[Introduction] = []
    for start, end in spans:
        for item in _in_sentence(text[start:end]):
            first, last = item.start + start, item.end + start
            found.append(Introduction(first, last, item.name, item.kind, item.of))
    return found


def _in_sentence(sentence: str) -> list[Introduction]:
    found: list[Introduction] = []
    lower = sentence.lower()
    if "name" in lower:
        _own(_NAME_IS, sentence, "name", found, whole=False)
    if "i'm" in lower or "i’m" in lower or "i am" in lower:
        _own(_I_AM, sentence, "name", found)
    if "this is" in lower or "it's" in lower or "it’s" in lower:
        _own(_HERE, sentence, "name", found)
    if " me " in lower or "go by" in lower or "known as" in lower:
        _own(_CALL_ME, sentence, "nickname", found)
    if (
        "goes by" in lower
        or "known as" in lower
        or "aka" in lower
        or "a.k.a" in lower
        or "nicknamed" in lower
    ):
        _others(_GOES_BY, sentence, False, found)
    if "(" in lower:
        _others(_IN_BRACKETS, sentence, True, found)
    return sorted(found, key=lambda item: item.start) if len(found) > 1 else found


def _own(
    pattern: re.Pattern[str],
    sentence: str,
    kind: Literal["name", "nickname"],
    found: list[Introduction],
    whole: bool = True,
) -> None:
    """Names the speaker gives as their own; `whole` if all words matched must be a name."""
    for match in pattern.finditer(sentence):
        name = _leading_name(match["name"], any_case=not whole)
        if name and (not whole or name == match["name"]):
            start = match.start("name")
            found.append(Introduction(start, start + len(name), name, kind))


def _others(
    pattern: re.Pattern[str], sentence: str, bracketed: bool, found: list[Introduction]
) -> None:
    """Nicknames of somebody who is named right before."""
    for match in pattern.finditer(sentence):
        name = _leading_name(match["name"])
        before = sentence[max(0, match.start() - _WINDOW) : match.start()]
        named = _NAMED_BEFORE.search(before)
        if not name or name != match["name"] or named is None:
            continue
        words = named["of"].split(" ")
        related = (named["related"] or "").strip(" ,").lower()
        while words and (not words[0][0].isupper() or words[0].lower() in _NOT_NAMES):
            related = words.pop(0).lower()
        if not words or not all(word[0].isupper() for word in words):
            continue
        # Brackets hold many things: a nickname only after "my sister Katherine".
        if bracketed and related not in RELATIONS:
            continue
        found.append(
            Introduction(match.start("name"), match.end("name"), name, "nickname", " ".join(words))
        )


def _leading_name(words: str, any_case: bool = False) -> str:
    """The part of `words` that is a name: capitalised words that mean nothing else."""
    kept: list[str] = []
    for word in words.split(" "):
        lower = word.lower().rstrip(".")
        known = lower in _NOT_NAMES and not (kept and word[0].isupper())
        capital = word[0].isupper() and (len(word) == 1 or not word.isupper() or bool(kept))
        if known or lower.endswith(("'s", "’s")) or not (capital or (any_case and not kept)):
            if lower.endswith(("'s", "’s")):
                return ""
            break
        kept.append(word)
    return " ".join(kept).rstrip(".-'’")
