"""Target selection for erasures: records by id or by criteria, and those that depend on them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cache, cached_property
from typing import NamedTuple

import msgspec

from recollect.operations.answers.suggestions import unknown_entity
from recollect.operations.erasure.possible_targets import (
    matcher_of,
    similar_entities,
    texts_with_a_part_of_the_name,
)
from recollect.operations.erasure.record_matching import (
    SOURCE_TAG_PREFIX,
    Account,
    Criteria,
    Names,
    RecordContent,
    content_of,
    parked_body,
    text_or_none,
)
from recollect.projections.events import event_queries as events
from recollect.projections.files import ZoneFiles
from recollect.projections.identity import entities_for_recall
from recollect.projections.identity import entity_queries as identity
from recollect.projections.memory import memory_queries as memory
from recollect.projections.memory.listing import hierarchy_list, learning_list
from recollect.projections.recall.question.entity_names import entity_ids, resolve
from recollect.schemas.errors import InvalidInput, UnknownId
from recollect.schemas.events import (
    KINDS,
    RESERVED_PLATFORM,
    ArchiveMemories,
    CloseTurn,
    ConsolidateMemories,
    Content,
    Event,
    Forget,
    Park,
    Retract,
    SetMemoryState,
    TurnCompleted,
)
from recollect.schemas.ids import turn_row_id
from recollect.schemas.ledger.seal import source_digest
from recollect.schemas.names import normalise_name
from recollect.schemas.text_sanitising import collapse_whitespace, truncate_middle
from recollect.schemas.wire import PossibleTarget
from recollect.streams.ledger import Ledger
from recollect.streams.records.chain_readers import NEVER_ERASED
from recollect.streams.records.erased_keys import unexplained_missing_keys
from recollect.streams.records.lookup import (
    SealedRecord,
    record_of,
    records_at,
    records_of_kind,
)

# Kinds of records that contain only numbers and derived ids, and no user text.
_KINDS_WITHOUT_TEXT = frozenset(
    {
        *("forget", "certify", "recalled", "tick", "retry", "drop", "decide_merge", "undo_merge"),
        *("set_memory_state", "archive_memories", "consolidate_memories", "switch"),
        *("skip_record", "close_turn"),
    }
)
# Kinds of records that contain user text but may be missing in events.db.
_UNINDEXED_KINDS = (
    *("turn_completed", "park", "create_mental_model", "update_mental_model", "propose_merge"),
    *("deletion", "reaction", "notice"),
    *("start_trajectory", "log_step", "complete_trajectory", "give_feedback", "reflect"),
    *("find_dreams", "create_playbook", "update_playbook", "curate_playbook", "playbook_used"),
)
# Kinds of commands that name memories by ids, which may follow from the memories' texts.
_KINDS_NAMING_MEMORIES = (
    *("retract", "set_memory_state", "archive_memories", "consolidate_memories"),
)
# Characters of an event's text in a list of possible targets.
_SHOWN_TEXT = 100
_NUMBER = re.compile(r"#([0-9]{1,15})")
_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


class IdLookup(NamedTuple):
    """The numbers of the records that have an id.

    `numbers`: the readable records. `erased`: the already erased ones. `was_requested`: the id was
    given to an earlier erasure.
    """

    numbers: set[int]
    erased: frozenset[int] = frozenset()
    was_requested: bool = False

    @property
    def is_known(self) -> bool:
        """Whether the id has or had records."""
        return bool(self.numbers or self.erased or self.was_requested)


def request_hash(ledger: Ledger, zone: str, id_: str) -> bytes:
    """Return the keyed hash under which an erasure command stores a requested id."""
    return source_digest(ledger.keys.secret, zone, RESERVED_PLATFORM, f"forgotten:{id_}")


def records_without_keys(ledger: Ledger, zone: str, ids: Sequence[str]) -> dict[str, int]:
    """Return the ids (`#17`) among `ids` that name records with a lost key, each with its number.

    A key is lost if it is missing although no erasure destroyed it. Processing of the zone stops at
    the first such record, so its files cannot be used.

    Raises:
        InvalidInput: a record with a lost key is of a kind that cannot be erased.
    """
    numbers = {id_: int(match[1]) for id_ in ids if (match := _NUMBER.fullmatch(id_))}
    records = records_at(ledger, zone, numbers.values())
    missing = [number for number, record in records.items() if not record.readable(ledger.keys)]
    lost = unexplained_missing_keys(ledger, zone, missing)
    for number in lost:
        if (kind := records[number].envelope.kind) in NEVER_ERASED:
            raise InvalidInput(
                f"record #{number} is a {kind}, which cannot be erased, and its key is lost: "
                "restore the keys from a backup that has it"
            )
    return {id_: number for id_, number in numbers.items() if number in lost}


class TargetFinder:
    """Finds records in the files and the ledger of a zone whose records are all decided."""

    def __init__(
        self, ledger: Ledger, zone: str, files: ZoneFiles, withheld: Set[int] = frozenset()
    ) -> None:
        """`withheld`: the numbers of records that the caller may not erase."""
        self._ledger = ledger
        self._zone = zone
        self._withheld = withheld
        self._events = files.events.connection
        self._memory = files.memory.connection
        self._identity = files.identity.connection
        self._entities: dict[str, EntityRecords | None] = {}

    # By id

    def by_id(self, id_: str, platform: str | None) -> IdLookup:
        """Return the records with an id given by recollect or by a source.

        `id_`: `#` and a record's number; the id of an event, a fact, an observation, a
        consolidated memory, a mental model, a trajectory or a playbook; or a source's own id. If a
        platform is given, the source's ids take precedence.

        Raises:
            InvalidInput: the id names a record that cannot be erased, or events of several
                platforms.
            UnknownId: the zone has no record with this id.
        """
        number = _NUMBER.fullmatch(id_)
        if number is not None and platform is None:
            return self._by_number(int(number[1]))
        # Without a platform, recollect's own ids take precedence: if a client uses event A's id as
        # its own id for event B, forgetting A still erases A.
        lookup = (
            self._by_recollect_id(id_) if platform is None else self._by_source_id(id_, platform)
        )
        if not lookup.is_known:
            lookup = (
                self._by_source_id(id_, None) if platform is None else self._by_recollect_id(id_)
            )
        if not lookup.is_known:
            lookup = self._by_unindexed_id(id_, platform)
        if lookup.numbers:
            lookup = lookup._replace(numbers=lookup.numbers - self._withheld)
        if lookup.is_known:
            return lookup
        where = f" of platform {platform}" if platform else ""
        if self.find_entity(id_) is not None:
            raise InvalidInput(
                f"zone {self._zone} holds no event {id_!r}{where}, but has an entity with this "
                "name or id; to forget the entity, give it as `entity`"
            )
        raise UnknownId(f"zone {self._zone} holds no event {id_!r}{where}")

    def _by_number(self, number: int) -> IdLookup:
        record = records_at(self._ledger, self._zone, {number}).get(number)
        if record is None or number in self._withheld:
            raise InvalidInput(f"zone {self._zone} has no record #{number}")
        if record.envelope.kind in _KINDS_WITHOUT_TEXT:
            raise InvalidInput(
                f"record #{number} is a {record.envelope.kind}, which has no text to forget"
            )
        if record.readable(self._ledger.keys):
            return IdLookup({number})
        return IdLookup(set(), frozenset({number}))

    def _by_recollect_id(self, id_: str) -> IdLookup:
        numbers = {*self._records_of_memory(id_)}
        numbers |= set(memory.records_of_models(self._memory, ids=[id_]))
        return IdLookup(numbers | set(learning_list.learning_records(self._memory, [id_])))

    def _by_source_id(self, source_id: str, platform: str | None) -> IdLookup:
        """Find records by a source's id: in the files, otherwise in the ledger's id index."""
        found = {
            item.platform: item.number
            for item in events.by_source_id(self._events, source_id, platform)
        }
        if found:
            return self._one_platform(source_id, found)
        platforms = [platform] if platform else self._ledger.platforms(self._zone)
        return self._in_ledger(source_id, platforms)

    def _in_ledger(self, source_id: str, platforms: Iterable[str]) -> IdLookup:
        numbers: dict[str, int] = {}
        erased = set()
        for platform in platforms:
            record = record_of(self._ledger, self._zone, platform, source_id)
            if record is not None and record.envelope.kind not in _KINDS_WITHOUT_TEXT:
                if record.readable(self._ledger.keys):
                    numbers[platform] = record.envelope.number
                else:
                    erased.add(record.envelope.number)
        if numbers:
            return self._one_platform(source_id, numbers)
        return IdLookup(set(), frozenset(erased))

    def _one_platform(self, source_id: str, found: dict[str, int]) -> IdLookup:
        if len(found) > 1:
            raise InvalidInput(
                f"several platforms have an event {source_id!r}; give one of them as `platform`: "
                f"{', '.join(sorted(found))}"
            )
        return IdLookup(set(found.values()))

    def _by_unindexed_id(self, id_: str, platform: str | None) -> IdLookup:
        """Search the ledger for a record whose id does not occur in the files."""
        if _ULID.fullmatch(id_):
            # The time that a ULID begins with, in unix ms.
            at = sum(
                _CROCKFORD.index(digit) << 45 - 5 * place for place, digit in enumerate(id_[:10])
            )
            for record in self._unindexed:
                if record.envelope.occurred_at == at:
                    event = record.open(self._ledger.keys)
                    if event is not None and event.id == id_:
                        return IdLookup({event.number})
        # Ids given by recollect belong to no platform.
        is_own_id = platform is None or _ULID.fullmatch(id_) is not None
        return IdLookup(set(), was_requested=is_own_id and self.was_requested(id_))

    def was_requested(self, id_: str) -> bool:
        """Return whether this id was given to an earlier erasure."""
        digest = request_hash(self._ledger, self._zone, id_)
        return any(digest in erasure.names for erasure in self._erasures())

    def _erasures(self) -> Iterator[Forget]:
        for record in records_of_kind(self._ledger, self._zone, "forget"):
            event = record.open(self._ledger.keys)
            if event is not None and isinstance(event.payload, Forget):
                yield event.payload

    @cached_property
    def _unindexed(self) -> list[SealedRecord]:
        """The records with text that may be missing in events.db, unknown kinds included."""
        unknown = [
            letter.number
            for letter in memory.dead_letters(self._memory, None)
            if letter.kind not in KINDS
        ]
        records = list(records_at(self._ledger, self._zone, unknown).values())
        for kind in _UNINDEXED_KINDS:
            records += records_of_kind(self._ledger, self._zone, kind)
        return records

    # By criteria

    def matching(self, criteria: Criteria) -> set[int]:
        """Return the records that match all criteria.

        Raises:
            InvalidInput: no entity has the name, or several have it.
        """
        entity = None
        if criteria.entity is not None:
            entity = self.find_entity(criteria.entity)
            if entity is None:
                raise InvalidInput(unknown_entity(self._identity, criteria.entity))
        accounts = self._accounts(criteria)
        matching = {
            number
            for platform, sender in accounts
            for number in events.numbers_matching(
                self._events,
                sender=sender,
                platform=platform,
                thread=criteria.thread,
                after=criteria.after,
                before=criteria.before,
            )
        }
        if entity is not None:
            matching &= entity.numbers
        for record in self._unindexed:
            if not record.readable(self._ledger.keys):
                continue
            event = record.open(self._ledger.keys)
            content = RecordContent(None, None, None, record.envelope.occurred_at, "", frozenset())
            if event is not None:
                content = content_of(event)
            if content.matches(criteria, accounts) and (
                entity is None
                or entity.is_author_or_subject_of(content)
                or (event is not None and event.id in entity.event_ids)
                or record.envelope.number in entity.numbers
            ):
                matching.add(record.envelope.number)
        return matching - self._withheld

    def also_possible(self, criteria: Criteria, chosen: Set[int]) -> list[PossibleTarget]:
        """Return what else the entity name in the criteria may refer to, beyond the chosen records.

        First come entities with a similar name, then other events that contain a part of the name.
        Their records must match the other criteria too.
        """
        known = None if criteria.entity is None else self.find_entity(criteria.entity)
        if known is None:
            return []
        other_criteria = msgspec.structs.replace(criteria, entity=None)
        allowed = (
            self.matching(other_criteria)
            if other_criteria.has_criterion or other_criteria.platform
            else None
        )

        def remaining(numbers: Set[int]) -> set[int]:
            candidates = set(numbers) - covered
            return candidates if allowed is None else candidates & allowed

        matcher = matcher_of(self._identity, known.ids)
        covered = set(chosen)
        targets = []
        for other, ids in similar_entities(self._identity, known.ids, matcher):
            if numbers := remaining(self._records_of(ids).numbers):
                targets.append(PossibleTarget(other.id, "entity", other.name, len(numbers)))
                covered |= numbers
        for id_, text in texts_with_a_part_of_the_name(self._events, matcher, remaining):
            excerpt = truncate_middle(collapse_whitespace(text), _SHOWN_TEXT)
            targets.append(PossibleTarget(id_, "event", excerpt, 1))
        return targets

    def by_any_id(self, id_: str) -> set[int]:
        """Return the records of the entity with this id, or else the records with this id.

        Raises:
            InvalidInput: the id is unknown or ambiguous.
        """
        if identity.canonical(self._identity, id_) is not None:
            return self.matching(Criteria(entity=id_))
        return self.by_id(id_, None).numbers

    def _accounts(self, criteria: Criteria) -> set[Account]:
        """Return the account of the criteria's sender, and all other accounts of the same person.

        After a merge, one person has several accounts.
        """
        if criteria.sender is None:
            return {(criteria.platform, None)}
        accounts = entities_for_recall.accounts_of_sender(
            self._identity, criteria.sender, criteria.platform
        )
        fitting = {account for account in accounts if criteria.platform in (None, account[0])}
        return {(criteria.platform, criteria.sender), *fitting}

    def find_entity(self, name_or_id: str) -> EntityRecords | None:
        """Return the records of the entity with a name or an id; None if there is no such entity.

        Raises:
            InvalidInput: several entities have the name.
        """
        if name_or_id not in self._entities:
            self._entities[name_or_id] = self._find_entity(name_or_id)
        return self._entities[name_or_id]

    def _find_entity(self, name_or_id: str) -> EntityRecords | None:
        entities = resolve(self._identity, name_or_id)
        entities = entities or resolve(self._identity, normalise_name(name_or_id))
        if len(entities) > 1:
            candidates = "; ".join(self._description(entity.id) for entity in entities)
            raise InvalidInput(
                f"{name_or_id!r} is the name of {len(entities)} entities; give the id of one: "
                f"{candidates}"
            )
        return self._records_of(entity_ids(self._identity, entities)) if entities else None

    def _description(self, entity_id: str) -> str:
        entity = identity.canonical(self._identity, entity_id)
        assert entity is not None
        handles = entities_for_recall.senders(
            self._identity, sorted(entity_ids(self._identity, [entity]))
        )
        accounts = ", ".join(f"{platform} {handle}" for platform, handle in sorted(handles))
        return f"{entity.id} ({entity.type}{', ' if accounts else ''}{accounts})"

    def _records_of(self, ids: set[str]) -> EntityRecords:
        entities = sorted(ids)
        senders = entities_for_recall.senders(self._identity, entities)
        event_ids = set(entities_for_recall.events_mentioning(self._identity, entities))
        about = memory.facts_about(self._memory, entities)
        event_ids |= set(memory.events_of_facts(self._memory, about))
        numbers = {item.number for item in events.by_ids(self._events, sorted(event_ids))}
        for platform, handle in senders:
            numbers |= set(events.numbers_matching(self._events, sender=handle, platform=platform))
        numbers |= set(memory.models_about(self._memory, entities))
        records = EntityRecords(ids, senders, event_ids, numbers, Names(self._unique_names(ids)))
        for name in sorted(records.names.all):
            for number, _, words in events.containing_phrase(self._events, name):
                if number not in numbers and records.names.occur_in(words):
                    numbers.add(number)
        return records

    def _unique_names(self, ids: set[str]) -> set[str]:
        """Return the entity's normalised names that no other entity has."""
        names = {normalise_name(name) for name in identity.all_names(self._identity, sorted(ids))}
        return {name for name in names if name and self._is_unique(name, ids)}

    def _is_unique(self, name: str, ids: set[str]) -> bool:
        holders = identity.entities_named(self._identity, name)
        holders += identity.persons_with_first_name(self._identity, name)
        return all(holder.id in ids for holder in holders)

    # Dependents

    def with_dependents(self, numbers: Set[int]) -> set[int]:
        """Return records together with those that must be erased with them.

        Dependents are:

        - all versions of a message or a mental model
        - the mental models that rest on an event
        - all records of a trajectory or a playbook whose first record is erased
        - parked events that conflict with an event's id
        - commands that name only erased memories
        - recollect's own command that closed a turn, if none of the turn's messages remains
        """
        numbers = {*numbers, *events.version_numbers(self._events, sorted(numbers))}
        learning_ids = learning_list.learning_ids(self._memory, sorted(numbers))
        numbers |= set(learning_list.learning_records(self._memory, learning_ids))
        with_models = self._with_models(numbers)
        event_rows = events.by_numbers(self._events, sorted(with_models))
        source_keys = {(item.platform, item.source_id) for item in event_rows}
        without_rows = with_models - {item.number for item in event_rows}
        for record in records_at(self._ledger, self._zone, without_rows).values():
            event = record.open(self._ledger.keys)
            if event is not None and isinstance(event.payload, Content):
                source_keys.add((event.platform, event.payload.source_id))
        parked_numbers = set(memory.park_records(self._memory)) - with_models
        for number, record in records_at(self._ledger, self._zone, parked_numbers).items():
            event = record.open(self._ledger.keys)
            if event is not None and isinstance(event.payload, Park):
                body = parked_body(event.payload)
                if (
                    text_or_none(body.get("platform")),
                    text_or_none(body.get("id")),
                ) in source_keys:
                    with_models.add(number)
        for platform, turn_id in {(item.platform, item.turn_id) for item in event_rows}:
            if turn_id is not None:
                messages = events.numbers_of_turn(self._events, platform, turn_id)
                if with_models.issuperset(messages):
                    with_models |= self._closing_commands(platform, turn_id, messages)
        return (with_models | self._commands_about_only(with_models)) - self._withheld

    def _with_models(self, numbers: Set[int]) -> set[int]:
        """Return records, with all versions of the mental models among them or resting on them."""
        models, more = set[int](), set(numbers)
        while not more <= models:
            models |= more
            known = sorted(models)
            ids = [item.id for item in events.by_numbers(self._events, known)]
            ids += memory.model_ids(self._memory, known)
            tags = [f"{SOURCE_TAG_PREFIX}{id_}" for id_ in ids]
            dependent_models = memory.models_tagged(self._memory, tags)
            more = set(
                memory.records_of_models(self._memory, numbers=sorted({*models, *dependent_models}))
            )
        return models

    def _closing_commands(self, platform: str, turn_id: str, messages: list[int]) -> set[int]:
        """Return recollect's own commands that closed a turn."""
        turn = turn_row_id(platform, turn_id)
        closed_by = memory.completion_event(self._memory, turn)
        if closed_by is None or events.by_ids(self._events, [closed_by]):
            return set()
        source_ids = [(RESERVED_PLATFORM, f"close-turn:{turn}:{number}") for number in messages]
        # Earlier versions used this source id.
        source_ids.append((platform, f"recollect:close-turn:{turn_id}"))
        records = [record_of(self._ledger, self._zone, *source_id) for source_id in source_ids]
        if not any(records):
            records = list(records_of_kind(self._ledger, self._zone, "close_turn"))
        commands = set()
        for record in records:
            event = None if record is None else record.open(self._ledger.keys)
            if event is None:
                continue
            payload = event.payload
            if (
                isinstance(payload, CloseTurn)
                and (payload.platform, payload.turn_id) == (platform, turn_id)
            ) or (isinstance(payload, TurnCompleted) and payload.sender_id == RESERVED_PLATFORM):
                commands.add(event.number)
        return commands

    def _commands_about_only(self, numbers: Set[int]) -> set[int]:
        """Return the commands that name memories of these records, and no other memory."""
        commands = set()
        records_of = cache(self._records_of_memory)
        for kind in _KINDS_NAMING_MEMORIES:
            for record in records_of_kind(self._ledger, self._zone, kind):
                event = record.open(self._ledger.keys)
                if event is None or event.number in numbers:
                    continue
                ids, named = _named_memories(event)
                # An id without records belongs to a memory that was forgotten before.
                named = named.union(*map(records_of, ids))
                if named and named <= numbers:
                    commands.add(event.number)
        return commands

    def _records_of_memory(self, id_: str) -> frozenset[int]:
        """Return the records of an event, or those that a fact or consolidated memory is from."""
        ids = [id_, *memory.events_of(self._memory, id_)]
        numbers = {item.number for item in events.by_ids(self._events, ids)}
        return frozenset(numbers.union(hierarchy_list.source_numbers(self._memory, id_)))

    def event_ids(self, numbers: Iterable[int]) -> list[str]:
        """Return recollect's own ids of the events in these records."""
        targets = set(numbers)
        indexed = events.by_numbers(self._events, sorted(targets))
        others = records_at(self._ledger, self._zone, targets - {item.number for item in indexed})
        opened = (record.open(self._ledger.keys) for record in others.values())
        return [item.id for item in indexed] + [event.id for event in opened if event is not None]

    def display_ids(self, numbers: Iterable[int]) -> list[str]:
        """Return the ids of records to show to users: the source's, or `#` and the number."""
        targets = sorted(numbers)
        ids = {item.number: item.source_id for item in events.by_numbers(self._events, targets)}
        return [ids.get(number, f"#{number}") for number in targets]


def _named_memories(event: Event) -> tuple[tuple[str, ...], set[int]]:
    """Return the ids of the memories that a command names, and the numbers of records."""
    match event.payload:
        case SetMemoryState() | ArchiveMemories() | ConsolidateMemories() as command:
            return command.memory_ids, set()
        case Retract(target=target, replaced_by=replaced_by, stated_at=stated_at):
            ids = (target,) if replaced_by is None else (target, replaced_by)
            return ids, {each.number for each in stated_at}
    return (), set()


class EntityRecords(NamedTuple):
    """An entity's ids, accounts and names, and the records by it or about it.

    `event_ids`: the ids of the events about it, some of which may be missing in the files.
    """

    ids: set[str]
    senders: set[tuple[str, str]]
    event_ids: set[str]
    numbers: set[int]
    names: Names

    def is_author_or_subject_of(self, content: RecordContent) -> bool:
        """Return whether the entity wrote a record, or the record is about it."""
        return (
            (content.platform, content.sender) in self.senders
            or not self.ids.isdisjoint(content.entities)
            or self.names.occur_in(content.words)
        )
