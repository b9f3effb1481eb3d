"""WhatsApp's text exports, as phones write them in many places."""
# ruff: noqa: RUF001

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.schemas.errors import InvalidInput
from recollect.streams.adapters.input.input_files import InputFile
from recollect.streams.adapters.input.text_lines import text_lines
from recollect.streams.adapters.long_messages import MAX_MESSAGE_BYTES
from tests.adapters.kit import EXPORTS, Opened, opened, zipped

L, R, NNBSP, NBSP = "\u200e", "\u200f", "\u202f", "\u00a0"


def chat(tmp_path: Path, text: str, *, name: str = "chat.txt", encoding: str = "utf-8") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    return path


def read(tmp_path: Path, text: str, zone: str = "UTC", **how: str) -> Opened:
    return opened(chat(tmp_path, text), timezone=zone, **how)


def told(found: Opened) -> list[tuple[str, str, str]]:
    """Return (time in UTC, who, what) of each event."""
    return [
        (
            datetime.fromtimestamp(draft.occurred_at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S"),
            content.sender_id,
            content.content,
        )
        for draft, content in zip(found.drafts, found.contents, strict=True)
    ]


#: Headers of one moment, 25 June 2020, 15:05 (and 7 seconds where there are any).
HEADERS = {
    "Android, Britain": "25/06/2020, 15:05 - ",
    "Android, USA": "6/25/20, 3:05 PM - ",
    "Android, USA, thin blank": f"6/25/20, 3:05{NNBSP}PM - ",
    "Android, Germany": "25.06.20, 15:05 - ",
    "Android, Spain": f"25/6/20, 3:05 p.{NBSP}m. - ",
    "Android, Mexico": f"25/06/20 3:05 p.{NBSP}m. - ",
    "Android, Finland": "25.6.2020 klo 15.05 - ",
    "Android, France": "25/06/2020 à 15:05 - ",
    "Android, Netherlands": "25-06-20 15:05 - ",
    "Android, Sweden": "2020-06-25 15:05 - ",
    "Android, Japan": "2020/06/25 15:05 - ",
    "Android, China": "2020/6/25 下午3:05 - ",
    "Android, Korea": "2020. 6. 25. 오후 3:05 - ",
    "Android, Korea, in words": "2020년 6월 25일 오후 3:05 - ",
    "Android, Taiwan, in words": "2020年6月25日 下午3:05 - ",
    "Android, Egypt": f"٢٥{R}/٦{R}/٢٠٢٠, ٣:٠٥ م - ",
    "Android, Thailand": "25/6/2563 15:05 - ",
    "Android, Thailand, short": "25/6/63 15:05 - ",
    "Android, Iran": f"۲۰۲۰/۶/۲۵،{R} ۱۵:۰۵ - ",
    "iOS, Britain": "[25/06/2020, 15:05:07] ",
    "iOS, USA": f"[6/25/20, 3:05:07{NNBSP}PM] ",
    "iOS, Germany": "[25.06.20, 15:05:07] ",
    "iOS, Brazil": "[25/06/20 15:05:07] ",
    "iOS, Sweden": "[2020-06-25, 15:05:07] ",
    "iOS, Turkey": "[25.06.2020 15:05:07] ",
    "iOS, Greece": f"[25/6/20, 3:05:07{NNBSP}μ.μ.] ",
    "iOS, marked": f"{L}[25/06/2020, 15:05:07] ",
    "iOS, Israel": f"{R}[25.6.2020, 15:05:07] ",
    "iOS, Thailand, in English": "[25/6/2563 BE, 15:05:07] ",
    "iOS until 2018, Britain": "25/06/2020, 15:05:07: ",
    "iOS until 2018, USA": "6/25/20, 3:05:07 PM: ",
    "iOS until 2018, Germany": "25.06.20, 15:05:07: ",
    "iOS until 2018, China": "2020/6/25 下午3:05:07: ",
    "Web, Britain": "[15:05, 25/06/2020] ",
    "Web, USA": f"[3:05{NNBSP}PM, 6/25/2020] ",
    "Web, Germany": "[15:05, 25.6.2020] ",
    "Web, Mexico": f"[3:05 p.{NBSP}m., 25/6/2020] ",
    "Web, Japan": "[15:05, 2020/6/25] ",
    "Web, China": "[下午3:05, 2020/6/25] ",
    "Web, Korea": "[오후 3:05, 2020. 6. 25.] ",
    "Web, Egypt": f"[٣:٠٥ م، ٢٥{R}/٦{R}/٢٠٢٠] ",
}


@pytest.mark.parametrize("header", HEADERS.values(), ids=list(HEADERS))
def test_a_line_is_understood_as_phones_write_it(tmp_path: Path, header: str) -> None:
    found = read(tmp_path, f"{header}Ada: hello\nand more\n{header}Bob K.: hi: there\n")
    second = "07" if ":07" in header else "00"
    at = f"2020-06-25 15:05:{second}"
    assert told(found) == [(at, "Ada", "hello\nand more"), (at, "Bob K.", "hi: there")]
    assert found.formats == ["whatsapp"]
    assert found.rejections == []


def test_headers_in_a_colon_are_known_only_in_a_chat_of_such_headers(tmp_path: Path) -> None:
    logged = "25/06/2020, 15:05:07: worker: up\n25/06/2020, 15:05:09: worker: down\n"
    with pytest.raises(InvalidInput, match="in no known format"):
        opened(chat(tmp_path, logged, name="worker.txt"), timezone="UTC")
    found = read(tmp_path, f"[25/06/2020, 16:00:00] Ada: see\n{logged}")
    assert [one.content for one in found.contents] == [f"see\n{logged.strip()}"]


def test_text_copied_out_of_whatsapp_web_is_what_a_phone_exports(tmp_path: Path) -> None:
    exported = "25/06/2020, 15:05 - Ada: hello\nand more\n25/06/2020, 15:06 - Bob: hi: there\n"
    copied = "[15:05, 25/06/2020] Ada: hello\nand more\n[15:06, 25/06/2020] Bob: hi: there"
    assert read(tmp_path, copied).drafts == read(tmp_path, exported).drafts


@pytest.mark.parametrize(
    "line", ["[15:05, 25] Ada: a", "[15:05] Ada: a", "[15, 25/06/2020] Ada: a"]
)
def test_brackets_without_time_and_date_begin_no_message(tmp_path: Path, line: str) -> None:
    found = read(tmp_path, f"[15:05, 25/06/2020] Ada: see\n{line}\n")
    assert told(found) == [("2020-06-25 15:05:00", "Ada", f"see\n{line}")]


@pytest.mark.parametrize(
    ("clock", "hour"),
    [("12:05 AM", 0), ("12:05 PM", 12), ("00:05 a. m.", 0), ("24:05", 0), ("11:05 PM", 23),
     ("12:05 a.m.", 0), ("上午12:05", 0), ("下午12:05", 12), ("中午12:05", 12), ("晚上8:05", 20),
     ("9:05 PG", 9), ("9:05 PTG", 21), ("12:05 dop.", 0), ("9:05 pop.", 21), ("9:05 f.h.", 9),
     ("9:05 e.h.", 21), ("9:05 p.d.", 9), ("9:05 m.d.", 21), ("9:05 priekšp.", 9),
     ("12:05 pēcp.", 12), ("9:05 ก่อนเที่ยง", 9), ("9:05 หลังเที่ยง", 21), ("9:05 e paradites", 9),
     ("9:05 лет", None)],
)  # fmt: skip
def test_midnight_and_noon_are_where_they_are(tmp_path: Path, clock: str, hour: int | None) -> None:
    found = read(tmp_path, f"25/06/2020, {clock} - Ada: hello\n")
    assert [at for at, _, _ in told(found)] == (
        [] if hour is None else [f"2020-06-25 {hour:02}:05:00"]
    )
    assert len(found.rejections) == (hour is None)


def test_the_time_zone_is_asked_for_and_used(tmp_path: Path) -> None:
    path = chat(tmp_path, "25/06/2020, 15:05 - Ada: hello\n25/12/2020, 15:05 - Ada: hello\n")
    with pytest.raises(InvalidInput, match="`timezone`, such as Europe/Berlin"):
        opened(path)
    found = opened(path, timezone="Europe/Berlin")
    assert [at for at, _, _ in told(found)] == ["2020-06-25 13:05:00", "2020-12-25 14:05:00"]
    assert [content.utc_offset for content in found.contents] == [120, 60]


def test_the_order_of_dates_is_decided_from_the_whole_file(tmp_path: Path) -> None:
    days = "\n".join(f"03/04/20, 15:0{minute} - Ada: hello" for minute in range(9))
    assert told(read(tmp_path, f"{days}\n25/04/20, 15:05 - Ada: x\n"))[0][0][:10] == "2020-04-03"
    assert told(read(tmp_path, f"{days}\n04/25/20, 15:05 - Ada: x\n"))[0][0][:10] == "2020-03-04"


def test_an_order_that_runs_backwards_is_the_wrong_one(tmp_path: Path) -> None:
    text = "".join(f"{date}/20, 10:00 - Ada: x\n" for date in ("3/4", "3/11", "4/2"))
    assert [at[:10] for at, _, _ in told(read(tmp_path, text))] == [
        "2020-03-04",
        "2020-03-11",
        "2020-04-02",
    ]


def test_an_order_that_nothing_decides_is_asked_for(tmp_path: Path) -> None:
    text = "03/04/20, 15:05 - Ada: hello\n05/06/20, 15:05 - Ada: hello\n"
    with pytest.raises(InvalidInput, match="give date_order dmy or mdy"):
        read(tmp_path, text)
    for order, first in (("dmy", "2020-04-03"), ("mdy", "2020-03-04")):
        assert told(read(tmp_path, text, date_order=order))[0][0][:10] == first
    decided = "25/04/20, 15:05 - Ada: hello\n"
    assert told(read(tmp_path, decided, date_order="mdy"))[0][0][:10] == "2020-04-25"


def test_what_whatsapp_itself_says_is_a_notice(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        '25/06/2020, 15:05 - Ada created group "Trip"\n'
        "25/06/2020, 15:05 - Messages and calls are end-to-end encrypted.\n"
        f"25/06/2020, 15:06 - Trip: {L}Missed voice call\n"
        "25/06/2020, 15:07 - Ada: This message was deleted\n"
        "25/06/2020, 15:07 - Ada: Você apagou esta mensagem\n"
        "25/06/2020, 15:08 - Ada: I live in Lisbon.\n",
    )
    assert found.kinds == {"notice": 5, "message": 1}


@pytest.mark.parametrize(
    ("said", "content", "names"),
    [
        ("<Media omitted>", "", [None]),
        ("<Medien ausgeschlossen>", "", [None]),
        ("<Multimedia omitido>", "", [None]),
        (f"{L}image omitted", "", [None]),
        (f"{L}Bild weggelassen", "", [None]),
        (f"{L}<attached: 00000012-PHOTO-2020.jpg>", "", ["00000012-PHOTO-2020.jpg"]),
        (f"the lake {L}<Anhang: 00000012-PHOTO.jpg>", "the lake", ["00000012-PHOTO.jpg"]),
        (f"plan.pdf • {L}3 pages {L}<attached: 0001-plan.pdf>", "", ["plan.pdf"]),
        (f"{L}IMG-20200625-WA0001.jpg (file attached)\nthe lake", "the lake",
         ["IMG-20200625-WA0001.jpg"]),
        ("IMG-1.jpg (Datei angehängt)", "", ["IMG-1.jpg"]),
        ("I moved. <This message was edited>", "I moved.", []),
        (f"I moved. {L}<Diese Nachricht wurde bearbeitet.>", "I moved.", []),
        ("POLL:\nLunch?\nOPTION: Soup (2 votes)\nOPTION: None (1 vote)",
         "POLL:\nLunch?", [None]),
        ("a <b> c", "a <b> c", []),
        ("see photo.jpg (2)", "see photo.jpg (2)", []),
    ],
)  # fmt: skip
def test_files_are_named_and_marks_are_no_words(
    tmp_path: Path, said: str, content: str, names: list[str | None]
) -> None:
    (event,) = read(tmp_path, f"25/06/2020, 15:05 - Ada: {said}\n").contents
    assert event.content == content
    assert [item.name for item in event.attachments] == names


def test_names_are_as_somebody_would_write_them(tmp_path: Path) -> None:
    at = "25/06/2020, 15:05 - "
    found = read(
        tmp_path,
        f"{at}\u202a+44{NBSP}7700\u2011900{NBSP}123\u202c: hi\n{at}~{NNBSP}Eve: hi\n"
        f"{at}Team: Red: one\n{at}Team: Red: two\n{at}Team: Red: three\n{at}Ada: a: b\n{at}Ada:\n",
    )
    assert [(content.sender_id, content.content) for content in found.contents] == [
        ("+44 7700\u2011900 123", "hi"),
        ("Eve", "hi"),
        ("Team: Red", "one"),
        ("Team: Red", "two"),
        ("Team: Red", "three"),
        ("Ada", "a: b"),
        ("Ada", "(empty)"),
    ]


def test_equal_lines_are_as_many_events_and_twice_is_once(tmp_path: Path) -> None:
    text = "25/06/2020, 15:05 - Ada: ok\n" * 3
    first, second = read(tmp_path, text), read(tmp_path, text)
    ids = [content.source_id for content in first.contents]
    assert len(set(ids)) == 3
    assert ids == [content.source_id for content in second.contents]


@pytest.mark.parametrize(
    "name",
    [
        "WhatsApp Chat with Ada.txt",
        "WhatsApp Chat - Ada (1).txt",
        "Chat de WhatsApp con Ada.txt",
        "WhatsApp-Chat mit Ada.txt",
        "Чат WhatsApp с контактом Ada.txt",
        "WhatsApp-chatt med Ada.txt",
        "WhatsApp-samtale med Ada.txt",
        "دردشة واتساب مع Ada.txt",
        "Ada ile WhatsApp Sohbeti.txt",
        "Ada_ile_WhatsApp_Sohbeti (2).txt",
        "与Ada的 WhatsApp 聊天.txt",
        "AdaとのWhatsAppチャット.txt",
        "Ada님과의 WhatsApp 대화.txt",
        "Ada के साथ WhatsApp चैट.txt",
        "Ada کے ساتھ WhatsApp بات چیت.txt",
        "Grupo WhatsApp Ada.txt",
    ],
)
def test_a_chat_is_called_as_its_file(tmp_path: Path, name: str) -> None:
    path = chat(tmp_path, "25/06/2020, 15:05 - Bob: ok\n", name=name)
    (event,) = opened(path, timezone="UTC").contents
    assert event.peer_id == "Ada"


def test_a_zip_of_a_phone_and_a_folder_of_chats_are_read(tmp_path: Path) -> None:
    line = "[25/06/2020, 15:05:07] Ada: ok\n"
    archive = {"_chat.txt": line.encode(), "0001-PHOTO.jpg": b"\xff\xd8"}
    (tmp_path / "WhatsApp Chat - Ada.zip").write_bytes(zipped(archive))
    chat(tmp_path, line, name="WhatsApp Chat with Bob.txt")
    found = opened(tmp_path, timezone="UTC")
    assert [content.peer_id for content in found.contents] == ["Ada", "Bob"]
    assert found.input.skipped[0].names == ["0001-PHOTO.jpg"]


def test_other_encodings_are_read(tmp_path: Path) -> None:
    text = "25/06/2020, 15:05 - Zoë: grüße\n"
    for encoding in ("utf-8-sig", "utf-16", "cp1252"):
        found = opened(chat(tmp_path, text, encoding=encoding), timezone="UTC")
        assert [(one.sender_id, one.content) for one in found.contents] == [("Zoë", "grüße")]


def test_what_is_no_line_of_a_chat_is_refused_by_its_number(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "torn\n25/06/2020, 15:05 - Ada: one\n31/02/2020, 15:05 - Ada: two\n"
        "25/06/2020, 3:05 xx - Ada: three\n25/06/2020, 15:05 - Ada: four\n",
    )
    assert found.texts == ["one", "four"]
    assert [(item.line, item.reason.split(",")[0]) for item in found.rejections] == [
        (1, "this line precedes the first message"),
        (3, "31/02/2020 15:05 is not a valid time: day is out of range for month"),
        (4, "'xx' means neither a.m. nor p.m."),
    ]


def test_a_chat_comes_through_standard_input(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "recollect", "extract", "--json", "--timezone", "UTC", "-"],
        input=b"25/06/2020, 15:05 - Ada: I live in Lisbon.\n",
        capture_output=True,
        check=True,
        timeout=120,
    )
    assert [fact["text"] for fact in json.loads(done.stdout)["facts"]] == ["Ada lives in Lisbon."]


