"""Faults 34, 36, 38 and 42: what WhatsApp writes, what people write, and other texts."""
# ruff: noqa: RUF001

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest

from recollect.schemas.errors import InvalidInput
from tests.adapters.chats.test_whatsapp import L, R, chat, read, told
from tests.adapters.kit import opened

LRE, PDF, LRI, PDI = "\u202a", "\u202c", "\u2066", "\u2069"
APPLE, ANDROID = "[25/06/2020, 15:05:07] ", "25/06/2020, 15:05 - "

#: What stands after "Ada: ", and its words.
SAID = {
    "a pasted number": (f"{LRE}+44 7700 900123{PDF}", "+44 7700 900123"),
    "a number, then words": (f"{LRE}+1 555 0100{PDF} is the hotel", "+1 555 0100 is the hotel"),
    "a number in words": (f"{LRI}+44 7700 900123{PDI} is the plumber's", None),
    "Hebrew": (f"{R}אני גר בחיפה.", "אני גר בחיפה."),
    "Arabic": (f"{R}أسكن في تونس.", "أسكن في تونس."),
    "Persian": (f"{R}این رسانه خوب است", "این رسانه خوب است"),
    "Arabic, deleted": (f"{R}تم حذف هذا الملف من الحاسوب أمس", "تم حذف هذا الملف من الحاسوب أمس"),
    "Hebrew, a call": (f"{R}שיחה טובה", "שיחה טובה"),
    "English after a mark": (f"{L}I moved to Leeds.", "I moved to Leeds."),
    "an address": (f"{L}12 High Street, Leeds", "12 High Street, Leeds"),
    "a remark": (f"{L}I omitted the image", "I omitted the image"),
    "embedded": (f"\u202b{R}שלום", "שלום"),
}


@pytest.mark.parametrize("header", [APPLE, ANDROID], ids=["Apple", "Android"])
@pytest.mark.parametrize(("text", "words"), SAID.values(), ids=SAID)
def test_fault_34_message_that_begins_with_a_mark_is_a_message(
    tmp_path: Path, header: str, text: str, words: str | None
) -> None:
    found = read(tmp_path, f"{header}Ada: hello\n{header}Ada: {text}\n")
    assert found.kinds == {"message": 2}
    said = found.contents[1]
    assert (said.sender_id, said.attachments) == ("Ada", ())
    if words is not None:
        assert said.content == words


#: What WhatsApp writes after a mark, in chats between two.
NOTICES = [
    f"{L}Messages and calls are end-to-end encrypted. No one outside of this chat can read them.",
    f"{L}Nachrichten und Anrufe sind Ende-zu-Ende-verschlüsselt. Niemand kann sie lesen.",
    f"{R}الرسائل والمكالمات مشفرة تمامًا بين الطرفين",
    f"{R}ההודעות והשיחות מוצפנות מקצה-לקצה.",
    f"{L}メッセージと通話はエンドツーエンド暗号化されています。",
    f"{L}Your security code with Bob changed.",
    f"{L}Missed voice call",
    f"{L}Missed voice call, {L}Tap to call back",
    f"{L}Voice call, {L}2 min",
    f"{L}Sprachanruf. {L}Keine Antwort",
    f"{L}音声通話. {L}2 分",
    f"{R}مكالمة صوتية فائتة",
    f"{L}This message was deleted.",
    f"{L}Bu mesajı sildiniz.",
    f"{L}You turned on disappearing messages.",
    f"{L}Waiting for this message. This may take a while.",
    f"{L}You blocked this contact",
]


@pytest.mark.parametrize("text", NOTICES)
def test_fault_34_known_phrase_after_a_mark_is_a_notice(tmp_path: Path, text: str) -> None:
    found = read(tmp_path, f"{APPLE}Ada: hello\n{APPLE}Ada: {text}\n")
    assert found.kinds == {"message": 1, "notice": 1}


def test_fault_34_notices_of_a_group_are_known_by_their_sender(tmp_path: Path) -> None:
    """In any language: here in Icelandic, of which no phrase is known."""
    found = read(
        tmp_path,
        f"{APPLE}Ferð: {L}Messages and calls are end-to-end encrypted.\n"
        f"{APPLE}Ferð: {L}Hópurinn var stofnaður\n"
        f"{APPLE}Ada: {L}Ada bætti Bob við\n"
        f"{APPLE}Ada: {R}שלום\n"
        f"{APPLE}Bob: halló\n{APPLE}Ada: {L}Bob\n",
    )
    kinds = [(content.sender_id, type(content).__name__) for content in found.contents]
    assert kinds == [
        ("Ferð", "SystemNotice"),
        ("Ferð", "SystemNotice"),
        ("Ada", "SystemNotice"),
        ("Ada", "Message"),
        ("Bob", "Message"),
        ("Ada", "Message"),
    ]


