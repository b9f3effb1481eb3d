"""The origin and words of a record, and whether a name stands in its words."""

from __future__ import annotations

import re
import unicodedata
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import (
    Content,
    CreateMentalModel,
    Event,
    Park,
    ProposeMerge,
    UpdateMentalModel,
)
from recollect.schemas.names import normalise_name
from recollect.schemas.times import parse_time

if TYPE_CHECKING:
    from recollect.streams.language.grammar.analysis import Mention


#: How a mental model says on which event it rests, among its tags; with that event it is erased.
RESTS_ON = "from:"


class Criteria(msgspec.Struct, frozen=True, kw_only=True):
    """Criteria that all records to erase must fit. Times are unix ms, both exclusive."""

    entity: str | None = None
    sender: str | None = None
    thread: str | None = None
    platform: str | None = None
    after: int | None = None
    before: int | None = None

    @property
    def given(self) -> bool:
        """Whether there is a criterion; a platform alone is not enough."""
        return msgspec.structs.replace(self, platform=None) != Criteria()


class RecordContent(NamedTuple):
    """The origin of a record, and its words."""

    platform: str | None
    sender: str | None
    thread: str | None
    at: int
    words: str
    entities: frozenset[str]

    def fits(self, criteria: Criteria) -> bool:
        """Return whether all criteria except the entity fit."""
        return (
            criteria.platform in (None, self.platform)
            and criteria.sender in (None, self.sender)
            and criteria.thread in (None, self.thread)
            and (criteria.after is None or self.at > criteria.after)
            and (criteria.before is None or self.at < criteria.before)
        )


def content_of(event: Event) -> RecordContent:
    """Return the origin and words of an event, also of one that could not be read."""
    payload = event.payload
    said = RecordContent(event.platform, None, None, event.occurred_at, "", frozenset())
    if isinstance(payload, Content):
        words = f"{payload.sender_name or ''} {payload.content}"
        return said._replace(sender=payload.sender_id, thread=payload.thread_id, words=words)
    if isinstance(payload, Park):
        body = body_of(payload)
        at = event.occurred_at
        # Its time may be invalid; then the time of its arrival counts.
        with suppress(InvalidInput, TypeError):
            at = parse_time(body.get("occurred_at", at))[0]
        return RecordContent(
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
    """Return the object in a parked record; empty if there is none."""
    try:
        body = msgspec.json.decode(park.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def text_or_none(value: Any) -> str | None:
    """Return the value if it is a text, else None."""
    return value if isinstance(value, str) else None


class Names:
    """Normalised names, and whether they stand in a text."""

    def __init__(self, names: set[str]) -> None:
        self.all = names
        # A single word may be an ordinary word; "Bob Stone" and "bob_77" are certainly names.
        words = {name for name in names if name.isalpha()}
        self._certain = _standing(names - words)
        self._words = _standing(words)
        # Words that are names in any position: "Marta", not "Will".
        self._clear = {name for name in words if _mentioned(name.title())}

    def stand_in(self, text: str) -> bool:
        """Return whether one of the names stands in a text, as a name.

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
    # Imported here: only forgetting needs it, and recall loads this module too.
    from recollect.streams.language.names.mentions import mentions

    return mentions(text)


def _standing(names: set[str]) -> re.Pattern[str] | None:
    """Return a pattern that finds names as whole words; None without names."""
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    words = "|".join(re.escape(name) for name in longest_first)
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE) if names else None


def _goes_on_before(text: str, place: int) -> bool:
    """Return whether a word is inside a sentence, so that its capital means a name."""
    before = text[:place].rstrip(" \"'(\u201c\u2018")
    return bool(before) and before[-1] not in ".!?:;\u2026"