LINES = st.lists(
    st.sampled_from(
        [
            "25/06/2020, 15:05 - Ada: ok",
            "25/06/2020, 15:05 - Bob: ok",
            "26/06/2020, 15:05 - Ada: ok",
            "26/06/2020, 15:05 - Ada left",
            "and more",
            "27/06/2020, 15:05 - Ada: <Media omitted>",
        ]
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(lines=LINES, data=st.data())
def test_a_chat_that_grew_adds_only_what_is_new(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], data: st.DataObject
) -> None:
    # An export ends where a message does.
    lines = ["25/06/2020, 10:00 - Ada: begins", *lines, "28/06/2020, 10:00 - Ada: ends"]
    ends = [n for n, line in enumerate(lines) if n and line != "and more"]
    cut = data.draw(st.sampled_from(ends))
    room = tmp_path_factory.mktemp("grown")
    part, whole = (
        [(one.source_id, one.content) for one in read(room, "\n".join(some)).contents]
        for some in (lines[:cut], lines)
    )
    assert whole[: len(part)] == part
    assert len(set(whole)) == len(whole)


@settings(max_examples=150, deadline=None)
@given(text=st.text(max_size=300))
def test_nothing_that_a_file_holds_breaks_the_reader(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    room = tmp_path_factory.getbasetemp()
    body = f"25/06/2020, 15:05 - Ada: {text}\n25/06/2020, 15:06 - {text}\n{text}".encode(
        "utf-8", "surrogatepass"
    )
    (room / "any.txt").write_bytes(body)
    opened(room / "any.txt", timezone="UTC")


@pytest.mark.skipif(not EXPORTS.is_dir(), reason="the real exports are not here")
def test_real_exports_give_what_was_counted_by_hand() -> None:
    folder = EXPORTS / "whatsapp" / "chat-miner"
    wanted = {
        (item["timestamp"], item["author"], " ".join(item["message"].split()))
        for item in json.loads((folder / "target.json").read_text())
    }
    files = sorted(folder.glob("*.txt"))
    assert len(files) == 5
    for path in files:
        found = opened(path, timezone="UTC")
        assert found.kinds == {"message": 6, "notice": 3}
        said = {
            (at.replace(" ", "T"), who, " ".join(what.split()))
            for (at, who, what), content in zip(told(found), found.contents, strict=True)
            if content.sender_name
        }
        assert said == wanted


@pytest.mark.parametrize(
    "piece", [" ", L, "<edited", "<", f"•{L}", "<ab: a.b", "[", "<omitted", "a.b "]
)
def test_a_message_that_is_made_to_be_slow_is_read(tmp_path: Path, piece: str) -> None:
    """None may make the reader look over and over at what it saw."""
    words = "a" + piece * (50_000 // len(piece)) + "z"
    found = read(tmp_path, f"25/06/2020, 15:05 - Ada: {words}\n25/06/2020, 15:06 - Ada: So.\n")
    assert len(found.contents) + len(found.rejections) == 2
    assert found.contents[-1].content == "So."


def test_a_line_of_utf_16_without_an_end_is_refused_and_the_next_is_read(tmp_path: Path) -> None:
    path = tmp_path / "chat.txt"
    path.write_bytes(("a" * 6_000_000 + "\nb").encode("utf-16"))
    lines = [line for _, line in text_lines(InputFile(path))]
    assert [len(line) > MAX_MESSAGE_BYTES for line in lines] == [True, False]
    assert len(lines[0]) < 5_000_000
    assert lines[1] == "b"


def test_lines_of_utf_16_are_whole_wherever_they_end(tmp_path: Path) -> None:
    path = tmp_path / "chat.txt"
    lines = ["", *("ä" * length for length in (1, 32_766, 32_767, 32_768, 100_000)), "", "b"]
    for end in ("", "\n"):
        path.write_bytes(("\n".join(lines) + end).encode("utf-16"))
        assert [line for _, line in text_lines(InputFile(path))] == lines


#: What stands after "Ada: ", its kind, its words, and what is attached.
WRITTEN = {
    "German, a card": (f"{L}Kontaktkarte ausgelassen", "message", "", "media"),
    "Portuguese, Apple": (f"{L}imagem ocultada", "message", "", "media"),
    "Japanese": (f"{L}画像は省略されました", "message", "", "media"),
    "Korean, Apple": (f"{L}사진이 생략됨", "message", "", "media"),
    "Korean, Android": ("<미디어 파일 제외됨>", "message", "", "media"),
    "Chinese": (f"{L}图像已省略", "message", "", "media"),
    "Chinese, Taiwan": ("<媒體已略去>", "message", "", "media"),
    "Hebrew": (f"{R}התמונה הושמטה", "message", "", "media"),
    "Arabic": (f"{R}تم حذف الصورة", "message", "", "media"),
    "Hindi": ("<मीडिया के बिना>", "message", "", "media"),
    "words below": ("<Media omitted>\nour new kitchen", "message", "our new kitchen", "media"),
    "words before": (f"our kitchen {L}image omitted", "message", "our kitchen", "media"),
    "a document": (f"Plan.pdf • {L}3 pages {L}document omitted", "message", "", "Plan.pdf"),
    "a place": ("location: https://maps.google.com/?q=1.5,2", "message", "", "location"),
    "Apple's": (f"{L}Standort: https://maps.google.com/?q=1.5,2", "message", "", "location"),
    "somebody is named": ("ask @\u2068Zed\u2069 then", "message", "ask @Zed then", ""),
    "a poll": (
        *(f"{L}POLL:\nWhere?\n{L}OPTION: Rome (2 votes)", "message"),
        *("POLL:\nWhere?", "poll"),
    ),
    "a call, Apple": (f"{L}Voice call. {L}2 min", "notice", "Voice call. 2 min", ""),
    "a call, Android": ("Missed video call", "notice", "Missed video call", ""),
    "a call, Spanish": ("Videollamada perdida", "notice", "Videollamada perdida", ""),
    "nobody's program": ("I omitted the image", "message", "I omitted the image", ""),
    "a sigh": ("<sigh>", "message", "<sigh>", ""),
}


@pytest.mark.parametrize(("text", "kind", "words", "file"), WRITTEN.values(), ids=WRITTEN)
def test_what_the_program_puts_in_is_told_from_what_was_said(
    tmp_path: Path, text: str, kind: str, words: str, file: str
) -> None:
    found = read(tmp_path, f"[25/06/2020, 15:05:07] Ada: {text}\n")
    (content,) = found.contents
    assert [*found.kinds] == [kind]
    assert (content.sender_id, content.content) == ("Ada", words)
    assert [one.name or one.type for one in content.attachments] == [file] * bool(file)


def test_what_a_poll_offers_is_nobodys_words(tmp_path: Path) -> None:
    poll = f"{L}POLL:\nWhere?\n{L}OPTION: Rome (2 votes)\n{L}OPTION: My house (1 vote)"
    (content,) = read(tmp_path, f"[25/06/2020, 15:05:07] Ada: {poll}\n").contents
    assert [one.caption for one in content.attachments] == ["Rome / My house"]


def test_a_group_called_with_a_colon_is_not_somebody(tmp_path: Path) -> None:
    found = read(tmp_path, '25/06/2020, 15:05 - Luis changed the group name from "A" to "B: C"\n')
    assert found.kinds == {"notice": 1}
    assert found.texts == ['Luis changed the group name from "A" to "B: C"']


OLD_ANDROID = {
    "time first": "19:48, 30 Nov - Ada: one\n07:00, 2 Jan - Bob: two\nmore\n"
                  "07:05, 1 Jan - Ada: three\n",
    "date first": "30. Nov. 19:48 - Ada: one\n2. Jan. 07:00 - Bob: two\nmore\n"
                  "1. Jan. 07:05 - Ada: three\n",
    "month first": "Nov 30, 7:48 PM - Ada: one\nJan 2, 7:00 AM - Bob: two\nmore\n"
                   "Jan 1, 7:05 a.m. - Ada: three\n",
    "numbers": "30/11, 19:48 - Ada: one\n2/1, 07:00 - Bob: two\nmore\n1/1, 07:05 - Ada: three\n",
    "Spanish, with its year": "30 de noviembre de 2014, 19:48 - Ada: one\n"
                              "2 de enero 07:00 - Bob: two\nmore\n1 de enero 07:05 - Ada: three\n",
}  # fmt: skip


@pytest.mark.parametrize("form", OLD_ANDROID)
def test_old_headers_with_names_of_months_or_without_a_year_are_read(
    tmp_path: Path, form: str
) -> None:
    path = tmp_path / "WhatsApp Chat with Bob.txt"
    path.write_text(OLD_ANDROID[form])
    exported_at = datetime(2015, 2, 3, tzinfo=UTC).timestamp()
    os.utime(path, (exported_at, exported_at))
    found = opened(path, timezone="UTC")
    assert [(one.sender_id, one.content) for one in found.contents] == [
        ("Ada", "one"), ("Bob", "two\nmore"), ("Ada", "three"),
    ]  # fmt: skip
    assert [draft.occurred_at // 1000 for draft in found.drafts] == [
        datetime(*at, tzinfo=UTC).timestamp()  # type: ignore[misc]
        for at in ((2014, 11, 30, 19, 48), (2015, 1, 2, 7), (2015, 1, 1, 7, 5))
    ]


def test_months_after_that_of_the_export_are_of_the_year_before(tmp_path: Path) -> None:
    path = tmp_path / "chat.txt"
    path.write_text("19:48, 30 Nov - Ada: one\n19:50, 30 Nov - Bob: two\n")
    exported_at = datetime(2015, 2, 3, tzinfo=UTC).timestamp()
    os.utime(path, (exported_at, exported_at))
    assert opened(path, timezone="UTC").drafts[0].occurred_at == (
        datetime(2014, 11, 30, 19, 48, tzinfo=UTC).timestamp() * 1000
    )


def spanning(tmp_path: Path, text: str, **how: str) -> list[tuple[str, str]]:
    """Return (date, words) of each message of a chat whose name does not say what it is."""
    return [(at[:10], what) for at, _, what in told(read(tmp_path, text, **how))]


def test_the_year_is_left_out_in_the_last_messages_of_a_chat_of_numbers(tmp_path: Path) -> None:
    days = ("{:02}/12/2013", "{:02}/12/13")
    for day in days:
        dated = "".join(f"{day.format(n)}, 10:00 - Ada: {n}\n" for n in range(20, 32))
        found = spanning(
            tmp_path,
            f"{dated}1/1, 09:00 - Bob joined\n2/1, 10:00 - Ada: three\nmore\n"
            "25/1, 10:01 - Bob: four\n20/3, 10:02 - Ada: five\n2/1, 10:02 - Ada: six\n",
        )
        assert found[:12] == [(f"2013-12-{n}", str(n)) for n in range(20, 32)]
        assert found[12:] == [
            ("2014-01-01", "Bob joined"), ("2014-01-02", "three\nmore"), ("2014-01-25", "four"),
            ("2014-03-20", "five"), ("2015-01-02", "six"),
        ]  # fmt: skip


def test_the_order_of_dates_is_that_of_the_messages_with_a_year(tmp_path: Path) -> None:
    dated = "".join(f"{day}/13, 10:00 - Ada: x\n" for day in ("3/4", "3/11", "4/2"))
    found = spanning(tmp_path, f"{dated}1/5, 10:00 - Ada: y\n1/6, 10:00 - Ada: z\n")
    assert found[2:] == [("2013-04-02", "x"), ("2014-01-05", "y"), ("2014-01-06", "z")]


@pytest.mark.parametrize(
    "text",
    [
        "25/06/2020, 15:05 - Ada: see\n2/1, 10:00 - Ada: old\n25/06/2020, 15:06 - Ada: ok\n",
        "25/06/2020, 15:05 - Ada: see\n2/1, 10:00 - Dentist: bring card\n",
        "25/06/2020, 15:05 - Ada: see\n2 Jan 10:00 - Ada: old\n",
        "[25/06/2020, 15:05:07] Ada: see\n2/1, 10:00 - Ada: old\n",
    ],
)
def test_a_line_without_a_year_that_was_pasted_continues_a_message(
    tmp_path: Path, text: str
) -> None:
    lines = text.splitlines()
    first, *others = [what for _, what in spanning(tmp_path, text)]
    assert (first, others) == (f"see\n{lines[1]}", ["ok"] * (len(lines) - 2))


def test_a_day_that_is_earlier_by_weeks_is_in_the_next_year(tmp_path: Path) -> None:
    path = tmp_path / "WhatsApp Chat with Bob.txt"
    path.write_text("1 Mar 10:00 - Ada: a\n28 Feb 10:00 - Ada: b\n1 Feb 10:00 - Ada: c\n")
    exported_at = datetime(2015, 2, 3, tzinfo=UTC).timestamp()
    os.utime(path, (exported_at, exported_at))
    assert [at[:10] for at, _, _ in told(opened(path, timezone="UTC"))] == [
        "2014-03-01", "2014-02-28", "2015-02-01",
    ]  # fmt: skip


def test_a_header_with_a_colon_and_without_seconds_precedes_a_sender(tmp_path: Path) -> None:
    path = tmp_path / "WhatsApp Chat with Bob.txt"
    path.write_text("8/17/15, 10:42 PM: Ada: one\n8/17/15, 10:43 PM: none here\n")
    assert opened(path, timezone="UTC").texts == ["one\n8/17/15, 10:43 PM: none here"]


@pytest.mark.parametrize(
    ("file", "chat"),
    [
        ("WhatsApp%20Chat%20with%20Zo%C3%AB.txt", "Zoë"),
        ("WhatsApp Chat with 50%25.txt", "50%25"),
        ("WhatsApp%20Chat%20with%20a%2Fb.txt", None),
        ("WhatsApp%20Chat%20with%20%FF.txt", None),
    ],
)
def test_a_chat_is_named_by_a_percent_encoded_file_name(
    tmp_path: Path, file: str, chat: str | None
) -> None:
    """Only a name that is text and no path is decoded."""
    text = b"25/06/2020, 15:05 - Ada: hello\n"
    (tmp_path / "all.zip").write_bytes(zipped({file: text}))
    (content,) = opened(tmp_path / "all.zip", timezone="UTC").contents
    assert content.peer_id == chat
