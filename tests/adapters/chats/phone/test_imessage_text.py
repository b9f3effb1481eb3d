"""Chats of Apple's Messages as text, as imessage-exporter writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment, kind_of
from tests.adapters.kit import Opened, import_counts, opened, saved

AT = 1_652_801_382_000  # 2022-05-17T17:29:42+02:00
FIRST = """\
May 17, 2022  5:29:42 PM You renamed the conversation to Boats

May 17, 2022  5:29:42 PM (Read by them after 1 hour, 49 seconds)
Me
I moved to Porto.

It is sunny.
Tapbacks:
Loved by Bob Low
\u2615\ufe0f by Carl

    May 17, 2022  5:31:00 PM
    Bob Low
    Nice!

May 17, 2022  5:30:00 PM
Bob Low
attachments/0/IMG_1.heic
my boat
Sent with Confetti

May 17, 2022  5:31:00 PM
Bob Low
Nice!
This message responded to an earlier message.

"""
SECOND = """\
May 18, 2022 12:05:00 AM
Me
May 18, 2022 12:05:00 AM My cat is Mimo
Edited 20 seconds later: My cat is Momo

May 18, 2022 12:06:00 AM
Me
You unsent this message part 5 seconds after sending!

May 18, 2022 12:07:00 AM
Bob Low
This message was deleted from the conversation!
~/Library/Messages/Attachments/00/ab/plan.pdf

May 18, 2022 12:08:00 AM Bob Low left the conversation.

"""


def read(path: Path, text: str = FIRST + SECOND) -> Opened:
    file = path / "Bob Low, Carl.txt"
    file.write_text(text, encoding="utf-8")
    return opened(file, timezone="Europe/Berlin")


def test_each_message_is_kept_once_with_its_sender(tmp_path: Path) -> None:
    found = read(tmp_path)
    assert (found.formats, found.rejections) == (["imessage"], [])
    assert [
        (kind_of(one), one.sender_id, one.direction, one.content) for one in found.contents
    ] == [
        ("notice", "Me", "out", "renamed the conversation to Boats"),
        ("message", "Me", "out", "I moved to Porto.\n\nIt is sunny."),
        ("message", "Bob Low", "in", "my boat"),
        ("message", "Bob Low", "in", "Nice!"),
        ("message", "Me", "out", "My cat is Momo"),
        ("notice", "Me", "out", "took a message back"),
        ("message", "Bob Low", "in", ""),
        ("notice", "Bob Low", "in", "left the conversation."),
    ]
    assert [draft.occurred_at - AT for draft in found.drafts[:5]] == [
        0, 0, 18_000, 78_000, 23_718_000,
    ]  # fmt: skip
    assert found.contents[1].metadata == {"reactions": ["Loved by Bob Low", "\u2615\ufe0f by Carl"]}
    assert found.contents[2].attachments == (Attachment(type="image", name="IMG_1.heic"),)
    assert found.contents[6].attachments == (Attachment(type="file", name="plan.pdf"),)
    assert {one.peer_id for one in found.contents} == {"Bob Low, Carl"}


def test_parts_that_follow_an_answer_are_kept(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        """\
May 17, 2022  5:29:42 PM
Bob Low
First part
Tapbacks:
Loved by Carl
    May 17, 2022  5:31:00 PM
    Me
    I see
    it

Second part

May 17, 2022  5:31:00 PM
Me
I see
it

This message responded to an earlier message.

""",
    )
    assert found.texts == ["First part\nSecond part", "I see\nit"]
    assert found.contents[0].metadata == {"reactions": ["Loved by Carl"]}


def test_only_the_effects_of_messages_are_left_out(tmp_path: Path) -> None:
    begin = "May 17, 2022  5:29:42 PM\nBob Low\n"
    lines = ("Hi\nSent with Shooting Star", "Sent with Love", "Sent with Apple Pay")
    found = read(tmp_path, "".join(f"{begin}{one}\n\n" for one in lines))
    assert found.texts == ["Hi", "Sent with Love", "Sent with Apple Pay"]
    assert found.kinds == {"message": 3}


def test_chats_in_a_folder_are_no_notes(tmp_path: Path) -> None:
    read(tmp_path)
    assert opened(tmp_path, timezone="Europe/Berlin").formats == ["imessage"]


def test_the_zone_is_asked_for(tmp_path: Path) -> None:
    read(tmp_path)
    with pytest.raises(InvalidInput, match="times without a zone"):
        opened(tmp_path / "Bob Low, Carl.txt")


def test_a_longer_export_adds_only_what_is_new(tmp_path: Path) -> None:
    file = tmp_path / "Bob Low.txt"
    exports = (saved(file, text) for text in (FIRST, FIRST + SECOND, FIRST + SECOND))
    counts = import_counts(tmp_path / "home", exports, timezone="Europe/Berlin")
    assert counts == [(4, 0, 0), (4, 4, 0), (0, 8, 0)]