def test_fault_34_marked_messages_have_ids_that_no_notice_had(tmp_path: Path) -> None:
    plain = read(tmp_path, f"{APPLE}Ada: hi\n").contents
    marked = read(tmp_path, f"{APPLE}Ada: {LRE}hi{PDF}\n" * 2)
    again = read(tmp_path, f"{APPLE}Ada: {LRE}hi{PDF}\n" * 2)
    ids = [content.source_id for content in marked.contents]
    assert len({*ids, plain[0].source_id}) == 3
    assert ids == [content.source_id for content in again.contents]


def test_fault_34_ids_of_marked_files_are_as_they_were(tmp_path: Path) -> None:
    """A caption under a file was a message before, whatever mark the file's name has."""
    plain, marked = (
        read(tmp_path, f"{ANDROID}Ada: {mark}IMG-1.jpg (file attached)\nthe lake\n").contents[0]
        for mark in ("", L)
    )
    assert (plain.content, plain.source_id) == (marked.content, marked.source_id)


#: Placeholders of Android phones, and what they say of deleted messages, by language.
PLACEHOLDERS = [
    *("<Ficheiro não revelado>", "<media utelämnat>", "<Mediefil udeladt>", "<Médiá vynechané>"),
    *("<Praleistas medijos turinys>", "<Medij izpuščen>", "<média elhagyva>", "<без фајлови>"),
    *("<файлдар қосылмаған>", "<ไฟล์สื่อถูกลบ>", "<bỏ qua tệp phương tiện>", "<メディアなし>"),
    *(
        "<忽略多媒體檔>",
        "<رسانه حذف شد>",
        "<میڈیا چھوڑ دیا گیا>",
        "<תמונה הושמטה>",
    ),
    *("<Εξαίρεση πολυμέσων>", "<medya dahil edilmedi>", "<media hazijajumuishwa>", "<Pa media>"),
    *("<Walang kalakip na media>", "<fitxers multimèdia omesos>", "<Meedia ära jäetud>"),
    *("<മീഡിയ ഒഴിവാക്കി>", "<మీడియా విస్మరించబడింది>", "<ਮੀਡੀਆ ਛੱਡਿਆ ਗਿਆ>"),
]
DELETIONS = [
    *("Esta mensagem foi eliminada", "Eliminou esta mensagem", "Det här meddelandet raderades."),
    *("Denne besked blev slettet.", "Tämä viesti poistettiin", "Táto správa bola odstránená."),
    *("Ez az üzenet törlésre került", "Αυτό το μήνυμα διαγράφηκε", "Це повідомлення було видалено"),
    *("Šī ziņa tika izdzēsta", "Ši žinutė buvo ištrinta", "See sõnum on kustutatud"),
    *("Бұл хат жойылды", "Ushbu xabar o‘chirildi", "Bu ismarıc silindi", "הודעה זו נמחקה"),
    *("این پیام حذف شد", "یہ پیغام حذف کیا گیا", "ข้อความนี้ถูกลบแล้ว", "Tin nhắn này đã bị xóa"),
    *(
        "此訊息已刪除。",
        "이 메시지는 삭제되었습니다",
        "আপনি এই বার্তাটি মুছে ফেলেছেন",
        "Ujumbe huu ulifutwa",
    ),
]


@pytest.mark.parametrize("phrase", PLACEHOLDERS)
def test_fault_36_placeholders_are_no_words_in_many_languages(tmp_path: Path, phrase: str) -> None:
    found = read(tmp_path, f"{ANDROID}Ada: {phrase}\n{ANDROID}Ada: {phrase}\nour kitchen\n")
    assert found.texts == ["", "our kitchen"]
    assert [[one.type for one in content.attachments] for content in found.contents] == [
        ["media"],
        ["media"],
    ]


@pytest.mark.parametrize("phrase", DELETIONS)
def test_fault_36_deletions_are_notices_in_many_languages(tmp_path: Path, phrase: str) -> None:
    found = read(tmp_path, f"{ANDROID}Ada: {phrase}\n")
    assert found.kinds == {"notice": 1}
    assert found.contents[0].metadata == {"deleted": True}


def test_fault_36_bracketed_line_that_comes_again_is_a_placeholder(tmp_path: Path) -> None:
    """In any language, here an invented one; only on Android, and not a single word."""
    text = "".join(
        f"{ANDROID}Ada: {said}\n"
        for said in ("<falo numi terra>", "hello", "<falo numi terra>\nthe lake", "<sigh>",
                     "<sigh>", "<once alone here>", "go to <the old town>")
    )  # fmt: skip
    assert read(tmp_path, text).texts == [
        *("", "hello", "the lake", "<sigh>", "<sigh>", "<once alone here>", "go to <the old town>")
    ]
    apple = "".join(f"{APPLE}Ada: <falo numi terra>\n" for _ in range(2))
    assert read(tmp_path, apple).texts == ["<falo numi terra>"] * 2


