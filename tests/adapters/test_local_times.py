"""FAULTS 46: "today" is the day where it was said, for exports that give instants alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect
from recollect.home.home_directory import Home
from recollect.library.library_zone import Zone
from tests.adapters.kit import Opened, opened

#: 23:30 in UTC of a Tuesday; the next morning in Tokyo, the afternoon before in Los Angeles.
EVENING = datetime(2026, 3, 10, 23, 30, tzinfo=UTC)
SECONDS = EVENING.timestamp()
NEWS = "Today I painted the shed."
TOKYO, LOS_ANGELES = 9 * 60, -7 * 60


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Zone]:
    with Recollect(Home.create_or_open(tmp_path / "home", without_encoder=True)) as opened:
        yield opened.zone("ada")


def written(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return path


def chatgpt(room: Path) -> Path:
    message = {
        "id": "m",
        "author": {"role": "user"},
        "create_time": SECONDS,
        "content": {"content_type": "text", "parts": [NEWS]},
    }
    nodes: Any = {"m": {"id": "m", "message": message, "parent": None, "children": []}}
    conversation = {"title": "Shed", "mapping": nodes, "current_node": "m", "id": "c"}
    return written(room / "conversations.json", [conversation])


def claude(room: Path, at: str = "2026-03-10T23:30:00.000000+00:00") -> Path:
    message = {"uuid": "m", "sender": "human", "text": NEWS, "content": [], "created_at": at}
    return written(room / "conversations.json", [{"uuid": "c", "chat_messages": [message]}])


def claude_code(room: Path) -> Path:
    return written(
        room / "session.jsonl",
        {
            "type": "user",
            "uuid": "m",
            "sessionId": "s",
            "cwd": "/shed",
            "timestamp": "2026-03-10T23:30:00.000Z",
            "message": {"role": "user", "content": NEWS},
        },
    )


def slack(room: Path, **member: Any) -> Path:
    written(room / "users.json", [{"id": "U1", "name": "ada", **member}])
    written(room / "channels.json", [{"id": "C1", "name": "shed"}])
    message = {"type": "message", "user": "U1", "text": NEWS, "ts": f"{SECONDS:.0f}.000100"}
    written(room / "shed" / "2026-03-10.json", [message])
    return room


def discord(room: Path) -> Path:
    message = {
        "id": "1",
        "type": "Default",
        "timestamp": "2026-03-10T23:30:00+00:00",
        "content": NEWS,
        "author": {"id": "7", "name": "ada"},
    }
    channel = {"id": "2", "type": "GuildTextChat", "name": "shed"}
    content = {"guild": {"id": "3", "name": "home"}, "channel": channel, "messages": [message]}
    return written(room / "shed.json", content)


def json_lines(room: Path, at: str | int = "2026-03-10T23:30:00Z") -> Path:
    event = {"platform": "notes", "sender_id": "ada", "occurred_at": at, "content": NEWS}
    return written(room / "notes.jsonl", event)


def offsets(found: Opened) -> list[int]:
    assert not found.rejections
    return [content.utc_offset for content in found.contents]


@pytest.mark.parametrize("export", [chatgpt, claude, claude_code, slack, discord, json_lines])
def test_the_zone_that_is_named_says_which_day_is_today(tmp_path, zone, export) -> None:
    room = tmp_path / "export"
    room.mkdir()
    path = export(room)
    plain, named = opened(path), opened(path, timezone="Asia/Tokyo")
    assert (offsets(plain), offsets(named)) == ([0], [TOKYO])
    assert plain.drafts[0].occurred_at == named.drafts[0].occurred_at == SECONDS * 1000
    zone.ingest_files([path], timezone="Asia/Tokyo")
    (fact,) = zone.facts().facts
    assert "2026-03-11" in fact.text
    again = zone.ingest_files([path])
    assert (again.new, again.duplicate, again.rejected) == (0, 1, 0)


@pytest.mark.parametrize(
    ("member", "offset"),
    [
        ({"tz": "America/Los_Angeles", "tz_offset": -28_800}, LOS_ANGELES),
        ({"tz": "Mars/Olympus", "tz_offset": 32_400}, TOKYO),
        ({"tz": "../../etc/passwd", "tz_offset": 10**9}, 0),
        ({"tz": None, "tz_offset": None}, 0),
    ],
)
def test_slack_knows_the_time_zone_of_its_members(
    tmp_path: Path, member: dict[str, Any], offset: int
) -> None:
    assert offsets(opened(slack(tmp_path, **member))) == [offset]


def test_what_a_member_of_slack_chose_goes_before_the_zone_that_is_named(tmp_path: Path) -> None:
    path = slack(tmp_path, tz="Europe/London")
    assert offsets(opened(path, timezone="Asia/Tokyo")) == [0]


@pytest.mark.parametrize(
    ("at", "offset"),
    [
        ("2026-03-10T16:30:00-07:00", LOS_ANGELES),
        ("2026-03-10T23:30:00+00:00", 0),
        ("2026-03-10T23:30:00Z", TOKYO),
        (round(SECONDS * 1000), TOKYO),
        (str(round(SECONDS * 1000)), TOKYO),
    ],
)
def test_an_offset_that_is_given_is_kept(tmp_path: Path, at: str | int, offset: int) -> None:
    assert offsets(opened(json_lines(tmp_path, at), timezone="Asia/Tokyo")) == [offset]


def test_a_time_that_is_none_is_refused_in_any_zone(tmp_path: Path) -> None:
    for at in ("soonZ", -5, 12):
        found = opened(json_lines(tmp_path, at), timezone="Asia/Tokyo")
        assert [one.reason.partition(":")[0] for one in found.rejections] == ["occurred_at"]


@pytest.mark.parametrize(
    ("at", "day"),
    [
        ("2026-03-11T08:30:00+09:00", "2026-03-11"),
        (EVENING.astimezone(timezone(timedelta(hours=9))), "2026-03-11"),
        ("2026-03-10T23:30:00Z", "2026-03-10"),
        (EVENING, "2026-03-10"),
        (round(SECONDS * 1000), "2026-03-10"),
    ],
)
def test_what_is_remembered_at_a_time_with_an_offset_has_its_day(
    zone: Zone, at: str | int | datetime, day: str
) -> None:
    zone.remember("Ada painted the shed today.", at=at)
    (fact,) = zone.facts().facts
    assert fact.when is None or str(fact.when.first) == day
    assert zone.context("When was the shed painted?").block.count(
        "11 March" if day.endswith("11") else "10 March"
    )
