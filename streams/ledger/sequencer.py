"""The sequencer: decides for each draft whether it is new, a duplicate or a conflict.

Only the sequencer numbers, chains and seals events. It has no state of its own: the ledger gives it
the zone's head and looks up known events.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

import msgspec

from recollect.schemas.errors import NewerFormat
from recollect.schemas.events import (
    AnyPayload,
    Attachment,
    Changeable,
    ChangingDraft,
    Content,
    Deletion,
    Draft,
    Edit,
    Event,
    GrowingDraft,
    Message,
    Remember,
    TurnCompleted,
)
from recollect.schemas.ids import event_id
from recollect.schemas.ledger.records import read_event, record_hash, unseal_event, write_event
from recollect.schemas.ledger.seal import event_key, source_digest
from recollect.schemas.wire import Receipt
from recollect.streams.ledger.ledger import Head, KeyStore
from recollect.streams.ledger.same_record import place_of, same_record


class Sequenced(msgspec.Struct, frozen=True):
    """A new event's record, and its key, which must be stored durably before the record."""

    number: int
    source: bytes
    key_id: bytes
    key: bytes
    value: bytes


class KnownEvent(msgspec.Struct, frozen=True):
    """An event of the ledger, looked up by its source id.

    `event` is None if the event was erased. It is also None if only a newer program can read the
    event; then `unknown` is True.
    """

    number: int
    event: Event | None
    unknown: bool = False


def known_event(value: bytes, keys: KeyStore) -> KnownEvent:
    """Return the event of an accepted record."""
    envelope, record = read_event(value)
    key = keys.get([envelope.key_id]).get(envelope.key_id)
    if key is None:
        return KnownEvent(envelope.number, None)
    try:
        return KnownEvent(envelope.number, unseal_event(envelope, record, key))
    except (KeyError, NewerFormat):
        return KnownEvent(envelope.number, None, unknown=True)


#: Kinds of events whose text may grow, and the fields that stay the same meanwhile.
_GROWING = (Message, TurnCompleted)


class _Known(msgspec.Struct, frozen=True):
    """The event of the ledger, or the draft of this batch, that has a given source id.

    `event` is None as in `KnownEvent`.
    """

    number: int
    event: Draft | Event | None
    unknown: bool = False


#: The words of a text, and what it quotes.
_Text = tuple[str, tuple[Attachment, ...]]
#: Looks up an event by its platform and source id.
_Find = Callable[[str, str], _Known | None]


def sequence(
    zone: str,
    drafts: Sequence[Draft],
    head: Head,
    *,
    secret: bytes,
    now: int,
    find_known: Callable[[bytes], KnownEvent | None],
) -> tuple[list[Receipt], list[Sequenced], Head]:
    """Return receipts for all drafts, the records to append, and the zone's head after them.

    `find_known` looks up an event by the keyed hash of its source id. `now` (unix ms) is the
    ingested_at of drafts that give none. It also replaces a later ingested_at, which would delay
    the time from which all following events count as known.
    """
    receipts: list[Receipt] = []
    records: list[Sequenced] = []
    in_batch: dict[bytes, _Known] = {}
    earlier_texts: dict[tuple[str, str], _EarlierTexts] = defaultdict(_EarlierTexts)
    number, previous = head.number, head.hash

    def find(platform: str, source_id: str) -> _Known | None:
        source = source_digest(secret, zone, platform, source_id)
        if source not in in_batch and (found := find_known(source)) is not None:
            return _Known(found.number, found.event, unknown=found.unknown)
        return in_batch.get(source)

    def append(draft: Draft) -> bool:
        """Append a draft's record; return whether its `ingested_at` was in the future."""
        nonlocal number, previous
        number += 1
        claimed = now if draft.ingested_at is None else draft.ingested_at
        source = source_digest(secret, zone, draft.platform, draft.payload.source_id)
        key_id, key = event_key(secret, zone, source)
        value = write_event(
            draft,
            zone=zone,
            number=number,
            previous=previous,
            ingested_at=min(claimed, now),
            source=source,
            key_id=key_id,
            key=key,
        )
        previous = record_hash(value)
        in_batch[source] = _Known(number, draft)
        records.append(Sequenced(number, source, key_id, key, value))
        return claimed > now

    for draft in drafts:
        given, known, ends_at = draft, find(draft.platform, draft.payload.source_id), None
        original = None if known is None else known.event
        if known is not None and original is not None:
            if isinstance(given, ChangingDraft):
                texts = earlier_texts[draft.platform, draft.payload.source_id]
                draft, known, ends_at = _revision(given, known, original, find, texts)
            elif isinstance(given, GrowingDraft) and (edit := _growth(given, original)):
                draft, known = edit, find(edit.platform, edit.payload.source_id)
        identity = event_id(zone, draft.platform, draft.payload.source_id, draft.occurred_at)
        if known is not None:
            same = _is_duplicate(draft, known)
            receipts.append(Receipt("duplicate" if same else "conflict", known.number, identity))
        else:
            is_clamped = append(draft)
            receipts.append(Receipt("new", number, identity, clamped=is_clamped))
        if ends_at is not None:
            for deletion in _surplus_parts(given, ends_at, find):
                append(deletion)
    return receipts, records, Head(number, previous)


