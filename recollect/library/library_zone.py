"""The library's zone: everything that can be done with the memory of one tenant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from os import PathLike
from typing import Any, Concatenate, ParamSpec, TypeVar

from recollect.home.access_counts import AccessCounts
from recollect.home.memory_spans import memory_span
from recollect.home.open_zone import OpenZone
from recollect.operations.answers import injecting, recalling, reflecting, suggestions
from recollect.operations.answers.injecting import DEFAULT_MAX_TOKENS
from recollect.operations.answers.recalling import AnyQuery
from recollect.operations.answers.why import why
from recollect.operations.erasure import forgetting
from recollect.operations.erasure.forgetting import Chosen
from recollect.operations.ingestion import ingesting
from recollect.operations.ingestion.ingesting import AnyEvent, EventImport, Show, show_nothing
from recollect.operations.memories import listing, mental_models, merging, replacing
from recollect.operations.memories import memory_listing as held_memories
from recollect.operations.memories.memory_listing import Listed
from recollect.operations.upkeep import maintenance, zone_status
from recollect.schemas.events import Access
from recollect.schemas.wire import (
    Chain,
    Comparison,
    ContextBlock,
    DeadLetter,
    Entity,
    EntityPage,
    Explanation,
    Fact,
    ForgetReport,
    ForgetTargets,
    IngestReport,
    Level,
    Memory,
    MemoryPage,
    MemoryVersion,
    MentalModel,
    Merge,
    Preview,
    Query,
    RebuildReport,
    RecallAnswer,
    Receipt,
    ReclaimReport,
    Reflection,
    RollbackReport,
    Status,
    Time,
    UpdateReport,
    Verification,
    WriteReport,
    WriterTextVersion,
)
from recollect.streams.projecting.projector import Progress

P = ParamSpec("P")
T = TypeVar("T")


def _at_work(
    method: Callable[Concatenate[Zone, P], T],
) -> Callable[Concatenate[Zone, P], T]:
    """Keep the home open while a method is at work."""

    @wraps(method)
    def call(self: Zone, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._zone.open_home.at_work():
            return method(self, *args, **kwargs)

    return call


class Zone:
    """The memory of one tenant, as `Recollect.zone` returns it.

    Any thread may call any method. Times are ISO 8601 with a zone, unix milliseconds, or
    datetimes with a zone. What cannot be done raises an error that names the field or says what to
    do; all of them are `RecollectError`s.

    >>> zone
    Zone('ada')
    """

    def __init__(self, zone: OpenZone, accesses: AccessCounts | None = None) -> None:
        self._zone = zone
        self._accesses = accesses

    @property
    def name(self) -> str:
        """The zone's name.

        >>> zone.name
        'ada'
        """
        return self._zone.name

    def __repr__(self) -> str:
        return f"Zone({self.name!r})"

    # Writing

    @_at_work
    def ingest(self, events: AnyEvent | Iterable[AnyEvent], *, wait: bool = True) -> IngestReport:
        """Put events into the ledger and return when they are recallable.

        An event is a dict with at least `platform`, `sender_id`, `occurred_at` and `content`;
        give one, or any number of them. The same event twice is one. What cannot be kept is
        refused by name in the report's `rejections`. `wait` False: return once they are durable;
        they are searchable as raw turns at once, and decided by whoever comes next.

        Raises:
            InvalidInput: what is given holds no events, or none of them can be kept.

        >>> zone.ingest([
        ...     {"platform": "chat", "sender_id": "u1", "sender_name": "Ada", "id": "m1",
        ...      "occurred_at": "2026-05-08T13:56:00Z", "content": "I live in Turin."},
        ...     {"platform": "chat", "sender_id": "u2", "sender_name": "Bob", "id": "m3",
        ...      "occurred_at": "2026-05-08T13:59:00Z", "content": "I bought a boat."},
        ... ]).duplicate
        1
        """
        return ingesting.ingest(self._zone, events, wait=wait)

    def event_import(self, principal: Mapping[str, str] | None = None) -> EventImport:
        """Begin an import whose events come in parts, as over a network.

        `principal` says who sends them; each event's metadata will say so, whatever it says itself.

        >>> begun = zone.event_import({"user": "ada"})
        >>> begun.add([{"platform": "chat", "sender_id": "u2", "sender_name": "Bob", "id": "m3",
        ...             "occurred_at": "2026-05-08T13:59:00Z", "content": "I bought a boat."}])
        >>> begun.report().read
        1
        """
        return EventImport(self._zone, principal)

    @_at_work
    def ingest_files(
        self,
        paths: str | PathLike[str] | Sequence[str | PathLike[str]],
        *,
        format: str = "auto",
        timezone: str | None = None,
        date_order: str | None = None,
        wait: bool = True,
        show: Show = show_nothing,
    ) -> IngestReport:
        """Put the events of files into the ledger and return when they are recallable.

        A path is a file, a folder, or an archive, as the other program exports it. Importing one
        again adds only what is new. `timezone` (an IANA name) and `date_order` (dmy, mdy or ymd)
        are for formats that do not say them. `show` shows how far it is.

        Raises:
            InvalidInput: a path cannot be read, is in no format that is known, or lacks an option;
                then nothing is.

        >>> zone.ingest_files("chats.jsonl").new
        1
        """
        named = [paths] if isinstance(paths, str | PathLike) else paths
        return ingesting.ingest_files(
            self._zone,
            named,
            format=format,
            timezone=timezone,
            date_order=date_order,
            wait=wait,
            show=show,
        )

    def preview_files(
        self,
        paths: str | PathLike[str] | Sequence[str | PathLike[str]],
        *,
        format: str = "auto",
        timezone: str | None = None,
        date_order: str | None = None,
        show: Show = show_nothing,
    ) -> Preview:
        """Return what `ingest_files` would read: people, span of time, counts, ten lines each.

        Nothing is published.

        Raises:
            InvalidInput: as `ingest_files`.

        >>> (export,) = zone.preview_files("chats.jsonl").exports
        >>> export.format, export.kinds, export.people[0].name
        ('jsonl', {'message': 1}, 'Ada')
        """
        from recollect.operations.ingestion import previewing

        named = [paths] if isinstance(paths, str | PathLike) else paths
        return previewing.preview(
            named, format=format, timezone=timezone, date_order=date_order, show=show
        )

    @_at_work
    def follow_file(
        self,
        path: str | PathLike[str],
        *,
        format: str = "auto",
        timezone: str | None = None,
        wait: bool = True,
        each: Callable[[IngestReport], bool],
    ) -> IngestReport:
        """Put the events of a growing file of lines into the ledger as they are written.

        Whenever all that is there was read, `each` is told what became of it so far, and ends it
        by returning True. A file that is cut, or replaced by another of its name, is read from its
        beginning; what is known already is not new.

        Raises:
            InvalidInput: as `ingest_files`.

        >>> zone.follow_file("chats.jsonl", each=lambda report: True).read
        1
        """
        from recollect.operations.ingestion import following

        return following.follow(
            self._zone, path, format=format, timezone=timezone, wait=wait, each=each
        )

    @_at_work
    def remember(
        self,
        content: str,
        *,
        sender_id: str = "user",
        at: Time | None = None,
        principal: Mapping[str, str] | None = None,
    ) -> Receipt:
        """Remember a text as it is, said by `sender_id`, now or at a time.

        `principal` says on whose behalf; its metadata will say so.

        >>> zone.remember("The deploy key is in the blue safe.").status
        'new'
        """
        with memory_span("create_memory", self.name) as span:
            receipt = ingesting.remember(
                self._zone, content, sender_id=sender_id, at=at, principal=principal
            )
            span.record(receipt.event_id)
            span.records(1, lambda: [(receipt.event_id, content, None)])
        return receipt

    @_at_work
    def decide(self, progress: Progress | None = None) -> int:
        """Decide all waiting events; return how many there were.

        >>> zone.decide()
        0
        """
        return self._zone.decide(progress)

    @_at_work
    def token(self) -> str:
        """Return a token for everything that was published here, for `wait_for`.

        >>> len(zone.token().split(":"))
        3
        """
        return ingesting.token(self._zone)

    @_at_work
    def wait_for(self, token: str, timeout: float = 30.0) -> None:
        """Wait until everything up to a token is decided, and can be recalled here.

        Raises:
            InvalidInput: it is no token of this zone.
            DecisionTimeout: it was not within `timeout` seconds.

        >>> zone.wait_for(zone.token())
        """
        ingesting.wait_for(self._zone, token, timeout)

    @_at_work
    def write(
        self,
        *,
        limit: int | None = None,
        again: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
        while_: Callable[[], bool] = lambda: True,
    ) -> WriteReport:
        """Let the home's language model write about the events that it has not read (A19).

        At most `limit` of them; with `again` also those that another model wrote about, or this
        one in another role. `dry_run`: only what that would take, in calls, tokens and cost.
        Between two events it ends once `while_` is False. What a model says is checked, and adds
        to what the rules say; nothing is changed or deleted by it.

        Raises:
            InvalidInput: the home's writer are the rules alone, or no account of a model is set.
            Busy: another process writes for this home.

        >>> zone.write(dry_run=True).model  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        recollect.schemas.errors.InvalidInput: the writer of ... are the rules alone; ...
        """
        from recollect.operations.writing import writing

        return writing.write(
            self._zone,
            limit=limit,
            again=again,
            dry_run=dry_run,
            progress=progress,
            while_=while_,
        )

    @_at_work
    def writer_texts(self) -> list[WriterTextVersion]:
        """Return what the model that writes is told here: its role, and its notes (A22).

        >>> [text.name for text in zone.writer_texts()]
        ['role']
        """
        from recollect.operations.writing import writing

        return writing.told(self._zone)

    @_at_work
    def tell_writer(self, name: str, text: str) -> int:
        """Give the model that writes another role (`role`), or a note; return the record.

        Each version is an event of the ledger; an empty text takes the role or the note back.

        Raises:
            InvalidInput: the name or the text is too long, or empty.

        >>> zone.tell_writer("names", "Mel is Melanie.") > 0
        True
        """
        from recollect.operations.writing import writing

        return writing.tell(self._zone, name, text)

    # Questions

    @_at_work
    def recall(self, query: AnyQuery, /, **fields: Any) -> RecallAnswer:
        """Return the memories that answer a question, best first, with sources.

        `query` is a text, a `Query` or a dict with its fields; `fields` are fields of a Query too.
        With `known_at` it is answered as at that time, without what was forgotten since.

        Raises:
            InvalidInput: the question cannot be asked; the message names the field.

        >>> zone.recall("Where does Ada live?").results[0].source_event_ids
        ['m1']
        >>> zone.recall({"query": "Where does Ada live?", "max_results": 1}).results[0].type
        'fact'
        >>> zone.recall("Where does Ada live?", known_at="2020-01-01T00:00:00Z").results
        []
        """
        with memory_span("search_memory", self.name) as span:
            answer = recalling.recall(self._zone, query, fields)
            span.found(answer.query, answer.results)
        if self._accesses is not None:
            self._accesses.note(self.name, answer.results)
        return answer

    @_at_work
    def context(self, task: str, *, max_tokens: int = DEFAULT_MAX_TOKENS) -> ContextBlock:
        """Return what the memory has to say on a task, as a block to put before an agent (A25).

        The block is framed as data, with dates and speakers; it is empty where nothing is relevant.
        `max_tokens`: what it takes at most, frame included, in word pieces of the home's encoder.
        After three seconds it is given up, and empty.

        Raises:
            InvalidInput: the task is no text, or `max_tokens` is not from 1 to 100,000.

        >>> zone.context("What is the capital of France?").block
        ''
        >>> zone.context("Where does Ada live?").items[0].source_event_ids
        ['m1']
        """
        with memory_span("search_memory", self.name) as span:
            found = injecting.context(self._zone, task, max_tokens=max_tokens)
            span.found(task, found.items)
        if self._accesses is not None:
            self._accesses.note(self.name, found.items)
        return found

    @_at_work
    def explain(self, query: AnyQuery, id: str, /, **fields: Any) -> Explanation | None:
        """Return the rank of a memory in an answer, or why it is not in it; None if nothing has the
        id.

        >>> best = zone.recall("Where does Ada live?").results[0]
        >>> zone.explain("Where does Ada live?", best.id).rank
        1
        """
        return recalling.explain(self._zone, query, id, fields)

    @_at_work
    def why(self, id: str) -> Chain:
        """Return the steps from a memory down to the events that it rests on.

        `id` is that of a memory of any kind; an event has its own and its source's.

        Raises:
            InvalidInput: nothing in the zone has this id.

        >>> zone.why("m1").text
        'I live in Turin.'
        """
        return why(self._zone, id)

    @_at_work
    def reflect(
        self,
        query: str,
        *,
        entity: str | None = None,
        platform: str | None = None,
        time_after: Time | None = None,
        time_before: Time | None = None,
        max_results: int = 20,
        keep_as: str | None = None,
    ) -> Reflection:
        """Return what all kinds of memory say on a question, as one report with its sources.

        Mental models first, then observations, facts and turns; no model is asked. With `keep_as`
        the report is kept as the mental model of that name, and goes when an event goes that it
        quotes.

        Raises:
            InvalidInput: the question cannot be asked, or nothing was found that could be kept.

        >>> zone.reflect("Where does Ada live?").results[0].text
        'Ada lives in Turin.'
        """
        with memory_span("search_memory", self.name) as span:
            reflection = reflecting.reflect(
                self._zone,
                query,
                entity=entity,
                platform=platform,
                time_after=time_after,
                time_before=time_before,
                max_results=max_results,
                keep_as=keep_as,
            )
            span.found(query, reflection.results)
        return reflection

    @_at_work
    def record_accesses(self, accesses: Iterable[Access]) -> Receipt:
        """Count recalls of memories (B1); a service calls this from time to time, not per recall.

        >>> from recollect.schemas.events import Access
        >>> fact = zone.recall("Where does Ada live?").results[0]
        >>> zone.record_accesses([Access(fact.type, fact.id, 1)]).status
        'new'
        """
        return recalling.record_accesses(self._zone, accesses)

    # Forgetting

    @_at_work
    def forget(
        self,
        *ids: str,
        platform: str | None = None,
        entity: str | None = None,
        sender: str | None = None,
        thread: str | None = None,
        before: Time | None = None,
        after: Time | None = None,
        dry_run: bool = False,
    ) -> ForgetReport:
        """Erase what is named, and all that was decided from it, everywhere.

        `ids` are ids of any kind that a user is shown: a source's own; that of an event; that of
        a fact or an observation, for the events that it comes from and those that repeat it; that
        of a mental model, for all its versions; a record's number after a `#`, as
        `dead_letters` gives it. `entity`: all that somebody wrote, under any handle, and all that
        speaks of them. `sender`, `thread`, `platform`: the platform's own names. `before` and
        `after`: events that happened earlier or later than a time. What is given together must
        apply together. With `dry_run` nothing changes. An id that was forgotten before is no
        error; one that was never there is.

        Raises:
            InvalidInput: nothing was said of what is to go, or an id or a name stands for nothing,
                or for several; then nothing is erased.
            ErasureFailed: it could not be carried out; it will be, before anything else.

        >>> zone.forget("m2", dry_run=True).forgotten
        ['m2']
        >>> zone.forget("m2").events
        1
        """
        targets = ForgetTargets(
            ids=ids,
            platform=platform,
            entity=entity,
            sender=sender,
            thread=thread,
            before=before,
            after=after,
        )
        if dry_run:
            return forgetting.forget(self._zone, targets, dry_run=True)
        with memory_span("delete_memory", self.name) as span:
            report = forgetting.forget(self._zone, targets)
            span.records(report.events)
        return report

    @_at_work
    def choose(self, targets: ForgetTargets) -> Chosen:
        """Return what `forget` would erase, for `erase`: to be confirmed in between.

        Raises:
            InvalidInput, ErasureFailed: as `forget`.

        >>> from recollect.schemas.wire import ForgetTargets
        >>> zone.choose(ForgetTargets(ids=("m1",))).ids
        ['m1']
        """
        return forgetting.choose(self._zone, targets)

    @_at_work
    def erase(self, chosen: Chosen, *, dry_run: bool = False) -> ForgetReport:
        """Erase what `choose` chose.

        Raises:
            ErasureFailed: as `forget`.

        >>> from recollect.schemas.wire import ForgetTargets
        >>> zone.erase(zone.choose(ForgetTargets(ids=("m1",))), dry_run=True).events
        1
        """
        if dry_run:
            return forgetting.would_erase(self._zone, chosen)
        with memory_span("delete_memory", self.name) as span:
            report = forgetting.erase(self._zone, chosen)
            span.records(report.events)
        return report

    # Mental models

    @_at_work
    def mental_models(self, *, every_version: bool = False) -> list[MentalModel]:
        """Return the mental models, in the order in which they were written.

        >>> [model.name for model in zone.mental_models()]
        []
        """
        return mental_models.mental_models(self._zone, every_version=every_version)

    @_at_work
    def mental_model(self, model_id: str) -> MentalModel:
        """Return a version of a report.

        Raises:
            InvalidInput: the zone has none with this id.

        >>> made = zone.create_mental_model("Homes", "Ada lives in Turin.")
        >>> zone.mental_model(made.id).description
        'Ada lives in Turin.'
        """
        return mental_models.mental_model(self._zone, model_id)

    @_at_work
    def create_mental_model(
        self,
        name: str,
        description: str,
        *,
        subtype: str | None = None,
        entity_id: str | None = None,
        tags: Sequence[str] = (),
        rests_on: Sequence[str] = (),
    ) -> MentalModel:
        """Write a mental model, which recall answers as it is (A12).

        `rests_on` are ids of memories that it was made of: it is erased when an event behind one of
        them is forgotten.

        Raises:
            InvalidInput: a text is empty, or nothing has an id of `rests_on`.

        >>> zone.create_mental_model("Homes", "Ada lives in Turin.").current
        True
        """
        with memory_span("create_memory", self.name) as span:
            made = mental_models.create(
                self._zone,
                name,
                description,
                subtype=subtype,
                entity_id=entity_id,
                tags=tags,
                rests_on=rests_on,
            )
            span.record(made.id)
            span.records(1, lambda: [(made.id, made.description, None)])
        return made

    @_at_work
    def update_mental_model(
        self, model_id: str, description: str, *, rests_on: Sequence[str] | None = None
    ) -> MentalModel:
        """Write a new version of a report; the one before stays, and is asked no more.

        `rests_on` is that of the new version; None: that of the one before.

        Raises:
            InvalidInput: the zone has no mental model with this id, or nothing has an id of
                `rests_on`.

        >>> made = zone.create_mental_model("Homes", "Ada lives in Turin.")
        >>> zone.update_mental_model(made.id, "Ada lives in Oslo.").previous == made.id
        True
        """
        with memory_span("update_memory", self.name) as span:
            span.record(model_id)
            made = mental_models.update(self._zone, model_id, description, rests_on=rests_on)
            span.records(1, lambda: [(made.id, made.description, None)])
        return made

    @_at_work
    def delete_mental_model(self, model_id: str, *, dry_run: bool = False) -> ForgetReport:
        """Erase a report with all its versions, everywhere.

        Raises:
            InvalidInput: the zone has no mental model with this id.

        >>> made = zone.create_mental_model("Homes", "Ada lives in Turin.")
        >>> zone.delete_mental_model(made.id).events
        1
        """
        if dry_run:
            return mental_models.delete(self._zone, model_id, dry_run=True)
        with memory_span("delete_memory", self.name) as span:
            span.record(model_id)
            report = mental_models.delete(self._zone, model_id)
            span.records(report.events)
        return report

    # What is held

    @_at_work
    def get_memory(self, id: str) -> Memory:
        """Return an event, a fact, an observation or a mental model by its id.

        An event has its own id and its source's.

        Raises:
            InvalidInput: nothing in the zone has this id, or an entity has it.

        >>> zone.get_memory("m1").text
        'I live in Turin.'
        """
        return held_memories.get_memory(self._zone, id)

    @_at_work
    def list_memories(
        self,
        scope: Listed = "facts",
        *,
        entity: str | None = None,
        platform: str | None = None,
        thread: str | None = None,
        source_event_ids: Sequence[str] | None = None,
        metadata: Mapping[str, str] | None = None,
        superseded: bool = False,
        cursor: str | None = None,
        limit: int = 50,
    ) -> MemoryPage:
        """Return up to `limit` memories of one kind, the newest first.

        `scope` is `facts`, `events`, `observations` or `mental_models`. `entity`: only those that
        speak of, or come from, whom or what a name or an id means; `platform` and `thread`: only
        events from there; `source_event_ids`: only the events with these source ids, or the facts
        that come from them; `metadata`: only events whose metadata has these texts, each under a
        key, or under keys with dots between them; `superseded`: also what a newer one has replaced.
        `cursor` of one page gives the next, whatever was added or forgotten meanwhile.

        Raises:
            InvalidInput: a value cannot be, or a filter does not apply to this kind.

        >>> page = zone.list_memories("events", limit=1)
        >>> [memory.text for memory in page.memories]
        ['I moved to Oslo.']
        >>> zone.list_memories("events", cursor=page.cursor).memories[0].text
        'I live in Turin.'
        """
        return held_memories.list_memories(
            self._zone,
            scope,
            entity=entity,
            platform=platform,
            thread=thread,
            source_event_ids=source_event_ids,
            metadata=metadata,
            superseded=superseded,
            cursor=cursor,
            limit=limit,
        )

    @_at_work
    def update_memory(
        self, id: str, text: str, *, principal: Mapping[str, str] | None = None
    ) -> UpdateReport:
        """Put a text in the place of a memory; `principal` says on whose behalf.

        A mental model gets a new version, and those before stay. What was remembered as it stands
        is remembered anew, and the text before is erased. What somebody wrote is not rewritten.

        Raises:
            InvalidInput: nothing has the id, it cannot be updated, or the text cannot be kept.

        >>> made = zone.remember("The deploy key is in the blue safe.")
        >>> updated = zone.update_memory(made.event_id, "The deploy key is in the red safe.")
        >>> zone.get_memory(updated.id).text
        'The deploy key is in the red safe.'
        """
        with memory_span("update_memory", self.name) as span:
            span.record(id)
            report = replacing.update_memory(self._zone, id, text, principal=principal)
            span.records(1, lambda: [(report.id, report.text, None)])
        return report

    @_at_work
    def history(self, id: str) -> list[MemoryVersion]:
        """Return what a memory and those before and after it said, the first first.

        Raises:
            InvalidInput: as `get_memory`.

        >>> made = zone.create_mental_model("Homes", "Ada lives in Turin.")
        >>> later = zone.update_mental_model(made.id, "Ada lives in Oslo.")
        >>> [(version.text, version.current) for version in zone.history(made.id)]
        [('Ada lives in Turin.', False), ('Ada lives in Oslo.', True)]
        """
        return held_memories.history(self._zone, id)

    @_at_work
    def get_entity(self, name_or_id: str) -> Entity:
        """Return the one whom or what a name or an id means.

        Raises:
            InvalidInput: nobody and nothing is called so, or several are.

        >>> zone.get_entity("Ada").type
        'person'
        """
        return listing.get_entity(self._zone, name_or_id)

    @_at_work
    def facts(
        self,
        *,
        entity: str | None = None,
        superseded: bool = False,
        after: str | None = None,
        limit: int | None = None,
    ) -> list[Fact]:
        """Return up to `limit` facts, the newest first.

        `entity`: only those about whom or what a name or an id means; `superseded`: also those
        whose place a newer one has taken; `after`: those that follow the fact with this id, or, as
        `AS_OF/ID`, also where it was forgotten.

        Raises:
            InvalidInput: nobody and nothing is called `entity`, or no fact has the id `after`.

        >>> [fact.text for fact in zone.facts(entity="Ada")]
        ['Ada lives in Turin.']
        """
        return listing.facts(
            self._zone, entity=entity, superseded=superseded, after=after, limit=limit
        )

    @_at_work
    def fact_count(self, *, entity: str | None = None, superseded: bool = False) -> int:
        """Return how many facts `facts` lists in all.

        >>> zone.fact_count(entity="Ada")
        1
        """
        return listing.fact_count(self._zone, entity=entity, superseded=superseded)

    @_at_work
    def entities(self, *, skip: int = 0, limit: int | None = None) -> list[Entity]:
        """Return up to `limit` of those whom and what the zone knows, the most mentioned first.

        `skip`: so many of them are passed over.

        >>> sorted(entity.name for entity in zone.entities() if entity.type == "person")
        ['Ada', 'Bob']
        """
        return listing.entities(self._zone, skip=skip, limit=limit)

    @_at_work
    def entity_page(self, *, cursor: str | None = None, limit: int = 50) -> EntityPage:
        """Return up to `limit` of those whom and what the zone knows, the most mentioned first.

        `cursor` of one page gives the next, as the zone stood when the first was asked for.

        Raises:
            InvalidInput: `limit` is not 1 to 1,000, or the cursor is none of this zone.

        >>> page = zone.entity_page(limit=1)
        >>> len(page.entities), len(zone.entity_page(cursor=page.cursor).entities) > 0
        (1, True)
        """
        return listing.entity_page(self._zone, cursor=cursor, limit=limit)

    @_at_work
    def compare(self, a: str, b: str) -> Comparison:
        """Return whether two, by name or id, are or would be taken for the same, and why.

        Raises:
            InvalidInput: nobody has one of the names, or several have it.

        >>> zone.compare("Ada", "Bob").decision
        'different'
        """
        # Imported here: only comparing needs the agents.
        from recollect.operations.memories import comparing

        return comparing.compare(self._zone, a, b)

    @_at_work
    def hints(self, query: Query | None = None) -> list[str]:
        """Return hints on unknown names: the zone's, or those in a question.

        >>> zone.hints(Query("Where does she live?", entity="Adda"))
        ["nobody and nothing is called 'Adda'; did you mean Ada?"]
        """
        return suggestions.hints(self._zone, query)

    # Merges

    @_at_work
    def propose_merge(
        self, entity_a: str, entity_b: str, confidence: float, reason: str
    ) -> Receipt:
        """Propose that two entities are one (A16), by their ids. `confidence` is 0 to 1.

        >>> a, b = (result.id for result in zone.recall("Ada Bob", scope="entities").results)
        >>> zone.propose_merge(a, b, 0.5, "both are new here").status
        'new'
        """
        return merging.propose_merge(self._zone, entity_a, entity_b, confidence, reason)

    @_at_work
    def merges(self) -> list[Merge]:
        """Return what waits for a decision, then what was merged, rejected or undone.

        >>> zone.merges()[0].reasons
        ['the name that the handle gave']
        """
        return listing.merges(self._zone)

    @_at_work
    def decide_merge(self, id: str, approve: bool) -> Merge:
        """Approve or reject a merge that waits for a decision (A16); return its new state.

        Raises:
            InvalidInput: there is none with this id, or it waits for none.

        >>> a, b = (result.id for result in zone.recall("Ada Bob", scope="entities").results)
        >>> proposed = zone.propose_merge(a, b, 0.5, "both are new here")
        >>> zone.decide_merge(zone.merges()[0].id, approve=False).status
        'rejected'
        """
        return merging.decide_merge(self._zone, id, approve=approve)

    @_at_work
    def undo_merge(self, id: str) -> Merge:
        """Undo a merge (A16), by its id or that of its proposal; return its new state.

        Raises:
            InvalidInput: there is none with this id, or it was not carried out.

        >>> zone.undo_merge(zone.merges()[0].id).status
        'undone'
        """
        return merging.undo_merge(self._zone, id)

    # Maintenance

    @_at_work
    def exists(self) -> bool:
        """Return whether the zone has events.

        >>> zone.exists()
        True
        """
        return self._zone.exists()

    @_at_work
    def head(self) -> str:
        """Return a short text that names the ledger's end, for `verify` to expect later.

        >>> zone.verify(expect=zone.head()).ledger_ok
        True
        """
        return self._zone.head()

    @_at_work
    def status(self) -> Status:
        """Return the zone's counts and how far it is.

        >>> zone.status().events
        2
        """
        return zone_status.status(self._zone)

    @_at_work
    def verify(
        self, *, expect: str | None = None, progress: Progress | None = None
    ) -> Verification:
        """Replay the ledger and compare every read model with what comes out; change nothing.

        `expect` is a head of an earlier moment that the ledger must hold.

        >>> zone.verify().ok
        True
        """
        return maintenance.verify(self._zone, expect, progress)

    @_at_work
    def rebuild(
        self,
        level: Level = "project",
        *,
        dry_run: bool = False,
        compare: bool = False,
        progress: Progress | None = None,
    ) -> RebuildReport:
        """Make a derived layer again; the old one is used until it is done.

        `index`: search indexes from the rows. `project`: every file from the change records.
        `derive`: decide again, with recorded vectors. `fresh`: decide again, and embed again.

        With `compare` (derive and fresh) the new generation stays beside the one in use, and the
        report says how they differ; the same level without it puts the new one into use.

        Raises:
            Busy: another rebuild of this zone is at work.

        >>> zone.rebuild("project").level
        'project'
        """
        return maintenance.rebuild(
            self._zone, level, dry_run=dry_run, compare=compare, progress=progress
        )

    @_at_work
    def rollback(self, progress: Progress | None = None) -> RollbackReport:
        """Go back to the generation before the last rebuild, brought up to date.

        Raises:
            HomeError: there is none.

        >>> before = zone.status().generation
        >>> done = zone.rebuild("derive")
        >>> zone.rollback().generation == before
        True
        """
        return maintenance.rollback(self._zone, progress)

    @_at_work
    def reclaim(self, *, dry_run: bool = False) -> ReclaimReport:
        """Remove change records of chains that are no longer needed from the embedded ledger.

        Raises:
            InvalidInput: the ledger is not the embedded one.

        >>> zone.reclaim(dry_run=True).records
        0
        """
        return maintenance.reclaim(self._zone, dry_run=dry_run)

    @_at_work
    def dead_letters(self) -> list[DeadLetter]:
        """Return the records that could not be decided, and are parked.

        >>> zone.dead_letters()
        []
        """
        return maintenance.dead_letters(self._zone)

    @_at_work
    def retry(self, number: int) -> bool:
        """Decide a parked record again; return whether it is no longer parked.

        >>> zone.retry(17)
        True
        """
        return maintenance.retry(self._zone, number)

    @_at_work
    def drop(self, number: int) -> bool:
        """Drop a parked record; return whether it is no longer parked.

        >>> zone.drop(17)
        True
        """
        return maintenance.drop(self._zone, number)
