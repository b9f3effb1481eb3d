"""The file events.db, projected from the topic `events` alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from recollect.projections.migrations import Migrations
from recollect.projections.readmodel import ReadModel
from recollect.schemas.events import (
    ActivateChain,
    Content,
    Deletion,
    Edit,
    Event,
    Forget,
    Reaction,
    SystemNotice,
    Tick,
)
from recollect.schemas.exported_events import SWITCH_GAP

_INSERT_EVENT = f"""
INSERT INTO events (
    number, id, kind, platform, source_id, sender_id, sender_name, peer_id, peer_kind, thread_id,
    session_id, direction, reply_to, content, caption, attachments, metadata, turn_id, utc_offset,
    conversation, occurred_at, ingested_at, target, said_at
) VALUES ({", ".join("?" * 24)})
"""
_INSERT_DELETION = "INSERT INTO deletions VALUES (?, ?, ?, ?, ?, ?, ?)"

#: Kinds of content that exist only in the ledger; they are not projected.
_LEDGER_ONLY_KINDS = (Reaction, SystemNotice)

_json = msgspec.json.Encoder()


class EventsModel(ReadModel):
    """Raw turns with their delivery context and full-text index."""

    name = "events"
    watermark_columns = ("number", "offset", "hash")
    full_text_index = "events_fts"
    ledger_tables = frozenset({"seals", "switches"})
    migrations = Migrations(Path(__file__).parent / "migrations")

    def project_events(self, events: Sequence[Event], seals: Sequence[tuple[int, bytes]]) -> bool:
        """Apply events in order, in the caller's transaction; return whether any was an erasure.

        `seals`: (number, key id) of every record, readable or not.
        """
        rows: list[tuple[object, ...]] = []
        deletions: list[tuple[object, ...]] = []
        erased = False
        self.connection.executemany("INSERT OR REPLACE INTO seals VALUES (?, ?)", seals)
        for event in events:
            if isinstance(event.payload, Deletion):
                deletions.append(_deletion(event, event.payload))
            elif isinstance(event.payload, _LEDGER_ONLY_KINDS):
                continue
            elif isinstance(event.payload, Content):
                # A turn_completed without text has nothing to search for.
                if event.payload.content or event.payload.attachments:
                    rows.append(_row(event, event.payload))
            elif isinstance(event.payload, Forget):
                erased = True
                self._insert(rows, deletions)
                for table in ("events", "deletions"):
                    self.connection.executemany(
                        f"DELETE FROM {table} WHERE number = ?",
                        [(number,) for number in event.payload.targets],
                    )
                self.connection.execute(
                    "INSERT OR REPLACE INTO erasures VALUES (?)", (event.number,)
                )
            elif isinstance(event.payload, ActivateChain):
                self.connection.execute(
                    "INSERT OR REPLACE INTO switches VALUES (?, ?)",
                    (event.number, event.payload.chain),
                )
            elif isinstance(event.payload, Tick) and event.payload.name == SWITCH_GAP:
                # A switch of another ledger counts as a switch, and activates no chain here.
                self.connection.execute(
                    "INSERT OR REPLACE INTO switches VALUES (?, ?)", (event.number, SWITCH_GAP)
                )
        self._insert(rows, deletions)
        return erased

    def _insert(self, rows: list[tuple[object, ...]], deletions: list[tuple[object, ...]]) -> None:
        self.connection.executemany(_INSERT_EVENT, rows)
        self.connection.executemany(_INSERT_DELETION, deletions)
        rows.clear()
        deletions.clear()


def conversation_of(content: Content, platform: str) -> str:
    """Return the key of a message's conversation: platform, peer, thread and session."""
    return "\x1f".join(
        (platform, content.peer_id or "", content.thread_id or "", content.session_id or "")
    )


def _deletion(event: Event, deletion: Deletion) -> tuple[object, ...]:
    return (
        event.number,
        event.id,
        event.platform,
        deletion.source_id,
        deletion.sender_id,
        deletion.target,
        event.occurred_at,
    )


def _caption(platform: str, content: Content) -> str:
    """Return the text shown and searched with the content: an email's subject, and captions."""
    subject = content.metadata.get("subject") if platform == "email" else None
    captions = " ".join(item.caption for item in content.attachments if item.caption)
    return f"{subject} {captions}".strip() if isinstance(subject, str) else captions


def _row(event: Event, content: Content) -> tuple[object, ...]:
    edit = content if isinstance(content, Edit) else None
    return (
        event.number,
        event.id,
        event.kind,
        event.platform,
        content.source_id,
        content.sender_id,
        content.sender_name,
        content.peer_id,
        content.peer_kind,
        content.thread_id,
        content.session_id,
        content.direction,
        content.reply_to,
        content.content,
        _caption(event.platform, content),
        _json.encode(content.attachments).decode() if content.attachments else "[]",
        _json.encode(content.metadata).decode() if content.metadata else "{}",
        content.turn_id,
        content.utc_offset,
        conversation_of(content, event.platform),
        event.occurred_at,
        event.ingested_at,
        edit.target if edit else None,
        edit.said_at if edit else None,
    )