def _is_duplicate(draft: Draft, known: _Known) -> bool:
    """Return whether a draft duplicates the known event; True if that event was erased."""
    if known.event is None:
        return not known.unknown
    now, before = draft.payload, known.event.payload
    if (
        isinstance(draft, ChangingDraft)
        and isinstance(now, Changeable)
        and isinstance(before, Changeable | Deletion)
        and place_of(now) == place_of(before)
    ):
        # A memory has its older texts.
        return isinstance(now, Remember) or _repeats(now, known)
    return draft.occurred_at == known.event.occurred_at and same_record(draft.platform, now, before)


class _EarlierTexts:
    """The versions of one text by their words. Versions are only added, so each is read once."""

    def __init__(self) -> None:
        self._read = 0
        self._by_text: dict[_Text, _Known] = {}
        self._erased: _Known | None = None

    def find(
        self, text: _Text, count: int, version: Callable[[int], _Known | None]
    ) -> _Known | None:
        """Return the first of `count` versions with a text, or else an erased one."""
        for number in range(self._read + 1, count + 1):
            self._read = number
            known = version(number)
            if known is None:
                continue
            if known.event is None:
                self._erased = self._erased or known
            elif isinstance(known.event.payload, Changeable):
                self._by_text.setdefault(_text(known.event.payload), known)
        return self._by_text.get(text, self._erased)


def _revision(
    draft: ChangingDraft,
    known: _Known,
    original: Draft | Event,
    find: _Find,
    texts: _EarlierTexts,
) -> tuple[Draft, _Known | None, int | None]:
    """Return a changed memory or note as an edit, or itself and the version that it repeats.

    The versions of a text are numbered: the known event is the first, and its edits follow. The
    third value is the time of the text (unix ms), or None if it is not the newest.
    """
    now, before = draft.payload, original.payload
    if not isinstance(now, Changeable) or not isinstance(before, Changeable):
        return draft, known, None
    if place_of(now) != place_of(before):
        # Another text that happens to have this id.
        return draft, known, None
    at = draft.occurred_at if now.revised_at is None else now.revised_at
    count, newest = _newest_version(draft, known, find)
    if newest.event is None:
        return draft, newest, None
    if _repeats(now, newest):
        return draft, newest, at
    known_at = _known_at(newest.event)
    is_later = at > known_at
    # Earlier builds named an edit by its text.
    digest = hashlib.sha256(now.content.encode() + _attachments_of(now)).hexdigest()[:16]
    by_text = find(draft.platform, f"{now.source_id}:changed:{digest}")
    if by_text is not None and not (is_later and count > 1):
        return draft, by_text, at if count == 1 else None
    if not is_later:
        earlier = texts.find(
            _text(now),
            count - 1,
            lambda version: (
                known if version == 1 else find(draft.platform, _version_id(now, version))
            ),
        )
        if earlier is not None:
            return draft, earlier, None
        if at < known_at or isinstance(now, Remember):
            return draft, known, None
    # A note may state an earlier time than its file did.
    said_at = max(draft.occurred_at, _said_at(newest.event))
    edited_at = max(at, newest.event.occurred_at)
    return _edit(draft, now, _version_id(now, count + 1), edited_at, said_at), None, at


def _known_at(version: Draft | Event) -> int:
    """Return the time of a version's text, as far as it is known."""
    if isinstance(version.payload, Changeable) and version.payload.revised_at is not None:
        return version.payload.revised_at
    # What is planned occurs after it is known.
    ingested_at = version.ingested_at
    return version.occurred_at if ingested_at is None else min(version.occurred_at, ingested_at)


def _said_at(version: Draft | Event) -> int:
    edited = version.payload.said_at if isinstance(version.payload, Edit) else None
    return version.occurred_at if edited is None else edited


