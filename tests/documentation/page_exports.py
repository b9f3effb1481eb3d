"""Small export files of other programs, under the file names used in the docs."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path

MAIL = """From: Nils <nils@example.org>
Date: Mon, 1 Jan 2024 00:00:00 +0000
Message-ID: <{id}@example.org>

I moved to Bergen.
"""
CHAT = {
    "title": "Bergen",
    "create_time": 1.7e9,
    "mapping": {
        "a": {
            "id": "a",
            "message": {
                "id": "a",
                "author": {"role": "user"},
                "create_time": 1.7e9,
                "content": {"content_type": "text", "parts": ["I sing in a choir."]},
            },
            "parent": None,
            "children": [],
        }
    },
}
SLACK = {
    "users.json": [{"id": "U1", "name": "nils", "real_name": "Nils"}],
    "channels.json": [{"id": "C1", "name": "general"}],
    "general/2023-11-14.json": [
        {"type": "message", "user": "U1", "text": "I work as a baker.", "ts": "1700000000.000100"}
    ],
}
TYPED = {
    "type": "user",
    "message": {"role": "user", "content": "I prefer tabs."},
    "uuid": "u1",
    "sessionId": "s1",
    "timestamp": "2025-11-05T09:00:00Z",
}


def write_exports(directory: Path) -> None:
    """Write one export of each kind that the guide mentions."""
    _zip(directory / "slack-export.zip", SLACK)
    _zip(directory / "chatgpt-export.zip", {"conversations.json": [CHAT]})
    whatsapp = directory / "WhatsApp Chat with Nils.txt"
    whatsapp.write_text("08/05/2026, 13:56 - Nils: I live in Bergen.\n")
    session = directory / ".claude" / "projects" / "house" / "s1.jsonl"
    session.parent.mkdir(parents=True)
    session.write_text(json.dumps(TYPED) + "\n")
    mbox = directory / "All-mail.mbox"
    mbox.write_text("From nils@example.org Mon Jan  1 00:00:00 2024\n" + MAIL.format(id=1))
    for name in ("cur", "new", "tmp"):
        (directory / "Maildir" / name).mkdir(parents=True)
    (directory / "Maildir" / "cur" / "1.example:2,S").write_text(MAIL.format(id=2))


def _zip(path: Path, members: Mapping[str, object]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, json.dumps(content))
