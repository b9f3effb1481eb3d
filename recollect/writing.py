"""The side of a memory that is written to: events and commands."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

from recollect.opened import Opened, unix_ms
from recollect.token import Token
from schemas.errors import InvalidInput, NotDecided
from schemas.events import (
    RESERVED_PLATFORM,
    Access,
    AnyPayload,
    CreateMentalModel,
    DecideMerge,
    Draft,
    ProposeMerge,
    Recalled,
    UndoMerge,
    UpdateMentalModel,
)
from schemas.inbound import InboundEvent, check_platform, own_draft_of
from streams.ledger import EVENTS, Receipt, partition_of
from streams.publishing.commands import command, drawn_id, publish_commands

_WAIT_SECONDS = 0.02


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
            NotDecided: it was not within `timeout` seconds.
        """
        wanted = Token.read(token)
        if wanted.partition != partition_of(self.zone):
            raise InvalidInput(f"token {token!r} is not of zone {self.zone}")
        deadline = time.monotonic() + timeout
        while (number := self._concluded()) < wanted.number:
            if time.monotonic() > deadline:
                raise NotDecided(
                    f"zone {self.zone} is at record {number} after {timeout:g} s, and the token "
                    f"stands for {wanted.number}; ask again, or see that a worker runs"
                )
            time.sleep(_WAIT_SECONDS)

    def _concluded(self) -> int:
        """Return the last record that the zone's files hold, brought up where nobody else does."""
        if not self._followed and self._node.writes:
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
