"""Telegram Desktop's exports as JSON: one chat, all chats, and what older versions wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment, Content, Edit, Reaction
from tests.adapters.kit import EXPORTS, Opened, opened, zipped

AT = 1_700_000_000  # 2023-11-14T22:13:20Z; the clock of who exported stood at +1


def said(number: int, text: Any, who: str | None = "Ada", id_: str = "user1", **more: Any) -> Any:
    return {
        "id": number, "type": "message", "date": "2023-11-14T23:13:20", "date_unixtime": str(AT),
        "from": who, "from_id": id_, "text": text, **more,
    }  # fmt: skip


MESSAGES: list[Any] = [
    {"id": 1, "type": "service", "date": "2023-11-14T23:13:20", "date_unixtime": str(AT),
     "actor": "Ada", "actor_id": "user1", "action": "create_group", "title": "Tea",
     "members": ["Ada", "Bob", None]},
    said(2, ["I moved to ", {"type": "bold", "text": "Turin"}, "."],
         text_entities=[{"type": "plain", "text": "I moved to "},
                        {"type": "bold", "text": "Turin"}, {"type": "plain", "text": "."}],
         reactions=[{"type": "emoji", "count": 2, "emoji": "👍",
                     "recent": [{"from": "Bob", "from_id": "user2",
                                 "date": "2023-11-14T23:15:00"}]}]),
    said(3, "Really?", "Bob", "user2", reply_to_message_id=2),
    said(4, "Now Oslo.", edited="2023-11-14T23:20:00", edited_unixtime=str(AT + 400)),
    said(5, "I moved to Rome.", forwarded_from="Cleo"),
    said(6, "", None, "user9", photo="(File not included. Change data exporting settings.)",
         width=1, height=1),
    said(7, "", media_type="sticker", sticker_emoji="🐱", file="stickers/sticker.webp"),
    said(8, "", poll={"question": "Tea?", "answers": [{"text": "yes", "voters": 1},
                                                      {"text": "no", "voters": 0}]}),
    said(9, "As there:", reply_to_message_id=44, reply_to_peer_id="channel7"),
    {"id": 10, "type": "unsupported"},
]  # fmt: skip
CHAT = {"name": "Tea", "type": "private_group", "id": 77, "messages": MESSAGES}
ALL: dict[str, Any] = {
    "about": "Here is the data you requested.",
    "personal_information": {"user_id": 1, "first_name": "Ada"},
    "contacts": {"about": "", "list": [{"first_name": "Bob", "date": "2020-01-01T00:00:00",
                                        "date_unixtime": "1577836800"}]},
    "chats": {"about": "", "list": [
        CHAT,
        {"name": "Helper", "type": "bot_chat", "id": 5,
         "messages": [said(2, "What is up?"), said(3, "All is well.", "Helper", "user5")]},
        {"name": None, "type": "personal_chat", "id": 9, "messages": []},
    ]},
    "left_chats": {"list": [{"name": "Gone", "type": "private_supergroup", "id": 8,
                             "messages": [said(2, "Bye.")]}]},
}  # fmt: skip


def read(tmp_path: Path, document: Any, **options: Any) -> Opened:
    path = tmp_path / "result.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return opened(path, **options)


def by_id(found: Opened) -> dict[str, Content]:
    return {content.source_id: content for content in found.contents}


def test_a_chat_says_who_said_what(tmp_path):
    found = read(tmp_path, CHAT)
    assert found.formats == ["telegram"]
    assert found.kinds == {"notice": 1, "message": 7, "reaction": 1, "edit": 1}
    contents = by_id(found)
    assert contents["chat77:1"].content == "create group: Tea, Ada, Bob"
    moved = contents["chat77:2"]
    assert (moved.content, moved.sender_id, moved.sender_name) == (
        "I moved to Turin.", "user1", "Ada",
    )  # fmt: skip
    assert (moved.peer_id, moved.peer_kind, moved.utc_offset) == ("chat77", "group", 60)
    assert {draft.occurred_at for draft in found.drafts} == {
        AT * 1000, (AT + 400) * 1000, (AT + 100) * 1000
    }  # fmt: skip
    assert contents["chat77:3"].reply_to == "chat77:2"
    assert contents["chat77:9"].reply_to == "channel7:44"
    assert (contents["chat77:6"].sender_id, contents["chat77:6"].sender_name) == ("user9", None)
    assert contents["chat77:8"].content == "Tea?"
    assert contents["chat77:8"].attachments == (Attachment(type="poll", caption="yes / no"),)


def test_an_edit_a_reaction_and_what_is_attached(tmp_path):
    contents = by_id(read(tmp_path, CHAT))
    edit = contents[f"chat77:4:edited:{AT + 400}"]
    assert isinstance(edit, Edit)
    assert (edit.target, edit.said_at, edit.content) == ("chat77:4", AT * 1000, "Now Oslo.")
    assert "chat77:4" not in contents
    (reaction,) = (one for one in contents.values() if isinstance(one, Reaction))
    assert (reaction.target, reaction.sender_id, reaction.content) == ("chat77:2", "user2", "👍")
    assert contents["chat77:5"].content == ""
    assert contents["chat77:5"].attachments == (
        Attachment(type="forward", name="Cleo", caption="I moved to Rome."),
    )
    assert contents["chat77:6"].attachments == (Attachment(type="image"),)
    assert contents["chat77:7"].attachments == (Attachment(type="sticker", name="🐱"),)


def test_what_telegram_could_not_export_is_refused_by_its_place(tmp_path):
    (rejection,) = read(tmp_path, CHAT).rejections
    assert (rejection.line, "unsupported" in rejection.reason) == (10, True)


def test_all_chats_are_read_each_with_its_own_ids_and_a_bot_is_an_assistant(tmp_path):
    found = read(tmp_path, ALL)
    contents = by_id(found)
    assert {"chat77:2", "user5:2", "channel8:2"} <= set(contents)
    assert contents["user5:3"].direction == "out"
    assert contents["user5:2"].direction is None
    assert len(found.drafts) == 13


def test_an_export_comes_as_a_folder_or_a_zip_with_its_files(tmp_path):
    members = {"ChatExport/result.json": json.dumps(CHAT).encode(), "ChatExport/photos/a.jpg": b"x"}
    path = tmp_path / "export.zip"
    path.write_bytes(zipped(members))
    assert by_id(opened(path)).keys() == by_id(read(tmp_path, CHAT)).keys()


def test_older_exports_give_local_times_and_numbers_alone(tmp_path):
    old = {
        "id": 2,
        "type": "message",
        "date": "2019-06-04T12:00:00",
        "edited": "1970-01-01T02:00:00",
        "from": "Ada",
        "from_id": 1,
        "text": "I moved.",
    }
    document = {"name": "Bob", "type": "personal_chat", "id": 2, "messages": [old]}  # fmt: skip
    with pytest.raises(InvalidInput, match="`timezone`"):
        read(tmp_path, document)
    found = read(tmp_path, document, timezone="Europe/Berlin")
    (draft,), (content,) = found.drafts, found.contents
    assert (content.source_id, content.sender_id, content.peer_kind) == ("user2:2", "user1", "dm")
    assert draft.occurred_at == 1559642400000


def test_an_export_that_grew_or_comes_twice_adds_only_what_is_new(tmp_path):
    whole = {(c.source_id, c.content) for c in read(tmp_path, CHAT).contents}
    assert {(c.source_id, c.content) for c in read(tmp_path, CHAT).contents} == whole
    begun = read(tmp_path, {**CHAT, "messages": MESSAGES[:5]})
    assert {(c.source_id, c.content) for c in begun.contents} < whole


DOCUMENT = json.dumps(ALL, ensure_ascii=False).encode()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(DOCUMENT)), st.binary(max_size=4))
def test_an_export_that_is_cut_off_or_damaged_raises_nothing(tmp_path_factory, at, noise):
    path = tmp_path_factory.mktemp("telegram") / "result.json"
    damaged = DOCUMENT[:at] + noise + (DOCUMENT[at + 4 :] if len(noise) > 2 else b"")
    assume(not damaged.startswith(b"PK"))  # a zip archive, which is refused as a whole
    path.write_bytes(damaged)
    opened(path, "telegram", timezone="UTC")


def test_what_is_before_the_cut_is_kept(tmp_path):
    path = tmp_path / "result.json"
    path.write_bytes(DOCUMENT[: DOCUMENT.index(b"Really?")])
    found = opened(path)
    assert "I moved to Turin." in found.texts
    assert len(found.rejections) == 1


REAL = EXPORTS / "telegram" / "chat-miner"


@pytest.mark.skipif(not REAL.is_dir(), reason="real exports are not at hand")
@pytest.mark.parametrize("name", ["test_batch_export.json", "test_single_export.json"])
def test_real_exports_say_what_their_reader_expects(name):
    expected = json.loads((REAL / "target.json").read_text())
    found = opened(REAL / name)
    assert [(c.sender_name, c.content) for c in found.contents] == [
        (one["author"], one["message"]) for one in expected
    ]
    assert [draft.occurred_at for draft in found.drafts] == [1544006350000, 1544006964000]


def test_what_came_through_a_program_is_nobodys_words(tmp_path):
    found = read(tmp_path, {**CHAT, "messages": [
        said(1, "It is 20 degrees.", via_bot="@weather"),
        said(2, "Press one.", inline_bot_buttons=[[{"type": "callback", "text": "1"}]]),
        said(3, "It is warm."),
        {**said(4, ""), "type": "unsupported"},
    ]})  # fmt: skip
    assert [one.direction for one in found.contents] == ["out", "out", None, None]
    assert found.contents[3].attachments == (Attachment(type="unsupported"),)
    assert not found.rejections


@pytest.mark.parametrize(
    ("label", "address", "shown"),
    [
        ("here", "https://example.org/a", "see here (https://example.org/a)."),
        ("example.org", "https://www.example.org/", "see example.org."),
        ("https://example.org", "https://example.org/", "see https://example.org."),
    ],
)
def test_a_link_behind_words_keeps_its_address(tmp_path, label, address, shown):
    text = ["see ", {"type": "text_link", "text": label, "href": address}, "."]
    (content,) = read(tmp_path, {**CHAT, "messages": [said(1, text)]}).contents
    assert content.content == shown


def test_words_with_a_gift_are_kept(tmp_path: Path) -> None:
    gift = {
        "id": 1, "type": "service", "date": "2025-03-01T10:00:00", "date_unixtime": str(AT),
        "actor": "Ada", "actor_id": "user1", "action": "send_star_gift", "stars": 15,
        "gift_text": [{"type": "bold", "text": "Thanks"}, " for the boat"], "text": "",
    }  # fmt: skip
    (content,) = read(tmp_path, {**CHAT, "messages": [gift]}).contents
    assert content.content == "send star gift: Thanks for the boat"


@pytest.mark.parametrize("offset", range(-4, 3))
def test_escapes_that_json_does_not_know_lose_no_message(tmp_path: Path, offset: int) -> None:
    """Telegram writes control characters as C does; files are read in blocks of 64 kB."""
    messages = [said(n, text) for n, text in enumerate(["PAD", "aESCb", "C:\\x41", "c"])]
    document = json.dumps({**CHAT, "messages": messages}).replace("ESC", r"\x0c")
    pad = (1 << 16) + offset - document.index(r"\x0c")
    path = tmp_path / "result.json"
    path.write_text(document.replace("PAD", "p" * (pad + 3)))
    found = opened(path)
    assert found.rejections == []
    assert found.texts[1:] == ["a\x0cb", "C:\\x41", "c"]


def test_a_topic_is_the_thread_of_its_messages_and_of_their_answers(tmp_path: Path) -> None:
    def said(id_: int, **more: Any) -> dict[str, Any]:
        return {"id": id_, "type": "message", "date": "2024-05-01T10:00:00",
                "date_unixtime": "1714550400", "from": "Ada", "from_id": "user1",
                "text": f"text {id_}", **more}  # fmt: skip

    start = {"type": "service", "actor": "Ada", "actor_id": "user1", "action": "topic_created"}
    messages = [
        said(1, **start, title="Regatta", text=""), said(2, reply_to_message_id=1),
        said(3, reply_to_message_id=2), said(4), said(5, reply_to_message_id=4),
        said(6, reply_to_message_id=1, reply_to_peer_id="channel9"),
    ]  # fmt: skip
    chats = [
        {"name": name, "type": "private_supergroup", "id": id_, "messages": messages[id_:]}
        for name, id_ in (("Boats", 0), ("Tea", 1))
    ]
    path = tmp_path / "result.json"
    path.write_text(json.dumps({"about": "", "chats": {"list": chats}}))
    found = opened(path).contents
    c = "channel0"
    assert [(one.thread_id, one.reply_to, one.metadata.get("topic")) for one in found[:6]] == [
        (f"{c}:1", None, "Regatta"), (f"{c}:1", None, "Regatta"), (f"{c}:1", f"{c}:2", "Regatta"),
        (None, None, None), (None, f"{c}:4", None), (None, "channel9:1", None),
    ]  # fmt: skip
    assert {one.thread_id for one in found[6:]} == {None}
