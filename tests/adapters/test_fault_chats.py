"""Fault 44: reactions, platforms, the repeated hour, titles of groups, and long messages."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from recollect.schemas.inbound import MAX_CONTENT_BYTES, InboundEvent
from recollect.streams.adapters.long_messages import MAX_MESSAGE_BYTES, split_message
from tests.adapters.chats import test_matrix, test_other_chats, test_telegram
from tests.adapters.chats.phone import test_imessage
from tests.adapters.kit import Opened, opened

STAMP = "[2022-03-01 09:00:00] Ada: "


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Nice", "Nice\n(- Me: 👍 -)"),
        ("Nice", "Nice (- Me: 👍, Bob: ❤️ -)"),
        ("Nice\nboat", "Nice\nboat\n(- Me: 👍 -)"),
        ("![a.jpg](./media/a.jpg)", "![a.jpg](./media/a.jpg)\n(- Me: 👍 -)"),
        ("Nice ![a.jpg](./media/a.jpg)", "Nice\n(- Me: 👍 -)![a.jpg](./media/a.jpg)  "),
        ("Nice  \n[a.pdf](./media/a.pdf)", "Nice  \n(- Me: 👍 -)  \n[a.pdf](./media/a.pdf)  "),
    ],
)
def test_fault_44_later_thumb_leaves_a_message_of_signal(
    tmp_path: Path, before: str, after: str
) -> None:
    found = []
    for text in (before, after):
        path = tmp_path / "chat.txt"
        path.write_text(f"{STAMP}{text}\n[2022-03-01 09:01:00] Me: So.\n")
        found.append(opened(path, timezone="UTC").contents)
    (first, _), (second, _) = found
    assert first.source_id == second.source_id
    assert (first.content, first.attachments) == (second.content, second.attachments)
    assert "👍" in second.metadata["reactions"]


def thread(tmp_path: Path, folder: str, **more: Any) -> Opened:
    """Return what a file of Meta's gives in a folder; `more` stands behind its messages."""
    people = [{"name": name} for name in more.pop("people", ("Ada", "Bob"))]
    messages = more.pop("messages", [test_other_chats.sent("Hi")])
    path = tmp_path / folder / "message_1.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"participants": people, "messages": messages, **more}, indent=2))
    return opened(path)


def picture(uri: str) -> list[dict[str, Any]]:
    return [test_other_chats.sent("Hi"), test_other_chats.sent(None, photos=[{"uri": uri}])]


OF_INSTAGRAM = picture("your_instagram_activity/messages/inbox/bob_17/photos/1.jpg")
OF_MESSENGER: list[dict[str, Any]] = [
    {"messages": picture("your_facebook_activity/messages/inbox/bob_17/photos/1.jpg")},
    {"messages": picture("your_activity_across_facebook/messages/inbox/bob_17/1.jpg")},
    {"thread_type": "RegularGroup"},
]


@pytest.mark.parametrize("folder", ["x", "facebook-ada/inbox/bob_17", "instagram/inbox/bob_17"])
def test_fault_44_platform_is_that_of_the_content(tmp_path: Path, folder: str) -> None:
    found = thread(tmp_path, folder, messages=OF_INSTAGRAM, thread_path="inbox/bob_17")
    assert {draft.platform for draft in found.drafts} == {"instagram"}
    for more in OF_MESSENGER:
        found = thread(tmp_path, folder, thread_path="inbox/bob_17", **more)
        assert {draft.platform for draft in found.drafts} == {"messenger"}
        assert {content.peer_id for content in found.contents} == {"bob_17"}


def test_fault_44_platform_that_content_leaves_open_is_that_of_the_path(tmp_path: Path) -> None:
    folders = (("facebook-ada/inbox/bob_1", "messenger"), ("inbox/bob_1", "instagram"))
    for folder, platform in folders:
        found = thread(tmp_path, folder, thread_path="inbox/bob_1")
        assert [draft.platform for draft in found.drafts] == [platform]


