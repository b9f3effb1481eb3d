"""What a record says of where it came from, and whether somebody's name stands in its words."""

from __future__ import annotations

import re
import unicodedata
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from schemas.errors import InvalidInput
from schemas.events import (
    Content,
    CreateMentalModel,
    Event,
    Park,
    ProposeMerge,
    UpdateMentalModel,
)
from schemas.names import normalise_name
from schemas.times import parse_time

if TYPE_CHECKING:
    from streams.language.analysis import Mention


#: How a mental model says on which event it rests, among its tags; with that event it is erased.
RESTS_ON = "from:"


class Criteria(msgspec.Struct, frozen=True, kw_only=True):
    """What all records have in common that are to go. Times are unix ms, neither included."""

    entity: str | None = None
    sender: str | None = None
    thread: str | None = None
    platform: str | None = None
    after: int | None = None
    before: int | None = None

    @property
    def given(self) -> bool:
        """Whether anything is said; a platform alone says too little."""
        return msgspec.structs.replace(self, platform=None) != Criteria()


class Said(NamedTuple):
    """What a record says of where it came from, and its words."""

    platform: str | None
    sender: str | None
    thread: str | None
    at: int
    words: str
    entities: frozenset[str]

    def fits(self, criteria: Criteria) -> bool:
        """Return whether all criteria but the entity apply."""
        return (
            criteria.platform in (None, self.platform)
            and criteria.sender in (None, self.sender)
            and criteria.thread in (None, self.thread)
            and (criteria.after is None or self.at > criteria.after)
            and (criteria.before is None or self.at < criteria.before)
        )


def said_in(event: Event) -> Said:
    """Return who said what, where and when in an event, also in one that could not be read."""
    payload = event.payload
    said = Said(event.platform, None, None, event.occurred_at, "", frozenset())
    if isinstance(payload, Content):
        words = f"{payload.sender_name or ''} {payload.content}"
        return said._replace(sender=payload.sender_id, thread=payload.thread_id, words=words)
    if isinstance(payload, Park):
        body = body_of(payload)
        at = event.occurred_at
        # What it says of its time may be no time; then it is when it came.
        with suppress(InvalidInput, TypeError):
            at = parse_time(body.get("occurred_at", at))[0]
        return Said(
            text_or_none(body.get("platform")),
            text_or_none(body.get("sender_id")),
            text_or_none(body.get("thread_id")),
            at,
            payload.body.decode(errors="replace"),
            frozenset(),
        )
    if isinstance(payload, CreateMentalModel):
        about = frozenset([payload.entity_id] if payload.entity_id else [])
        return said._replace(words=f"{payload.name}: {payload.description}", entities=about)
    if isinstance(payload, UpdateMentalModel):
        return said._replace(words=payload.description)
    if isinstance(payload, ProposeMerge):
        about = frozenset([payload.entity_a, payload.entity_b])
        return said._replace(words=payload.reason, entities=about)
    return said


def body_of(park: Park) -> dict[str, Any]:
    """Return the object that a parked record holds; empty where it holds none."""
    try:
        body = msgspec.json.decode(park.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def text_or_none(value: Any) -> str | None:
    """Return a value that is a text; None for any other."""
    return value if isinstance(value, str) else None


class Names:
    """Normalised names, and whether they stand in a text."""

    def __init__(self, names: set[str]) -> None:
        self.all = names
        # A word alone may be no name; "Bob Stone" and "bob_77" are nothing else.
        words = {name for name in names if name.isalpha()}
        self._certain = _standing(names - words)
        self._words = _standing(words)
        # Those that are read as a name wherever they stand: "Marta", not "Will".
        self._clear = {name for name in words if _mentioned(name.title())}

    def stand_in(self, text: str) -> bool:
        """Return whether one of them stands in a text, as a name.

        A single word must be written as one: with a capital where no sentence begins, unless the
        writer reads it as a name there too; or all in lower case, where it means nothing else.
        """
        text = " ".join(unicodedata.normalize("NFKC", text).replace("\u2019", "'").split())
        if self._certain is not None and self._certain.search(text):
            return True
        found = [] if self._words is None else list(self._words.finditer(text))
        if not found:
            return False
        read = _mentioned(text)
        if any(normalise_name(mention.text) in self.all for mention in read):
            return True
        lower = text == text.lower()
        return any(
            normalise_name(word[0]) in self._clear
            if lower
            else word[0][:1].isupper() and _goes_on_before(text, word.start())
            for word in found
            if not any(mention.start <= word.start() < mention.end for mention in read)
        )


def _mentioned(text: str) -> list[Mention]:
    # Only who forgets reads names this way, and who asks loads this module too.
    from streams.language.mentions import mentions

    return mentions(text)


def _standing(names: set[str]) -> re.Pattern[str] | None:
    """Return what finds names as whole words; None where there are none."""
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    words = "|".join(re.escape(name) for name in longest_first)
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE) if names else None


def _goes_on_before(text: str, place: int) -> bool:
    """Return whether a sentence goes on before a word, so that its capital says something."""
    before = text[:place].rstrip(" \"'(\u201c\u2018")
    return bool(before) and before[-1] not in ".!?:;\u2026"
