"""The library: one home's memory, to write to, to ask, and to keep in order."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from projections.events.queries import event_count, numbers_of_source
from projections.files import ZoneFiles
from projections.generations import Generation
from projections.identity.queries import entity_count
from projections.memory.queries import dead_letters
from projections.recall import (
    DEFAULT_PROFILE,
    Answer,
    Explanation,
    Part,
    Profile,
    Query,
    QueryTokens,
    Recaller,
    Result,
    stored,
)
from projections.sqlite import value
from recollect.asking import by_event, in_time, parted
from recollect.following import followed
from recollect.home import Home
from recollect.ledgers import open_node
from recollect.past import Past
from schemas.changes import DeadLetter
from schemas.errors import Busy, InvalidInput, NotConcluded
from schemas.events import (
    Access,
    AnyPayload,
    CreateMentalModel,
    DecideMerge,
    Draft,
    Drop,
    Forget,
    ProposeMerge,
    Recalled,
    Retry,
    UndoMerge,
    UpdateMentalModel,
)
from schemas.ids import text_hash
from schemas.inbound import InboundEvent, draft_of
from schemas.zones import DEFAULT_ZONE, check_zone
from streams import rebuilding, verifying
from streams.encoder import CrossEncoder
from streams.ledger import CHANGES, EVENTS, Receipt, partition_of
from streams.locks import exclusive
from streams.node import Node
from streams.projecting import Progress
from streams.rebuilding import Level, Rebuilt
from streams.verifying import Verification

Vector = npt.NDArray[np.float32]

PLATFORM = "recollect"
#: So long without a step, though there is work, and the zone's files have stopped moving.
STALLED_SECONDS = 60.0
_WAIT_SECONDS = 0.02


class Token(msgspec.Struct, frozen=True):
    """A place in the ledger: a partition, the offset after a record, and its number in the zone."""

    partition: int
    offset: int
    number: int

    @classmethod
    def read(cls, text: str) -> Token:
        """Return the token that `ingest` printed.

        Raises:
            InvalidInput: nobody printed that.
        """
        if not cls.looks(text):
            raise InvalidInput(f"{text[:60]!r} is no token; ingest --json prints one")
        return cls(*map(int, text.split(":")))

    @staticmethod
    def looks(text: str) -> bool:
        """Return whether a text has the form of a token, which no time has."""
        parts = text.split(":")
        return len(parts) == 3 and all(part.isdecimal() and len(part) < 16 for part in parts)

    def __str__(self) -> str:
        return f"{self.partition}:{self.offset}:{self.number}"


class Forgotten(msgspec.Struct, frozen=True):
    """What an erasure removed: the events by the source's ids, and rows of each kind."""

    forgotten: list[str]
    facts: int
    entities: int
    vectors: int


class ModelStatus(msgspec.Struct, frozen=True):
    """How far a read model is: the running number of its last record."""

    model: str
    watermark: int


class Status(msgspec.Struct, frozen=True):
    """What a zone holds. `lag` is how many ledger records are not concluded yet.

    `lag_seconds` is how long the first of those has been in the ledger, `moved_seconds_ago` when
    the files last moved; None where nobody noted it. `stalled`: there is work, and nobody does it.
    """

    zone: str
    generation: str
    events: int
    facts: int
    entities: int
    observations: int
    dead_letters: int
    lag: int
    lag_seconds: float | None
    moved_seconds_ago: float | None
    stalled: bool
    models: list[ModelStatus]
    encoder: str | None


