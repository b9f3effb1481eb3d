"""Test kit for erasures: commands on a home, and searches of its files and ledger."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from recollect.cli.app import run
from recollect.schemas.errors import IntegrityError
from recollect.schemas.events import Draft
from recollect.schemas.ledger.records import read_change, read_event, unseal_part
from recollect.schemas.ledger.seal import unseal
from recollect.schemas.wire import Receipt
from recollect.streams.ledger import CHANGES, EVENTS, partition_of
from recollect.streams.ledger.embedded_ledger import EmbeddedLedger
from tests.memory import Memory
from tests.opened import payload_of, sections_of
from tests.protocol.kit import files_holding

ZONE = "default"


class Ended(NamedTuple):
    """How a command ended: its exit status, its JSON, and what it said on stderr."""

    status: int
    answer: Any
    said: str


class Recollect:
    """One home and the commands on it."""

    def __init__(self, room: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.home = room / "home"
        self._capfd = capfd
        self._files = 0

    def end(self, *arguments: str) -> Ended:
        """Run a command with --json, however it ends."""
        self._capfd.readouterr()
        status = run(["--home", str(self.home), *arguments, "--json"])
        out, err = self._capfd.readouterr()
        return Ended(status, json.loads(out) if out.strip() else None, err)

    def run(self, *arguments: str) -> Any:
        """Run a command that succeeds; return its JSON."""
        ended = self.end(*arguments)
        assert ended.status == 0, ended.said
        return ended.answer

    def ingest(self, *lines: dict[str, Any], zone: str = ZONE, options: Sequence[str] = ()) -> Any:
        """Ingest events; return the report."""
        self._files += 1
        path = self.home.parent / f"events-{self._files}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        answer = self.end("--zone", zone, "ingest", str(path), *options).answer
        path.unlink()
        return answer

    def publish(self, *drafts: Draft, zone: str = ZONE) -> list[Receipt]:
        """Put drafts straight into the ledger, without any check of input."""
        ledger = EmbeddedLedger(self.home)
        try:
            return ledger.publish(zone, drafts)
        finally:
            ledger.close()

    def memory(self, zone: str = ZONE) -> Memory:
        """Open the home as a library user does."""
        return Memory(self.home, zone)

    def whole(self, zone: str = ZONE) -> bool:
        """Return whether `verify` finds nothing."""
        return bool(self.run("--zone", zone, "verify")["ok"])

    def left(self, *words: str, zone: str = ZONE) -> list[str]:
        """Return where words are left: the files and the readable records that contain them."""
        needles = [word.encode() for word in words]
        found = files_holding(self.home, *needles)
        found += [
            where for where, text in self._opened(zone) if any(needle in text for needle in needles)
        ]
        return found

    def _opened(self, zone: str) -> list[tuple[str, bytes]]:
        ledger = EmbeddedLedger(self.home)
        texts = []
        try:
            for record in ledger.read(EVENTS, partition_of(zone), 0, 1_000_000, zone):
                envelope, sealed = read_event(record.value)
                key = ledger.keys.get([envelope.key_id]).get(envelope.key_id)
                if key is not None:
                    text = unseal(key, sealed.sealed, sealed.envelope)
                    said = payload_of(text)
                    texts.append((f"event {envelope.number}, a {envelope.kind}", said))
            for record in ledger.read(CHANGES, partition_of(zone), 0, 1_000_000, zone):
                header, change = read_change(record.value)
                for part in change.parts:
                    keys = ledger.keys.get([source.key_id for source in part.sources])
                    with suppress(IntegrityError):
                        if (part_text := unseal_part(change, part, keys)) is not None:
                            texts.append((f"change {header.number}", sections_of(part_text)))
        finally:
            ledger.close()
        return texts


def line(id: str | None, content: str, **fields: Any) -> dict[str, Any]:
    """Return an event as an import has it."""
    event = {
        "id": id,
        "platform": "chat",
        "sender_id": "ada",
        "sender_name": "Ada",
        "occurred_at": "2026-01-05T10:00:00Z",
        "content": content,
    }
    return {name: value for name, value in {**event, **fields}.items() if value is not None}