@pytest.mark.parametrize(
    "phrase",
    ["Tätä viestiä muokattiin", "Це повідомлення відредаговано", "이 메시지는 수정되었습니다",
     "Ezt az üzenetet szerkesztették.", "הודעה זו נערכה"],
)  # fmt: skip
def test_fault_36_edit_marks_are_no_words_in_many_languages(tmp_path: Path, phrase: str) -> None:
    found = read(tmp_path, f"{ANDROID}Ada: I moved. <{phrase}>\n")
    assert (found.texts, found.contents[0].metadata) == (["I moved."], {"edited": True})


def test_fault_36_edit_mark_of_an_unknown_language_comes_again(tmp_path: Path) -> None:
    text = "".join(f"{ANDROID}Ada: {said} <falo numi trova>\n" for said in ("One.", "Two.", "3."))
    assert read(tmp_path, text).texts == ["One.", "Two.", "3."]
    addresses = f"{ANDROID}Ada: Write to Bob <bob@b.example>\n" * 3
    assert read(tmp_path, addresses).texts == ["Write to Bob <bob@b.example>"] * 3


@pytest.mark.parametrize(
    "phrase",
    ["obrázok vynechaný", "đã bỏ qua hình ảnh", "Η κάρτα επαφής παραλήφθηκε", "ไม่มีสติกเกอร์",
     "tarraa ei sisällytetty", "קטע קול הושמט", "GIF-анімацію пропущено", "스티커 제외됨"],
)  # fmt: skip
def test_fault_36_omitted_files_of_iphones_are_no_words(tmp_path: Path, phrase: str) -> None:
    found = read(tmp_path, f"{APPLE}Ada: {L}{phrase}\n")
    assert (found.texts, found.contents[0].attachments[0].type) == ([""], "media")


MARKDOWN = ".md"
DISCORD_TEXT = (
    f"{'=' * 62}\nGuild: Club\nChannel: Text / tea\n{'=' * 62}\n\n"
    "[5/8/2023 1:32 PM] ada\nhello\n\n[5/8/2023 1:33 PM] bob\nhi: there\n"
)
DIARY = (
    "2026-02-20 10:00 - Met Ada: she has a boat\n"
    "2026-02-21 11:30 - Call with Bob: about the roof\n"
    "2026-02-22 09:15 - Bought tea\n"
    "2026-02-23 18:40 - Dinner at Eve's: soup\n"
)
TO_DO = "5 May 9:30 - Dentist: bring card\n6 May 10:00 - Dentist: again\n7 May 11:00 - Gym: legs\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tea.txt", DISCORD_TEXT),
        ("Club - Text - tea [9].txt", DISCORD_TEXT),
        ("chat.txt", DISCORD_TEXT),
        ("diary.txt", DIARY),
        ("todo.txt", TO_DO),
        ("todo.txt", TO_DO.replace(" May", "/5,")),
        ("log.txt", "2020-06-25 15:05:01 - INFO: one\n2020-06-25 15:05:02 - INFO: two\n"),
        ("app.log", "".join(f"[2020-06-25 15:05:0{n}] prod.ERROR: {n}\n" for n in range(3))),
        ("app.log", "".join(f"[2020-06-25 15:05:0{n}] Note {n}: two\n" for n in range(3))),
        ("log.txt", "25/06/2020, 15:05 - start\n25/06/2020, 15:06 - stop\n"),
    ],
)
def test_fault_38_other_texts_are_no_chats(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        opened(chat(tmp_path, text, name=name), timezone="UTC", date_order="dmy")
    assert "date_order" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (f"diary{MARKDOWN}", DIARY),
        (f"WhatsApp notes{MARKDOWN}", DIARY),
        ("diary.markdown", DIARY),
        (f"diary{MARKDOWN}", f"{ANDROID}Ada: hello\n{ANDROID}Ada: again\n"),
    ],
)
def test_fault_38_markdown_is_a_note(tmp_path: Path, name: str, text: str) -> None:
    found = opened(chat(tmp_path, text, name=name), timezone="UTC", date_order="dmy")
    assert (found.formats, found.kinds) == (["notes"], {"message": 1})


def test_fault_38_notes_beside_a_chat_are_skipped(tmp_path: Path) -> None:
    chat(tmp_path, DIARY, name=f"diary{MARKDOWN}")
    chat(tmp_path, f"{ANDROID}Ada: hello\n", name="WhatsApp Chat with Ada.txt")
    found = opened(tmp_path, timezone="UTC")
    assert (found.texts, found.input.skipped[0].names) == (["hello"], [f"diary{MARKDOWN}"])