def _newest_version(draft: ChangingDraft, known: _Known, find: _Find) -> tuple[int, _Known]:
    """Return the number of versions of the text with a draft's id, and the newest one."""

    def version(number: int) -> _Known | None:
        return find(draft.platform, _version_id(draft.payload, number))

    count, newest, step = 1, known, 1
    while (found := version(count + step)) is not None:
        count, newest, step = count + step, found, 2 * step
    while step > 1:
        step //= 2
        if (found := version(count + step)) is not None:
            count, newest = count + step, found
    return count, newest


def _version_id(payload: AnyPayload, number: int) -> str:
    return f"{payload.source_id}:changed:{number}"


def _repeats(now: Content, version: _Known) -> bool:
    """Return whether a version has the same text; an erased version may have any."""
    if version.event is None:
        return True
    before = version.event.payload
    return isinstance(before, Changeable) and _text(now) == _text(before)


def _surplus_parts(given: Draft, at: int, find: _Find) -> Iterator[Draft]:
    """Yield deletions of the parts that a long note had, and no longer has since `at` (unix ms).

    `given`: the note, or its last part.
    """
    payload = given.payload
    assert isinstance(given, ChangingDraft) and isinstance(payload, Content)
    part, count = (payload.metadata.get(name, 1) for name in ("part", "parts"))
    if not isinstance(count, int) or part != count:
        return
    note = payload.source_id.removesuffix(f":part:{part}")
    while count := count + 1:
        surplus = msgspec.structs.replace(
            given, payload=msgspec.structs.replace(payload, source_id=f"{note}:part:{count}")
        )
        first = find(given.platform, surplus.payload.source_id)
        if first is None:
            return
        versions, newest = _newest_version(surplus, first, find)
        if newest.event is None or not _is_part(newest.event.payload, count, payload):
            continue
        fields = {name: getattr(payload, name) for name in Content.__struct_fields__}
        fields |= {
            "source_id": _version_id(surplus.payload, versions + 1),
            "content": "",
            "attachments": (),
            "turn_id": None,
        }
        deletion = Deletion(**fields, target=surplus.payload.source_id)
        yield Draft(
            platform=given.platform,
            occurred_at=max(at, newest.event.occurred_at),
            payload=deletion,
            ingested_at=given.ingested_at,
        )


def _is_part(payload: AnyPayload, number: int, note: Content) -> bool:
    """Return whether a payload is the part with a number of a note, or of what it was before."""
    return (
        isinstance(payload, Changeable)
        and payload.metadata.get("part") == number
        and "parts" in payload.metadata
        and place_of(payload) == place_of(note)
    )


def _growth(draft: GrowingDraft, known: Draft | Event) -> Draft | None:
    """Return a message whose text has grown as an edit; a longer text gives a later edit."""
    now, before = draft.payload, known.payload
    if not isinstance(now, _GROWING) or not isinstance(before, _GROWING):
        return None
    same = draft.occurred_at == known.occurred_at and place_of(now) == place_of(before)
    if not same or not _has_more(now.content, before.content):
        return None
    digest = hashlib.sha256(now.content.encode()).hexdigest()[:16]
    at = draft.occurred_at + len(now.content)
    return _edit(draft, now, f"{now.source_id}:longer:{digest}", at, draft.occurred_at)


def _edit(draft: Draft, now: Content, source_id: str, at: int, said_at: int) -> Draft:
    """Return a draft's text as an edit at `at` (unix ms) of the event with its id."""
    fields = {name: getattr(now, name) for name in Content.__struct_fields__}
    fields |= {"source_id": source_id, "turn_id": None}
    target = now.target if isinstance(now, Edit) else now.source_id
    revised_at = now.revised_at if isinstance(now, Changeable) else None
    edit = Edit(**fields, target=target, said_at=said_at, revised_at=revised_at)
    return type(draft)(
        platform=draft.platform, occurred_at=at, payload=edit, ingested_at=draft.ingested_at
    )


def _attachments_of(content: Content) -> bytes:
    """Return what a note quotes, as earlier builds wrote it into the id of an edit."""
    if isinstance(content, Message) and content.attachments:
        return msgspec.json.encode(content.attachments)
    return b""


def _text(content: Content) -> _Text:
    """Return what may change in a source: the words of a memory or note, and what a note quotes."""
    return content.content, () if isinstance(content, Remember) else content.attachments


def _has_more(text: str, before: str) -> bool:
    """Return whether a text is `before` with further characters inserted or appended."""
    if len(text) <= len(before):
        return False
    remaining = iter(text)
    return all(character in remaining for character in before)