class Memory:
    """One zone's memory. Open it with a home; close it, or use it as a context manager."""

    def __init__(
        self,
        home: Home | Path | str,
        zone: str = DEFAULT_ZONE,
        *,
        profile: Profile = DEFAULT_PROFILE,
    ) -> None:
        self.home = home if isinstance(home, Home) else Home(Path(home))
        self.zone = check_zone(zone)
        self._profile = profile
        self._node = open_node(self.home)
        self._door = self._node.door
        self._recaller: tuple[Generation, Recaller, ZoneFiles] | None = None
        self._reranker = self._rerank if self.home.settings.reranker is not None else None
        self._cross_encoder: CrossEncoder | None = None
        self._past = Past(self._node, self.zone, profile, self._reranker)
        self._folded_to: tuple[int, ...] = ()
        self._published = 0
        # A worker or replica in this home brings the files up by itself; asking needs no ledger.
        self._followed = followed(self.home)

    def exists(self) -> bool:
        """Return whether the zone has come into being: with its first event."""
        if self._followed:
            return self._node.zone(self.zone).exists()
        return self._node.ledger.head(self.zone).number > 0

    def _must_exist(self) -> None:
        if not self.exists():
            raise InvalidInput(f"zone {self.zone} holds nothing; ingest something first")

    # Writing

    def publish(self, drafts: Sequence[Draft]) -> list[Receipt]:
        """Put events into the ledger; they are searchable at once as raw turns."""
        receipts = self._node.ledger.publish(self.zone, drafts)
        self._published = max(
            self._published, max((receipt.number for receipt in receipts), default=0)
        )
        return receipts

    def token(self) -> str:
        """Return what `wait_for` waits for elsewhere: everything that was published here."""
        partition = partition_of(self.zone)
        return str(Token(partition, self._node.ledger.end(EVENTS, partition), self._published))

    def wait_for(self, token: str, timeout: float) -> None:
        """Wait until what a token stands for is concluded, and can be recalled here.

        Raises:
            InvalidInput: it is no token of this zone.
            NotConcluded: it was not within `timeout` seconds.
        """
        wanted = Token.read(token)
        if wanted.partition != partition_of(self.zone):
            raise InvalidInput(f"token {token!r} is not of zone {self.zone}")
        deadline = time.monotonic() + timeout
        while (number := self._concluded()) < wanted.number:
            if time.monotonic() > deadline:
                raise NotConcluded(
                    f"zone {self.zone} is at record {number} after {timeout:g} s, and the token "
                    f"stands for {wanted.number}; ask again, or see that a worker runs"
                )
            time.sleep(_WAIT_SECONDS)

    def _concluded(self) -> int:
        """Return the last record that the zone's files hold, brought up where nobody else does."""
        if not self._followed:
            self.drive()
        if not self._node.zone(self.zone).exists():
            return 0
        with self._node.open(self.zone, self._node.current(self.zone)) as files:
            return files.memory.watermark().number

    def drive(self, progress: Progress | None = None) -> int:
        """Conclude everything that is in the ledger; return how many records that were."""
        if not self.exists():
            return 0
        return self._node.conclude(self.zone, progress)

    def remember(self, content: str, *, sender_id: str = "user", at: int | None = None) -> Receipt:
        """Remember a text as it stands.

        Raises:
            InvalidInput: it cannot be kept, as at the door of an import.
        """
        now = _now() if at is None else at
        draft = draft_of(
            InboundEvent(
                platform=PLATFORM,
                sender_id=sender_id,
                occurred_at=now,
                content=content,
                kind="remember",
            )
        )
        (receipt,) = self.publish([draft])
        self.drive()
        return receipt

    def command(self, payload: AnyPayload, at: int | None = None) -> Receipt:
        """Put a command into the ledger and conclude it."""
        draft = Draft(platform=PLATFORM, occurred_at=_now() if at is None else at, payload=payload)
        (receipt,) = self.publish([draft])
        self.drive()
        return receipt

    def create_mental_model(self, name: str, description: str, **fields: Any) -> Receipt:
        """Keep a report (A12); its id follows from the receipt's event."""
        source = f"mental-model:{text_hash(name + description)}:{_now()}"
        return self.command(
            CreateMentalModel(source_id=source, name=name, description=description, **fields)
        )

    def update_mental_model(self, model_id: str, description: str) -> Receipt:
        """Write a new version of a report (A12)."""
        source = f"mental-model:{model_id}:{text_hash(description)}:{_now()}"
        return self.command(
            UpdateMentalModel(source_id=source, model_id=model_id, description=description)
        )

    def propose_merge(
        self, entity_a: str, entity_b: str, confidence: float, reason: str
    ) -> Receipt:
        """Say that two entities may be one (A16)."""
        if not 0 <= confidence <= 1:
            raise InvalidInput(f"confidence {confidence}: give 0 to 1")
        return self.command(
            ProposeMerge(
                source_id=f"merge:{entity_a}:{entity_b}:{_now()}",
                entity_a=entity_a,
                entity_b=entity_b,
                confidence=confidence,
                reason=reason,
            )
        )

    def decide_merge(self, candidate_id: str, approve: bool) -> Receipt:
        """Approve or reject a merge candidate (A16)."""
        return self.command(
            DecideMerge(
                source_id=f"decide-merge:{candidate_id}", candidate_id=candidate_id, approve=approve
            )
        )

    def undo_merge(self, merge_id: str) -> Receipt:
        """Take an executed merge back (A16)."""
        return self.command(UndoMerge(source_id=f"undo-merge:{merge_id}", merge_id=merge_id))

    def record_accesses(self, accesses: Iterable[Access]) -> Receipt:
        """Count recalls of memories (B1); a service calls this now and then, not per recall."""
        counted = tuple(accesses)
        return self.command(Recalled(source_id=f"recalled:{_now()}", accesses=counted))

    def forget(self, *source_ids: str, platform: str | None = None) -> Forgotten:
        """Erase events, by the sources' own ids, and all that was concluded from them, everywhere.

        One call for many costs as much as for one.

        Raises:
            InvalidInput: the zone holds no such event, or several platforms have that id; then
                nothing is erased.
            ErasureFailed: it could not be carried out; it will be, before anything else.
        """
        self._must_exist()
        self.drive()
        with self._node.open(self.zone, self._node.current(self.zone)) as files:
            numbers = tuple(
                sorted(
                    number
                    for source_id in dict.fromkeys(source_ids)
                    for number in self._numbers_of(files, source_id, platform)
                )
            )
            before = _counts(files)
        self.command(Forget(source_id="forget:" + ",".join(map(str, numbers)), targets=numbers))
        with self._node.open(self.zone, self._node.current(self.zone)) as files:
            after = _counts(files)
        gone = {name: before[name] - after[name] for name in before}
        return Forgotten(
            forgotten=list(dict.fromkeys(source_ids)),
            facts=gone["facts"],
            entities=gone["entities"],
            vectors=gone["vectors"],
        )

    def _numbers_of(self, files: ZoneFiles, source_id: str, platform: str | None) -> list[int]:
        found = numbers_of_source(files.events.connection, source_id, platform)
        if not found:
            where = f" of platform {platform}" if platform else ""
            raise InvalidInput(f"zone {self.zone} holds no event {source_id!r}{where}")
        platforms = sorted({name for _, name, _ in found})
        if len(platforms) > 1:
            raise InvalidInput(
                f"{source_id!r} is an event of {', '.join(platforms)}; say which with --platform"
            )
        return [number for number, _, _ in found]

    # Asking

    def recall(self, query: Query, *, known_at: int | Token | None = None) -> Answer:
        """Return what the memory holds on a question.

        `known_at`: answer as then, at a time (unix ms) or a place in the ledger, without what
        was forgotten since.

        Raises:
            InvalidInput: the question cannot be asked, or `known_at` is no place of this zone.
        """
        query = _with_text(query)
        query.check()
        if not self.exists():
            return Answer(query=query.text, results=[], ms=0.0)
        recaller = self._recall() if known_at is None else self._recall_at(known_at)
        if recaller is None:
            return Answer(query=query.text, results=[], ms=0.0)
        parts = self._parts(query, recaller, known_at)
        answer = recaller.recall_all(query, parts)
        self._store_index()
        return answer

    def explain(
        self, query: Query, id_: str, *, known_at: int | Token | None = None
    ) -> Explanation | None:
        """Return what became of a memory in the answer to a question; None where there is none.

        Raises:
            InvalidInput: as `recall`.
        """
        query = _with_text(query)
        query.check()
        if not self.exists():
            return None
        recaller = self._recall() if known_at is None else self._recall_at(known_at)
        if recaller is None:
            return None
        return recaller.explain(query, self._parts(query, recaller, known_at), id_)

    def _parts(self, query: Query, recaller: Recaller, known_at: int | Token | None) -> list[Part]:
        """Return the questions that are asked at once, as the encoder reads them."""

        def ask(event: Query) -> list[Result]:
            return recaller.recall(event, *self._encoded(event, recaller)).results

        parts = []
        for words, one in parted(query, recaller):
            timed = by_event(in_time(one, recaller), recaller, ask)
            asked = self._asked(timed, known_at)
            parts.append(Part(asked, *self._encoded(asked, recaller), words))
        return parts

    def _asked(self, query: Query, known_at: int | Token | None) -> Query:
        """Return a question with the moment at which it is asked: now, or then."""
        if query.asked_at is not None:
            return query
        now = _now()
        if isinstance(known_at, Token):
            known_at = self._past.timeline().known_since(known_at.number)
        at = now if known_at is None else min(known_at, now)
        return msgspec.structs.replace(query, asked_at=at)

    def _rerank(self, question: str, texts: Sequence[str]) -> Vector:
        """Judge texts by the home's cross-encoder, which is loaded when it is first needed."""
        if self._cross_encoder is None:
            self._cross_encoder = self.home.load_reranker()
        assert self._cross_encoder is not None
        return self._cross_encoder.score(question, texts)

    def _encoded(
        self, query: Query, recaller: Recaller
    ) -> tuple[Vector | None, QueryTokens | None]:
        """Return a question as the encoder reads it; nothing without an encoder or a word.

        Nothing, too, where the zone is indexed by another model's vectors: those of two models
        have nothing to say to one another, and words are found all the same.
        """
        if self._door.model is None or not query.text.strip():
            return None, None
        if recaller.encoder != self._door.model:
            return None, None
        text = recaller.text_to_embed(query.text)
        encoded = self._door.encoder().encode_query_tokens(text)
        return encoded.pooled, QueryTokens(text, encoded.offsets, encoded.vectors)

    def _store_index(self) -> None:
        """Keep beside the files what this process read of a large zone, for the next one."""
        if self._recaller is None or not self._recaller[1].worth_storing:
            return
        _, recaller, files = self._recaller
        # Without the right or the room to write, the next process reads it again.
        with suppress(Busy, OSError), exclusive(files.directory / stored.LOCK, wait=False):
            recaller.store()

    def _recall(self) -> Recaller:
        """Return the recaller of the generation in use, with every raw turn of the ledger."""
        if not self._followed:
            self._fold()
        generation = self._node.current(self.zone)
        if self._recaller is None or self._recaller[0] != generation:
            self._close_recaller()
            files = self._node.open_to_read(self.zone, generation)
            self._recaller = (generation, Recaller(files, self._profile, self._reranker), files)
        return self._recaller[1]

    def _recall_at(self, known_at: int | Token) -> Recaller | None:
        """Return the recaller of what was known then; None where that was nothing."""
        if isinstance(known_at, Token) and known_at.partition != partition_of(self.zone):
            raise InvalidInput(f"token '{known_at}' is not of zone {self.zone}")
        now = self._recall()
        timeline = self._past.timeline()
        if isinstance(known_at, Token):
            number = min(known_at.number, len(timeline))
        else:
            number = timeline.last_known(known_at)
        return now if number == len(timeline) else self._past.recaller(number)

    def _fold(self) -> None:
        """Bring in what the ledger holds by now."""
        ledger = self._node.ledger
        ends = tuple(
            ledger.end(topic, partition_of(self.zone))
            for topic in ((EVENTS, CHANGES) if ledger.shared else (EVENTS,))
        )
        if ends == self._folded_to:
            return
        if ledger.shared:
            # Others conclude; what they did is as much part of the answer.
            self._node.follow(self.zone)
        else:
            self._node.fold(self.zone)
        self._folded_to = ends

    # Keeping in order

    def status(self) -> Status:
        """Return what the zone holds and how far it is."""
        encoder = self._door.model
        if not self.exists():
            return Status(self.zone, "", 0, 0, 0, 0, 0, 0, 0.0, None, False, [], encoder)
        if not self._followed:
            self._node.fold(self.zone)
        lag_seconds = self._lag_seconds()
        moved = self._node.journal.moved(self.zone)
        moved_ago = (_now() - moved.at) / 1_000 if moved.at else None
        generation = self._node.current(self.zone)
        with self._node.open(self.zone, generation) as files:
            marks = {model.name: model.watermark().number for model in files.all}
            counts = _counts(files)
            return Status(
                zone=self.zone,
                generation=generation.name,
                events=event_count(files.events.connection),
                facts=counts["facts"],
                entities=counts["entities"],
                observations=counts["observations"],
                dead_letters=len(dead_letters(files.memory.connection)),
                lag=marks["events"] - marks["memory"],
                lag_seconds=lag_seconds,
                moved_seconds_ago=moved_ago,
                stalled=min(lag_seconds or 0, moved_ago or 0) > STALLED_SECONDS,
                models=[ModelStatus(name, number) for name, number in marks.items()],
                encoder=generation.encoder,
            )

    def _lag_seconds(self) -> float | None:
        """Return how long the first record that is not concluded has waited; 0: there is none."""
        with self._node.open(self.zone, self._node.current(self.zone)) as files:
            mark = files.memory.watermark()
        ledger, partition = self._node.ledger, partition_of(self.zone)
        waiting = ledger.read(EVENTS, partition, mark.event_offset, 1, self.zone)
        if not waiting:
            return 0.0
        at = ledger.appended_at(EVENTS, partition, waiting[0].offset)
        return None if at is None else max(_now() - at, 0) / 1_000

    def rebuild(self, level: Level, progress: Progress | None = None) -> Rebuilt:
        """Throw a derived layer away and make it again; the old one serves until it is done."""
        self._must_exist()
        self.drive()
        return rebuilding.rebuild(self._node, self.zone, level, progress)

    def pending_conclusions(self) -> int:
        """Return how many ledger records are not concluded yet."""
        return self.status().lag

    def pending(self) -> int:
        """Return how many ledger records a rebuild reads."""
        self._must_exist()
        return rebuilding.pending(self._node, self.zone)

    def rollback(self, progress: Progress | None = None) -> Generation:
        """Go back to the generation before, brought up to date."""
        self._must_exist()
        return rebuilding.rollback(self._node, self.zone, progress)

    def verify(self, progress: Progress | None = None) -> Verification:
        """Replay the ledger and compare every read model with what comes out."""
        self._must_exist()
        return verifying.verify(self._node, self.zone, progress)

    def dead_letters(self) -> list[DeadLetter]:
        """Return the records that are parked."""
        if not self.exists():
            return []
        with self._node.open(self.zone, self._node.current(self.zone)) as files:
            return dead_letters(files.memory.connection)

    def retry(self, number: int) -> bool:
        """Decide a parked record again; return whether it is parked no more."""
        self.command(Retry(source_id=f"retry:{number}:{_now()}", number=number))
        return number not in {letter.number for letter in self.dead_letters()}

    def drop(self, number: int) -> bool:
        """Give a parked record up; return whether it is parked no more."""
        self.command(Drop(source_id=f"drop:{number}:{_now()}", number=number))
        return number not in {letter.number for letter in self.dead_letters()}

    def wait(self, timeout: float) -> bool:
        """Return True as soon as the zone's ledger has something new, False after `timeout` s."""
        partition = partition_of(self.zone)
        ledger = self._node.ledger
        ends = {(topic, partition): ledger.end(topic, partition) for topic in (EVENTS, CHANGES)}
        return ledger.wait(ends, timeout)

    @property
    def node(self) -> Node:
        """The node that does the work, for commands that look inside."""
        return self._node

    def close(self) -> None:
        """Close every file."""
        self._close_recaller()
        self._past.close()
        self._node.close()

    def _close_recaller(self) -> None:
        if self._recaller is not None:
            self._recaller[2].close()
            self._recaller = None

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _with_text(query: Query) -> Query:
    """Return a question whose text is one: a command line may hand over bytes that are none."""
    text = query.text.encode("utf-8", "replace").decode().replace("\0", " ")
    return msgspec.structs.replace(query, text=text)


def _counts(files: ZoneFiles) -> dict[str, int]:
    return {
        "facts": value(files.memory.connection, "SELECT count(*) FROM facts"),
        "entities": entity_count(files.identity.connection),
        "vectors": value(files.embeddings.connection, "SELECT count(*) FROM embeddings"),
        "observations": value(
            files.memory.connection,
            "SELECT count(*) FROM analysis_runs WHERE analysis_type_id LIKE 'observation%'",
        ),
    }


def _now() -> int:
    return time.time_ns() // 1_000_000
