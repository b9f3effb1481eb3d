"""Two readings of one record are one event; other contents with its id are not."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from recollect.schemas.events import Attachment, Content, Message, SystemNotice
from recollect.streams.ledger.same_record import same_record

SAID = Message(source_id="c:7", sender_id="u1", content="Tea?", peer_id="c", peer_kind="group")
NOTICE = SystemNotice(source_id="9", sender_id="u1", content="guild member join", peer_id="c")


def named(*names: str | None) -> dict[str, Any]:
    return {"attachments": tuple(Attachment(type="file", name=name) for name in names)}


SAME: list[tuple[str, Content, dict[str, Any], dict[str, Any]]] = [
    # An export of a part of a chat of Telegram does not contain the record of the topic.
    ("telegram", SAID, {"thread_id": "c:2"}, {}),
    ("telegram", SAID, {"thread_id": "c:2"}, {"reply_to": "c:2"}),
    ("telegram", SAID, {"thread_id": "c:2", "reply_to": "c:5"}, {"reply_to": "c:5"}),
    # Builds that did not know the numbers of Discord's types.
    ("discord", NOTICE, {}, {"content": "7"}),
    ("discord", SAID, {"thread_id": "t", "peer_kind": "channel"}, {"peer_id": "t"}),
    # Percent-encoded names of files.
    ("discord", SAID, named("my cat.png", None), named("my%20cat.png", None)),
]


@pytest.mark.parametrize(("platform", "record", "now", "before"), SAME)
def test_what_two_builds_or_exports_read_otherwise_is_one_record(
    platform: str, record: Content, now: dict[str, Any], before: dict[str, Any]
) -> None:
    assert same_record(platform, replace(record, **now), replace(record, **before))
    is_of_the_export = platform == "telegram" or "attachments" in now
    assert same_record(platform, replace(record, **before), replace(record, **now)) == (
        is_of_the_export
    )
    assert not same_record(
        platform, replace(record, **now), replace(record, **before, sender_id="u2")
    )


@pytest.mark.parametrize(
    ("platform", "record", "now", "before"),
    [
        ("slack", SAID, {"thread_id": "c:2"}, {}),
        ("telegram", SAID, {"thread_id": "c:2"}, {"thread_id": "c:3"}),
        ("telegram", SAID, {"thread_id": "c:2", "reply_to": "c:5"}, {"reply_to": "c:6"}),
        ("telegram", SAID, {"thread_id": "c:2"}, {"content": "Tea"}),
        ("discord", SAID, {}, {"content": "7"}),
        ("discord", NOTICE, {}, {"content": "call"}),
        ("discord", SAID, {"thread_id": "t"}, {"peer_id": "x"}),
        ("discord", SAID, named("my cat.png"), named("my dog.png")),
    ],
)
def test_other_contents_are_another_record(
    platform: str, record: Content, now: dict[str, Any], before: dict[str, Any]
) -> None:
    assert not same_record(platform, replace(record, **now), replace(record, **before))


def test_a_poll_that_an_earlier_build_took_for_a_notice_is_the_same() -> None:
    poll = replace(SAID, attachments=(Attachment(type="poll", caption="a / b"),))
    notice = SystemNotice(
        source_id="c:7",
        sender_id="u1",
        content="Poll: Tea? (a / b)",
        peer_id="c",
        peer_kind="group",
    )
    assert same_record("matrix", poll, notice)
    assert not same_record("matrix", poll, replace(notice, content="Tea? (a / b)"))
    assert not same_record("matrix", poll, replace(notice, sender_id="u2"))
    assert not same_record("matrix", SAID, notice)
