"""Telegram's export as pages (HTML)."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from recollect import Recollect
from recollect.home.home_directory import Home
from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment, kind_of
from tests.adapters.chats import test_telegram
from tests.adapters.kit import Opened, import_counts, opened, saved, zipped

AT = 1_709_636_460_000
HEAD = """<!DOCTYPE html>
<html>
 <head>
  <meta charset="utf-8"/>
  <title>Exported Data</title>
 </head>
 <body onload="CheckLocation();">
  <div class="page_wrap">
   <div class="page_header">
    <div class="content">
     <div class="text bold">
Boats &amp; more \n     </div>
    </div>
   </div>
   <div class="page_body chat_page">
    <div class="history">
"""
END = "    </div>\n   </div>\n  </div>\n </body>\n</html>\n"


def service(number: int, text: str) -> str:
    return (
        f'     <div class="message service" id="message{number}">\n'
        f'      <div class="body details">\n{text}\n      </div>\n     </div>\n'
    )


def message(number: int, time: str, body: str, name: str = "", zone: str = " UTC+01:00") -> str:
    """Return a message as the program writes it; without a name, it joins the one before."""
    picture = (
        '      <div class="pull_left userpic_wrap">\n'
        '       <div class="userpic userpic3" style="width: 42px; height: 42px">\n'
        '        <div class="initials" style="line-height: 42px">\nA\n        </div>\n'
        "       </div>\n      </div>\n"
    )
    named = f'       <div class="from_name">\n{name} \n       </div>\n'
    return (
        f'     <div class="message default clearfix{"" if name else " joined"}"'
        f' id="message{number}">\n{picture if name else ""}      <div class="body">\n'
        f'       <div class="pull_right date details" title="05.03.2024 {time}{zone}">\n'
        f"{time[:5]}\n       </div>\n{named if name else ''}{body}      </div>\n     </div>\n"
    )


def text(words: str) -> str:
    return f'       <div class="text">\n{words}\n       </div>\n'


def media(class_: str, title: str, status: str, address: str = "", about: str = "") -> str:
    tag = f'a class="media clearfix pull_left block_link {class_}" href="{address}"'
    tag = tag if address else f'div class="media clearfix pull_left {class_}"'
    return (
        f'       <div class="media_wrap clearfix">\n        <{tag}>\n'
        '         <div class="fill pull_left">\n         </div>\n         <div class="body">\n'
        f'          <div class="title bold">\n{title}\n          </div>\n'
        f'          <div class="description">\n{about}\n          </div>\n'
        f'          <div class="status details">\n{status}\n          </div>\n'
        f"         </div>\n        </{tag[: tag.index(' ')]}>\n       </div>\n"
    )


def answer_to(number: int) -> str:
    return (
        '       <div class="reply_to details">\nIn reply to '
        f'<a href="#go_to_message{number}" onclick="return GoToMessage({number})">this message'
        "</a>\n       </div>\n"
    )


PHOTO = (
    '       <div class="media_wrap clearfix">\n'
    '        <a class="photo_wrap clearfix pull_left" href="photos/boat.jpg">\n'
    '         <img class="photo" src="photos/boat_thumb.jpg" style="width: 194px"/>\n'
    "        </a>\n       </div>\n"
)
POLL = (
    '       <div class="media_wrap clearfix">\n        <div class="media_poll">\n'
    '         <div class="question bold">\nWhen?\n         </div>\n'
    '         <div class="details">\nAnonymous poll\n         </div>\n'
    '         <div class="answer">\n- Friday <span class="details">1 vote</span>\n'
    '         </div>\n         <div class="answer">\n- Sunday\n         </div>\n'
    '         <div class="total details">\n1 vote\n         </div>\n'
    "        </div>\n       </div>\n"
)
FORWARD = (
    '       <div class="pull_left forwarded userpic_wrap">\n       </div>\n'
    '       <div class="forwarded body">\n        <div class="from_name">\nNews '
    '<span class="date details" title="01.03.2024 00:00:00 UTC+01:00"> 01.03.2024 00:00:00'
    "</span>\n        </div>\n" + text("I own a yacht") + "       </div>\n"
)
REACTION = (
    '       <span class="reactions">\n        <span class="reaction">\n'
    '         <span class="emoji">\n👍\n         </span>\n'
    '         <span class="count">\n2\n         </span>\n        </span>\n       </span>\n'
)
MAP = "https://maps.google.com/maps?q=41.1,-8.6&amp;ll=41.1,-8.6&amp;z=16"
MESSAGES = (
    service(-1, "5 March 2024"),
    service(1, "Ada created group &laquo;Boats&raquo;"),
    message(2, "12:01:00", text(
        'I moved to <strong>Porto</strong>, see <a href="https://x.example/a">https://x.example/a'
        '</a> and <a href="https://y.example">this</a>.<br>It&apos;s &quot;fine&quot; '
        '<a href="https://t.me/bob">@bob</a>') + REACTION, "Ada Low"),
    message(3, "12:01:30", text(
        '<blockquote>I own a zeppelin</blockquote>No, <span class="spoiler hidden"><span '
        'aria-hidden="true">a boat</span></span>')),
    message(4, "12:02:00", answer_to(2) + text("cool"), "Bob"),
    message(5, "12:03:00", PHOTO + text("my boat"), "Ada Low"),
    message(6, "12:03:10", media("media_voice_message", "Voice message", "00:05", "v/1.ogg")),
    message(7, "12:03:20", media("media_file", "plan.pdf", "24.1 KB", about="Not included")),
    message(8, "12:03:30", media("media_venue", "Harbour", "", MAP, about="Quay 1")),
    message(9, "12:03:40", media("media_contact", "Carl ", "+44 12345")),
    message(10, "12:03:50", POLL),
    message(11, "12:04:00", media("media_call success", "Bob", "Outgoing (63 seconds)")),
    message(12, "12:05:00", FORWARD, "Bob"),
    message(13, "12:06:00", text("Look"), "Ada Low via @gif"),
)  # fmt: skip


def page(*messages: str) -> str:
    return HEAD + "".join(messages) + END


def read(path: Path, *messages: str, timezone: str | None = None) -> Opened:
    file = path / "messages.html"
    file.write_text(page(*messages), encoding="utf-8")
    return opened(file, timezone=timezone)


def test_what_was_said_is_kept_with_its_sender_and_its_time(tmp_path: Path) -> None:
    found = read(tmp_path, *MESSAGES)
    assert (found.formats, found.rejections) == (["telegram"], [])
    link = "https://x.example/a and this (https://y.example)"
    assert [(kind_of(one), one.sender_id, one.content) for one in found.contents] == [
        ("message", "Ada Low", f'I moved to Porto, see {link}.\nIt\'s "fine" @bob'),
        ("message", "Ada Low", "No, a boat"),
        ("message", "Bob", "cool"),
        ("message", "Ada Low", "my boat"),
        ("message", "Ada Low", ""),
        ("message", "Ada Low", ""),
        ("message", "Ada Low", ""),
        ("message", "Ada Low", ""),
        ("message", "Ada Low", "When?"),
        ("notice", "Ada Low", "phone call: Outgoing (63 seconds)"),
        ("message", "Bob", ""),
        ("message", "Ada Low", "Look"),
    ]
    assert [draft.occurred_at - AT for draft in found.drafts[:4]] == [0, 30_000, 60_000, 120_000]
    assert {draft.payload.utc_offset for draft in found.drafts} == {60}  # type: ignore[union-attr]
    assert found.contents[1].metadata == {"channel": "Boats & more", "quoted": "I own a zeppelin"}
    assert (found.contents[0].source_id, found.contents[2].reply_to) == (
        f"Boats & more:2:{AT // 1000}", f"Boats & more:2:{AT // 1000}",
    )  # fmt: skip
    assert [one.direction for one in found.contents][-2:] == [None, "out"]


def test_what_is_attached_is_kept(tmp_path: Path) -> None:
    found = read(tmp_path, *MESSAGES)
    assert [one.attachments[0] for one in found.contents if one.attachments] == [
        Attachment(type="image", name="boat.jpg"),
        Attachment(type="audio", name="1.ogg"),
        Attachment(type="file", name="plan.pdf"),
        Attachment(type="location", name="Harbour, Quay 1", url="geo:41.1,-8.6"),
        Attachment(type="contact", name="Carl +44 12345"),
        Attachment(type="poll", caption="Friday / Sunday"),
        Attachment(type="forward", name="News", caption="I own a yacht"),
    ]


def test_the_pages_of_a_chat_are_read_in_order(tmp_path: Path) -> None:
    for number in ("", "2", "10"):
        said = message(int(number or 1), "12:01:00", text(f"page {number}"), "Ada")
        (tmp_path / f"messages{number}.html").write_text(page(said))
    (tmp_path / "css").mkdir()
    (tmp_path / "css" / "style.css").write_text("a {}")
    found = opened(tmp_path)
    assert (found.texts, found.input.skipped) == (["page", "page 2", "page 10"], [])


def test_an_answer_points_to_a_message_of_an_earlier_page(tmp_path: Path) -> None:
    first = message(5, "12:01:00", text("Porto?"), "Ada")
    answer = answer_to(5).replace("#go_to", "messages.html#go_to") + text("Yes")
    (tmp_path / "messages.html").write_text(page(first))
    (tmp_path / "messages2.html").write_text(page(message(9, "12:02:00", answer, "Bob")))
    question, reply = opened(tmp_path).contents
    assert reply.reply_to == question.source_id == f"Boats & more:5:{AT // 1000}"


def test_chats_with_the_same_name_are_both_kept(tmp_path: Path) -> None:
    said = [
        [message(n, f"12:0{chat}:0{n}", text(f"{who} {n}"), who) for n in (1, 2, 3)]
        for chat, who in enumerate(("Ada", "Bob"))
    ]
    for chat, messages in enumerate(said):
        folder = tmp_path / "DataExport" / "chats" / f"chat_00{chat + 1}"
        folder.mkdir(parents=True)
        (folder / "messages.html").write_text(page(*messages))
    with Recollect(Home.create_or_open(tmp_path / "home", without_encoder=True)) as recollect:
        zone = recollect.zone("me")
        reports = [zone.ingest_files([tmp_path / "DataExport"]) for _ in range(2)]
    assert [(one.new, one.duplicate, one.rejected) for one in reports] == [(6, 0, 0), (0, 6, 0)]


def test_deleted_accounts_of_several_chats_are_kept_apart(tmp_path: Path) -> None:
    gone = message(7, "12:01:00", text("Bye"), "Deleted Account")
    in_group = read(tmp_path, gone).contents[0]
    assert (in_group.sender_id, in_group.sender_name) == ("Boats & more:Deleted Account", None)
    contents = []
    for number in (7, 8):
        file = tmp_path / "messages.html"
        alone = page(service(-1, "5 March 2024"), gone.replace("message7", f"message{number}"))
        file.write_text(alone.replace("Boats &amp; more", "Deleted Account"))
        contents += opened(file).contents
    assert [one.peer_id for one in contents] == ["Deleted Account 7", "Deleted Account 8"]
    assert contents[0].sender_id != contents[1].sender_id


def test_an_export_in_both_forms_is_read_once(tmp_path: Path) -> None:
    chat = json.dumps({**test_telegram.CHAT, "messages": test_telegram.MESSAGES[:-1]})
    members = {"x/result.json": chat.encode(), "x/messages.html": page(*MESSAGES).encode()}
    file = tmp_path / "export.zip"
    file.write_bytes(zipped(members))
    found = opened(file)
    assert found.formats == ["telegram"]
    assert "cool" not in found.texts


def test_times_without_a_zone_are_those_of_the_zone_given(tmp_path: Path) -> None:
    old = message(2, "12:01:00", text("Old"), "Ada", zone="")
    with pytest.raises(InvalidInput, match="times without a zone"):
        read(tmp_path, old)
    assert read(tmp_path, old, timezone="Europe/Berlin").drafts[0].occurred_at == AT


def test_what_is_not_as_expected_is_rejected_alone(tmp_path: Path) -> None:
    broken = message(7, "25:99:00", text("When?"), "Bob")
    found = read(tmp_path, MESSAGES[2], broken, MESSAGES[4])
    assert (len(found.texts), len(found.rejections)) == (2, 1)
    cut = tmp_path / "messages.html"
    cut.write_text(page(*MESSAGES[2:5]).partition("cool")[0])
    found = opened(cut)
    assert len(found.texts) == 2
    assert [one.reason for one in found.rejections] == [
        "the page ends within a message; what precedes it was imported"
    ]


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (text("<b>\n" * 200_000 + "x"), "more than 100 levels deep"),
        ("<!--" + "\n" * (1 << 24), "does not end"),
        (text("- " + "\n" * 200_000), ""),
        (media("media_location", "Location", "1" * 200_000), ""),
        (text("<a href='x'>x</a>" + ("x" * 1000 + "<br>") * 20_000), ""),
        (text("<a " + "x=1 " * (1 << 20)), "does not end"),
    ],
    ids=["nested", "comment", "blank lines", "digits", "text after a link", "tag"],
)
def test_pages_that_are_made_to_be_slow_are_read_in_linear_time(
    tmp_path: Path, made: str, reason: str
) -> None:
    begun = time.process_time()
    found = read(tmp_path, MESSAGES[2], message(9, "12:09:00", made, "Bob"))
    assert time.process_time() - begun < 10
    assert found.texts[0].startswith("I moved to Porto")
    assert [one.reason for one in found.rejections if reason in one.reason] or not reason


def test_a_longer_export_adds_only_what_is_new(tmp_path: Path) -> None:
    file = tmp_path / "messages.html"
    exports = (saved(file, page(*MESSAGES[:end])) for end in (4, len(MESSAGES), len(MESSAGES)))
    counts = import_counts(tmp_path / "home", exports)
    assert counts == [(2, 0, 0), (10, 2, 0), (0, 12, 0)]
