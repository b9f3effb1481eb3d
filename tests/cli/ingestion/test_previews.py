"""`ingest --dry-run`: what was understood of exports, before anything is published."""

from __future__ import annotations

import json

from tests.adapters.chats.test_slack import export
from tests.adapters.kit import zipped
from tests.cli.kit import Shell


def test_it_shows_people_times_kinds_and_ten_lines_and_makes_no_home(shell: Shell) -> None:
    room = shell.room / "exports"
    room.mkdir()
    chat = "".join(f"25/06/2020, 15:{minute:02} - Ada: line {minute}\n" for minute in range(30))
    (room / "WhatsApp Chat with Ada.txt").write_text(chat + "26/06/2020, 10:00 - Bob: \x1b[2J\n")
    (room / "slack.zip").write_bytes(zipped(export()))
    (room / "notes.rtf").write_text("none")
    before = sorted(path.name for path in shell.room.rglob("*"))
    done = shell("ingest", "--dry-run", "--timezone", "UTC", "--json", "exports")
    assert done.status == 0
    found = json.loads(done.out)
    chats = {one["format"]: one for one in found["exports"]}
    assert set(chats) == {"whatsapp", "slack"}
    whatsapp, slack = chats["whatsapp"], chats["slack"]
    assert whatsapp["kinds"] == {"message": 31}
    assert [(one["name"], one["events"]) for one in whatsapp["people"]] == [("Ada", 30), ("Bob", 1)]
    assert (whatsapp["first"][:16], whatsapp["last"][:16]) == (
        "2020-06-25T15:00",
        "2020-06-26T10:00",
    )
    lines = [one["text"] for one in whatsapp["samples"]]
    assert lines[:5] == [f"line {n}" for n in range(5)]
    assert lines[5:9] == [f"line {n}" for n in range(26, 30)]
    assert slack["kinds"]["reaction"] == 2
    assert found["read"] == 31 + sum(slack["kinds"].values())
    assert (found["rejected"], found["skipped"][0]["files"]) == (0, 1)
    told = shell("ingest", "--dry-run", "--timezone", "UTC", "exports")
    assert "Ada (30), Bob (1)" in told.out
    assert "nothing was stored" in told.out
    assert "\x1b[2J" not in told.out
    assert sorted(path.name for path in shell.room.rglob("*")) == before


def test_what_is_missing_is_asked_for_and_what_is_refused_is_shown(shell: Shell) -> None:
    (shell.room / "chat.txt").write_text("25/06/2020, 15:05 - Ada: hi\n")
    done = shell("ingest", "--dry-run", "chat.txt")
    assert (done.status, "--timezone" in done.err) == (2, True)
    (shell.room / "events.jsonl").write_text('{"platform": "x", "content": "y"}\n')
    done = shell("ingest", "--dry-run", "--json", "events.jsonl")
    assert done.status == 1
    assert json.loads(done.out)["rejections"][0]["line"] == 1
    assert shell("ingest", "--dry-run", "--follow", "events.jsonl").status == 2
