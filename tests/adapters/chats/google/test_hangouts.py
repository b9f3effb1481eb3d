"""Hangouts in a Google Takeout: both forms of its file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect
from recollect.home.home_directory import Home
from recollect.schemas.events import Attachment, SystemNotice
from tests.adapters.kit import Opened, opened

ADA, BOB = "107431117", "103384720"
CHAT = "UgxFirstChat"
# Microseconds.
AT = 1_429_219_460_478_123


def person(id_: str) -> dict[str, str]:
    return {"gaia_id": id_, "chat_id": id_}


def event(id_: str, sender: str = ADA, at: int = AT, **more: Any) -> dict[str, Any]:
    return {
        "conversation_id": {"id": CHAT},
        "sender_id": person(sender),
        "timestamp": str(at),
        "self_event_state": {"user_id": person(ADA), "notification_level": "RING"},
        "event_id": id_,
        "advances_sort_timestamp": True,
        "event_otr": "ON_THE_RECORD",
        "event_type": "REGULAR_CHAT_MESSAGE",
        **more,
    }


def text(words: str) -> dict[str, Any]:
    return {"type": "TEXT", "text": words, "formatting": {"bold": False}}


def said(words: str, id_: str = "e1", sender: str = ADA, **content: Any) -> dict[str, Any]:
    content = {"segment": [text(words)], **content}
    return event(id_, sender, chat_message={"message_content": content})


def about(kind: str = "STICKY_ONE_TO_ONE", name: str | None = None) -> dict[str, Any]:
    return {
        "id": {"id": CHAT},
        "type": kind,
        **({} if name is None else {"name": name}),
        "self_conversation_state": {"self_read_state": {"participant_id": person(ADA)}},
        "participant_data": [
            {"id": person(ADA), "fallback_name": "Ada Low", "participant_type": "GAIA"},
            {"id": person(BOB), "fallback_name": "Bob", "participant_type": "GAIA"},
        ],
    }


def takeout(*events: Any, **chat: Any) -> dict[str, Any]:
    """Return a Takeout since about 2017."""
    conversation = {"conversation_id": {"id": CHAT}, "conversation": about(**chat)}
    return {"conversations": [{"conversation": conversation, "events": list(events)}]}


def old_takeout(*events: Any, **chat: Any) -> dict[str, Any]:
    state = {"conversation_id": {"id": CHAT}, "conversation": about(**chat), "event": list(events)}
    return {
        "continuation_end_timestamp": "0",
        "conversation_state": [
            {
                "conversation_id": {"id": CHAT},
                "response_header": {"status": "OK"},
                "conversation_state": state,
            }
        ],
    }


def read(path: Path, document: Any) -> Opened:
    file = path / "Hangouts.json"
    file.write_text(json.dumps(document, indent=2))
    return opened(file)


@pytest.mark.parametrize("form", [takeout, old_takeout])
def test_what_was_said_is_kept_with_who_said_it_and_where(tmp_path: Path, form: Any) -> None:
    link = {"type": "LINK", "text": "x.org", "link_data": {"link_target": "https://x.org"}}
    lines = [text("I moved"), {"type": "LINE_BREAK", "text": "\n"}, text("to Porto: "), link]
    document = form(
        said("", segment=lines), said("Lucky you!", "e2", BOB), kind="GROUP", name="Boats"
    )
    found = read(tmp_path, document)
    assert (found.formats, found.rejections) == (["hangouts"], [])
    assert found.texts == ["I moved\nto Porto: x.org", "Lucky you!"]
    first, second = found.contents
    assert (first.source_id, first.sender_id, first.sender_name) == (f"{CHAT}:e1", ADA, "Ada Low")
    assert (second.sender_id, second.sender_name) == (BOB, "Bob")
    assert (first.peer_id, first.peer_kind, first.metadata) == (CHAT, "group", {"channel": "Boats"})
    assert [draft.occurred_at for draft in found.drafts] == [1_429_219_460_478] * 2


@pytest.mark.parametrize(
    ("words", "target", "kept"),
    [
        ("my notes", "https://x.org/a", "my notes (https://x.org/a)"),
        ("x.org/a?b", "https://www.google.com/url?q=http%3A%2F%2Fx.org%2Fa%3Fb", "x.org/a?b"),
        ("", "https://x.org/a", "https://x.org/a"),
    ],
)
def test_the_address_of_a_link_is_kept(tmp_path: Path, words: str, target: str, kept: str) -> None:
    link = {"type": "LINK", "text": words, "link_data": {"link_target": target}}
    assert read(tmp_path, takeout(said("", segment=[link]))).texts == [kept]


@pytest.mark.parametrize("form", [takeout, old_takeout])
def test_a_file_that_is_cut_keeps_the_names_before_the_cut(tmp_path: Path, form: Any) -> None:
    whole = json.dumps(form(said("first"), said("last", "e2", BOB)))
    (tmp_path / "Hangouts.json").write_text(whole[: whole.index("last")])
    (found,) = opened(tmp_path / "Hangouts.json").contents
    assert (found.content, found.sender_name) == ("first", "Ada Low")


def test_a_chat_of_two_has_no_name(tmp_path: Path) -> None:
    (found,) = read(tmp_path, takeout(said("hi"))).contents
    assert (found.peer_kind, found.metadata) == ("dm", {})


@pytest.mark.parametrize(
    ("item", "kept"),
    [
        (
            {"type": ["PLUS_PHOTO"], "plus_photo": {"media_type": "PHOTO", "url": "https://a/1"}},
            Attachment("image", url="https://a/1"),
        ),
        (
            {"embeds.PlusPhoto.plus_photo": {
                "media_type": "VIDEO", "url": "https://a/1",
                "original_content_url": "https://a/2"}},
            Attachment("video", url="https://a/2"),
        ),
        (
            {"type": ["PLACE_V2"], "place_v2": {"name": "Jetty 4", "url": "https://maps/x"}},
            Attachment("location", "Jetty 4", url="https://maps/x"),
        ),
        ({"type": ["NEW_THING"]}, Attachment("unsupported")),
    ],
)  # fmt: skip
def test_what_is_attached_is_kept(tmp_path: Path, item: Any, kept: Attachment) -> None:
    message = said("", segment=[], attachment=[{"embed_item": item, "id": "1"}])
    (found,) = read(tmp_path, takeout(message)).contents
    assert (found.content, found.attachments) == ("", (kept,))


def test_what_happens_to_a_chat_is_a_notice(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        takeout(
            event("1", event_type="HANGOUT_EVENT", hangout_event={"event_type": "START_HANGOUT"}),
            event("2", event_type="ADD_USER",
                  membership_change={"type": "JOIN", "participant_id": [person(BOB)]}),
            event("3", event_type="RENAME_CONVERSATION",
                  conversation_rename={"new_name": "Boats", "old_name": ""}),
            event("4", event_type="OTR_MODIFICATION"),
        ),
    )  # fmt: skip
    assert all(isinstance(one, SystemNotice) for one in found.contents)
    assert found.texts == [
        "start call",
        "joined the chat: Bob",
        "renamed the chat: Boats",
        "otr modification",
    ]


def test_a_malformed_event_is_rejected_alone(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        takeout(
            said("first"),
            {**said("x", "e2"), "sender_id": {}},
            {**said("x", "e3"), "timestamp": "soon"},
            "nothing",
            said("last", "e5"),
        ),
    )
    assert found.texts == ["first", "last"]
    assert [(one.line, "Traceback" in one.reason) for one in found.rejections] == [
        (2, False), (3, False), (4, False),
    ]  # fmt: skip
    assert "no sender" in found.rejections[0].reason


def test_importing_again_adds_nothing(tmp_path: Path) -> None:
    file = tmp_path / "Hangouts.json"
    file.write_text(json.dumps(takeout(said("I live in Porto."), said("ok", "e2", BOB))))
    home = Home.create_or_open(tmp_path / "home", without_encoder=True)
    with Recollect(home) as found:
        zone = found.zone("ada")
        assert zone.ingest_files(file).new == 2
        again = zone.ingest_files(file)
        assert (again.new, again.duplicate) == (0, 2)