def told(found: Opened) -> list[tuple[str, str]]:
    return [
        (datetime.fromtimestamp(draft.occurred_at / 1000, UTC).strftime("%H:%M"), content.content)
        for draft, content in zip(found.drafts, found.contents, strict=True)
    ]


#: Clocks of Berlin went back from 3 to 2 at 01:00 UTC on 25 October 2020.
HOUR = [("01:50", "23:50"), ("02:10", "00:10"), ("02:50", "00:50"), ("02:05", "01:05"),
        ("02:40", "01:40"), ("03:01", "02:01")]  # fmt: skip


def local(form: str) -> str:
    return "".join(form.format(clock=clock, text=utc) for clock, utc in HOUR)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("chat.txt", "25/10/2020, {clock} - Ada: {text}\n"),
        ("chat.txt", "[25/10/2020, {clock}:00] Ada: {text}\n"),
        ("chat.txt", "[2020-10-25 {clock}:00] Ada: {text}\n"),
        ("#tea_2020-10-25.log", "{clock} <ada> {text}\n"),
    ],
    ids=["Android", "Apple", "Signal", "IRC"],
)
def test_fault_44_repeated_hour_is_in_order(tmp_path: Path, name: str, form: str) -> None:
    path = tmp_path / name
    path.write_text(local(form))
    found = told(opened(path, timezone="Europe/Berlin", date_order="dmy"))
    assert [at for at, _ in found] == [text for _, text in found] == [utc for _, utc in HOUR]


def test_fault_44_repeated_hour_of_two_chats_of_telegram_is_in_order(tmp_path: Path) -> None:
    """Older exports have local times alone; each chat begins anew."""
    messages = [
        {"id": n, "type": "message", "date": f"2020-10-25T{clock}:00", "from": "Ada",
         "from_id": "user1", "text": utc}
        for n, (clock, utc) in enumerate(HOUR)
    ]  # fmt: skip
    chats = [
        {"name": "Tea", "type": "private_group", "id": n, "messages": messages} for n in (1, 2)
    ]
    path = tmp_path / "result.json"
    path.write_text(json.dumps({"personal_information": {}, "chats": {"list": chats}}))
    found = told(opened(path, timezone="Europe/Berlin"))
    assert [at for at, _ in found] == [text for _, text in found] == 2 * [utc for _, utc in HOUR]


def test_fault_44_hour_that_is_left_out_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "chat.txt"
    path.write_text("29/03/2020, 02:30 - Ada: one\n29/03/2020, 03:10 - Ada: two\n")
    found = told(opened(path, timezone="Europe/Berlin"))
    assert found == [("01:30", "one"), ("01:10", "two")]


def imessage(tmp_path: Path) -> Opened:
    path = test_imessage.database(tmp_path / "chat.db")
    with sqlite3.connect(path) as base:
        base.execute("ALTER TABLE chat ADD COLUMN display_name TEXT")
        base.execute("UPDATE chat SET display_name = 'Tea'")
    base.close()
    return opened(path)


def telegram(tmp_path: Path) -> Opened:
    return test_telegram.read(tmp_path, test_telegram.CHAT)


def matrix(tmp_path: Path) -> Opened:
    path = tmp_path / "export.json"
    path.write_text(json.dumps({"room_name": "Tea", "messages": test_matrix.EVENTS}, indent=1))
    return opened(path)


def matrix_events(tmp_path: Path) -> Opened:
    named = {
        "type": "m.room.name",
        "event_id": "$n0",
        "sender": test_matrix.ADA,
        "room_id": test_matrix.ROOM,
        "origin_server_ts": 1_577_836_800_000,
        "content": {"name": "Tea"},
    }
    path = tmp_path / "events.json"
    path.write_text(json.dumps([named, *test_matrix.EVENTS]))
    return opened(path)


