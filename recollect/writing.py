"""The side of a memory that is written to: events, commands, and what is forgotten."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from projections.events.queries import numbers_of_source
from projections.files import ZoneFiles
from recollect.opened import Opened, counted, unix_ms
from recollect.token import Token
from schemas.errors import InvalidInput, NotConcluded
from schemas.events import (
    RESERVED_PLATFORM,
    Access,
    AnyPayload,
    CreateMentalModel,
    DecideMerge,
    Draft,
    Forget,
    ProposeMerge,
    Recalled,
    UndoMerge,
    UpdateMentalModel,
)
from schemas.inbound import InboundEvent, check_platform, own_draft_of
from streams.commands import command, drawn_id, publish_commands
from streams.ledger import EVENTS, Receipt, partition_of

_WAIT_SECONDS = 0.02


class Forgotten(msgspec.Struct, frozen=True):
    """What an erasure removed: the events by the source's ids, and rows of each kind."""

    forgotten: list[str]
    facts: int
    entities: int
    vectors: int


class Writing(Opened):
    """Puts events and commands into the ledger, and waits until they are concluded."""

    # The last of them that this process published.
    _published = 0

    def publish(self, drafts: Sequence[Draft]) -> list[Receipt]:
        """Put events into the ledger; they are searchable at once as raw turns.

        Raises:
            InvalidInput: one has the platform of commands; then none is published.
        """
        for draft in drafts:
            check_platform(draft.platform)
        return self._noted(self._node.ledger.publish(self.zone, drafts))

    def _noted(self, receipts: list[Receipt]) -> list[Receipt]:
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

    def remember(self, content: str, *, sender_id: str = "user", at: int | None = None) -> Receipt:
        """Remember a text as it stands.

        Raises:
            InvalidInput: it cannot be kept, as at the door of an import.
        """
        now = unix_ms() if at is None else at
        draft = own_draft_of(
            InboundEvent(
                platform=RESERVED_PLATFORM,
                sender_id=sender_id,
                occurred_at=now,
                content=content,
                kind="remember",
            )
        )
        return self._command(draft)

    def command(self, payload: AnyPayload, at: int | None = None) -> Receipt:
        """Put a command into the ledger and conclude it.

        Raises:
            CommandRefused: the ledger holds something else under its id.
        """
        return self._command(command(payload, unix_ms() if at is None else at))

    def _command(self, draft: Draft) -> Receipt:
        (receipt,) = self._noted(publish_commands(self._node.ledger, self.zone, [draft]))
        self.drive()
        return receipt

    def create_mental_model(self, name: str, description: str, **fields: Any) -> Receipt:
        """Keep a report (A12); its id follows from the receipt's event."""
        source = drawn_id("mental-model")
        return self.command(
            CreateMentalModel(source_id=source, name=name, description=description, **fields)
        )

    def update_mental_model(self, model_id: str, description: str) -> Receipt:
        """Write a new version of a report (A12)."""
        source = drawn_id(f"mental-model:{model_id}")
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
                source_id=drawn_id(f"merge:{entity_a}:{entity_b}"),
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
                source_id=drawn_id(f"decide-merge:{candidate_id}"),
                candidate_id=candidate_id,
                approve=approve,
            )
        )

    def undo_merge(self, merge_id: str) -> Receipt:
        """Take an executed merge back (A16)."""
        source = drawn_id(f"undo-merge:{merge_id}")
        return self.command(UndoMerge(source_id=source, merge_id=merge_id))

    def record_accesses(self, accesses: Iterable[Access]) -> Receipt:
        """Count recalls of memories (B1); a service calls this now and then, not per recall."""
        return self.command(Recalled(source_id=drawn_id("recalled"), accesses=tuple(accesses)))

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
            before = counted(files)
        self.command(Forget(source_id=drawn_id("forget"), targets=numbers))
        with self._node.open(self.zone, self._node.current(self.zone)) as files:
            after = counted(files)
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
