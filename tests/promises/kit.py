"""Test kit for promises: commands on a home, and the JSON that they print."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from recollect.cli.app import run

#: 2026-01-05, a Monday.
DAY = "2026-01-05"


class Ended(NamedTuple):
    """How a command ended."""

    status: int
    output: str
    errors: str


class Shell:
    """Runs commands on one home."""

    def __init__(self, room: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.room = room
        self.home = room / "home"
        self._capfd = capfd
        self._files = 0

    def run(self, *arguments: str) -> Ended:
        """Run a command; it may fail."""
        self._capfd.readouterr()
        status = run(["--home", str(self.home), *arguments])
        return Ended(status, *self._capfd.readouterr())

    def __call__(self, *arguments: str) -> Any:
        """Run a command that must succeed, and return the JSON that it prints."""
        ended = self.run(*arguments, "--json")
        assert ended.status == 0, (arguments, ended)
        return json.loads(ended.output)

    def ingest(self, *events: dict[str, Any], options: Iterable[str] = ()) -> Any:
        """Import events from a file, as an export would bring them."""
        return self("ingest", str(self.export(*events)), *options)

    def export(self, *events: dict[str, Any]) -> Path:
        """Write events to a file, one a line."""
        self._files += 1
        path = self.room / f"export-{self._files}.jsonl"
        path.write_text("".join(json.dumps(event) + "\n" for event in events))
        return path

    def recall(self, question: str, *options: str) -> list[dict[str, Any]]:
        """Return the results of a question."""
        results: list[dict[str, Any]] = self("recall", question, *options)["results"]
        return results

    def cited(self, question: str, *options: str) -> list[str]:
        """Return the source's own ids behind the results, in order, each once."""
        found = (
            id_ for item in self.recall(question, *options) for id_ in item["source_event_ids"]
        )
        return list(dict.fromkeys(found))

    def facts(self, question: str, *options: str) -> list[str]:
        """Return the texts of the facts that answer a question."""
        return [item["text"] for item in self.recall(question, "--scope", "facts", *options)]

    def entities(self, name: str, *options: str) -> list[dict[str, Any]]:
        """Return the entities with a name."""
        return self.recall(name, "--scope", "entities", *options)


def said(content: str, id: str, **fields: Any) -> dict[str, Any]:
    """Return a message; by Ada, on the Monday, unless said otherwise."""
    given = {"platform": "chat", "sender_id": "u-ada", "sender_name": "Ada"}
    return {**given, "occurred_at": f"{DAY}T10:00:00Z", **fields, "id": id, "content": content}