def messenger(tmp_path: Path) -> Opened:
    people = ("Ada", "Bob", "Eve")
    return thread(tmp_path, "inbox/tea_7", people=people, title="Tea", thread_path="inbox/tea_7")


@pytest.mark.parametrize("export", [imessage, telegram, matrix, matrix_events, messenger])
def test_fault_44_title_of_a_group_is_kept(
    tmp_path: Path, export: Callable[[Path], Opened]
) -> None:
    found = export(tmp_path)
    in_groups = [one for one in found.contents if one.metadata.get("channel") == "Tea"]
    assert in_groups
    messages = [one for one in found.contents if type(one).__name__ == "Message"]
    assert all(one.metadata.get("channel") == "Tea" for one in messages)


def test_fault_44_chat_between_two_has_no_title(tmp_path: Path) -> None:
    found = thread(tmp_path, "inbox/bob_7", title="Bob", thread_path="inbox/bob_7")
    assert found.contents[0].metadata == {}


LONG = "".join(f"Line {number} of the story.\n" for number in range(20_000))


def test_fault_44_long_message_is_split_and_nothing_is_lost(tmp_path: Path) -> None:
    assert 2 * MAX_CONTENT_BYTES > len(LONG) > MAX_CONTENT_BYTES
    path = tmp_path / "chat.txt"
    path.write_text(f"25/06/2020, 15:05 - Ada: {LONG}25/06/2020, 15:06 - Bob: So.\n")
    found = opened(path, timezone="UTC")
    assert found.rejections == []
    first, second, last = found.contents
    assert first.content + second.content == LONG.rstrip("\n")
    assert second.content.startswith("Line ")
    assert [one.metadata for one in found.contents] == [
        {"part": 1, "parts": 2},
        {"part": 2, "parts": 2},
        {},
    ]
    again = opened(path, timezone="UTC").contents
    assert [one.source_id for one in again] == [one.source_id for one in found.contents]
    assert last.content == "So."


@pytest.mark.parametrize("unit", ["x", "é", "🛶", "word ", "\n\n"])
def test_fault_44_pieces_are_within_the_limit(unit: str) -> None:
    text = unit * (3 * MAX_CONTENT_BYTES // len(unit.encode()) + 5) + "end"
    event = InboundEvent(
        platform="p", sender_id="a", occurred_at=1, content=text, id="7", kind="edit", target="6"
    )
    pieces = split_message(event)
    assert "".join(one.content for one in pieces) == text
    assert all(len(one.content.encode()) <= MAX_CONTENT_BYTES for one in pieces)
    assert [(one.id, one.target) for one in pieces[:2]] == [("7", "6"), ("7:part:2", "6:part:2")]


def test_fault_44_message_beyond_all_measure_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "chat.txt"
    path.write_text(
        f"25/06/2020, 15:05 - Ada: hi\n25/06/2020, 15:05 - Ada: {'x' * 1_000}\n"
        + ("x" * 1_000 + "\n") * (MAX_MESSAGE_BYTES // 1_000 + 5)
        + "25/06/2020, 15:06 - Ada: So.\n"
    )
    found = opened(path, timezone="UTC")
    assert found.texts == ["hi", "So."]
    assert [item.line for item in found.rejections] == [2]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_fault_44_message_in_a_single_long_line_is_whole(tmp_path: Path, encoding: str) -> None:
    words = " ".join(str(number) for number in range(450_000))
    path = tmp_path / "chat.txt"
    path.write_text(
        f"25/06/2020, 15:05 - Ada: {words}\n"
        f"25/06/2020, 15:06 - Ada: {'x' * 2 * MAX_MESSAGE_BYTES}\n25/06/2020, 15:07 - Ada: So.\n",
        encoding=encoding,
    )
    assert 2 << 20 < len(words) < MAX_MESSAGE_BYTES
    found = opened(path, timezone="UTC")
    assert "".join(found.texts) == f"{words}So."
    assert [item.line for item in found.rejections] == [2]
