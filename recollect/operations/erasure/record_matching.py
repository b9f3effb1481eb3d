"""Matching of records for erasure: by origin and time, and by names in their text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Set
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import (
    CompleteTrajectory,
    Content,
    CreateMentalModel,
    CreatePlaybook,
    Event,
    GiveFeedback,
    LogStep,
    Park,
    ProposeMerge,
    StartTrajectory,
    UpdateMentalModel,
    UpdatePlaybook,
)
from recollect.schemas.names import normalise_name
from recollect.schemas.times import parse_time

if TYPE_CHECKING:
    from recollect.streams.language.grammar.analysis import Mention


#: A platform and a sender's id there; None stands for any.
Account = tuple[str | None, str | None]

#: The prefix of a mental model's tags that name its source events; erasing any of these events
#: erases the model.
SOURCE_TAG_PREFIX = "from:"


class Criteria(msgspec.Struct, frozen=True, kw_only=True):
    """Criteria that a record must match to be erased. Times are unix ms, and exclusive."""

    entity: str | None = None
    sender: str | None = None
    thread: str | None = None
    platform: str | None = None
    after: int | None = None
    before: int | None = None

    @property
    def has_criterion(self) -> bool:
        """Whether there is a criterion; a platform alone does not count."""
        return msgspec.structs.replace(self, platform=None) != Criteria()


class RecordContent(NamedTuple):
    """The origin of a record, its text, and the ids of entities in its fields."""

    platform: str | None
    sender: str | None
    thread: str | None
    at: int
    words: str
    entities: frozenset[str]

    def matches(self, criteria: Criteria, accounts: Set[Account]) -> bool:
        """Return whether one of these accounts wrote the record, and its thread and time match."""
        return (
            any(
                platform in (None, self.platform) and sender in (None, self.sender)
                for platform, sender in accounts
            )
            and criteria.thread in (None, self.thread)
            and (criteria.after is None or self.at > criteria.after)
            and (criteria.before is None or self.at < criteria.before)
        )


def content_of(event: Event) -> RecordContent:
    """Return the origin and text of an event, or of the invalid input in a parked record."""
    payload = event.payload
    content = RecordContent(event.platform, None, None, event.occurred_at, "", frozenset())
    if isinstance(payload, Content):
        words = f"{payload.sender_name or ''} {payload.content}"
        return content._replace(sender=payload.sender_id, thread=payload.thread_id, words=words)
    if isinstance(payload, Park):
        body = parked_body(payload)
        at = event.occurred_at
        # If the input's own time is invalid, its time of arrival is used.
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
        return content._replace(words=f"{payload.name}: {payload.description}", entities=about)
    if isinstance(payload, UpdateMentalModel):
        return content._replace(words=payload.description)
    if isinstance(payload, StartTrajectory | LogStep | CompleteTrajectory | GiveFeedback):
        return content._replace(words=_words_of_trajectory(payload))
    if isinstance(payload, CreatePlaybook | UpdatePlaybook):
        return content._replace(words=_words_of_playbook(payload))
    if isinstance(payload, ProposeMerge):
        about = frozenset([payload.entity_a, payload.entity_b])
        return content._replace(words=payload.reason, entities=about)
    return content


def _words_of_trajectory(
    payload: StartTrajectory | LogStep | CompleteTrajectory | GiveFeedback,
) -> str:
    match payload:
        case StartTrajectory(task=task, metadata=metadata, agent_id=agent):
            return f"{task}\n{agent or ''}\n{msgspec.json.encode(metadata).decode()}"
        case LogStep(content=content, tool=tool):
            return f"{content}\n{tool or ''}"
        case CompleteTrajectory(error_message=error):
            return error or ""
        case GiveFeedback(comment=comment):
            return comment or ""


def _words_of_playbook(payload: CreatePlaybook | UpdatePlaybook) -> str:
    if isinstance(payload, UpdatePlaybook):
        return "\n".join(each.text for each in payload.add)
    owners = f"{payload.agent_id or ''}\n{payload.user_id or ''}"
    texts = [each.text for each in payload.strategies]
    return "\n".join((payload.name, payload.description, owners, *texts))


def parked_body(park: Park) -> dict[str, Any]:
    """Return the JSON object in a parked record; empty if it contains none."""
    try:
        body = msgspec.json.decode(park.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def text_or_none(value: Any) -> str | None:
    """Return the value if it is a string, else None."""
    return value if isinstance(value, str) else None


class Names:
    """The normalised names of an entity, and a search for them in texts."""

    def __init__(self, names: set[str]) -> None:
        self.all = names
        # A single word may be an ordinary word; "Bob Stone" and "bob_77" are certainly names.
        words = {name for name in names if name.isalpha()}
        self._unambiguous = _whole_words(names - words)
        self._words = _whole_words(words)
        # Words that are names in any position: "Marta", not "Will".
        self._certain_words = {name for name in words if _mentions_in(name.title())}

    def is_certain(self, word: str) -> bool:
        """Return whether a word that is one of the names can only be a name."""
        return normalise_name(word) in self._certain_words

    def occur_in(self, text: str) -> bool:
        """Return whether a text contains one of the names, used as a name.

        A single word counts if mention detection finds it; if it is capitalised inside a sentence;
        or, in a text all in lower case, if it has no other meaning.
        """
        text = " ".join(unicodedata.normalize("NFKC", text).replace("\u2019", "'").split())
        if self._unambiguous is not None and self._unambiguous.search(text):
            return True
        matches = [] if self._words is None else list(self._words.finditer(text))
        if not matches:
            return False
        mentions = _mentions_in(text)
        if any(normalise_name(mention.text) in self.all for mention in mentions):
            return True
        is_lower = text == text.lower()
        return any(
            self.is_certain(word[0])
            if is_lower
            else word[0][:1].isupper() and _is_inside_sentence(text, word.start())
            for word in matches
            if not any(mention.start <= word.start() < mention.end for mention in mentions)
        )


def _mentions_in(text: str) -> list[Mention]:
    # Imported here: only forgetting needs it, and recall loads this module too.
    from recollect.streams.language.names.mentions import mentions

    return mentions(text)


def _whole_words(names: set[str]) -> re.Pattern[str] | None:
    """Return a pattern that finds names as whole words; None without names."""
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    words = "|".join(re.escape(name) for name in longest_first)
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE) if names else None


def _is_inside_sentence(text: str, start: int) -> bool:
    """Return whether the word at `start` is not the first of its sentence."""
    before = text[:start].rstrip(" \"'(\u201c\u2018")
    return bool(before) and before[-1] not in ".!?:;\u2026"
