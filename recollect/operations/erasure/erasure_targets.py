"""Which records an erasure takes: those that are named, or that fit all criteria."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cached_property
from typing import NamedTuple

from recollect.operations.answers.suggestions import unknown_entity
from recollect.operations.erasure.record_matching import (
    RESTS_ON,
    Criteria,
    Names,
    RecordContent,
    body_of,
    content_of,
    text_or_none,
)
from recollect.projections.events import event_queries as events
from recollect.projections.files import ZoneFiles
from recollect.projections.identity import entities_for_recall
from recollect.projections.identity import entity_queries as identity
from recollect.projections.memory import memory_queries as memory
from recollect.projections.recall.question.entity_names import entity_ids, resolve
from recollect.schemas.errors import InvalidInput, UnknownId
from recollect.schemas.events import (
    KINDS,
    RESERVED_PLATFORM,
    CloseTurn,
    Content,
    Forget,
    Park,
    TurnCompleted,
)
from recollect.schemas.ids import turn_row_id
from recollect.schemas.ledger.seal import source_digest
from recollect.schemas.names import normalise_name
from recollect.streams.ledger import Ledger
from recollect.streams.records.chain_readers import NEVER_ERASED
from recollect.streams.records.erased_keys import unexplained_missing_keys
from recollect.streams.records.lookup import (
    SealedRecord,
    all_records,
    record_of,
    records_at,
    records_of_kind,
)

# Kinds of record that have only numbers and derived ids, no words of anybody.
_WORDLESS = frozenset(
    {
        *("forget", "recalled", "tick", "retry", "drop", "decide_merge", "undo_merge"),
        *("set_memory_state", "switch", "skip_record", "close_turn"),
    }
)
# Kinds that have words and may be missing in events.db.
_ASIDE = (
    *("turn_completed", "park", "create_mental_model", "update_mental_model", "propose_merge"),
    *("deletion", "reaction", "notice"),
)
_NUMBER = re.compile(r"#([0-9]{1,15})")
_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


class Named(NamedTuple):
    """The records that an id stands for, or that it stood for before they were forgotten.

    `known`: this id was given in an earlier erasure.
    """

    numbers: set[int]
    erased: frozenset[int] = frozenset()
    known: bool = False

    @property
    def any(self) -> bool:
        """Whether there is or was anything."""
        return bool(self.numbers or self.erased or self.known)


def hashed(ledger: Ledger, zone: str, id_: str) -> bytes:
    """Return the keyed hash under which an erasure notes an id of its request."""
    return source_digest(ledger.keys.secret, zone, RESERVED_PLATFORM, f"forgotten:{id_}")


def lost_among(ledger: Ledger, zone: str, ids: Sequence[str]) -> dict[str, int]:
    """Return the records among `ids` (`#` and a number) whose keys are lost, not erased.

    The zone stops at the first of them, so its files cannot be used.

    Raises:
        InvalidInput: one of them cannot be erased.
    """
    numbers = {id_: int(match[1]) for id_ in ids if (match := _NUMBER.fullmatch(id_))}
    records = records_at(ledger, zone, numbers.values())
    missing = [number for number, record in records.items() if not record.readable(ledger.keys)]
    lost = unexplained_missing_keys(ledger, zone, missing)
    for number in lost:
        if (kind := records[number].envelope.kind) in NEVER_ERASED:
            raise InvalidInput(
                f"record #{number} is a {kind}, which nothing can take back, and its key is lost: "
                "restore the keys from a backup that has it"
            )
    return {id_: number for id_, number in numbers.items() if number in lost}


class Chooser:
    """Finds records in the files of a zone and in its ledger, which are at the same record."""

    def __init__(self, ledger: Ledger, zone: str, files: ZoneFiles) -> None:
        self._ledger = ledger
        self._zone = zone
        self._events = files.events.connection
        self._memory = files.memory.connection
        self._identity = files.identity.connection

    # By an id

    def named(self, id_: str, platform: str | None) -> Named:
        """Return the records for any id that recollect or a source gave.

        A record's number after a #; the id of an event, a fact, an observation or a mental model;
        a source's own id. With a platform, its own id comes first.

        Raises:
            InvalidInput: there is none, or events of several platforms have this id.
        """
        number = _NUMBER.fullmatch(id_)
        if number is not None and platform is None:
            return self._numbered(int(number[1]))
        # With a platform the source's id comes first, else ours. So nobody can give an event the id
        # of another one and have that erased.
        found = self._derived(id_) if platform is None else self._called(id_, platform)
        if not found.any:
            found = self._called(id_, None) if platform is None else self._derived(id_)
        if not found.any:
            found = self._aside_named(id_, platform)
        if found.any:
            return found
        where = f" of platform {platform}" if platform else ""
        if self.meant(id_) is not None:
            raise InvalidInput(
                f"zone {self._zone} holds no event {id_!r}{where}, but somebody or something that "
                f"is called so; to forget that, use --entity"
            )
        raise UnknownId(f"zone {self._zone} holds no event {id_!r}{where}")

    def _numbered(self, number: int) -> Named:
        record = records_at(self._ledger, self._zone, {number}).get(number)
        if record is None:
            raise InvalidInput(f"zone {self._zone} has no record #{number}")
        if record.envelope.kind in _WORDLESS:
            raise InvalidInput(
                f"record #{number} is a {record.envelope.kind}: it holds nothing that anybody wrote"
            )
        if record.readable(self._ledger.keys):
            return Named({number})
        return Named(set(), frozenset({number}))

    def _derived(self, id_: str) -> Named:
        ids = [id_, *memory.events_of(self._memory, id_)]
        numbers = {item.number for item in events.by_ids(self._events, ids)}
        return Named(numbers | set(memory.records_of_models(self._memory, ids=[id_])))

    def _called(self, source_id: str, platform: str | None) -> Named:
        """Return the records with a source id; those without a row are looked up by the files'
        platforms.
        """
        found = {
            item.platform: item.number
            for item in events.by_source_id(self._events, source_id, platform)
        }
        if found:
            return self._one_platform(source_id, found)
        known = [platform] if platform else self._platforms
        return self._under(source_id, known)

    @cached_property
    def _platforms(self) -> list[str]:
        names = {RESERVED_PLATFORM, *events.platforms(self._events)}
        return sorted(names | set(memory.turn_platforms(self._memory)))

    def _under(self, source_id: str, platforms: Iterable[str]) -> Named:
        found: dict[str, int] = {}
        erased = set()
        for platform in platforms:
            record = record_of(self._ledger, self._zone, platform, source_id)
            if record is not None and record.envelope.kind not in _WORDLESS:
                if record.readable(self._ledger.keys):
                    found[platform] = record.envelope.number
                else:
                    erased.add(record.envelope.number)
        if found:
            return self._one_platform(source_id, found)
        return Named(set(), frozenset(erased))

    def _one_platform(self, source_id: str, found: dict[str, int]) -> Named:
        if len(found) > 1:
            raise InvalidInput(
                f"{source_id!r} is an event of {', '.join(sorted(found))}; say which with "
                "--platform"
            )
        return Named(set(found.values()))

    def _aside_named(self, id_: str, platform: str | None) -> Named:
        """Return records that neither the files nor their platforms name, from the ledger."""
        if platform is None:
            found = self._under(id_, sorted(self._all_platforms - set(self._platforms)))
            if found.any:
                return found
        if _ULID.fullmatch(id_):
            at = sum(
                _CROCKFORD.index(sign) << 45 - 5 * place for place, sign in enumerate(id_[:10])
            )
            for record in self._aside:
                if record.envelope.occurred_at == at:
                    event = record.open(self._ledger.keys)
                    if event is not None and event.id == id_:
                        return Named({event.number})
        # An id given by recollect has no platform.
        ours = platform is None or _ULID.fullmatch(id_) is not None
        return Named(set(), known=ours and self.was_forgotten(id_))

    def was_forgotten(self, id_: str) -> bool:
        """Return whether this id was given in an earlier erasure."""
        name = hashed(self._ledger, self._zone, id_)
        return any(name in forgets.names for forgets in self._erasures())

    def _erasures(self) -> Iterator[Forget]:
        for record in records_of_kind(self._ledger, self._zone, "forget"):
            event = record.open(self._ledger.keys)
            if event is not None and isinstance(event.payload, Forget):
                yield event.payload

    @cached_property
    def _aside(self) -> list[SealedRecord]:
        """The records with words that may be missing in events.db, also of unknown kinds."""
        unknown = [
            letter.number
            for letter in memory.dead_letters(self._memory, None)
            if letter.kind not in KINDS
        ]
        found = list(records_at(self._ledger, self._zone, unknown).values())
        for kind in _ASIDE:
            found += records_of_kind(self._ledger, self._zone, kind)
        return found

    @cached_property
    def _all_platforms(self) -> set[str]:
        """The platforms of all records, also of erased ones."""
        return {record.envelope.platform for record in all_records(self._ledger, self._zone)}

    # By what is said of them

    def fitting(self, criteria: Criteria) -> set[int]:
        """Return the records that fit all criteria.

        Raises:
            InvalidInput: several have the entity's name, or none has.
        """
        meant = None
        if criteria.entity is not None:
            meant = self.meant(criteria.entity)
            if meant is None:
                raise InvalidInput(unknown_entity(self._identity, criteria.entity))
        found = set(
            events.numbers_matching(
                self._events,
                sender=criteria.sender,
                platform=criteria.platform,
                thread=criteria.thread,
                after=criteria.after,
                before=criteria.before,
            )
        )
        if meant is not None:
            found &= meant.numbers
        for record in self._aside:
            if not record.readable(self._ledger.keys):
                continue
            event = record.open(self._ledger.keys)
            said = RecordContent(None, None, None, record.envelope.occurred_at, "", frozenset())
            if event is not None:
                said = content_of(event)
            if said.fits(criteria) and (
                meant is None
                or meant.concerns(said)
                or (event is not None and event.id in meant.event_ids)
                or record.envelope.number in meant.numbers
            ):
                found.add(record.envelope.number)
        return found

    def meant(self, name_or_id: str) -> Meant | None:
        """Return the entity that a name or an id means; None if there is none.

        Raises:
            InvalidInput: several have it.
        """
        entities = resolve(self._identity, name_or_id)
        entities = entities or resolve(self._identity, normalise_name(name_or_id))
        if len(entities) > 1:
            listed_ = "; ".join(self._described(entity.id) for entity in entities)
            raise InvalidInput(
                f"{name_or_id!r} is the name of {len(entities)}; give the id of one: {listed_}"
            )
        return self._meant(entity_ids(self._identity, entities)) if entities else None

    def _described(self, entity_id: str) -> str:
        entity = identity.canonical(self._identity, entity_id)
        assert entity is not None
        handles = entities_for_recall.senders(
            self._identity, sorted(entity_ids(self._identity, [entity]))
        )
        known_as = ", ".join(f"{platform} {handle}" for platform, handle in sorted(handles))
        return f"{entity.id} ({entity.type}{', ' if known_as else ''}{known_as})"

    def _meant(self, ids: set[str]) -> Meant:
        known = sorted(ids)
        senders = entities_for_recall.senders(self._identity, known)
        event_ids = set(entities_for_recall.events_mentioning(self._identity, known))
        about = memory.facts_about(self._memory, known)
        event_ids |= set(memory.events_of_facts(self._memory, about))
        numbers = {item.number for item in events.by_ids(self._events, sorted(event_ids))}
        for platform, handle in senders:
            numbers |= set(events.numbers_matching(self._events, sender=handle, platform=platform))
        numbers |= set(memory.models_about(self._memory, known))
        meant = Meant(ids, senders, event_ids, numbers, Names(self._names_of(ids)))
        for name in sorted(meant.names.all):
            for number, _, words in events.containing_phrase(self._events, name):
                if number not in numbers and meant.names.stand_in(words):
                    numbers.add(number)
        return meant

    def _names_of(self, ids: set[str]) -> set[str]:
        """Return the normalised names that no other entity has."""
        written = identity.all_names(self._identity, sorted(ids))
        names = {normalise_name(name) for name in written}
        return {name for name in names if name and self._means_only(name, ids)}

    def _means_only(self, name: str, ids: set[str]) -> bool:
        others = identity.entities_named(self._identity, name)
        others += identity.persons_with_first_name(self._identity, name)
        return all(other.id in ids for other in others)

    # What goes with them

    def with_all(self, numbers: Set[int]) -> set[int]:
        """Return records with those that must be erased with them.

        That is every version of a message and of a mental model, the reports that quote an event,
        what was parked because it said something else under the id of an event, and our own
        command that ended a turn of which nothing is left.
        """
        numbers = {*numbers, *events.version_numbers(self._events, sorted(numbers))}
        found = self._with_models(numbers)
        written = events.by_numbers(self._events, sorted(found))
        names = {(item.platform, item.source_id) for item in written}
        without_rows = found - {item.number for item in written}
        for record in records_at(self._ledger, self._zone, without_rows).values():
            event = record.open(self._ledger.keys)
            if event is not None and isinstance(event.payload, Content):
                names.add((event.platform, event.payload.source_id))
        parks = set(memory.park_records(self._memory)) - found
        for number, record in records_at(self._ledger, self._zone, parks).items():
            event = record.open(self._ledger.keys)
            if event is not None and isinstance(event.payload, Park):
                body = body_of(event.payload)
                if (text_or_none(body.get("platform")), text_or_none(body.get("id"))) in names:
                    found.add(number)
        for platform, turn_id in {(item.platform, item.turn_id) for item in written}:
            if turn_id is not None:
                said = events.numbers_of_turn(self._events, platform, turn_id)
                if found.issuperset(said):
                    found |= self._ends_of(platform, turn_id, said)
        return found

    def _with_models(self, numbers: Set[int]) -> set[int]:
        """Return records with all versions of the mental models among them or made of them."""
        found, more = set[int](), set(numbers)
        while not more <= found:
            found |= more
            known = sorted(found)
            ids = [item.id for item in events.by_numbers(self._events, known)]
            ids += memory.model_ids(self._memory, known)
            resting = memory.models_tagged(self._memory, [f"{RESTS_ON}{id_}" for id_ in ids])
            more = set(memory.records_of_models(self._memory, numbers=sorted({*found, *resting})))
        return found

    def _ends_of(self, platform: str, turn_id: str, said: list[int]) -> set[int]:
        """Return recollect's own commands that ended a turn."""
        turn = turn_row_id(platform, turn_id)
        ended = memory.completion_event(self._memory, turn)
        if ended is None or events.by_ids(self._events, [ended]):
            return set()
        likely = [(RESERVED_PLATFORM, f"close-turn:{turn}:{number}") for number in said]
        # The id that an earlier build gave it.
        likely.append((platform, f"recollect:close-turn:{turn_id}"))
        found = [record_of(self._ledger, self._zone, *name) for name in likely]
        if not any(found):
            found = list(records_of_kind(self._ledger, self._zone, "close_turn"))
        ends = set()
        for record in found:
            event = None if record is None else record.open(self._ledger.keys)
            if event is None:
                continue
            payload = event.payload
            if (
                isinstance(payload, CloseTurn)
                and (payload.platform, payload.turn_id) == (platform, turn_id)
            ) or (isinstance(payload, TurnCompleted) and payload.sender_id == RESERVED_PLATFORM):
                ends.add(event.number)
        return ends

    def ids_of(self, numbers: Iterable[int]) -> list[str]:
        """Return the events' own ids of records."""
        wanted = set(numbers)
        written = events.by_numbers(self._events, sorted(wanted))
        aside = records_at(self._ledger, self._zone, wanted - {item.number for item in written})
        opened = (record.open(self._ledger.keys) for record in aside.values())
        return [item.id for item in written] + [event.id for event in opened if event is not None]

    def shown(self, numbers: Iterable[int]) -> list[str]:
        """Return the ids of records that are shown to users: a source's own, or the number."""
        wanted = sorted(numbers)
        own = {item.number: item.source_id for item in events.by_numbers(self._events, wanted)}
        return [own.get(number, f"#{number}") for number in wanted]


class Meant(NamedTuple):
    """An entity: its ids and handles, and what was written by it or about it.

    `numbers` are those of records, `event_ids` belong to events that may be in no file.
    """

    ids: set[str]
    senders: set[tuple[str, str]]
    event_ids: set[str]
    numbers: set[int]
    names: Names

    def concerns(self, said: RecordContent) -> bool:
        """Return whether a record comes from it or is about it."""
        return (
            (said.platform, said.sender) in self.senders
            or not self.ids.isdisjoint(said.entities)
            or self.names.stand_in(said.words)
        )
