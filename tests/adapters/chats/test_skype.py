"""The export of Skype, and of Teams for private accounts."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect
from recollect.home.home_directory import Home
from recollect.schemas.events import Attachment, Deletion, Edit
from tests.adapters.kit import Opened, opened

BOB = "8:live:bob"


def said(id_: str, content: str, sender: str = BOB, type_: str = "RichText", **more: Any) -> Any:
    return {
        "id": id_, "displayName": "Bob" if sender == BOB else None,
        "originalarrivaltime": "2025-03-01T10:00:00.123Z", "messagetype": type_, "version": 1,
        "content": content, "conversationid": BOB, "from": sender, "properties": None,
        "amsreferences": None, **more,
    }  # fmt: skip


def export(*messages: Any, id_: str = BOB, name: str = "Bob") -> dict[str, Any]:
    chat = {
        "id": id_, "displayName": name, "version": 1, "properties": {"conversationblocked": False},
        "threadProperties": None, "MessageList": list(messages),
    }  # fmt: skip
    return {"userId": "live:ada", "exportDate": "2025-04-01T10:00:00", "conversations": [chat]}


def read(path: Path, *messages: Any, **chat: Any) -> Opened:
    file = path / "messages.json"
    file.write_text(json.dumps(export(*messages, **chat)))
    return opened(file)


def test_what_was_said_is_kept_without_its_markup(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        said("2", 'I <b>moved</b> to <a href="https://x.org">Porto</a> &amp; sail '
             '<ss type="smile">:)</ss>', "8:live:ada"),
        said("1", "a < b", type_="Text"),
    )  # fmt: skip
    assert (found.formats, found.rejections) == (["skype"], [])
    first, second = found.contents
    assert first.content == "I moved to Porto <https://x.org> & sail :)"
    assert second.content == "a < b"
    assert (first.source_id, first.sender_id, first.sender_name) == (f"{BOB}:2", "live:ada", None)
    assert (second.sender_id, second.sender_name) == ("live:bob", "Bob")
    assert (first.peer_id, first.peer_kind) == (BOB, "dm")
    assert found.drafts[0].occurred_at == 1_740_823_200_123


def test_an_answer_does_not_say_what_it_quotes(tmp_path: Path) -> None:
    inner = '<quote author="ada" messageid="0">old</quote>'
    quote = (
        f'<quote author="bob" authorname="Bob" timestamp="1" messageid="1">{inner}'
        "<legacyquote>[1] Bob: </legacyquote>The key is here.<legacyquote>\n&lt;&lt;&lt; "
        "</legacyquote></quote>"
    )
    (content,) = read(tmp_path, said("2", f"{quote}Thanks")).contents
    assert (content.content, content.reply_to) == ("Thanks", f"{BOB}:1")
    assert content.metadata == {"quoted": "The key is here."}


def test_edits_and_deletions_are_what_they_are(tmp_path: Path) -> None:
    mark = '<e_m ts="1740823260" ts_ms="1740823260000" a="live:bob" t="61"></e_m>'
    found = read(
        tmp_path,
        said("1", f"The key is there.{mark}"),
        said("2", "", properties={"deletetime": "1740823300000"}),
    )
    edit, gone = found.contents
    assert isinstance(edit, Edit)
    assert (edit.content, edit.target) == ("The key is there.", f"{BOB}:1")
    assert edit.source_id == f"{BOB}:1:edited:1740823260000"
    assert isinstance(gone, Deletion)
    assert (gone.target, found.drafts[1].occurred_at) == (f"{BOB}:2", 1_740_823_300_000)


FILE = (
    '<URIObject uri="https://api.asm.skype.com/v1/x" type="File.1">To view this file, go to: '
    '<a href="https://login.skype.com/x">https://login</a><OriginalName v="{}"></OriginalName>'
    '<FileSize v="12"></FileSize></URIObject>'
)


@pytest.mark.parametrize(
    ("type_", "content", "kept"),
    [
        ("RichText/Media_GenericFile", FILE.format("plan.pdf"), Attachment("file", "plan.pdf",
                                                                           size=12)),
        ("RichText/UriObject", FILE.format(""), Attachment("image", size=12)),
        ("RichText/Media_AudioMsg", FILE.format(""), Attachment("audio", size=12)),
        ("RichText/Contacts", '<contacts alt="x"><c t="s" s="eve" f="Eve"/></contacts>',
         Attachment("contact", "Eve")),
        ("RichText/Location", '<location address="Jetty 4" latitude="1">x</location>',
         Attachment("location", "Jetty 4")),
        ("RichText", "", Attachment("unsupported")),
    ],
)  # fmt: skip
def test_what_is_attached_is_kept(
    tmp_path: Path, type_: str, content: str, kept: Attachment
) -> None:
    (found,) = read(tmp_path, said("1", content, type_=type_)).contents
    assert found.attachments == (kept,)


def test_what_happens_to_a_chat_is_a_notice(tmp_path: Path) -> None:
    topic = "<topicupdate><eventtime>1</eventtime><value>Boats</value></topicupdate>"
    group = "19:abc@thread.skype"
    found = read(
        tmp_path,
        said("1", topic, group, "ThreadActivity/TopicUpdate", conversationid=group),
        said("2", '<partlist type="ended" alt=""></partlist>', type_="Event/Call"),
        said("3", "Ahoy", "https://x.skype.com/v1/8:live:bob", conversationid=group),
        id_=group,
        name="Boats",
    )
    assert found.texts == ["topic update: Boats", "call: ended", "Ahoy"]
    assert found.kinds == {"notice": 2, "message": 1}
    assert (found.contents[2].sender_id, found.contents[2].peer_kind) == ("live:bob", "group")
    assert found.contents[2].metadata == {"channel": "Boats"}


def test_a_later_export_adds_only_what_is_new(tmp_path: Path) -> None:
    first, second = said("1", "a"), said("2", "b")
    with Recollect(Home.create_or_open(tmp_path / "home", without_encoder=True)) as memory:
        zone = memory.zone("ada")
        path = tmp_path / "8_live_ada_export.tar"
        for messages, counts in (((first,), (1, 0)), ((second, first), (1, 1))):
            with tarfile.open(path, "w") as archive:
                document = json.dumps(export(*messages)).encode()
                member = tarfile.TarInfo("messages.json")
                member.size = len(document)
                archive.addfile(member, io.BytesIO(document))
            report = zone.ingest_files(path)
            assert (report.new, report.duplicate, report.rejected) == (*counts, 0)


@pytest.mark.parametrize("broken", [7, {"id": "1"}, said("1", "x", originalarrivaltime="soon")])
def test_a_broken_message_is_rejected_alone(tmp_path: Path, broken: Any) -> None:
    found = read(tmp_path, said("2", "Hi"), broken, said("3", "Ho"))
    assert found.texts == ["Hi", "Ho"]
    assert [one.line for one in found.rejections] == [2]


@pytest.mark.parametrize("id_", [None, "", 0])
def test_messages_without_an_id_are_reported(tmp_path: Path, id_: Any) -> None:
    found = read(tmp_path, said(id_, "a"), said(id_, "b"), said("1", "c"))
    assert found.texts == ["c"]
    assert ["has no id" in one.reason for one in found.rejections] == [True, True]


@pytest.mark.parametrize("value", [1, 1.5, True, ["x"], {"x": 1}])
def test_a_name_of_another_type_is_reported(tmp_path: Path, value: Any) -> None:
    found = read(tmp_path, said("1", "a", displayName=value), said("2", "b"))
    assert found.texts == ["b"]
    assert "sender_name" in found.rejections[0].reason


def test_quotations_in_quotations_end_in_the_words_of_the_sender(tmp_path: Path) -> None:
    deep = "".join(f'<quote messageid="{n}">' for n in range(30)) + "old" + "</quote>" * 30
    (content,) = read(tmp_path, said("2", f"{deep}Thanks")).contents
    assert (content.content, content.reply_to) == ("Thanks", f"{BOB}:0")


@pytest.mark.parametrize(
    "tag", ["<URIObject ", "<c ", "<location ", "<e_m ", "<quote ", "<quote>", "a-"]
)
def test_much_markup_that_never_ends_does_not_stop_an_import(tmp_path: Path, tag: str) -> None:
    # Searching from each tag to the end of the text would take hours.
    found = read(tmp_path, said("1", tag * 60_000), said("2", "b"))
    assert found.texts[-1] == "b"