@pytest.mark.parametrize("name", ["WhatsApp Chat with Trip.txt", "_chat.txt"])
def test_fault_38_chat_of_strangers_is_known_by_its_name(tmp_path: Path, name: str) -> None:
    text = "".join(f"{ANDROID}{who}: hello\n" for who in ("Ada", "Bob", "Eve", "Zoe"))
    assert opened(chat(tmp_path, text, name=name), timezone="UTC").kinds == {"message": 4}


def days(text: str, tmp_path: Path, **how: str) -> list[str]:
    lines = "".join(f"{day}, 10:00 - Ada: x\n" for day in text.split())
    return [at[:10] for at, _, _ in told(read(tmp_path, lines, **how))]


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("24-12-02 24-12-03", ["2024-12-02", "2024-12-03"]),
        ("24-12-02", ["2024-12-02"]),
        ("24/12/15 24/12/16 24/12/19", ["2024-12-15", "2024-12-16", "2024-12-19"]),
        ("20-06-25", ["2025-06-20"]),
        ("25-06-20 26-06-20 01-07-20", ["2020-06-25", "2020-06-26", "2020-07-01"]),
        ("1/6/23 1/7/23 1/9/23 2/13/23", ["2023-01-06", "2023-01-07", "2023-01-09", "2023-02-13"]),
    ],
)
def test_fault_42_two_digit_years_are_found(tmp_path: Path, written: str, right: list[str]) -> None:
    assert days(written, tmp_path) == right


def test_fault_42_impossible_order_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        InvalidInput, match="order ymd: read that way, 03/04/20 is no date, or is before 2009"
    ):
        days("03/04/20 05/06/20", tmp_path, date_order="ymd")
    assert days("25/04/20 03/05/20", tmp_path, date_order="mdy") == ["2020-04-25", "2020-05-03"]
    assert days("24-12-10 24-12-11", tmp_path, date_order="ymd") == ["2024-12-10", "2024-12-11"]
    assert days("24-12-10 24-12-10", tmp_path, date_order="dmy") == ["2010-12-24", "2010-12-24"]


def test_fault_42_days_before_whatsapp_or_to_come_are_refused(tmp_path: Path) -> None:
    later = date.today() + timedelta(days=800)
    found = read(
        tmp_path,
        f"25/06/2020, 15:05 - Ada: one\n25/06/2008, 15:05 - Ada: two\n"
        f"{later:%d/%m/%Y}, 15:05 - Ada: three\n",
    )
    assert found.texts == ["one"]
    assert [item.line for item in found.rejections] == [2, 3]
    assert "WhatsApp has no messages from that year" in found.rejections[0].reason


@pytest.mark.parametrize(
    "header",
    ["2020-06-25 21 h 25 - ", "[2020-06-25, 21 h 25 min 07 s] ", "2020-06-25 21h25 - ",
     "25.06.20 г., 21:25 ч. - ", "2020-06-25 21\u202fh\u202f25 - "],
)  # fmt: skip
def test_fault_42_hours_in_words_are_read(tmp_path: Path, header: str) -> None:
    second = "07" if "07" in header else "00"
    found = read(tmp_path, f"{header}Ada: hello: you\n{header}Ada: again\n")
    assert told(found)[0] == (f"2020-06-25 21:25:{second}", "Ada", "hello: you")


@pytest.mark.parametrize("notice", ["hat die Gruppe „Reise: Rom“ erstellt", "créa «Lac: été»"])
def test_quoted_names_with_a_colon_are_no_senders(tmp_path: Path, notice: str) -> None:
    found = read(
        tmp_path,
        f"{ANDROID}Ada {notice}\n{ANDROID}Eva „Evi“ Bo: hi: you\n{ANDROID}Eva „Evi“ Bo: ho\n",
    )
    assert found.kinds == {"notice": 1, "message": 2}
    assert found.texts == [f"Ada {notice}", "hi: you", "ho"]
    assert [one.sender_id for one in found.contents[1:]] == ["Eva „Evi“ Bo"] * 2


@pytest.mark.parametrize("said", ["с", "с контактом"])
def test_name_of_a_russian_file_is_that_of_the_chat(tmp_path: Path, said: str) -> None:
    path = tmp_path / f"Чат WhatsApp {said} Олег.txt"
    path.write_text(f"{ANDROID}Олег: привет\n")
    assert [one.peer_id for one in opened(path, timezone="UTC").contents] == ["Олег"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Warten auf diese Nachricht. Dies kann einen Moment dauern.", "notice"),
        ("En attente de ce message. Cela peut prendre un peu de temps.", "notice"),
        ("Waiting for this message. This may take a while. Learn more", "notice"),
        ("Warten auf diese Nachricht macht mich müde.", "message"),
    ],
)
def test_message_that_has_not_arrived_is_a_notice(tmp_path: Path, text: str, kind: str) -> None:
    assert read(tmp_path, f"{ANDROID}Ada: {text}\n").kinds == {kind: 1}
